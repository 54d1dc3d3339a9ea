"""What every export of a whole run says beside its numbers."""

import csv
import io
import json
import re
import zipfile

import pytest

from metrics import analysis
from metrics.analysis import open_run
from metrics.presentation.format import moment
from metrics.reports.exchange.contents import parameters
from metrics.reports.exchange.exporters import EXPORTS, export
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite


def files(run: Run, name: str, benchmark: str = "own/set:all") -> list[str]:
    content = export(run, name, benchmark=benchmark if name == "eval_results" else None)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return [content.decode()]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [archive.read(one).decode() for one in archive.namelist() if not one.endswith("_samples.jsonl")]


@pytest.mark.parametrize("name", ["model_card", "eval_results", "every_eval_ever", "inspect"])
def test_a_number_says_which_run_and_judge_it_is_from_and_when(judged: Run, name: str) -> None:
    who = analysis.judged_by(judged)["no_answer"]
    assert who.startswith("scripted at ")
    for text in files(judged, name):
        flat = " ".join(text.split())
        assert judged.id in flat
        assert who in flat
        assert judged.sealed in flat
    assert moment(judged.sealed) in files(judged, "model_card")[0].split("## Evaluation results")[1]


def test_parameters_and_events_name_the_judge(judged: Run) -> None:
    who = analysis.judged_by(judged)["no_answer"]
    assert parameters(judged, "plain")["no_answer.judge"] == who
    (line,) = export(judged, "opentelemetry").decode().splitlines()
    assert line.count('"assay.judge"') == len(judged.scores)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return the board of a run of one model by ROUGE and exact match, and of another by exact match alone."""
    workspace, given = Workspace(tmp_path_factory.mktemp("w")), {"exact_match": {"ignore_articles": True}}
    for model, ids in {"good": ("rouge", "exact_match"), "poor": ("exact_match",)}.items():
        finished(workspace, text_suite(), text_outputs(models=(model,)), *ids, parameters=given)
    return open_run(workspace, "board")


@pytest.mark.parametrize("name", [one.id for one in EXPORTS.values() if one.form == "table" and not one.asks])
def test_every_row_of_a_board_says_which_run_it_is_from(board: Run, name: str) -> None:
    of = {entry.name: entry.answers.run.id for entry in board.entries}
    if EXPORTS[name].fits(board):
        rows = list(csv.DictReader(io.StringIO(export(board, name, "csv").decode())))
        every = ", ".join(of.values())
        assert [row["from_run"] for row in rows] == [
            of.get(row.get("model", row.get("model_key")), every) for row in rows
        ]
        assert len(rows) or name in ("problems", "insights", "slices")
        assert "from_run" not in export(board.entries[0].answers.run, name, "csv").decode().splitlines()[0]


@pytest.mark.parametrize("name", ["promptfoo", "opentelemetry", "inspect", "every_eval_ever"])
def test_files_of_a_board_name_both_runs(board: Run, name: str) -> None:
    assert all(any(entry.answers.run.id in text for text in files(board, name)) for entry in board.entries)


def test_a_model_has_parameters_of_its_own_evaluators(board: Run) -> None:
    rouge = {model: any("rouge" in name for name in parameters(board, model)) for model in board.models}
    assert rouge == {"good": True, "poor": False}
    (poor,) = (text for text in files(board, "every_eval_ever") if json.loads(text)["model_info"]["id"] == "poor")
    assert "rouge" not in poor


@pytest.mark.parametrize("name", ["model_card", "eval_results", "every_eval_ever", "inspect", "opentelemetry"])
def test_a_number_says_which_parameters_are_not_the_default(board: Run, name: str) -> None:
    assert re.search(r"ignore_articles\W+[Tt]rue", "".join(files(board, name, "own/set:all=exact_match.exact_match")))
