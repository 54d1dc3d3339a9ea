"""Every page in both themes before axe: no serious finding."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from components.widgets.url import PAGES
from tests.pages.conftest import serving, settle
from tests.pages.page_scenes import judged_run, objects_run

OF_PICTURES = ("curves", "gallery")
WORST = ("serious", "critical")
TEXT = {"light": "rgb(11, 19, 27)", "dark": "rgb(232, 237, 242)"}  # .streamlit/config.toml
# Streamlit's own: its data frames are canvases with a table for readers that axe takes for a scrolling region.
OF_STREAMLIT = ("[data-testid='stDataFrame']", ".stDataFrame", ".js-plotly-plot")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The address of a studio, and the ids of a judged run of texts and of one of pictures."""
    folder = tmp_path_factory.mktemp("axe")
    texts, pictures = judged_run(folder), objects_run(folder)
    with serving(folder) as address:
        yield address, texts.id, pictures.id


def findings(page: Page) -> list[str]:
    """Return axe's serious findings: the rule, and where."""
    found = Axe().run(page, context={"exclude": [[name] for name in OF_STREAMLIT]})
    return [
        f"{one['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for one in found.response["violations"]
        if one["impact"] in WORST
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("name", [*PAGES, "example of pictures"])
def test_no_serious_finding(page: Page, studio: tuple[str, str, str], name: str) -> None:
    address, texts, pictures = studio
    run = pictures if name in OF_PICTURES or "pictures" in name else texts
    page.goto(f"{address}/{name.partition(' ')[0]}?run={run}")
    expect(page.locator("h1")).to_be_visible(timeout=120_000)
    for theme, colour in TEXT.items():
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        expect(page.locator("h1")).to_have_css("color", colour)
        settle(page)
        assert not findings(page), theme


def test_a_finding_is_found(page: Page) -> None:
    page.set_content("<html lang='en'><title>x</title><main><p style='color: #ccc; background: #fff'>pale</p></main>")
    assert [found.partition(":")[0] for found in findings(page)] == ["color-contrast"]
