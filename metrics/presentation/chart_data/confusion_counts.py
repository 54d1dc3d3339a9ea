"""The confusion matrix as numbers: which classes it shows and in which order, counts, shares, frequent mistakes.

A table of counts has `label` (the truth), `predicted` and `count`. Of detections the last row counts predictions where
there is no object, the last column missed objects: the margins.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

OTHERS = "(others)"
NONE = "(none)"  # an absent label
MARGINS = ("background", "missed")  # truth of a prediction without an object; prediction of a missed object
OLD_ROW = "hallucination"  # in runs of earlier versions
MOST_LABELS = 40  # classes in a matrix; the others are summed as OTHERS
LEAST_SCALE = 0.25  # share of a mistake that gets the full colour, unless one has more
ORDERS: Mapping[str, str] = {"similar": "Confused ones together", "worst": "Most mistakes first", "name": "By name"}
SIZES = (10, 20, 40, 80)  # classes in a matrix; the others are summed as OTHERS
Margins = tuple[str, str] | None


def margins_of(counts: pd.DataFrame) -> tuple[str, str]:
    """Return the names of a detection matrix's margins: in parentheses where a class has the same name."""
    row, column = MARGINS
    if {OLD_ROW, row} & set(counts["label"]) == {OLD_ROW}:
        row = OLD_ROW
    while f"({row})" in set(counts["label"]):
        row = f"({row})"
    while f"({column})" in set(counts["predicted"]):
        column = f"({column})"
    return row, column


def groups(counts: pd.DataFrame, margins: tuple[str, str] | None = None, most: int = MOST_LABELS) -> dict[str, str]:
    """Return the name of each label in the matrix: its own, or OTHERS beyond the `most` frequent ones."""
    counts = filled(counts)
    frequency = counts.groupby("label")["count"].sum().add(counts.groupby("predicted")["count"].sum(), fill_value=0)
    frequency = frequency.drop(list(margins or ()), errors="ignore")
    kept = set(frequency.sort_values(ascending=False, kind="stable").index[:most])
    names = {name: name if name in kept else OTHERS for name in frequency.index}
    return names | {name: name for name in margins or ()}


def confusion_matrix(
    counts: pd.DataFrame,
    margins: tuple[str, str] | None = None,
    most: int = MOST_LABELS,
    names: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return counts with true labels as rows and predicted labels as columns, by name; OTHERS and the margins last.

    `names` is the name of every label in the matrix, by default that of `groups`.
    """
    names = groups(counts, margins, most) if names is None else names
    counts = filled(counts)
    counts = counts.assign(label=counts["label"].map(names), predicted=counts["predicted"].map(names))
    matrix = counts.pivot_table(index="label", columns="predicted", values="count", aggfunc="sum", fill_value=0)
    ordered = sorted(set(names.values()) - set(margins or ()), key=lambda name: (name == OTHERS, name))
    rows = [name for name in ordered if name in matrix.index or margins]
    columns = [name for name in ordered if name in matrix.columns or name in rows]
    if margins:
        rows, columns = [*rows, margins[0]], [*columns, margins[1]]
    return matrix.reindex(index=rows, columns=columns, fill_value=0)


def cell_shares(counts: Sequence[Sequence[int]], margins: bool) -> list[list[float]]:
    """Return each cell's share of its row, in the row of a margin of its column; 0 where there is nothing to share."""
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    if margins:
        columns = [sum(column) for column in zip(*counts, strict=True)]
        shares[-1] = [count / max(1, total) for count, total in zip(counts[-1], columns, strict=True)]
    return shares


def right_cells(rows: Sequence[str], columns: Sequence[str]) -> list[list[bool]]:
    """Return which cells count right predictions: the true label is the predicted one."""
    return [[row == column for column in columns] for row in rows]


def full_share(shares: Sequence[Sequence[float]], right: Sequence[Sequence[bool]]) -> float:
    """Return the share at which a mistake gets the full colour."""
    pairs = zip(shares, right, strict=True)
    return max([LEAST_SCALE, *(s for row, cells in pairs for s, ok in zip(row, cells, strict=True) if not ok)])


def confusions(counts: pd.DataFrame, margins: tuple[str, str] | None = None, most: int = 8) -> pd.DataFrame:
    """Return the most frequent mistakes between classes: label, predicted, count, share of the label's objects."""
    counts = filled(counts)
    totals = counts.groupby("label")["count"].sum()
    inner = ~counts["label"].isin(margins or ()) & ~counts["predicted"].isin(margins or ())
    wrong = counts[inner & (counts["label"] != counts["predicted"])]
    found = wrong.assign(share=wrong["count"] / totals.reindex(wrong["label"]).to_numpy())
    columns = ["label", "predicted", "count", "share"]
    return found.sort_values("count", ascending=False, kind="stable").head(most)[columns]


def shares(counts: pd.DataFrame, margins: tuple[str, str]) -> dict[str, tuple[float | None, int]]:
    """Return detection_confusion's four shares of all objects, each with the number it is a share of; None of 0."""
    falsely, missing = counts["label"] == margins[0], counts["predicted"] == margins[1]
    sums = [int(counts.loc[rows, "count"].sum()) for rows in (falsely, missing, ~falsely & ~missing)]
    right = int(counts.loc[(counts["label"] == counts["predicted"]), "count"].sum())
    alone, missed, met = sums
    parts = {
        "agreement": (right, met + alone + missed), "confused": (met - right, met),
        "hallucinated": (alone, met + alone), "missed": (missed, met + missed),
    }  # fmt: skip
    return {name: (part / whole if whole else None, whole) for name, (part, whole) in parts.items()}


def filled(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the counts with NONE in place of absent labels."""
    return counts.assign(label=counts["label"].fillna(NONE), predicted=counts["predicted"].fillna(NONE))


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
