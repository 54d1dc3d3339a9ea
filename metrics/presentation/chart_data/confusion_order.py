"""Which classes a confusion matrix shows, and in which order: legible with two classes and with a thousand."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metrics.presentation.chart_data.confusion_counts import OTHERS, filled, groups

ORDERS: Mapping[str, str] = {"similar": "Confused ones together", "worst": "Most mistakes first", "name": "By name"}
SIZES = (10, 20, 40, 80)  # classes in a matrix; the others are summed as OTHERS
Margins = tuple[str, str] | None


def mistakes_of(counts: pd.DataFrame, margins: Margins = None) -> pd.Series:
    """Return how many mistakes each class is part of, as the truth or as the prediction, most first."""
    counts = filled(counts)
    wrong = counts[counts["label"] != counts["predicted"]]
    sums = wrong.groupby("label")["count"].sum().add(wrong.groupby("predicted")["count"].sum(), fill_value=0)
    every = sorted({*counts["label"], *counts["predicted"]} - set(margins or ()))
    found: pd.Series = sums.reindex(every, fill_value=0).astype(int)
    return found.sort_values(ascending=False, kind="stable")


def chosen_names(
    counts: pd.DataFrame, margins: Margins = None, most: int = 40, order: str = "similar", near: str | None = None
) -> dict[str, str]:
    """Return the name in the matrix of every label: its own, or OTHERS; the margins keep theirs.

    Shown are the `most` classes with most mistakes; or, `near` a class, it and those that it is confused with most.
    By name they are the most frequent ones.
    """
    if near is None and order == "name":
        return groups(counts, margins, most)
    counts = filled(counts)
    if near is None:
        kept = {*mistakes_of(counts, margins).index[:most]}
    else:
        around = counts[((counts["label"] == near) | (counts["predicted"] == near))]
        kept = {near, *mistakes_of(around, margins).index[:most]}
    every = {*counts["label"], *counts["predicted"]} - set(margins or ())
    names = {name: name if name in kept else OTHERS for name in sorted(every)}
    return names | {name: name for name in margins or ()}


def ordered(matrix: pd.DataFrame, order: str, margins: Margins = None) -> pd.DataFrame:
    """Return the matrix with its classes in an order of ORDERS; OTHERS and the margins stay last.

    `similar`: leaves of an average-linkage clustering, ordered so that neighbours are alike; two classes are the more
    alike the larger the share of their objects that is taken for each other.
    """
    last = {OTHERS, *(margins or ())}
    inner = [name for name in dict.fromkeys([*matrix.index, *matrix.columns]) if name not in last]
    if order == "worst":
        inner = _by_mistakes(matrix, inner)
    elif order == "similar":
        inner = _by_similarity(matrix, inner)
    rows = [*(name for name in inner if name in matrix.index), *(name for name in matrix.index if name in last)]
    columns = [*(name for name in inner if name in matrix.columns), *(name for name in matrix.columns if name in last)]
    return matrix.reindex(index=rows, columns=columns)


def _by_mistakes(matrix: pd.DataFrame, names: list[str]) -> list[str]:
    square = matrix.reindex(index=names, columns=names, fill_value=0).to_numpy()
    down, across = (matrix.reindex(index=names, fill_value=0), matrix.reindex(columns=names, fill_value=0))
    wrong = pd.Series(down.sum(axis=1).to_numpy() + across.sum().to_numpy() - 2 * square.diagonal(), names)
    return list(wrong.reindex(names).sort_values(ascending=False, kind="stable").index)


def _by_similarity(matrix: pd.DataFrame, names: list[str]) -> list[str]:
    if len(names) < 3:
        return names
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    totals = matrix.sum(axis=1)
    shares = (
        matrix.div(totals.where(totals > 0, 1), axis=0).reindex(index=names, columns=names, fill_value=0).to_numpy()
    )
    alike = shares + shares.T
    np.fill_diagonal(alike, 0)
    distance = squareform(2 - alike - np.diag(2 - np.diag(alike)), checks=False)
    leaves = leaves_list(optimal_leaf_ordering(linkage(distance, "average"), distance))
    return [names[leaf] for leaf in leaves]
