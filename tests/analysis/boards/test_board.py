"""What a board is made of: which runs, under which names, and what is shown beside but not ranked."""

from dataclasses import replace
from pathlib import Path

import pytest

from metrics.analysis import compare, leaderboard
from metrics.analysis.boards.board import Apart, Board, Source, open_run
from metrics.core.errors import RunNotFound
from metrics.core.suite import Outputs
from metrics.store import Run, Workspace
from metrics.store.board_settings import Boards
from tests.engine.engine_scenes import finished, text_outputs, text_suite

SUITE = text_suite()


def outputs_of(model: str, like: str = "good") -> Outputs:
    """The answers of a model: those of another one."""
    rows = [row | {"model": model} for row in text_outputs(models=(like,)).outputs.to_pylist()]
    return Outputs.from_rows(rows)


def evaluated(workspace: Workspace, model: str, *evaluators: str, like: str = "good", **options: object) -> Run:
    return finished(workspace, SUITE, outputs_of(model, like), *(evaluators or ("exact_match",)), **options)


def board_of(workspace: Workspace, address: str = "board") -> Board:
    found = open_run(workspace, address)
    assert isinstance(found, Board)
    return found


def test_the_latest_evaluation_of_each_model_stands_on_the_board(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    first, second = evaluated(workspace, "a", like="poor"), evaluated(workspace, "b")
    third = evaluated(workspace, "a")
    latest, every = board_of(workspace), board_of(workspace, f"board:{SUITE.name}:all")
    assert latest.models == ("b", "a")
    assert [entry.answers.run for entry in latest.entries] == [second, third]
    assert every.models == (f"a@{first.id}", "b", "a")
    cells = leaderboard(every).cells
    assert (
        cells[f"a@{first.id}", "exact_match/exact_match"].value
        == leaderboard(first).cells["a", "exact_match/exact_match"].value
    )


def test_equal_answers_are_one_entry_with_the_evaluators_of_all_its_runs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    first = evaluated(workspace, "a")
    second = finished(workspace, SUITE, outputs_of("a"), "rouge")
    finished(workspace, SUITE, text_outputs(models=("good", "poor")), "exact_match", "rouge")
    found = board_of(workspace)
    assert {id: source.run for id, source in found.entries[0].scores.items()} == {"exact_match": first, "rouge": second}
    board = leaderboard(found)
    assert board.models == ("a", "good", "poor")
    assert all(board.cells[model, "rouge/rougeL"].rank for model in board.models)


def test_numbers_made_otherwise_are_shown_and_not_ranked(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for model in ("a", "b"):
        evaluated(workspace, model)
    odd = evaluated(workspace, "c", seed=7)
    found = board_of(workspace)
    assert found.apart["c", "exact_match"].why == ("seed 7 after 0",)
    board = leaderboard(found)
    cell = board.cells["c", "exact_match/exact_match"]
    assert cell.value == leaderboard(odd).cells["c", "exact_match/exact_match"].value
    assert (cell.rank, cell.untested) == (None, "not ranked: seed 7 after 0")
    assert board.cells["a", "exact_match/exact_match"].ranked == 2


def test_what_people_set_shapes_the_board(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    runs = [evaluated(workspace, model) for model in ("a", "b", "c", "d")]
    before, settings = board_of(workspace), Boards(workspace.path)
    settings.change(
        SUITE.fingerprint,
        lambda own: replace(own, aliases={"a": "Alpha"}, hidden=("b",), archived=(runs[3].id,), baseline="a"),
        before.models,
        [run.id for run in runs],
    )
    after = board_of(workspace)
    assert (after.models, after.baseline) == (("Alpha", "c"), "Alpha")
    assert after.id != before.id
    assert after.shown_name(f"{runs[0].id}:a") == after.shown_name("a") == "Alpha"
    assert set(after.scores["model"]) == {"Alpha", "c"}


def test_a_suite_without_runs_has_no_board(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="no finished run"):
        open_run(Workspace(tmp_path), "board")
    evaluated(Workspace(tmp_path), "a")
    with pytest.raises(RunNotFound, match="elsewhere"):
        open_run(Workspace(tmp_path), "board:elsewhere")


def test_a_renamed_model_is_read_by_its_new_name(tmp_path: Path) -> None:
    """Whatever asks for rows of a model, with files that have none of it."""
    workspace = Workspace(tmp_path)
    runs = [evaluated(workspace, model, "exact_match", "rouge") for model in ("a", "b")]
    names = {"a": "Alpha", "b": "Beta"}
    Boards(workspace.path).change(SUITE.fingerprint, lambda own: replace(own, aliases=names), ["a", "b"])
    found = board_of(workspace)
    for run, (model, name) in zip(runs, names.items(), strict=True):
        for table in ("scores", "aggregates", "outputs/outputs.parquet"):
            one, other = run.needed(table).rows(None, [("model", "==", model)]), found.needed(table)
            plain = other.rows(None, [("model", "==", name)])
            assert plain.drop_columns("model").equals(one.drop_columns("model"))
            assert {*plain["model"].to_pylist()} == {name}
            assert len(other.rows(None, [("model", "!=", name)])) == len(other.rows()) - len(one)
            assert not len(other.rows(None, [("model", "in", ["nobody"])]))
    counts = found.query("SELECT model, count(*) AS n FROM scores GROUP BY model ORDER BY model")
    assert counts["model"].tolist() == ["Alpha", "Beta"]
    assert compare(found, "Alpha", "Beta").rows == compare(board_without(workspace), "a", "b").rows


def board_without(workspace: Workspace) -> Board:
    """The board without any setting."""
    Boards(workspace.path).change(SUITE.fingerprint, lambda own: replace(own, aliases={}), ["a", "b"])
    return board_of(workspace)


def test_other_parameters_are_named_with_both_values_and_stand_by_themselves_in_every_evaluation(
    tmp_path: Path,
) -> None:
    """Answers of a model that were evaluated in one way twice, and once in another, are two entries."""
    workspace = Workspace(tmp_path)
    odd = evaluated(workspace, "a", parameters={"exact_match": {"extract": r"(\d+)"}})
    same = [evaluated(workspace, model) for model in ("b", "a", "a")]
    found = board_of(workspace, "board::all")
    assert found.models == (f"a@{odd.id}", "b", "a")
    why = (r"Extract (\d+), others none",)
    assert found.apart == {(f"a@{odd.id}", "exact_match"): Apart(Source(odd, "a"), why)}
    assert found.entries[2].answers.run == same[2]
    latest = board_of(workspace)
    assert (latest.models, latest.apart) == (("b", "a"), {})
