"""The report's section on slices: where a model is significantly worse than elsewhere."""

from typing import NamedTuple

from metrics.analysis.slices.find_slices import FoundSlice, SliceSearch, searches
from metrics.core.rounding import at_most
from metrics.presentation.format import number, p_value, plural
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_SEARCHES = 10
MOST_UNITS = 60_000  # cases or objects of all searches together: a report must not take minutes
LEVEL = 0.05
HEADS = ("Model and metric", "Slice", "Value", "Rest", "n", "p")


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
        return f"{title} {number(own.value)} instead of {number(own.rest)}, n = {own.n:,}"


def slices_section(run: Run) -> Section | None:
    """Return the slices of the first searches, p corrected for their number; None where nothing was searched."""
    found = slice_searches(run)
    if not found:
        return None
    rows = worse_slices(run)
    table = tuple(
        (
            f"{search.model}: {search.measure.title}", each.value.words, number(each.value.value),
            number(each.value.rest), f"{each.value.n:,}", p_value(p),
        )
        for p, search, each in rows
    )  # fmt: skip
    return Section(
        "slices", "Slices", "Where is a model worse than elsewhere?",
        (Table("Slices worse than the rest", HEADS, table, (2, 3, 4, 5)),) if table else (),
        (_method(found, bool(table)),),
    )  # fmt: skip


def worse_slices(run: Run) -> list[WorseSlice]:
    """Return the significant slices of the first searches, the surest first."""
    found = slice_searches(run)
    rows = [
        WorseSlice(min(1.0, each.p * len(found)), search, each)
        for search in found
        for each in search.slices
        if at_most(each.p * len(found), LEVEL)
    ]
    return sorted(rows, key=lambda row: row.p)


def slice_searches(run: Run) -> list[SliceSearch]:
    """Return the first searches of a run that tested any slice; none of a run too large for a report."""
    cases = run.spec.suite.cases
    if cases > MOST_UNITS:  # the suite is not read to know it
        return []
    annotations = run.suite.annotations
    units = max(1, cases, 0 if annotations is None else len(annotations))
    most = min(MOST_SEARCHES, MOST_UNITS // units)
    return [search for search in searches(run, most) if search.searched] if most else []


def _method(found: list[SliceSearch], any_found: bool) -> str:
    """Return what was searched and which test was used, in sentences."""
    models, metrics = ({getattr(search, name) for search in found} for name in ("model", "measure"))
    searched = sum(search.searched for search in found)
    nothing = "" if any_found else "No slice is significantly worse than the rest. "
    units = "whole groups of cases" if any(search.clustered for search in found) else "cases"
    return (
        f"{nothing}{plural(searched, 'slice')} of one or two features searched, for {plural(len(models), 'model')} and "
        f"{plural(len(metrics), 'metric')}. p: how often shuffling the values over {units} made any slice of a search "
        f"look as bad (maximum-statistic permutation test), times {plural(len(found), 'search', 'searches')} "
        f"(Bonferroni); shown at p ≤ {LEVEL:g}. Slices explained by another slice are left out."
    )
