"""An image of 10,000 × 10,000 pixels in a real browser: small at first, then tiles of what is zoomed into."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, Response, expect

from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
SIDE = 10_000


@pytest.fixture(scope="module")
def studio_of_a_large_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio with one image: grey, and black and white stripes of two pixels in its very middle."""
    folder = tmp_path_factory.mktemp("large")
    media = folder / "pictures"
    media.mkdir()
    pixels = np.full((SIDE, SIDE), 127, np.uint8)
    begin, end = 4_990, 5_010
    pixels[begin:end, begin:end] = np.where(np.arange(end - begin) // 2 % 2, 255, 0)
    Image.fromarray(pixels).save(media / "a.png", compress_level=1)
    thing = {"case_id": "a", "x": 4990.0, "y": 4990.0, "width": 20.0, "height": 20.0, "area": 400.0, "label": "stripes"}
    cases = [{"case_id": "a", "image": "a.png", "image_width": SIDE, "image_height": SIDE}]
    suite = Suite.from_rows("large", "detection", cases, [thing | {"annotation_id": 1}])
    suite = Suite(suite.name, suite.task, suite.cases, suite.annotations, suite.labels, media)
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m"}], [thing | {"model": "m", "score": 0.9}])
    finished(Workspace(folder), suite, outputs, "average_precision", name="Large")
    with serving(folder) as address:
        yield address


def is_tile(address: str) -> bool:
    return "/media/" in address and "/static/" not in address


def test_a_large_image_is_sharp_where_it_is_looked_at(studio_of_a_large_image: str, page: Page) -> None:
    media: list[Response] = []
    page.on("response", lambda response: media.append(response) if is_tile(response.url) else None)
    page.goto(f"{studio_of_a_large_image}/example?case=a")
    images = page.locator(".stage svg image")
    expect(images).to_have_count(1, timeout=120_000)
    settle(page)
    assert media == []
    with page.expect_response(lambda response: is_tile(response.url)):
        for _ in range(10):  # 1.5¹⁰ = 58 times, of which the viewer allows 40: 250 pixels across
            page.get_by_role("button", name="+", exact=True).click()
    expect(page.locator(".stage svg image[href*='/media/']").first).to_be_attached(timeout=120_000)
    settle(page)
    expect(page.locator(".stage svg")).to_have_attribute("viewBox", re.compile(r"^4875\S* 4875\S* 250 250$"))
    assert 1 <= len(media) <= 9, "only the tiles in view are fetched"
    assert all(response.ok for response in media)
    assert sum(len(response.body()) for response in media) < 2_000_000
    tiles = page.locator(".stage svg image[href*='/media/']")
    for tile in tiles.all():  # each is drawn at its own place and size
        assert [float(tile.get_attribute(side) or 0) % 1024 for side in ("x", "y", "width", "height")] == [0] * 4
    page.get_by_role("button", name="Fit").click()
    expect(page.locator(".stage svg")).to_have_attribute("viewBox", f"0 0 {SIDE} {SIDE}")
