"""What was measured for each standard, and what was not: evidence, not certification."""

from collections.abc import Sequence

from metrics.analysis.findings.compliance import GLYPHS, NOTICE, Compliance, MeasuredEvidence, Standard, compliance
from metrics.core.standards import FRAMEWORKS
from metrics.presentation.blocks import Block, Link, Note, Sentence, Table, table
from metrics.presentation.format import count, plural
from metrics.presentation.guarantee_words import whose_thresholds
from metrics.presentation.phrases import metric_title, named, with_interval
from metrics.presentation.question import question
from metrics.store import Run

MOST_MODELS = 3  # columns
LEGEND = (
    "✓ meets the threshold, ✗ misses it; in brackets: the 95 % interval includes the threshold, or there is none. ○ "
    "measured, without a threshold. Each number: value, 95 % interval, n."
)


@question(
    "compliance",
    "Compliance",
    "For which standards is there evidence, and what is missing? Evidence, not certification.",
    "compliance",
    appendix=True,
)
def what_is_evidence_for_standards(run: Run) -> list[Block]:
    """Return each evaluator with the standards it gives evidence for and each model's value, and what is missing."""
    found = compliance(run)
    models = found.models[:MOST_MODELS]
    notes = [NOTICE, LEGEND]
    if len(found.models) > len(models):
        notes.append(
            f"{plural(len(found.models) - len(models), 'model')} not shown here: see the studio and the exports."
        )
    notes += [note for framework in FRAMEWORKS if (note := _missing(found.standards, framework))]
    tables = [_table(found, models)] if any(standard.evidence for standard in found.standards) else []
    answer = Sentence(evidence_sentence(found), link=Link("compliance", "See the standards"))
    return [answer, *tables, *map(Note, notes)]


def evidence_sentence(found: Compliance) -> str:
    """Return for how many standards there is evidence, and by whose thresholds models pass and fail."""
    measured = sum(bool(standard.evidence) for standard in found.standards)
    columns = {one.column.key: one.column for standard in found.standards for one in standard.evidence}
    judged = [column for column in columns.values() if column.threshold is not None]
    text = f"There is evidence for {count(measured)} of {plural(len(found.standards), 'standard')}"
    return f"{text}; {whose_thresholds(judged)}." if judged else f"{text}."


def _table(found: Compliance, models: Sequence[str]) -> Table:
    measured: dict[str, MeasuredEvidence] = {}
    standards: dict[str, dict[str, list[str]]] = {}
    for standard in found.standards:
        for one in standard.evidence:
            measured.setdefault(one.column.key, one)
            names = standards.setdefault(one.column.key, {}).setdefault(standard.framework, [])
            names.append(standard.name)
    rows = tuple(
        (
            metric_title(one.column),
            "; ".join(f"{framework}: {', '.join(names)}" for framework, names in standards[key].items()),
            one.column.limit,
            *(evidence_text(one, place) for place in range(len(models))),
        )
        for key, one in measured.items()
    )
    return table("Evidence", ("Evaluator", "Standards", "Threshold", *models), rows)


def evidence_text(one: MeasuredEvidence, place: int) -> str:
    """Return outcome, value, interval and n of the model at a place."""
    cell, glyph = one.cells[place], GLYPHS[one.outcomes[place]]
    if cell is None or cell.value is None:
        return glyph
    return f"{glyph} {with_interval(cell.value, cell.low, cell.high)}, n {cell.n:,}"


def _missing(standards: Sequence[Standard], framework: str) -> str:
    """Return the standards of a framework without any evidence, with the evaluators that would give some."""
    texts = []
    for standard in standards:
        if standard.framework == framework and not standard.evidence:
            others = named([one.title for one in standard.unmeasured])
            texts.append(standard.name + (f" (evaluators: {others})" if others else ""))
    return f"Not measured, {framework}: {'; '.join(texts)}." if texts else ""
