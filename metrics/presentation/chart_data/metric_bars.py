"""Numbers of classes, of kinds of errors and of metrics: their titles, their order, and which make a radar."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

GAIN = "d_ap_"  # prefix of the metrics that say what average precision an error costs
ERROR_TITLES = {
    "classification": "wrong class", "localisation": "poorly placed", "both": "both wrong",
    "duplicate": "found twice", "background": "nothing there", "missed": "missed",
    "false_positives": "all false", "false_negatives": "all missed",
}  # fmt: skip
LEAST_SPOKES, MOST_SPOKES = 3, 8
MOST_METRICS = 3  # of a chart of bars


def can_be_spoke(direction: str, low: float, high: float) -> bool:
    """Return whether a metric has a better end and a finite range to place its values in."""
    return direction != "none" and math.isfinite(high - low)


def worst_first(numbers: pd.DataFrame, direction: str) -> list[str]:
    """Return the names in `numbers` by their mean `value`, the worst first; those without a value last."""
    means = numbers.groupby("name", sort=False)["value"].mean()
    return list(means.sort_values(ascending=direction != "lower", na_position="last", kind="stable").index)
