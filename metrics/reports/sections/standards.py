"""The report's section on standards: what was measured for each and what was not; evidence, not certification."""

from collections.abc import Sequence

from metrics.analysis.findings.compliance import FRAMEWORKS, GLYPHS, NOTICE, Compliance, Measured, Standard, compliance
from metrics.presentation.format import plural
from metrics.presentation.phrases import limit, metric_title, named, with_interval
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_MODELS = 3  # columns
LEGEND = (
    "✓ meets the threshold, ✗ misses it; in brackets: the 95 % interval includes the threshold, or there is none. ○ "
    "measured, without a threshold. Each number: value, 95 % interval, n."
)


def standards_section(run: Run) -> Section:
    """Return a table per framework: its standards, the evaluators that give evidence, and each model's values."""
    found = compliance(run)
    models = found.models[:MOST_MODELS]
    tables = tuple(_table(found, framework, models) for framework in FRAMEWORKS)
    notes = [NOTICE, LEGEND]
    if len(found.models) > len(models):
        notes.append(
            f"{plural(len(found.models) - len(models), 'model')} not shown here: see the studio and the exports."
        )
    notes += [
        f"Not measured for {standard.framework}, {standard.name}: {missing}."
        for standard in found.standards
        if (missing := _missing(standard))
    ]
    question = "For which standards is there evidence, and what is missing? Evidence, not certification."
    return Section("Compliance", question, tables, tuple(notes))


def _table(found: Compliance, framework: str, models: Sequence[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    for standard in found.standards:
        if standard.framework != framework:
            continue
        rows += [
            (standard.name if not place else "", *_row(one, len(models))) for place, one in enumerate(standard.evidence)
        ]
        if not standard.evidence:
            rows.append((standard.name, "not measured", "", *[GLYPHS["unmeasured"]] * len(models)))
    return Table(framework, ("Standard", "Evaluator", "Threshold", *models), tuple(rows))


def _row(one: Measured, models: int) -> tuple[str, ...]:
    cells = []
    for cell, outcome in zip(one.cells[:models], one.outcomes[:models], strict=True):
        if cell is None or cell.value is None:
            cells.append(GLYPHS["unmeasured"])
        else:
            cells.append(f"{GLYPHS[outcome]} {with_interval(cell.value, cell.low, cell.high)}, n {cell.n:,}")
    return (metric_title(one.column), limit(one.column.threshold, one.column.direction), *cells)


def _missing(standard: Standard) -> str:
    """Return the evaluators for a standard that were not run; empty where all were."""
    nothing = "" if standard.evidence else "no evaluator gives evidence for it"
    return named([one.title for one in standard.unmeasured]) or nothing
