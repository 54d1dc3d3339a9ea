"""What Valor's text works out, asked of the library as its reader would, and its names for what is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

import metrics
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run

RING = [464.08, 105.09, 495.74, 105.09, 495.74, 146.99, 464.08, 146.99]  # of its example of GeoJSON


def cats(*more: dict[str, Any]) -> tuple[Suite, Outputs]:
    """Three cats, each found with a score of .97, and one found where there is none."""
    boxes = [{"x": 100.0 * place, "y": 10.0, "width": 80.0, "height": 60.0} for place in range(3)]
    truths = [{"case_id": str(i), "annotation_id": i, "label": "cat", **box} for i, box in enumerate(boxes)]
    found = [{"case_id": str(i), "model": "m", "label": "cat", "score": 0.97, **box} for i, box in enumerate(boxes)]
    found.append({"case_id": "1", "model": "m", "label": "cat", "score": 0.96, "polygons": [RING]})
    cases = [{"case_id": str(i), "image_width": 640, "image_height": 480} for i in range(3)]
    made = [{"case_id": str(i), "model": "m"} for i in range(3)]
    return Suite.from_rows("test_dataset", "detection", cases, truths), Outputs.from_rows(made, [*found, *more])


def evaluate_given(tmp_path: Path, given: tuple[Any, Any], *evaluators: str, **parameters: dict[str, Any]) -> Run:
    run: Run = metrics.evaluate(*given, evaluators, parameters=parameters, workspace=tmp_path, accept_findings=True)
    return run


def test_the_precision_recall_curve_of_its_example(tmp_path: Path) -> None:
    """`{"fn": 0, "fp": 1, "tp": 3, "recall": 1, "precision": 0.75, "f1_score": .857}` at .05, .10, … .95, IoU .5."""
    run = evaluate_given(tmp_path, cats(), "detection_pr_curve")
    curve = run.curves("detection_pr_curve")
    assert curve["threshold"].tolist() == pytest.approx([step / 20 for step in range(1, 20)])
    assert run.evaluators["detection_pr_curve"]["pr_curve_iou_threshold"] == 0.5
    columns = ["fn", "fp", "tp", "recall", "precision", "f1"]
    assert {tuple(row) for row in curve[columns].round(3).itertuples(index=False)} == {(0, 1, 3, 1.0, 0.75, 0.857)}


def test_the_detailed_curve_of_its_example(tmp_path: Path) -> None:
    run = evaluate_given(
        tmp_path, cats(), "detection_pr_curve_detailed", detection_pr_curve_detailed={"pr_curve_max_examples": 1}
    )
    curve = run.curves("detection_pr_curve_detailed").query("threshold == 0.05").set_index("kind")
    assert curve["count"].to_dict() == {
        "tp": 3, "fp_misclassification": 0, "fp_hallucination": 1, "fn_misclassification": 0, "fn_no_prediction": 0,
    }  # fmt: skip
    (hallucination,) = json.loads(curve.loc["fp_hallucination", "examples"])
    ring = [[464.08, 105.09], [495.74, 105.09], [495.74, 146.99], [464.08, 146.99], [464.08, 105.09]]
    assert (hallucination["suite"], hallucination["case_id"]) == ("test_dataset", "1")
    assert json.loads(hallucination["geometry"]) == {"type": "Polygon", "coordinates": [ring]}
    assert len(json.loads(curve.loc["tp", "examples"])) == 1


def test_ap_and_ar_of_a_score_that_ranks_a_mistake_last(tmp_path: Path) -> None:
    """Of three cats and a mistake below them every recall has precision 1; above them it has 3/4."""
    for score, ap in ((0.96, 1.0), (0.99, 3 / 4)):
        mistake = {"case_id": "2", "model": "m", "label": "cat", "score": score, "polygons": [RING]}
        suite, outputs = cats(mistake)
        keep = outputs.predictions.filter([row["polygons"] is None or row["score"] == score
                                           for row in outputs.predictions.to_pylist()])  # fmt: skip
        run = evaluate_given(tmp_path, (suite, Outputs(outputs.outputs, keep)), "average_precision", "average_recall")
        found = run.aggregates.set_index("metric")["value"]
        assert found["map_averaged"] == pytest.approx(ap)
        assert found["mar"] == 1.0


def test_the_second_of_two_alike_scores_counts_in_curves_alone(tmp_path: Path) -> None:
    """A dog with {"cat": .91, "dog": .90}: "our aggregated metrics would penalize the dog label"."""
    suite = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "dog"}], labels=["cat", "dog"])
    scores = [{"case_id": "1", "model": "m", "label": of, "score": at} for of, at in (("cat", 0.91), ("dog", 0.9))]
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m"}], scores)
    run = evaluate_given(tmp_path, (suite, outputs), "classification", "classification_pr_curve")
    assert run.aggregates.query("metric == 'accuracy'")["value"].tolist() == [0.0]
    curve = run.curves("classification_pr_curve").query("threshold == 0.9").set_index("label")
    assert curve[["tp", "fp", "fn"]].to_dict("index") == {
        "cat": {"tp": 0, "fp": 1, "fn": 0}, "dog": {"tp": 1, "fp": 0, "fn": 0},
    }  # fmt: skip


@pytest.mark.parametrize(("evaluator", "theirs", "ours"), [
    ("average_precision", "iou_thresholds_to_compute", "iou_thresholds"), ("bleu", "bleu_weights", "weights"),
    ("rouge", "rouge_use_stemmer", "use_stemmer"),
])  # fmt: skip
def test_its_names_of_parameters_say_ours(tmp_path: Path, evaluator: str, theirs: str, ours: str) -> None:
    given = texts() if evaluator in ("rouge", "bleu") else cats()
    with pytest.raises(InputError, match=rf"did you mean '{ours}'|{ours}, as Valor's {theirs} is called here"):
        evaluate_given(tmp_path, given, evaluator, **{evaluator: {theirs: 1}})


@pytest.mark.parametrize(("evaluator", "parameters"), [
    ("average_recall", {"recall_score_threshold": 0.5}), ("detection_pr_curve", {"pr_curve_iou_threshold": 0.75}),
    ("detection_pr_curve_detailed", {"pr_curve_max_examples": 2}), ("average_precision", {"geometry": "polygon"}),
    ("rouge", {"rouge_types": ["rouge1"], "use_stemmer": True}), ("bleu", {"weights": [0.5, 0.5]}),
])  # fmt: skip
def test_its_parameters_are_there(tmp_path: Path, evaluator: str, parameters: dict[str, Any]) -> None:
    run = evaluate_given(
        tmp_path, texts() if evaluator in ("rouge", "bleu") else cats(), evaluator, **{evaluator: parameters}
    )
    assert run.aggregates["value"].notna().any()


def texts() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    cases = [{"case_id": "1", "question": "?", "expected_answers": ["the cat sat on the mat"]}]
    return cases, [{"case_id": "1", "model": "m", "answer": "the cat is on the mat"}]
