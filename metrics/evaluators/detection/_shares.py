"""Shares of objects, over all labels and of each, with their intervals."""

from dataclasses import dataclass

import numpy as np

from metrics.core.evaluator import Aggregate
from metrics.evaluators._half_samples import NO_TRUTH, NO_TRUTHS, Columns, Spread, number, ratio
from metrics.evaluators.detection._matched import Scene
from metrics.vision.arrays import Floats


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
        """`part` / `whole`, each [1 + B, K] by label: first of their sums, then of every label.

        `of_all` [1 + B] replaces the sum of `whole`. `empty` says why there is no value where nothing is to be shared;
        a share without it is of ground truths, and a label without ground truth has none.
        """
        some = self.truths.sum(axis=1) > 0
        total = whole.sum(axis=1) if of_all is None else of_all
        drawn = self.scene.drawn
        overall = Spread.of(ratio(part.sum(axis=1), np.where(some, total, 0)), total[0], drawn)
        by_label = Spread.of(ratio(part, np.where(some[:, None], whole, 0)), whole[0], drawn)
        why = empty if some[0] else NO_TRUTHS
        found = [number(metric, overall, n=int(total[0]), columns=self.columns, why=why)]
        for k, label in enumerate(self.scene.labels):
            n = int(whole[0, k])
            reason = why or NO_TRUTH
            found.append(number(metric, by_label, (k,), n=n, label=label, columns=self.columns, why=reason))
        return found
