"""A run as Markdown for a pull request."""

from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.core.suite import Outputs
from metrics.reports import render
from metrics.reports.baseline import differences, worse
from metrics.reports.gates import Gate, check
from metrics.reports.renderers.markdown import MOST_MODELS, markdown
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.presentation.test_markdown_text import GFM, Elements
from tests.reports.made import HOSTILE
from tests.reports.test_gates import made

EVIL = "![x](http://evil)|@octocat <img src=x> `#1`"


def test_headline_gates_metrics_and_differences(workspace: Path) -> None:
    before, after = made(1.0), made(0.5)
    against = differences(after, before)
    outcomes = check(after, [Gate("rougeL", 0.1, bound="lower")]) + worse(against)
    lines = markdown(after, outcomes, against).splitlines()
    assert lines[0].endswith("· ❌ 2 of 4 gates failed")
    assert lines[2].startswith("**m ")
    assert [line[:3] for line in lines if line.startswith("###")] == ["###"] * 4
    gates = [line for line in lines if line.startswith(("| ✅", "| ❌"))]
    assert [line[2] for line in gates] == ["❌", "❌", "✅", "✅"], "the failed ones first"
    assert "`fail-if-worse rouge.rougeL` | `m` | " in gates[0]
    [value] = [line for line in lines if line.startswith("| ROUGE-L ↑ | 0.")]
    assert "(" in value
    assert value.endswith("· n 24 |")
    [change] = [line for line in lines if line.startswith("| ROUGE-L ↑ | 1.00 | ")]
    assert change.endswith("| 24 | ❌ worse |")
    assert f"### `m` against baseline `{before.id}`" in lines
    assert "(2 tests, 5 %)" in "\n".join(lines), "looping is equal on every case"
    assert lines[-1].startswith(f"<sub>Run `{after.id}` · 24 cases")


def test_without_gates_and_baseline(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    text = render(run, "md").decode()
    assert text == markdown(run)
    assert "gate" not in text
    assert "**1.00 (" in text, "the best is bold"


@pytest.mark.attack("model", "a name with a link or an image in a pull request's comment", "marks are escaped")
def test_hostile_names_stay_text(workspace: Path) -> None:
    rows = [
        {"case_id": f"c{number}", "model": model, "answer": "x"} for number in range(6) for model in (EVIL, HOSTILE)
    ]
    run = finished(Workspace(), text_suite(), Outputs.from_rows(rows), "rouge", name=EVIL)
    found = Elements(GFM.render(markdown(run, check(run, [Gate("rougeL", 0.5)]))))
    assert not {"img", "a", "script", "details"} & set(found.elements)
    assert "@" not in found.outside.replace("@\u200b", "")


def test_many_models_and_long_names_fit_a_comment(workspace: Path) -> None:
    models = tuple(f"{number} " + "x" * 300 for number in range(40))
    run = finished(Workspace(), text_suite(4), text_outputs(4, models), "rouge")
    text = markdown(run, check(run, [Gate(name, 0.5) for name in ("rouge1", "rouge2", "rougeL")]))
    assert len(text) < 65_536
    assert f"{40 - MOST_MODELS} models not shown" in text
    assert "60 more rows are not shown." in text


def test_the_command_writes_it(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = made(1.0), made(0.5)
    file = tmp_path / "report.md"
    arguments = ["gate", after.id, "--baseline", before.id, "--fail-if-worse", "--quiet"]
    assert main([*arguments, "--markdown", str(file)]) == 1
    capsys.readouterr()
    assert main([*arguments, "--markdown", "-"]) == 1
    assert capsys.readouterr().out == file.read_text(encoding="utf-8"), "nothing else on standard output"
    assert main(["report", after.id, "-o", str(file)]) == 0
    assert file.read_text(encoding="utf-8") == markdown(Run(after.folder))
    assert main(["report", after.id, "-o", str(file), "--sections", "summary"]) == 2
