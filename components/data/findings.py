"""Findings of a run: problems, insights, perturbation flips, and the evidence for standards."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Compliance


@st.cache_resource(max_entries=16, show_spinner=False)
def problems(run_id: str) -> pd.DataFrame:
    """Return the models on the wrong side of a threshold; see metrics.analysis.problems. Read-only."""
    from metrics import analysis

    return analysis.problems(workspace().run(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def insights(run_id: str) -> pd.DataFrame:
    """Return what stands out in a run; see metrics.analysis.insights. Read-only."""
    from metrics import analysis

    return analysis.insights(workspace().run(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def flip_rates(run_id: str) -> pd.DataFrame:
    """Return how often each kind of perturbation flips each metric; see metrics.analysis.flip_rates. Read-only."""
    from metrics import analysis

    return analysis.flip_rates(workspace().run(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def flips(run_id: str, model: str, evaluator: str, metric: str, perturbation: str) -> pd.DataFrame:
    """Return the flips that one of these rates counts; see metrics.analysis.flips. Read-only."""
    from metrics import analysis

    of = {"model": model, "evaluator": evaluator, "metric": metric, "perturbation": perturbation}
    return analysis.flips(workspace().run(run_id), **of)


def flip_evidence(row: Mapping[Hashable, Any]) -> str:
    """Return how one of the rates compares with the copies, in words."""
    from metrics.analysis.findings.problems import flip_evidence

    return flip_evidence(dict(row))


@st.cache_resource(max_entries=16, show_spinner=False)
def compliance(run_id: str) -> Compliance:
    """Return standards × evaluators × models."""
    from metrics import analysis

    return analysis.compliance(workspace().run(run_id))


def compliance_words() -> tuple[str, dict[str, str]]:
    """Return the notice above the matrix, and the mark of each verdict."""
    from metrics.analysis.findings.compliance import GLYPHS, NOTICE

    return NOTICE, GLYPHS
