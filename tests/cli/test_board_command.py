"""Boards in commands: what reads a run takes an address, what changes one refuses it; one model is a baseline."""

import json
from pathlib import Path

import pytest
import yaml

from metrics.cli.main import main
from metrics.store import Run, Workspace
from metrics.store.board_settings import Boards
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture
def runs(workspace: Path) -> list[Run]:
    """Of one suite, a model each."""
    return [
        finished(Workspace(), text_suite(24), text_outputs(24, (model,)), "rouge", "text_matching")
        for model in ("good", "poor")
    ]


def test_what_reads_a_run_takes_a_board(runs, workspace, capsys) -> None:
    assert main(["export", "board:turns", "--what", "aggregates"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in found} == {"good", "poor"}
    for file in ("board.md", "board.html", "board.json"):
        assert main(["report", "board", "-o", str(workspace / file)]) == 0
    assert main(["export", "board", "--to", "every_eval_ever", "-o", str(workspace / "every")]) == 0
    assert len(list((workspace / "every").rglob("*.json"))) == 2
    assert main(["gate", "board", "--fail-under", "rougeL=0.9"]) == 1
    assert "poor" in capsys.readouterr().out


@pytest.mark.parametrize("command", [
    ["resume"], ["cancel"], ["delete"], ["verify"], ["describe"], ["labels", "list"], ["push", "file:///nowhere"],
    ["archive", "-o", "run.zip"],
])  # fmt: skip
def test_what_changes_a_run_refuses_a_board(command, runs, capsys) -> None:
    place = 2 if command[0] == "labels" else 1
    assert main([*command[:place], "board:turns", *command[place:]]) == 2
    assert "board:turns is a board, joined from runs, and only read" in capsys.readouterr().err


@pytest.mark.parametrize(("run", "baseline", "model", "code"), [
    ("{1}", "{0}:good", "poor", 1), ("{0}", "latest:poor", "good", 0), ("{1}", "board:turns:good", "poor", 1),
    ("board", "board:turns:good", "poor", 1), ("board", "board:poor", "good", 0),
])  # fmt: skip
def test_every_model_against_one_of_a_run(run, baseline, model, code, runs, capsys) -> None:
    """A model of a run is the baseline of all models but itself."""
    run, baseline = (text.format(*(one.id for one in runs)) for text in (run, baseline))
    assert main(["gate", run, "--baseline", baseline, "--fail-if-worse", "rougeL"]) == code
    against = [line for line in capsys.readouterr().out.splitlines() if " against baseline " in line]
    assert [line.split()[0] for line in against] == [model]


def test_the_pinned_baseline_is_that_of_a_board(runs, capsys) -> None:
    assert main(["gate", "board", "--fail-if-worse", "rougeL"]) == 2
    assert main(["board", "--baseline", "good"]) == 0
    capsys.readouterr()
    assert main(["gate", "board", "--fail-if-worse", "rougeL", "--markdown", "-"]) == 1
    said = capsys.readouterr().out
    assert "### `poor` against baseline `good`\n" in said
    assert "not significantly worse than good |" in said
    assert "Not in the baseline" not in said


def test_a_baseline_without_the_model(runs, capsys) -> None:
    assert main(["gate", "latest", "--baseline", "board:turns:godo"]) == 2
    assert "--baseline: found 'godo'; expected one of good, poor" in capsys.readouterr().err


def test_files_of_a_board_say_which_run_each_model_is_of(runs, workspace) -> None:
    for file in ("board.md", "board.json"):
        assert main(["report", "board", "-o", str(workspace / file)]) == 0
        text = (workspace / file).read_text()
        assert "Where the numbers come from" in text
        assert all(run.id in text for run in runs)
    assert main(["export", "board", "--to", "every_eval_ever", "-o", str(workspace / "every")]) == 0
    for file in (workspace / "every").rglob("*.json"):
        record = json.loads(file.read_text())
        [run] = [run for run in runs if record["model_info"]["id"] in run.models]
        assert record["evaluation_timestamp"] == run.created
        assert record["source_metadata"]["additional_details"]["rouge.run"] == run.id
    assert main(["export", "board", "--to", "model_card", "-o", str(workspace / "card.md")]) == 0
    front = yaml.safe_load((workspace / "card.md").read_text().split("---")[1])
    made = {
        one["name"]: {metric["args"]["run"] for metric in one["results"][0]["metrics"]} for one in front["model-index"]
    }
    assert made == {run.models[0]: {run.id} for run in runs}


def test_board(runs, capsys) -> None:
    """Numbers, the runs behind them, and what is not compared with the command that makes it alike."""
    assert main(["board", "turns"]) == 0
    told = capsys.readouterr().out
    assert "good leads" in told
    assert f"good: run {runs[0].id}" in told
    assert main(["board", "--format", "markdown"]) == 0
    assert "### Metrics" in capsys.readouterr().out
    seeded = finished(Workspace(), text_suite(24), text_outputs(24, ("third",)), "rouge", seed=3)
    assert main(["board", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [lack] = [one for one in found["not_compared"] if one["model"] == "third"]
    assert "seed 3 after 0" in lack["why"]
    assert lack["command"].startswith("python -m metrics evaluate --evaluators=")
    assert {one["model"]: one["runs"][0]["run"] for one in found["models"]}["third"] == seeded.id


def test_settings(runs, capsys) -> None:
    assert main(["board", "--rename", "good=Best of all", "--hide", "poor", "--baseline", "good"]) == 0
    told = capsys.readouterr().out
    assert "Best of all" in told
    assert "poor" not in told
    kept = Boards(Workspace().path).settings(runs[0].spec.suite.fingerprint)
    assert (kept.aliases, kept.hidden, kept.baseline) == ({"good": "Best of all"}, ("poor",), "good")
    assert main(["board", "--show", "poor"]) == 0
    assert Boards(Workspace().path).settings(runs[0].spec.suite.fingerprint).hidden == ()
    assert main(["board", "--hide", "godo", "--factors", "good=x"]) == 2
    assert "--factors: found 'x'; expected MODEL×PROMPT" in capsys.readouterr().err
    assert main(["board", "--hide", "godo"]) == 2
    assert "'godo'" in capsys.readouterr().err


def test_settings_take_shown_names(runs, capsys) -> None:
    boards, suite = Boards(Workspace().path), runs[0].spec.suite.fingerprint
    assert main(["board", "--rename", "good=Best of all", "--rename", "poor=Worst"]) == 0
    assert main(["board", "--baseline", "Best of all", "--factors", "Worst=m×terse", "--rename", "Worst=Last"]) == 0
    kept = boards.settings(suite)
    assert (kept.baseline, kept.aliases) == ("good", {"good": "Best of all", "poor": "Last"})
    assert [*kept.factors] == ["poor"]
    capsys.readouterr()
    assert main(["board", "--hide", "Best of all"]) == 2
    assert "choose another baseline, or none" in capsys.readouterr().err
    assert main(["board", "--hide", "Best of all", "--baseline", ""]) == 0
    kept = boards.settings(suite)
    assert (kept.hidden, kept.baseline) == (("good",), None)
    assert main(["board", "--show", "Best of all"]) == 0
    assert boards.settings(suite).hidden == ()


def test_every_evaluation(runs, capsys) -> None:
    """An entry of an earlier evaluation is hidden by its shown name; without one that is said."""
    same = "Every model was evaluated once, or again in the same way."
    assert main(["board", "--all-evaluations"]) == 0
    assert same in capsys.readouterr().out
    options = {"parameters": {"rouge": {"threshold": 0.9}}}
    seeded = finished(Workspace(), text_suite(24), text_outputs(24, ("poor",)), "rouge", **options)
    assert main(["board", "--all-evaluations", "--format", "json"]) == 0
    names = [one["model"] for one in json.loads(capsys.readouterr().out)["models"]]
    assert sorted(names) == ["good", "poor", f"poor@{runs[1].id}"]
    assert main(["board", "--all-evaluations", "--hide", f"poor@{runs[1].id}"]) == 0
    told = capsys.readouterr().out
    assert seeded.id in told
    assert f"poor@{runs[1].id}" not in told


def test_versions_are_compared_on_the_cases_they_share(runs, capsys) -> None:
    newest = finished(Workspace(), text_suite(26), text_outputs(26, ("third",)), "rouge", "text_matching")
    assert main(["board", newest.spec.suite.fingerprint[:12]]) == 0
    assert "good and poor: on another version of the suite; compare on 24 of 26 cases" in capsys.readouterr().out
    assert main(["board", newest.spec.suite.fingerprint[:12], "--shared"]) == 0
    said = capsys.readouterr().out
    assert "24 of 26 cases: unchanged in 2 versions of the suite" in said
    assert all(model in said for model in ("good", "poor", "third"))
