"""Where is a model significantly worse than elsewhere?"""

from collections.abc import Sequence
from typing import NamedTuple

from metrics.analysis.slices.find_slices import (
    LEVEL as SEARCH_LEVEL,
    REPORT_LEVEL as LEVEL,
    FoundSlice,
    SliceSearch,
    searches,
    significant_slices,
)
from metrics.analysis.slices.slice_outcomes import DATA_SET, RESAMPLES, Measure
from metrics.analysis.slices.slice_values import SliceTable, SliceValue
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table, table_of
from metrics.presentation.format import ARROWS, MISSING, aligned, count, interval, number, p_value, plural
from metrics.presentation.phrases import signed
from metrics.presentation.question import question
from metrics.stats.slice_means import FEWEST, FEWEST_OPEN
from metrics.store import Run

MAX_SEARCHES = 10
MAX_UNITS = 60_000  # cases or objects of all searches together: a report must not take minutes
MAX_UNASKED = 500  # cases or boxes of a suite that is searched unasked
INTERVALS = {
    "wilson": "Wilson's, of a share",
    "bootstrap": "bootstrap over cases, or over their groups or images",
    "resampled": f"the metric's own, from {RESAMPLES} resamples of the slice's cases",
}
POOLED = (
    "the value drawn towards those of the other slices, the more the fewer cases it has and the less the slices differ "
    "(partial pooling): the better guess of what more cases would show; from four slices on"
)
DIFFERENCE_INTERVAL = (
    f"not adjusted for the number of slices shown; none where the slice or the rest has fewer than {FEWEST} cases or "
    f"groups ({FEWEST_OPEN} for a metric without upper or lower end), unless the metric is right or wrong per case"
)
COMPUTED = (
    "A metric of the whole data set is computed again on each slice of one feature and on the rest, with p from the 95 "
    "% interval of the difference, times the slices."
)
HEADS = (  # the longest last: a page fades it where it is cut
    Head("Model and metric", width=244),
    *(Head(title, right=True, width=62) for title in ("Value", "Rest", "n", "p")),
    Head("Slice", width=760),
)


class WorseSlice(NamedTuple):
    """A slice that is significantly worse than the rest; p is corrected for the number of searches."""

    p: float
    search: SliceSearch
    each: FoundSlice

    @property
    def numbers(self) -> str:
        """Its value, the rest's and n."""
        own = self.each.value
        title = self.search.measure.title
        of = "" if self.search.measure.of == "cases" else f" {self.each.value.slice.of}"
        return f"{title} {number(own.value)} instead of {number(own.rest)}, n = {own.n:,}{of}"


@question("slices", "Slices", "Where is a model worse than elsewhere?", "slices", short=MAX_UNASKED)
def where_is_it_worse(run: Run) -> list[Block]:
    """Return the slices of the first searches, p corrected for their number; nothing where nothing was searched."""
    found = slice_searches(run)
    if not found:
        return []
    rows = worse_slices(run)
    lines = [
        (
            f"{search.model}: {search.measure.title}",
            number(each.value.value),
            number(each.value.rest),
            count(each.value.n),
            p_value(p),
            each.value.words,
        )
        for p, search, each in rows
    ]
    links = [
        Link("slices", each.value.words, {"model": search.model, "key": search.measure.key}) for _, search, each in rows
    ]
    tables = [table("Slices worse than the rest", HEADS, lines, links=links)] if rows else []
    first = f"; first of all {rows[0].search.model}: {rows[0].each.value.words} ({rows[0].numbers})" if rows else ""
    return [Sentence(f"{answer(len(rows), sum(one.searched for one in found))}{first}."), *tables, Note(_method(found))]


def answer(worse: int, searched: int) -> str:
    """Return how many of the slices searched are worse, in a sentence without its full stop."""
    verb = "is" if worse == 1 else "are"
    return (
        f"{count(worse) if worse else 'None'} of {plural(searched, 'slice')} {verb} significantly worse than the rest"
    )


def worse_slices(run: Run) -> list[WorseSlice]:
    """Return the significant slices of the first searches, the surest first."""
    return [WorseSlice(*row) for row in significant_slices(slice_searches(run))]


def slice_searches(run: Run) -> list[SliceSearch]:
    """Return the first searches of a run that tested any slice; none of a run too large for a report."""
    cases = run.spec.suite.cases
    if cases > MAX_UNITS:  # the suite is not read to know it
        return []
    annotations = run.suite.annotations
    limit = min(MAX_SEARCHES, MAX_UNITS // max(1, cases, 0 if annotations is None else len(annotations)))
    return [search for search in searches(run, limit) if search.searched] if limit else []


def _method(found: Sequence[SliceSearch]) -> str:
    """Return what was searched and which test was used, in sentences."""
    models, metrics = ({getattr(search, name) for search in found} for name in ("model", "measure"))
    searched = sum(search.searched for search in found)
    units = "whole groups of cases" if any(search.clustered for search in found) else "cases"
    return (
        f"{plural(searched, 'slice')} of one or two features searched, for {plural(len(models), 'model')} and "
        f"{plural(len(metrics), 'metric')}. p: how often shuffling the values over {units} made any slice of a search "
        f"look as bad (maximum-statistic permutation test), times {plural(len(found), 'search', 'searches')} "
        f"(Bonferroni); shown at p ≤ {LEVEL:g}. Slices explained by another slice are left out."
        + (f" {COMPUTED}" if any(search.measure.of == DATA_SET for search in found) else "")
    )


# The Slices page


def search_blocks(found: SliceSearch) -> tuple[Sentence, list[Block]]:
    """Return what one search found: the answer, then each slice with its cases and how significance was decided."""
    slices = [Sentence(row.sentence, link=_cases_of(row.value, found.measure)) for row in found.slices]
    nothing = [] if slices or not found.draws else [Sentence(_detectable(found))]
    told = answer(len(found.slices), found.searched)
    if not found.searched:
        each = f"{count(found.least)} {found.noun}"
        told = f"none of the slices is tested, as that takes {each} in a slice and as many in the rest"
    of_metric = f"{found.model}, {found.measure.title}: {told[:1].lower()}{told[1:]}"
    return Sentence(of_metric), [*nothing, *slices, Note(_search_method(found))]


def feature_table(known: SliceTable, title: str, rows: Sequence[SliceValue], measure: Measure) -> Table:
    """Return the slices of one feature with all their numbers; a row leads to the cases of its slice."""
    of, method = known.noun, INTERVALS[str(known.overall.interval)]
    spans = [_span(row.difference_low, row.difference_high) for row in rows]
    pooled = [_span(row.pooled_low, row.pooled_high) for row in rows]
    return table_of(
        title,
        (Head(title, width=112), [row.label for row in rows]),
        (Head("Value", True, f"of the slice's {of}", 62), aligned([row.value for row in rows])),
        (Head("95 % interval", True, f"of the value: {method}", 116), [_span(row.low, row.high) for row in rows]),
        (Head("n", True, f"{of} of the slice that have a value", 48), [count(row.n) for row in rows]),
        (Head("Pooled", True, POOLED, 66), aligned([row.pooled for row in rows])),
        (Head("Difference", True, f"from all other {of}", 76), [signed(row.difference) for row in rows]),
        (Head("95 % of difference", True, DIFFERENCE_INTERVAL, 126), spans),
        (Head("95 % of pooled", True, "interval of the pooled value (Morris 1983)", 106), pooled),
        links=[_cases_of(row, measure) for row in rows],
    )


def overall_line(known: SliceTable, model: str, measure: Measure) -> str:
    """Return the overall value, with which the slices are compared."""
    row, unscored = known.overall, known.unscored
    bounds = interval(row.low, row.high)
    facts = f"{model} · {measure.title} {ARROWS[measure.direction]} {number(row.value)}"
    facts += f" (95 % {bounds})" if bounds else ""
    return facts + f" · {count(row.n)} {known.noun}" + (f" · {count(unscored)} unscored" if unscored else "")


def _span(low: float | None, high: float | None) -> str:
    return interval(low, high) or MISSING


def _cases_of(row: SliceValue, measure: Measure) -> Link:
    """Return the cases of a slice that have a value, which is what n counts."""
    where = {"evaluator": measure.evaluator, "model": row.slice.model, "slice": row.slice.address}
    own = {"metric": measure.metric, "status": "ok"} if measure.of == "cases" else {}
    return Link("cases", f"See the {plural(row.cases, 'case')}", where | own)


def _search_method(found: SliceSearch) -> str:
    if not found.draws:
        return f"Slices with n ≥ {count(found.least)}. {COMPUTED} Significant: p ≤ {SEARCH_LEVEL:g}."
    by_image = found.measure.of in ("objects", "predictions")
    units = "the values" if not found.clustered else "whole images" if by_image else "whole groups of cases"
    also = found.explained
    more = f" {count(also)} more {'is' if also == 1 else 'are'} worse only because of these." if also else ""
    return (
        f"Slices of one or two features with n ≥ {count(found.least)}. Significant: p ≤ {SEARCH_LEVEL:g}, the share of"
        f" {count(found.draws)} shuffles of {units} in which any slice looked as bad.{more}"
    )


def _detectable(found: SliceSearch) -> str:
    """Return how large a gap the search would have detected, by the size of the slice."""
    gaps = [(size, gap) for size, gap in found.detectable if gap != float("inf")]
    if not gaps:
        return f"{count(found.n)} {found.noun} are too few: no gap could be detected."
    (size, gap), *others = gaps
    more = "".join(f"; with {count(size)}, {number(gap)}" for size, gap in others)
    return f"With {count(size)} {found.noun}, a gap of {number(gap)} would be detected 80 % of the time{more}."
