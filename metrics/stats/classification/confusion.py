"""Confusion counts of predicted labels and what follows from them: precision, recall, F-scores, their means, MCC."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.ratios import mean_over, ratio

Counts = Ints | Floats
AVERAGES = ("macro", "weighted", "micro")


class LabelScores(NamedTuple):
    """Per label, along the last axis; NaN where 0/0."""

    precision: Floats
    recall: Floats
    f1: Floats


class ConfusionCells(NamedTuple):
    """The pairs of a true and a predicted code that occur, by truth, then prediction, and how often: three [c]."""

    truth: Ints
    predicted: Ints
    times: Ints


def confusion_cells(truth: Ints, predicted: Ints, k: int) -> ConfusionCells:
    """Return the cells of paired codes [n]: truths 0 … k − 1, predictions 0 … k, where k is none of the labels."""
    cells, count = np.unique(truth * (k + 1) + predicted, return_counts=True)
    return ConfusionCells(cells // (k + 1), cells % (k + 1), count)


def label_scores(right: Counts, predicted: Counts, truths: Counts) -> LabelScores:
    """Return right / predicted, right / truths and F1 = 2·right / (predicted + truths); NaN where 0/0."""
    return LabelScores(ratio(right, predicted), ratio(right, truths), ratio(2 * right, predicted + truths))


def mean_scores(right: Counts, predicted: Counts, truths: Counts, average: str) -> LabelScores:
    """Return the scores over all labels, [..., k] → [...].

    micro: of the summed counts. macro: the mean over the labels whose score is defined. weighted: the same, weighted by
    the labels' truths. Equal to scikit-learn's with `zero_division=nan`.
    """
    if average == "micro":
        return label_scores(right.sum(axis=-1), predicted.sum(axis=-1), truths.sum(axis=-1))
    weights = np.ones_like(truths) if average == "macro" else truths
    return LabelScores(*(mean_over(values, -1, weights=weights) for values in label_scores(right, predicted, truths)))


def f_beta(right: Counts, predicted: Counts, truths: Counts, beta: float) -> Floats:
    """Return (1 + β²)·right / (predicted + β²·truths): recall weighs β times as much as precision; NaN where 0/0."""
    whole: Floats = np.asarray(predicted + beta**2 * truths, np.float64) / (1 + beta**2)
    return ratio(right, whole)


def complements(right: Counts, predicted: Counts, truths: Counts) -> tuple[Counts, Counts, Counts]:
    """Return the same counts [..., k] of "not this label": `label_scores` of them has NPV as precision, specificity as
    recall.
    """
    cases = truths.sum(axis=-1, keepdims=True)
    return cases - predicted - truths + right, cases - predicted, cases - truths


def matthews(right: Counts, predicted: Counts, truths: Counts) -> Floats:
    """Return Matthews' correlation of true and predicted labels, −1 … 1, [..., k] → [...]; 0 at chance.

        (c·n − Σ p·t) / √((n² − Σ p²)·(n² − Σ t²))

    with c of n cases right, t cases and p predictions of each label; `predicted` [..., k + 1] has those of no label as
    its last. NaN where all cases or all predictions are of one label. Equal to scikit-learn's, which has 0 there.
    Sources: Matthews 1975; Gorodkin 2004, "Comparing two K-category assignments".
    """
    n = truths.sum(axis=-1)
    spreads = [n**2 - (counts * counts).sum(axis=-1) for counts in (predicted, truths)]
    spread = np.where(np.minimum(*spreads) > EQUAL * n**2, spreads[0] * spreads[1], 0.0)
    agreed = right.sum(axis=-1) * n - (predicted[..., :-1] * truths).sum(axis=-1)
    return ratio(agreed, np.sqrt(np.maximum(spread, 0.0)))
