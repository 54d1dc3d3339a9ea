"""What keys do in a real browser: the palette, comparing answers, labelling, and approving questions."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.questions import read_draft, save_draft
from metrics.store import Run
from metrics.store.rating_sets import Labels, Preferences
from tests.pages.browser.conftest import Studio
from tests.pages.conftest import press_until, settle
from tests.pages.test_questions import HOSTILE, stored_draft
from tests.preferences import MODELS

pytestmark = pytest.mark.browser


def press_through(page: Page, keys: Sequence[str], button: str, progress: str) -> None:
    """Press a key for each pair or output shown; `button` begins the class that names it, the last key puts one off."""
    shown = page.locator(f"[class*={button}]")
    for done, key in enumerate(keys):
        expect(page.get_by_text(progress.format(min(done, len(keys) - 1)))).to_be_visible()
        settle(page)
        before = str(shown.get_attribute("class"))
        press_until(page, key, lambda wait, before=before: expect(shown).not_to_have_class(before, timeout=wait))
    expect(page.get_by_text(progress.format(len(keys) - 1))).to_be_visible()
    settle(page)


def run_of(studio: Studio, name: str) -> Run:
    return Run(studio.folder / "runs" / studio.runs[name])


def test_answers_are_compared(studio: Studio, page: Page) -> None:
    compared = run_of(studio, "compared")
    page.goto(studio.at("arena", "compared", "&rater=ann"))
    keys = ("ArrowLeft", "ArrowRight", "t", "x", "n")
    press_through(page, keys, "st-key-prefer-skip-", "ann · quality: {} of 36 pairs compared")
    kept = Preferences(compared).table().to_pylist()
    given = [row["outcome"] if row["shown_first"] == row["model_a"] else 1 - row["outcome"] for row in kept]
    assert given == [1.0, 0.0, 0.5, 0.5]
    page.keyboard.press("b")
    expect(page.get_by_text("ann · quality: 3 of 36 pairs compared")).to_be_visible()
    assert [row["note"] for row in Preferences(compared).table().to_pylist()] == ["", "", ""]
    assert not any(name in page.content() for name in MODELS), "blind in the browser, too"


def test_no_key_of_a_labeller_is_lost(studio: Studio, page: Page) -> None:
    """Keys come faster than any server answers: each labels the output that is on the screen."""
    labelled = run_of(studio, "labelled")
    page.goto(studio.at("label", "labelled", "&rater=ann"))
    shown = page.locator(".output .text")
    expect(page.get_by_text("ann · quality: 0 of 24 outputs labelled")).to_be_visible()
    keys, seen = "pfufpnfpfbup", []
    for key in keys:
        question, _, answer = shown.all_inner_texts()
        seen.append((question, answer))
        page.keyboard.press(key)
    wanted: list[tuple[str, str, float | None]] = []
    for key, output in zip(keys, seen, strict=True):
        if key == "b":
            wanted.pop()
        elif key != "n":
            wanted.append((*output, {"p": 1.0, "f": 0.0, "u": None}[key]))
    assert seen[-2] == seen[-4], "Back shows the last one again"
    expect(page.locator("[data-waiting='0']")).to_be_attached()
    rows = Labels(labelled).table().to_pylist()
    questions = {case["case_id"]: case["question"] for case in labelled.suite.cases.to_pylist()}
    answers = {(one["case_id"], one["model"]): one["answer"] for one in labelled.outputs.outputs.to_pylist()}
    kept = [(questions[row["case_id"]], answers[row["case_id"], row["model"]], row["value"]) for row in rows]
    assert kept == wanted
    page.reload()
    expect(page.get_by_text(f"ann · quality: {len(wanted)} of 24 outputs labelled")).to_be_visible()


def test_keys_label_again_once_a_criterion_is_typed(studio: Studio, page: Page) -> None:
    page.goto(studio.at("label", "labelled", "&rater=bo"))
    box = page.get_by_label("Another criterion")
    box.fill("tone")
    box.press("Enter")
    page.keyboard.press("p")  # of the criterion before, whose output is no longer shown
    expect(page.get_by_text("bo · tone: 0 of 24 outputs labelled")).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_text("bo · tone: 1 of 24 outputs labelled")).to_be_visible()
    expect(box).to_have_value("tone")


def test_questions_are_approved_and_dropped(studio: Studio, page: Page) -> None:
    draft = save_draft(studio.folder, stored_draft())
    page.goto(f"{studio.address}/suites?view=questions&questions={draft}")
    expect(page.locator(".prose mark")).to_have_text("It opens at nine.")
    expect(page.locator(".prose .words").first).to_contain_text(HOSTILE)
    for done, key in enumerate("ad", 1):
        settle(page)
        page.keyboard.press(key)
        expect(page.get_by_text(f"{done} of 3 questions decided")).to_be_visible()
    assert statuses(studio.folder, draft) == {"a-0": "approved", "a-1": "dropped"}


def statuses(folder: Path, draft: str) -> dict[str, str]:
    return {name: review.status for name, review in read_draft(folder, draft)[1].items()}


def test_the_palette_finds_and_goes_and_the_link_is_copied(studio: Studio, page: Page) -> None:
    page.goto(studio.at("report", "animals"))
    go_to = page.get_by_role("button", name="Go to")
    expect(go_to).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    begin = page.get_by_role("checkbox").first
    begin.focus()
    page.keyboard.press("Control+k")
    box, first = page.get_by_role("combobox", name="Go to"), page.get_by_role("option").first
    expect(box).to_be_focused()
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.type("roug")
    expect(first).to_contain_text("ROUGE")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(begin).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("no such thing")
    expect(page.get_by_text("Nothing has this name.")).to_be_visible()
    box.fill("trend")
    page.keyboard.press("Enter")
    page.wait_for_url("**/trend**")
