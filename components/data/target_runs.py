"""Models that answer a suite: their form, a try on one case, the estimate, and the process that asks them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import streamlit as st

from components.data.evaluation_inputs import Inputs, load_suite
from components.data.judge_settings import judge_facts
from components.data.visitors import action
from components.data.workspace_runs import workspace, workspace_path
from metrics.core.errors import AssayError, InputError, JudgeError
from metrics.judge.completion import CallFailed
from metrics.judge.settings import Budget
from metrics.presentation import format
from metrics.store.table_files import write
from metrics.suites.outputs_on_file import outputs_on_file, to_answer
from metrics.targets.complete import ask_once, check_fits
from metrics.targets.description import HttpTarget, ModelTarget, Target
from metrics.targets.estimate import estimate
from metrics.targets.jobs import create_job, job_of, web_targets
from metrics.targets.templates import known_names

if TYPE_CHECKING:
    import pandas as pd

    from metrics.core.suite import Suite
    from metrics.store import Progress

Described = Mapping[str, Any]  # a target, or a grid, as metrics.targets.spec understands it
MORE = ("temperature", "max_tokens", "top_p", "seed", "concurrency", "timeout", "tries", "requests_per_minute")
PATHS = ("answer", "contexts", "context_ids", "citations", "trace", "cost_usd", "tokens")
CALLS_AT_ONCE = 8  # of a grid that is tried
SPEED = ("concurrency", "timeout", "tries", "requests_per_minute")


class CompletionPlan(NamedTuple):
    """What asking would take: a line for each target; or why it is not possible."""

    lines: tuple[str, ...] = ()
    calls: int = 0
    problem: str = ""


class TriedTarget(NamedTuple):
    """One case asked: what was sent and what came back (JSON), or why nothing did."""

    case_id: str
    sent: str
    answer: str = ""
    reply: str = ""
    failure: str = ""


class CompletionFacts(NamedTuple):
    """A completion: its state, its progress by target, why it failed; the answers that failed, once it has finished.

    `fits`: it asked the cases of the suite that is chosen now.
    """

    state: str
    progress: Progress
    failure: str = ""
    answers: int = 0
    failed: pd.DataFrame | None = None
    fits: bool = True


def target_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of forms: `model` and `http` (further settings), `paths` of a reply, `budget`."""

    def part(schema: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        return {"properties": {name: schema["properties"][name] for name in names}}

    http = HttpTarget.model_json_schema()
    return {
        "model": part(ModelTarget.model_json_schema(), MORE), "http": part(http, SPEED), "paths": part(http, PATHS),
        "budget": Budget.model_json_schema(),
    }  # fmt: skip


def target_placeholders(inputs: Inputs) -> tuple[str, ...]:
    """Return the names that a prompt may have for the chosen suite; none where it cannot be read."""
    try:
        return known_names(load_suite(inputs).value)
    except AssayError:
        return ()


def plan_completion(inputs: Inputs, described: Described, repeats: int, budget: Mapping[str, Any]) -> CompletionPlan:
    """Return what asking these targets would take."""
    try:
        suite, targets = _checked(inputs, described)
        check_fits(suite, targets, repeats, Budget.model_validate(budget))
        found = estimate(suite, targets, repeats, workspace().path)
    except AssayError as failure:
        return CompletionPlan(problem=_words(failure))
    lacks = "; ".join(dict.fromkeys(text for target in targets if (text := _lacks(target))))
    return CompletionPlan(tuple(map(str, found)), sum(each.calls for each in found), lacks)


@action("editor", "ask a model one case", "case_id")
def try_target(inputs: Inputs, described: Described, case_id: str) -> TriedTarget:
    """Ask the first of these targets one case; nothing is recorded."""
    sent = ""
    try:
        suite, targets = _checked(inputs, described)
        request, answer = ask_once(suite.restricted(pa.array([case_id])), targets[0])
        sent = _json(request)
    except (AssayError, JudgeError, CallFailed) as failure:
        return TriedTarget(case_id, sent, failure=_words(failure))
    row = answer.as_row()
    return TriedTarget(case_id, sent, str(row.pop("answer", "")), _json(row) if row else "")


class TriedCase(NamedTuple):
    """One case asked of several targets: the answers by the targets' names, with ✗ and the reason where none came."""

    case_id: str
    question: str
    answers: Mapping[str, str]


@action("editor", "ask models the first cases", "inputs.suite")
def try_grid(inputs: Inputs, described: Described, count: int) -> tuple[TriedCase, ...]:
    """Ask every target the first `count` cases; nothing is recorded."""
    suite, targets = _checked(inputs, described)

    def ask(case_id: str, target: Target) -> str:
        try:
            _, answer = ask_once(suite.restricted(pa.array([case_id])), target)
        except (AssayError, JudgeError, CallFailed) as failure:
            return f"✗ {_words(failure)}"
        return str(answer.as_row().get("answer", ""))

    rows = suite.cases.select(["case_id", "question"]).slice(0, count).to_pylist()
    with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
        asked = {(row["case_id"], one.title): pool.submit(ask, row["case_id"], one) for row in rows for one in targets}
    return tuple(
        TriedCase(
            row["case_id"],
            row["question"] or "",
            {target.title: asked[row["case_id"], target.title].result() for target in targets},
        )
        for row in rows
    )


@action("editor", "have models answer a suite", "inputs.suite")
def start_completion(
    inputs: Inputs, described: Described, repeats: int, budget: Mapping[str, Any], retry_errors: bool = False
) -> tuple[str, str]:
    """Start a process that asks the targets every case; return its id, or "" and why it was not started."""
    try:
        suite, targets = _checked(inputs, described)
        job = create_job(workspace(), suite, targets, repeats, budget, retry_errors)
        if job.state != "running":
            job.start()
    except AssayError as failure:
        return "", _words(failure)
    return job.id, ""


def completion(job: str, inputs: Inputs) -> CompletionFacts | None:
    """Return the facts of a completion; None where there is none of that id."""
    import pandas as pd

    try:
        found = job_of(workspace(), job)
    except AssayError:
        return None
    state, progress = found.state, found.progress()
    if state != "finished" or found.outputs is None:
        return CompletionFacts(state, progress, found.failure)
    table = workspace().outputs(found.outputs).outputs.select(["case_id", "model", "run", "error"])
    rows = [row for row in table.to_pylist() if row["error"]]
    failed = pd.DataFrame(rows, columns=["case_id", "model", "run", "error"])
    try:
        fits = load_suite(inputs).value.fingerprint == found.spec["suite"]
    except AssayError:
        fits = False
    return CompletionFacts(state, progress, "", table.num_rows - len(rows), failed, fits)


@action("editor", "stop models that answer", "job")
def cancel_completion(job: str) -> None:
    """Stop a completion; its answers are kept."""
    job_of(workspace(), job).cancel()


def triable_cases(inputs: Inputs) -> list[str]:
    """Return the first cases of the chosen suite, to try one."""
    try:
        return list(load_suite(inputs).value.cases["case_id"].slice(0, 200).to_pylist())
    except AssayError:
        return []


def _checked(inputs: Inputs, described: Described) -> tuple[Suite, tuple[Target, ...]]:
    loaded = load_suite(inputs)
    if loaded.problems and not inputs.keep:
        raise InputError(loaded.problems)
    return loaded.value, web_targets(described)


def _lacks(target: Target) -> str:
    """Return what a target needs before it can be asked, in words; "" where it can."""
    if isinstance(target, ModelTarget):
        return judge_facts(target.settings().model_dump(mode="json")).lacks
    missing = [name for name in target.variables if not os.environ.get(name)] if isinstance(target, HttpTarget) else []
    return f"{' and '.join(missing)} is not set in the environment of this studio" if missing else ""


def _words(failure: Exception) -> str:
    if isinstance(failure, InputError) and failure.problems:
        return "\n".join(
            f"{problem.column or problem.file}: found {problem.found}; expected {problem.expected}"
            for problem in failure.problems
        )
    return str(failure)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def answers_on_file(suite: str) -> dict[str, str]:
    """Return the outputs of earlier runs that answer cases of a stored suite: fingerprint → models, cases, run."""
    return _on_file(str(workspace_path()), suite, tuple(run.id for run in workspace().runs()))


@st.cache_data(max_entries=64, show_spinner=False)
def _on_file(folder: str, suite: str, runs: tuple[str, ...]) -> dict[str, str]:  # noqa: ARG001 - the key
    stored = workspace().suite(suite)
    return {
        each.fingerprint: f"{format.shorten(', '.join(each.models), 60)} · {format.count(each.cases)} of "
        f"{format.plural(len(stored), 'case')} · {format.shorten(each.run, 40)}, {format.moment(each.created)}"
        for each in outputs_on_file((workspace().run(run) for run in runs), stored)
    }


def cases_to_answer(suite: str) -> bytes | None:
    """Return the cases of a stored suite as a CSV to be filled with answers; None where they are images."""
    frame = to_answer(workspace().suite(suite))
    return None if frame is None else bytes(write(frame, "csv"))
