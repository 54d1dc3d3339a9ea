"""What a run says in tables: leaderboard, comparison, cases, problems, insights; and the catalogue."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd


@st.cache_resource(max_entries=64, show_spinner=False)
def leaderboard(run_id: str, tag: str | None = None) -> dict[str, Any]:
    """Return the leaderboard as plain values, read-only: models, columns, cells by (model, column key), tags."""
    from metrics import analysis

    run = workspace().run(run_id)
    board = analysis.leaderboard(run, tag=tag)
    judged, judges = analysis.judged_evaluators(run), ", ".join(analysis.judge_names(run))
    names = [field.name for field in fields(analysis.Cell)]
    columns = [asdict(column) | {"judge": judges if column.evaluator in judged else ""} for column in board.columns]
    return {
        "models": list(board.models),
        "columns": columns,
        "cells": {key: {name: getattr(cell, name) for name in names} for key, cell in board.cells.items()},
        "tags": list(board.tags),
    }


@st.cache_resource(max_entries=256, show_spinner=False)
def headline(
    run_id: str, tag: str | None = None, keys: tuple[str, ...] | None = None, models: tuple[str, ...] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return which model leads in a sentence, and the models in that order: over all columns and models, or these."""
    from metrics import analysis

    found = analysis.headline(analysis.leaderboard(workspace().run(run_id), tag=tag), keys, models)
    return found.sentence, found.models


@st.cache_resource(max_entries=64, show_spinner=False)
def detectable(run_id: str, tag: str | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what the suite could reveal, by evaluator and metric: cases, units, detectable. See
    metrics.analysis.Ranks.
    """
    from metrics import analysis

    found = analysis.ranks(workspace().run(run_id), tag)
    return {
        key: {"cases": own.cases, "units": own.units, "detectable": own.detectable}
        for key, own in found.items()
        if own.detectable
    }


def cases_needed(run_id: str, tag: str | None, evaluator: str, metric: str, difference: float) -> int:
    """Return how many cases like those of the suite reveal a true `difference` of two models four times of five."""
    from metrics import analysis

    return analysis.ranks(workspace().run(run_id), tag)[evaluator, metric].cases_needed(difference)


@st.cache_resource(max_entries=256, show_spinner=False)
def cases(run_id: str, evaluator: str, metric: str, **choice: Any) -> tuple[pd.DataFrame, int]:
    """Return a page of the cases behind a number, and how many there are in all; see analysis.cases. Read-only."""
    from metrics import analysis

    page = analysis.cases(workspace().run(run_id), evaluator, metric, **choice)
    return page.rows, page.total


def value_bounds(least: str | None, below: str | None) -> dict[str, float]:
    """Return the part of `choice` that keeps the values from `least` up to, without, `below`, as an address has them."""
    found = {}
    for name, text in (("low", least), ("high", below)):
        with suppress(TypeError, ValueError):
            value = float(text)  # type: ignore[arg-type]
            found |= {name: value} if value == value else {}
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def comparison(
    run_id: str, model_a: str, model_b: str, other_id: str, tag: str | None, keys: tuple[str, ...], correction: str
) -> dict[str, Any]:
    """Model b of run `other_id` against model a on the metrics with these keys, p corrected over them. Read-only.

    model_a, model_b, cases, tested, clustered, notes; `rows`: a record per metric with values per case (a column's
    facts, see metrics.analysis.Difference, better, words); `resampled`: one per metric of the whole data set (see
    metrics.analysis.Resampled); `unpaired`: one per metric that cannot be paired, cells as `a` and `b`.
    """
    from metrics import analysis

    found = analysis.compare(workspace().run(run_id), model_a, model_b, tag, workspace().run(other_id))
    found = analysis.shown(found, keys, correction)  # type: ignore[arg-type]
    return {
        "model_a": model_a, "model_b": model_b, "cases": found.cases, "tested": found.tested,
        "clustered": found.clustered, "notes": list(found.notes),
        "rows": [_difference(row) for row in found.rows],
        "resampled": [_difference(row) for row in found.resampled],
        "unpaired": [asdict(entry.column) | {"a": asdict(entry.a), "b": asdict(entry.b)} for entry in found.unpaired],
    }  # fmt: skip


def _difference(row: Any) -> dict[str, Any]:
    return {**asdict(row.column), **asdict(row), "better": row.better, "words": row.words}


@st.cache_resource(max_entries=64, show_spinner=False)
def label_comparison(
    run_id: str, model_a: str, model_b: str, other_id: str, tag: str | None, key: str, correction: str
) -> list[dict[str, Any]]:
    """Return a metric of the whole data set label by label: records as `resampled` of `comparison`, and `label`.
    Read-only.
    """
    from metrics import analysis

    run, other = workspace().run(run_id), workspace().run(other_id)
    found = analysis.compare_labels(run, model_a, model_b, key, tag, other, correction)  # type: ignore[arg-type]
    return [_difference(row) for row in found]


@st.cache_resource(max_entries=128, show_spinner=False)
def differences(
    run_id: str, model_a: str, model_b: str, other_id: str, evaluator: str, metric: str, **choice: Any
) -> tuple[pd.DataFrame, int]:
    """Return a page of the cases behind a difference, the largest first, and how many there are in all. Read-only."""
    from metrics import analysis

    runs = workspace().run(run_id), workspace().run(other_id)
    page = analysis.differences(runs[0], model_a, model_b, evaluator, metric, other=runs[1], **choice)
    return page.rows, page.total


@st.cache_resource(max_entries=64, show_spinner=False)
def trend(run_ids: tuple[str, ...], key: str, models: tuple[str, ...], tag: str | None, correction: str) -> dict:
    """Return a metric over these runs of one suite: its column, models, tested, clustered, correction, and `stops`.
    Read-only.

    A stop is a record: run, name, created, model, value, low, high, n, unscored, before, words, settings; of its change
    significance, difference, change_low, change_high, p, adjusted, pairs (in words), outcomes (cases better,
    worse, equal): None, or () for `outcomes`, where there is none. See metrics.analysis.Stop.
    """
    from metrics import analysis

    runs = [workspace().run(run_id) for run_id in run_ids]
    found = analysis.trend(runs, key, models, tag, correction)  # type: ignore[arg-type]
    return {
        "column": asdict(found.column), "models": list(found.models), "tested": found.tested,
        "clustered": found.clustered, "correction": found.correction, "stops": [_stop(stop) for stop in found.stops],
    }  # fmt: skip


def _stop(stop: Any) -> dict[str, Any]:
    from metrics import analysis

    change = stop.change
    by_case = isinstance(change, analysis.Difference)
    names = {"significance": "significance", "difference": "difference", "change_low": "low", "change_high": "high"}
    names |= {"p": "p", "adjusted": "adjusted"}
    return {
        **{name: getattr(stop, name) for name in ("run", "name", "created", "model", "before", "words", "settings")},
        **{name: getattr(stop.cell, name) for name in ("value", "low", "high", "n", "unscored")},
        **{name: getattr(change, own, None) for name, own in names.items()},
        "pairs": f"{change.n:,} cases" if by_case else f"{change.resamples:,} resamples" if change else None,
        "outcomes": (change.wins, change.losses, change.ties) if by_case else (),
    }


@st.cache_resource(max_entries=16, show_spinner=False)
def problems(run_id: str) -> pd.DataFrame:
    """Return the models on the wrong side of a threshold; see metrics.analysis.findings.problems. Read-only."""
    from metrics.analysis import problems as found

    return found(workspace().run(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def insights(run_id: str) -> pd.DataFrame:
    """Return what stands out; see metrics.analysis.findings.insights. Read-only."""
    from metrics.analysis import insights as found

    return found(workspace().run(run_id))


@st.cache_resource(show_spinner=False)
def catalogue() -> dict[str, dict[str, Any]]:
    """Return every evaluator by id as plain values: what it declares, its doc, and the JSON `schema` of its
    parameters.
    """
    from metrics.core.registry import evaluators

    return {
        entry.id: {
            "id": entry.id, "title": entry.title, "family": entry.family, "tasks": list(entry.tasks),
            "inputs": list(entry.inputs), "resources": list(entry.needs), "summary": entry.summary,
            "doc": entry.doc, "sources": list(entry.sources), "standards": list(entry.standards),
            "differs_from": entry.differs_from, "version": entry.version, "shape": entry.shape,
            "metrics": [asdict(metric) | {"direction": metric.direction.value} for metric in entry.metrics],
            "schema": entry.parameters.model_json_schema(), "default_needs": list(entry.default_needs),
            "prompts": {prompt.id: prompt.text for prompt in entry.prompts},
        }
        for entry in evaluators().values()
    }  # fmt: skip


@st.cache_resource(max_entries=64, show_spinner=False)
def case_ids(run_id: str, evaluator: str, metric: str, **choice: Any) -> list[str]:
    """Return every case behind a number, each once, in the order of the list; `choice` as in `cases`. Read-only."""
    from metrics import analysis

    page = analysis.cases(workspace().run(run_id), evaluator, metric, **choice, limit=10_000_000)
    return page.rows["case_id"].drop_duplicates().tolist()
