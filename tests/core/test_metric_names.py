"""Names of metrics for people."""

from typing import NamedTuple

import pytest

from metrics.core.metric_names import column_name, full_name, in_words, metric_name
from metrics.core.registry import evaluators


class Column(NamedTuple):
    """A column as a report has it."""

    evaluator: str
    evaluator_title: str
    title: str


@pytest.mark.parametrize(("code", "expected"), [
    ("best_f1", "Best F1"), ("rougeL", "ROUGE-L"), ("rougeLsum", "ROUGE-Lsum"), ("rouge1_f1", "ROUGE-1 F1"),
    ("bleu4", "BLEU-4"), ("map_averaged", "mAP averaged"), ("AP50", "AP50"), ("AR_100", "AR@100"),
    ("boundary_iou", "Boundary IoU"), ("miou", "mIoU"), ("precision_at_3", "Precision@3"), ("roc_auc", "ROC AUC"),
    ("d_ap_missed", "ΔAP missed"), ("tp", "True positives"), ("fn_no_prediction", "FN no prediction"),
    ("unique_sentences", "Unique sentences"), ("_", "_"), ("", ""),
    ("cv_of_rouge:rougeL", "CV of ROUGE-L"), ("metric_number_7", "Metric number 7"),
])  # fmt: skip
def test_a_code_in_words(code, expected):
    assert in_words(code) == expected


@pytest.mark.parametrize(("metric", "evaluator", "expected"), [
    pytest.param("longest_repeated_substring", "looping_detection", "Longest repeat", id="declared"),
    pytest.param("longest_repeated_substring", None, "Longest repeated substring", id="without-evaluator"),
    pytest.param("hallucination_hhem", "hallucination_hhem", "Hallucination: HHEM", id="like-its-evaluator"),
    pytest.param("own_metric", "gone_since", "Own metric", id="unknown-evaluator"),
])  # fmt: skip
def test_a_metric(metric, evaluator, expected):
    assert metric_name(metric, evaluator) == expected


@pytest.mark.parametrize(("column", "short", "full"), [
    (Column("rouge", "ROUGE", "rougeL"), "ROUGE-L", "ROUGE-L"),
    (Column("classification", "Classification", "f1"), "F1", "Classification: F1"),
    (
        Column("average_precision", "Average precision", "ap iou 0.5 score_threshold 0.3"),
        "AP IoU 0.5 score threshold 0.3", "Average precision: AP IoU 0.5 score threshold 0.3",
    ),
    (Column("classification", "Classification", "f1 My_key"), "F1 My_key", "Classification: F1 My_key"),
], ids=["rouge", "f1", "own-columns", "label-key"])  # fmt: skip
def test_a_column(column, short, full):
    assert (column_name(column), full_name(column)) == (short, full)


def test_no_two_metrics_of_an_evaluator_share_a_name():
    for entry in evaluators().values():
        names = [metric_name(metric.name, entry.id) for metric in entry.metrics]
        assert len(set(names)) == len(names), entry.id
