"""What is said beside a number about its threshold, and about what it is worth."""

from typing import Any

import pytest

from metrics.analysis import Column
from metrics.core.calibration import Calibration
from metrics.presentation.guarantee_words import footnotes, threshold_lines, warning

GOOD = Calibration(
    "groundedness", 3, "groundedness", {"embedder": "a" * 64}, 0.4, 120, 70, "labels of “good”", 0.71, 0.62, 0.8, 0.66
)
UNFIT = Calibration(
    "groundedness", 3, "groundedness", {"embedder": "a" * 64}, None, 120, 70, "labels of “good”", 0.48, 0.4, 0.56
)


def column(**given: Any) -> Column:
    fields = {
        "key": "groundedness/groundedness", "evaluator": "groundedness", "evaluator_title": "Groundedness",
        "family": "grounding", "metric": "groundedness", "title": "groundedness", "description": "", "low": -1.0,
        "direction": "higher", "high": 1.0, "threshold": None, "unit": "", "primary": True, "minor": False,
        "by_model": True,
    }  # fmt: skip
    return Column(**fields | given)


HOW = "Calibrate it on at least 30 labels: page Agreement, or python -m metrics calibrate."
AREA = "AUC 0.480 (0.400–0.560) on 120 labels"


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({}, ["No threshold for this model: neither passed nor failed.", HOW]),
        ({"by_model": False}, []),
        ({"by_model": False, "threshold": 0.75}, ["Threshold ≥ 0.75"]),
        (
            {"threshold": 0.4, "calibration": GOOD},
            [
                "Threshold ≥ 0.4, calibrated for this model: AUC 0.710 (0.620–0.800) on 120 labels, "
                "balanced accuracy 0.660 on held-out labels",
                "Labels: labels of “good”",
            ],
        ),
        ({"threshold": 0.9, "calibration": GOOD}, ["Threshold ≥ 0.9"]),  # the user's own
        (
            {"calibration": UNFIT},
            [f"⚠ Hardly tells good from bad with this model: {AREA}; 0.5 is chance", "Labels: labels of “good”"],
        ),
        (
            {"threshold": 0.9, "calibration": UNFIT},
            ["Threshold ≥ 0.9", f"⚠ Hardly tells good from bad with this model: {AREA}; 0.5 is chance"],
        ),
    ],
    ids=["none", "no model", "declared", "calibrated", "given", "unfit", "unfit and given"],
)
def test_the_header_says_where_a_threshold_comes_from(given, lines):
    assert threshold_lines(column(**given)) == lines


def test_footnotes_name_what_is_unfit_and_what_has_no_threshold():
    shown = [column(), column(calibration=UNFIT, evaluator_title="Other"), column(threshold=0.4, calibration=GOOD)]
    assert footnotes(shown) == [
        f"Other: Groundedness (likeness): {warning(shown[1])}.",
        f"No threshold for this model, so neither passed nor failed: Groundedness (likeness). {HOW}",
    ]
    assert footnotes([column(by_model=False)]) == []
