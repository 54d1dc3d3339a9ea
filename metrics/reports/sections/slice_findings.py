"""The report's section on slices: where a model is worse than elsewhere, beyond chance."""

from metrics.analysis.slices import SliceSearch, searches
from metrics.presentation.style import number, plural
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_SEARCHES = 10
MOST_UNITS = 60_000  # cases or objects of all searches together: a report is made while somebody waits
LEVEL = 0.05
HEADS = ("Model and metric", "Slice", "Value", "Rest", "n", "p")


def slices_section(run: Run) -> Section | None:
    """Return the found slices of the first searches, p corrected for their number too; None where nothing was looked
    at.
    """
    annotations = run.suite.annotations
    units = max(1, run.spec["suite"]["cases"], 0 if annotations is None else len(annotations))
    most = min(MOST_SEARCHES, MOST_UNITS // units)
    found = [search for search in searches(run, most) if search.searched] if most else []
    if not found:
        return None
    rows = [
        (min(1.0, each.p * len(found)), search, each)
        for search in found
        for each in search.slices
        if each.p * len(found) <= LEVEL
    ]
    table = tuple(
        (
            f"{search.model}: {search.measure.title}", each.value.words, number(each.value.value),
            number(each.value.rest), f"{each.value.n:,}", f"{p:.3f}",
        )
        for p, search, each in sorted(rows, key=lambda row: row[0])
    )  # fmt: skip
    return Section(
        "Slices", "Where is a model worse than elsewhere?",
        (Table("Slices worse than the rest", HEADS, table, (2, 3, 4, 5)),) if table else (),
        (_method(found, bool(table)),),
    )  # fmt: skip


def _method(found: list[SliceSearch], any_found: bool) -> str:
    """Return what was looked at and which test was used, in sentences."""
    models, metrics = ({getattr(search, name) for search in found} for name in ("model", "measure"))
    looked = sum(search.searched for search in found)
    nothing = "" if any_found else "No slice is worse than the rest beyond chance. "
    whole = ", whole groups of cases at a time" if any(search.clustered for search in found) else ""
    return (
        f"{nothing}{plural(looked, 'slice')} of one feature or two were looked at, for {plural(len(models), 'model')}"
        f" and {plural(len(metrics), 'metric')}. With so many, some look bad by chance alone: p is how often that"
        f" happened to any of them when the values were shuffled over the cases{whole} (maximum-statistic permutation"
        f" test), times the {plural(len(found), 'search', 'searches')} (Bonferroni); shown are p ≤ {LEVEL:g}. Slices"
        " that another one explains are left out."
    )
