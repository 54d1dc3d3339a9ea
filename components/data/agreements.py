"""Human labels beside a judge's scores: labels read, added, given; agreement, corrected means and bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from components.data.uploaded_files import column_pairs, name_of, problem_table, upload_folder
from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    from metrics.analysis import Column
    from metrics.analysis.labels.corrected_means import Corrected
    from metrics.analysis.labels.human_labels import Criterion
    from metrics.analysis.labels.judge_agreement import Agreement
    from metrics.analysis.labels.judge_bias import Bias
    from metrics.analysis.labels.label_queue import Queue
    from metrics.analysis.labels.raters import Raters
    from metrics.ingest.label_files import LabelFile
    from metrics.store.label_sets import Labels, LabelSet

Only = tuple[str, str]  # evaluator, metric


class ReadLabels(NamedTuple):
    """An uploaded file of labels: its name, its problems, and what it holds unless it could not be read (None)."""

    name: str
    problems: pd.DataFrame
    file: LabelFile | None


class CorrectedMeans(NamedTuple):
    """Each model's mean as judged and as corrected, and the sample that the correction rests on, in outputs.

    ties: as many people pass as fail; unsure: labels; unanswered: drawn outputs without a label; sampled: of the random
    sample, among the labelled.
    """

    rows: tuple[Corrected, ...]
    ties: int
    unsure: int
    unanswered: int
    sampled: int
    labelled: int


def label_criteria(run_id: str) -> Sequence[Criterion]:
    """Return the criteria that outputs were labelled for; none without labels."""
    return _criteria(run_id, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _criteria(run_id: str, version: str) -> Sequence[Criterion]:  # noqa: ARG001 - a part of the cache's key
    from metrics.analysis.labels.human_labels import criteria

    return criteria(workspace().run(run_id))


def label_sets(run_id: str) -> Sequence[LabelSet]:
    """Return the sets of labels, oldest first."""
    return _labels(run_id).sets()


def remove_labels(run_id: str, set_id: str) -> None:
    """Remove a set of labels."""
    _labels(run_id).remove(set_id)


def read_labels(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> ReadLabels:
    """Return what an uploaded file of labels holds, or what is wrong with it."""
    return _read(run_id, str(upload_folder()), token, pairs, sampling)


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(run_id: str, folder: str, token: str, pairs: tuple[str, ...], sampling: str) -> ReadLabels:
    from metrics.core.errors import InputError

    name = name_of(token, Path(folder))
    try:
        found = _file(run_id, token, pairs, sampling)
    except InputError as failure:
        return ReadLabels(name, problem_table(failure.problems), None)
    return ReadLabels(name, problem_table(found.problems), found)


def add_labels(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> None:
    """Store the labels of an uploaded file that `read_labels` could read."""
    found = _file(run_id, token, pairs, sampling)
    _labels(run_id).add(found.table, found.file)


def _file(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> LabelFile:
    from metrics.ingest.label_files import read_labels

    run, folder = workspace().run(run_id), upload_folder()
    return read_labels(
        folder / token, suite=run.suite, models=run.models, mapping=column_pairs(pairs),
        filename=name_of(token, folder), sampling=sampling,  # type: ignore[arg-type]
    )  # fmt: skip


def give_label(
    run_id: str, case_id: str, model: str, rater: str, criterion: str, value: float | None, sampling: str,
    scale: tuple[float, float] = (0.0, 1.0),
) -> None:  # fmt: skip
    """Store one label that a rater gives in the page, on a scale; None: unsure."""
    _labels(run_id).give(case_id, model, rater, criterion, value, sampling, scale)  # type: ignore[arg-type]


def withdraw_label(run_id: str, case_id: str, model: str, rater: str, criterion: str) -> None:
    """Remove a label that a rater gave in the page."""
    _labels(run_id).withdraw(case_id, model, rater, criterion)


def label_queue(run_id: str, criterion: str, rater: str, only: Only | None, **choice: Any) -> Queue:
    """Return what a rater has labelled and what comes next; computed on every call."""
    from metrics.analysis.labels.label_queue import queue

    return queue(workspace().run(run_id), criterion, rater, only, **choice)


def labelled_metrics(run_id: str) -> Sequence[Column]:
    """Return the metrics that labels can be compared with, judged ones first."""
    from metrics.analysis.labels.labelled_scores import metric_columns

    return tuple(metric_columns(workspace().run(run_id)).values())


def rater_agreement(run_id: str, criterion: str) -> Sequence[Raters]:
    """Return how far raters agree with each other: all together, then pairs."""
    return _raters(run_id, criterion, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner="Comparing the raters")
def _raters(run_id: str, criterion: str, version: str) -> Sequence[Raters]:  # noqa: ARG001 - a part of the key
    from metrics.analysis.labels.raters import rater_agreement

    return rater_agreement(workspace().run(run_id), criterion)


def rater_outputs(run_id: str, criterion: str, left: str, right: str) -> Sequence[Mapping[str, Any]]:
    """Return the outputs that two raters ("": any two) labelled, differing ones first: case_id, model, left, right."""
    from metrics.analysis.labels.raters import rater_outputs

    return rater_outputs(workspace().run(run_id), criterion, left, right)


def agreements(run_id: str, criterion: str, **choice: Any) -> Sequence[Agreement]:
    """Return how far each metric agrees with the labels."""
    return _agreements(run_id, criterion, _version(run_id), **choice)


@st.cache_resource(max_entries=64, show_spinner="Comparing scores and labels")
def _agreements(run_id: str, criterion: str, version: str, **choice: Any) -> Sequence[Agreement]:  # noqa: ARG001
    from metrics.analysis.labels.judge_agreement import agreements

    return agreements(workspace().run(run_id), criterion, **choice)


def agreement_slices(
    run_id: str, criterion: str, only: Only, passing: float | None, threshold: float | None
) -> Mapping[tuple[str, str], Agreement]:
    """Return how far one metric agrees with the labels, by (`model` or `tag`, its name)."""
    return _slices(run_id, criterion, only, passing, threshold, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner="Comparing slice by slice")
def _slices(
    run_id: str, criterion: str, only: Only, passing: float | None, threshold: float | None, version: str  # noqa: ARG001
) -> Mapping[tuple[str, str], Agreement]:  # fmt: skip
    from metrics.analysis.labels.judge_agreement import agreement_slices

    return agreement_slices(workspace().run(run_id), criterion, only, passing, threshold)


def cell_outputs(
    run_id: str, criterion: str, only: Only, threshold: float, cell: str, model: str | None = None,
    tag: str | None = None, passing: float | None = None,
) -> Sequence[Mapping[str, Any]]:  # fmt: skip
    """Return the outputs in one cell of the confusion of people and judge: case_id, model, judge, people."""
    from metrics.analysis.labels.judge_agreement import cell_outputs
    from metrics.analysis.labels.labelled_scores import labelled_scores

    run = workspace().run(run_id)
    return cell_outputs(run, labelled_scores(run, *only, criterion, model, tag, passing), threshold, cell)


def corrected_means(run_id: str, criterion: str, only: Only, tag: str | None = None) -> CorrectedMeans:
    """Return each model's mean as judged and as corrected by the labels."""
    return _corrected(run_id, criterion, only, tag, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _corrected(run_id: str, criterion: str, only: Only, tag: str | None, version: str) -> CorrectedMeans:  # noqa: ARG001
    from metrics.analysis.labels.corrected_means import corrected_means
    from metrics.analysis.labels.human_labels import human_labels

    run = workspace().run(run_id)
    people = human_labels(run, criterion)
    return CorrectedMeans(
        tuple(corrected_means(run, criterion, only, tag)), people.ties, people.criterion.unsure,
        sum(people.unanswered.values()), int(people.random.sum()), int((people.given > 0).sum()),
    )  # fmt: skip


def judge_biases(run_id: str, criterion: str, only: Only, tag: str | None = None) -> Sequence[Bias]:
    """Return what the judge's score depends on besides the labels."""
    return _biases(run_id, criterion, only, tag, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _biases(run_id: str, criterion: str, only: Only, tag: str | None, version: str) -> Sequence[Bias]:  # noqa: ARG001
    from metrics.analysis.labels.judge_bias import biases

    return biases(workspace().run(run_id), criterion, only, tag)


def _labels(run_id: str) -> Labels:
    from metrics.store.label_sets import Labels

    return Labels(workspace().run(run_id))


def _version(run_id: str) -> str:
    """Return the version of the labels: what is computed from them is computed again when it changes."""
    return str(_labels(run_id).version)
