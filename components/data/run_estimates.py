"""What a run would ask of its judge and reuse, estimated beside the page (ticks do not wait for it), and its start."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError as NotYet
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.evaluation_inputs import Inputs, evaluation_of, uploaded_data
from components.data.visitors import action, working_in
from components.data.workspace_runs import allow_code, runs, workspace, workspace_path
from metrics.core.errors import AssayError
from metrics.core.presets import RUN_CODE

if TYPE_CHECKING:
    from pathlib import Path

    from metrics.engine import Estimate

Parameters = Mapping[str, Mapping[str, Any]]  # of evaluators, by id
SAMPLE = 12  # cases that are simulated: enough for the order of magnitude, while evaluators are still being chosen
PATIENCE = 0.1  # seconds that a page waits for an estimate, before it is drawn without
KEPT = 64  # estimates that are remembered
MAX_COMPARED = 100_000  # outputs that are compared with those of earlier runs while evaluators are chosen


@dataclass(frozen=True, slots=True)
class _Asked:
    """An estimate under way or done; `stop` ends it where it stands."""

    future: Future[Estimate | str | None]
    stop: Event = field(default_factory=Event)


def estimate(
    inputs: Inputs, evaluators: tuple[str, ...], parameters: Parameters, resources: Mapping[str, Any],
    settings: Mapping[str, Any], of: str = "run",
) -> tuple[bool, Estimate | str | None]:  # fmt: skip
    """Return whether the estimate is there, and what the run with these further `settings` would ask of its judge.

    That is None if it asks none and reuses nothing, a text where there is no estimate. A session has one estimate under
    way `of` the run and of each question: asking for another one stops it.
    """
    from metrics.judge.open_judges import FOLDER

    folder = workspace_path()
    replies = folder / "cache" / FOLDER / "cache.db"
    known = replies.stat().st_mtime_ns if replies.exists() else 0
    key = json.dumps(
        [str(folder), repr(inputs), evaluators, parameters, resources, dict(settings), known], sort_keys=True
    )
    done = _done()
    if key in done:
        return True, done[key]
    current, asked = st.session_state.get(f"estimate-{of}", ("", None))
    if current != key:
        if asked is not None:
            asked.stop.set()
        stop = Event()
        given = {"evaluators": evaluators, "param": parameters, "resources": dict(resources), **settings}
        asked = _Asked(_worker().submit(_estimate, folder, inputs, given, stop), stop)
        st.session_state[f"estimate-{of}"] = (key, asked)
    try:
        found = asked.future.result(PATIENCE)
    except NotYet:
        return False, None
    if len(done) >= KEPT:
        done.pop(next(iter(done)), None)
    done[key] = found
    return True, found


def _estimate(folder: Path, inputs: Inputs, given: Mapping[str, Any], stop: Event) -> Estimate | str | None:
    from metrics.engine import Estimate
    from metrics.library.prepare import prepare

    if stop.is_set():
        return None
    try:
        with working_in(folder):
            data = uploaded_data(inputs)
            prepared = prepare(evaluation_of(inputs, data, **given), "page", data=data)
            reusable = prepared.reusable()
        found = prepared.estimate(sample=SAMPLE, stopped=stop.is_set, reusable=reusable)
        return found or (Estimate.without_judge(reusable) if reusable else None)
    except AssayError as failure:
        return str(failure)


@st.cache_resource(show_spinner=False)
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "estimates")


@st.cache_resource(show_spinner=False)
def _done() -> dict[str, Estimate | str | None]:
    return {}


def may_reuse(outputs: int) -> bool:
    """Return whether to look up what a run of so many outputs reuses: earlier runs may have some of its scores."""
    return outputs <= MAX_COMPARED and any(run.state == "finished" for run in runs())


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of the further settings of a run that the page asks for."""
    from metrics.engine.evaluation import Evaluation
    from metrics.engine.evaluation_fields import page_schema

    return page_schema(Evaluation)


def settings_of(inputs: Inputs) -> dict[str, Any]:
    """Return the further settings that the run had whose suite and outputs are evaluated again."""
    return {"as_in": workspace().run(inputs.suite).spec.as_in} if inputs.source == "run" else {}


def part_of_data(inputs: Inputs, settings: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Return what of the data a run with these further settings evaluates, a sentence each, or why that is nothing."""
    from metrics.library.case_choice import chosen_cases, merge_labels

    if not settings:
        return (), ""
    try:
        data = uploaded_data(inputs)
        evaluation = evaluation_of(inputs, data, **settings)
        kept, part = chosen_cases(evaluation, data.suite, "page")
        *_, merged = merge_labels(evaluation.label_map, data.suite, data.outputs, "page")
    except AssayError as failure:
        return (), str(failure)
    return tuple(part.model_copy(update={"label_map": merged}).in_words(len(kept)).values()), ""


@action("editor", "start a run", "name", "inputs.models", "evaluators")
def start(
    inputs: Inputs,
    evaluators: tuple[str, ...],
    parameters: Parameters,
    name: str | None,
    resources: dict[str, Any] | None = None,
    scheduler: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[str, str]:
    """Store suite and outputs, create the run and start it; return its id, or "" and why it was not started.

    `resources` chooses the models behind the evaluators, by kind; `scheduler` is one of `schedulers()`, if any;
    `settings` are those of `settings_schema`.
    """
    from metrics import engine
    from metrics.library.prepare import prepare

    try:
        if any(values.get("allow") and id in RUN_CODE for id, values in parameters.items()):
            allow_code(name or "")
        data = uploaded_data(inputs)
        given = {"evaluators": evaluators, "param": parameters, "name": name, "scheduler": scheduler}
        evaluation = evaluation_of(inputs, data, resources=resources or {}, **given, **(settings or {}))
        prepared = prepare(evaluation, "page", data=data)
        if prepared.data.problems and not inputs.keep:
            return "", "The files have problems that they did not have before; check them again."
        run = prepared.create()
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""


def schedulers() -> list[str]:
    """Return the Dask schedulers that whoever started the studio allows, from $ASSAY_SCHEDULERS."""
    return os.environ.get("ASSAY_SCHEDULERS", "").split()
