"""Each model's mean in a metric, corrected by people's labels of outputs that were drawn with known chances."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from metrics.analysis.labels.human_labels import HumanLabels, human_labels
from metrics.analysis.labels.judge_agreement import UNDEFINED, Stat, lacking
from metrics.analysis.labels.labelled_scores import label_sign, metric_columns, output_scores
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Floats, Ints
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.cluster_variance import allows_for_raters, crossed_widening
from metrics.stats.judge_correction import Estimate, corrected_mean
from metrics.store import Run


@dataclass(frozen=True, slots=True)
class Corrected:
    """One model's mean in a metric: as judged, by the labels alone, and by both together.

    `raw` is the leaderboard's value. labels, corrected: in the metric's range (`unit` "metric"), or in that of the
    labels ("labels") where the metric has no range to convert them to. gap: judge − people on the labelled outputs,
    None in the labels' unit. All three are None where the sample has too few labels; `needs` says how many more it
    takes, 0 where there are enough. They leave out labels of raters who are unsure; `unsure`: the corrected mean if all
    of those were the lowest label, and the highest; None where no label is unsure. others: whether the intervals allow
    for other raters than those who labelled; see allows_for_raters.
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
    unsure: tuple[float, float] | None = None
    others: bool = False


def corrected_means(run: Run, criterion: str, only: tuple[str, str], tag: str | None = None) -> list[Corrected]:
    """Return each model's mean in a metric as judged and as corrected by labels of outputs drawn with known chances."""
    column = metric_columns(run)[only]
    design = run.sampling_design(tag)
    people = human_labels(run, criterion)
    drawn = ~np.isnan(people.chances)
    # the labels, then with the unsure ones as the lowest and as the highest label
    filled = [people.means_with(value) for value in (np.nan, people.criterion.low, people.criterion.high)]
    unit, labels = _translated(np.where(drawn, filled, np.nan), people, column)
    _, ratings = _translated(np.where(drawn, people.ratings.T, np.nan), people, column)
    _, ends = _translated(np.array([people.criterion.low, people.criterion.high]), people, column)
    board = leaderboard(run, tag)
    found = []
    scores, labels, ratings, chances = (
        every.reshape(-1, len(run.models), run.spec.suite.cases)[:, :, design.inside].swapaxes(0, 1)
        for every in (output_scores(run, column), labels, ratings, people.chances)
    )
    for model, (score,), every, given, (chance,) in zip(run.models, scores, labels, ratings, chances, strict=True):
        scored = ~np.isnan(score)
        weights, clusters = design.of_part(scored)
        score, (own, low, high), chance = score[scored], every[:, scored], chance[scored]
        cell = board.cells.get((model, column.key))
        raw = UNDEFINED if cell is None else Stat(cell.value, cell.low, cell.high)
        known = ~np.isnan(own)
        needs = lacking(int(known.sum()), design.units[scored][known])
        alone = both = gap = unsure = None
        if not needs:
            alone, both = (corrected_mean(score, own, weights, clusters, power, chance) for power in (False, True))
            gap = corrected_mean(score, score - own, weights, clusters, False, chance) if unit == "metric" else None
            masses = (1.0 if weights is None else weights) / chance
            for_raters = partial(_for_raters, score, given[:, scored], masses, design.units[scored], ends)
            alone, both, gap = for_raters(alone), for_raters(both), for_raters(gap, gap=True)
            if not np.array_equal(low, high, equal_nan=True):
                unsure = _ends(corrected_mean(score, end, weights, clusters, True, chance) for end in (low, high))
        others = allows_for_raters(np.nonzero(~np.isnan(given[:, scored]))[0])
        found.append(Corrected(model, unit, raw, int(known.sum()), len(own), alone, both, gap, needs, unsure, others))
    return found


def _for_raters(
    score: Floats,
    labels: Floats,
    masses: Floats,
    clusters: Ints,
    ends: Floats,
    found: Estimate | None,
    gap: bool = False,
) -> Estimate | None:
    """Return an estimate whose interval holds for other raters, too, where there are enough; see crossed_widening.

    labels: [raters, n] of the outputs with a `score` [n], NaN for none, of the range `ends`; masses: [n] weights by the
    inverse of the chances of the draw, read where there is a label; of a `gap` the estimate is of score − labels.
    """
    if found is None or found.low is None or found.high is None:
        return found
    rater, output = np.nonzero(~np.isnan(labels))
    masses = masses / np.maximum(1, (~np.isnan(labels)).sum(axis=0))
    masses, judged, own = masses[output], score[output], labels[rater, output]
    rest = judged - own if gap else own - found.weight * judged
    moved = masses * (rest - np.average(rest, weights=masses))
    widening = crossed_widening(moved, masses, clusters[output], rater)
    if widening == 1:
        return found
    low, high = (found.value + widening * (end - found.value) for end in (found.low, found.high))
    if not gap:  # a share stays within 0 and 1
        low, high = max(low, min(found.low, *ends)), min(high, max(found.high, *ends))
    return replace(found, low=low, high=high)


def _ends(estimates: Iterable[Estimate | None]) -> tuple[float, float]:
    values = [one.value for one in estimates if one is not None]
    return min(values), max(values)


def labels_by_model(
    run: Run, criterion: str, column: Column, design: SamplingDesign
) -> tuple[str, Floats, Floats, Floats]:
    """Return the labels' unit (see Corrected), and scores, labels and chances [models, cases of the design]."""
    people = human_labels(run, criterion)
    unit, labels = _translated(np.where(np.isnan(people.chances), np.nan, people.means), people, column)
    each = (output_scores(run, column), labels, people.chances)
    scores, labels, chances = (every.reshape(len(run.models), -1)[:, design.inside] for every in each)
    return unit, scores, labels, chances


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
