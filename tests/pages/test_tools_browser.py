"""The command palette and the toolbar in a real browser."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from streamlit.testing.v1 import AppTest

from components.widgets.palette import entries
from metrics.store import Run
from tests.pages.conftest import HOSTILE, PROJECT, serving, settle
from tests.pages.page_scenes import told

TOOLS = "tests/pages/tools_page.py"
SERVER = "tests/pages/tools_server.py"


def test_the_palette_offers_pages_models_metrics_runs_and_evaluators(run: Run) -> None:
    offered = list(entries(run.id))
    kinds = [kind for kind, *_ in offered]
    assert sorted(set(kinds), key=kinds.index) == ["Page", "Model", "Metric", "Run", "Evaluator"]
    by_name = {(kind, name): (address, detail) for kind, name, address, detail in offered}
    assert by_name["Page", "Cases"][0] == f"cases?run={run.id}"
    assert by_name["Model", HOSTILE][0].startswith(f"cases?run={run.id}&model=%3Cimg")
    address, code = by_name["Metric", "Classification: Accuracy"]
    assert parse_qs(urlparse(address).query)["sort"] == ["classification/accuracy"]
    assert code == "classification.accuracy"
    assert by_name["Run", "Animals"][0].endswith(f"?run={run.id}")
    assert not by_name["Run", "Animals"][0].startswith("?")  # it would stay on the page
    assert by_name["Evaluator", "ROUGE"][1] == "rouge"


@pytest.mark.parametrize("run_id", ["", "20200101-000000-abcdef"], ids=["none", "unknown"])
def test_without_a_run_there_are_no_models(run: Run, run_id: str) -> None:
    assert {kind for kind, *_ in entries(run_id)} == {"Page", "Run", "Evaluator"}


def test_the_toolbar_offers_the_report_of_the_run(run: Run) -> None:
    page = AppTest.from_file(str(PROJECT / TOOLS), default_timeout=60)
    page.query_params["run"] = run.id
    assert told(page.run(), "toolbar") == {"report": f"report?run={run.id}"}
    assert told(AppTest.from_file(str(PROJECT / TOOLS), default_timeout=60).run(), "toolbar") == {"report": None}


@pytest.fixture(scope="module")
def tools(sampled: Path) -> Iterator[str]:
    """The address of the page of tools."""
    with serving(sampled, script=SERVER) as address:
        yield address


@pytest.fixture
def opened(browser: Browser, tools: str) -> Iterator[Page]:
    """That page, drawn, in a browser that lets it use the clipboard."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(120_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(tools)
    expect(page.get_by_role("button", name="Go to")).to_be_visible(timeout=120_000)
    settle(page)
    yield page
    context.close()


@pytest.mark.browser
def test_the_palette_opens_finds_and_goes(opened: Page) -> None:
    opened.get_by_label("Box").click()
    opened.keyboard.press("Control+k")
    box = opened.get_by_role("combobox", name="Go to")
    expect(box).to_be_focused()
    first = opened.get_by_role("option").first
    expect(first).to_have_attribute("aria-selected", "true")
    opened.keyboard.type("roug")
    expect(first).to_contain_text("ROUGE")
    opened.keyboard.press("ArrowDown")
    expect(opened.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    opened.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(opened.get_by_label("Box")).to_be_focused()
    opened.keyboard.press("Control+k")
    opened.keyboard.type("no such thing")
    expect(opened.get_by_text("Nothing has this name.")).to_be_visible()
    box.fill("trend")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/trend**")


@pytest.mark.browser
def test_copy_link_copies_this_view(opened: Page) -> None:
    opened.get_by_role("button", name="Copy link").click()
    expect(opened.get_by_role("button", name="Link copied")).to_be_visible()
    assert opened.evaluate("navigator.clipboard.readText()") == opened.url


@pytest.mark.parametrize("width", [820, 1280])
@pytest.mark.parametrize("name", ["problems", "judge_agreement"])
def test_the_head_of_a_page_is_one_line(served: str, page: Page, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    page.goto(f"{served}/{name}")
    parts = (page.locator("h1"), page.get_by_text("Go to …"), page.get_by_role("link", name="Report", exact=True))
    for part in parts:
        expect(part).to_be_visible(timeout=120_000)
    settle(page)
    for _ in range(600):  # a sidebar may still fold away
        if in_one_line(parts, width):
            break
        page.wait_for_timeout(100)
    assert in_one_line(parts, width)


def in_one_line(parts: Sequence[Locator], width: int) -> bool:
    """Return whether parts of a page stand in one line, the last one inside the window."""
    boxes = [box for part in parts if (box := part.bounding_box()) is not None]
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    inside = len(boxes) == len(parts) and boxes[-1]["x"] + boxes[-1]["width"] <= width
    return inside and all(abs(middle - middles[0]) < 20 for middle in middles)


def brightness(ink: str, paper: str) -> float:
    """How far a text's grey is from the paper's, 0 to 1; both are CSS colours, the first may let the paper through."""
    *inks, papers = (list(map(float, re.findall(r"[\d.]+", colour))) for colour in (ink, paper))
    red_green_blue, opacity = inks[0][:3], (inks[0][3:] or [1.0])[0]
    return abs(sum(red_green_blue) - sum(papers[:3])) * opacity / (3 * 255)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_disabled_main_button_can_be_read(served: str, page: Page, theme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto(f"{served}/judge")
    words = page.get_by_role("button", name="Save", exact=True).locator("p")
    expect(words).to_be_visible(timeout=120_000)
    settle(page)
    ink, paper = words.evaluate(
        """(words) => [words, document.querySelector("[data-testid=stApp]")].map((box, index) =>
            getComputedStyle(box)[index ? "backgroundColor" : "color"])"""
    )
    assert brightness(ink, paper) > 0.1
