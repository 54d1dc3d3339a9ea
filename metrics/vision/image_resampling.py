"""Resampling of average precision and recall: whole images are drawn, nothing is matched again."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s
from metrics.vision.precision_recall import RECALLS, Ranking, Selection

LANES = 32  # resamples that a thread takes at once


def resample(
    ranking: Ranking,
    weights: Bytes,
    *,
    area: int = 0,
    max_dets: int = 100,
    lowest: float = -np.inf,
    precision: bool = True,
    recalls: Floats = RECALLS,
) -> tuple[Floats, Floats]:
    """Return AP and final recall, each [B, K, T], of the data sets in which image i occurs weights[b, i] times.

    Equal to matching and accumulating those data sets: matches never cross images, so true and false positives
    are counted with the weight of their image. NaN for a class without ground truth in the resample, and for AP where
    `precision` is off. AP is the mean over `recalls` of the interpolated precision, with none of them the area under
    its curve. Predictions below the score `lowest` are left out. Threads share the resamples.
    """
    counted = ~ranking.truth_ignored[area]
    truths = (ranking.truth_image[counted], ranking.truth_class[counted])
    chosen = ranking.select(area, max_dets, lowest)
    classes = len(ranking.class_starts) - 1
    return resample_selection(chosen, *truths, classes, weights, precision=precision, recalls=recalls)


def resample_selection(
    chosen: Selection,
    truth_image: Int32s,
    truth_class: Int32s,
    classes: int,
    weights: Bytes,
    *,
    precision: bool = True,
    recalls: Floats = RECALLS,
) -> tuple[Floats, Floats]:
    """Return what `resample` does for any ranked predictions and the ground truths that count: image and class [G]."""
    from metrics.vision.compiled import curves

    shape = (len(weights), classes, len(chosen.states))
    average, recall = np.full(shape, np.nan), np.full(shape, np.nan)
    if len(weights) == 1 and (weights == 1).all():  # the data set itself
        truths = np.bincount(truth_class, minlength=classes)
        curves.averages(chosen.before, chosen.states, chosen.event_starts, truths, recalls, average[0], recall[0])
        return (average if precision else np.full(shape, np.nan)), recall
    by_class = np.argsort(truth_class, kind="stable")
    truth_image = truth_image[by_class]
    truth_starts = np.searchsorted(truth_class[by_class], np.arange(classes + 1))

    def fill(part: slice) -> None:
        curves.resampled(
            chosen.miss_image, chosen.miss_starts, chosen.image, chosen.before, chosen.states, chosen.event_starts,
            truth_image, truth_starts, recalls, np.ascontiguousarray(weights[part].T), int(precision),
            average[part], recall[part],
        )  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(fill, [slice(first, first + LANES) for first in range(0, len(weights), LANES)]))
    return average, recall
