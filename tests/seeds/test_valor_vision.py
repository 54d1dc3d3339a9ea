"""Valor's metrics of labels, objects and pixels: its formulas, pseudo-code and example outputs, asked as users ask."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from metrics import Outputs, Run, Suite, evaluate
from metrics.cli.main import main

pytestmark = pytest.mark.usefixtures("units_here", "workspace")

Box = tuple[float, float, float, float]  # x, y, width, height


def labels(cases: Sequence[tuple[str, dict[str, float]]]) -> tuple[Suite, Outputs]:
    """Photos with one true label, and the scores of the labels predicted."""
    photos = [{"case_id": str(n), "label": truth} for n, (truth, _) in enumerate(cases)]
    suite = Suite.from_rows("test_dataset", "classification", photos, labels=["cat", "dog"])
    scores = [
        {"case_id": str(n), "model": "m", "label": label, "score": score}
        for n, (_, own) in enumerate(cases)
        for label, score in own.items()
    ]
    return suite, Outputs.from_rows([{"case_id": str(n), "model": "m"} for n in range(len(cases))], scores)


def objects(
    truths: Sequence[tuple[int, str, Box]], predictions: Sequence[tuple[int, str, Box, float]]
) -> tuple[Suite, Outputs]:
    """Boxes on images 1, 2, … of 640 × 480 pixels."""
    images = sorted({row[0] for row in (*truths, *predictions)})
    sides = ("x", "y", "width", "height")
    cases = [{"case_id": str(n), "image": f"{n}.png", "image_width": 640, "image_height": 480} for n in images]
    found = [
        {"case_id": str(n), "annotation_id": place, "label": label, **dict(zip(sides, box, strict=True))}
        for place, (n, label, box) in enumerate(truths, 1)
    ]
    guesses = [
        {"case_id": str(n), "model": "m", "label": label, "score": score, **dict(zip(sides, box, strict=True))}
        for n, label, box, score in predictions
    ]
    suite = Suite.from_rows("test_dataset", "detection", cases, found)
    return suite, Outputs.from_rows([{"case_id": str(n), "model": "m"} for n in images], guesses)


def number(run: Run, metric: str, label: str | None = None, **columns: Any) -> float:
    """The value of a metric, of a label or over all; `columns` narrow it to a threshold."""
    rows = run.aggregates
    rows = rows[(rows["metric"] == metric) & (rows["label"].isna() if label is None else rows["label"] == label)]
    for name, at in columns.items():
        rows = rows[np.isclose(rows[name], at)]
    (value,) = rows["value"]
    return float(value)


def point(run: Run, evaluator: str, label: str, threshold: float) -> dict[str, float]:
    """The curve of a label at a score threshold: its columns, or of a detailed one the count of each kind."""
    rows = run.curves(evaluator)
    rows = rows[(rows["label"] == label) & np.isclose(rows["threshold"], threshold)]
    if "kind" in rows:
        return dict(zip(rows["kind"], rows["count"], strict=True))
    (found,) = rows.select_dtypes("number").to_dict("records")
    return {str(name): float(value) for name, value in found.items()}


def valor_json(kind: str, folder: Path) -> list[dict[str, Any]]:
    """The records of a type in the latest run's export."""
    assert main(["export", "latest", "--what", "valor", "-o", str(folder / "valor.json")]) == 0
    records: list[dict[str, Any]] = json.loads((folder / "valor.json").read_text())
    return [record for record in records if record["type"] == kind]


# Classification


PETS = [
    ("cat", {"cat": 0.91, "dog": 0.90}), ("cat", {"cat": 0.7, "dog": 0.3}), ("cat", {"cat": 0.2, "dog": 0.8}),
    ("dog", {"cat": 0.6, "dog": 0.4}), ("dog", {"cat": 0.1, "dog": 0.9}),
]  # fmt: skip


def test_labels_by_its_formulas() -> None:
    """The label with the highest score is the prediction; of two classes accuracy is (TP + TN) / all."""
    run = evaluate(*labels(PETS), evaluators=["classification"])
    tp, fp, fn, tn = 2, 1, 1, 1  # of cat
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    assert number(run, "precision", "cat") == pytest.approx(precision)
    assert number(run, "recall", "cat") == pytest.approx(recall)
    assert number(run, "f1", "cat") == pytest.approx(2 * precision * recall / (precision + recall))
    assert number(run, "accuracy") == pytest.approx((tp + tn) / (tp + tn + fp + fn))


def test_roc_by_its_thresholds() -> None:
    """Points at the scores in falling order, TPR = TP / (TP + FN) and FPR = FP / (FP + TN), joined by trapezoids."""
    run = evaluate(*labels(PETS), evaluators=["roc_auc"])
    scores = [(own["cat"], truth == "cat") for truth, own in PETS]
    points = [(0.0, 0.0)]
    for threshold in sorted((score for score, _ in scores), reverse=True):
        kept = [holds for score, holds in scores if score >= threshold]
        points.append(((len(kept) - sum(kept)) / 2, sum(kept) / 3))
    area = sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(points))
    assert number(run, "roc_auc", "cat") == pytest.approx(area)
    rows = run.curves("roc_auc").query("label == 'cat'")
    corners = set(zip(rows["fpr"].round(9), rows["tpr"].round(9), strict=True))
    assert {points[0], points[-1]} <= corners <= {(round(x, 9), round(y, 9)) for x, y in points}


def test_curves_of_labels_count_every_label() -> None:
    """cat .91 and dog .90 both count where the thresholds allow; they run from .05 to .95."""
    run = evaluate(*labels(PETS), evaluators=["classification_pr_curve"])
    curve = run.curves("classification_pr_curve")
    assert sorted(set(curve["threshold"])) == pytest.approx([n / 20 for n in range(1, 20)])
    both = point(run, "classification_pr_curve", "dog", 0.9)
    assert (both["tp"], both["fp"], both["fn"], both["tn"]) == (1, 1, 1, 2)
    assert (both["precision"], both["recall"], both["f1"]) == (0.5, 0.5, 0.5)


def test_errors_of_labels() -> None:
    """A dog taken for a cat is a misclassification of both; no label above the threshold is no prediction."""
    run = evaluate(*labels(PETS[3:4]), evaluators=["classification_pr_curve_detailed"])
    name = "classification_pr_curve_detailed"
    assert point(run, name, "cat", 0.5)["fp_misclassification"] == 1
    assert point(run, name, "dog", 0.5)["fn_misclassification"] == 1
    assert point(run, name, "dog", 0.65)["fn_no_prediction"] == 1


# Objects


CAT: Box = (464.08, 105.09, 31.66, 41.9)  # of its example
AWAY: Box = (10, 10, 40, 40)
FOUND = objects(
    [(n, "cat", CAT) for n in (2, 3, 4)], [(n, "cat", CAT, 0.9 - n / 100) for n in (2, 3, 4)] + [(1, "cat", CAT, 0.5)]
)


def test_its_example_of_a_curve(tmp_path: Path) -> None:
    evaluate(*FOUND, evaluators=["detection_pr_curve"])
    (record,) = valor_json("PrecisionRecallCurve", tmp_path)
    assert record["parameters"]["pr_curve_iou_threshold"] == 0.5
    curve = record["value"]["cat"]
    assert [*curve] == [f"{n / 20:g}" for n in range(1, 20)]
    at_05 = curve["0.05"]
    assert at_05 == {
        "fn": 0, "fp": 1, "tp": 3, "recall": 1, "precision": 0.75, "f1_score": pytest.approx(0.857, abs=5e-4),
    }  # fmt: skip


@pytest.mark.parametrize("most", [1, 3])
def test_its_example_of_a_detailed_curve(most: int, tmp_path: Path) -> None:
    """On request only; an example is data set, datum and GeoJSON, one of each kind by default."""
    suite, outputs = FOUND
    assert "detection_pr_curve_detailed" not in evaluate(suite, outputs).evaluators
    given = {"detection_pr_curve_detailed": {"pr_curve_max_examples": most}} if most > 1 else {}
    evaluate(suite, outputs, evaluators=["detection_pr_curve_detailed"], parameters=given)
    (record,) = valor_json("DetailedPrecisionRecallCurve", tmp_path)
    at_05 = record["value"]["cat"]["0.05"]
    false, true = at_05["fp"], at_05["tp"]
    assert (false["total"], false["observations"]["hallucinations"]["count"]) == (1, 1)
    assert (true["total"], true["observations"]["all"]["count"]) == (3, 3)
    assert len(true["observations"]["all"]["examples"]) == most
    ((name, datum, shape),) = false["observations"]["hallucinations"]["examples"]
    assert (name, datum, json.loads(shape)["type"]) == ("test_dataset", "1", "Polygon")
    corners = {(464.08, 105.09), (495.74, 105.09), (495.74, 146.99), (464.08, 146.99)}
    (ring,) = json.loads(shape)["coordinates"]
    assert {(round(x, 6), round(y, 6)) for x, y in ring} == corners


HALF: Box = (10, 10, 40, 24)  # IoU .6 with AWAY


@pytest.mark.parametrize(("threshold", "tp"), [(None, 1), (0.6, 1), (0.7, 0)])
def test_curves_have_an_iou_threshold(threshold: float | None, tp: int) -> None:
    given = {} if threshold is None else {"detection_pr_curve": {"pr_curve_iou_threshold": threshold}}
    run = evaluate(
        *objects([(1, "cat", AWAY)], [(1, "cat", HALF, 0.9)]), evaluators=["detection_pr_curve"], parameters=given
    )
    assert point(run, "detection_pr_curve", "cat", 0.5)["tp"] == tp


def test_errors_of_objects() -> None:
    """A cat over the dog is a misclassification, elsewhere a hallucination; a fox that nothing covers is missed."""
    truths = [(1, "dog", AWAY), (1, "fox", CAT)]
    run = evaluate(
        *objects(truths, [(1, "cat", AWAY, 0.9), (1, "cat", (200, 200, 50, 50), 0.8)]),
        evaluators=["detection_pr_curve_detailed"], unknown_classes=["false"],
    )  # fmt: skip
    name = "detection_pr_curve_detailed"
    cat, dog, fox = (point(run, name, label, 0.5) for label in ("cat", "dog", "fox"))
    assert (cat["fp_misclassification"], cat["fp_hallucination"]) == (1, 1)
    assert (dog["fn_misclassification"], fox["fn_no_prediction"]) == (1, 1)


# AP and AR by its pseudo-code


def iou(a: Box, b: Box) -> float:
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(wide, 0) * max(high, 0)
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def rank_ious(truths: Sequence[tuple[int, Box]], predictions: Sequence[tuple[int, Box, float]]) -> list[float]:
    left, found = list(truths), []
    for image, box, _ in sorted(predictions, key=lambda x: -x[2]):
        own = [truth for truth in left if truth[0] == image]
        best = max(own, key=lambda truth: iou(truth[1], box), default=None)
        found.append(iou(best[1], box) if best else 0.0)
        if best:
            left.remove(best)
    return found


def average_precision(ranked: Sequence[float], truths: int, threshold: float) -> float:
    hits = np.cumsum(np.array(ranked) >= threshold)
    precision, recall = hits / np.arange(1, len(ranked) + 1), hits / truths
    return fmean(max(precision[recall >= r], default=0.0) for r in np.linspace(0, 1, 101))


def shifted(box: Box, by: float) -> Box:
    return (box[0] + by, *box[1:])


SCENE = {  # truths and predictions by label; every image of a prediction has its label
    "cat": (
        [(1, AWAY), (1, CAT), (2, AWAY), (3, AWAY)],
        [(1, shifted(AWAY, 2), 0.9), (1, shifted(CAT, 6), 0.8), (2, shifted(AWAY, 9), 0.7), (3, CAT, 0.6)],
    ),
    "dog": ([(1, (100, 100, 60, 60)), (2, CAT)], [(1, (104, 100, 60, 60), 0.5), (2, shifted(CAT, 1), 0.95)]),
}  # fmt: skip
IOUS = (0.5, 0.6, 0.75, 0.9)


@pytest.fixture
def scene() -> tuple[Suite, Outputs]:
    return objects(
        [(n, label, box) for label, (truths, _) in SCENE.items() for n, box in truths],
        [(n, label, box, score) for label, (_, found) in SCENE.items() for n, box, score in found],
    )


def test_average_precision_by_its_pseudo_code(scene: tuple[Suite, Outputs]) -> None:
    run = evaluate(*scene, evaluators=["average_precision"], parameters={"average_precision": {"iou_thresholds": IOUS}})
    ap = {
        (label, at): average_precision(rank_ious(truths, found), len(truths), at)
        for label, (truths, found) in SCENE.items()
        for at in IOUS
    }
    assert min(ap.values()) > 0 or len(set(ap.values())) > 4
    for label in SCENE:
        assert number(run, "ap_averaged", label) == pytest.approx(fmean(ap[label, at] for at in IOUS))
        for at in IOUS:
            assert number(run, "ap", label, iou=at) == pytest.approx(ap[label, at])
    for at in IOUS:
        assert number(run, "map", iou=at) == pytest.approx(fmean(ap[label, at] for label in SCENE))
    assert number(run, "map_averaged") == pytest.approx(fmean(ap.values()))


@pytest.mark.parametrize("least", [0.0, 0.65])
def test_average_recall_by_its_steps(scene: tuple[Suite, Outputs], least: float) -> None:
    """True positives at or above the score / ground truths, averaged over IoU thresholds, for each label."""
    given = {"iou_thresholds": (0.5, 0.75), "recall_score_threshold": least}
    run = evaluate(*scene, evaluators=["average_recall"], parameters={"average_recall": given})
    ar = {}
    for label, (truths, found) in SCENE.items():
        ranked = rank_ious(truths, [row for row in found if row[2] >= least])
        ar[label] = fmean(sum(own >= at for own in ranked) / len(truths) for at in (0.5, 0.75))
        assert number(run, "ar", label) == pytest.approx(ar[label])
    assert number(run, "mar") == pytest.approx(fmean(ar.values()))


def test_a_label_that_the_image_lacks() -> None:
    """It is a false positive of the curve, as in its text, and of AP, which its text has ignore it."""
    scene = objects([(1, "cat", AWAY), (2, "dog", AWAY)], [(1, "cat", AWAY, 0.5), (2, "cat", AWAY, 0.9)])
    run = evaluate(*scene, evaluators=["average_precision", "detection_pr_curve"])
    assert point(run, "detection_pr_curve", "cat", 0.05)["fp"] == 1
    assert number(run, "ap", "cat", iou=0.5) == pytest.approx(0.5)


# Shapes and pixels


SQUARE = [20.0, 20.0, 60.0, 20.0, 60.0, 60.0, 20.0, 60.0]


@pytest.mark.parametrize("geometry", ["auto", "polygon"])
def test_a_polygon_is_compared_with_a_raster(geometry: str) -> None:
    from pycocotools import mask

    pixels = np.zeros((100, 100), np.uint8, order="F")
    pixels[20:60, 20:40] = 1  # half of the square
    raster = mask.encode(pixels)
    cases = [{"case_id": "1", "image_width": 100, "image_height": 100}]
    row = {"case_id": "1", "label": "cat"}
    truth = row | {"annotation_id": 1, "rle": raster["counts"].decode()}
    shape = row | {"model": "m", "score": 0.9, "polygons": [SQUARE]}
    suite = Suite.from_rows("shapes", "detection", cases, [truth])
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m"}], [shape])
    given = {"average_precision": {"iou_thresholds": [0.5, 0.55], "geometry": geometry}}
    run = evaluate(suite, outputs, evaluators=["average_precision"], parameters=given, accept_findings=True)
    assert [number(run, "ap", "cat", iou=at) for at in (0.5, 0.55)] == pytest.approx([1, 0])


def test_iou_of_pixels_by_its_formula() -> None:
    """Half of the road is found: 50 / 150 pixels; the sky in full; the mean is of the labels."""
    cases = [{"case_id": "1", "image_width": 40, "image_height": 40}]
    sides = ("x", "y", "width", "height")

    def region(label: str, *box: float) -> dict[str, Any]:
        return {"case_id": "1", "label": label, **dict(zip(sides, box, strict=True))}

    truths = [region("road", 0, 0, 10, 10), region("sky", 20, 20, 10, 10)]
    found = [region("road", 5, 0, 10, 10) | {"model": "m"}, region("sky", 20, 20, 10, 10) | {"model": "m"}]
    suite = Suite.from_rows("s", "segmentation", cases, [row | {"annotation_id": n} for n, row in enumerate(truths, 1)])
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m"}], found)
    run = evaluate(suite, outputs, evaluators=["segmentation_iou"])
    road, background = 50 / 150, (1600 - 250) / (1600 - 150)
    assert number(run, "iou", "road") == pytest.approx(road)
    assert number(run, "iou", "sky") == pytest.approx(1)
    assert number(run, "miou") == pytest.approx(fmean((road, 1, background)))


def test_what_is_asked_for_is_what_is_returned(tmp_path: Path) -> None:
    """metrics_to_return."""
    suite, outputs = FOUND
    evaluate(suite, outputs, evaluators=["average_recall"])
    assert main(["export", "latest", "--what", "valor", "-o", str(tmp_path / "all.json")]) == 0
    assert {record["type"] for record in json.loads((tmp_path / "all.json").read_text())} == {"AR", "mAR"}
