"""The detection evaluators on whole suites: against pycocotools, the published numbers, and each other."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from metrics.core.evaluator import MATCHES
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import FEW_TRUTHS
from metrics.evaluators.detection import _matched as sharing
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.evaluators.detected import outputs_of, pick, read_voc100, run, suite_and_outputs, suite_of
from tests.random_seeds import seeds
from tests.vision.coco_oracle import coco_eval, random_scene

ALL = ("average_precision", "average_recall", "coco_summary", "detection_pr_curve")
MORE = (*ALL, "detection_pr_curve_detailed", "detection_confusion", "error_breakdown")
TWELVE = {
    "AP": 0.347, "AP50": 0.610, "AP75": 0.354, "AP_small": 0.075, "AP_medium": 0.339, "AP_large": 0.498,
    "AR_1": 0.374, "AR_10": 0.521, "AR_100": 0.523, "AR_small": 0.158, "AR_medium": 0.447, "AR_large": 0.581,
}  # fmt: skip
CAT = ("a", "cat", 0, 0, 100, 100)


@pytest.fixture(scope="module")
def voc100(shared: Path) -> tuple[Suite, Outputs]:
    return read_voc100(shared)


def test_voc100_gives_the_twelve_numbers(voc100):
    findings = run("coco_summary", *voc100, resamples=100)
    assert {name: round(pick(findings, name).value, 3) for name in TWELVE} == TWELVE
    rare = {"AP_medium", "AP_large"}  # 4.0 and 5.0 ground truths per label of 11 and 20 labels, by the harmonic mean
    for name in TWELVE:
        number = pick(findings, name)
        assert (number.interval is None) == (name in rare)
        if name in rare:
            assert number.reason == FEW_TRUTHS
        else:
            assert 0 <= number.low <= number.value <= number.high <= 1
    assert pick(findings, "AP").n == 273


@pytest.mark.parametrize("seed", seeds(15, 40))
def test_numbers_equal_pycocotools(seed):
    scene = random_scene(seed)
    expected = coco_eval(*scene, IOU_THRESHOLDS, tuple(AREAS.values()), [1, 10, 100]).eval
    suite, outputs = suite_and_outputs(scene)
    precision, recall = run("average_precision", suite, outputs), run("average_recall", suite, outputs)
    summary = run("coco_summary", suite, outputs)

    def mean(values: Any) -> float | None:
        known = values[values > -1]
        return pytest.approx(known.mean(), abs=1e-9) if known.size else None

    for k, label in enumerate(suite.labels):
        for t, iou in enumerate(IOU_THRESHOLDS):
            assert pick(precision, "ap", label, iou=round(iou, 10)).value == mean(expected["precision"][t, :, k, 0, 2])
        assert pick(recall, "ar", label).value == mean(expected["recall"][:, k, 0, 2])
    for a, name in enumerate(AREAS):
        metric = "AP" if name == "all" else f"AP_{name}"
        assert pick(summary, metric).value == mean(expected["precision"][:, :, :, a, 2])
        assert pick(recall, "coco_ar", area=name, max_dets=100).value == mean(expected["recall"][:, :, a, 2])
    for m, limit in enumerate((1, 10, 100)):
        assert pick(summary, f"AR_{limit}").value == mean(expected["recall"][:, :, 0, m])


@pytest.mark.parametrize("evaluator", MORE)
@pytest.mark.parametrize("seed", [3, 8])
def test_findings_are_well_formed(evaluator, seed):
    suite, outputs = suite_and_outputs(random_scene(seed))
    findings = run(evaluator, suite, outputs, resamples=30)
    assert findings.matches.select(MATCHES.names).schema == MATCHES
    predicted = findings.matches.slice(0, outputs.predictions.num_rows)
    assert predicted["prediction_id"].to_pylist() == outputs.predictions["prediction_id"].to_pylist()
    assert all(kind.startswith("fn_") for kind in findings.matches["kind"].to_pylist()[outputs.predictions.num_rows :])
    json.dumps([dict(entry.columns) for entry in findings.aggregates])
    keys = [(entry.metric, entry.label, *dict(entry.columns).items()) for entry in findings.aggregates]
    assert len(set(keys)) == len(keys)
    for entry in findings.aggregates:
        if entry.metric not in ("best_threshold", "count"):  # which have no interval by their nature
            assert (entry.low is None) == (entry.reason is not None)
        assert entry.low is None or 0 <= entry.low <= entry.high <= 1


def test_a_custom_area_range_and_limit():
    small = ("a", "cat", 0, 200, 10, 10)
    outputs = outputs_of((*CAT, 0.9), (*small, 0.8), (*small, 0.7))
    findings = run("average_precision", suite_of(CAT, small), outputs, area_range=[50, 150], max_dets=2)
    assert pick(findings, "map_averaged", area="50–150", max_dets=2).n == 1
    assert pick(findings, "map_averaged").value == pytest.approx(1)
    assert findings.matches["kind"].to_pylist() == ["ignored", "tp", "ignored"]


def test_matches_at_an_iou_outside_the_grid():
    findings = run(
        "average_precision", suite_of(CAT), outputs_of(("a", "cat", 0, 0, 100, 40, 0.9)), match_iou_threshold=0.3
    )
    assert findings.matches.to_pylist()[0] | {"score": None} == {
        "case_id": "a", "label": "cat", "kind": "tp", "prediction_id": 0, "annotation_id": 1, "score": None, "iou": 0.4,
        "iou_threshold": 0.3,
    }  # fmt: skip
    assert pick(findings, "map", iou=0.5).value == 0


def test_the_curve_counts_score_thresholds_and_leaves_blanks():
    findings = run("detection_pr_curve", suite_of(CAT), outputs_of((*CAT, 0.15), ("b", "dog", 0, 0, 9, 9, 0.5)))
    rows = {(row["label"], row["threshold"]): row for row in findings.curves.to_pylist()}
    assert rows["cat", 0.15] | {"label": 0, "threshold": 0} == {
        "label": 0, "threshold": 0, "tp": 1, "fp": 0, "tn": None, "fn": 0, "precision": 1.0, "recall": 1.0, "f1": 1.0,
    }  # fmt: skip
    assert (rows["cat", 0.2]["precision"], rows["cat", 0.2]["recall"], rows["cat", 0.2]["f1"]) == (None, 0.0, 0.0)
    assert (rows["dog", 0.5]["fp"], rows["dog", 0.5]["recall"], rows["dog", 0.5]["f1"]) == (1, None, None)


def test_intervals_draw_groups_whole():
    boxes = [(case, "cat", 0, 0, 100, 100) for case in "abcdef"]
    outputs = outputs_of(*[(*box, 0.9) for box in boxes[:3]], cases="abcdef")
    alone = pick(run("average_recall", suite_of(*boxes, cases="abcdef"), outputs, resamples=200), "mar")
    pairs = pick(
        run("average_recall", suite_of(*boxes, cases="abcdef", groups="xxxyyy"), outputs, resamples=200), "mar"
    )
    single = pick(
        run("average_recall", suite_of(*boxes, cases="abcdef", groups="xxxxxx"), outputs, resamples=200), "mar"
    )
    assert pairs.value == 0.5
    assert 0 <= pairs.low < alone.low < 0.5 < alone.high < pairs.high <= 1
    assert (single.value, single.low, single.high) == (0.5, None, None)


def test_the_seed_decides_the_interval():
    suite, outputs = suite_and_outputs(random_scene(8))
    first, again, other = (
        pick(run("coco_summary", suite, outputs, resamples=60, seed=seed), "AP") for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_evaluators_match_once(monkeypatch):
    suite, outputs = suite_and_outputs(random_scene(99))
    calls = []
    monkeypatch.setattr(
        sharing.matching, "match_among", lambda *given, **more: calls.append(given) or MATCH(*given, **more)
    )
    for evaluator in MORE:
        run(evaluator, suite, outputs, resamples=10)
    assert len(calls) == 1


MATCH = sharing.matching.match_among


@pytest.mark.parametrize("resamples", [0, 10])
def test_estimates_are_the_same_whoever_asks_first(resamples):
    suite, outputs = suite_and_outputs(random_scene(99))
    names = ("average_recall", "coco_summary")
    values = {}
    for order in (names, names[::-1]):
        sharing._matched.clear()
        for name in order:
            values[name, order] = run(name, suite, outputs, resamples=resamples).aggregates
    for name in names:
        assert values[name, names] == values[name, names[::-1]]


def test_groups_and_arrow_chunks_do_not_change_numbers():
    scene = random_scene(5)
    suite, outputs = suite_and_outputs(scene)
    half = outputs.predictions.num_rows // 2
    chunked = pa.concat_tables([outputs.predictions.slice(0, half), outputs.predictions.slice(half)])
    whole = run("coco_summary", suite, outputs)
    assert run("coco_summary", suite, Outputs(outputs.outputs, chunked)).aggregates == whole.aggregates


def test_voc100_agrees_across_evaluators(voc100):
    summary, recall = run("coco_summary", *voc100), run("average_recall", *voc100)
    precision, curve = run("average_precision", *voc100), run("detection_pr_curve", *voc100)
    assert pick(summary, "AP").value == pytest.approx(pick(precision, "map_averaged").value, abs=1e-12)
    assert pick(summary, "AP75").value == pytest.approx(pick(precision, "map", iou=0.75).value, abs=1e-12)
    assert pick(summary, "AR_100").value == pytest.approx(pick(recall, "mar").value, abs=1e-12)
    assert summary.matches == precision.matches == recall.matches == curve.matches
    kinds = curve.matches["kind"].to_pylist()
    scores = curve.matches["score"].to_pylist()
    points = curve.curves.to_pandas()
    at = points[points["threshold"] == 0.5]
    assert at["tp"].sum() == sum(kind == "tp" and score >= 0.5 for kind, score in zip(kinds, scores, strict=True))
    assert at["fp"].sum() == sum(
        kind.startswith("fp") and score >= 0.5 for kind, score in zip(kinds, scores, strict=True)
    )
    assert (points["tp"] + points["fn"]).groupby(points["label"]).nunique().eq(1).all()
