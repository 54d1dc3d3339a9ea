"""All models of a suite on one board: every page of a run takes it in place of a run."""

from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest

from components.data import boards
from metrics.core.suite import Outputs
from metrics.presentation.viewers.board_drawing import APART
from metrics.store import Run, Workspace
from metrics.store.board_settings import Boards, Factors
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.pages.conftest import Look, Open, Scene, labels_outputs, labels_suite
from tests.pages.page_scenes import objects_run, told

PAGES = ("problems", "cases", "case", "compare", "trend", "slices", "report", "compliance", "thresholds")


def texts(folder: Path) -> Run:
    """`good`, `late` and `poor` in a run each: `late` by another seed and without BLEU, as `poor`."""
    here, suite = Workspace(folder), text_suite()
    finished(here, suite, text_outputs(models=("good",)), "rouge", "bleu", name="First")
    finished(here, suite, text_outputs(models=("late",)), "rouge", seed=7, name="Other seed")
    return finished(here, suite, text_outputs(models=("poor",)), "rouge", name="Second")


def labels(folder: Path) -> Run:
    """The three models of the run Animals in a run each."""
    outputs = labels_outputs()
    here, suite = Workspace(folder), labels_suite()
    return [finished(here, suite, outputs.restricted(model), "classification") for model in outputs.models][-1]


def pictures(folder: Path) -> Run:
    """The same pictures evaluated twice."""
    objects_run(folder)
    return objects_run(folder)


def board_of(run: Run) -> str:
    return f"board:{run.spec.suite.fingerprint[:12]}"


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        *((texts, name) for name in PAGES),
        *((labels, name) for name in ("leaderboard", "curves", "cases")),
        *((pictures, name) for name in ("leaderboard", "gallery", "case", "curves")),
    ],
)
def test_pages_take_a_board_in_place_of_a_run(look_at: Look, open_page: Open, scene: Scene, name: str) -> None:
    run = look_at(scene)
    page = open_page(name, run=board_of(run))
    assert page.query_params["run"] == board_of(run)
    assert not page.error


@pytest.mark.parametrize("name", ["label", "arena", "judge_agreement"])
def test_people_judge_the_newest_run_of_a_board(look_at: Look, open_page: Open, name: str) -> None:
    run = look_at(texts)
    assert open_page(name, run=board_of(run)).query_params["run"] == run.id


def test_a_board_says_where_numbers_come_from_and_what_is_apart(look_at: Look, open_page: Open) -> None:
    run = look_at(texts)
    page = open_page("leaderboard", run=board_of(run))
    drawn = told(page, "heatmap")
    rows = dict(zip(drawn["models"], drawn["cells"], strict=True))
    assert set(rows) == {"good", "late", "poor"}
    assert "From First" in rows["good"][0][5]
    assert rows["late"][0][4] & APART
    assert "seed 7 after 0" in rows["late"][0][5]
    assert not rows["poor"][0][4] & APART
    said = [text.value for text in page.text]
    assert any(text.startswith("3 models of 3 runs, ") for text in said)
    assert "poor · BLEU: never evaluated" in said


def test_evaluate_alike_begins_with_the_answers_and_the_evaluators_that_lack(look_at: Look, open_page: Open) -> None:
    run = look_at(texts)
    asked = open_page("leaderboard", run=board_of(run))
    link = next(one for one in asked.get("page_link") if "Evaluate alike" in one.proto.label)
    found = parse_qs(urlparse(f"?{link.proto.query_string}").query)
    assert found["evaluator"] == ["rouge", "bleu"]
    assert found["suite"] == [run.spec.suite.fingerprint]
    page = open_page("evaluate", **found)
    assert page.query_params["answers"] == found["answers"][0]


def test_a_run_leads_to_the_board_of_its_suite(look_at: Look, open_page: Open) -> None:
    run = look_at(texts)
    page = open_page("leaderboard", run=run.id)
    label = "2 other runs of this suite: all models side by side"
    assert any(one.proto.label == label for one in page.get("page_link"))
    assert "All models of turns" in page.sidebar.selectbox[0].options


def grown(folder: Path) -> Run:
    """`good` and `poor` on a suite, then `late` on a version of it with two more cases."""
    here = Workspace(folder)
    finished(here, text_suite(24), text_outputs(24), "rouge")
    return finished(here, text_suite(26), text_outputs(26, ("late",)), "rouge")


def test_models_of_another_version_are_compared_on_the_shared_cases(look_at: Look, open_page: Open) -> None:
    run = look_at(grown)
    page = open_page("leaderboard", run=run.id)
    words = "good and poor: on another version of the suite. Compare on 24 of 26 cases"
    assert words in " ".join(one.value for one in page.text)
    assert "Compare on these" in [button.label for button in page.button]


def test_a_pinned_baseline_is_compared_against_at_once(look_at_copy: Look, open_page: Open) -> None:
    board = board_of(look_at_copy(texts))
    found = boards.board_names(board)
    for pinned in ("late", "poor", "good"):
        assert boards.keep_board_names(board, found._replace(baseline=pinned)) == ""
        assert open_page("compare", run=board).query_params["a"] == pinned


def test_what_is_shared_with_other_versions_follows_their_names(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(grown)
    assert "good and poor: " in boards.shared_words(run.id)
    other = next(one for one in Workspace().runs() if one.id != run.id)
    found = boards.board_names(other.id)
    rows = tuple(row._replace(hidden=row.entry == "poor") for row in found.rows)
    assert boards.keep_board_names(other.id, found._replace(rows=rows)) == ""
    assert boards.shared_words(run.id).startswith("good: ")


def test_names_are_kept_and_shown_at_once(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(texts)
    page = open_page("leaderboard", run=board_of(run))
    found = boards.board_names(board_of(run))
    rows = [
        row._replace(name="Best") if row.entry == "good" else row._replace(hidden=row.entry == "late")
        for row in found.rows
    ]
    rows[2] = rows[2]._replace(family="P", model="poor", prompt="terse")
    assert boards.keep_board_names(board_of(run), found._replace(rows=tuple(rows), baseline="poor")) == ""
    page.run()
    assert {*told(page, "heatmap")["models"]} == {"Best", "poor"}
    kept = Boards(run.workspace.path).settings(run.spec.suite.fingerprint)
    assert (kept.aliases, kept.hidden, kept.baseline) == ({"good": "Best"}, ("late",), "poor")
    assert kept.factors == {"poor": Factors("poor", "terse")}
    for half in ({"model": "poor"}, {"prompt": "terse"}):
        rows[2] = found.rows[2]._replace(**{"model": "", "prompt": "", **half})
        wrong = boards.keep_board_names(board_of(run), found._replace(rows=tuple(rows)))
        assert wrong == "poor: a model and a prompt count only together. Fill in both, or neither."
    hidden = found._replace(rows=tuple(row._replace(hidden=True) for row in found.rows))
    assert "at least one model" in boards.keep_board_names(board_of(run), hidden)
    twice = found._replace(rows=tuple(row._replace(name="same") for row in found.rows))
    assert "same" in boards.keep_board_names(board_of(run), twice)


def test_an_earlier_evaluation_is_named_and_hidden_like_a_model(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(texts)
    again = Outputs.from_rows([{"case_id": "c0", "model": "poor", "answer": "Else."}])
    finished(Workspace(run.workspace.path), text_suite(), again, "rouge", name="Other prompt")
    every = f"{board_of(run)}:all"
    found = boards.board_names(every)
    assert [row.entry for row in found.rows] == ["good", "late", "poor", f"{run.id}:poor"]
    named = (*found.rows[:3], found.rows[3]._replace(name="poor, first prompt"))
    assert boards.keep_board_names(every, found._replace(rows=named)) == ""
    page = open_page("leaderboard", run=every)
    assert "poor, first prompt" in told(page, "heatmap")["models"]
    assert any(text.value.startswith("3 models in 4 evaluations of 4 runs, ") for text in page.text)
    hidden = (*named[:3], named[3]._replace(hidden=True))
    assert boards.keep_board_names(every, found._replace(rows=hidden)) == ""
    assert boards.board_names(every).rows[3].hidden, "it can be shown again"


def test_names_are_drawn_once_their_box_is_open(look_at: Look, open_page: Open) -> None:
    page = open_page("leaderboard", run=board_of(look_at(texts)))
    assert "Save" not in [button.label for button in page.button]
    page.session_state["board-names"] = True
    page.run()
    assert "Save" in [button.label for button in page.button]


def test_a_board_has_no_controls_that_write(look_at: Look, open_page: Open) -> None:
    page = open_page("report", run=board_of(look_at(texts)))
    assert "Archive" not in [button.proto.label for button in page.get("download_button")]
