"""Whether a judge is swayed by what should not matter: variants of the same answers that it judged too.

What merely goes with a score proves no bias: longer answers may be better. A variant that says the same deserves the
same score, so its difference is the judge's own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels.labelled_scores import metric_columns, output_scores
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import NEAR, at_least, at_most
from metrics.core.sampling_design import cluster_codes
from metrics.stats.corrections import holm, is_significant
from metrics.stats.intervals import wilson
from metrics.stats.paired_intervals import difference_intervals
from metrics.stats.paired_tests import paired_tests
from metrics.store import Run

FEWEST_PAIRS = 20  # cases with a variant; below that no check answers
TOLERANCE = 0.01  # of the range of the scores: an effect below it changes no decision
ORIGINAL = ""

Verdict = Literal["swayed", "steady", "none", "constant", "few"]


class Manipulation(NamedTuple):
    """A change of an answer, or of what stands around it, that leaves its quality as it is.

    `against`: the kind that its score is compared with, ORIGINAL for the answer as it was; only_higher: a lower score
    may be deserved (an answer that repeats itself reads worse), so only a better one is a bias.
    """

    title: str
    says: str
    against: str = ORIGINAL
    only_higher: bool = False


PADDED, LENGTHENED, SHORTENED, REORDERED = "answer_padded", "answer_lengthened", "answer_shortened", "context_reordered"
SIGNED_OWN, SIGNED_OTHER = "answer_signed_by_judge", "answer_signed_by_another"
MANIPULATIONS: dict[str, Manipulation] = {
    PADDED: Manipulation("Length: said twice", "The answer, then all of it again", only_higher=True),
    LENGTHENED: Manipulation("Length: in more words", "The same statements in twice the words, by the judge"),
    SHORTENED: Manipulation("Length: in fewer words", "The same statements in half the words, by the judge"),
    REORDERED: Manipulation("Position: contexts in another order", "The retrieved contexts, the last one first"),
    SIGNED_OWN: Manipulation(
        "Author: signed with the judge's name", "The answer under the judge's name, beside it under another's",
        SIGNED_OTHER,
    ),
}  # fmt: skip
SWAPPED = re.compile(  # other kinds of variants in which only an order changes; swapped words are not among them
    r"(swap(ped)?|(re)?order(ed)?|shuffled?|positions?)"
    r"|(position|order|answer|response|option|context|passage)s?_(swap(ped)?|(re)?order(ed)?|shuffled?|reversed)"
)
ORDER = Manipulation("Position: things in another order", "Variants of the suite in which only an order changes")


@dataclass(frozen=True, slots=True)
class Check:
    """What one manipulation does to a judge's scores: the mean difference with its 95 % interval.

    effect: variant − original, in the metric's unit; n: pairs of outputs, cases: independent ones. p: of a mean of 0,
    paired by case; adjusted: after Holm's correction over the checks of the metric. more: cases that are wanting.
    verdict: `swayed` (significant and not below the tolerance), `steady` (the whole interval within the tolerance),
    `none` (no effect is found), `constant` (the judge gave every output the same score) or `few`.
    """

    kind: str
    title: str
    effect: float | None
    low: float | None
    high: float | None
    n: int
    cases: int
    p: float | None
    adjusted: float | None
    tolerance: float
    verdict: Verdict
    more: int = 0


def manipulation_checks(run: Run, only: tuple[str, str]) -> list[Check]:
    """Return the checks of one metric that the variants of the run's suite allow; none without variants."""
    column = metric_columns(run)[only]
    scores = output_scores(run, column).reshape(len(run.models), -1)
    found = [_check(kind, what, apart, clusters, column, scores) for kind, what, apart, clusters in _pairs(run, scores)]
    tested = [row for row in found if row.p is not None]
    adjusted = iter(holm(np.array([row.p for row in tested], np.float64)).tolist())
    return [row if row.p is None else _judged(replace(row, adjusted=next(adjusted)), column) for row in found]


def has_manipulations(run: Run) -> bool:
    """Return whether the suite of a run has variants of answers that its judge may be checked with."""
    kinds = run.case_columns(["perturbation"])["perturbation"].unique().to_pylist()
    return any(kind in MANIPULATIONS or SWAPPED.fullmatch(kind.casefold()) for kind in kinds if kind)


def all_equal(scores: Floats) -> bool:
    """Return whether scores (NaN: none) differ by no more than the rounding of a mean."""
    known = scores[~np.isnan(scores)]
    return not known.size or float(np.ptp(known)) <= NEAR * max(1.0, float(np.abs(known).max()))


def tolerance_of(column: Column, scores: Floats) -> float:
    """Return the effect below which a difference of a metric with these scores changes no decision."""
    return TOLERANCE * _reach(column, scores)


def _reach(column: Column, scores: Floats) -> float:
    """Return how far apart two scores can be: the metric's range, else that of the scores."""
    wide = column.high - column.low
    return float(wide if np.isfinite(wide) else np.nanmax(scores) - np.nanmin(scores))


def _pairs(run: Run, scores: Floats) -> Iterator[tuple[str, Manipulation, Floats, Ints]]:
    """Yield each manipulation with the differences of its pairs and the case of each."""
    columns = run.case_columns(["case_id", "perturbs", "perturbation"])
    origin = pc.index_in(columns["perturbs"], columns["case_id"].combine_chunks()).to_pylist()
    places: dict[str, dict[int, int]] = {}
    for place, (before, kind) in enumerate(zip(origin, columns["perturbation"].to_pylist(), strict=True)):
        if before is not None and kind:
            places.setdefault(kind, {})[before] = place
    units = run.sampling_design().units
    others = {kind: ORDER for kind in places if kind not in MANIPULATIONS and SWAPPED.fullmatch(kind.casefold())}
    for kind, what in (MANIPULATIONS | others).items():
        variants = places.get(kind, {})
        against = places.get(what.against, {}) if what.against else {before: before for before in variants}
        both = [before for before in variants if before in against]
        if not both:
            continue
        apart = scores[:, [variants[each] for each in both]] - scores[:, [against[each] for each in both]]
        known = ~np.isnan(apart)
        yield kind, what, apart[known], np.tile(units[both], len(scores))[known.ravel()]


def _check(kind: str, what: Manipulation, apart: Floats, units: Ints, column: Column, scores: Floats) -> Check:
    cases, tolerance = len(np.unique(units)), tolerance_of(column, scores)
    row = Check(kind, what.title, None, None, None, len(apart), cases, None, None, tolerance, "few")
    if cases < FEWEST_PAIRS:
        return replace(row, more=FEWEST_PAIRS - cases)
    if all_equal(scores):
        return replace(row, verdict="constant")
    codes = cluster_codes(units)
    effect, p = float(apart.mean()), float(paired_tests(apart[:, None], clusters=codes).p[0])
    if not all_equal(apart):
        low, high = (float(end[0]) for end in difference_intervals(apart[:, None], clusters=codes))
    else:  # equal pairs do not show that all would be equal
        reach = _reach(column, scores)
        most = float(wilson(0, cases)[1] or 0.0) * reach
        low, high = max(-reach, effect - most), min(reach, effect + most)
    return replace(row, effect=effect, low=low, high=high, p=p)


def _judged(row: Check, column: Column) -> Check:
    assert row.effect is not None
    assert row.low is not None
    assert row.high is not None
    assert row.adjusted is not None
    favour = -row.effect if column.direction == "lower" else row.effect
    deserved = MANIPULATIONS.get(row.kind, ORDER).only_higher and favour < 0
    significant = is_significant(row.adjusted)
    if significant and at_least(abs(row.effect), row.tolerance) and not deserved:
        return replace(row, verdict="swayed")
    within = at_least(row.low, -row.tolerance) and at_most(row.high, row.tolerance)
    return replace(row, verdict="steady" if within or (deserved and significant) else "none")
