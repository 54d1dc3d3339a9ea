"""What a run says beyond its leaderboard: flips, compliance, how values spread, what the answers took."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd


@st.cache_resource(max_entries=16, show_spinner=False)
def flip_rates(run_id: str) -> pd.DataFrame:
    """Return how often each kind of perturbation flips each metric; see metrics.analysis.flip_rates. Read-only."""
    from metrics import analysis

    return analysis.flip_rates(workspace().run(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def flips(run_id: str, model: str, evaluator: str, metric: str, perturbation: str) -> pd.DataFrame:
    """Return the flips that one of these rates counts; see metrics.analysis.findings.flips. Read-only."""
    from metrics import analysis

    of = {"model": model, "evaluator": evaluator, "metric": metric, "perturbation": perturbation}
    return analysis.flips(workspace().run(run_id), **of)


def flip_evidence(row: dict[str, Any]) -> str:
    """Return what the copies say about one of the rates, in words."""
    from metrics.analysis.findings.problems import flip_evidence

    return flip_evidence(row)


@st.cache_resource(max_entries=64, show_spinner=False)
def case_texts(run_id: str, case_ids: tuple[str, ...]) -> pd.DataFrame:
    """Return what these cases ask, in their order: case_id, preview. Read-only."""
    from metrics.analysis.cases.case_pages import PREVIEW, TEXT

    found = (
        workspace()
        .run(run_id)
        .query(
            f"SELECT case_id, left({TEXT}, {PREVIEW}) AS preview FROM suite_cases WHERE case_id IN (SELECT unnest(?))",
            [list(case_ids)],
        )
    )
    return found.set_index("case_id").reindex(list(case_ids)).reset_index()


@st.cache_resource(max_entries=16, show_spinner=False)
def compliance(run_id: str) -> dict[str, Any]:
    """Standards × evaluators × models as plain values, read-only: `models`, `standards`, `glyphs`, `notice`.

    A standard has framework, name, asks, `evidence` (records: a column's facts, `cells` and `outcomes` of each model)
    and `unmeasured` (records: evaluator, title, needs); `glyphs` has the mark of each outcome.
    """
    from metrics import analysis
    from metrics.analysis.findings.compliance import GLYPHS, NOTICE

    found = analysis.compliance(workspace().run(run_id))
    standards = [
        {
            "framework": standard.framework, "name": standard.name, "asks": standard.asks,
            "evidence": [
                asdict(one.column) | {"outcomes": list(one.outcomes)}
                | {"cells": [None if cell is None else asdict(cell) for cell in one.cells]}
                for one in standard.evidence
            ],
            "unmeasured": [asdict(one) for one in standard.unmeasured],
        }
        for standard in found.standards
    ]  # fmt: skip
    return {"models": list(found.models), "standards": standards, "glyphs": dict(GLYPHS), "notice": NOTICE}


@st.cache_resource(max_entries=64, show_spinner=False)
def distributions(
    run_id: str, evaluator: str, metric: str, models: tuple[str, ...], tag: str | None
) -> dict[str, Any] | None:
    """Return how a metric spreads over cases: `edges` of the bins, and `models`: records of
    metrics.analysis.Distribution with its `box`. None where the metric has no values per case. Read-only.
    """
    from metrics import analysis

    found = analysis.distributions(workspace().run(run_id), evaluator, metric, models, tag)
    if found is None:
        return None
    return {"edges": list(found.edges), "models": [asdict(one) | {"box": one.box} for one in found.models]}


@st.cache_resource(max_entries=64, show_spinner=False)
def measured(run_id: str) -> set[tuple[str, str]]:
    """Return the metrics that have values per case: (evaluator, metric). Read-only."""
    rows = workspace().run(run_id).query("SELECT DISTINCT evaluator, metric FROM scores WHERE value IS NOT NULL")
    return set(rows.itertuples(index=False, name=None))


@st.cache_resource(max_entries=64, show_spinner=False)
def resources(run_id: str, tag: str | None = None) -> list[dict[str, Any]]:
    """Return what the answers took: a record per model and quantity, see metrics.analysis.Resource. Read-only."""
    from metrics import analysis

    return [asdict(one) for one in analysis.resources(workspace().run(run_id), tag)]
