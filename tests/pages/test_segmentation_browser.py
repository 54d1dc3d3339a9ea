"""A segmented image in a real browser: the wrong areas drawn, what the pointer is told, the classes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import serving, settle
from tests.pages.page_scenes import masks_run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def studio_of_masks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio with a finished run of segmentation."""
    folder = tmp_path_factory.mktemp("masks")
    masks_run(folder)
    with serving(folder) as address:
        yield address


def test_wrong_areas_and_classes_are_translucent_surfaces(studio_of_masks: str, page: Page) -> None:
    page.goto(f"{studio_of_masks}/example?case=p1&model=late")
    stages = page.locator(".stage")
    expect(stages).to_have_count(2, timeout=120_000)
    late = stages.first
    expect(late.locator("path.surface")).to_have_count(2)  # ignored pixels, and the sky taken for road
    assert late.locator("path.surface").last.evaluate("path => getComputedStyle(path).fillOpacity") == "0.3"
    expect(late.locator("text")).to_have_text(["road"])
    settle(page)
    box = late.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 70 / 120, box["y"] + box["height"] / 3)
    expect(page.locator(".tip")).to_contain_text("sky predicted as road, 1,600 pixels")
    page.get_by_role("radio", name="Classes").click()
    page.wait_for_url("**show=classes**")
    expect(stages).to_have_count(3)
    expect(page.locator(".name")).to_have_text(["Ground truth", "late", "exact"])
    expect(stages.first.locator("text")).to_have_text(["road", "sky"])
