"""Insights about the data that numbers rest on: cases that ask the same."""

from collections.abc import Iterator
from typing import Any

from metrics.analysis.findings.model_insights import Insight, insight_row
from metrics.store import Run


def equal_inputs(run: Run) -> Iterator[Insight]:
    """Yield how many cases ask the same as another, and what intervals and tests make of them."""
    found = run.spec.suite.equal_inputs
    if found is None:
        return
    cases, alike = run.spec.suite.cases, f"{found.alike:,} of {run.spec.suite.cases:,} cases ask the same as another"
    values: dict[str, Any] = {"value": found.units / cases, "affected": found.alike}
    if found.grouped:
        message = f"{alike}: intervals and tests take the {found.units:,} different inputs as units"
        yield insight_row("equal_inputs", message, evidence="duplicates = keep takes every case as a unit", **values)
    elif run.sampling_design().clusters is None:
        message = f"{alike}: intervals and tests take all {cases:,} as independent, so they may be too narrow"
        evidence = f"duplicates = group takes the {found.units:,} different inputs as units"
        yield insight_row("equal_inputs", message, severity="low", evidence=evidence, **values)
    elif found.across:
        message = f"{found.across:,} of {cases:,} cases ask the same as one of another group"
        evidence = "put them into one group, else intervals may be too narrow"
        yield insight_row("equal_inputs", message, severity="low", evidence=evidence, **values)
