"""Curves and numbers per class, and the matched objects behind a point, a bar or a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Listed, WorkingPoint

Series = tuple[str, int]  # model, repeat


@st.cache_resource(max_entries=32, show_spinner=False)
def curves(run_id: str, evaluator: str) -> pd.DataFrame:
    """Return the curves of an evaluator with the column `series`; see metrics.analysis.curves. Read-only."""
    from metrics import analysis

    return analysis.curves(workspace().run(run_id), evaluator)


@st.cache_resource(max_entries=64, show_spinner=False)
def curve_columns(run_id: str) -> Mapping[str, tuple[str, ...]]:
    """Return the evaluators of a run that have curves, and the columns of these. Read-only."""
    from metrics import analysis

    return analysis.curve_columns(workspace().run(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def label_metrics(run_id: str) -> Mapping[str, tuple[str, ...]]:
    """Return the evaluators of a run that have a number per class, and which metrics these are. Read-only."""
    from metrics import analysis

    return analysis.label_metrics(workspace().run(run_id))


@st.cache_resource(max_entries=128, show_spinner=False)
def label_numbers(run_id: str, evaluator: str, metrics: tuple[str, ...]) -> pd.DataFrame:
    """Return the numbers per class and over all of them; see metrics.analysis.label_numbers. Read-only."""
    from metrics import analysis

    return analysis.label_numbers(workspace().run(run_id), evaluator, metrics)


@st.cache_resource(max_entries=128, show_spinner=False)
def working_point(
    run_id: str, evaluator: str, series: Series, labels: tuple[str, ...], threshold: float
) -> WorkingPoint:
    """Return the objects behind one point of a curve by threshold. Read-only."""
    from metrics import analysis

    return analysis.working_point(workspace().run(run_id), evaluator, series, labels, threshold)


@st.cache_resource(max_entries=64, show_spinner=False)
def matched(run_id: str, evaluator: str, model: str, kinds: tuple[str, ...], label: str | None = None) -> Listed:
    """Return a model's matches of these kinds, best scores first. Read-only."""
    from metrics import analysis

    return analysis.matched(workspace().run(run_id), evaluator, model, kinds, label)


@st.cache_resource(max_entries=64, show_spinner=False)
def scored(run_id: str, evaluator: str, series: Series, low: float, high: float) -> Listed:
    """Return the right and wrong predictions with low < score ≤ high, best scores first. Read-only."""
    from metrics import analysis

    return analysis.scored(workspace().run(run_id), evaluator, series, low, high)


@st.cache_resource(max_entries=64, show_spinner=False)
def confused(
    run_id: str, evaluator: str, series: Series, labels: tuple[str, ...], predicted: tuple[str, ...]
) -> Listed:
    """Return what a cell of a confusion matrix counts. Read-only."""
    from metrics import analysis

    return analysis.confused(workspace().run(run_id), evaluator, series, labels, predicted)
