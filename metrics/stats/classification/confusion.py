"""Confusion counts of predicted labels and what follows from them: precision, recall, F1 and their means."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
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
