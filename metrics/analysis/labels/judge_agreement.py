"""Agreement of a judge's scores with people's labels: statistics, thresholds, and means corrected by the labels."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metrics.analysis.comparison.compare import values
from metrics.analysis.labels.human_labels import HumanLabels, human_labels
from metrics.analysis.labels.judgements import judged_evaluators
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.stats import rater_agreement as statistics
from metrics.stats.draws import counted
from metrics.stats.intervals import percentiles, wilson
from metrics.stats.prediction_powered import Estimate, corrected_mean
from metrics.store import Run

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
MOST_KINDS = 30  # different labels up to which there is a κ
FEWEST = 3  # labelled outputs needed for any statistic of agreement
CELLS = ("fail_fail", "fail_pass", "pass_fail", "pass_pass")  # people, then judge


@dataclass(frozen=True, slots=True)
class Stat:
    """A statistic with its 95 % interval by resampling whole cases; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Raters:
    """Agreement among raters: of one pair (`left`, `right`), or of all raters where these are "".

    `n` outputs are labelled by both (for all raters: by two or more). alpha (Krippendorff): for all raters only; kappa
    (Cohen), weighted (quadratic κ, of grades) and equal (share of equal labels): for a pair only.
    """

    left: str
    right: str
    n: int
    kappa: Stat = Stat()
    weighted: Stat = Stat()
    equal: Stat = Stat()
    alpha: Stat = Stat()


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric beside people's labels of one criterion, over `n` outputs that have both, of `cases` cases.

    spearman is signed so that 1 means agreement also where lower is better. At `threshold` (`chosen`: declared by the
    metric, given or suggested) scores pass or fail: kappa, accuracy, sensitivity, specificity, and `table`, counts by
    CELLS. suggested: the threshold that maximises Youden's J; balanced: its balanced accuracy on held-out cases. A
    metric without a direction has only spearman.
    """

    column: Column
    judged: bool
    n: int
    cases: int
    spearman: Stat
    threshold: float | None = None
    chosen: str = ""
    kappa: Stat = Stat()
    accuracy: Stat = Stat()
    sensitivity: Stat = Stat()
    specificity: Stat = Stat()
    suggested: Stat = Stat()
    balanced: Stat = Stat()
    table: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    """One model's mean in a metric: as judged, by the labels alone, and by both together.

    `raw` is the leaderboard's value. labels, corrected: in the metric's range (`unit` "metric"), or in that of the
    labels ("labels") where the metric has no range to convert them to. gap: judge − people on the labelled outputs,
    None in the labels' unit. All three are None where the sample has no label.
    """

    model: str
    unit: str
    raw: Stat
    n: int
    total: int
    labels: Estimate | None
    corrected: Estimate | None
    gap: Estimate | None


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """The outputs that have both a score and a label: arrays [n].

    sign · score and good · label: higher is better; passed: whether people pass the output; place: index of the output,
    see HumanLabels; model: its index; clusters: codes of its case, or of the case's group.
    """

    column: Column
    sign: int
    good: int
    score: Floats
    label: Floats
    passed: Mask
    place: Ints
    model: Ints
    clusters: Ints

    def part(self, keep: Mask) -> "LabelledScores":
        """Return only some of the outputs."""
        arrays = {name: getattr(self, name)[keep] for name in ("score", "label", "passed", "place", "model")}
        clusters = np.unique(self.clusters[keep], return_inverse=True)[1].astype(np.int64)
        return replace(self, **arrays, clusters=clusters)


def metric_columns(run: Run) -> dict[tuple[str, str], Column]:
    """Return the metrics of a run that have values per case, by (evaluator, metric); judged ones first."""
    measured = run.query("SELECT DISTINCT evaluator, metric FROM scores WHERE value IS NOT NULL")
    known = set(zip(measured["evaluator"], measured["metric"], strict=True))
    judged = judged_evaluators(run)
    found: dict[tuple[str, str], Column] = {}
    for column in sorted(leaderboard(run).columns, key=lambda column: column.evaluator not in judged):
        if (column.evaluator, column.metric) in known:
            found.setdefault((column.evaluator, column.metric), column)
    return found


def rater_agreement(run: Run, criterion: str, seed: int = 0) -> list[Raters]:
    """Return the agreement of raters on a criterion: all of them together first, then pair by pair.

    Where there are more raters than any one output has labels, the pairs are of the first, second … label of each
    output in the order of the file, over the outputs that have all of them; else of the raters by name.
    """
    people = human_labels(run, criterion)
    ratings = people.ratings
    clusters = _clusters(run, np.arange(len(ratings)))
    together = people.given > 1
    found = []
    if together.sum() >= FEWEST:
        draws = statistics.draws_of(np.unique(clusters[together], return_inverse=True)[1], seed)
        alpha = _stat(statistics.alphas(ratings[together], draws, nominal=not people.criterion.graded))
        found.append(Raters("", "", int(together.sum()), alpha=alpha))
    names, ratings = _paired(people)
    for left, right in combinations(range(len(names)), 2):
        both = ~np.isnan(ratings[:, left]) & ~np.isnan(ratings[:, right])
        if both.sum() >= FEWEST:
            codes = np.unique(clusters[both], return_inverse=True)[1]
            pair = _pair(ratings[both, left], ratings[both, right], statistics.draws_of(codes, seed))
            found.append(Raters(names[left], names[right], int(both.sum()), *pair))
    return found


def rater_outputs(run: Run, criterion: str, left: str = "", right: str = "") -> list[dict[str, object]]:
    """Return the outputs that two raters (or any two) both labelled, the largest differences first.

    case_id, model, left, right: their labels; of more than two raters the lowest and the highest.
    """
    people = human_labels(run, criterion)
    names, ratings = _paired(people)
    if left in names and right in names:
        pair = ratings[:, [names.index(left), names.index(right)]]
    else:
        known = people.given > 1
        filled = np.where(known[:, None], people.ratings, np.inf)
        low = np.where(np.isnan(filled), np.inf, filled).min(axis=1)
        high = np.where(np.isnan(filled), -np.inf, filled).max(axis=1)
        pair = np.where(known[:, None], np.stack([low, high], axis=1), np.nan)
    both = np.flatnonzero(~np.isnan(pair).any(axis=1))
    order = both[np.argsort(-np.abs(pair[both, 0] - pair[both, 1]), kind="stable")]
    size, ids = run.spec["suite"]["cases"], case_ids(run)
    return [
        {
            "case_id": ids[place % size], "model": run.models[place // size],
            "left": float(pair[place, 0]), "right": float(pair[place, 1]),
        }
        for place in order.tolist()
    ]  # fmt: skip


def _paired(people: HumanLabels) -> tuple[list[str], Floats]:
    """Return the names and labels of the raters that are compared in pairs; see `rater_agreement`."""
    if not people.ratings.shape[1] > people.by_place.shape[1] > 1:
        return list(people.raters), people.ratings
    complete = ~np.isnan(people.by_place).any(axis=1, keepdims=True)
    names = [f"{_ordinal(place)} label" for place in range(1, people.by_place.shape[1] + 1)]
    return names, np.where(complete, people.by_place, np.nan)


def labelled_scores(
    run: Run, evaluator: str, metric: str, criterion: str, model: str | None = None, tag: str | None = None,
    passing: float | None = None,
) -> LabelledScores:  # fmt: skip
    """Return the outputs with both a score in a metric and a label, of all models or one, all cases or one tag's.

    Grades from `passing` on pass, by default those above the middle of their scale. A higher grade is better, unless
    the criterion has the name of a metric where lower is better. Raises KeyError for an unknown metric or criterion.
    """
    column = metric_columns(run)[evaluator, metric]
    people = human_labels(run, criterion)
    sign = -1 if column.direction == "lower" else 1
    score = np.concatenate([output_scores(run, name, column) for name in run.models])
    label, good = people.consensus, _turn(people, column)
    keep = ~np.isnan(score) & ~np.isnan(label) & _inside(run, tag)
    if model is not None:
        keep &= np.repeat(np.arange(len(run.models)) == run.models.index(model), len(score) // len(run.models))
    place = np.flatnonzero(keep)
    passed = label > people.criterion.middle if passing is None else label >= passing
    if good < 0:
        passed = label < people.criterion.middle if passing is None else label <= passing
    size = len(score) // len(run.models)
    return LabelledScores(
        column, sign, good, score[place], label[place], passed[place], place, place // size, _clusters(run, place)
    )  # fmt: skip


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


def slices(
    run: Run, criterion: str, only: tuple[str, str], passing: float | None = None, threshold: float | None = None
) -> dict[tuple[str, str], Agreement]:
    """Return the agreement of one metric with people's labels, by ("model", name) and ("tag", name)."""
    judged = only[0] in judged_evaluators(run)
    whole = labelled_scores(run, *only, criterion, passing=passing)
    if threshold is None and len(whole.score) >= FEWEST:  # one threshold for all: that of all outputs together
        threshold = agreement(whole, judged).threshold
    parts = {("model", name): whole.model == index for index, name in enumerate(run.models)}
    parts |= {("tag", tag): _inside(run, tag)[whole.place] for tag in leaderboard(run).tags}
    return {name: agreement(whole.part(keep), judged, threshold) for name, keep in parts.items() if keep.any()}


def agreement(both: LabelledScores, judged: bool = False, threshold: float | None = None, seed: int = 0) -> Agreement:
    """Return the agreement of scores with labels; at the suggested threshold where none is given or declared."""
    n = len(both.score)
    cases = len(np.unique(both.clusters))
    if n < FEWEST:
        return Agreement(both.column, judged, n, cases, Stat())
    draws = statistics.draws_of(both.clusters, seed)
    score = both.sign * both.score
    together = _stat(statistics.spearmans(score, both.good * both.label, draws))
    found = Agreement(both.column, judged, n, cases, together)
    if both.column.direction == "none":
        return found
    best, _, outside = statistics.best_thresholds(score, both.passed, draws)
    suggested = _stat(both.sign * best)
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
        kappa=_stat(statistics.kappas(tables)),
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
    size = run.spec["suite"]["cases"]
    ids = case_ids(run)
    order = inside[np.argsort(-np.abs(both.score[inside] - threshold), kind="stable")]
    return [
        {
            "case_id": ids[int(both.place[row]) % size], "model": run.models[int(both.model[row])],
            "judge": float(both.score[row]), "people": float(both.label[row]),
        }
        for row in order
    ]  # fmt: skip


def corrected_means(run: Run, criterion: str, only: tuple[str, str], tag: str | None = None) -> list[Corrected]:
    """Return each model's mean in a metric as judged and as corrected by a random sample of labels; see Corrected."""
    column = metric_columns(run)[only]
    people = human_labels(run, criterion)
    design = run.sampling_design(tag)
    labels = np.where(people.random, people.consensus, np.nan)
    unit, labels = _translated(labels, people, column)
    board = leaderboard(run, tag)
    size = run.spec["suite"]["cases"]
    found = []
    for index, model in enumerate(run.models):
        score = output_scores(run, model, column)[design.inside]
        own = labels[index * size + design.inside]
        scored = ~np.isnan(score)
        weights = None if design.weights is None else design.weights[scored]
        clusters = None
        if design.clusters is not None:
            clusters = np.unique(design.clusters[scored], return_inverse=True)[1].astype(np.int64)
        score, own = score[scored], own[scored]
        cell = board.cells.get((model, column.key))
        raw = Stat() if cell is None else Stat(cell.value, cell.low, cell.high)
        alone, both = (corrected_mean(score, own, weights, clusters, power) for power in (False, True))
        gap = corrected_mean(score, score - own, weights, clusters, power=False) if unit == "metric" else None
        found.append(Corrected(model, unit, raw, int((~np.isnan(own)).sum()), len(own), alone, both, gap))
    return found


def _translated(labels: Floats, people: HumanLabels, column: Column) -> tuple[str, Floats]:
    """Return the unit and the labels in it: in the metric's range as they are, else scaled to it linearly."""
    low, high = people.criterion.low, people.criterion.high
    turned = _turn(people, column) * (-1 if column.direction == "lower" else 1) < 0
    if not np.isfinite(column.high - column.low):
        return "labels", labels
    if column.low <= low and high <= column.high:
        return "metric", low + high - labels if turned else labels
    share = (labels - low) / (high - low)
    share = 1.0 - share if turned else share
    return "metric", column.low + share * (column.high - column.low)


def _turn(people: HumanLabels, column: Column) -> int:
    """Return 1 where a higher label is better, else −1: grades named like a metric where lower is better."""
    return (
        -1 if column.direction == "lower" and people.criterion.graded and people.criterion.name == column.metric else 1
    )


def _pair(left: Floats, right: Floats, draws: Floats) -> tuple[Stat, Stat, Stat]:
    """Return κ, quadratic κ and the share of equal labels of two raters."""
    equal = (draws * (left == right)).sum(axis=1) / draws.sum(axis=1)
    kinds = np.unique(np.concatenate([left, right]))
    if len(kinds) > MOST_KINDS:
        return Stat(), Stat(), _stat(equal)
    codes = np.searchsorted(kinds, left) * len(kinds) + np.searchsorted(kinds, right)
    tables = counted(draws, codes, len(kinds) ** 2).reshape(-1, len(kinds), len(kinds))
    weighted = _stat(statistics.kappas(tables, quadratic=True)) if len(kinds) > 2 else Stat()
    return _stat(statistics.kappas(tables)), weighted, _stat(equal)


def _stat(estimates: Floats) -> Stat:
    """Return the first estimate with the percentiles of the others as its interval."""
    if np.isnan(estimates[0]):
        return Stat()
    return Stat(float(estimates[0]), *percentiles(estimates[1:]))


def _rate(estimates: Floats, clusters: Ints) -> Stat:
    """Return a share like `_stat`; where no resample differs (10 of 10), with Wilson's interval over the clusters."""
    found = _stat(estimates)
    if found.value is None or found.low != found.high:
        return found
    count = len(np.unique(clusters))
    return Stat(found.value, *wilson(found.value * count, count))


def output_scores(run: Run, model: str, column: Column) -> Floats:
    """Return a model's scores in a metric by case, NaN where there is none; repeats averaged."""
    size = run.spec["suite"]["cases"]
    found = values(run, model, run.sampling_design(), (column.evaluator, column.metric))
    return found[column.evaluator, column.metric].values if found else np.full(size, np.nan)


def _inside(run: Run, tag: str | None) -> Mask:
    """Return whether each output is of a case with the tag; all without a tag."""
    inside = np.zeros(run.spec["suite"]["cases"], bool)
    inside[run.sampling_design(tag).inside] = True
    return np.tile(inside, len(run.models))


def _clusters(run: Run, places: Ints) -> Ints:
    """Return the cluster of each output: its case, or the case's group where the suite has groups."""
    size = run.spec["suite"]["cases"]
    return np.unique(run.sampling_design().units[places % size], return_inverse=True)[1].astype(np.int64)


def case_ids(run: Run) -> list[str]:
    """Return the ids of the suite's cases, in its order."""
    path = run.workspace.path / "suites" / run.spec["suite"]["fingerprint"] / "cases.parquet"
    return [str(name) for name in pq.read_table(path, columns=["case_id"])["case_id"].to_pylist()]


def _ordinal(place: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")
