"""What the precision–recall curves of classification and of detection share: thresholds, metrics and table."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator, Field

from metrics.core.array_types import Floats, Ints
from metrics.core.evaluator import Metric
from metrics.stats.classification.roc import f1
from metrics.stats.float_tolerance import ratio

ScoreThresholds = Annotated[
    tuple[Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)], ...],
    Field(min_length=1, max_length=1000, description="Score thresholds of the curve, in any order."),
    AfterValidator(lambda values: tuple(sorted(set(values)))),
]  # of which THRESHOLDS are the default
# examples: a JSON list of case ids, or of {suite, case_id, geometry: GeoJSON text} for objects
DETAILED_CURVES = pa.schema(
    {"label": pa.string(), "threshold": pa.float64(), "kind": pa.string(), "count": pa.int64(), "examples": pa.string()}
)


def best_f1_metrics(kinds: str) -> tuple[Metric, Metric]:
    """Return the metrics of a curve over `kinds`: classes, or labels."""
    return (
        Metric(
            "best_f1",
            f"Largest F1 over score thresholds: the mean over {kinds}, at one threshold.",
            primary=True,
            title="Best F1 macro",
        ),
        Metric.neutral("best_threshold", "Score threshold of the largest F1, the lowest of several.", minor=True),
    )


def curve_table(
    labels: Sequence[str],
    thresholds: Sequence[float] | Floats,
    truths: Ints,
    tp: Ints | Floats,
    predicted: Ints | Floats,
    cases: int | None,
) -> pa.Table:
    """Return the curve of each label, a row per threshold. truths: [k]; counts: [k, thresholds]; tn of `cases`."""
    truths = np.broadcast_to(truths[:, None], tp.shape)

    def column(values: Floats) -> pa.Array:
        return pa.array(values.ravel(), from_pandas=True)

    return pa.table(
        {
            "label": pa.array(labels, pa.string()).take(pa.array(np.repeat(np.arange(len(tp)), len(thresholds)))),
            "threshold": np.tile(thresholds, len(tp)),
            "tp": tp.ravel(),
            "fp": (predicted - tp).ravel(),
            "tn": pa.nulls(tp.size, pa.int64()) if cases is None else (cases - truths - predicted + tp).ravel(),
            "fn": (truths - tp).ravel(),
            "precision": column(ratio(tp, predicted)),
            "recall": column(ratio(tp, truths)),
            "f1": column(f1(tp, predicted, truths)),
        }
    )
