"""Confusion counts of predicted labels and what follows from them: precision, recall, F-scores, their means, MCC; and
the same of sets of labels, case by case.
"""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints, Singles
from metrics.core.rounding import EQUAL
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import mean_over, ratio

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
    """Return these counts [..., k] of "not this label": of them `label_scores` has NPV as precision, TNR as recall."""
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


AT_ONCE = 1 << 22  # cells of a matrix held at once


class Ranking(NamedTuple):
    """How far up the true labels of each case rank by score, each [n].

    average_precision: mean over true labels of (true labels / labels) that score at least as high, 1 where no label or
    every one is true; coverage: labels down to the lowest true one, 0 without any; loss: the share of pairs of a true
    and a false label that are not in order, ties included, 0 where there is no pair.
    """

    average_precision: Floats
    coverage: Floats
    loss: Floats


def ranking(truth: Bools, scores: Floats) -> Ranking:
    """Return the ranking of `scores` [n, k] where `truth` [n, k] is true; equal to scikit-learn's, ties included."""
    n, k = truth.shape
    case, label = np.nonzero(truth)
    rank, within = np.empty(len(case)), np.empty(len(case))
    step = max(1, AT_ONCE // max(1, k))
    for start in range(0, len(case), step):
        part = slice(start, start + step)
        as_high = scores[case[part]] >= scores[case[part], label[part]][:, None]
        rank[part] = np.count_nonzero(as_high, axis=1)
        within[part] = np.count_nonzero(as_high & truth[case[part]], axis=1)
    true = np.count_nonzero(truth, axis=1)
    pairs = true * (k - true)
    coverage = np.zeros(n)
    np.maximum.at(coverage, case, rank)
    precision = ratio(np.bincount(case, within / np.maximum(rank, 1), n), true, 1.0)
    return Ranking(
        np.where(pairs > 0, precision, 1.0), coverage, ratio(np.bincount(case, rank - within, n), pairs, 0.0)
    )


def resampled_precisions(truth: Bools, scores: Floats, draws: Draws) -> Floats:
    """Return the average precision of each label in the data set and its resamples, [1 + B, k]; NaN without a case.

    AP = Σ over scores of (recall − recall above) · precision, equal scores at once: scikit-learn's.
    """
    found = np.full((len(draws.times), truth.shape[1]), np.nan)
    for code, (true, height) in enumerate(zip(truth.T, scores.T, strict=True)):
        if not true.any():
            continue
        order = np.argsort(-height, kind="stable")
        ordered = height[order]
        ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
        unit, hit = draws.unit[order], true[order]
        step = max(1, AT_ONCE // len(order))
        for start in range(0, len(found), step):
            times: Singles | Floats = draws.times[start : start + step, unit]
            if draws.weights is not None:
                times = times * draws.weights[order]
            tp = np.cumsum(times * hit, axis=1, dtype=np.float64)[:, ends]
            all_ = np.cumsum(times, axis=1, dtype=np.float64)[:, ends]
            gained = np.diff(tp, axis=1, prepend=0.0)
            found[start : start + step, code] = ratio((gained * ratio(tp, all_, 0.0)).sum(axis=1), tp[:, -1])
    return found


def set_f1(truth: Bools, predicted: Bools) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1 of each case's set of labels, each [n]; NaN where 0/0."""
    right = np.count_nonzero(truth & predicted, axis=1)
    true, made = np.count_nonzero(truth, axis=1), np.count_nonzero(predicted, axis=1)
    return ratio(right, made), ratio(right, true), ratio(2 * right, true + made)


def label_counts(truth: Bools, predicted: Bools, draws: Draws) -> tuple[Floats, Floats, Floats]:
    """Return right, predicted and true cases of each label in the data set and its resamples, each [1 + B, k]."""
    k = truth.shape[1]

    def counted(which: Bools) -> Floats:
        case, label = np.nonzero(which)
        return draws.sums(label.astype(np.int64), k, cases=case)

    return counted(truth & predicted), counted(predicted), counted(truth)


def codes_matrix(case: Ints, label: Ints, shape: tuple[int, int]) -> Bools:
    """Return which labels [n, k] each case has, from pairs of their codes; those below 0 are left out."""
    found = np.zeros(shape, bool)
    known = (case >= 0) & (label >= 0)
    found[case[known], label[known]] = True
    return found
