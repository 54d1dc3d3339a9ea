"""Agreement of a judge's scores with people's labels: statistics and thresholds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.analysis.labels.human_labels import human_labels, named_outputs
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores, metric_columns, outputs_of
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import at_least
from metrics.stats import rater_agreement as statistics
from metrics.stats.agreement_intervals import kappa_interval, mean_interval, share_interval
from metrics.stats.cluster_variance import allows_for_raters
from metrics.stats.float_tolerance import ratio
from metrics.stats.intervals import Interval, percentiles
from metrics.stats.rater_agreement import best_thresholds, held_out_passes
from metrics.stats.resample_intervals import resample_interval
from metrics.stats.slice_means import pooled, sampling_variances
from metrics.store import Run

FEWEST = 3  # outputs needed for the agreement of a panel, which scores all of them
ENOUGH = 10  # labelled outputs from which on agreement is shown
ENOUGH_CASES = 4  # independent ones among them
ENOUGH_OF_KIND = 5  # that people pass, for the sensitivity, or fail, for the specificity
DIGITS = 4  # to which two thresholds are the same
BY_LABELS = ("suggested", "calibrated")  # how a threshold was chosen that the same labels chose
Sample = Literal["outputs", "labelled"]  # whom numbers speak of, see Agreement
Part = tuple[str, str]  # "model" or "tag", and its name
CELLS = ("fail_fail", "fail_pass", "pass_fail", "pass_pass")  # people, then judge


@dataclass(frozen=True, slots=True)
class Stat:
    """A statistic with its 95 % interval over independent cases; None where it is not defined.

    needs: how many more labels there have to be before it is shown; 0 where there are enough.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    needs: int = 0


UNDEFINED = Stat()


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric beside people's labels of one criterion, over `n` outputs that have both, of `cases` cases.

    sample: whom the numbers speak of. "outputs": all outputs of the run; `n` are a random sample of them, each weighted
    by how many it stands for, and `picked` labelled outputs are set aside. "labelled": the labelled outputs alone, as
    none was drawn at random. spearman is signed so that 1 means agreement also where lower is better; auc: the chance
    that an output that people pass scores better than one that they fail. At `threshold` (`chosen`: declared by the
    metric, given, suggested by the labels or calibrated on them) scores pass or fail: kappa, accuracy, sensitivity,
    specificity, and `table`, counts by CELLS. suggested: the threshold that maximises Youden's J on all labels, picked
    ones too; balanced: its balanced accuracy. Where these labels chose the threshold (`held_out`), the numbers of each
    output are of thresholds that resamples without it chose. A metric without a direction has only spearman. pooled: of
    a part of the outputs the accuracy drawn towards that of the other parts, see agreement_slices. split: on how many
    of the `n` raters differ, so that one of their labels, drawn at random, stands for the output (in spearman their
    mean); unsure: how many more outputs are left out because every rater is unsure of them; raters: whose labels these
    are; others: whether the intervals of κ and the rates allow for other raters like them, which takes five.
    """

    column: Column
    judged: bool
    n: int
    cases: int
    spearman: Stat
    auc: Stat = UNDEFINED
    threshold: float | None = None
    chosen: str = ""
    kappa: Stat = UNDEFINED
    accuracy: Stat = UNDEFINED
    sensitivity: Stat = UNDEFINED
    specificity: Stat = UNDEFINED
    suggested: Stat = UNDEFINED
    balanced: Stat = UNDEFINED
    table: tuple[int, ...] = ()
    sample: Sample = "labelled"
    picked: int = 0
    pooled: Stat = UNDEFINED
    split: int = 0
    unsure: int = 0
    raters: int = 1
    others: bool = False

    @property
    def held_out(self) -> bool:
        """Whether the labels chose the threshold, so that its numbers are of thresholds chosen without each output."""
        return self.chosen in BY_LABELS


@dataclass(frozen=True, eq=False)
class LabelCut:
    """The threshold of some scores: how it was `chosen`, and which share of it each output passes [n].

    passes: 1 or 0, or, where the labels chose the threshold, the share of the thresholds chosen without the output that
    it passes; held_out: that share in any case.
    """

    threshold: float | None
    chosen: str
    suggested: Stat
    passes: Floats
    held_out: Floats

    def part(self, keep: Bools | Ints) -> "LabelCut":
        """Return that of some of the outputs."""
        return replace(self, passes=self.passes[keep], held_out=self.held_out[keep])


def agreements(
    run: Run,
    criterion: str,
    model: str | None = None,
    tag: str | None = None,
    passing: float | None = None,
    only: tuple[str, str] | None = None,
    threshold: float | None = None,
) -> list[Agreement]:
    """Return the agreement of every metric of a run, or `only` one, with people's labels; see `labelled_scores`.

    `threshold` replaces the metric's own.
    """
    judged = judged_evaluators(run)
    found = []
    for evaluator, metric in metric_columns(run) if only is None else [only]:
        both = labelled_scores(run, evaluator, metric, criterion, model, tag, passing)
        inside = outputs_of(run, model, tag)
        found.append(_with_raters(agreement(both, evaluator in judged, threshold), both, run, criterion, inside))
    return found


def agreement_slices(
    run: Run, criterion: str, only: tuple[str, str], passing: float | None = None, threshold: float | None = None
) -> dict[Part, Agreement]:
    """Return the agreement of one metric with people's labels, by ("model", name) and ("tag", name).

    `pooled` of each is its accuracy after partial pooling, which takes labels of four models, or of four tags.
    """
    judged = only[0] in judged_evaluators(run)
    whole = labelled_scores(run, *only, criterion, passing=passing)
    cut = cut_of(whole, threshold)  # one threshold for all: that of all outputs together
    inside = {("model", name): outputs_of(run, name, None) for name in run.models}
    inside |= {("tag", tag): outputs_of(run, None, tag) for tag in leaderboard(run).tags}
    parts = {name: keep for name, own in inside.items() if (keep := own[whole.place]).any()}
    drawn = _pooled_accuracies(whole, cut, parts)
    found = {}
    for name, keep in parts.items():
        both = whole.part(keep)
        one = replace(_agreement(both, cut.part(keep), judged), pooled=drawn.get(name, UNDEFINED))
        found[name] = _with_raters(one, both, run, criterion, inside[name])
    return found


def _with_raters(found: Agreement, both: LabelledScores, run: Run, criterion: str, inside: Bools) -> Agreement:
    """Return an agreement with the outputs on which raters differ or are unsure; inside: whose outputs it is of."""
    people = human_labels(run, criterion)
    unsure = people.unsure & inside & (people.random if found.sample == "outputs" else True)
    return replace(found, split=int(people.split[both.place[both.counted]].sum()), unsure=int(unsure.sum()))


def _pooled_accuracies(whole: LabelledScores, cut: LabelCut, parts: Mapping[Part, Bools]) -> dict[Part, Stat]:
    """Return the accuracy of each model drawn towards that of the others, and of each tag towards that of the others.

    A model or tag without labels that count has none; see metrics.stats.slice_means, which takes four of a kind.
    """
    hits = (
        np.where(whole.passed, cut.passes, 1 - cut.passes)
        if cut.threshold is not None
        else np.full(len(whole.score), np.nan)
    )
    rows = whole.counted[~np.isnan(hits[whole.counted])]
    own, hits = whole.part(rows), hits[rows]
    found: dict[Part, Stat] = {}
    for kind in ("model", "tag"):
        names = [name for name in parts if name[0] == kind]
        masks = np.array([parts[name][rows] for name in names], bool).reshape(len(names), len(rows))
        means = ratio(masks @ (own.weight * hits), masks @ own.weight)
        made = pooled(means, sampling_variances(hits, masks, own.weight, own.clusters), (0.0, 1.0))
        if made is not None:
            columns = zip(names, made.means.tolist(), made.low.tolist(), made.high.tolist(), strict=True)
            found |= {name: Stat(mean, low, high) for name, mean, low, high in columns if not np.isnan(mean)}
    return found


def agreement(both: LabelledScores, judged: bool = False, threshold: float | None = None) -> Agreement:
    """Return the agreement of scores with labels; at the suggested threshold where none is given or declared."""
    return _agreement(both, cut_of(both, threshold), judged)


def cut_of(both: LabelledScores, threshold: float | None = None) -> LabelCut:
    """Return the threshold of labelled scores: the one given, else the metric's own, else the one the labels suggest.

    A threshold given or calibrated that is the suggested one counts as chosen by the labels.
    """
    nothing = np.full(len(both.score), np.nan)
    if both.column.direction == "none":
        return LabelCut(None, "", UNDEFINED, nothing, nothing)
    suggested, held_out, score = UNDEFINED, nothing, both.sign * both.score
    if lacking(len(score), both.clusters):
        suggested = Stat(needs=lacking(len(score), both.clusters))
    else:
        draws = statistics.draws_of(both.clusters)
        best, _ = best_thresholds(score, both.passed, draws)
        held_out = held_out_passes(score, best[1:], draws[1:])
        suggested = stat(both.sign * float(best[0]), percentiles(both.sign * best[1:]))
    own = both.column.threshold if threshold is None else threshold
    if own is None:
        return LabelCut(
            suggested.value, "suggested" if suggested.value is not None else "", suggested, held_out, held_out
        )
    chosen = "declared" if threshold is None else "given"
    known = both.column.calibration
    if suggested.value is not None and _rounded(own) == _rounded(suggested.value):
        if threshold is not None:
            chosen = "suggested"
        elif known is not None and known.threshold == own:
            chosen = "calibrated"
    passes = held_out if chosen in BY_LABELS else (score >= both.sign * own).astype(np.float64)
    return LabelCut(own, chosen, suggested, passes, held_out)


def _agreement(both: LabelledScores, cut: LabelCut, judged: bool) -> Agreement:
    rows = both.counted
    own, cut = both.part(rows), cut.part(rows)
    n, needs = len(rows), lacking(len(rows), own.clusters)
    found = Agreement(
        own.column,
        judged,
        n,
        len(np.unique(own.clusters)),
        Stat(needs=needs),
        sample="outputs" if both.random.any() else "labelled",
        picked=len(both.score) - n,
        raters=1 if own.rater is None else len(np.unique(own.rater)),
        others=own.rater is not None and allows_for_raters(own.rater, own.weight),
    )
    draws = None if needs else statistics.draws_of(own.clusters) * own.weight
    if draws is not None:
        ranks = statistics.spearmans(own.sign * own.score, own.good * own.label, draws)
        found = replace(found, spearman=stat_of(ranks, own.clusters))
    if own.column.direction == "none":
        return found
    found = replace(found, threshold=cut.threshold, chosen=cut.chosen, suggested=cut.suggested)
    if cut.threshold is not None:
        table = tuple(np.bincount(cell_codes(own, cut.threshold), minlength=len(CELLS)).tolist())
        found = replace(found, table=table)
    if draws is None:
        few = Stat(needs=needs)
        return replace(found, auc=few, kappa=few, accuracy=few, sensitivity=few, specificity=few, balanced=few)
    auc = stat_of(statistics.aucs(own.sign * own.score, own.passed, draws), own.clusters, 0.0)
    found = replace(found, auc=auc, balanced=_mean(*_rates(own, cut.held_out)[1:]))
    if cut.threshold is None:
        return found
    accuracy, sensitivity, specificity = _rates(own, cut.passes)
    sides = np.stack([1 - cut.passes, cut.passes], axis=1)
    kappa = Stat(needs=accuracy.needs)
    if not accuracy.needs:
        kappa = stat(*kappa_interval(own.passed.astype(np.int64), sides, own.weight, own.clusters, raters=own.rater))
    return replace(found, kappa=kappa, accuracy=accuracy, sensitivity=sensitivity, specificity=specificity)


def lacking(n: int, clusters: Ints, enough: int = ENOUGH) -> int:
    """Return how many more labels it takes before agreement over `n` labelled outputs, of `clusters` [n], is shown."""
    return max(0, enough - n, min(enough, ENOUGH_CASES) - len(np.unique(clusters)))


def _rates(both: LabelledScores, passes: Floats) -> tuple[Stat, Stat, Stat]:
    """Return accuracy, sensitivity and specificity of labelled scores; passes: [n], NaN where it is not known."""
    hits = np.where(both.passed, passes, 1 - passes)

    def rate(part: Bools) -> Stat:
        # where one label alone is of its kind, no threshold is chosen without it
        if needs := max(0, ENOUGH_OF_KIND - int(part.sum())) or int(np.isnan(hits[part]).any()):
            return Stat(needs=needs)
        raters = None if both.rater is None else both.rater[part]
        return stat(*share_interval(hits[part], both.weight[part], both.clusters[part], raters))

    return rate(np.ones(len(hits), bool)), rate(both.passed), rate(~both.passed)


def _mean(first: Stat, second: Stat) -> Stat:
    """Return the mean of two rates of different outputs; undefined, or too few, where one of them is."""
    if first.value is None or second.value is None:
        return Stat(needs=max(first.needs, second.needs))
    return stat(*mean_interval((first.value, (first.low, first.high)), (second.value, (second.low, second.high))))


def _rounded(threshold: float) -> float:
    return float(f"{threshold:.{DIGITS}g}")


def cell_codes(both: LabelledScores, threshold: float) -> Ints:
    """Return which of CELLS each output is in, as an index; a score exactly on the threshold passes."""
    passes = at_least(both.sign * both.score, both.sign * threshold)
    return (2 * both.passed.astype(np.int64) + passes).astype(np.int64)


def cell_outputs(run: Run, both: LabelledScores, threshold: float, cell: str) -> list[dict[str, object]]:
    """Return the outputs in one of CELLS: case_id, model, judge (its score), people (mean of their labels), counted.

    counted: whether the cell counts the output; picked ones follow where there is a random sample. Those farthest from
    the threshold come first.
    """
    counts = np.isin(np.arange(len(both.score)), both.counted)
    inside = np.flatnonzero(cell_codes(both, threshold) == CELLS.index(cell))
    rows = inside[np.lexsort((-np.abs(both.score[inside] - threshold), ~counts[inside]))]
    columns = (both.score[rows].tolist(), both.label[rows].tolist(), counts[rows].tolist())
    return [
        {"case_id": case_id, "model": model, "judge": score, "people": label, "counted": own}
        for (case_id, model), score, label, own in zip(named_outputs(run, both.place[rows]), *columns, strict=True)
    ]


def stat_of(estimates: Floats, clusters: Ints, bottom: float = -1.0) -> Stat:
    """Return the first estimate with the percentiles of the others as its interval.

    Where no resample differs (ρ = 1) it is that of a number within bottom … 1 of so many clusters (codes [n]), as a
    share's would be: a few labels that agree are not certainty.
    """
    if np.isnan(estimates[0]):
        return UNDEFINED
    value, (low, high) = float(estimates[0]), percentiles(estimates[1:])
    if low == high:
        count, span = len(np.unique(clusters)), 1 - bottom
        ends = resample_interval(
            (estimates[0] - bottom) / span, np.full(2, (value - bottom) / span), count, count, bias=0
        )
        low, high = (bottom + span * float(end) for end in ends)
    return Stat(value, low, high)


def stat(value: float, interval: Interval) -> Stat:
    """Return a value with its interval; NaN is not defined."""
    return UNDEFINED if math.isnan(value) else Stat(value, *interval)
