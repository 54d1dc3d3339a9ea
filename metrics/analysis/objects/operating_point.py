"""The operating point of a model in a detection run: the score and the IoU from which its objects count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from metrics.analysis.objects.matching_again import ANY_LABEL, IOU, SEGMENTS
from metrics.analysis.objects.object_index import ObjectIndex, object_index
from metrics.analysis.objects.working_points import match_evaluators
from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.float_tolerance import highest_place
from metrics.store import Run, cache_by_run
from metrics.store.reviews import Review

if TYPE_CHECKING:
    import pandas as pd

GRID: Floats = np.round(np.linspace(0.0, 1.0, 101), 2)  # score thresholds


class OperatingPoint(NamedTuple):
    """Predictions count from `score` on, and match from `iou` on."""

    score: float
    iou: float = IOU


def operating_point(run: Run, model: str) -> OperatingPoint:
    """Return the point that was chosen for all models of a run, else the one with the model's best F1."""
    score, iou = Review(run).point()
    return best_point(run, model, iou) if score is None else OperatingPoint(score, iou)


@cache_by_run(maxsize=256)
def best_point(run: Run, model: str, iou: float = IOU) -> OperatingPoint:
    """Return the score threshold with the model's highest F1 over all objects at an IoU threshold.

    The least of the hundredths 0 … 1 that reach it; 0 where no evaluator stored matches or scores exceed 1.
    """
    evaluator = evaluator_of_point(run)
    if evaluator is None or model not in run.models:
        return OperatingPoint(0.0, iou)
    index = object_index(run, evaluator, model, 1, iou)
    if np.nanmax(index.score, initial=0.0) > 1:
        return OperatingPoint(0.0, iou)
    tp, predicted, truths = _from_above(index)
    return OperatingPoint(float(GRID[highest_place(2 * tp / np.maximum(predicted + truths, 1))]), iou)


def evaluator_of_point(run: Run) -> str | None:
    """Return the evaluator whose matches are counted: the first that matches within a class; None without matches.

    Segments have no scores, so SEGMENTS is none.
    """
    names = [name for name in match_evaluators(run) if name != SEGMENTS]
    return next((name for name in names if name != ANY_LABEL), next(iter(names), None))


def confusion_at(run: Run, model: str, point: OperatingPoint, repeat: int = 1) -> pd.DataFrame:
    """Return the confusion matrix of one model's objects at a point, as detection_confusion counts it.

    Columns label (the truth; "background" for a prediction that matches nothing), predicted ("missed" for an object
    that nothing matches) and count, without empty cells.
    """
    from metrics.evaluators._objects import confusion_table

    index = object_index(run, ANY_LABEL, model, repeat, point.iou)
    size, reached = len(index.labels) + 1, index.score >= point.score
    made = reached & (_of_kind(index, "tp") | _of_family(index, "fp"))
    took = index.took > 0
    missed = (took & ~reached) | _of_family(index, "fn")
    truth = np.where(took, index.truth, size - 1)
    cells = np.bincount(truth[made].astype(np.int64) * size + index.label[made], minlength=size * size)
    lost = np.where(took, index.truth, index.label)[missed].astype(np.int64)
    cells += np.bincount(lost * size + size - 1, minlength=size * size)
    return cast("pd.DataFrame", confusion_table(cells.reshape(size, size), index.labels).to_pandas())


def _from_above(index: ObjectIndex) -> tuple[Ints, Ints, int]:
    """Return true positives and predictions that score at least each of GRID, and the number of ground truths."""
    right = _of_kind(index, "tp")
    made = right | _of_family(index, "fp")

    def counted(rows: Bools) -> Ints:
        reached = np.searchsorted(GRID, index.score[rows], side="right")
        return np.bincount(reached, minlength=len(GRID) + 1)[::-1].cumsum()[::-1][1:]

    return counted(right), counted(made), int(((index.took > 0) | _of_family(index, "fn")).sum())


def _of_kind(index: ObjectIndex, kind: str) -> Bools:
    return np.asarray(index.kind == (index.kinds.index(kind) if kind in index.kinds else -1))


def _of_family(index: ObjectIndex, family: str) -> Bools:
    return np.isin(index.kind, [code for code, kind in enumerate(index.kinds) if kind.startswith(family)])
