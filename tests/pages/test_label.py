"""Label: what do people say of these outputs?"""

import shutil

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.literal import literal
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from tests.labels import answer, label, labelled_run
from tests.pages.conftest import HOSTILE, Open
from tests.pages.reading import words


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("labelling")), 12)


@pytest.fixture
def bare(made: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(made.workspace.path))
    shutil.rmtree(Labels(made).folder, ignore_errors=True)
    return made


def given(run: Run) -> list[tuple[object, ...]]:
    return [(row["criterion"], row["value"], row["rater"]) for row in Labels(run).table().to_pylist()]


def press(page: AppTest, name: str) -> None:
    next(button for button in page.button if name in button.label).click().run()
    assert not page.exception


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
    seen = [words(page)]
    for name in ("Pass", "Fail", "Unsure"):
        press(page, name)
        seen.append(words(page))
    assert [value for _, value, _ in given(bare)] == [1.0, 0.0, None]
    assert len(set(seen)) == 4
    press(page, "Back")
    assert len(given(bare)) == 2
    assert words(page) == seen[2]
    again = open_page("label", run=bare.id, rater="ann")  # another day
    assert words(again) == seen[2]
    other = open_page("label", run=bare.id, rater="bo")
    assert words(other) == seen[0]


def test_next_puts_an_output_off(bare: Run, open_page: Open) -> None:
    page = open_page("label", run=bare.id, rater="ann", mode="drawn")
    first = words(page)
    press(page, "Next")
    assert (given(bare), words(page) != first) == ([], True)


def test_it_is_blind(bare: Run, open_page: Open) -> None:
    label(bare, "bo", range(12))
    page = open_page("label", run=bare.id, rater="ann", criterion="good")
    said = words(page)
    assert any(answer(index, model) in said for index in range(12) for model in ("long", "short"))
    for word in ("rouge", "bo", "long", "short"):
        assert word not in said.split()


@pytest.mark.attack("suite author", "Markdown in a criterion of uploaded labels", "every mark is escaped")
def test_names_are_literal_in_the_progress(bare: Run, open_page: Open) -> None:
    """An image in the name of a criterion, which a file may bring, is not fetched."""
    label(bare, "bo", range(2), HOSTILE)
    page = open_page("label", run=bare.id, rater="ann", criterion=HOSTILE)
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
