"""Evaluation results of the Hub: one number a model, which benchmark and metric the user says."""

import re
from pathlib import Path

import pytest
import yaml

from metrics import analysis
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.reports.exchange.contents import unique_names
from metrics.reports.exchange.exporters import EXPORTERS, export, written
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

EVIL = "../../a: [x]\n- b"
SCORES = {"scores": {"tone": {"low": 1, "high": 5, "threshold": 3}}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows("capitals", "text", [
        {"case_id": name, "question": f"Of {name}?", "expected_answers": ["Paris"]} for name in "123"
    ])  # fmt: skip
    tones = {EVIL: ("4", "5", "nice"), "org/n": ("2", "3", "4"), "silent": ("x", "y", "z")}
    rows = [
        {"case_id": case, "model": model, "answer": "Paris", "tone": tone}
        for model, given in tones.items() for case, tone in zip("123", given, strict=True)
    ]  # fmt: skip
    workspace, outputs = Workspace(tmp_path_factory.mktemp("w")), Outputs.from_rows(rows)
    return finished(workspace, suite, outputs, "own_scores", "rouge", parameters={"own_scores": SCORES})


def test_each_model_with_a_value_has_its_number_of_the_leaderboard(run: Run, tmp_path: Path) -> None:
    board = analysis.leaderboard(run)
    given = "own/capitals@abc:all=own_scores.tone"
    files = written(run, EXPORTERS["eval_results"], tmp_path / "out", given)
    names = unique_names(run.models)
    assert files == sorted(f"{names[one]}/.eval_results/own_capitals_all_abc.yaml" for one in (EVIL, "org/n"))
    for model in (EVIL, "org/n"):
        path = tmp_path / "out" / names[model] / ".eval_results" / "own_capitals_all_abc.yaml"
        (entry,) = yaml.safe_load(path.read_text())
        cell = board.cells[model, "own_scores/tone"]
        assert entry.keys() == {"dataset", "value", "date", "notes"}
        assert entry["dataset"] == {"id": "own/capitals", "task_id": "all", "revision": "abc"}
        assert (entry["value"], entry["date"]) == (cell.value, (run.manifest or {})["sealed"])
        assert f"n {cell.n}; {cell.unscored} unscored" in entry["notes"]
        assert (f"95 % interval {cell.low} to {cell.high}" in entry["notes"]) is (cell.low is not None)
        assert entry["notes"].startswith("own_scores.tone by Assay ")
    assert export(run, "eval_results", benchmark=given) == export(run, "eval_results", benchmark=given)


@pytest.mark.parametrize(("given", "said"), [
    pytest.param(None, "benchmark: found none; expected the benchmark on the Hub, as DATASET:TASK", id="none"),
    pytest.param("capitals:all", "benchmark: found 'capitals:all'; expected the benchmark", id="no owner"),
    pytest.param("own/capitals", "benchmark: found 'own/capitals'; expected the benchmark", id="no task"),
    pytest.param("own/x:all", "one of own_scores.tone, rouge.rougeL", id="several main metrics"),
    pytest.param("own/x:all=own_scores.tine", "one of own_scores.tone, rouge", id="unknown metric"),
])  # fmt: skip
def test_without_a_benchmark_or_its_metric_nothing_is_written(
    run: Run, given: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as refused:
        written(run, EXPORTERS["eval_results"], tmp_path / "out", given)
    assert len(refused.value.problems) == 1
    assert not (tmp_path / "out").exists()


def test_the_command_says_which_models_have_no_file(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", run.id, "--workspace", str(run.workspace.path), "--to"]
    options = ["-o", str(tmp_path / "hub"), "--benchmark", "own/capitals:all=own_scores.tone"]
    assert main([*command, "eval_results", *options]) == 0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path}/hub: 2 files\n"
    reason = analysis.leaderboard(run).cells["silent", "own_scores/tone"].reason
    assert told.err.splitlines()[-1] == f"silent: no file: {reason}"
    assert main([*command, "inspect", "-o", str(tmp_path / "x"), *options[2:]]) == 2
    assert "benchmark of inspect" in capsys.readouterr().err
