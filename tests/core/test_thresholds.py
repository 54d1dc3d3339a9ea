"""Thresholds of any metric: in force everywhere, refused where they make no sense."""

import pytest

from metrics import analysis
from metrics.core.errors import InputError
from metrics.core.registry import choose, evaluators
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.mark.parametrize(("given", "thresholds"), [
    pytest.param({}, {"rougeL": None, "rouge1": None}, id="defaults"),
    pytest.param({"threshold": 0.4}, {"rougeL": 0.4, "rouge1": None}, id="the-primary-metric"),
    pytest.param({"thresholds": {"rouge1": 0.2}}, {"rougeL": None, "rouge1": 0.2}, id="another-metric"),
    pytest.param(
        {"threshold": 0.4, "thresholds": {"rougeL": 0.3}}, {"rougeL": 0.3, "rouge1": None}, id="by-name-goes-first"
    ),
])  # fmt: skip
def test_thresholds_in_force(given, thresholds):
    entry, _ = choose(["rouge"], {"rouge": given})["rouge"]
    assert {name: entry.metric(name).threshold for name in thresholds} == thresholds


def test_minor_unknown_and_infinite_ones():
    assert evaluators()["rubric"].metric("completeness").minor
    entry, _ = choose(["rubric"], {"rubric": {"thresholds": {"completeness": 0.6}}})["rubric"]
    assert [metric.name for metric in entry.metrics if not metric.minor] == ["rubric", "passed", "completeness"]
    assert entry.metric("source_quality").minor
    with pytest.raises(InputError, match="finite number"):
        choose(["rouge"], {"rouge": {"thresholds": {"rouge1": float("inf")}}})
    with pytest.raises(InputError) as failure:
        choose(["rouge"], {"rouge": {"thresholds": {"rougeX": 0.2, "rougeY": 1}}})
    assert [(one.found, one.column) for one in failure.value.problems] == [
        ("'rougeX'", "rouge.thresholds"), ("'rougeY'", "rouge.thresholds"),
    ]  # fmt: skip
    assert failure.value.problems[0].expected.startswith("one of rouge1, rouge2, rougeL, rougeLsum (did you mean ")


@pytest.fixture
def strict(workspace):
    return finished(
        Workspace(), text_suite(), text_outputs(), "rouge", parameters={"rouge": {"thresholds": {"rouge2": 0.99}}}
    )


def test_problems_cases_and_leaderboard_use_it(strict):
    column = next(one for one in analysis.leaderboard(strict).columns if one.metric == "rouge2")
    assert (column.threshold, column.minor) == (0.99, False)
    found = analysis.problems(strict)
    rows = found[found["metric"] == "rouge2"]
    values = strict.aggregates.query("metric == 'rouge2' and slice.isna()").set_index("model")["value"]
    assert set(rows["model"]) == set(values.index[values < 0.99])
    assert rows["message"].str.endswith("below the threshold 0.99 (your own)").all()
    behind = analysis.cases(strict, "rouge", "rouge2", failing=True).rows
    scores = strict.scores.query("metric == 'rouge2'")
    assert len(behind) == (scores["value"] < 0.99).sum()


OPEN_SCALES = {  # the value is good or bad only beside another one
    "ap_by_bin", "average_precision", "average_recall", "bleu", "boundary_ap", "chrf", "coco_summary",
    "consistency_rouge", "corpus_bleu", "corpus_error_rate", "cost", "detection_confusion", "detection_pr_curve",
    "detection_pr_curve_detailed",
    "edit_distance", "error_breakdown", "keypoint_summary", "latency", "lvis_summary", "meteor", "multiple_choice",
    "open_images_ap", "oriented_ap", "own_scores", "panoptic_quality", "ranking", "regression", "rouge",
    "segmentation_iou", "selective_accuracy", "ter", "token_f1", "tokens", "voc_ap",
}  # fmt: skip


def test_only_metrics_whose_scale_is_open_are_without_a_default():
    """Law: every other metric with a direction and a range has one, unless local weights or a statistic decide."""
    without = {
        id
        for id, entry in evaluators().items()
        if all(metric.threshold is None for metric in entry.metrics)
        and entry.primary.direction.value != "none"
        and not entry.local_models(entry.parameters())
    }
    assert without == OPEN_SCALES
