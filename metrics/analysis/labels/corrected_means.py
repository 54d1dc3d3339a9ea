"""Each model's mean in a metric, corrected by a random sample of people's labels."""

from dataclasses import dataclass

import numpy as np

from metrics.analysis.labels.human_labels import HumanLabels, human_labels
from metrics.analysis.labels.judge_agreement import UNDEFINED, Stat, lacking
from metrics.analysis.labels.labelled_scores import label_sign, metric_columns, output_scores
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Floats
from metrics.stats.prediction_powered import Estimate, corrected_mean
from metrics.store import Run


@dataclass(frozen=True, slots=True)
class Corrected:
    """One model's mean in a metric: as judged, by the labels alone, and by both together.

    `raw` is the leaderboard's value. labels, corrected: in the metric's range (`unit` "metric"), or in that of the
    labels ("labels") where the metric has no range to convert them to. gap: judge − people on the labelled outputs,
    None in the labels' unit. All three are None where the sample has too few labels; `needs` says how many more it
    takes, 0 where there are enough.
    """

    model: str
    unit: str
    raw: Stat
    n: int
    total: int
    labels: Estimate | None
    corrected: Estimate | None
    gap: Estimate | None
    needs: int


def corrected_means(run: Run, criterion: str, only: tuple[str, str], tag: str | None = None) -> list[Corrected]:
    """Return each model's mean in a metric as judged and as corrected by a random sample of labels; see Corrected."""
    column = metric_columns(run)[only]
    people = human_labels(run, criterion)
    design = run.sampling_design(tag)
    labels = np.where(people.random, people.consensus, np.nan)
    unit, labels = _translated(labels, people, column)
    board = leaderboard(run, tag)
    found = []
    scores, labels = (
        every.reshape(len(run.models), -1)[:, design.inside] for every in (output_scores(run, column), labels)
    )
    for model, score, own in zip(run.models, scores, labels, strict=True):
        scored = ~np.isnan(score)
        weights, clusters = design.of_part(scored)
        score, own = score[scored], own[scored]
        cell = board.cells.get((model, column.key))
        raw = UNDEFINED if cell is None else Stat(cell.value, cell.low, cell.high)
        known = ~np.isnan(own)
        needs = lacking(int(known.sum()), design.units[scored][known])
        alone = both = gap = None
        if not needs:
            alone, both = (corrected_mean(score, own, weights, clusters, power) for power in (False, True))
            gap = corrected_mean(score, score - own, weights, clusters, power=False) if unit == "metric" else None
        found.append(Corrected(model, unit, raw, int(known.sum()), len(own), alone, both, gap, needs))
    return found


def _translated(labels: Floats, people: HumanLabels, column: Column) -> tuple[str, Floats]:
    """Return the unit and the labels in it: in the metric's range as they are, else scaled to it linearly."""
    low, high = people.criterion.low, people.criterion.high
    turned = (label_sign(people, column) == 1) == (column.direction == "lower")
    if not np.isfinite(column.high - column.low):
        return "labels", labels
    if column.low <= low and high <= column.high:
        return "metric", low + high - labels if turned else labels
    share = (labels - low) / (high - low)
    share = 1.0 - share if turned else share
    return "metric", column.low + share * (column.high - column.low)
