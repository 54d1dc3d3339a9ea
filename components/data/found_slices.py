"""Slices of a run: what they are compared by, their values, what a search finds, one read from an address."""

from collections.abc import Mapping
from typing import NamedTuple

from components.data.run_reads import of_run
from metrics.analysis.slices.find_slices import find_slices
from metrics.analysis.slices.slice_conditions import Slice, parse
from metrics.analysis.slices.slice_features import features, known_of_suite
from metrics.analysis.slices.slice_outcomes import Measure, measures
from metrics.analysis.slices.slice_values import (
    SliceTable,
    SliceValue,
    condition_label,
    in_words,
    one_slice,
    positions,
    slice_values as values_of,
)
from metrics.analysis.slices.topics import has_topics as enough_questions
from metrics.core.errors import AssayError
from metrics.core.fields import METADATA
from metrics.presentation.blocks import Answer
from metrics.presentation.question import questions
from metrics.store import Run

MAX_READ = 100_000  # cases whose columns are read to filter by


class ReadSlice(NamedTuple):
    """A slice of an address in words, its model, and its value where the metric has values per case.

    `problem` says why it cannot be read, else "".
    """

    words: str = ""
    model: str = ""
    value: SliceValue | None = None
    problem: str = ""


found_slices = of_run(find_slices)
has_topics = of_run(enough_questions)


@of_run
def slice_measures(run: Run) -> Mapping[str, Measure]:
    """Return what slices can be compared by, by key."""
    return {measure.key: measure for measure in measures(run)}


@of_run
def answer_of_report(run: Run) -> Answer | None:
    """Return what the report says of every model and metric; None where there is nothing, or too much to ask it of."""
    asked = next(one for one in questions() if one.id == "where_is_it_worse")
    return asked.answer(run) if asked.is_quick(run) else None


@of_run
def column_slices(run: Run, model: str) -> dict[str, str]:
    """Return the slices of a suite by its own columns and classes, address → words; none of one too large to read."""
    if run.spec.suite.cases > MAX_READ:
        return {}
    known = known_of_suite(run)
    return {
        Slice(model, (one,)).address: f"{way.title}: {condition_label(known, one)}"
        for way in features(known)
        if way.name == "class" or way.name.startswith(METADATA)
        for one in way.conditions
    }


@of_run
def slice_values(
    run: Run, model: str, evaluator: str, metric: str, topics: bool, baseline: str | None
) -> SliceTable | str:
    """Return the slices of every feature, or in words why there are none."""
    try:
        return values_of(run, model, evaluator, metric, topics, baseline)
    except AssayError as failure:
        return str(failure)


@of_run
def read_slice(run: Run, address: str, evaluator: str, metric: str) -> ReadSlice:
    """Return the slice that an address names."""
    try:
        chosen = parse(address)
        positions(run, chosen, evaluator)
        words = in_words(run, chosen)
    except AssayError as failure:
        return ReadSlice(problem=str(failure))
    scored = f"{evaluator}/{metric}" in slice_measures(run.id)
    return ReadSlice(words, chosen.model, one_slice(run, evaluator, metric, chosen) if scored else None)
