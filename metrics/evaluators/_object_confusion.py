"""The confusion matrix of objects as a table, with margins for those without a partner."""

from collections.abc import Sequence

import pyarrow as pa

from metrics.core.array_types import Ints

CURVES = pa.schema([("label", pa.string()), ("predicted", pa.string()), ("count", pa.int64())])
MARGINS = ("hallucination", "missed")  # truth of a prediction without an object; prediction of a missed object


def confusion_names(labels: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Return the names of the truths and of the predictions: the labels, at the end the margin."""
    truths, predicted = (pa.array([*labels, margin(name, labels)], pa.string()) for name in MARGINS)
    return truths, predicted


def confusion_table(counts: Ints, labels: Sequence[str]) -> pa.Table:
    """Return the cells that hold something, of counts [K + 1, K + 1], truth down: label, predicted, count."""
    truths, predicted = confusion_names(labels)
    down, across = counts.nonzero()
    return pa.table([truths.take(pa.array(down)), predicted.take(pa.array(across)), counts[down, across]], CURVES)


def margin(name: str, labels: Sequence[str]) -> str:
    """Return the name of a margin of the matrix: in parentheses where a label has it."""
    while name in labels:
        name = f"({name})"
    return name
