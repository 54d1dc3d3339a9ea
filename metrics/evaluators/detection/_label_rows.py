"""The aggregates of one metric: over all labels and of each, with their intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Floats, Numbers
from metrics.core.evaluator import Aggregate, Columns
from metrics.evaluators._half_samples import FEW_TRUTHS, NO_TRUTHS, Spread, number
from metrics.evaluators.detection._matched import Matched, Scene
from metrics.stats.ratios import mean_over, ratio
from metrics.stats.resample_intervals import BIAS, has_enough_truths
from metrics.vision.coco_lines import Line
from metrics.vision.matching import AREAS


def label_rows(
    scene: Scene,
    metric: str,
    overall: Floats,
    by_label: Floats,
    objects: Numbers,
    columns: Columns,
    *,
    of_label: str | None = None,
    total: float | None = None,
    counts: Numbers | None = None,
    enough: ArrayLike = True,
    few: str = FEW_TRUTHS,
    bias: float = BIAS,
    why: str | None = None,
) -> list[Aggregate]:
    """Return the aggregate over all labels, from estimates [1 + B], then of each label, from estimates [1 + B, K].

    objects [K]: how many objects each label's value rests on; total: of all labels, by default the sum. They are the n
    of the aggregates unless `counts` [K] is. of_label: another name of the metric for each label. Over all labels there
    is no interval where not `enough`, for the reason `few`. bias: see resample_interval. why: see `number`.
    """
    size = objects.sum() if total is None else total
    of_all, *of_each = (int(count) for count in ((size, *objects) if counts is None else (counts.sum(), *counts)))
    whole = Spread.of(overall, size, scene.drawn, enough=enough, few=few, bias=bias)
    each = Spread.of(by_label, objects, scene.drawn, bias=bias)
    return [
        number(metric, whole, n=of_all, columns=columns, why=why),
        *(
            number(of_label or metric, each, (k,), n=of_each[k], label=label, columns=columns, why=why)
            for k, label in enumerate(scene.labels)
        ),
    ]


def line_rows(found: Matched, line: Line, estimates: Floats) -> list[Aggregate]:
    """Return a line of COCO's summary over all labels and of each, from its estimates [1 + B, K]."""
    columns: Columns = {"iou": line.iou, "area": line.area, "max_dets": line.max_dets, **found.scene.columns}
    truths, why = found.truths(AREAS[line.area]), found.why_none(AREAS[line.area])
    enough = has_enough_truths(truths) or not line.precision
    overall = mean_over(estimates, 1)
    return label_rows(found.scene, line.metric, overall, estimates, truths, columns, enough=enough, why=why)


@dataclass(frozen=True, eq=False, slots=True)
class Shares:
    """What the shares of one data set have in common: `truths` [1 + B, K] counts its ground truths, then of resamples.

    Without any ground truth no share has a value.
    """

    scene: Scene
    truths: Floats
    columns: Columns

    def rows(
        self, metric: str, part: Floats, whole: Floats, *, of_all: Floats | None = None, empty: str | None = None
    ) -> list[Aggregate]:
        """Return `part` / `whole`, each [1 + B, K] by label: first of their sums, then of every label.

        `of_all` [1 + B] replaces the sum of `whole`. `empty` is the reason for no value where `whole` is 0; without it
        the share is of ground truths, and a label without ground truth has none.
        """
        some = self.truths.sum(axis=1) > 0
        total = whole.sum(axis=1) if of_all is None else of_all
        overall = ratio(part.sum(axis=1), np.where(some, total, 0))
        by_label = ratio(part, np.where(some[:, None], whole, 0))
        why = empty if some[0] else NO_TRUTHS
        return label_rows(self.scene, metric, overall, by_label, whole[0], self.columns, total=total[0], why=why)
