"""Label: what do people say of these outputs?"""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from streamlit.testing.v1 import AppTest

from components.widgets.literal import literal
from metrics.store import Run, Workspace
from metrics.store.label_sets import Labels
from tests.labels import answer, label, labelled_run
from tests.pages.conftest import HOSTILE, serving, settle

Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("labelling")), 12)


@pytest.fixture
def bare(made: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(made.workspace.path))
    monkeypatch.setattr("components.data.ensure_samples", lambda: False)
    shutil.rmtree(Labels(made).folder, ignore_errors=True)
    return made


def given(run: Run) -> list[tuple[object, ...]]:
    return [(row["criterion"], row["value"], row["rater"]) for row in Labels(run).table().to_pylist()]


def press(page: AppTest, name: str) -> None:
    next(button for button in page.button if name in button.label).click().run()
    assert not page.exception


def shown(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(text.value for text in page.text)


def test_a_name_comes_first(bare: Run, open_page: Open) -> None:
    page = open_page("label", run=bare.id)
    assert (page.title[0].value, page.subheader[0].value) == ("Label", "Who are you?")
    assert [field.label for field in page.text_input] == ["Your name"]
    page.text_input(key="rater-name").set_value("ann")
    press(page, "Begin")
    assert page.query_params["rater"] in ("ann", ["ann"])
    assert {":green[**✓ Pass**]", ":red[**✗ Fail**]", "Unsure", "Next"} <= {button.label for button in page.button}


def test_each_press_is_kept_and_the_next_output_comes(bare: Run, open_page: Open) -> None:
    page = open_page("label", run=bare.id, rater="ann")
    seen = [shown(page)]
    for name in ("Pass", "Fail", "Unsure"):
        press(page, name)
        seen.append(shown(page))
    assert [value for _, value, _ in given(bare)] == [1.0, 0.0, None]
    assert len(set(seen)) == 4
    press(page, "Back")
    assert len(given(bare)) == 2
    assert shown(page) == seen[2]
    again = open_page("label", run=bare.id, rater="ann")  # another day
    assert shown(again) == seen[2]
    other = open_page("label", run=bare.id, rater="bo")
    assert shown(other) == seen[0]


def test_next_puts_an_output_off(bare: Run, open_page: Open) -> None:
    page = open_page("label", run=bare.id, rater="ann", mode="drawn")
    first = shown(page)
    press(page, "Next")
    assert (given(bare), shown(page) != first) == ([], True)


def test_it_is_blind(bare: Run, open_page: Open) -> None:
    label(bare, "bo", range(12))
    page = open_page("label", run=bare.id, rater="ann", criterion="good")
    said = shown(page)
    assert any(answer(index, model) in said for index in range(12) for model in ("long", "short"))
    for word in ("rouge", "bo", "long", "short"):
        assert word not in said.split()


@pytest.mark.attack("suite author", "Markdown in a criterion of uploaded labels", "every mark is escaped")
def test_names_are_literal_in_the_progress(bare: Run, open_page: Open) -> None:
    """An image in the name of a criterion, which a file may bring, is not fetched."""
    label(bare, "bo", range(2), HOSTILE)
    page = open_page("label", run=bare.id, rater="ann", criterion=HOSTILE)
    assert not page.exception
    assert page.get("progress")[0].proto.text.startswith(literal(f"ann · {HOSTILE}"))


def test_grades_have_their_own_buttons_and_a_begun_scale_stays(bare: Run, open_page: Open) -> None:
    page = open_page("label", run=bare.id, rater="ann", own="fluency", scale="1-3")
    assert [button.label for button in page.button if button.label in "1 2 3 4 5 ✓ ✗".split()] == ["1", "2", "3"]
    press(page, "1")
    assert given(bare) == [("fluency", 1.0, "ann")]
    again = open_page("label", run=bare.id, rater="bo", criterion="fluency", scale="pass")
    assert [button.label for button in again.button if button.label in "1 2 3 4 5 ✓ ✗".split()] == ["1", "2", "3"]


def test_when_all_is_labelled_it_says_so(bare: Run, open_page: Open) -> None:
    label(bare, "ann", range(12))
    page = open_page("label", run=bare.id, rater="ann", criterion="good")
    assert page.success[0].value == "Every output has your label."


@pytest.fixture
def page(browser: Browser, made: Run) -> Iterator[tuple[Page, str]]:
    shutil.rmtree(Labels(made).folder, ignore_errors=True)
    with serving(Path(made.workspace.path)) as address:
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        yield context.new_page(), address
        context.close()


@pytest.mark.browser
def test_labels_are_given_by_keyboard(page: tuple[Page, str], made: Run) -> None:
    tab, address = page
    idle = tab.locator("[data-test-script-state=notRunning]")
    tab.goto(f"{address}/label?run={made.id}&rater=ann")
    skip = tab.locator("[class*=st-key-label-next-]")  # its class names the output on the screen
    for done, key in enumerate("pfun"):
        expect(tab.get_by_text(f"ann · quality: {min(done, 3)} of 24 outputs labelled")).to_be_visible()
        expect(idle).to_be_visible()
        output = str(skip.get_attribute("class"))
        for _ in range(5):  # a key that comes before the buttons listen is lost
            settle(tab)
            if skip.get_attribute("class") != output:
                break
            tab.keyboard.press(key)
            with contextlib.suppress(AssertionError):
                expect(skip).not_to_have_class(output, timeout=20_000)
        expect(skip).not_to_have_class(output)
    expect(tab.get_by_text("ann · quality: 3 of 24 outputs labelled")).to_be_visible()
    expect(idle).to_be_visible()
    assert [value for _, value, _ in given(made)] == [1.0, 0.0, None]
    tab.keyboard.press("b")
    expect(tab.get_by_text("ann · quality: 2 of 24 outputs labelled")).to_be_visible()
    assert [value for _, value, _ in given(made)] == [1.0, 0.0]
