"""A leaderboard of 60 models and 15 metrics at 1280 × 720, and at the width of a tablet."""

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.analysis.scored import scored_run
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
KINDS = ("v0.1", "q4_k_m-gguf-preview", "chat")
MODELS = [f"acme-labs/llama-3-{size}b-instruct-{kind}" for size in range(20) for kind in KINDS]
METRICS = (
    "faithfulness", "answer_relevance", "answer_relevancy", "answer_correctness", "context_recall", "context_precision",
    "context_relevance", "hallucination_claims", "toxicity", "bias", "fact_check", "summary_coherence",
    "answer_semantic_similarity", "hallucination_hhem", "context_mrr",
)  # fmt: skip
INSIDE = """(cells, edge) => cells.filter((cell) => {
    const box = cell.getBoundingClientRect(), scroll = cell.closest(".scroll").getBoundingClientRect();
    return box.right <= scroll.right + 1 && box.bottom <= Math.min(scroll.bottom + 1, window.innerHeight);
}).length"""
CUT = """(boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight)
    .map((box) => box.textContent)"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio with that one run."""
    folder = tmp_path_factory.mktemp("wide")
    values = {model: [(place * 7 + case) % 11 / 10 for case in range(6)] for place, model in enumerate(MODELS)}
    values[MODELS[0]] = [0.0004] * 6  # the longest text of a narrow cell: <0.001
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        scored_run({f"{name}.{name}": values for name in METRICS})
    with serving(folder) as address:
        yield address


def board(page: Page, address: str) -> Locator:
    """The cells of the board, drawn."""
    page.goto(address)
    cells = page.locator("tbody td")
    expect(cells).to_have_count(len(MODELS) * len(METRICS), timeout=120_000)
    settle(page)
    return cells


@pytest.mark.parametrize("cells", ["", "?cells=fit"], ids=["compact-by-default", "fit"])
def test_all_columns_and_many_rows_are_in_view(
    page: Page, wide: str, cells: str, picture: Callable[[str], None]
) -> None:
    board(page, wide + cells)
    picture("board")
    assert page.locator("tbody tr:first-child td").evaluate_all(INSIDE) == len(METRICS)
    assert page.locator("tbody td:nth-child(2)").evaluate_all(INSIDE) >= 17
    assert page.locator("tbody td a, thead button").evaluate_all(CUT) == []
    expect(page.locator(".further")).to_be_hidden()


@pytest.mark.parametrize("cells", ["compact", "fit"])
def test_texts_of_narrow_cells_are_whole(page: Page, wide: str, cells: str) -> None:
    page.set_viewport_size({"width": 820, "height": 720})
    board(page, f"{wide}?cells={cells}")
    assert page.locator("tbody td a").evaluate_all(CUT) == []


def test_more_columns_than_fit_are_counted_at_the_edge(page: Page, wide: str) -> None:
    board(page, wide + "?cells=full")
    seen = page.locator("tbody tr:first-child td").evaluate_all(INSIDE)
    expect(page.locator(".further")).to_have_text(f"{len(METRICS) - seen} more ›")
    expect(page.locator(".fade.right.on")).to_have_count(1)
    assert page.locator("tbody td a").evaluate_all(CUT) == []  # intervals with a sign included
    page.locator(".further").scroll_into_view_if_needed()
    names = page.locator("tbody th").first.bounding_box()
    page.locator(".further").click()
    expect(page.locator(".fade.right.on")).to_have_count(0)
    assert page.locator("tbody th").first.bounding_box() == names  # the first column stays


def test_names_leave_out_what_all_begin_with(page: Page, wide: str) -> None:
    board(page, wide)
    expect(page.locator(".prefix")).to_have_text("acme-labs/llama-3-…")
    row = page.locator('tbody th[title="acme-labs/llama-3-7b-instruct-q4_k_m-gguf-preview"]')
    expect(row).to_have_text("7b-instruct…uf-preview")


def test_columns_are_found_hidden_and_kept_in_the_address(page: Page, wide: str) -> None:
    board(page, wide)
    page.get_by_role("button", name="Columns (15 of 15)").click()
    page.get_by_placeholder("Find a column").fill("toxi")
    expect(page.locator(".options label:visible")).to_have_count(1)
    page.get_by_label("Toxicity").uncheck()
    expect(page.get_by_role("button", name="Columns (14 of 15)")).to_be_visible(timeout=120_000)
    expect(page.locator("thead", has_text="Toxicity")).to_have_count(0)
    settle(page)
    shown = parse_qs(urlparse(page.url).query)["column"]
    assert shown == [f"{name}/{name}" for name in METRICS if name != "toxicity"]
    page.get_by_role("button", name="Default").click()
    expect(page.get_by_role("button", name="Columns (15 of 15)")).to_be_visible(timeout=120_000)
    page.wait_for_url(lambda url: "column=" not in url)


@pytest.mark.parametrize("width", [820, 1280])
def test_the_drawer_lies_inside_the_window(page: Page, wide: str, width: int, picture: Callable[[str], None]) -> None:
    page.set_viewport_size({"width": width, "height": 720})
    board(page, wide)
    page.locator("tbody td a").first.click()
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case")).to_have_count(6, timeout=120_000)
    picture("drawer")
    box = drawer.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["width"] >= 300
    assert page.evaluate("document.documentElement.scrollWidth") <= width
