"""python -m metrics verify: which part of a run is not as it was sealed."""

import json

import pytest

from metrics.cli.failures import BAD_INPUT
from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.store.test_seal import flip


@pytest.fixture
def run(workspace):
    return finished(Workspace(), text_suite(), text_outputs(), "bleu")


PARTS = ["seal", "specification", "table scores", "table aggregates", "suite/cases.parquet", "outputs/outputs.parquet"]


def test_each_part_is_told(run, capsys):
    assert main(["verify", "latest"]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["whole"] * 7
    flip(run.folder / "tables/scores.parquet")
    (run.folder / "tables/aggregates.parquet").unlink()
    assert main(["verify", "--all", "--json"]) == BAD_INPUT
    (told,) = json.loads(capsys.readouterr().out)
    assert told["run"] == run.id
    assert {one["name"]: one["verdict"] for one in told["parts"]} == dict.fromkeys(PARTS, "whole") | {
        "table scores": "differs", "table aggregates": "lost",
    }  # fmt: skip
    assert main(["verify", run.id]) == BAD_INPUT
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == f"{run.id}  damaged"
    assert "table scores differs from its seal" in said.err
    assert "table aggregates is lost: there is no aggregates.parquet" in said.err


def test_all_of_a_workspace_with_one_that_cannot_be_opened(run, capsys):
    broken = finished(Workspace(), text_suite(), text_outputs(), "bleu")
    (broken.folder / "manifest.json").write_text("{")
    assert main(["verify", "--all"]) == BAD_INPUT
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"{broken.id}  damaged", "  seal  differs", f"{run.id}  whole"]
    assert main(["verify", run.id]) == 0


@pytest.mark.parametrize("arguments", [[], ["latest", "--all"]], ids=["neither", "both"])
def test_runs_or_all(run, arguments, capsys):
    assert main(["verify", *arguments]) == BAD_INPUT
    assert "expected RUN … or --all" in capsys.readouterr().err
