"""Resampling of average precision and recall: whole images are drawn again, nothing is matched again."""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from metrics.vision.arrays import Floats, Ints
from metrics.vision.matching import Matches
from metrics.vision.objects import Objects
from metrics.vision.precision_recall import RECALLS, Ranking, Selection

MOST = 255  # times one cluster can be drawn; a count beyond has no measurable probability
DRAWS_AT_ONCE = 1 << 22
RARE = 10  # resamples: a share of fewer is not known
EQUAL = 1e-9  # differences that are equal on paper differ in their last bits


def draw_weights(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return how often each image occurs in each resample: [B, I]. Clusters (codes 0 … C−1 by image) are drawn C at a
    time.
    """
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    if not count:
        return weights
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, resamples, step):
        drawn = rng.integers(0, count, (min(step, resamples - start), count))
        for place, row in enumerate(drawn, start):  # one by one: its counts stay in the processor's cache
            weights[place] = np.minimum(np.bincount(row, minlength=count), MOST)[clusters]
    return weights


def draw_halves(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return which images each half-sample holds: [B, I] of 0 and 1. Half of the clusters (codes 0 … C−1 by image),
    without replacement; every second half-sample is what the one before leaves.
    """
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    rng = np.random.default_rng(seed)
    for place in range(0, resamples, 2):
        chosen = np.zeros(count, np.uint8)
        chosen[rng.permutation(count)[: count // 2]] = 1
        weights[place : place + 2] = np.stack([chosen, 1 - chosen])[: resamples - place, clusters]
    return weights


def resample(
    objects: Objects,
    matches: Matches,
    ranking: Ranking,
    weights: NDArray[np.uint8],
    *,
    area: int = 0,
    max_dets: int = 100,
    lowest: float = -np.inf,
    precision: bool = True,
) -> tuple[Floats, Floats]:
    """AP and final recall, each [B, K, T], of the data sets in which image i occurs weights[b, i] times.

    Equal to matching and accumulating those data sets anew: matches never cross images, so true and false positives
    are counted with the weight of their image. NaN for a class without ground truth in the resample, and for AP where
    `precision` is off. Predictions below the score `lowest` are left out. Threads share the resamples.
    """
    chosen = ranking.select(area, max_dets, lowest)
    counted = np.flatnonzero(~matches.truth_ignored[area])
    truths = (objects.truth_image[counted], objects.truth_class[counted])
    return resample_selection(chosen, *truths, objects.classes, weights, precision=precision)


def resample_selection(
    chosen: Selection,
    truth_image: Ints,
    truth_class: Ints,
    classes: int,
    weights: NDArray[np.uint8],
    *,
    precision: bool = True,
) -> tuple[Floats, Floats]:
    """As `resample`, of any ranked predictions and any ground truths, those that count: image and class [G]."""
    from metrics.vision.compiled import curves

    by_class = np.argsort(truth_class, kind="stable")
    truth_image = truth_image[by_class]
    truth_starts = np.searchsorted(truth_class[by_class], np.arange(classes + 1))
    shape = (len(weights), classes, len(chosen.states))
    average, recall = np.full(shape, np.nan), np.full(shape, np.nan)

    def fill(part: slice) -> None:
        if precision:
            curves.resampled(
                chosen.miss_image, chosen.miss_starts, chosen.image, chosen.before, chosen.states, chosen.event_starts,
                truth_image, truth_starts, RECALLS, weights[part], average[part], recall[part],
            )  # fmt: skip
        else:
            curves.resampled_recall(
                chosen.image, chosen.states, chosen.event_starts, truth_image, truth_starts,
                weights[part], recall[part],
            )  # fmt: skip

    workers = os.cpu_count() or 1
    edges = np.linspace(0, len(weights), workers + 1).astype(int).tolist()
    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(fill, [slice(*pair) for pair in pairwise(edges)]))
    return average, recall


def paired_difference(apart: float, samples: Floats) -> tuple[float, float, float | None]:
    """Return the basic bootstrap's 95 % interval of a difference `apart`, and its two-sided p, from its resamples [B],
    B ≥ 1.

    p = (1 + #{b : |sample − apart| ≥ |apart|}) / (1 + B): how often resampling alone moves the difference as far as it
    lies from 0. Where fewer than RARE resamples do, the normal tail by their standard deviation if that is less: B
    resamples cannot show a p that a correction for many tests would leave standing. None where no resample shows any
    difference, as of equal models. Source: Davison & Hinkley, Bootstrap Methods and their Application, 1997, ch. 4.4
    and 5.2.

    >>> paired_difference(0.1, np.array([-0.1, 0.1, 0.3]))[2]
    0.75
    """
    if apart == 0 and not samples.any():
        return 0.0, 0.0, None
    high, low = 2 * apart - np.quantile(samples, [0.025, 0.975])
    moved = np.count_nonzero(np.abs(samples - apart) >= abs(apart) * (1 - EQUAL))
    p = float((1 + moved) / (1 + len(samples)))
    error = float(samples.std())
    if moved < RARE and error > EQUAL:
        p = min(p, math.erfc(abs(apart) / error / math.sqrt(2)))
    return float(low), float(high), p
