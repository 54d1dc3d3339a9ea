"""evaluate() as scripts and notebooks call it."""

import asyncio
import subprocess
import sys

import pandas as pd
import pytest

import metrics
from metrics import Outputs, Run, Suite, Workspace, analysis, evaluate
from metrics.core.errors import InputError
from metrics.ingest.lint import ClassChoice, settle
from metrics.library.evaluator_choice import runnable

ROWS = [{"case_id": "1", "expected_answers": ["yes"]}, {"case_id": "2", "expected_answers": ["no"]}]
ANSWERS = [{"case_id": "1", "model": "m", "answer": "yes"}, {"case_id": "2", "model": "m", "answer": "yes"}]


@pytest.mark.usefixtures("units_here")
def test_a_run_and_a_workspace_give_what_the_analysis_finds(workspace):
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


def test_it_works_while_an_event_loop_is_running(workspace):
    async def notebook() -> Run:
        return evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS), evaluators=["rouge"])

    run = asyncio.run(notebook())
    assert run.state == "finished"
    assert run.scores.query("metric == 'rougeL'")["value"].tolist() == [1.0, 0.0]
    assert run.aggregates.query("metric == 'rougeL'")["value"].tolist() == [0.5]


@pytest.mark.usefixtures("units_here")
def test_data_frames_and_files(workspace, tmp_path):
    suite = pd.DataFrame({"case_id": ["1"], "expected_answer": ["yes"]})
    pd.DataFrame({"case_id": ["1"], "answer": ["yes"]}).to_csv(tmp_path / "tiny.csv", index=False)
    run = evaluate(suite, tmp_path / "tiny.csv", evaluators=["rouge"], parameters={"rouge": {"use_stemmer": False}})
    assert run.models == ("tiny",)


@pytest.mark.usefixtures("units_here")
def test_default_evaluators_are_those_the_data_can_feed(workspace):
    run = evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS))
    assert list(run.evaluators) == runnable(run.suite, run.outputs)
    assert "rouge" in run.evaluators
    assert not {"text_matching", "json_schema", "coco_summary"} & set(run.evaluators)


def test_a_script_needs_no_main_guard(workspace, tmp_path, project):
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


def objects(*box: float, score: float = 0.5) -> tuple[Suite, Outputs]:
    """Ten images of 100 × 100 pixels with a cat at (10, 10, 40, 30); a model that finds it in `box` in each."""
    names = ("x", "y", "width", "height")
    cases = [{"case_id": f"p{n}", "image": f"{n}.png", "image_width": 100, "image_height": 100} for n in range(10)]
    cat = {"label": "cat", "area": 1200.0, **dict(zip(names, (10.0, 10.0, 40.0, 30.0), strict=True))}
    truths = [{"case_id": f"p{n}", "annotation_id": n + 1, **cat} for n in range(10)]
    own = {"model": "m", "label": "cat", **dict(zip(names, box, strict=True))}
    found = [{"case_id": f"p{n}", "score": score - n / 100, **own} for n in range(10)]
    outputs = [{"case_id": f"p{n}", "model": "m"} for n in range(10)]
    return Suite.from_rows("cats", "detection", cases, truths), Outputs.from_rows(outputs, found)


@pytest.mark.usefixtures("units_here")
def test_boxes_are_checked_before_they_are_scored(workspace):
    suite, outputs = objects(0.1, 0.1, 0.4, 0.3)
    with pytest.raises(InputError) as refused:
        evaluate(suite, outputs, evaluators=["average_precision"])
    text = str(refused.value)
    assert "add fix=['m=normalised']: boxes scaled" in text
    assert text.endswith("or accept_findings=True to score them as they are")
    assert Workspace().runs() == []
    with pytest.warns(UserWarning, match="normalised"):
        accepted = evaluate(suite, outputs, evaluators=["average_precision"], accept_findings=True)
    assert accepted.aggregates.query("metric == 'map_averaged'")["value"].max() == 0
    fixed = evaluate(suite, metrics.fix(suite, outputs, [("m", "normalised")]), evaluators=["average_precision"])
    assert fixed.aggregates.query("metric == 'map_averaged'")["value"].max() == pytest.approx(1)


@pytest.mark.usefixtures("units_here")
def test_unknown_classes_need_an_answer(workspace):
    suite, outputs = objects(10.0, 10.0, 40.0, 30.0)
    assert outputs.predictions is not None
    other = outputs.predictions.slice(0, 1).to_pylist()[0] | {"label": "cats", "score": 0.125}
    rows = [{name: row[name] for name in ("case_id", "model")} for row in outputs.outputs.to_pylist()]
    outputs = Outputs.from_rows(rows, [*outputs.predictions.to_pylist(), other])
    with pytest.raises(InputError) as refused:
        evaluate(suite, outputs, evaluators=["average_precision"])
    assert str(refused.value) == (
        "predictions of a class that the suite does not have: cats (1)\n"
        "  add unknown_classes ignore|false|NAME=CLASS, such as unknown_classes=['cats=cat']"
    )
    assert Workspace().runs() == []
    for answer in ("ignore", "false", "cats=cat"):
        run = evaluate(suite, outputs, evaluators=["average_precision"], unknown_classes=[answer])
        assert run.state == "finished"
    kept = settle(suite, outputs, ClassChoice(rest="false"))
    assert evaluate(suite, kept, evaluators=["average_precision"]).state == "finished"
    frame = pd.DataFrame(outputs.predictions.to_pylist()).drop(columns=["segmentation", "iscrowd"], errors="ignore")
    with pytest.raises(InputError, match="a class that the suite does not have"):
        evaluate(suite, frame, evaluators=["average_precision"])
    assert evaluate(suite, frame, evaluators=["average_precision"], unknown_classes=["ignore"]).state == "finished"


def test_an_answer_about_classes_needs_boxes(workspace):
    with pytest.raises(InputError, match="unknown_classes: found a suite of text; expected a suite of detection"):
        evaluate(Suite.from_rows("s", "text", ROWS), Outputs.from_rows(ANSWERS), unknown_classes=["ignore"])


@pytest.mark.usefixtures("units_here")
def test_what_is_only_doubtful_is_a_warning(workspace):
    with pytest.warns(UserWarning, match="m: Scores go from 49.9 to 50"):
        run = evaluate(*objects(10.0, 10.0, 40.0, 30.0, score=50.0), evaluators=["average_precision"])
    assert run.state == "finished"


def test_public_names_are_there():
    for name in metrics.__all__:
        assert getattr(metrics, name) is not None
    assert "rouge" in metrics.evaluators()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = metrics.nothing
