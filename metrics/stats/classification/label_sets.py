"""Sets of labels and scores of all labels, case by case: what multilabel classification is measured by."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints, Singles
from metrics.stats.bootstrap_draws import Draws
from metrics.stats.ratios import ratio

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
