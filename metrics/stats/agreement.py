"""How far raters agree beyond chance: Cohen's κ of two, Krippendorff's α of any number."""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval", "ratio"]


def cohen_kappa(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    labels: Sequence[Hashable] | None = None,
    weights: Literal["none", "quadratic"] = "none",
) -> float | None:
    """Cohen's κ of two raters who labelled the same things: their agreement beyond what their habits alone would give.

        κ = 1 − Σ w·observed / Σ w·expected,  expected = rows × columns / n
        w = 1 off the diagonal ("none"), or (i − j)² of the labels' places ("quadratic")

    From −1 to 1, 0 at chance. `labels` gives the order that the quadratic weights count by, by default ascending. None
    where chance alone would always agree (each rater used the one same label) or nothing was rated. ValueError where
    the lengths differ. Equal to scikit-learn's cohen_kappa_score. Source: Cohen 1960, 1968.

    >>> cohen_kappa("yyynn", "yynnn")
    0.6153846153846154
    """
    if len(left) != len(right):
        raise ValueError(f"two raters of the same things, not of {len(left)} and of {len(right)}")
    order = list(labels) if labels is not None else sorted({*left, *right})  # type: ignore[type-var]
    place = {label: index for index, label in enumerate(order)}
    observed = np.zeros((len(order), len(order)))
    np.add.at(observed, ([place[label] for label in left], [place[label] for label in right]), 1.0)
    total = observed.sum()
    if total == 0:
        return None
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / total
    places = np.arange(len(order), dtype=np.float64)
    apart = places[:, None] - places[None, :]
    weight = apart**2 if weights == "quadratic" else (apart != 0).astype(np.float64)
    chance = float((weight * expected).sum())
    return 1.0 - float((weight * observed).sum()) / chance if chance else None


def krippendorff_alpha(ratings: Sequence[Sequence[float | None]], level: Level = "nominal") -> float | None:
    """Krippendorff's α: agreement beyond chance of any number of raters, some of whose ratings may be missing.

        α = 1 − observed / expected disagreement,  over the coincidences of values within a unit

    `ratings` has a row per rated unit and a column per rater, None where a rater gave none. Two values v, w disagree by
    1 (nominal), (v − w)² (interval), ((v − w) / (v + w))² (ratio), or the square of how many ratings lie between
    them, half of their own included (ordinal). At most 1, 0 at chance. None where no unit has two ratings, or all
    ratings are the same. Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".

    >>> krippendorff_alpha([[1, 1], [2, 2], [1, 2], [2, 2]])
    0.5333333333333333
    """
    rated = [[value for value in row if value is not None] for row in ratings]
    paired = [row for row in rated if len(row) > 1]
    values = np.array(sorted({value for row in paired for value in row}), np.float64)
    if len(values) < 2:
        return None
    counts = np.array([(np.array(row)[:, None] == values).sum(axis=0) for row in paired], np.float64)
    shares = counts / (counts.sum(axis=1, keepdims=True) - 1.0)
    coincidences = counts.T @ shares - np.diag(shares.sum(axis=0))  # of different raters only
    margins = coincidences.sum(axis=1)
    expected = np.outer(margins, margins) - np.diag(margins)
    disagreement = _disagreement(values, margins, level)
    return 1.0 - float((margins.sum() - 1.0) * (coincidences * disagreement).sum() / (expected * disagreement).sum())


def _disagreement(values: FloatArray, margins: FloatArray, level: Level) -> FloatArray:
    """Return how far each value is from each other one (squared)."""
    if level == "ordinal":
        values = margins.cumsum() - margins / 2.0
    apart: FloatArray = values[:, None] - values[None, :]
    if level == "nominal":
        return np.asarray(apart != 0, np.float64)
    if level == "ratio":
        both = values[:, None] + values[None, :]
        apart = np.divide(apart, both, out=np.zeros_like(apart), where=both != 0)
    return np.asarray(apart**2)
