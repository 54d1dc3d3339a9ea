"""Label: what do people say of these outputs?"""

import json
import shutil
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.views.judge import label_entry
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from tests.labels import answer, label, labelled_run
from tests.pages.conftest import HOSTILE, Open


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


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the browser was given to draw last."""
    told: dict[str, Any] = {}
    monkeypatch.setattr(
        label_entry, "browser_component", lambda *_: lambda data, **_more: told.update(json.loads(data))
    )
    return told


def shown(drawn: dict[str, Any]) -> list[str]:
    """The answers of the outputs ahead."""
    return [output["right"][0][1] for output in drawn["outputs"]]


def send(page: AppTest, *entries: tuple[str, str, float | None]) -> None:
    """Run the page with entries of the browser: what to do, with which output, and the value."""
    given = [
        {"id": str(number), "do": do, "output": output, "value": value}
        for number, (do, output, value) in enumerate(entries)
    ]
    page.session_state[label_entry.KEY] = {"given": given}
    page.run()
    assert not page.exception


def test_a_name_comes_first(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    page = open_page("label", run=bare.id)
    assert (page.title[0].value, page.subheader[0].value) == ("Label", "Who are you?")
    assert [field.label for field in page.text_input] == ["Your name"]
    page.text_input(key="rater-name").set_value("ann")
    next(button for button in page.button if button.label == "Begin").click().run()
    assert page.query_params["rater"] in ("ann", ["ann"])
    assert [label["text"] for label in drawn["labels"]] == ["✓ Pass", "✗ Fail", "Unsure"]


def test_entries_are_stored_once_and_in_their_order(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    page = open_page("label", run=bare.id, rater="ann")
    ahead, answers = [output["output"] for output in drawn["outputs"]], shown(drawn)
    entries = [("label", ahead[0], 1.0), ("label", ahead[1], 0.0), ("label", ahead[2], None)]
    send(page, *entries)
    assert [value for _, value, _ in given(bare)] == [1.0, 0.0, None]
    assert (drawn["stored"], drawn["done"], shown(drawn)[0]) == (["0", "1", "2"], 3, answers[3])
    send(page, *entries, ("take back", ahead[2], None), ("label", ahead[2], 0.0), ("label", ahead[3], 7.0))
    assert [value for _, value, _ in given(bare)] == [1.0, 0.0, 0.0], "and no value beside the scale"
    open_page("label", run=bare.id, rater="ann")  # another day
    assert shown(drawn)[0] == answers[3]
    open_page("label", run=bare.id, rater="bo")
    assert shown(drawn)[0] == answers[0]


def test_next_puts_an_output_off(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    page = open_page("label", run=bare.id, rater="ann", mode="drawn")
    first, second, *_ = [output["output"] for output in drawn["outputs"]]
    send(page, ("put off", first, None))
    assert (given(bare), drawn["outputs"][0]["output"]) == ([], second)


def test_it_is_blind(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    label(bare, "bo", range(12))
    open_page("label", run=bare.id, rater="ann", criterion="good")
    texts = [(output["left"], output["right"], output["lists"]) for output in drawn["outputs"]]
    assert any(answer(index, model) in shown(drawn) for index in range(12) for model in ("long", "short"))
    for word in ("rouge", "bo", "long", "short"):
        assert word not in json.dumps(texts).split()


@pytest.mark.attack("suite author", "Markdown in a criterion of uploaded labels", "every mark is escaped")
def test_names_are_literal_in_the_progress(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    """An image in the name of a criterion, which a file may bring, is not fetched."""
    label(bare, "bo", range(2), HOSTILE)
    page = open_page("label", run=bare.id, rater="ann", criterion=HOSTILE)
    assert drawn["head"] == f"ann · {HOSTILE}", "inserted as text by label_queue.js"
    assert not [each.value for each in (*page.markdown, *page.caption) if HOSTILE in each.value]


def test_grades_have_their_own_buttons_and_a_begun_scale_stays(
    bare: Run, open_page: Open, drawn: dict[str, Any]
) -> None:
    page = open_page("label", run=bare.id, rater="ann", own="fluency", scale="1-3")
    assert [label["text"] for label in drawn["labels"]] == ["1", "2", "3", "Unsure"]
    send(page, ("label", drawn["outputs"][0]["output"], 1.0))
    assert given(bare) == [("fluency", 1.0, "ann")]
    open_page("label", run=bare.id, rater="bo", criterion="fluency", scale="pass")
    assert [label["text"] for label in drawn["labels"]] == ["1", "2", "3", "Unsure"]


def test_when_all_is_labelled_nothing_is_ahead(bare: Run, open_page: Open, drawn: dict[str, Any]) -> None:
    label(bare, "ann", range(12))
    open_page("label", run=bare.id, rater="ann", criterion="good")
    assert (drawn["outputs"], drawn["done"]) == ([], drawn["total"])
