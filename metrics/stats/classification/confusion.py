"""Confusion counts of predicted labels and what follows from them: precision, recall, F1, their means and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.stats.draws import counted

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
AVERAGES = ("macro", "weighted", "micro")
DRAWS_AT_ONCE = 1 << 21


class LabelScores(NamedTuple):
    """Per label, along the last axis; NaN where 0/0."""

    precision: Floats
    recall: Floats
    f1: Floats


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each true label met each predicted one: the cells with a count, by truth, then prediction.

    `truth` and `predicted` [c] are codes 0 … k−1 of `k` labels; a prediction of k is none of them. `count` [c] > 0.
    """

    truth: Ints
    predicted: Ints
    count: Ints
    k: int

    @classmethod
    def of(cls, truth: Sequence[int] | Ints, predicted: Sequence[int] | Ints, k: int) -> "Confusion":
        """Return the confusion of paired codes, one pair a case."""
        keys = np.asarray(truth, dtype=np.int64) * (k + 1) + np.asarray(predicted, dtype=np.int64)
        cells, count = np.unique(keys, return_counts=True)
        return cls(cells // (k + 1), cells % (k + 1), count.astype(np.int64), k)

    @property
    def n(self) -> int:
        """Cases."""
        return int(self.count.sum())

    def outcomes(self, count: Ints | None = None) -> tuple[Ints, Ints, Ints]:
        """True positives, predictions and truths of each label, three [..., k]; of other cell counts where given."""
        count = self.count if count is None else count
        right = self.truth == self.predicted
        return (
            counted(count[..., right], self.truth[right], self.k),
            counted(count, self.predicted, self.k + 1)[..., : self.k],
            counted(count, self.truth, self.k),
        )


def label_scores(right: Ints, predicted: Ints, truths: Ints) -> LabelScores:
    """Return right / predicted, right / truths and F1 = 2·right / (predicted + truths); NaN where 0/0."""
    return LabelScores(_ratio(right, predicted), _ratio(right, truths), _ratio(2 * right, predicted + truths))


def mean_scores(right: Ints, predicted: Ints, truths: Ints, average: str) -> LabelScores:
    """Return the scores over all labels, [..., k] → [...].

    micro: of the summed counts. macro: the mean over the labels whose score is defined. weighted: the same, weighted by
    the labels' truths. Equal to scikit-learn's with `zero_division=nan`.
    """
    if average == "micro":
        return label_scores(right.sum(axis=-1), predicted.sum(axis=-1), truths.sum(axis=-1))
    weights = np.ones_like(truths) if average == "macro" else truths
    means = []
    for values in label_scores(right, predicted, truths):
        known = ~np.isnan(values)
        means.append(_ratio(np.where(known, values * weights, 0.0).sum(axis=-1), (known * weights).sum(axis=-1)))
    return LabelScores(*means)


def resampled(confusion: Confusion, seed: int = 0, resamples: int = 1000) -> tuple[Floats, dict[str, LabelScores]]:
    """Return F1 of each label [resamples, k] and the mean scores [resamples] by average in resamples of the cases.

    Drawing n cases with replacement draws the cells' counts from a multinomial: the cost is in cells, not cases.
    """
    rng = np.random.default_rng(seed)
    shares = confusion.count / confusion.n
    step = max(1, DRAWS_AT_ONCE // (len(shares) + confusion.k))
    f1: list[Floats] = []
    means: dict[str, list[LabelScores]] = {average: [] for average in AVERAGES}
    for start in range(0, resamples, step):
        outcomes = confusion.outcomes(rng.multinomial(confusion.n, shares, min(step, resamples - start)))
        f1.append(label_scores(*outcomes).f1)
        for average, parts in means.items():
            parts.append(mean_scores(*outcomes, average))
    joined = {average: LabelScores(*map(np.concatenate, zip(*parts, strict=True))) for average, parts in means.items()}
    return np.concatenate(f1), joined


def _ratio(part: NDArray[np.int64] | Floats, whole: NDArray[np.int64] | Floats) -> Floats:
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    ratio: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return ratio
