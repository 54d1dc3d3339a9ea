"""Slices of a run: what they are compared by, their values, what a search finds, one read from an address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    from metrics.analysis.slices.find_slices import SliceSearch
    from metrics.analysis.slices.slice_outcomes import Measure
    from metrics.analysis.slices.slice_values import SliceTable, SliceValue


class ReadSlice(NamedTuple):
    """A slice of an address in words, its model, and its value where the metric has values per case.

    `problem` says why it cannot be read, else "".
    """

    words: str = ""
    model: str = ""
    value: SliceValue | None = None
    problem: str = ""


@st.cache_resource(max_entries=64, show_spinner=False)
def slice_measures(run_id: str) -> Mapping[str, Measure]:
    """Return what slices can be compared by, by key. Read-only."""
    from metrics.analysis.slices.slice_outcomes import measures

    return {measure.key: measure for measure in measures(workspace().run(run_id))}


def has_topics(run_id: str) -> bool:
    """Return whether enough cases have a question for topics to be found."""
    from metrics.analysis.slices.topics import has_topics as enough

    return enough(workspace().run(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def slice_values(run_id: str, model: str, evaluator: str, metric: str, topics: bool) -> SliceTable | str:
    """Return the slices of every feature, or in words why there are none."""
    from metrics.analysis.slices.slice_values import slice_values as table
    from metrics.core.errors import AssayError

    try:
        return table(workspace().run(run_id), model, evaluator, metric, topics)
    except AssayError as failure:
        return str(failure)


@st.cache_resource(max_entries=256, show_spinner=False)
def found_slices(run_id: str, model: str, evaluator: str, metric: str, topics: bool) -> SliceSearch:
    """Return the slices that are significantly worse than the rest."""
    from metrics.analysis.slices.find_slices import find_slices

    return find_slices(workspace().run(run_id), model, evaluator, metric, topics)


def slice_level() -> float:
    """Return the level at which the search calls a slice significantly worse."""
    from metrics.analysis.slices.find_slices import LEVEL

    return LEVEL


@st.cache_resource(max_entries=256, show_spinner=False)
def read_slice(run_id: str, address: str, evaluator: str, metric: str) -> ReadSlice:
    """Return the slice that an address names."""
    from metrics.analysis.slices.slice_conditions import parse
    from metrics.analysis.slices.slice_values import in_words, one_slice, positions
    from metrics.core.errors import AssayError

    run = workspace().run(run_id)
    try:
        chosen = parse(address)
        positions(run, chosen, evaluator)
        words = in_words(run, chosen)
    except AssayError as failure:
        return ReadSlice(problem=str(failure))
    scored = f"{evaluator}/{metric}" in slice_measures(run_id)
    return ReadSlice(words, chosen.model, one_slice(run, evaluator, metric, chosen) if scored else None)
