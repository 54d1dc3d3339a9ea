"""The thirteen rules of what "right" means for boxes, one by one: each test bears the rule's number."""

import math

import numpy as np
import pytest

from metrics.errors import InputError
from metrics.kernels.matching import IOU_THRESHOLDS, threshold_index
from tests.evaluators.detected import outputs_of, pick, run, suite_of

CAT = ("a", "cat", 0, 0, 100, 100)
PRIMARY = {
    "average_precision": "map_averaged", "average_recall": "mar", "coco_summary": "AP", "detection_pr_curve": "best_f1",
    "detection_pr_curve_detailed": "tp", "detection_confusion": "agreement", "error_breakdown": "ap",
}  # fmt: skip
DETECTION = tuple(PRIMARY)


def test_1_a_class_without_ground_truth_is_left_out_of_means():
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9), ("a", "dog", 0, 0, 9, 9, 0.9)))
    assert pick(findings, "ap", "dog", iou=0.5).value is None
    assert "no ground truth of this label" in pick(findings, "ap", "dog", iou=0.5).reason
    assert pick(findings, "ap", "dog", iou=0.5).n == 0
    assert pick(findings, "map_averaged").value == pytest.approx(1)


@pytest.mark.parametrize("evaluator", DETECTION)
def test_1_ground_truth_without_predictions_is_0(evaluator):
    findings = run(evaluator, suite_of(CAT), outputs_of(), resamples=50)
    assert pick(findings, PRIMARY[evaluator]).value == 0
    assert pick(findings, PRIMARY[evaluator]).n == 1


@pytest.mark.parametrize("evaluator", DETECTION)
@pytest.mark.parametrize("predictions", [(), ((*CAT, 0.9),)], ids=["nothing at all", "predictions"])
def test_1_no_ground_truth_at_all_is_not_applicable(evaluator, predictions):
    findings = run(evaluator, suite_of(), outputs_of(*predictions), resamples=50)
    assert findings.aggregates
    assert all(entry.value is None and entry.reason and entry.low is None for entry in findings.aggregates)


def test_2_a_prediction_on_an_image_that_lacks_its_class_is_a_false_positive():
    elsewhere = ("b", "cat", 0, 0, 100, 100, 0.95)
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9), elsewhere))
    assert pick(findings, "map_averaged").value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        pytest.param([(*CAT, 0.5), ("a", "cat", 300, 0, 9, 9, 0.5)], 1.0, id="file order within an image"),
        pytest.param([("a", "cat", 300, 0, 9, 9, 0.5), (*CAT, 0.5)], 0.5, id="file order within an image, reversed"),
        pytest.param([("b", "cat", 300, 0, 9, 9, 0.5), (*CAT, 0.5)], 1.0, id="image order across images"),
        pytest.param([("b", "cat", 300, 0, 9, 9, -0.0), (*CAT, 0.0)], 1.0, id="minus zero ties with zero"),
    ],
)
def test_3_ties_in_score(predictions, expected):
    findings = run("average_precision", suite_of(CAT), outputs_of(*predictions))
    assert pick(findings, "map_averaged").value == pytest.approx(expected)


def test_3_ties_in_iou_go_to_the_last_ground_truth():
    findings = run("average_precision", suite_of(CAT, CAT), outputs_of((*CAT, 0.9)))
    assert findings.matches["annotation_id"].to_pylist() == [2, 1]
    assert findings.matches["kind"].to_pylist() == ["tp", "fn_no_prediction"]


def test_4_an_iou_exactly_at_the_threshold_matches():
    half = ("a", "cat", 0, 0, 100, 50, 0.9)
    findings = run("average_precision", suite_of(CAT), outputs_of(half))
    assert pick(findings, "ap", "cat", iou=0.5).value == pytest.approx(1)
    assert pick(findings, "ap", "cat", iou=0.55).value == 0


def test_4_the_grid_is_looked_up_with_a_tolerance():
    assert 0.9 not in IOU_THRESHOLDS
    assert threshold_index(np.array(IOU_THRESHOLDS), 0.9) == 8
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9)), match_iou_threshold=0.9)
    assert pick(findings, "map", iou=0.9).value == pytest.approx(1)
    assert findings.matches["iou_threshold"].to_pylist() == [0.9]


@pytest.mark.parametrize(("found", "truths", "points"), [(7, 10, 71 - 1), (29, 100, 30)])
def test_5_recall_points_are_found_by_search(found, truths, points):
    """7 of 10: the recall points 0 … .69 are reached, and .70 is a hair above 7/10."""
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(truths)]
    predictions = [(*box, 0.9 - index / 1000) for index, box in enumerate(boxes[:found])]
    findings = run("average_precision", suite_of(*boxes), outputs_of(*predictions))
    assert pick(findings, "map_averaged").value == pytest.approx(points / 101)


def test_6_the_best_free_ground_truth_at_or_above_the_threshold_is_taken():
    """The second overlaps the taken left cat best, yet takes the free right one; the third consumes nothing."""
    right = ("a", "cat", 40, 0, 100, 100)
    predictions = [(*CAT, 0.9), ("a", "cat", 19, 0, 100, 100, 0.8), ("a", "cat", 95, 0, 100, 100, 0.95)]
    findings = run("average_precision", suite_of(CAT, right), outputs_of(*predictions), iou_thresholds=[0.5])
    assert findings.matches["kind"].to_pylist() == ["tp", "tp", "fp_localisation"]
    assert findings.matches["annotation_id"].to_pylist()[:2] == [1, 2]


def test_7_a_crowd_absorbs_any_number_of_predictions():
    crowd = ("a", "cat", 200, 0, 400, 400, {"is_crowd": True})
    inside = [("a", "cat", 210 + 50 * index, 10, 40, 40, 0.99) for index in range(4)]
    findings = run("average_precision", suite_of(CAT, crowd), outputs_of(*inside, (*CAT, 0.5)))
    assert pick(findings, "map_averaged").value == pytest.approx(1)
    assert pick(findings, "map_averaged").n == 1
    assert findings.matches["kind"].to_pylist() == ["ignored"] * 4 + ["tp"]


@pytest.mark.parametrize(
    ("area", "ranges"),
    [
        pytest.param(1024, ("small", "medium"), id="1024 is small and medium"),
        pytest.param(9216, ("medium", "large"), id="9216 is medium and large"),
        pytest.param(1023.9, ("small",), id="below"),
    ],
)
def test_8_area_ranges_are_inclusive_and_of_the_annotation(area, ranges):
    box = ("a", "cat", 0, 0, 100, 100)
    findings = run("coco_summary", suite_of((*box, {"area": area})), outputs_of((*box, 0.9)))
    sizes = [size for size in ("small", "medium", "large") if pick(findings, f"AP_{size}").value is not None]
    assert tuple(sizes) == ranges


def test_9_max_dets_is_per_image_and_class():
    boxes = [(case, label, 200 * index, 0, 100, 100) for case in "ab" for label in ("cat", "dog") for index in range(3)]
    findings = run("coco_summary", suite_of(*boxes), outputs_of(*[(*box, 0.9) for box in boxes]))
    assert pick(findings, "AR_1").value == pytest.approx(1 / 3)
    assert pick(findings, "AR_10").value == pytest.approx(1)


@pytest.mark.parametrize("limits", [[1, 10, 300], [300], [5], [10, 1], [2, 3, 5, 7]])
def test_9_any_list_of_max_dets_works(limits):
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(12)]
    findings = run("coco_summary", suite_of(*boxes), outputs_of(*[(*box, 0.9) for box in boxes]), max_dets=limits)
    most = min(12, max(limits)) / 12
    reached = sum(recall / 100 <= most for recall in range(101)) / 101
    assert pick(findings, "AP").value == pytest.approx(reached)
    for limit in {1, 10, 100, *limits}:
        name = f"AR_{limit}" if limit in (1, 10, 100) else "AR"
        assert pick(findings, name, max_dets=limit).value == pytest.approx(min(limit, 12) / 12)


def test_10_what_cannot_be_used_is_listed_at_once():
    suite = suite_of(CAT, ("a", "cat", 0, 0, -1, 5))
    outputs = outputs_of(
        (*CAT, math.nan),
        (*CAT, math.inf),
        ("z", *CAT[1:], 0.5),
        ("a", None, *CAT[2:], 0.5),
        ("a", "cat", None, 0, 5, 5, 0.5),
    )
    with pytest.raises(InputError) as failure:
        run("coco_summary", suite, outputs)
    assert str(failure.value).splitlines() == [
        "annotations, row 2, column width: found -1.0; expected at least 0",
        "predictions, row 3, column case_id: found z; expected a case of the suite",
        "predictions, row 4, column label: found None; expected a label",
        "predictions, row 5, column x: found None; expected a finite number of pixels",
        "predictions, row 1, column score: found nan; expected a finite number",
        "predictions, row 2, column score: found inf; expected a finite number",
    ]


def test_10_score_0_counts():
    assert pick(run("average_recall", suite_of(CAT), outputs_of((*CAT, 0.0))), "mar").value == 1
    assert pick(
        run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.0))), "map_averaged"
    ).value == pytest.approx(1)


def test_10_annotation_id_0_is_no_special_case():
    suite = suite_of((*CAT, {"annotation_id": 0}))
    assert pick(run("coco_summary", suite, outputs_of((*CAT, 0.9))), "AP").value == pytest.approx(1)


def test_11_a_ground_truth_without_area_counts_in_recall_and_is_never_matched():
    line = ("a", "cat", 300, 0, 0, 50)
    findings = run("average_recall", suite_of(CAT, line), outputs_of((*CAT, 0.9), (*line, 0.8)))
    assert pick(findings, "mar").value == 0.5


def test_12_both_average_recalls_under_their_own_names():
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(4)]
    outputs = outputs_of(*[(*box, 0.2 + index / 5) for index, box in enumerate(boxes)])
    findings = run("average_recall", suite_of(*boxes), outputs, recall_score_threshold=0.4)
    assert pick(findings, "ar", "cat").value == 0.75  # a score at the threshold counts
    assert pick(findings, "mar").value == 0.75
    assert [pick(findings, "coco_ar", area="all", max_dets=limit).value for limit in (1, 10, 100)] == [0.25, 1, 1]


def test_13_the_curve_by_score_is_not_the_curve_behind_ap():
    suite, outputs = suite_of(CAT), outputs_of((*CAT, 0.62), ("b", "cat", 0, 0, 9, 9, 0.71))
    by_score = run("detection_pr_curve", suite, outputs).curves.to_pydict()
    by_rank = run("average_precision", suite, outputs, iou_thresholds=[0.5]).curves.to_pydict()
    assert by_score["threshold"] == [round(step / 20, 2) for step in range(1, 20)]
    assert by_score["precision"][11:14] == [0.5, 0.0, 0.0]  # .60 .65 .70: also the false positive where no cat is
    assert by_rank["recall"][::50] == [0.0, 0.5, 1.0]
    assert by_rank["precision"][::50] == pytest.approx([0.5, 0.5, 0.5])
    assert by_rank["score"][::50] == [0.71, 0.62, 0.62]
