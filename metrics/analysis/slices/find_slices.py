"""Slices and tags that are significantly worse than the rest, corrected for every one that was tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.analysis.slices.slice_features import features, mask_of
from metrics.analysis.slices.slice_outcomes import DATA_SET, Measure, Outcomes, measures, outcomes
from metrics.analysis.slices.slice_values import SLICED, SliceValue, valued
from metrics.core.array_types import Floats
from metrics.core.errors import InputError
from metrics.core.number_text import number, p_words
from metrics.core.rounding import at_most
from metrics.stats import slice_search
from metrics.stats.slice_search import DRAWS
from metrics.stats.student_t import Z95
from metrics.store import Run, cache_by_run, keep_by_run

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.02  # of the chance of any false finding in a search: readers see several searches
REPORT_LEVEL = 0.05  # of that in all searches of a report
FEWEST = 20  # units of a slice, at least
SHARE = 200  # or one in this many
CELLS = 10_000_000  # shuffled values of one search, at most
LEAST_DRAWS = 199
MOST_FACETS = 60
CONSEQUENCES = ("answer_length",)  # a wrong answer may be short: that is what the failure looks like, not where it is
COLUMNS = [
    "model", "evaluator", "metric", "slice", "n", "cases", "value", "low", "high", "rest", "difference",
    "difference_low", "difference_high", "p", "p_all", "searched", "address",
]  # fmt: skip
MIN_TAG_CASES = 5  # cases of a tag, and of the rest
MAX_TESTED_CASES = 20_000  # of a run that is tested when its insights are read; the page Slices tests larger ones
TAG_DRAWS = 399  # shuffles of the test of a tag


@dataclass(frozen=True, slots=True)
class FoundSlice:
    """A slice that is worse than the rest: its value, and p corrected for every slice that was tested."""

    value: SliceValue
    p: float
    sentence: str


@dataclass(frozen=True, slots=True)
class SliceSearch:
    """What a search found, the strongest first.

    searched: slices tested; explained: others below the level that the found ones account for; n units, `least` of
    them in a slice; draws: shufflings, 0 where there are none, see `_compared`; clustered: whole clusters were
    shuffled. detectable: for some sizes of a slice, how far below the rest it would have to be to be found with 80 %
    power; infinite where none could be.
    """

    measure: Measure
    model: str
    noun: str
    slices: tuple[FoundSlice, ...]
    searched: int
    explained: int
    n: int
    least: int
    draws: int
    clustered: bool
    detectable: tuple[tuple[int, float], ...]


def significant_slices(found: Sequence[SliceSearch]) -> list[tuple[float, SliceSearch, FoundSlice]]:
    """Return the slices that are significant over all these searches, the surest first; p is times their number."""
    rows = [(min(1.0, each.p * len(found)), search, each) for search in found for each in search.slices]
    return sorted((row for row in rows if at_most(row[0], REPORT_LEVEL)), key=lambda row: row[0])


@keep_by_run(maxsize=256, reads=SLICED)
def find_slices(
    run: Run, model: str, evaluator: str, metric: str, by_topic: bool = False, baseline: str | None = None
) -> SliceSearch:
    """Search every slice of one feature or two for those worse than the rest at p ≤ LEVEL after correction.

    See metrics.stats.slice_search: `search` for the test and its correction, `distinct` for what is left out as
    explained by another. Of a metric of the whole data set see `_compared`. InputError as `outcomes`, which says what
    a `baseline` does.
    """
    data = outcomes(run, model, evaluator, metric, by_topic, baseline)
    if data.computed is not None:
        return _compared(data)
    # the first facet of every feature before the second of any: a suite with many tags is searched by the others too
    every = [
        (place, facet, conditions)
        for way in features(data.known)
        for place, (facet, conditions) in enumerate(zip(way.facets, way.sets, strict=True))
    ]
    ways = [(facet, conditions) for _, facet, conditions in sorted(every, key=lambda way: way[0])[:MOST_FACETS]]
    late = [place for place, (_, conditions) in enumerate(ways) if conditions[0].feature in CONSEQUENCES]
    n, badness = len(data.values), data.badness
    least = max(FEWEST, n // SHARE)
    draws = int(np.clip(CELLS // max(1, n), LEAST_DRAWS, DRAWS))
    facets = [facet for facet, _ in ways]
    searched = slice_search.search(badness, facets, data.weights, data.clusters, least=least, draws=draws)
    kept = slice_search.distinct(searched, badness, data.weights, LEVEL, late)
    own = searched.candidates
    where = []
    for place, _ in kept:
        parts = [(own.first[place], own.first_set[place]), (own.second[place], own.second_set[place])]
        where.append(tuple(ways[facet][1][chosen] for facet, chosen in parts if facet >= 0))
    masks = np.array([searched.mask(place) for place, _ in kept]).reshape(len(kept), n)
    rows = valued(data, masks, where)
    total = len(own.n)
    sizes = [size for size in (least, n // 20, n // 5) if size == least or size >= 2 * least]
    reach = tuple((size, _possible(slice_search.detectable(searched, badness, size, LEVEL), badness)) for size in sizes)
    found = tuple(FoundSlice(row, p, sentence(row, p, total)) for row, (_, p) in zip(rows, kept, strict=True))
    explained, clustered = int((searched.p <= LEVEL).sum()) - len(kept), data.clusters is not None
    return SliceSearch(data.measure, model, data.noun, found, total, explained, n, least, draws, clustered, reach)


def _compared(data: Outcomes) -> SliceSearch:
    """Test every slice of one feature by the interval of its difference from the rest, p times the slices tested."""
    n = len(data.values)
    least = max(FEWEST, n // SHARE)
    where = [one for way in features(data.known) if way.name not in CONSEQUENCES for one in way.conditions]
    masks = [(mask_of(data.known, [one]), one) for one in where]
    kept = [(mask, one) for mask, one in masks if least <= mask.sum() <= n - least]
    rows = valued(data, np.array([mask for mask, _ in kept], bool).reshape(len(kept), n), [(one,) for _, one in kept])
    tested = [(row, min(1.0, normal_p(row, data.measure.direction) * len(rows))) for row in rows if row.difference]
    found = tuple(FoundSlice(row, p, sentence(row, p, len(rows))) for row, p in tested if row.worse and p <= LEVEL)
    ordered = tuple(sorted(found, key=lambda one: one.p))
    clustered = data.clusters is not None
    return SliceSearch(data.measure, data.model, data.noun, ordered, len(rows), 0, n, least, 0, clustered, ())


def normal_p(row: SliceValue, direction: str) -> float:
    """Return the two-sided p of a difference for which its 95 % interval ends on the side of 0; 1 without one."""
    near = row.difference_low if direction == "lower" else row.difference_high
    if near is None or row.difference is None or near == row.difference:
        return 1.0
    return math.erfc(Z95 * abs(row.difference / (near - row.difference)) / math.sqrt(2))


def _possible(difference: float, badness: Floats) -> float:
    """Return the difference, infinite where no slice can be so bad."""
    return difference if difference <= badness.mean() - badness.min() else float("inf")


def sentence(row: SliceValue, p: float, searched: int) -> str:
    """Return a found slice in a sentence."""
    of = "" if row.slice.of == "cases" else f" in {row.cases:,} images"
    return (
        f"{row.words}: {number(row.value)} instead of {number(row.rest)}, n = {row.n:,}{of}, {p_words(p)} after "
        f"correction for {searched:,} slices tested"
    )


def searches(run: Run, most: int | None = None) -> list[SliceSearch]:
    """Return the searches of every model by every primary measure that it has values of, at most `most` of them.

    Of the metrics of the whole data set only by the first: others mostly say the same, and each takes seconds.
    """
    primary = [one for one in measures(run) if one.primary and not one.minor]
    first = next((one for one in primary if one.of == DATA_SET), None)
    chosen = [one for one in primary if one.of != DATA_SET or one is first]
    found: list[SliceSearch] = []
    for one in chosen:
        for model in run.models:
            if most is not None and len(found) >= most:
                return found
            with suppress(InputError):  # this model has no value of it
                found.append(find_slices(run, model, one.evaluator, one.metric))
    return found


def slices(run: Run) -> pd.DataFrame:
    """Return the found slices of every model by every primary measure, the smallest p first: COLUMNS.

    p is corrected for the slices of its own search, p_all also for the number of searches (Bonferroni).
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    found = searches(run)
    for search in found:
        about = {
            "model": search.model,
            "evaluator": search.measure.evaluator,
            "metric": search.measure.metric.partition("?")[0],
            "searched": search.searched,
        }
        for each in search.slices:
            row = asdict(each.value) | {"slice": each.value.words, "address": each.value.slice.address}
            rows.append(row | about | {"p": each.p, "p_all": min(1.0, each.p * len(found))})
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("p", kind="stable", ignore_index=True)


@cache_by_run(maxsize=2048)
def weakest_tag(run: Run, model: str, evaluator: str, metric: str) -> tuple[SliceValue, float] | None:
    """Return the tag with the worst mean of a metric with a value per case, and its p.

    None without two groups of cases, or without a value.

    p: that tags have nothing to do with the values, by shuffling (metrics.stats.slice_search.search), corrected for
    every tag and pair of tags. Tags with fewer than MIN_TAG_CASES cases, or all but so few, are left out.
    """
    if run.spec.suite.cases > MAX_TESTED_CASES:
        return None
    try:
        data = outcomes(run, model, evaluator, metric, False)
    except InputError:  # none of the model's cases has a value
        return None
    way = next((way for way in features(data.known) if way.name == "tag"), None)
    if way is None:
        return None
    masks = [(one, mask_of(data.known, [one])) for one in way.conditions]
    sizes = [(one, mask) for one, mask in masks if MIN_TAG_CASES <= mask.sum() <= len(mask) - MIN_TAG_CASES]
    rows = valued(data, np.array([mask for _, mask in sizes]).reshape(len(sizes), -1), [(one,) for one, _ in sizes])
    sign = -1.0 if data.measure.direction == "lower" else 1.0
    worst = min(
        (place for place, row in enumerate(rows) if row.value is not None),
        key=lambda place: sign * (rows[place].value or 0.0),
        default=None,
    )
    if worst is None:
        return None
    found = slice_search.search(
        data.badness, list(way.facets), data.weights, data.clusters, least=MIN_TAG_CASES, draws=TAG_DRAWS
    )
    alone = np.flatnonzero(found.candidates.second < 0).tolist()
    same = [place for place in alone if (found.mask(place) == sizes[worst][1]).all()]
    return rows[worst], float(found.p[same[0]]) if same else 1.0
