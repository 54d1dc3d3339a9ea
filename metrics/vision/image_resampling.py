"""Resampling of average precision and recall: whole images are drawn again, nothing is matched again."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from metrics.stats.student_t import Z95
from metrics.vision.matching import Matches
from metrics.vision.objects import Floats, Ints, Objects
from metrics.vision.precision_recall import RECALLS, Ranking, Selection

BIAS = 4 / 3  # of what a value of half the data lies too high, what one of all of it does, where that falls as n^-0.8


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


def half_sample_interval(value: Floats, samples: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % interval of `value` […] within 0 … 1 from its `samples` [B, …] of `draw_halves`; none give NaN.

    AP is biased upwards on few images, more so on half of them: the value is corrected by BIAS times what the mean of
    the samples lies above it. Half-samples spread about their mean as much as the value does about the truth; their
    variance s² is taken to fall towards 0 and 1 as p·(1 − p) does: the ends solve (corrected − p)² = 1.96²·φ·p·(1 − p),
    φ = s² at the corrected value, and the value lies within. NaN samples are left out.

    Resamples with replacement tell half of that bias: of a true mAP of 20 labels the basic bootstrap interval held 84 %
    from 300 images, these intervals 94 % (`python -m tests.benchmarks.bench_coverage`). Below some 40 ground truths a
    label they promise too much: 88 % at 15. Source: Politis, Romano & Wolf, Subsampling, 1999; Wilson 1927.
    """
    known = np.count_nonzero(~np.isnan(samples), axis=0)
    total = np.nansum(samples, axis=0)
    mean = np.divide(total, known, out=np.full(np.shape(value), np.nan), where=known > 0)
    squares = np.nansum((samples - mean) ** 2, axis=0)
    squared = np.divide(squares, known, out=np.full(np.shape(value), np.nan), where=known > 0)
    corrected = np.clip(value - BIAS * (mean - value), 0.0, 1.0)
    phi = squared / np.maximum(corrected * (1 - corrected), np.maximum(squared, np.finfo(np.float64).tiny))
    k = Z95 * Z95 * phi
    reach = np.sqrt(k * k + 4 * k * corrected * (1 - corrected))
    low, high = ((2 * corrected + k + sign * reach) / (2 * (1 + k)) for sign in (-1.0, 1.0))
    return np.minimum(np.maximum(low, 0.0), value), np.maximum(np.minimum(high, 1.0), value)
