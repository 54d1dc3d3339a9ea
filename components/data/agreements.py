"""What people say of a run's outputs, beside what its judge says: labels read, added, given; agreement and means."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import streamlit as st

from components.data.inputs import _problem_table, upload_folder
from components.data.workspace_runs import workspace
from components.widgets import column_mapping, uploads

Only = tuple[str, str]


def label_criteria(run_id: str) -> list[dict[str, Any]]:
    """Return what the outputs were labelled for, see human_labels.Criterion, and `middle`; [] without labels."""
    return _criteria(run_id, _version(run_id))


@st.cache_data(max_entries=64, show_spinner=False)
def _criteria(run_id: str, version: str) -> list[dict[str, Any]]:  # noqa: ARG001 - a part of the cache's key
    from metrics.analysis.labels.human_labels import criteria

    return [asdict(one) | {"middle": one.middle} for one in criteria(workspace().run(run_id))]


def label_sets(run_id: str) -> list[dict[str, Any]]:
    """Return the sets of labels, the oldest first: id, name, kind (upload, page), labels, raters, criteria, changed."""
    return [asdict(one) for one in _labels(run_id).sets()]


def remove_labels(run_id: str, set_id: str) -> None:
    """Remove a set of labels."""
    _labels(run_id).remove(set_id)


def read_labels(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> dict[str, Any]:
    """Return what an uploaded file of labels holds, or what is wrong with it.

    ok, name, problems (data frame), and where it could be read: columns, form, label_columns, ignored, file_columns,
    notes, labels (number), raters (number), criteria, head (data frame).
    """
    return _read(run_id, str(upload_folder()), token, pairs, sampling)


@st.cache_data(max_entries=16, show_spinner=False)
def _read(run_id: str, folder: str, token: str, pairs: tuple[str, ...], sampling: str) -> dict[str, Any]:
    from metrics.core.errors import InputError

    name = uploads.name_of(token, Path(folder))
    try:
        found = _file(run_id, token, pairs, sampling)
    except InputError as failure:
        return {"ok": False, "name": name, "problems": _problem_table(failure.problems), "columns": {}}
    table = found.table
    return {
        "ok": True, "name": name, "problems": _problem_table(found.problems), "columns": dict(found.columns),
        "form": found.form, "label_columns": list(found.label_columns), "ignored": list(found.ignored),
        "file_columns": list(found.file_columns), "notes": list(found.notes), "labels": len(table),
        "raters": len(table["rater"].unique()), "criteria": table["criterion"].unique().to_pylist(),
        "cases": len(table["case_id"].unique()),
    }  # fmt: skip


def add_labels(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> None:
    """Store the labels of an uploaded file that `read_labels` found to be ok."""
    found = _file(run_id, token, pairs, sampling)
    _labels(run_id).add(found.table, found.file)


def _file(run_id: str, token: str, pairs: tuple[str, ...], sampling: str) -> Any:
    from metrics.ingest.label_files import read_labels

    run, folder = workspace().run(run_id), upload_folder()
    return read_labels(
        folder / token, suite=run.suite, models=run.models, mapping=column_mapping.parse(pairs),
        filename=uploads.name_of(token, folder), sampling=sampling,  # type: ignore[arg-type]
    )  # fmt: skip


def give_label(
    run_id: str, case_id: str, model: str, rater: str, criterion: str, value: float | None, sampling: str,
    scale: tuple[float, float] = (0.0, 1.0),
) -> None:  # fmt: skip
    """Store one label that a rater gives in the page, on a scale; None: unsure."""
    _labels(run_id).give(case_id, model, rater, criterion, value, sampling, scale)  # type: ignore[arg-type]


def withdraw_label(run_id: str, case_id: str, model: str, rater: str, criterion: str) -> None:
    """Take back a label that a rater gave in the page."""
    _labels(run_id).withdraw(case_id, model, rater, criterion)


def label_queue(run_id: str, criterion: str, rater: str, only: Only | None, **choice: Any) -> dict[str, Any]:
    """Return what a rater has labelled and what comes next, see label_queue.queue; read anew each time."""
    from metrics.analysis.labels.label_queue import queue

    return asdict(queue(workspace().run(run_id), criterion, rater, only, **choice))


def trust_metrics(run_id: str) -> list[dict[str, Any]]:
    """Return the metrics that labels can be held against, those of a judge first: a column's facts and `judged`."""
    from metrics.analysis import judged_evaluators
    from metrics.analysis.labels.judge_agreement import metric_columns

    run = workspace().run(run_id)
    judged = judged_evaluators(run)
    return [asdict(column) | {"judged": column.evaluator in judged} for column in metric_columns(run).values()]


def rater_agreement(run_id: str, criterion: str) -> list[dict[str, Any]]:
    """Return how far people agree, see metrics.analysis.labels.judge_agreement.Raters; statistics as {value, low,
    high}.
    """
    return _raters(run_id, criterion, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner="Comparing the raters")
def _raters(run_id: str, criterion: str, version: str) -> list[dict[str, Any]]:  # noqa: ARG001 - a part of the key
    from metrics.analysis.labels.judge_agreement import rater_agreement

    return [asdict(pair) for pair in rater_agreement(workspace().run(run_id), criterion)]


def rater_outputs(run_id: str, criterion: str, left: str, right: str) -> list[dict[str, Any]]:
    """Return the outputs that two raters (with "" any two) labelled, those apart first: case_id, model, left, right."""
    from metrics.analysis.labels.judge_agreement import rater_outputs

    return rater_outputs(workspace().run(run_id), criterion, left, right)


def agreements(run_id: str, criterion: str, **choice: Any) -> list[dict[str, Any]]:
    """Return each metric beside the labels, see judge_agreement.Agreement: its facts, a column's facts, `key`."""
    return _agreements(run_id, criterion, _version(run_id), **choice)


@st.cache_resource(max_entries=64, show_spinner="Comparing scores and labels")
def _agreements(run_id: str, criterion: str, version: str, **choice: Any) -> list[dict[str, Any]]:  # noqa: ARG001
    from metrics.analysis.labels.judge_agreement import agreements

    return [_flat(one) for one in agreements(workspace().run(run_id), criterion, **choice)]


def agreement_slices(
    run_id: str, criterion: str, only: Only, passing: float | None, threshold: float | None
) -> list[dict[str, Any]]:
    """One metric beside the labels for each model and tag: as `agreements`, and kind (model, tag) and name."""
    return _slices(run_id, criterion, only, passing, threshold, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner="Comparing slice by slice")
def _slices(
    run_id: str, criterion: str, only: Only, passing: float | None, threshold: float | None, version: str  # noqa: ARG001
) -> list[dict[str, Any]]:  # fmt: skip
    from metrics.analysis.labels.judge_agreement import slices

    found = slices(workspace().run(run_id), criterion, only, passing, threshold)
    return [{"kind": kind, "name": name, **_flat(one)} for (kind, name), one in found.items()]


def cell_outputs(
    run_id: str, criterion: str, only: Only, threshold: float, cell: str, model: str | None = None,
    tag: str | None = None, passing: float | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the outputs in one cell of the confusion of people and judge: case_id, model, judge, people."""
    from metrics.analysis.labels.judge_agreement import cell_outputs, labelled_scores

    run = workspace().run(run_id)
    return cell_outputs(run, labelled_scores(run, *only, criterion, model, tag, passing), threshold, cell)


def corrected_means(run_id: str, criterion: str, only: Only, tag: str | None = None) -> dict[str, Any]:
    """Return each model's mean as judged and as corrected: rows as judge_agreement.Corrected, and about the sample.

    rows; ties, unsure, unanswered (drawn outputs without a label), sampled, labelled (outputs).
    """
    return _corrected(run_id, criterion, only, tag, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _corrected(run_id: str, criterion: str, only: Only, tag: str | None, version: str) -> dict[str, Any]:  # noqa: ARG001
    from metrics.analysis.labels.human_labels import human_labels
    from metrics.analysis.labels.judge_agreement import corrected_means

    run = workspace().run(run_id)
    people = human_labels(run, criterion)
    return {
        "rows": [asdict(row) for row in corrected_means(run, criterion, only, tag)],
        "ties": people.ties, "unsure": people.criterion.unsure, "unanswered": sum(people.unanswered.values()),
        "sampled": int(people.random.sum()), "labelled": int((people.given > 0).sum()),
    }  # fmt: skip


def judge_biases(run_id: str, criterion: str, only: Only, tag: str | None = None) -> list[dict[str, Any]]:
    """Return what sways the judge, see metrics.analysis.labels.judge_bias.Bias, and `found`: beyond chance."""
    return _biases(run_id, criterion, only, tag, _version(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _biases(run_id: str, criterion: str, only: Only, tag: str | None, version: str) -> list[dict[str, Any]]:  # noqa: ARG001
    from metrics.analysis.labels.judge_bias import biases

    return [asdict(one) | {"found": one.found} for one in biases(workspace().run(run_id), criterion, only, tag)]


def _flat(one: Any) -> dict[str, Any]:
    facts = asdict(one)
    return facts | {"key": one.column.key}


def _labels(run_id: str) -> Any:
    from metrics.store.label_sets import Labels

    return Labels(workspace().run(run_id))


def _version(run_id: str) -> str:
    """Of the labels: what is computed from them is computed anew when it changes."""
    return str(_labels(run_id).version)
