"""The report's section on defects of single cases: files that are not intact, answers too short to compare."""

from metrics.analysis.findings.problems import problems
from metrics.core.registry import title_of
from metrics.presentation.format import plural
from metrics.presentation.safe_text import safe
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_ROWS = 30
KINDS = ("artifact", "empty")


def defects_section(run: Run) -> Section | None:
    """Return the defects, files first; None for a run without any."""
    found = problems(run)
    rows = found[found["kind"].isin(KINDS)].to_dict("records")
    if not rows:
        return None
    table = Table(
        "Files and answers",
        ("Model", "Evaluator", "What is wrong", "Cases"),
        tuple((row["model"], title_of(row["evaluator"]), safe(row["message"]), f"{row['affected']:,}")
              for row in rows[:MOST_ROWS]), (3,),
    )  # fmt: skip
    more = len(rows) - MOST_ROWS
    notes = (f"{plural(more, 'more defect')}; export --what problems has all.",) if more > 0 else ()
    return Section(
        "defects", "Defects", "Which files are broken, and which answers are too short to compare?", (table,), notes
    )
