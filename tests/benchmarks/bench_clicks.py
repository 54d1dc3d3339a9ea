"""Seconds from a click to the drawn page, in Chromium, over a session of some forty clicks on each of three runs.

    python -m tests.benchmarks.bench_clicks [samples] [texts] [pictures]

The runs: a shipped sample of texts; 100,000 cases × 5 models; 5,000 images × 200,000 boxes × 3 models. Before the
first click somebody reads the leaderboard for a few seconds. A click lasts from the pointer or the key to the last
change that can be seen, pictures included, after which the script has ended and nothing changes for a while; what a
table on a canvas or a live region tells screen readers is not seen. Printed are the clicks, the slowest first, their
median and their 95th percentile.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Page, sync_playwright

from metrics.store import Run, Workspace
from metrics.suites.samples import compute_missing, sample_runs
from tests.benchmarks.click_runs import big_run, deep_run
from tests.benchmarks.table import Row, report
from tests.chromium import FLAGS, find
from tests.pages.conftest import serving, settle

MOST = {"samples": 0.7, "texts": 1.5, "pictures": 1.5}  # seconds, of the 95th percentile
QUIET_MS = 700  # without a change, after which a page counts as drawn
READING_MS = 4_000  # from the first page to the first click: somebody reads
MATCHED = ("detection_pr_curve", "average_precision", "detection_confusion")
WATCH = """(() => {
  const now = () => performance.timeOrigin + performance.now();
  window.assay = {input: now(), drawn: now()};
  const drawn = () => { window.assay.drawn = now(); };
  const seen = ({target}) => !(target.closest ? target : target.parentElement)?.closest("canvas, [aria-live]");
  const watch = (root) => {
    new MutationObserver((changes) => changes.some(seen) && drawn())
      .observe(root, {subtree: true, childList: true, characterData: true, attributes: true});
    root.addEventListener("load", drawn, true);
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    watch(root);
    return root;
  };
  watch(document);
  for (const kind of ["pointerdown", "keydown"]) {
    addEventListener(kind, () => { window.assay.input = window.assay.drawn = now(); }, true);
  }
})()"""
DRAWN = """(quiet) => {
  const now = performance.timeOrigin + performance.now(), {input, drawn} = window.assay;
  return document.querySelector("[data-test-script-state=notRunning]") && drawn > input && now - drawn > quiet
    && !document.querySelector("[data-testid=stSkeleton]") && [...document.images].every((image) => image.complete)
    && {seconds: (drawn - input) / 1000};
}"""

Action = Callable[[Page], None]
Step = tuple[str, Action]


def main(names: list[str]) -> None:
    rows = []
    for name in names or list(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            make, data = RUNS[name]
            run, steps = make(Path(folder))
            times = measured(Path(folder), run, steps)
        middle, p95 = printed(name, times)
        title = f"{len(times)} clicks in Chromium on {data}, until the last change on the screen"
        rows += [Row(f"{title}: median", middle, "s"), Row(f"{title}: p95", p95, "s", most=MOST[name])]
    report(rows)


def measured(folder: Path, run: Run, steps: list[Step]) -> list[tuple[str, float]]:
    """Return the seconds of each step of a session, which begins on the run's leaderboard."""
    times, path = [], find()
    with serving(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(20_000)
        page.add_init_script(WATCH)
        page.goto(f"{address}/leaderboard?run={run.id}")
        until_drawn(page)
        page.wait_for_timeout(READING_MS)
        for name, act in steps:
            act(page)
            times.append((name, until_drawn(page)))
        browser.close()
    return times


def until_drawn(page: Page) -> float:
    """Wait until the page has been drawn; return the seconds since the last click or key."""
    return float(page.wait_for_function(DRAWN, arg=QUIET_MS, polling=50).json_value()["seconds"])


def printed(name: str, times: list[tuple[str, float]]) -> tuple[float, float]:
    """Print the clicks, slowest first; return their median and 95th percentile."""
    seconds = [each for _, each in times]
    print(f"\n{name}")
    for step, each in sorted(times, key=lambda one: -one[1]):
        print(f"  {each:6.2f} s  {step}")
    return median(seconds), quantiles(seconds, n=20)[-1]


def samples(folder: Path) -> tuple[Run, list[Step]]:
    workspace = Workspace(folder)
    compute_missing(workspace)
    return sample_runs(workspace)["rag"], list(session_of_texts("heron-large", "kestrel-rag", "loan"))


def texts(folder: Path) -> tuple[Run, list[Step]]:
    """Return a run of 100,000 cases × 5 models, and the session on it."""
    return deep_run(Workspace(folder)), list(session_of_texts("model-1", "model-2", "c99"))


def pictures(folder: Path) -> tuple[Run, list[Step]]:
    """Return a run of 5,000 images × 200,000 boxes × 3 models, and the session on it."""
    run = big_run(Workspace(folder), folder / "images", 5_000, 40, 3, MATCHED)
    return run, list(session_of_pictures("detector-2", "detector-3"))


def session_of_texts(first: str, second: str, words: str) -> Iterator[Step]:
    """Yield the clicks of somebody who chooses between models of text."""
    yield "board: sort by the first metric", press_button("columnheader", 1)
    for place in (0, 2, 4):
        yield f"board: cell {place + 1} → its worst cases", click("td a", place)
    yield "board: next case of the drawer", key("j")
    yield "board: close the drawer", key("Escape")
    yield "board: more metrics", toggle("More metrics")
    for before, form in pairwise(("More charts", "Radar", "Bars", "Distributions")):
        yield f"board: {form}", pick(before, form)
    yield "board: Heatmap", press_button("Heatmap")
    yield "→ Cases", go("Cases")
    yield "cases: one number", tab("One number")
    yield "cases: next page", press_button("Next")
    for model in (first, second):
        yield f"cases: model {model}", choose("Model", model)
    yield "cases: best first", choose("Order", 1)
    yield "cases: worst first", choose("Order", 0)
    yield "cases: search", search("Case id or question", words)
    yield "cases: a row → case", click("a[href*='case?']", 0)
    for turn in range(3):
        yield f"example: next case ({turn + 1})", key("ArrowRight")
    yield "example: previous case", key("ArrowLeft")
    yield "case → Cases", press_button("Cases")
    yield "→ Compare", go("Compare")
    yield f"compare: B is {second}", choose("B, the candidate", second)
    yield "compare: swap", press_button("Swap")
    yield "compare: its cases", press_button(re.compile("See where|See the cases"))
    yield "compare: wins", tab(re.compile("wins|better", re.IGNORECASE))
    for title in (
        "Overview", "What went wrong", "Slices", "Report", "Compliance", "New evaluation", "Runs", "Suites", "Library",
        "Settings", "Human review",
    ):  # fmt: skip
        yield f"→ {title}", go(title)


def session_of_pictures(first: str, second: str) -> Iterator[Step]:
    """Yield the clicks of somebody who looks for what detectors get wrong."""
    for place in (0, 4):
        yield f"board: cell {place + 1} → its worst cases", click("td a", place)
    yield "board: close the drawer", key("Escape")
    yield "board: Bars", pick("More charts", "Bars")
    yield "→ Cases", go("Cases")
    yield "→ Gallery", go("Gallery")
    yield f"gallery: model {first}", choose("Model", first)
    for turn in range(3):
        yield f"gallery: next page ({turn + 1})", press_button("Next")
    yield "gallery: images", tab("Images")
    yield "gallery: next page of images", press_button("Next")
    yield "gallery: objects", tab("Objects")
    yield "gallery: a kind", choose("Kind", 1)
    yield "gallery: smallest IoU first", choose("Sort", 2)
    yield "gallery: a tile → case", click("a[href*='case?']", 0)
    for turn in range(4):
        yield f"example: next object ({turn + 1})", key("ArrowRight")
    yield "example: score threshold", slide("Score threshold")
    yield "example: zoom", press_button("+")
    yield "case → gallery", link("Gallery")
    yield "gallery: score threshold", slide("Score threshold")
    yield "gallery: IoU threshold", slide("IoU threshold")
    yield "→ Curves", go("Curves")
    yield "curves: score threshold", slide("Score threshold")
    for view in ("F1", "Precision–recall", "Classes", "Confusion"):
        yield f"curves: {view}", tab(view)
    yield f"confusion: model {second}", choose("Model", second)
    yield "confusion: worst first", choose("Order", 1)
    yield "confusion: around a class", choose("Around a class", 2)
    yield "→ Cases", go("Cases")
    yield "cases: a row → case", click("a[href*='case?']", 0)
    for turn in range(2):
        yield f"example: next case ({turn + 1})", key("ArrowRight")
    yield "→ Compare", go("Compare")
    yield f"compare: B is {second}", choose("B, the candidate", second)
    yield "compare: its cases", press_button(re.compile("See where|See the cases"))
    for title in ("Slices", "Report", "Overview", "What went wrong", "Runs"):
        yield f"→ {title}", go(title)


def click(selector: str, place: int) -> Action:
    """Click the element at a place among those that a selector finds."""
    return lambda page: page.locator(selector).nth(place).click()


def key(name: str) -> Action:
    return lambda page: page.keyboard.press(name)


def press_button(name: str | re.Pattern[str], place: int | None = None) -> Action:
    """Press the button of that name; with `place`, the button in the element of that role at a place."""
    if place is not None:
        return lambda page: page.get_by_role(str(name)).nth(place).get_by_role("button").click()  # type: ignore[arg-type]
    return lambda page: page.get_by_role("button", name=name).first.click()


def link(name: str) -> Action:
    return lambda page: page.get_by_test_id("stMain").get_by_role("link", name=name).last.click()


def tab(name: str | re.Pattern[str]) -> Action:
    return lambda page: page.get_by_role("radio", name=name).first.click()


def pick(menu: str, option: str) -> Action:
    """Open a button's menu and choose an option."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=menu).first.click()
        page.get_by_role("menuitem", name=option).click()

    return act


def toggle(name: str) -> Action:
    return lambda page: page.get_by_text(re.compile(f"^{name}")).first.click()


def go(title: str) -> Action:
    """Follow the tab or, where no tab is called so, the link of the menu."""
    return lambda page: (
        page.get_by_test_id("stPageLink").or_(page.get_by_role("navigation")).or_(page.get_by_role("banner"))
        .get_by_role("link", name=re.compile(f"{title}$")).first.click()
    )  # fmt: skip


def choose(box: str, option: str | int) -> Action:
    """Open the box whose name begins so, and choose an option by its text or place."""

    def act(page: Page) -> None:
        page.keyboard.press("Escape")  # closes the list of a box that takes several
        field, options = (
            page.get_by_role("combobox", name=re.compile(f"^{re.escape(box)}( \\(|$)")),
            page.get_by_role("option"),
        )
        field.click()
        settle(page)
        if not options.count():  # the click has only closed the list of another box
            field.click()
        (options.nth(option) if isinstance(option, int) else options.filter(has_text=option)).click()

    return act


def search(box: str, words: str) -> Action:
    def act(page: Page) -> None:
        page.get_by_label(box).fill(words)
        page.keyboard.press("Enter")

    return act


def slide(name: str) -> Action:
    def act(page: Page) -> None:
        page.get_by_role("slider", name=re.compile(f"^{name}")).focus()
        page.keyboard.press("ArrowRight")

    return act


RUNS: dict[str, tuple[Callable[[Path], tuple[Run, list[Step]]], str]] = {
    "samples": (samples, "a sample"),
    "texts": (texts, "100,000 cases × 5 models"),
    "pictures": (pictures, "5,000 images × 200,000 boxes × 3 models"),
}

if __name__ == "__main__":
    main(sys.argv[1:])
