"""Two models on the same cases, metric by metric: the paired difference, its interval, test and significance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metrics.analysis.comparison.paired_bootstrap import Resampled, label_differences, resampled_differences
from metrics.analysis.leaderboard.leaderboard import Cell, Column, leaderboard
from metrics.analysis.leaderboard.significance import Significance, improvement, in_words, significance
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.core.sampling_design import SamplingDesign
from metrics.stats import corrections, paired_intervals, power
from metrics.stats.paired_tests import EQUAL, MCNEMAR, TESTS, Test, paired_tests
from metrics.store import Run

Floats = NDArray[np.float64]
Correction = Literal["holm", "benjamini_hochberg", "none"]
ADJUST: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": corrections.holm,
    "benjamini_hochberg": corrections.benjamini_hochberg,
    "none": np.array,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two models on the `n` cases for which both have a value (repeats of a case averaged).

    a, b: means of those cases; difference: b − a with its 95 % interval low … high; p of `test` (see
    metrics.stats.paired_tests), `adjusted` for the metrics it is shown with (None where all pairs are ties). wins,
    losses, ties: cases on which b is better, worse, equal (for a metric without a better end: higher, lower, equal).
    detectable: the true difference that n such pairs reveal with 80 % power. only_a, only_b, neither: cases left out,
    as a value is missing. clusters: independent units among the pairs.
    """

    column: Column
    n: int
    only_a: int
    only_b: int
    neither: int
    clusters: int
    a: float | None
    b: float | None
    difference: float | None
    test: Test
    wins: int
    losses: int
    ties: int
    low: float | None = None
    high: float | None = None
    p: float | None = None
    detectable: float | None = None
    adjusted: float | None = None
    significance: Significance = "none"

    @property
    def units(self) -> str:
        """What the test rests on: `44 cases`."""
        return f"{self.n:,} case{'' if self.n == 1 else 's'}"

    @property
    def outcomes(self) -> tuple[int, int, int] | None:
        """Wins, losses and ties of b."""
        return self.wins, self.losses, self.ties

    @property
    def better(self) -> float | None:
        """The difference with the sign that makes b better above 0; None where neither end is better."""
        return improvement(self.column, self.difference)

    @property
    def words(self) -> str:
        """The significance in words."""
        return in_words(self.significance, self.column, self.difference)


Tested = TypeVar("Tested", bound=Difference | Resampled)


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A metric of the whole data set without resamples to pair: both numbers with their own intervals."""

    column: Column
    a: Cell
    b: Cell


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model b against model a; `run_b` differs from `run_a` where one suite was evaluated twice.

    rows: the metrics with values per case; resampled: those of the whole data set; unpaired: those that cannot be
    paired either way; tested: how many tests the correction is over; clustered: intervals and tests take the suite's
    groups as units; notes: what was left out, in sentences.
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


def compare(run: Run, model_a: str, model_b: str, tag: str | None = None, other: Run | None = None) -> Comparison:
    """Compare two models of a run, over all its cases or those with a tag, each metric on the cases both have.

    `other` is the run that b is taken from, where that is not `run`: of the same suite, and the models may then be one.
    Adjusted p are Holm's over all metrics; see `shown`. InputError where there is nothing to compare.

    The tests are those of metrics.stats.paired_tests, as for the ranks of the leaderboard. Intervals: Newcombe's where
    McNemar's test is used, else an expanded percentile bootstrap; for metrics of the whole data set the basic
    bootstrap.
    """
    other = other or run
    check_pair(run, model_a, other, model_b)
    found = _compared(run.folder, model_a, other.folder, model_b, tag)
    columns = [row.column for row in found.rows] + [row.column for row in found.resampled]
    columns += [entry.column for entry in found.unpaired]
    return shown(found, [column.key for column in columns])


@lru_cache(maxsize=64)
def _compared(folder_a: Path, model_a: str, folder_b: Path, model_b: str, tag: str | None) -> Comparison:
    """Return the comparison before correction, kept: sealed runs never change."""
    run, other = Run(folder_a), Run(folder_b)
    design = run.sampling_design(tag)
    a, b = values(run, model_a, design), values(other, model_b, design)
    board_a = leaderboard(run, tag)
    board_b = board_a if other.id == run.id else leaderboard(other, tag)
    rows: list[Difference] = []
    unpaired: list[Unpaired] = []
    seen: set[tuple[str, str]] = set()
    columns_b = {column.key for column in board_b.columns}
    for column in board_a.columns:
        key = (column.evaluator, column.metric)
        if column.key not in columns_b or key in seen:
            continue
        if key in a and key in b:
            seen.add(key)
            rows.append(_difference(column, a[key], b[key], design))
        else:
            cell_a, cell_b = board_a.cells.get((model_a, column.key)), board_b.cells.get((model_b, column.key))
            if cell_a is not None and cell_b is not None:
                unpaired.append(Unpaired(column, cell_a, cell_b))
    drawn = resampled_differences(run, model_a, other, model_b, [entry.column for entry in unpaired], tag)
    unpaired = [entry for entry in unpaired if entry.column.key not in drawn]
    notes = _notes(run, other, board_a.columns, board_b.columns, rows)
    return Comparison(
        model_a, model_b, run.id, other.id, len(design), tuple(_tested(rows, a, b, design)), tuple(drawn.values()),
        tuple(unpaired), "holm", 0, design.clusters is not None, notes,
    )  # fmt: skip


def shown(comparison: Comparison, keys: Sequence[str], correction: Correction = "holm") -> Comparison:
    """Return the comparison of the metrics with these column keys only, p adjusted over them.

    The family of the correction leaves out metrics whose pairs are all ties, as their tests could not have come out any
    other way, and twins that stand beside their original, see `corrected`.
    """
    chosen = set(keys)
    both: tuple[Difference | Resampled, ...] = (*comparison.rows, *comparison.resampled)
    rows = corrected([row for row in both if row.column.key in chosen], correction)
    return replace(
        comparison,
        rows=tuple(row for row in rows if isinstance(row, Difference)),
        resampled=tuple(row for row in rows if isinstance(row, Resampled)),
        unpaired=tuple(entry for entry in comparison.unpaired if entry.column.key in chosen),
        correction=correction,
        tested=sum(row.p is not None for row in rows if not _is_twin(row, chosen)),
    )


def compare_labels(
    run: Run, model_a: str, model_b: str, key: str, tag: str | None = None, other: Run | None = None,
    correction: Correction = "holm",
) -> tuple[Resampled, ...]:  # fmt: skip
    """One metric of the whole data set label by label, p adjusted over the labels: the column of that key.

    Empty where the metric has no labels or cannot be paired; see `Resampled`. InputError where there is no such pair.
    """
    other = other or run
    check_pair(run, model_a, other, model_b)
    columns = [column for column in leaderboard(run, tag).columns if column.key == key]
    found = [row for column in columns for row in label_differences(run, model_a, other, model_b, column, tag)]
    return tuple(corrected(found, correction))


def corrected(rows: Sequence[Tested], correction: Correction) -> list[Tested]:
    """Return the rows of one pair of models (or of one metric) with adjusted p and the significance that follows.

    The family: every row that has a p, but twins whose original is among the rows; they take over the original's p.
    """
    keys = {row.column.key for row in rows}
    family = [place for place, row in enumerate(rows) if row.p is not None and not _is_twin(row, keys)]
    adjusted = dict(
        zip(family, ADJUST[correction](np.array([rows[place].p for place in family])).tolist(), strict=True)
    )
    of_key = {row.column.key: adjusted.get(place) for place, row in enumerate(rows)}
    return [
        with_significance(row, of_key[row.column.twin or ""] if _is_twin(row, keys) else adjusted.get(place))
        for place, row in enumerate(rows)
    ]


def _is_twin(row: Difference | Resampled, keys: Collection[str]) -> bool:
    """Return whether a row shows a number that another one of these columns shows as well."""
    return row.column.twin is not None and row.column.twin in keys


def difference(column: Column, a: Measured, b: Measured, design: SamplingDesign) -> Difference:
    """One metric of two models, measured on the same cases, before any correction."""
    key = (column.evaluator, column.metric)
    [found] = _tested([_difference(column, a, b, design)], {key: a}, {key: b}, design)
    return found


@dataclass(frozen=True)
class Measured:
    """One model's values of one metric [cases inside], NaN where there is none; single: no case is repeated."""

    values: Floats
    single: bool

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Which cases have a value."""
        return ~np.isnan(self.values)


def values(
    run: Run, model: str, design: SamplingDesign, only: tuple[str, str] | None = None
) -> dict[tuple[str, str], Measured]:
    """Return the values of one model by (evaluator, metric), all or `only` that one, repeats averaged."""
    wanted = [("model", "==", model)]
    if only is not None:
        wanted += [("evaluator", "==", only[0]), ("metric", "==", only[1])]
    table = pq.read_table(
        run.table_path("scores"),
        columns=["position", "evaluator", "metric", "value"],
        filters=wanted,
        read_dictionary=["evaluator", "metric"],
    ).unify_dictionaries()
    if not len(table):
        return {}
    coded = [table[name].combine_chunks() for name in ("evaluator", "metric")]
    names = [entry.dictionary.to_pylist() for entry in coded]
    metric = coded[0].indices.to_numpy().astype(np.int64) * len(names[1]) + coded[1].indices.to_numpy()
    value, position = table["value"].to_numpy(), table["position"].to_numpy()
    found: dict[tuple[str, str], Measured] = {}
    for code in np.unique(metric).tolist():
        own = np.flatnonzero(metric == code)
        own = own[~np.isnan(value[own])]
        counts = np.bincount(position[own], minlength=design.cases)
        sums = np.bincount(position[own], value[own], design.cases)
        means = np.divide(sums, counts, out=np.full(design.cases, np.nan), where=counts > 0)
        key = (names[0][code // len(names[1])], names[1][code % len(names[1])])
        found[key] = Measured(means[design.inside], bool(counts.max(initial=0) <= 1))
    return found


def _difference(column: Column, a: Measured, b: Measured, design: SamplingDesign) -> Difference:
    """Return the counts and means; interval and test, computed for all metrics at once, are added by `_tested`."""
    both = a.present & b.present
    n = int(both.sum())
    apart = apart_of(a, b)[both]
    sign = -1 if column.direction == "lower" else 1
    wins, losses = int((sign * apart > 0).sum()), int((sign * apart < 0).sum())
    weights = np.ones(n) if design.weights is None else design.weights[both]

    def mean(values: Floats) -> float | None:
        return float(np.average(values, weights=weights)) if weights.sum() > 0 else None

    return Difference(
        column=column,
        n=n,
        only_a=int((a.present & ~b.present).sum()),
        only_b=int((b.present & ~a.present).sum()),
        neither=int((~a.present & ~b.present).sum()),
        clusters=n if design.clusters is None else len(np.unique(design.clusters[both])),
        a=mean(a.values[both]),
        b=mean(b.values[both]),
        difference=mean(apart),
        test=TESTS[MCNEMAR],
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
    )


def apart_of(a: Measured, b: Measured) -> Floats:
    """Return b − a case by case, 0 where they are equal but for rounding, NaN where one has no value."""
    apart = b.values - a.values
    return np.where(np.abs(apart) <= EQUAL, 0.0, apart)


def _tested(
    rows: Sequence[Difference],
    a: dict[tuple[str, str], Measured],
    b: dict[tuple[str, str], Measured],
    design: SamplingDesign,
) -> list[Difference]:
    """Return the rows with interval, p and detectable difference."""
    if not rows:
        return []
    keys = [(row.column.evaluator, row.column.metric) for row in rows]
    apart = np.stack([apart_of(a[key], b[key]) for key in keys], axis=1)
    binary = [evaluators()[name].metric(metric).binary for name, metric in keys]
    single = [a[key].single and b[key].single for key in keys]
    found = paired_tests(apart, design.weights, design.clusters, np.array(binary) & np.array(single))
    means = np.flatnonzero(found.test != MCNEMAR)
    low, high = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    if len(means):
        low[means], high[means] = paired_intervals.difference_intervals(
            apart[:, means], design.weights, design.clusters
        )
    done = []
    for place, (row, key) in enumerate(zip(rows, keys, strict=True)):
        test = TESTS[found.test[place]]
        if found.test[place] == MCNEMAR:
            low[place], high[place] = _newcombe(a[key].values, b[key].values)
        if row.difference is None:
            done.append(replace(row, test=test))
            continue
        widest, error = row.column.high - row.column.low, float(found.error[place])
        done.append(
            replace(
                row,
                test=test,
                low=None if np.isnan(low[place]) else float(max(low[place], -widest)),
                high=None if np.isnan(high[place]) else float(min(high[place], widest)),
                p=float(found.p[place]) if row.wins + row.losses else None,
                detectable=power.detectable(error, row.clusters) if error > 0 else None,
            )
        )
    return done


def _newcombe(a: Floats, b: Floats) -> tuple[float, float]:
    both = ~np.isnan(a) & ~np.isnan(b)
    right_a, right_b = a[both] > 0.5, b[both] > 0.5
    counts = (right_a & right_b, ~right_a & right_b, right_a & ~right_b, ~right_a & ~right_b)
    low, high = paired_intervals.newcombe_paired(*(int(count.sum()) for count in counts))
    return (np.nan, np.nan) if low is None or high is None else (low, high)


def with_significance(row: Tested, adjusted: float | None) -> Tested:
    """Return the row with an adjusted p and the significance that follows; without a p nothing was tested."""
    adjusted = None if row.p is None else adjusted
    found = significance(row.column, row.difference, row.p, adjusted)
    return replace(row, adjusted=adjusted, significance=found)


def check_pair(run: Run, model_a: str, other: Run, model_b: str) -> None:
    """InputError unless there are these models to pair: of one suite, and not one model of one run twice."""
    if run.spec["suite"]["fingerprint"] != other.spec["suite"]["fingerprint"]:
        raise InputError(
            f"runs {run.id} and {other.id} are of different suites; cases can only be paired within one suite"
        )
    for holder, model in ((run, model_a), (other, model_b)):
        if model not in holder.models:
            raise InputError(f"run {holder.id} has no model {model!r}; it has {', '.join(holder.models)}")
    if run.id == other.id and model_a == model_b:
        raise InputError(f"{model_a} cannot be compared with itself in one run; choose another model or another run")


def _notes(
    run: Run, other: Run, columns: Sequence[Column], columns_b: Sequence[Column], rows: Sequence[Difference]
) -> tuple[str, ...]:
    notes = []
    only_a, only_b = max((row.only_a for row in rows), default=0), max((row.only_b for row in rows), default=0)
    if only_a or only_b:
        notes.append(
            f"Only cases that both have a value for are compared, metric by metric: up to {only_a:,} that only A has"
            f" and up to {only_b:,} that only B has are left out."
        )
    if other.id != run.id:
        titles = {column.evaluator: column.evaluator_title for column in (*columns, *columns_b)}
        both = [name for name in run.evaluators if name in other.evaluators]
        lone = [titles.get(name, name) for name in {**run.evaluators, **other.evaluators} if name not in both]
        if lone:
            notes.append(f"In one of the two runs only, so not compared: {', '.join(lone)}.")
        changed = [titles.get(name, name) for name in both if run.evaluators[name] != other.evaluators[name]]
        if changed:
            notes.append(
                f"Evaluated with other parameters in the two runs, which alone can make a difference:"
                f" {', '.join(changed)}."
            )
    return tuple(notes)
