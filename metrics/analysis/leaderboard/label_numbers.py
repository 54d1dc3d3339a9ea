"""Numbers per class, and the curves of a run: which evaluators have them, with a name for each line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd


def curves(run: Run, evaluator: str) -> pd.DataFrame:
    """Return the curves of an evaluator and `series`, the name of a line: the model, and the repeat if it has several.

    Empty where the run has none of that evaluator.
    """
    frame = run.curves(evaluator)
    several = frame.groupby("model")["run"].transform("nunique") > 1
    return frame.assign(series=frame["model"].where(~several, frame["model"] + " #" + frame["run"].astype(str)))


def curve_columns(run: Run) -> dict[str, tuple[str, ...]]:
    """Return the evaluators of a run that have curves, and the columns of these."""
    tables = {name: run.stored(f"curves/{name}") for name in run.curve_names()}
    return {name: tuple(table.columns) for name, table in tables.items() if table is not None}


def label_metrics(run: Run) -> dict[str, tuple[str, ...]]:
    """Return the evaluators of a run that have a number per class, and which metrics these are, as declared."""
    names = ["evaluator", "metric", "label", "slice", "value", "columns"]
    rows = run.stored_table("aggregates", names)  # neither by DuckDB nor a dataset's filter: the first page asks
    of_class = pc.and_(pc.and_(rows["label"].is_valid(), rows["slice"].is_null()), rows["value"].is_valid())
    of_class = pc.and_not(of_class, pc.match_substring(rows["columns"], '"predicted"'))
    have = set(zip(*(rows[name].filter(of_class).to_pylist() for name in names[:2]), strict=True))
    found: dict[str, tuple[str, ...]] = {}
    for name in run.evaluators:
        entry = run.evaluator(name)
        metrics = tuple(metric.name for metric in entry.metrics if (name, metric.name) in have) if entry else ()
        if metrics:
            found[name] = metrics
    return found


def label_numbers(run: Run, evaluator: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the numbers of these metrics per class and over all classes (label null).

    Columns: series (see `curves`; of several repeats also their mean, as the model), model, metric, label, variant,
    value, low, high, n, columns (the metric's own, a dict); `variant` names the own columns in which rows of a metric
    differ: `iou 0.5`.
    """
    import pandas as pd

    rows = run.query(
        """SELECT CASE WHEN run IS NULL THEN model ELSE model || ' #' || run END AS series, model, metric, label, value,
                  low, high, n, columns FROM aggregates
           WHERE evaluator = ? AND list_contains(?, metric) AND slice IS NULL""",
        [evaluator, list(metrics)],
    )
    own = [{name: value for name, value in json.loads(text).items() if value is not None} for text in rows["columns"]]
    varied = {
        name
        for name in {name for columns in own for name in columns}
        if len({columns[name] for columns in own if name in columns}) > 1
    }
    variants = [", ".join(f"{name} {columns[name]}" for name in columns if name in varied) for columns in own]
    return rows.assign(variant=variants, columns=pd.Series(own, rows.index, object))
