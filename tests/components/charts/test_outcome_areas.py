"""Stacked counts by threshold and the examples behind them."""

import json

import pandas as pd
import pytest

from components.charts import outcome_areas

ROWS = pd.DataFrame(
    [
        (series, label, threshold, kind, count, json.dumps([f"{label}-{kind}"] if count else []))
        for series in ("ann", "ben")
        for label in ("cat", "dog")
        for threshold in (0.25, 0.5)
        for kind, count in (("tp", 3), ("tn", 90), ("fn_no_prediction", 1), ("fp_misclassification", 2))
    ],
    columns=["series", "label", "threshold", "kind", "count", "examples"],
)


def test_true_negatives_are_left_out() -> None:
    assert outcome_areas.kinds_in(ROWS) == ["tp", "fn_no_prediction", "fp_misclassification"]


def test_what_is_false_stands_below_the_line() -> None:
    figure = outcome_areas.outcomes_figure(ROWS, 0.5)
    heights = {(bar.customdata[0][0], bar.customdata[0][1]): list(bar.y) for bar in figure.data}
    assert heights["ann", "tp"] == [6, 6]
    assert heights["ben", "fp_misclassification"] == [-4, -4]
    assert len(heights) == 6


def test_outcomes_of_one_family_have_marks_of_their_own() -> None:
    kinds = {"fp_misclassification": 2, "fp_hallucination": 1}
    rows = pd.DataFrame([("ann", "cat", 0.5, kind, count, "[]") for kind, count in kinds.items()], columns=ROWS.columns)
    bars = outcome_areas.outcomes_figure(rows, 0.5).data
    assert len({bar.marker.pattern.shape for bar in bars}) == 2


def test_the_bar_at_the_threshold_is_full() -> None:
    bar = outcome_areas.outcomes_figure(ROWS, 0.45).data[0]
    assert list(bar.marker.opacity) == [outcome_areas.PALE, 1.0]
    assert bar.customdata[1] == ["ann", "tp", 0.5]


@pytest.mark.parametrize(
    "wrap", [str, lambda case: {"suite": "s", "case_id": case, "geometry": "{}"}], ids=["classification", "detection"]
)
def test_examples(wrap: object) -> None:
    rows = pd.DataFrame(
        {
            "label": ["cat", "dog", "owl"], "kind": ["tp", "tp", "fp_hallucination"], "count": [1, 5, 2],
            "examples": [json.dumps([wrap(name) for name in names]) for names in (["a"], ["b", "c"], ["d"])],  # type: ignore[operator]
        }
    )  # fmt: skip
    found = outcome_areas.examples_behind(rows, "tp")
    assert found.to_dict("list") == {"case_id": ["b", "c", "a"], "label": ["dog", "dog", "cat"]}


def test_no_rows_make_an_empty_figure() -> None:
    assert len(outcome_areas.outcomes_figure(ROWS.head(0), 0.5).data) == 0
