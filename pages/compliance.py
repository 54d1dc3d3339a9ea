from collections.abc import Sequence

import streamlit as st

from components.data import run_reads
from components.widgets import filters, url
from components.widgets.frame import frame
from components.widgets.tables import cell_of, draw_columns, header, numeric, parted
from metrics.analysis import Standard
from metrics.analysis.findings.compliance import NOTICE as COMPLIANCE_NOTICE, MeasuredEvidence
from metrics.presentation import format
from metrics.presentation.format import column_name
from metrics.presentation.questions.what_is_evidence_for_standards import LEGEND, evidence_sentence, evidence_text

MODELS = 6  # columns shown unasked


def choose_models() -> list[int]:
    """Return the positions of the models to show: those chosen, else the first ones."""
    names = found.models
    chosen = filters.many("Models", names, "model", filters.unasked(names, MODELS))
    places = [names.index(name) for name in chosen] if chosen else list(range(min(MODELS, len(names))))
    if len(places) < len(names):
        shown = f"{format.plural(len(places), 'model')} of {format.count(len(names))}"
        st.caption(f"{shown} shown. Choose which in the sidebar.")
    return places


def tally(standard: Standard, place: int) -> str:
    """Return how many of the metrics of one model meet their threshold, miss it, or have none."""
    outcomes = [evidence.outcomes[place] for evidence in standard.evidence]
    passed, failed = (sum(name.startswith(word) for name in outcomes) for word in ("passed", "failed"))
    rest = len(outcomes) - passed - failed
    parts = [f"{glyph} {n}" for glyph, n in (("✓", passed), ("✗", failed), ("○", rest)) if n]
    return "  ".join(parts) or format.MISSING


def show_matrix(places: list[int]) -> str:
    """Draw standards × models; return the name of the standard that is looked at."""
    keys = [f"{standard.framework}: {standard.name}" for standard in shown]
    run_of_all = "how many of this task's evaluators that give evidence were run"
    measured = [f"{len(one.evidence)} of {len(one.evidence) + len(one.unmeasured)}" for one in shown]
    columns = {
        "framework": (header("Framework", 132), [standard.framework for standard in shown]),
        "standard": (header("Standard", 268), [standard.name[0].upper() + standard.name[1:] for standard in shown]),
        "measured": (numeric("Evaluators run", 104, run_of_all), measured),
    }
    for place in places:
        help = "✓ metrics that meet their threshold, ✗ that miss it, ○ without threshold or value"
        head = header(format.shorten(found.models[place], 24), 120, help)
        columns[f"m{place}"] = head, [tally(standard, place) for standard in shown]
    clicked = draw_columns(columns, "standards", tallest=36 + 35 * 10)
    if clicked is not None:
        url.put(standard=keys[clicked])
    asked = keys[clicked] if clicked is not None else url.param("standard")
    return str(asked if asked in keys else keys[0])


def show_standard(standard: Standard, places: list[int]) -> None:
    """Draw one standard: every number that is evidence for it, and the evaluators that were not run."""
    st.subheader(f"{standard.framework}: {standard.name}", anchor=False)
    st.text(standard.asks)
    if standard.evidence:
        show_evidence(standard.evidence, places)
    else:
        st.text("Nothing was measured for it in this run.")
    missing = standard.unmeasured
    if not missing:
        st.text(
            "Every evaluator of this task that gives evidence was run."
            if standard.evidence
            else "No evaluator gives evidence for it."
        )
        return
    st.text(
        f"Not measured: {format.plural(len(missing), 'evaluator')} would give evidence. Click one to read about it."
    )
    needs = [", ".join(need.replace("_", " ") for need in one.needs) for one in missing]
    columns = {
        "title": (header("Evaluator"), [one.title for one in missing]),
        "needs": (header("Needs", "large"), needs),
    }
    if (clicked := draw_columns(columns, f"missing-{standard.name}", tallest=36 + 35 * 5)) is not None:
        url.go("evaluators", evaluator=missing[clicked].evaluator)


def show_evidence(evidence: Sequence[MeasuredEvidence], places: list[int]) -> None:
    """Draw evaluators × models; a click on a number opens its cases."""
    metrics = [f"{column_name(one.column)} {format.ARROWS[one.column.direction]}" for one in evidence]
    limits = [one.column.limit for one in evidence]
    threshold = header("Threshold", max(80, 7 * max(map(len, limits))), "and whose it is, where it is not Assay's")
    columns = {
        "evaluator": (header("Evaluator", 150), [one.column.evaluator_title for one in evidence]),
        "metric": (header("Metric", 150), metrics),
        "threshold": (threshold, limits),
    }
    for place in places:
        head = header(format.shorten(found.models[place], 24), 192, "verdict, value, 95 % interval, n")
        columns[f"m{place}"] = head, [evidence_text(one, place) for one in evidence]
    clicked = cell_of(*parted(columns), "evidence", tallest=36 + 35 * 7)
    st.caption(f"{LEGEND} Click a number to see its cases.")
    if clicked is not None:
        row, name = evidence[clicked[0]].column, clicked[1]
        model = found.models[int(name.removeprefix("m"))] if name.removeprefix("m").isdigit() else None
        url.go("cases", run=run, evaluator=row.evaluator, metric=row.metric, model=model)


run = frame("compliance", "For which standards is there evidence, and what is missing?")
found = run_reads.compliance(run)
st.info(COMPLIANCE_NOTICE, icon=":material/info:")
st.text(evidence_sentence(found))
frameworks = list(dict.fromkeys(standard.framework for standard in found.standards))
framework = filters.one("Framework", frameworks, "framework")
shown = [standard for standard in found.standards if framework in (None, standard.framework)]
places = choose_models()
filters.reset(["framework", "model"])
asked = show_matrix(places)
show_standard(next(one for one in shown if f"{one.framework}: {one.name}" == asked), places)
