"""Comparisons: two models on the same cases, and one metric over the runs of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    from metrics.analysis import CasePage, Comparison, Resampled, Trend


@st.cache_resource(max_entries=64, show_spinner=False)
def comparison(
    run_id: str, model_a: str, model_b: str, other_id: str, tag: str | None, keys: tuple[str, ...], correction: str
) -> Comparison:
    """Return model b of run `other_id` against model a, on the metrics with these keys, p corrected over them."""
    from metrics import analysis

    found = analysis.compare(workspace().run(run_id), model_a, model_b, tag, workspace().run(other_id))
    return analysis.shown(found, keys, correction)  # type: ignore[arg-type]


@st.cache_resource(max_entries=64, show_spinner=False)
def label_comparison(
    run_id: str, model_a: str, model_b: str, other_id: str, tag: str | None, key: str, correction: str
) -> tuple[Resampled, ...]:
    """Return a metric of the whole data set label by label, p corrected over the labels."""
    from metrics import analysis

    run, other = workspace().run(run_id), workspace().run(other_id)
    return tuple(analysis.compare_labels(run, model_a, model_b, key, tag, other, correction))  # type: ignore[arg-type]


@st.cache_resource(max_entries=128, show_spinner=False)
def differences(
    run_id: str, model_a: str, model_b: str, other_id: str, evaluator: str, metric: str, **choice: Any
) -> CasePage:
    """Return a page of the cases behind a difference, the largest first. Read-only."""
    from metrics import analysis

    runs = workspace().run(run_id), workspace().run(other_id)
    return analysis.differences(runs[0], model_a, model_b, evaluator, metric, other=runs[1], **choice)


@st.cache_resource(max_entries=64, show_spinner=False)
def trend(run_ids: tuple[str, ...], key: str, models: tuple[str, ...], tag: str | None, correction: str) -> Trend:
    """Return a metric over these runs of one suite, each run compared with the one before it."""
    from metrics import analysis

    runs = [workspace().run(run_id) for run_id in run_ids]
    return analysis.trend(runs, key, models, tag, correction)  # type: ignore[arg-type]
