"""python -m metrics runs, describe, delete, restore: the runs of a workspace."""

import pytest

from metrics import engine
from metrics.cli.failures import BAD_INPUT
from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture
def run(workspace):
    return finished(Workspace(), text_suite(), text_outputs(), "rouge")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The lines that a command prints, which succeeds."""
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def test_runs_are_listed_with_state_name_and_tags(run, capsys):
    waiting = engine.create(Workspace(), text_suite(), text_outputs(models=("good",)), ["rouge"])
    run.describe(name="Monday", tags=("baseline",))
    assert said(capsys, "runs") == [
        f"{waiting.id}  queued       turns · good", f"{run.id}  finished     Monday #baseline",
    ]  # fmt: skip
    assert said(capsys, "runs", "--tag", "baseline") == [f"{run.id}  finished     Monday #baseline"]


def test_describe_adds_to_what_there_is(run, capsys):
    assert said(capsys, "describe", run.id) == ["turns · 2 models"]
    assert not (run.folder / "about.json").exists()
    told = said(capsys, "describe", run.id, "--name", "Monday", "--tag", "a", "--tag", "b", "--notes", "Cut.")
    assert told == ["Monday #a #b", "  Cut."]
    assert said(capsys, "describe", run.id, "--untag", "a") == ["Monday #b", "  Cut."]
    assert main(["describe", run.id, "--name", "n" * 201]) == BAD_INPUT
    assert "at most 200" in capsys.readouterr().err


def test_delete_restore_and_delete_for_good(run, capsys):
    assert (said(capsys, "delete", run.id), said(capsys, "runs")) == ([], [])
    assert said(capsys, "runs", "--bin") == [f"{run.id}  finished     turns · 2 models"]
    said(capsys, "restore", run.id)
    assert [line[: len(run.id)] for line in said(capsys, "runs")] == [run.id]
    assert main(["delete", run.id, "--for-good"]) == BAD_INPUT, "it is not in the bin"
    assert "there is no run" in capsys.readouterr().err
    said(capsys, "delete", "latest")
    said(capsys, "delete", run.id, "--for-good")
    assert said(capsys, "runs", "--bin") == []


def test_a_damaged_run_is_told_beside_the_others(run, capsys):
    broken = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    (broken.folder / "spec.json").write_text("{")
    assert main(["runs"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(run.id)
    assert captured.err.startswith(f"run {broken.id} is damaged")
    said(capsys, "delete", broken.id)
    assert said(capsys, "runs", "--bin") == [f"{broken.id}  damaged"]
