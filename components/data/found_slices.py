"""Slices of a run: what they are compared by, their values, those that a search finds, one read from an address."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from components.data.workspace_runs import workspace


@st.cache_resource(max_entries=64, show_spinner=False)
def slice_measures(run_id: str) -> dict[str, dict[str, Any]]:
    """Return what slices can be compared by, by key: records of metrics.analysis.slices.Measure. Read-only."""
    from metrics.analysis.slices import measures

    return {measure.key: asdict(measure) for measure in measures(workspace().run(run_id))}


def has_topics(run_id: str) -> bool:
    """Return whether enough cases have a question for topics to be found."""
    from metrics.analysis.slices import has_topics as enough

    return bool(enough(workspace().run(run_id)))


@st.cache_resource(max_entries=64, show_spinner=False)
def slice_values(run_id: str, model: str, evaluator: str, metric: str, topics: bool) -> dict[str, Any] | str:
    """Return every feature's slices, or in words why there are none. Read-only.

    overall, noun, unscored, features (name → title, slices). A slice is a record of
    metrics.analysis.slices.SliceValue with its `address`.
    """
    from metrics.analysis.slices import slice_values as table
    from metrics.core.errors import AssayError

    try:
        found = table(workspace().run(run_id), model, evaluator, metric, topics)
    except AssayError as failure:
        return str(failure)
    return {
        "overall": _record(found.overall), "noun": found.noun, "unscored": found.unscored,
        "features": {
            way.name: {"title": way.title, "slices": [_record(row) for row in way.slices]} for way in found.features
        },
    }  # fmt: skip


@st.cache_resource(max_entries=256, show_spinner=False)
def found_slices(run_id: str, model: str, evaluator: str, metric: str, topics: bool) -> dict[str, Any]:
    """Return what the search found, see metrics.analysis.slices.SliceSearch; slices are records. Read-only."""
    from metrics.analysis.slices import LEVEL, find_slices

    found = find_slices(workspace().run(run_id), model, evaluator, metric, topics)
    return {
        "searched": found.searched, "explained": found.explained, "n": found.n, "least": found.least,
        "draws": found.draws, "clustered": found.clustered, "noun": found.noun, "level": LEVEL,
        "detectable": list(found.detectable),
        "slices": [_record(row.value) | {"p": row.p, "sentence": row.sentence} for row in found.slices],
    }  # fmt: skip


@st.cache_resource(max_entries=256, show_spinner=False)
def read_slice(run_id: str, address: str, evaluator: str, metric: str) -> dict[str, Any]:
    """Return a slice of an address: words, model and, where the metric has a value per case, its `value` (a record or
    None).

    `problem` says, in words, why it cannot be read; None where it can.
    """
    from metrics.analysis.slices import in_words, one_slice, parse, positions
    from metrics.core.errors import AssayError

    run = workspace().run(run_id)
    try:
        chosen = parse(address)
        positions(run, chosen, evaluator)
        words = in_words(run, chosen)
    except AssayError as failure:
        return {"problem": str(failure), "words": "", "model": "", "value": None}
    key = f"{evaluator}/{metric}"
    value = _record(one_slice(run, evaluator, metric, chosen)) if key in slice_measures(run_id) else None
    return {"problem": None, "words": words, "model": chosen.model, "value": value}


def _record(row: Any) -> dict[str, Any]:
    return asdict(row) | {"address": row.slice.address, "of": row.slice.of}
