"""Agreement of a judge's scores with people's labels: statistics and thresholds."""

from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.labels.human_labels import named_outputs
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.labels.labelled_scores import LabelledScores, inside_outputs, labelled_scores, metric_columns
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Floats, Ints
from metrics.stats import rater_agreement as statistics
from metrics.stats.draws import counted
from metrics.stats.intervals import percentiles, wilson
from metrics.store import Run

FEWEST = 3  # labelled outputs needed for any statistic of agreement
CELLS = ("fail_fail", "fail_pass", "pass_fail", "pass_pass")  # people, then judge


@dataclass(frozen=True, slots=True)
class Stat:
    """A statistic with its 95 % interval by resampling whole cases; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


UNDEFINED = Stat()


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric beside people's labels of one criterion, over `n` outputs that have both, of `cases` cases.

    spearman is signed so that 1 means agreement also where lower is better; auc: the chance that an output that people
    pass scores better than one that they fail. At `threshold` (`chosen`: declared by the
    metric, given or suggested) scores pass or fail: kappa, accuracy, sensitivity, specificity, and `table`, counts by
    CELLS. suggested: the threshold that maximises Youden's J; balanced: its balanced accuracy on held-out cases. A
    metric without a direction has only spearman.
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


def agreements(
    run: Run, criterion: str, model: str | None = None, tag: str | None = None, passing: float | None = None,
    only: tuple[str, str] | None = None, threshold: float | None = None,
) -> list[Agreement]:  # fmt: skip
    """Return the agreement of every metric of a run, or `only` one, with people's labels; see `labelled_scores`.

    `threshold` replaces the metric's own.
    """
    judged = judged_evaluators(run)
    found = []
    for evaluator, metric in metric_columns(run) if only is None else [only]:
        both = labelled_scores(run, evaluator, metric, criterion, model, tag, passing)
        found.append(agreement(both, evaluator in judged, threshold))
    return found


def agreement_slices(
    run: Run, criterion: str, only: tuple[str, str], passing: float | None = None, threshold: float | None = None
) -> dict[tuple[str, str], Agreement]:
    """Return the agreement of one metric with people's labels, by ("model", name) and ("tag", name)."""
    judged = only[0] in judged_evaluators(run)
    whole = labelled_scores(run, *only, criterion, passing=passing)
    if threshold is None and len(whole.score) >= FEWEST:  # one threshold for all: that of all outputs together
        threshold = agreement(whole, judged).threshold
    parts = {("model", name): whole.model == index for index, name in enumerate(run.models)}
    parts |= {("tag", tag): inside_outputs(run, tag)[whole.place] for tag in leaderboard(run).tags}
    return {name: agreement(whole.part(keep), judged, threshold) for name, keep in parts.items() if keep.any()}


def agreement(both: LabelledScores, judged: bool = False, threshold: float | None = None) -> Agreement:
    """Return the agreement of scores with labels; at the suggested threshold where none is given or declared."""
    n = len(both.score)
    cases = len(np.unique(both.clusters))
    if n < FEWEST:
        return Agreement(both.column, judged, n, cases, UNDEFINED)
    draws = statistics.draws_of(both.clusters)
    score = both.sign * both.score
    together = stat_of(statistics.spearmans(score, both.good * both.label, draws))
    found = Agreement(both.column, judged, n, cases, together)
    if both.column.direction == "none":
        return found
    found = replace(found, auc=stat_of(statistics.aucs(score, both.passed, draws)))
    best, _, outside = statistics.best_thresholds(score, both.passed, draws)
    suggested = stat_of(both.sign * best)
    low, high = percentiles(outside)
    known = outside[~np.isnan(outside)]
    balanced = Stat(float(known.mean()) if len(known) else None, low, high)
    own = both.column.threshold if threshold is None else threshold
    chosen = "given" if threshold is not None else "declared" if own is not None else "suggested"
    own = suggested.value if own is None else own
    if own is None:
        return replace(found, suggested=suggested, balanced=balanced)
    codes = cell_codes(both, own)
    tables = counted(draws, codes, 4).reshape(-1, 2, 2)
    rates = statistics.pass_rates(tables)
    return replace(
        found,
        threshold=own,
        chosen=chosen,
        kappa=stat_of(statistics.kappas(tables)),
        accuracy=_rate(rates["accuracy"], both.clusters),
        sensitivity=_rate(rates["sensitivity"], both.clusters[both.passed]),
        specificity=_rate(rates["specificity"], both.clusters[~both.passed]),
        suggested=suggested,
        balanced=balanced,
        table=tuple(int(count) for count in tables[0].ravel()),
    )


def cell_codes(both: LabelledScores, threshold: float) -> Ints:
    """Return which of CELLS each output is in, as an index; a score exactly on the threshold passes."""
    passes = both.sign * both.score >= both.sign * threshold
    return (2 * both.passed.astype(np.int64) + passes).astype(np.int64)


def cell_outputs(run: Run, both: LabelledScores, threshold: float, cell: str) -> list[dict[str, object]]:
    """Return the outputs in one of CELLS: case_id, model, judge (its score), people (their label).

    Those farthest from the threshold come first.
    """
    inside = np.flatnonzero(cell_codes(both, threshold) == CELLS.index(cell))
    rows = inside[np.argsort(-np.abs(both.score[inside] - threshold), kind="stable")]
    values = zip(
        named_outputs(run, both.place[rows]), both.score[rows].tolist(), both.label[rows].tolist(), strict=True
    )
    return [
        {"case_id": case_id, "model": model, "judge": score, "people": label}
        for (case_id, model), score, label in values
    ]


def stat_of(estimates: Floats) -> Stat:
    """Return the first estimate with the percentiles of the others as its interval."""
    if np.isnan(estimates[0]):
        return UNDEFINED
    return Stat(float(estimates[0]), *percentiles(estimates[1:]))


def _rate(estimates: Floats, clusters: Ints) -> Stat:
    """Return a share like `stat_of`; where no resample differs (10 of 10), with Wilson's interval over the clusters."""
    found = stat_of(estimates)
    if found.value is None or found.low != found.high:
        return found
    count = len(np.unique(clusters))
    return Stat(found.value, *wilson(found.value * count, count))
