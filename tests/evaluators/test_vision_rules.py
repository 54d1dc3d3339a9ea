"""The sixteen rules of what "right" means in vision, one by one: each test bears the rule's number."""

import copy
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from metrics.core.errors import InputError
from metrics.core.evaluator import MATCHES
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.ingest import load_outputs, load_suite, read_outputs, read_suite
from metrics.vision.matching import IOU_THRESHOLDS, threshold_index
from tests.evaluators.detected import outputs_of, pick, run, suite_and_outputs, suite_of
from tests.ingest.files import write
from tests.vision.coco_oracle import random_scene

CAT, DOG = ("a", "cat", 0, 0, 100, 100), ("a", "dog", 200, 0, 100, 100)
PRIMARY = {
    "average_precision": "map_averaged", "average_recall": "mar", "coco_summary": "AP", "detection_pr_curve": "best_f1",
    "detection_pr_curve_detailed": "tp", "detection_confusion": "agreement", "error_breakdown": "ap",
}  # fmt: skip
DETECTION = tuple(PRIMARY)


def test_rule_01_a_class_without_ground_truth_is_left_out_of_means():
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9), ("a", "dog", 0, 0, 9, 9, 0.9)))
    assert pick(findings, "ap", "dog", iou=0.5).value is None
    assert "no ground truth of this label" in pick(findings, "ap", "dog", iou=0.5).reason
    assert pick(findings, "ap", "dog", iou=0.5).n == 0
    assert pick(findings, "map_averaged").value == pytest.approx(1)


@pytest.mark.parametrize("evaluator", DETECTION)
def test_rule_01_ground_truth_without_predictions_is_0(evaluator):
    findings = run(evaluator, suite_of(CAT), outputs_of(), resamples=50)
    assert (pick(findings, PRIMARY[evaluator]).value, pick(findings, PRIMARY[evaluator]).n) == (0, 1)


@pytest.mark.parametrize("evaluator", DETECTION)
@pytest.mark.parametrize("predictions", [(), ((*CAT, 0.9),)], ids=["nothing at all", "predictions"])
def test_rule_01_no_ground_truth_at_all_is_not_applicable(evaluator, predictions):
    findings = run(evaluator, suite_of(), outputs_of(*predictions), resamples=50)
    assert findings.aggregates
    assert all(entry.value is None and entry.reason and entry.low is None for entry in findings.aggregates)


def test_rule_02_a_prediction_on_an_image_that_lacks_its_class_is_a_false_positive():
    elsewhere = ("b", "cat", 0, 0, 100, 100, 0.95)
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9), elsewhere))
    assert pick(findings, "map_averaged").value == pytest.approx(0.5)


@pytest.mark.parametrize(("predictions", "expected"), [
    pytest.param([(*CAT, 0.5), ("a", "cat", 300, 0, 9, 9, 0.5)], 1.0, id="file order within an image"),
    pytest.param([("a", "cat", 300, 0, 9, 9, 0.5), (*CAT, 0.5)], 0.5, id="file order within an image, reversed"),
    pytest.param([("b", "cat", 300, 0, 9, 9, 0.5), (*CAT, 0.5)], 1.0, id="image order across images"),
    pytest.param([("b", "cat", 300, 0, 9, 9, -0.0), (*CAT, 0.0)], 1.0, id="minus zero ties with zero"),
])  # fmt: skip
def test_rule_03_ties_in_score(predictions, expected):
    findings = run("average_precision", suite_of(CAT), outputs_of(*predictions))
    assert pick(findings, "map_averaged").value == pytest.approx(expected)


def test_rule_03_ties_in_iou_go_to_the_last_ground_truth():
    findings = run("average_precision", suite_of(CAT, CAT), outputs_of((*CAT, 0.9)))
    assert findings.matches["annotation_id"].to_pylist() == [2, 1]
    assert findings.matches["kind"].to_pylist() == ["tp", "fn_no_prediction"]


def test_rule_04_an_iou_exactly_at_the_threshold_matches():
    half = ("a", "cat", 0, 0, 100, 50, 0.9)
    findings = run("average_precision", suite_of(CAT), outputs_of(half))
    assert pick(findings, "ap", "cat", iou=0.5).value == pytest.approx(1)
    assert pick(findings, "ap", "cat", iou=0.55).value == 0


def test_rule_04_the_grid_is_looked_up_with_a_tolerance():
    assert 0.9 not in IOU_THRESHOLDS
    assert threshold_index(np.array(IOU_THRESHOLDS), 0.9) == 8
    findings = run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.9)), match_iou_threshold=0.9)
    assert pick(findings, "map", iou=0.9).value == pytest.approx(1)
    assert findings.matches["iou_threshold"].to_pylist() == [0.9]


@pytest.mark.parametrize(("found", "truths", "points"), [(7, 10, 71 - 1), (29, 100, 30)])
def test_rule_05_recall_points_are_found_by_search(found, truths, points):
    """7 of 10: the recall points 0 … .69 are reached, and .70 is a hair above 7/10."""
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(truths)]
    predictions = [(*box, 0.9 - index / 1000) for index, box in enumerate(boxes[:found])]
    findings = run("average_precision", suite_of(*boxes), outputs_of(*predictions))
    assert pick(findings, "map_averaged").value == pytest.approx(points / 101)


def test_rule_06_the_best_free_ground_truth_at_or_above_the_threshold_is_taken():
    """The second overlaps the taken left cat best, yet takes the free right one; the third consumes nothing."""
    right = ("a", "cat", 40, 0, 100, 100)
    predictions = [(*CAT, 0.9), ("a", "cat", 19, 0, 100, 100, 0.8), ("a", "cat", 95, 0, 100, 100, 0.95)]
    findings = run("average_precision", suite_of(CAT, right), outputs_of(*predictions), iou_thresholds=[0.5])
    assert findings.matches["kind"].to_pylist() == ["tp", "tp", "fp_localisation"]
    assert findings.matches["annotation_id"].to_pylist()[:2] == [1, 2]


def test_rule_07_a_crowd_absorbs_any_number_of_predictions():
    crowd = ("a", "cat", 200, 0, 400, 400, {"is_crowd": True})
    inside = [("a", "cat", 210 + 50 * index, 10, 40, 40, 0.99) for index in range(4)]
    findings = run("average_precision", suite_of(CAT, crowd), outputs_of(*inside, (*CAT, 0.5)))
    assert (pick(findings, "map_averaged").value, pick(findings, "map_averaged").n) == (pytest.approx(1), 1)
    assert findings.matches["kind"].to_pylist() == ["ignored"] * 4 + ["tp"]


@pytest.mark.parametrize(("area", "ranges"), [
    pytest.param(1024, ("small", "medium"), id="1024 is small and medium"),
    pytest.param(9216, ("medium", "large"), id="9216 is medium and large"),
    pytest.param(1023.9, ("small",), id="below"),
])  # fmt: skip
def test_rule_08_area_ranges_are_inclusive_and_of_the_annotation(area, ranges):
    box = ("a", "cat", 0, 0, 100, 100)
    findings = run("coco_summary", suite_of((*box, {"area": area})), outputs_of((*box, 0.9)))
    sizes = [size for size in ("small", "medium", "large") if pick(findings, f"AP_{size}").value is not None]
    assert tuple(sizes) == ranges


def test_rule_09_max_dets_is_per_image_and_class():
    boxes = [(case, label, 200 * index, 0, 100, 100) for case in "ab" for label in ("cat", "dog") for index in range(3)]
    findings = run("coco_summary", suite_of(*boxes), outputs_of(*[(*box, 0.9) for box in boxes]))
    assert pick(findings, "AR_1").value == pytest.approx(1 / 3)
    assert pick(findings, "AR_10").value == pytest.approx(1)


@pytest.mark.parametrize("limits", [[1, 10, 300], [300], [5], [10, 1], [2, 3, 5, 7]])
def test_rule_09_any_list_of_max_dets_works(limits):
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(12)]
    findings = run("coco_summary", suite_of(*boxes), outputs_of(*[(*box, 0.9) for box in boxes]), max_dets=limits)
    most = min(12, max(limits)) / 12
    reached = sum(recall / 100 <= most for recall in range(101)) / 101
    assert pick(findings, "AP").value == pytest.approx(reached)
    for limit in {1, 10, 100, *limits}:
        name = f"AR_{limit}" if limit in (1, 10, 100) else "AR"
        assert pick(findings, name, max_dets=limit).value == pytest.approx(min(limit, 12) / 12)


def test_rule_10_what_cannot_be_used_is_listed_at_once():
    suite = suite_of(CAT, ("a", "cat", 0, 0, -1, 5))
    unnamed, unplaced = ("a", None, *CAT[2:], 0.5), ("a", "cat", None, 0, 5, 5, 0.5)
    outputs = outputs_of((*CAT, math.nan), (*CAT, math.inf), ("z", *CAT[1:], 0.5), unnamed, unplaced)
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


GROUND_TRUTH = {
    "images": [{"id": number, "file_name": f"{number}.png", "width": 90, "height": 50} for number in (3, 5)],
    "annotations": [{"id": 1, "image_id": 3, "category_id": 7, "bbox": [1, 2, 3, 4], "iscrowd": 0},
        {"id": 2, "image_id": 5, "category_id": 7, "bbox": [9, 9, 9, 9], "iscrowd": 0}],
    "categories": [{"id": 7, "name": "cat"}],
}  # fmt: skip
RESULTS = [{"image_id": 3, "category_id": 7, "bbox": [1, 2, 3, 4], "score": 0.5} for _ in range(2)]
KINDS_OF_BAD_INPUT = {
    "a NaN score": ("score", math.nan, "results.json, row 2, column score: found nan"),
    "an infinite score": ("score", math.inf, "results.json, row 2, column score: found inf"),
    "a negative width": ("bbox", [1, 2, -3, 4], "results.json, row 2, column bbox: found [1, 2, -3, 4]"),
    "a box with three numbers": ("bbox", [1, 2, 3], "results.json, row 2, column bbox: found [1, 2, 3]"),
    "a box with five numbers": ("bbox", [1, 2, 3, 4, 5], "results.json, row 2, column bbox: found [1, 2, 3, 4, 5]"),
    "an unknown image": ("image_id", 4, "results.json, row 2, column image_id: found 4"),
    "an unknown class": ("category_id", 8, "results.json, row 2, column category_id: found 8"),
    "a duplicate id": ("id", 1, "truth.json, row 2, column annotations.id: found 1 again, first in record 1"),
    "a negative width in the ground truth": ("truth bbox", [1, 2, -3, 4],
        "truth.json, row 2, column annotations.bbox: found [1, 2, -3, 4]"),
}  # fmt: skip


@pytest.mark.parametrize(("column", "value", "text"), KINDS_OF_BAD_INPUT.values(), ids=KINDS_OF_BAD_INPUT.keys())
def test_rule_10_a_file_names_the_row_and_the_others_can_be_kept(tmp_path, column, value, text):
    truth, results = copy.deepcopy(GROUND_TRUTH), copy.deepcopy(RESULTS)
    of_truth = text.startswith("truth")
    (truth["annotations"] if of_truth else results)[1][column.removeprefix("truth ")] = value
    files = write(tmp_path, "truth.json", truth), write(tmp_path, "results.json", results)
    with pytest.raises(InputError) as failure:
        read_outputs(files[1], suite=read_suite(files[0]))
    (problem,) = failure.value.problems
    assert str(problem).startswith(text)
    suite = load_suite(files[0], keep_good_rows=True).value
    outputs = load_outputs(files[1], suite=suite, keep_good_rows=True).value
    assert (len(suite.annotations), suite.left_out) == ((1, 1) if of_truth else (2, 0))
    assert (len(outputs.predictions), outputs.left_out) == ((2, 0) if of_truth else (1, 1))


def test_rule_10_every_kind_at_once(tmp_path):
    results = [
        dict(RESULTS[0], **{column: value})
        for column, value, text in KINDS_OF_BAD_INPUT.values()
        if text.startswith("results")
    ]
    suite = read_suite(write(tmp_path, "truth.json", GROUND_TRUTH))
    with pytest.raises(InputError) as failure:
        read_outputs(write(tmp_path, "results.json", results), suite=suite)
    assert [problem.row for problem in failure.value.problems] == list(range(1, 1 + len(results)))


def test_rule_10_score_0_counts():
    assert pick(run("average_recall", suite_of(CAT), outputs_of((*CAT, 0.0))), "mar").value == 1
    assert pick(
        run("average_precision", suite_of(CAT), outputs_of((*CAT, 0.0))), "map_averaged"
    ).value == pytest.approx(1)


def test_rule_10_annotation_id_0_is_no_special_case():
    suite = suite_of((*CAT, {"annotation_id": 0}))
    assert pick(run("coco_summary", suite, outputs_of((*CAT, 0.9))), "AP").value == pytest.approx(1)


def test_rule_11_a_ground_truth_without_area_counts_in_recall_and_is_never_matched():
    line = ("a", "cat", 300, 0, 0, 50)
    findings = run("average_recall", suite_of(CAT, line), outputs_of((*CAT, 0.9), (*line, 0.8)))
    assert pick(findings, "mar").value == 0.5


def test_rule_12_both_average_recalls_under_their_own_names():
    boxes = [("a", "cat", 200 * index, 0, 100, 100) for index in range(4)]
    outputs = outputs_of(*[(*box, 0.2 + index / 5) for index, box in enumerate(boxes)])
    findings = run("average_recall", suite_of(*boxes), outputs, recall_score_threshold=0.4)
    assert pick(findings, "ar", "cat").value == 0.75  # a score at the threshold counts
    assert pick(findings, "mar").value == 0.75
    assert [pick(findings, "coco_ar", area="all", max_dets=limit).value for limit in (1, 10, 100)] == [0.25, 1, 1]


def test_rule_13_the_curve_by_score_is_not_the_curve_behind_ap():
    suite, outputs = suite_of(CAT), outputs_of((*CAT, 0.62), ("b", "cat", 0, 0, 9, 9, 0.71))
    by_score = run("detection_pr_curve", suite, outputs).curves.to_pydict()
    by_rank = run("average_precision", suite, outputs, iou_thresholds=[0.5]).curves.to_pydict()
    assert by_score["threshold"] == [round(step / 20, 2) for step in range(1, 20)]
    assert by_score["precision"][11:14] == [0.5, 0.0, 0.0]  # .60 .65 .70: also the false positive where no cat is
    assert by_rank["recall"][::50] == [0.0, 0.5, 1.0]
    assert by_rank["precision"][::50] == pytest.approx([0.5, 0.5, 0.5])
    assert by_rank["score"][::50] == [0.71, 0.62, 0.62]


def test_rule_14_a_dog_predicted_as_a_cat_on_the_same_box():
    findings = run("detection_confusion", suite_of(CAT, DOG), outputs_of((*CAT, 0.9), ("a", "cat", *DOG[2:], 0.8)))
    assert findings.curves.to_pylist() == [
        {"label": "cat", "predicted": "cat", "count": 1},
        {"label": "dog", "predicted": "cat", "count": 1},
    ]
    assert pick(findings, "count", "dog", predicted="cat").value == 1


def test_rule_14_margins():
    findings = run("detection_confusion", suite_of(CAT), outputs_of(("a", "dog", 500, 0, 9, 9, 0.9)))
    assert findings.curves.to_pylist() == [
        {"label": "cat", "predicted": "missed", "count": 1},
        {"label": "background", "predicted": "dog", "count": 1},
    ]


@pytest.mark.parametrize("seed", range(12))
def test_rule_14_a_cell_opens_exactly_its_objects(seed):
    suite, outputs = suite_and_outputs(random_scene(seed))
    findings = run("detection_confusion", suite, outputs, score_threshold=0.3)
    matches = findings.matches.to_pandas()
    held = Counter(zip(matches["truth"].dropna(), matches["predicted"].dropna(), strict=True))
    assert held == {(row["label"], row["predicted"]): row["count"] for row in findings.curves.to_pylist()}
    counts = {(row.label, row.columns["predicted"]): row.value for row in findings.aggregates if row.metric == "count"}
    assert counts in (held, {})  # without ground truth there are no numbers, yet objects to look at
    unique = matches.dropna(subset=["truth"])
    assert not unique["prediction_id"].dropna().duplicated().any()
    assert not unique["annotation_id"].dropna().duplicated().any()
    assert findings.matches.column_names == [*MATCHES.names, "truth", "predicted"]


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.75])
def test_rule_14_the_diagonal_is_the_curves_tp_where_no_labels_compete(threshold):
    boxes = [(case, label, 200 * index, 0, 100, 100) for case in "ab" for index, label in enumerate(("cat", "dog"))]
    predictions = [(*box, 0.4 + 0.1 * index) for index, box in enumerate(boxes)]
    predictions.append(("a", "cat", 5, 0, 100, 100, 0.9))
    suite, outputs = suite_of(*boxes), outputs_of(*predictions)
    curve = run("detection_pr_curve", suite, outputs).curves.to_pandas()
    tp = curve[curve["threshold"] == threshold].set_index("label")["tp"].to_dict()
    cells = run("detection_confusion", suite, outputs, score_threshold=threshold).curves.to_pandas()
    right = cells[cells["label"] == cells["predicted"]].set_index("label")["count"].to_dict()
    assert right == {label: count for label, count in tp.items() if count}


def test_rule_14_they_differ_where_labels_compete():
    suite, outputs = suite_of(CAT), outputs_of((*CAT, 0.6), ("a", "dog", *CAT[2:], 0.9))
    assert run("detection_pr_curve", suite, outputs).curves.to_pandas().query("threshold == .5")["tp"].tolist() == [
        1,
        0,
    ]
    cells = run("detection_confusion", suite, outputs).curves.to_pylist()
    assert [(row["label"], row["predicted"]) for row in cells] == [("cat", "dog"), ("background", "cat")]


def columns_of(regions: dict[str, tuple[int, int]], case: str) -> list[dict[str, Any]]:
    """Regions of an image 10 pixels high, each from one column to before another."""
    return [
        {"case_id": case, "label": label, "x": float(left), "y": 0.0, "width": float(right - left), "height": 10.0}
        for label, (left, right) in regions.items()
    ]


def segmented(truths: list[dict[str, tuple[int, int]]], predictions: list[dict[str, tuple[int, int]]], **more: Any):
    """The findings of segmentation_iou on images of 10 × 10 pixels."""
    names = [f"image {index}" for index in range(len(truths))]
    cases = [{"case_id": name, "image_width": 10, "image_height": 10} for name in names]
    annotations = [row for name, regions in zip(names, truths, strict=True) for row in columns_of(regions, name)]
    annotations = [row | {"annotation_id": index + 1} for index, row in enumerate(annotations)]
    rows = [row for name, regions in zip(names, predictions, strict=True) for row in columns_of(regions, name)]
    suite = Suite.from_rows("s", "segmentation", cases, annotations, ["road", "sky", "tree"])
    outputs = Outputs.from_rows([{"case_id": name, "model": "m"} for name in names], [r | {"model": "m"} for r in rows])
    return run("segmentation_iou", suite, outputs, **more)


def test_rule_15_iou_is_over_all_pixels_of_the_data_set():
    """Not the mean over images: road has 9 of 10 columns right in one image, 0 of 1 in the other."""
    truths = [{"road": (0, 10)}, {"road": (0, 1), "sky": (1, 10)}]
    found = segmented(truths, [{"road": (0, 9), "sky": (9, 10)}, {"sky": (0, 10)}])
    assert pick(found, "iou", "road").value == pytest.approx(9 / 11)
    assert pick(found, "iou", "sky").value == pytest.approx(9 / 11)


def test_rule_15_a_class_in_neither_is_not_applicable_and_out_of_the_mean():
    found = segmented([{"road": (0, 10)}], [{"road": (0, 10)}])
    assert pick(found, "miou").value == 1.0
    (tree,) = [row for row in found.aggregates if (row.metric, row.label) == ("iou", "tree")]
    assert (tree.value, tree.reason) == (
        None,
        "neither the ground truth nor the predictions have a pixel of this label",
    )
    only_predicted = segmented([{"road": (0, 10)}], [{"road": (0, 9), "tree": (9, 10)}])
    assert pick(only_predicted, "iou", "tree").value == 0.0


def labelled(pairs: list[tuple[float, bool]]) -> tuple[Suite, Outputs]:
    """Cases of two labels, each with a score of `yes`."""
    cases = [{"case_id": str(row), "label": "yes" if true else "no"} for row, (_, true) in enumerate(pairs)]
    rows = [
        {"case_id": str(row), "model": "m", "label": label, "score": score if label == "yes" else 1 - score}
        for row, (score, _) in enumerate(pairs)
        for label in ("yes", "no")
    ]
    return Suite.from_rows("s", "classification", cases), Outputs.from_rows(
        [{"case_id": case["case_id"], "model": "m"} for case in cases], rows
    )


def area_under(pairs: list[tuple[float, bool]]) -> Any:
    entry = evaluators()["roc_auc"]
    return pick(entry(*labelled(pairs), entry.parameters()), "roc_auc", "yes").value


@pytest.mark.parametrize(("pairs", "area"), [
    pytest.param([(0.5, True), (0.5, False)], 0.5, id="two equal scores, one positive"),
    pytest.param([(0.5, True), (0.5, False), (0.9, True)], 0.75, id="a tie below"),
    pytest.param([(0.5, True), (0.5, False), (0.1, False)], 0.75, id="a tie above"),
    pytest.param([(0.25, True)] * 3 + [(0.25, False)] * 5, 0.5, id="nothing but ties"),
])  # fmt: skip
def test_rule_16_ties_of_the_roc_count_half(pairs, area):
    assert area_under(pairs) == pytest.approx(area, abs=1e-12)
