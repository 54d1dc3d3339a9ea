"""evaluate() as scripts and notebooks call it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import metrics
from metrics import Outputs, Run, Suite, Workspace, analysis, evaluate
from metrics.core.errors import InputError

ROWS = [{"case_id": "1", "expected_answers": ["yes"]}, {"case_id": "2", "expected_answers": ["no"]}]
ANSWERS = [{"case_id": "1", "model": "m", "answer": "yes"}, {"case_id": "2", "model": "m", "answer": "yes"}]


def test_tables_in_a_sealed_run_out(workspace: Path) -> None:
    run = evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS), evaluators=["rouge"])
    assert run.state == "finished"
    assert run.scores.query("metric == 'rougeL'")["value"].tolist() == [1.0, 0.0]
    assert run.aggregates.query("metric == 'rougeL'")["value"].tolist() == [0.5]


def test_a_run_and_a_workspace_give_what_the_analysis_finds(workspace: Path) -> None:
    marked = {"rouge": {"threshold": 0.75}}
    suite, outputs = Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS)
    run = evaluate(suite, outputs, evaluators=["rouge"], parameters=marked)
    again = Workspace().run("latest")
    assert isinstance(again, Run)
    assert [one.id for one in Workspace().runs()] == [run.id]
    assert again.problems.equals(analysis.problems(run))
    assert "rougeL" in again.problems["metric"].tolist()
    assert again.insights.equals(analysis.insights(run))
    assert again.slices.equals(analysis.slices(run))


def test_it_works_while_an_event_loop_is_running(workspace: Path) -> None:
    async def notebook() -> str:
        return evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS), evaluators=["rouge"]).state

    assert asyncio.run(notebook()) == "finished"


def test_data_frames_and_files(workspace: Path, tmp_path: Path) -> None:
    suite = pd.DataFrame({"case_id": ["1"], "expected_answer": ["yes"]})
    pd.DataFrame({"case_id": ["1"], "answer": ["yes"]}).to_csv(tmp_path / "tiny.csv", index=False)
    run = evaluate(suite, tmp_path / "tiny.csv", evaluators=["rouge"], parameters={"rouge": {"use_stemmer": False}})
    assert run.models == ("tiny",)


def test_default_evaluators_are_those_the_data_can_feed(workspace: Path) -> None:
    run = evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS))
    assert {"rouge", "bleu", "looping_detection"} <= set(run.evaluators)
    assert not {"text_matching", "json_schema", "coco_summary"} & set(run.evaluators)


def test_a_script_needs_no_main_guard(workspace: Path, tmp_path: Path, project: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(project)!r})\n"
        "from metrics import evaluate, Outputs, Suite\n"
        f"suite, outputs = Suite.from_rows('s', 'text', {ROWS!r}), Outputs.from_rows({ANSWERS!r})\n"
        "run = evaluate(suite, outputs, evaluators=['rouge'])\n"
        "print(run.state)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "finished"


def test_bad_input_is_an_input_error(workspace: Path) -> None:
    with pytest.raises(InputError, match="rogue"):
        evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS), evaluators=["rogue"])


def test_public_names_are_there() -> None:
    for name in metrics.__all__:
        assert getattr(metrics, name) is not None
    assert "rouge" in metrics.evaluators()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = metrics.nothing
