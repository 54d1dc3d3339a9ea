"""The report's section on multiplicity: what was tested, how many times and with which correction."""

from metrics.analysis.corrected_tests import corrected_tests, of_searches
from metrics.presentation.tested_words import HEADS, caution, question_row
from metrics.reports.report import Section, Table
from metrics.reports.sections.preferences import preference_tests
from metrics.reports.sections.slice_findings import slice_searches
from metrics.store import Run


def multiplicity_section(run: Run, with_slices: bool = True, with_preferences: bool = True) -> Section | None:
    """Return every question of the report that was tested; of slices and preferences only if the report has them."""
    rows = corrected_tests(run)
    if with_slices and (searches := slice_searches(run)):
        rows.append(of_searches(searches))
    if with_preferences:
        rows += preference_tests(run)
    if not rows:
        return None
    table = Table("Tests of this report", HEADS, tuple(map(question_row, rows)), (1, 3))
    return Section("tests", "What was tested", "How many chances to be wrong were there?", (table,), (caution(rows),))
