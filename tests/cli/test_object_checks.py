"""`evaluate` checks the boxes before it scores them: what it refuses, what fixes it, and what the run records."""

import json
from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.ingest.lint.spoiled import HARBOUR, SPOILED, results

XYXY = [SPOILED["x1 y1 x2 y2"][0](record) for record in results()]
EXTRA = [*results(), *({"image_id": n, "category_id": 90, "bbox": [5, 5, 50, 50], "score": 0.9} for n in (1, 2))]
FILES = {
    "clean": results(), "corners": XYXY, "empty": [], "extra": EXTRA,
    "mixed": [SPOILED["everything"][0](record) for record in results()],
    "half": [SPOILED["per cent"][0](record) for record in results()],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "workspace"))
    for name, records in FILES.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    return tmp_path


def evaluate(folder: Path, *arguments: str) -> int:
    files = [str(folder / name) if name.endswith(".json") else name for name in arguments]
    chosen = ("--evaluators", "coco_summary", "--param", "coco_summary.resamples=0")
    return main(["evaluate", str(HARBOUR / "instances.json"), *files, *chosen])


def latest_ap(model: str) -> float:
    numbers = Workspace().run("latest").aggregates.query("metric == 'AP' and slice.isna() and label.isna()")
    return float(numbers.set_index("model")["value"][model])


@pytest.mark.parametrize(("file", "told"), [
    ("corners", ["82 % of the boxes leave their image", "As x1 y1 x2 y2 it would be 0 %", "add --fix corners=xyxy"]),
    ("empty", ["empty: No predictions at all", "or --accept-findings to score"]),
    ("mixed", ["add --fix mixed=normalised", "add --fix mixed=classes+1", "or --fix all to apply all of these"]),
    ("extra", ["a class that the suite does not have: category_id 90 (2)", "add --unknown-classes ignore|false|"]),
])  # fmt: skip
def test_refused(folder, capsys, file, told):
    assert evaluate(folder, f"{file}.json") == 2
    error = capsys.readouterr().err
    assert [text for text in told if text not in error] == []
    assert Workspace().runs() == []


def test_fixed_it_has_the_clean_ap_and_the_run_says_so(folder, capsys):
    assert evaluate(folder, "corners.json", "clean.json", "--fix", "corners=xyxy") == 0
    told = "corners: boxes converted from x1 y1 x2 y2 to x y width height (636 predictions)"
    assert f"changed: {told}" in capsys.readouterr().err
    assert latest_ap("corners") == latest_ap("clean")
    run: Run = Workspace().run("latest")
    assert [change["change"] for change in run.spec.outputs.changes] == ["xyxy"]
    assert run.outputs.changes == tuple(run.spec.outputs.changes)  # so that a run of the same outputs says so too
    facts = [(fact.name, fact.value) for group in build(run).facts for fact in group.facts]
    assert ("Changed before scoring", told) in facts


def test_what_is_not_serious_or_accepted_is_a_warning(folder, capsys):
    assert evaluate(folder, "half.json") == 0
    assert "warning: half: Scores go from 16.6 to 99.9: per cent?" in capsys.readouterr().err
    assert evaluate(folder, "corners.json", "--accept-findings") == 0
    assert "warning: corners: Read as x y width height" in capsys.readouterr().err
    assert latest_ap("corners") < 0.05


@pytest.mark.parametrize(("arguments", "told"), [
    (("--fix", "xyxy"), "--fix: found 'xyxy'; expected MODEL=FIX or all"),
    (("--fix", "nobody=xyxy"), "found 'nobody'; expected one of the models clean"),
    (("--fix", "clean=upside-down"), "found 'upside-down'; expected one of normalised, xyxy"),
    (("--unknown-classes", "drop"), "--unknown-classes: found 'drop'"),
], ids=["no model", "another model", "another fix", "another answer"])  # fmt: skip
def test_wrong_options(folder, capsys, arguments, told):
    assert evaluate(folder, "clean.json", *arguments) == 2
    assert told in capsys.readouterr().err


def test_only_detection_has_such_fixes(tmp_path, capsys):
    (tmp_path / "suite.csv").write_text("case_id,question,expected_answer\n1,q,a\n")
    (tmp_path / "m.csv").write_text("case_id,answer\n1,a\n")
    assert main(["evaluate", str(tmp_path / "suite.csv"), str(tmp_path / "m.csv"), "--fix", "all"]) == 2
    assert "--fix: found a suite of text; expected a suite of detection" in capsys.readouterr().err


def test_unknown_classes_answered_leave_ap_alone(folder):
    assert evaluate(folder, "extra.json", "clean.json", "--unknown-classes", "false", "--quiet") == 0
    assert latest_ap("extra") == latest_ap("clean")
    assert Workspace().run("latest").spec.outputs.changes[0]["change"] == "false"


def test_all_fixes_at_once(folder):
    assert evaluate(folder, "mixed.json", "clean.json", "--fix", "all", "--quiet") == 0
    assert latest_ap("mixed") == latest_ap("clean")
