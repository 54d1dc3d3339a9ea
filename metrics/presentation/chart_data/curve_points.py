"""Points of curves: rows at a threshold, means over labels, the best threshold; measures at ranks, as recall_at_5.

A table of points has `series` (the model, as shown), `label`, and the columns of its evaluator: `threshold`, `tp`,
`fp`, `fn`, `precision`, `recall`, `f1` …
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from metrics.core.array_types import Floats

if TYPE_CHECKING:
    import pandas as pd

GRID = np.linspace(0.0, 1.0, 101)  # where curves of several labels are averaged
ALL = "all classes"
COUNTS, RATES = ["tp", "fp", "fn"], ["precision", "recall", "f1"]
CUTOFF = re.compile(r"(.+)_at_(\d+)")
ORDER = ("ndcg", "recall", "precision", "hit_rate")  # of the usual measures; others follow


def nearest(values: Sequence[float], wanted: float) -> float:
    """Return the one of `values` closest to `wanted`; of two equally close ones the smaller."""
    return min(sorted(values), key=lambda value: abs(value - wanted))


def at_threshold(points: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the rows at the threshold closest to the given one."""
    if points.empty:
        return points
    return points[points["threshold"] == nearest(points["threshold"].unique().tolist(), threshold)]


def pooled(points: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the counts of `labels` summed per series and threshold, with precision, recall and F1 (micro average)."""
    chosen = points[points["label"].isin(labels)]
    sums = chosen.groupby(["series", "threshold"], sort=False)[COUNTS].sum().reset_index()
    sums["label"] = ALL
    positive, present = sums["tp"] + sums["fp"], sums["tp"] + sums["fn"]
    sums["precision"] = (sums["tp"] / positive).where(positive > 0)
    sums["recall"] = (sums["tp"] / present).where(present > 0)
    both = sums["tp"] + positive + sums["fn"]
    sums["f1"] = (2 * sums["tp"] / both).where(both > 0)
    return sums


def worst_first(points: pd.DataFrame) -> list[str]:
    """Return the labels of a table of points, those that the models do worst on first.

    By the highest F1 of each model where the points have it, else by mean precision; a label without either comes last.
    """
    by = points.groupby(["label", "series"], sort=False)
    value = by["f1"].max() if "f1" in points else by["precision"].mean()
    return list(value.groupby("label", sort=False).mean().sort_values(kind="stable", na_position="last").index)


def mean_ranks(points: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return interpolated precision over recall averaged over labels, under the label `name`: its area is the mAP."""
    return points.groupby(["series", "recall"], sort=False)["precision"].mean().reset_index().assign(label=name)


def mean_curve(points: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return a curve of rates averaged over the labels at GRID; a single label's as it is.

    Precision at a recall is the highest at that recall or a higher one, 0 beyond the last; the area is then the mAP.
    Other curves run in straight lines between their points.
    """
    import pandas as pd  # not sooner: the first page asks `measures`

    points = points.dropna(subset=[x, y]).sort_values([x, y], ascending=[True, y != "precision"], kind="stable")
    if points["label"].nunique() < 2:
        return points[["series", x, y]]
    rows: dict[Hashable, list[Floats]] = {}
    for (series, _), own in points.groupby(["series", "label"], sort=False):
        at, values = own[x].to_numpy(float), own[y].to_numpy(float)
        if y == "precision":
            best = np.append(np.maximum.accumulate(values[::-1])[::-1], 0.0)
            rows.setdefault(series, []).append(best[np.searchsorted(at, GRID - 1e-9)])
        else:
            rows.setdefault(series, []).append(np.interp(GRID, at, values))
    return pd.concat(
        [pd.DataFrame({"series": series, x: GRID, y: np.mean(own, axis=0)}) for series, own in rows.items()]
    )


def mean_f1(points: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return F1, precision and recall averaged over labels (macro), without undefined ones, under the label `name`."""
    grouped = points.groupby(["series", "threshold"], sort=False)
    counts, means = grouped[COUNTS].sum(), grouped[RATES].mean()
    return counts.join(means).reset_index().assign(label=name)


def best_threshold(points: pd.DataFrame) -> pd.DataFrame:
    """Return the row of the highest F1 per label and series, the lowest threshold of several; no undefined ones."""
    scored = points.dropna(subset=["f1"]).sort_values(["f1", "threshold"], ascending=[False, True], kind="stable")
    return scored.drop_duplicates(["label", "series"]).set_index(["label", "series"])


def filled_bins(bins: pd.DataFrame, series: str) -> pd.DataFrame:
    """Return the bins of a reliability diagram that hold predictions of a series, by rising score."""
    return bins[bins["series"].eq(series) & (bins["n"] > 0)].sort_values("bin_low", kind="stable")


def measures(metrics: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the measures that metrics give at several ranks: measure → rank → metric, by rising rank."""
    found: dict[str, dict[int, str]] = {}
    for name in metrics:
        if match := CUTOFF.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = name
    several = sorted(
        (name for name, own in found.items() if len(own) > 1),
        key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER),
    )
    return {name: dict(sorted(found[name].items())) for name in several}


def points(numbers: pd.DataFrame, chosen: dict[str, dict[int, str]]) -> pd.DataFrame:
    """Return the rows of `numbers` with these metrics, with the measure as `label` and the rank as `k`, by rank."""
    places = {metric: (measure, k) for measure, own in chosen.items() for k, metric in own.items()}
    rows = numbers[numbers["metric"].isin(list(places)) & numbers["value"].notna()]
    named = [places[metric] for metric in rows["metric"]]
    rows = rows.assign(label=[measure for measure, _ in named], k=[k for _, k in named])
    return rows.sort_values(["label", "k"], key=lambda column: column.map(list(chosen).index) if column.name == "label"
                            else column, kind="stable")  # fmt: skip
