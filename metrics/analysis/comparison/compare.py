"""Two models on the same cases, metric by metric: the paired difference, its interval, test and significance."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues, case_values
from metrics.analysis.comparison.paired_bootstrap import Resampled, label_differences, resampled_differences
from metrics.analysis.comparison.shared_cases import changed_settings, paired_designs, shared_cases
from metrics.analysis.comparison.significance import Correction, PairedTest, corrected, largest_difference
from metrics.analysis.comparison.unpaired import Unpaired, has_ends, one_sided
from metrics.analysis.leaderboard.family import count_main_tests
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, design_warning, leaderboard
from metrics.analysis.leaderboard.replicates import no_means
from metrics.core.array_types import Floats, Ints
from metrics.core.errors import InputError
from metrics.core.evaluator import MAX_MISSING
from metrics.core.metric_names import full_name
from metrics.core.number_text import number
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import SamplingDesign
from metrics.stats import power
from metrics.stats.correlation import pearson
from metrics.stats.paired_intervals import CaseShare, agreeing, difference_intervals, newcombe_paired, superiority
from metrics.stats.paired_tests import MCNEMAR, TESTS, PairedTests, Test, paired_tests
from metrics.stats.rare_losses import both_sides
from metrics.stats.sequential import anytime_interval, anytime_p, anytime_stretch
from metrics.store import Run, keep_by_run

CELLS = 1 << 22  # differences held at once: metrics × cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(PairedTest):
    """One metric of two models on the `n` cases for which both have a value (repeats of a case averaged).

    a, b: means of those cases; p of `test` (see metrics.stats.paired_tests), None where all pairs are ties. wins,
    losses, ties: cases on which b is better, worse, equal (for a metric without a better end: higher, lower, equal).
    detectable: the true difference that n such pairs reveal with 80 % power. only_a, only_b, neither: cases left out,
    as a value is missing. superiority: the share of these cases on which b is better (of a metric without a better end:
    higher), ties half: the chance that it is on a random case, not the chance that its mean is better; correlation:
    Pearson's of the values of a and b, NaN where one does not vary; the more of it, the smaller `error`, the standard
    error of the difference. completed: how many of the n cases one model has no score of and got an end of the metric's
    range, see `Comparison.at_worst`.
    """

    equal: ClassVar[str] = "equal on every case"

    n: int
    only_a: int
    only_b: int
    neither: int
    a: float | None
    b: float | None
    test: Test
    wins: int
    losses: int
    ties: int
    detectable: float | None = None
    superiority: CaseShare | None = None
    correlation: float = math.nan
    completed: int = 0

    @property
    def units(self) -> str:
        """Return the number of independent units in words, such as `44 cases`."""
        return f"{self.n:,} case{'' if self.n == 1 else 's'}"

    @property
    def outcomes(self) -> tuple[int, int, int] | None:
        """Wins, losses and ties of b."""
        return self.wins, self.losses, self.ties


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model b against model a; `run_b` differs from `run_a` where one suite was evaluated twice.

    rows: the metrics with values per case; resampled: those of the whole data set; unpaired: those that cannot be
    paired either way; tested: how many tests the correction is over; clustered: intervals and tests take the suite's
    groups as units; notes: what was left out, in sentences; anytime: p and intervals hold at every look while cases
    arrive, see metrics.stats.sequential. Where both models are of one run, ranked: by column key the p that the ranks
    of the leaderboard rest on; family: how many tests that p is corrected over, main_tests: those of main metrics;
    pairs: how many the run's models form. at_worst: by column key the row with the cases that only one model lacks a
    score of at the end that is worst for b, where they are more than MAX_MISSING; unbounded: keys of metrics with so
    many whose range has no end, or that are no mean over cases.
    """

    model_a: str
    model_b: str
    run_a: str
    run_b: str
    cases: int
    rows: tuple[Difference, ...]
    resampled: tuple[Resampled, ...]
    unpaired: tuple[Unpaired, ...]
    correction: Correction
    tested: int
    clustered: bool
    notes: tuple[str, ...]
    anytime: bool = False
    ranked: Mapping[str, float] = field(default_factory=dict)
    family: int = 0
    main_tests: int = 0
    pairs: int = 1
    at_worst: Mapping[str, Difference] = field(default_factory=dict)
    unbounded: frozenset[str] = frozenset()

    @property
    def is_of_family(self) -> bool:
        """Whether its p are those of the one family of a run that its ranks rest on, too."""
        return self.run_a == self.run_b and self.correction == "holm"


def compare(run: Run, model_a: str, model_b: str, tag: str | None = None, other: Run | None = None) -> Comparison:
    """Compare two models of a run, over all its cases or those with a tag, each metric on the cases both have.

    `other` is the run that b is taken from, where that is not `run`; the models may then be one. Where its suite has
    changed, the cases that both suites have unchanged are compared, see shared_cases. Adjusted p are those of the run's
    family of tests, see `comparison_of_columns`. InputError where there is nothing to compare.

    The tests are those of metrics.stats.paired_tests, as for the ranks of the leaderboard. Intervals: Newcombe's where
    McNemar's test is used, else the studentised bootstrap; for metrics of the whole data set the basic bootstrap. None
    leaves out 0 where its own test does not, see `agreeing`.
    """
    other = other or run
    _check_models(run, model_a, other, model_b)
    shared = shared_cases(run, other)
    if shared is not None and not len(shared):
        raise InputError(f"runs {run.id} and {other.id} are of different suites that share no case")
    return comparison_of_columns(_compared(run, model_a, other, model_b, tag))


@keep_by_run(maxsize=64)
def _compared(run: Run, model_a: str, other: Run, model_b: str, tag: str | None) -> Comparison:
    """Return the comparison before correction."""
    of_a, design = paired_designs(run, other, tag)
    board_a, board_b = leaderboard(run, tag), leaderboard(other, tag)
    keys = [(column.evaluator, column.metric) for column in board_a.columns if column.label_key is None]
    a, b = case_values(run, model_a, of_a, keys), case_values(other, model_b, design, keys)
    paired: dict[tuple[str, str], Column] = {}
    unpaired: list[Unpaired] = []
    columns_b, whole = {column.key for column in board_b.columns}, no_means(run) | no_means(other)
    for column in board_a.columns:
        key = (column.evaluator, column.metric)
        if column.key not in columns_b:
            continue
        # of several columns of one metric the values per case are the first one's; with keys, they are of all keys
        if key in a and key in b and column.label_key is None and key not in whole:
            paired.setdefault(key, column)
            continue
        cell_a, cell_b = board_a.cells.get((model_a, column.key)), board_b.cells.get((model_b, column.key))
        if cell_a is not None and cell_b is not None:
            unpaired.append(Unpaired(column, cell_a, cell_b))
    rows = case_differences([(column, a[key], b[key]) for key, column in paired.items()], design)
    at_worst, at_best, unbounded = {}, {}, [entry.column for entry in unpaired if entry.b.is_partial]
    for key, column in paired.items():
        lacking = one_sided((run, other), (model_a, model_b), (of_a, design), column, a[key], b[key])
        if lacking is None or not lacking.is_many:
            continue
        if not has_ends(column):
            unbounded.append(column)
            continue
        made = [(column, *lacking.completed(column, a[key], b[key], worst)) for worst in (True, False)]
        count = int(lacking.of_a.sum() + lacking.of_b.sum())
        at_worst[column.key], at_best[column.key] = (
            replace(row, completed=count) for row in case_differences(made, design)
        )
    drawn = resampled_differences(run, model_a, other, model_b, [entry.column for entry in unpaired], tag)
    return Comparison(
        model_a, model_b, run.id, other.id, len(design), tuple(rows), tuple(drawn.values()),
        tuple(entry for entry in unpaired if entry.column.key not in drawn), "holm", 0, design.clusters is not None,
        (
            *_notes(run, other, (*board_a.columns, *board_b.columns), rows, design),
            *_unscored_notes(at_worst, at_best, unbounded),
        ),
        ranked=_ranked(board_a, model_a, model_b) if run.id == other.id else {},
        family=board_a.tests if run.id == other.id else 0,
        main_tests=count_main_tests(board_a.columns, board_a.ranks) if run.id == other.id else 0,
        pairs=math.comb(len(run.models), 2) if run.id == other.id else 1,
        at_worst=at_worst, unbounded=frozenset(column.key for column in unbounded),
    )  # fmt: skip


def _ranked(board: Leaderboard, model_a: str, model_b: str) -> dict[str, float]:
    """Return the p that the ranks of two models rest on, by column key, where the pair was tested."""
    found = {key: ranks.adjusted for key, ranks in board.ranks.items()}
    pairs = {key: own.get((model_a, model_b), own.get((model_b, model_a))) for key, own in found.items()}
    return {key: p for key, p in pairs.items() if p is not None}


def comparison_of_columns(
    comparison: Comparison, keys: Collection[str] | None = None, correction: Correction = "holm", anytime: bool = False
) -> Comparison:
    """Return the comparison of all metrics, or those with these column keys only, with adjusted p.

    anytime: for a comparison that is made again and again while cases arrive; p and intervals then hold at every look.

    Holm's p of two models of one run is that of the run's family, all metrics and pairs of models whichever are shown,
    so that none is better here and tied on the leaderboard; what the leaderboard has not tested, and what holds at
    every look, is corrected as if the other pairs had shown nothing. Of two runs the family is the metrics shown, as it
    is by other corrections. It leaves out metrics whose pairs are all ties, as their tests could not have come out any
    other way, and twins that stand beside their original, see `corrected`.
    """
    both: list[Difference | Resampled] = [*comparison.rows, *comparison.resampled]
    looked = [_at_every_look(row) for row in both] if anytime else both
    in_family = correction == "holm" and comparison.run_a == comparison.run_b
    rows = corrected(looked, "holm", comparison.pairs) if in_family else looked
    if in_family and not anytime:
        p = comparison.ranked
        rows = [row.with_adjusted(p[row.column.key]) if row.column.key in p else row for row in rows]
    rows = [row for row in rows if keys is None or row.column.key in keys]
    rows = rows if in_family else corrected(rows, correction)
    chosen = {row.column.key for row in rows}
    shown = sum(row.p is not None and not row.is_twin(chosen) for row in rows)
    return replace(
        comparison,
        rows=tuple(row for row in rows if isinstance(row, Difference)),
        resampled=tuple(row for row in rows if isinstance(row, Resampled)),
        unpaired=tuple(entry for entry in comparison.unpaired if keys is None or entry.column.key in keys),
        correction=correction,
        tested=(comparison.family or shown * comparison.pairs) if in_family else shown,
        anytime=anytime,
    )


def _at_every_look(row: Difference | Resampled) -> Difference | Resampled:
    """Return a difference with the p and the interval that hold at every look."""
    if row.difference is None or row.low is None or row.high is None:
        return row
    widest = row.column.high - row.column.low
    low, high = anytime_interval(row.difference, row.low, row.high, row.clusters)
    low = max(-widest, min(low, row.difference - row.below.reach(anytime=True)))
    high = min(widest, max(high, row.difference + row.above.reach(anytime=True)))
    p = row.p
    if p is not None:
        against = row.below if row.difference > 0 else row.above
        p = max(anytime_p(p, row.clusters), against.anytime_p(abs(row.difference)))
    wide = replace(row, low=low, high=high, p=p)
    if isinstance(wide, Resampled) or wide.detectable is None:
        return wide
    return replace(wide, detectable=power.detectable(wide.error, wide.clusters, anytime_stretch))


def compare_labels(
    run: Run, model_a: str, model_b: str, key: str, tag: str | None = None, other: Run | None = None,
    correction: Correction = "holm",
) -> tuple[Resampled, ...]:  # fmt: skip
    """Compare a metric of the whole data set label by label, p adjusted over the labels: the column of that key.

    Empty where the metric has no labels or cannot be paired; see `Resampled`. InputError where there is no such pair.
    """
    other = other or run
    check_pair(run, model_a, other, model_b)
    columns = [column for column in leaderboard(run, tag).columns if column.key == key]
    found = [row for column in columns for row in label_differences(run, model_a, other, model_b, column, tag)]
    return tuple(corrected(found, correction))


def case_differences(
    pairs: Sequence[tuple[Column, CaseValues, CaseValues]], design: SamplingDesign
) -> list[Difference]:
    """Return metrics of two models, (column, values of a, values of b), tested on the cases of both; p not adjusted."""
    step = max(1, CELLS // max(1, len(design)))
    return [
        row for start in range(0, len(pairs), step) for row in _tested_together(pairs[start : start + step], design)
    ]


def _tested_together(
    pairs: Sequence[tuple[Column, CaseValues, CaseValues]], design: SamplingDesign
) -> list[Difference]:
    apart = np.stack([b.minus(a) for _, a, b in pairs], axis=1)
    binary = [a.single and b.single and column.binary for column, a, b in pairs]
    found = paired_tests(apart, design.weights, design.clusters, np.array(binary))
    means = np.flatnonzero(found.test != MCNEMAR)
    ends = np.full((2, len(pairs)), np.nan)
    if len(means):
        widest = np.array([pairs[place][0].high - pairs[place][0].low for place in means.tolist()])
        ends[:, means] = difference_intervals(apart[:, means], design.weights, design.clusters, widest)
    for place in np.flatnonzero(found.test == MCNEMAR).tolist():
        ends[:, place] = _newcombe(*pairs[place][1:])
    ends = agreeing(ends, found.difference, found.p)
    return [_difference(*pair, design, found, place, *ends[:, place].tolist()) for place, pair in enumerate(pairs)]


def _newcombe(a: CaseValues, b: CaseValues) -> tuple[float | None, float | None]:
    both = a.present & b.present
    right_a, right_b = a.values[both] > 0.5, b.values[both] > 0.5
    counts = (right_a & right_b, ~right_a & right_b, right_a & ~right_b, ~right_a & ~right_b)
    return newcombe_paired(*(int(count.sum()) for count in counts))


def _difference(
    column: Column, a: CaseValues, b: CaseValues, design: SamplingDesign, found: PairedTests, place: int, low: float,
    high: float,
) -> Difference:  # fmt: skip
    """Return the counts and means of a metric with what was `found` of it."""
    both = a.present & b.present
    n = int(both.sum())
    apart = b.minus(a)[both]
    better = -apart if column.direction == "lower" else apart
    wins, losses = int((better > 0).sum()), int((better < 0).sum())
    weights = np.ones(n) if design.weights is None else design.weights[both]
    clusters = n if design.clusters is None else len(np.unique(design.clusters[both]))
    there = weights.sum() > 0
    parts = design.of_part(both)
    mean_a, mean_b, difference = (
        float(np.average(values, weights=weights)) if there else None
        for values in (a.values[both], b.values[both], apart)
    )
    error = float(found.error[place])
    below, above = both_sides(
        apart,
        largest_difference(column, mean_a or 0.0),
        None if design.weights is None else weights,
        None if design.clusters is None else design.clusters[both],
    )
    return Difference(
        column=column,
        n=n,
        only_a=int((a.present & ~b.present).sum()),
        only_b=int((b.present & ~a.present).sum()),
        neither=int((~a.present & ~b.present).sum()),
        clusters=clusters,
        a=mean_a,
        b=mean_b,
        difference=difference,
        error=error,
        test=TESTS[found.test[place]],
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
        low=low if there and not np.isnan(low) else None,
        high=high if there and not np.isnan(high) else None,
        p=float(found.p[place]) if there and wins + losses else None,
        detectable=power.detectable(error, 1 + float(found.freedom[place])) if there and error > EQUAL else None,
        below=below,
        above=above,
        superiority=_superiority(better, *parts, None if found.test[place] != MCNEMAR else float(found.p[place])),
        correlation=pearson(a.values[both], b.values[both], parts[0]).value if n > 1 else math.nan,
    )


def _superiority(better: Floats, weights: Floats | None, clusters: Ints | None, p: float | None) -> CaseShare | None:
    """Return on which share of cases b is better; of values 0 or 1 its interval agrees with the p of the difference."""
    share = superiority(better, weights, clusters)
    if share is None or p is None or share.low is None or share.high is None:
        return share
    ends = agreeing(np.array([[share.low], [share.high]]) - 0.5, np.array([share.value - 0.5]), np.array([p])) + 0.5
    return replace(share, low=float(ends[0, 0]), high=float(ends[1, 0]))


def check_pair(run: Run, model_a: str, other: Run, model_b: str) -> None:
    """Raise InputError unless there are these models to pair: of one suite, and not one model of one run twice."""
    if run.spec.suite.fingerprint != other.spec.suite.fingerprint:
        raise InputError(
            f"runs {run.id} and {other.id} are of different suites; cases can only be paired within one suite"
        )
    _check_models(run, model_a, other, model_b)


def _check_models(run: Run, model_a: str, other: Run, model_b: str) -> None:
    for holder, model in ((run, model_a), (other, model_b)):
        if model not in holder.models:
            raise InputError(f"run {holder.id} has no model {model!r}; it has {', '.join(holder.models)}")
    if run.id == other.id and model_a == model_b:
        raise InputError(f"{model_a} cannot be compared with itself in one run; choose another model or another run")


def _unscored_notes(
    at_worst: Mapping[str, Difference], at_best: Mapping[str, Difference], unbounded: Sequence[Column]
) -> Iterator[str]:
    """Yield what the differences in primary metrics may be with the cases that only one model has a score of."""
    for key, worst in at_worst.items():
        if not worst.column.primary:
            continue
        ends = sorted(row.difference for row in (worst, at_best[key]) if row.difference is not None)
        yield (
            f"{full_name(worst.column)}: only one model has a score of {worst.completed:,} of {worst.n:,} cases; with "
            f"these the worst or the best for either, the difference is between {' and '.join(map(number, ends))}."
        )
    for column in [column for column in unbounded if column.primary]:
        yield (
            f"{full_name(column)}: more than {100 * MAX_MISSING:.0f} % of the cases are unscored, and nothing bounds "
            "what they would change."
        )


def _notes(
    run: Run, other: Run, columns: Sequence[Column], rows: Sequence[Difference], design: SamplingDesign
) -> tuple[str, ...]:
    shared, caution = shared_cases(run, other), design_warning(design)
    notes = ([] if caution is None else [caution]) + ([] if shared is None else [shared.words])
    only_a, only_b = max((row.only_a for row in rows), default=0), max((row.only_b for row in rows), default=0)
    if only_a or only_b:
        notes.append(
            f"Only cases that both have a value for are compared, metric by metric: up to {only_a:,} that only A has"
            f" and up to {only_b:,} that only B has are left out."
        )
    if other.id != run.id:
        titles = {column.evaluator: column.evaluator_title for column in columns}
        both = [name for name in run.evaluators if name in other.evaluators]
        lone = [titles.get(name, name) for name in {**run.evaluators, **other.evaluators} if name not in both]
        if lone:
            notes.append(f"In one of the two runs only, so not compared: {', '.join(lone)}.")
        changed = {titles.get(name, name): changed_settings(run, other, name) for name in both}
        if any(changed.values()):
            each = (f"{title} ({'; '.join(what)})" for title, what in changed.items() if what)
            notes.append(
                f"Evaluated differently in the two runs, which alone can make a difference: {', '.join(each)}."
            )
    return tuple(notes)
