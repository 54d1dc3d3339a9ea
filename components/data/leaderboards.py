"""Leaderboards: every number of a run with its interval, how values spread, what answers cost; the evaluators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    from metrics.analysis import Distributions, Headline, Leaderboard, Ranks, Resource
    from metrics.core.evaluator import Evaluator


@st.cache_resource(max_entries=64, show_spinner=False)
def leaderboard(run_id: str, tag: str | None = None) -> Leaderboard:
    """Return the leaderboard over all cases, or over those with a tag."""
    from metrics import analysis

    return analysis.leaderboard(workspace().run(run_id), tag=tag)


@st.cache_resource(max_entries=256, show_spinner=False)
def headline(
    run_id: str, tag: str | None = None, keys: tuple[str, ...] | None = None, models: tuple[str, ...] | None = None
) -> Headline:
    """Return which model leads: over all columns and models of the leaderboard, or these."""
    from metrics import analysis

    return analysis.headline(leaderboard(run_id, tag), keys, models)


@st.cache_resource(max_entries=64, show_spinner=False)
def judges_of(run_id: str) -> Mapping[str, str]:
    """Return the names of the judges behind each judged evaluator, by evaluator. Read-only."""
    from metrics import analysis

    run = workspace().run(run_id)
    return dict.fromkeys(analysis.judged_evaluators(run), ", ".join(analysis.judge_names(run)))


@st.cache_resource(max_entries=64, show_spinner=False)
def detectable(run_id: str, tag: str | None = None) -> Mapping[tuple[str, str], Ranks]:
    """Return the metrics whose smallest detectable difference is known, by (evaluator, metric). Read-only."""
    from metrics import analysis

    return {key: found for key, found in analysis.ranks(workspace().run(run_id), tag).items() if found.detectable}


def distributions(
    run_id: str, evaluator: str, metric: str, models: tuple[str, ...], tag: str | None
) -> Distributions | None:
    """Return how a metric spreads over the cases of these models; None where it has no values per case."""
    from metrics import analysis

    return analysis.distributions(workspace().run(run_id), evaluator, metric, models, tag)


@st.cache_resource(max_entries=64, show_spinner=False)
def metrics_by_case(run_id: str) -> frozenset[tuple[str, str]]:
    """Return the metrics that have values per case, as (evaluator, metric)."""
    from metrics import analysis

    return analysis.metrics_by_case(workspace().run(run_id))


def resources(run_id: str, tag: str | None = None) -> tuple[Resource, ...]:
    """Return the mean cost, latency and tokens of each model's answers."""
    from metrics import analysis

    return analysis.resources(workspace().run(run_id), tag)


def catalogue() -> Mapping[str, Evaluator]:
    """Return every evaluator by id."""
    from metrics.core.registry import evaluators

    return evaluators()


@st.cache_resource(show_spinner=False)
def parameter_schema(evaluator: str) -> Mapping[str, Any]:
    """Return the JSON schema of an evaluator's parameters. Read-only."""
    return catalogue()[evaluator].parameters.model_json_schema()
