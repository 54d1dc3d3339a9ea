"""Differences of two models' means, corrected by people's labels, and the ranks that follow from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from metrics.analysis.labels.corrected_means import labels_by_model
from metrics.analysis.labels.human_labels import Criterion, criteria
from metrics.analysis.labels.judge_agreement import lacking
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Bools
from metrics.stats.corrections import holm, is_significant
from metrics.stats.judge_correction import ContrastEstimate, corrected_difference
from metrics.store import Run

MAX_MODELS = 32  # of which every two are compared


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """Model b minus model a in a metric on the cases that both have a score of: as judged, and corrected by labels.

    labelled_a, labelled_b: outputs of each with a label that counts, labelled_both: cases with labels of both; unit:
    see Corrected; corrected: None where a model has too few labels, `needs` says how many more; adjusted: p by Holm.
    """

    column: Column
    criterion: str
    model_a: str
    model_b: str
    unit: str
    judged: float | None
    labelled_a: int
    labelled_b: int
    labelled_both: int
    corrected: ContrastEstimate | None
    needs: int
    adjusted: float | None = None

    @property
    def better(self) -> str | None:
        """The model that people's labels show to be better, significant after Holm's correction; None for neither."""
        if self.corrected is None or self.adjusted is None or not is_significant(np.array([self.adjusted]))[0]:
            return None
        falls = self.unit == "metric" and self.column.direction == "lower"
        return self.model_b if (self.corrected.value > 0) != falls else self.model_a


def corrected_differences(
    run: Run, criterion: str, only: tuple[str, str], tag: str | None = None, models: Sequence[str] | None = None
) -> list[CorrectedDifference]:
    """Return the corrected difference of every two models of a run, or of some, p adjusted over the pairs.

    Empty for more than MAX_MODELS models. Raises KeyError for an unknown metric or criterion.
    """
    column, design = metric_columns(run)[only], run.sampling_design(tag)
    unit, scores, labels, chances = labels_by_model(run, criterion, column, design)
    chosen = run.models if models is None else models
    found = []
    for pair in combinations(chosen, 2) if len(chosen) <= MAX_MODELS else ():
        places = [run.models.index(model) for model in pair]
        both: Bools = (~np.isnan(scores[places])).all(axis=0).astype(bool)
        score, label, chance = (every[places][:, both] for every in (scores, labels, chances))
        known = ~np.isnan(label)
        units = design.units[both]
        needs = max(lacking(int(own.sum()), units[own]) for own in known)
        estimate = None
        if not needs:
            own = ((score[0], label[0]), (score[1], label[1]))
            estimate = corrected_difference(*own, *design.of_part(both), (chance[0], chance[1]))
        judged = None
        if both.any() and unit == "metric":
            weights = None if design.weights is None else design.weights[both]
            judged = float(np.average(score[1] - score[0], weights=weights))
        counts = (int(known[0].sum()), int(known[1].sum()), int(known.all(axis=0).sum()))
        found.append(CorrectedDifference(column, criterion, *pair, unit, judged, *counts, estimate, needs))
    return adjusted_differences(found)


def adjusted_differences(rows: Sequence[CorrectedDifference]) -> list[CorrectedDifference]:
    """Return the differences with their p adjusted over all of them by Holm."""
    tested = [None if row.corrected is None else row.corrected.p for row in rows]
    adjusted = iter(holm(np.array([p for p in tested if p is not None])).tolist())
    return [replace(row, adjusted=None if p is None else next(adjusted)) for row, p in zip(rows, tested, strict=True)]


def corrected_ranks(rows: Sequence[CorrectedDifference]) -> dict[str, int]:
    """Return each model's rank by its corrected means: 1 + how many models are significantly better, of every two.

    Only models with enough labels to be tested.
    """
    tested = [row for row in rows if row.adjusted is not None]
    worse = [row.model_a if row.better == row.model_b else row.model_b for row in tested if row.better is not None]
    return {model: 1 + worse.count(model) for row in tested for model in (row.model_a, row.model_b)}


def metrics_and_criteria(run: Run, asked: Sequence[Criterion]) -> Iterator[tuple[Column, Criterion]]:
    """Yield each judged primary metric, or each primary one without a judge, with the criteria to compare it with.

    A criterion named like a metric belongs to it alone.
    """
    judged = judged_evaluators(run)
    columns = [column for column in metric_columns(run).values() if column.primary]
    columns = [column for column in columns if column.evaluator in judged] or columns
    names = {column.metric for column in columns}
    for column in columns:
        own = [one for one in asked if one.name == column.metric]
        yield from ((column, one) for one in own or [one for one in asked if one.name not in names])


def corrected_pair(run: Run, model_a: str, model_b: str, tag: str | None = None) -> list[CorrectedDifference]:
    """Return two models' corrected differences in each metric that was labelled for, p adjusted over the metrics."""
    rows = [
        row
        for column, one in metrics_and_criteria(run, criteria(run))
        for row in corrected_differences(run, one.name, (column.evaluator, column.metric), tag, (model_a, model_b))
    ]
    return adjusted_differences(rows)
