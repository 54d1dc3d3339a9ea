"""Confusion, detailed curve and error breakdown on whole suites: against the other evaluators and each other."""

import json

import pandas as pd
import pytest
from pydantic import ValidationError

from metrics import analysis
from metrics.core.evaluator import MATCHES
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs
from metrics.evaluators.detection.error_breakdown import FEW_FOR_GAINS
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.evaluators.detected import outputs_of, pick, read_voc100, run, suite_and_outputs, suite_of
from tests.random_seeds import seeds
from tests.vision.coco_oracle import random_scene

CAT, DOG = ("a", "cat", 0, 0, 100, 100), ("a", "dog", 200, 0, 100, 100)
TIDECV = {  # gains in points of AP, and how many errors; nothing is known of the number of false ones
    "classification": (2.406231, 3), "localisation": (6.143409, 33), "both": (4.624000, 22), "duplicate": (0.004680, 2),
    "background": (10.910696, 166), "missed": (7.576955, 35), "false_positives": (20.531685, None),
    "false_negatives": (12.304076, None),
}  # fmt: skip


def frame(table):
    return table.to_pandas()


class TestConfusion:
    """detection_confusion."""

    def test_shares_add_up(self):
        suite, outputs = suite_and_outputs(random_scene(8))
        findings = run("detection_confusion", suite, outputs, score_threshold=0.0, resamples=50)
        cells = frame(findings.curves)
        right = cells.loc[cells["label"] == cells["predicted"], "count"].sum()
        assert pick(findings, "agreement").value == pytest.approx(right / cells["count"].sum())
        assert pick(findings, "agreement").n == cells["count"].sum()
        assert pick(findings, "missed").value == pytest.approx(
            cells.loc[cells["predicted"] == "missed", "count"].sum() / pick(findings, "missed").n
        )
        for metric in ("agreement", "hallucinated", "missed"):
            found = pick(findings, metric)
            assert 0 <= found.low <= found.high <= 1

    def test_nothing_to_share(self):
        findings = run("detection_confusion", suite_of(CAT), outputs_of())
        assert (pick(findings, "agreement").value, pick(findings, "missed").value) == (0, 1)
        assert pick(findings, "hallucinated").reason == "no prediction reaches the score threshold"
        assert "matches a ground truth" in pick(findings, "confused", "cat").reason

    def test_a_label_with_the_name_of_a_margin(self):
        findings = run("detection_confusion", suite_of(("a", "missed", *CAT[2:])), outputs_of())
        assert findings.curves.to_pylist() == [{"label": "missed", "predicted": "(missed)", "count": 1}]


class TestDetailedCurve:
    """detection_pr_curve_detailed."""

    @pytest.mark.parametrize("seed", seeds(5, 12))
    @pytest.mark.parametrize("iou", [0.5, 0.42])
    def test_counts_add_up_to_those_of_the_curve(self, seed, iou):
        suite, outputs = suite_and_outputs(random_scene(seed))
        detailed = frame(run("detection_pr_curve_detailed", suite, outputs, pr_curve_iou_threshold=iou).curves)
        curve = frame(run("detection_pr_curve", suite, outputs, pr_curve_iou_threshold=iou).curves)
        wide = detailed.assign(kind=detailed["kind"].str[:2]).pivot_table(
            index=["label", "threshold"], columns="kind", values="count", aggfunc="sum"
        )
        expected = curve.set_index(["label", "threshold"])[["tp", "fp", "fn"]]
        assert len(detailed) == 5 * len(curve)
        if len(curve):
            pd.testing.assert_frame_equal(
                wide[["tp", "fp", "fn"]].sort_index(), expected.sort_index(), check_names=False
            )

    def test_the_shares_are_the_curve_at_the_score_threshold(self):
        suite, outputs = suite_and_outputs(random_scene(8))
        findings = run("detection_pr_curve_detailed", suite, outputs, score_threshold=0.3)
        at = frame(findings.curves).query("threshold == .3").groupby("kind")["count"].sum()
        truths = at["tp"] + at["fn_misclassification"] + at["fn_no_prediction"]
        predictions = at["tp"] + at["fp_misclassification"] + at["fp_hallucination"]
        for kind, count in at.items():
            whole = predictions if kind.startswith("fp") else truths
            assert pick(findings, kind).value == pytest.approx(count / whole), kind
            assert pick(findings, kind).n == whole

    def test_examples(self):
        outputs = outputs_of((*CAT, 0.9), ("b", "cat", 0, 0, 20, 10, 0.8), ("c", "cat", 5, 5, 10, 10, 0.7))
        suite = suite_of(CAT, ("b", "cat", 50, 50, 10, 10), DOG)
        shown = frame(run("detection_pr_curve_detailed", suite, outputs, pr_curve_max_examples=2).curves)
        shown = shown.query("threshold == .5").set_index(["label", "kind"])["examples"].map(json.loads)
        (found,) = shown["cat", "tp"]
        assert (found["suite"], found["case_id"]) == ("scene", "a")
        assert json.loads(found["geometry"]) == {
            "type": "Polygon", "coordinates": [[[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]]],
        }  # fmt: skip
        assert [example["case_id"] for example in shown["cat", "fp_hallucination"]] == ["b", "c"]
        (missed,) = shown["cat", "fn_no_prediction"]
        assert (json.loads(missed["geometry"])["coordinates"][0][0], shown["dog", "tp"]) == ([50, 50], [])

    @pytest.mark.parametrize("most", [0, 1, 3])
    def test_no_more_examples_than_asked_for(self, most):
        suite, outputs = suite_and_outputs(random_scene(8))
        shown = frame(run("detection_pr_curve_detailed", suite, outputs, pr_curve_max_examples=most).curves)
        lengths = shown["examples"].map(json.loads).map(len)
        assert (lengths == shown["count"].clip(upper=most)).all()

    def test_a_polygon_is_its_own_example(self):
        suite = suite_of((*CAT, {"polygons": [[0, 0, 100, 0, 0, 100]]}))
        shown = frame(run("detection_pr_curve_detailed", suite, outputs_of()).curves)
        (example,) = json.loads(shown.query("kind == 'fn_no_prediction'")["examples"].iloc[0])
        assert json.loads(example["geometry"])["coordinates"] == [[[0, 0], [100, 0], [0, 100], [0, 0]]]


class TestErrorBreakdown:
    """error_breakdown."""

    def test_intervals_belong_to_the_gain(self):
        suite, outputs = suite_and_outputs(random_scene(8))
        findings = run("error_breakdown", suite, outputs, resamples=100)
        for name in TIDECV:
            found = pick(findings, f"d_ap_{name}", suite.labels[0])
            assert 0 <= found.low <= found.value <= found.high <= 1
            assert found.interval == "half-samples"
            mean = pick(findings, f"d_ap_{name}")  # of three ground truths of two labels
            assert (mean.low, mean.reason) == (None, FEW_FOR_GAINS)
            assert len(mean.replicates) == 100

    def test_the_matches_name_the_errors(self):
        predictions = [(*CAT, 0.9), ("a", "cat", *DOG[2:], 0.8), ("a", "dog", 50, 0, 100, 100, 0.7)]
        findings = run("error_breakdown", suite_of(CAT, DOG, ("b", "cat", 0, 0, 9, 9)), outputs_of(*predictions))
        rows = [(row["kind"], row["annotation_id"]) for row in findings.matches.to_pylist()]
        assert rows == [
            ("tp", 1), ("fp_misclassification", 2), ("fp_both", 1), ("fn_misclassification", 2),
            ("fn_no_prediction", 3),
        ]  # fmt: skip
        assert findings.matches.schema == MATCHES

    def test_the_background_is_below_the_foreground(self):
        with pytest.raises(ValidationError, match=r"background_iou is 0\.5; expected less than 0\.5"):
            evaluators()["error_breakdown"].parameters(background_iou=0.5)


def test_voc100(shared):
    """Real photographs: sums agree across evaluators, and tidecv 1.0.1, run on the same files, finds the same gains."""
    voc100 = read_voc100(shared)
    confusion, detailed = run("detection_confusion", *voc100), run("detection_pr_curve_detailed", *voc100)
    assert pick(confusion, "missed").n == pick(detailed, "tp").n == 273
    breakdown = run("error_breakdown", *voc100)
    assert 100 * pick(breakdown, "ap").value == pytest.approx(61.002968, abs=1e-6)
    for name, (gain, count) in TIDECV.items():
        found = pick(breakdown, f"d_ap_{name}")
        assert 100 * found.value == pytest.approx(gain, abs=1e-6), name
        assert count in (found.n, None), name


class TestDeparturesFromTidecv:
    """What `differs_from_source` names; tidecv's numbers are those of its own AP on the same matches."""

    TEN = tuple(("a", "cat", 200 * place, 0, 100, 100) for place in range(10))
    SEVEN = tuple((*box, 0.9) for box in TEN[:7])

    def test_a_recall_of_seven_tenths_reaches_cocos_seventy_points(self):
        data = suite_of(*self.TEN), outputs_of(*self.SEVEN)
        found = pick(run("error_breakdown", *data), "ap").value
        assert found == pytest.approx(70 / 101)
        assert found == pytest.approx(pick(run("coco_summary", *data), "AP50").value)
        assert found == pytest.approx(0.7029702970297029 - 1 / 101)  # tidecv: 71 / 101

    def test_a_label_without_ground_truth_is_no_part_of_the_mean(self):
        findings = run("error_breakdown", suite_of(*self.TEN), outputs_of(*self.SEVEN, ("b", "dog", 0, 0, 9, 9, 0.5)))
        assert pick(findings, "ap").value == pytest.approx(70 / 101)
        assert pick(findings, "ap").value == pytest.approx(
            2 * 0.35148514851485146 - 1 / 101
        )  # tidecv: half of 71 / 101
        assert pick(findings, "d_ap_background", "dog").value is None


def test_what_is_found_is_no_column_of_the_leaderboard(workspace):
    """Two models whose best thresholds differ share every column."""
    boxes = {"sure": [(*CAT, 0.9), ("b", *CAT[1:], 0.7)], "unsure": [(*CAT, 0.4), ("b", *CAT[1:], 0.2)]}
    names = ("case_id", "label", "x", "y", "width", "height", "score")
    rows = [dict(zip(names, box, strict=True)) | {"model": model} for model in boxes for box in boxes[model]]
    outputs = Outputs.from_rows([{"case_id": case, "model": model} for model in boxes for case in "abc"], rows)
    evaluators = ("detection_pr_curve", "detection_pr_curve_detailed", "detection_confusion", "error_breakdown")
    board = analysis.leaderboard(finished(Workspace(workspace), suite_of(CAT, DOG), outputs, *evaluators))
    assert set(board.cells) == {(model, column.key) for model in boxes for column in board.columns}
    by_name = {column.metric: column.key for column in board.columns}
    assert len(by_name) == len(board.columns)
    best = [board.cells[model, by_name["best_threshold"]] for model in boxes]
    assert [(cell.value, cell.rank) for cell in best] == [(0.75, None), (0.25, None)]
