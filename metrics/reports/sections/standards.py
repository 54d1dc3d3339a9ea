"""The report's section on standards: what was measured for each, what was not; evidence, never a certificate."""

from collections.abc import Sequence

from metrics.analysis.findings.compliance import FRAMEWORKS, GLYPHS, NOTICE, Compliance, Measured, Standard, compliance
from metrics.presentation.style import ARROWS, interval, number, plural
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_MODELS = 3  # columns
MOST_MISSING = 6  # evaluators named that were not run
LEGEND = (
    "✓ meets the threshold, ✗ misses it; in brackets: the 95 % interval reaches the other side, or there is none. ○ "
    "measured, without a threshold. Each number: value, 95 % interval, n."
)


def standards_section(run: Run) -> Section:
    """Return a table a framework: its standards, the evaluators that give evidence, what each model reached."""
    found = compliance(run)
    models = found.models[:MOST_MODELS]
    tables = tuple(_table(found, framework, models) for framework in FRAMEWORKS)
    notes = [NOTICE, LEGEND]
    if len(found.models) > len(models):
        notes.append(
            f"{plural(len(found.models) - len(models), 'model')} left out here: see the studio and the exports."
        )
    notes += [f"Not measured for {title}: {names}." for title, names in map(_missing, found.standards) if names]
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
    column = one.column
    same = column.metric == column.evaluator
    title = column.evaluator_title if same else f"{column.evaluator_title}: {column.title}"
    sign = "≤" if column.direction == "lower" else "≥"
    threshold = "" if column.threshold is None or column.direction == "none" else f"{sign} {column.threshold:g}"
    cells = []
    for cell, outcome in zip(one.cells[:models], one.outcomes[:models], strict=True):
        if cell is None or cell.value is None:
            cells.append(GLYPHS["unmeasured"])
            continue
        bounds = interval(cell.low, cell.high)
        cells.append(f"{GLYPHS[outcome]} {number(cell.value)}" + (f" ({bounds})" if bounds else "") + f", n {cell.n:,}")
    return (f"{title} {ARROWS[column.direction]}".rstrip(), threshold, *cells)


def _missing(standard: Standard) -> tuple[str, str]:
    """Return a standard, and the evaluators for it that were not run."""
    title = f"{standard.framework}, {standard.name}"
    titles = [one.title for one in standard.unmeasured]
    if not titles:
        return title, "" if standard.evidence else "no evaluator gives evidence for it"
    more = len(titles) - MOST_MISSING
    return title, ", ".join(titles[:MOST_MISSING]) + (f" and {more} more" if more > 0 else "")
