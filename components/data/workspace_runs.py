"""The workspace and its runs: which there are, how far each is, starting and stopping, the report."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.visitors import action, kept_here, place
from metrics import analysis
from metrics.core.errors import AssayError, RunBusy, RunError, RunNotFound
from metrics.core.presets import RUN_CODE
from metrics.store import Progress, Run, Workspace, origin
from metrics.store.board import is_board
from metrics.store.origin import sign_file
from metrics.store.run_spec import FILE
from metrics.suites import samples as bundled

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator
    from metrics.reports.baseline import Differences


class RunFacts(NamedTuple):
    """One run: `created` is an ISO time, `sample` the id of the bundled sample it is of (None: the user's own).

    evaluators: id → parameters; suite: name, task, fingerprint; outputs: their fingerprint; notes, tags: what people
    say of it; cancelling: it was asked to stop, and has not yet.
    """

    id: str
    name: str
    created: str
    sample: str | None
    models: tuple[str, ...]
    evaluators: Mapping[str, Mapping[str, Any]]
    suite: Mapping[str, Any]
    state: str
    outputs: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    cancelling: bool = False


class RunProgress(NamedTuple):
    """How far a run is, who judges it, what that has cost (None before the first call) and its budget."""

    progress: Progress
    judges: tuple[str, ...]
    spend: Mapping[str, Any] | None
    budget: Mapping[str, Any]


def workspace() -> Workspace:
    """Return the workspace that the visitor works in. Raises NotAllowed."""
    return Workspace(place())


def workspace_path() -> Path:
    """Return the path of the workspace that the visitor works in. Raises NotAllowed."""
    return place()


def open_run(run_id: str) -> Run:
    """Return the run of an id, or the board of an address such as `board:SUITE`, to be read. Raises RunNotFound."""
    return _open_stamped(run_id) if is_board(run_id) and "@" in run_id else analysis.open_run(workspace(), run_id)


@kept_here
def _open_stamped(run_id: str) -> Run:
    """Return a board by its id, which ends in a stamp of its content: its runs are listed once, not for each number."""
    return analysis.open_run(workspace(), run_id)


def runs() -> list[RunFacts]:
    """Return the runs that can be read, newest first."""
    return [_facts(run) for run in workspace().runs()]


def run_facts(run_id: str) -> RunFacts:
    """Return one run."""
    return _facts(open_run(run_id))


def _facts(run: Run) -> RunFacts:
    about = run.about
    asked = _asked_of(run) if isinstance(run, analysis.Board) else _asked(str(run.home))
    name = about.name or run.own_name
    return asked._replace(name=name, state=run.state, notes=about.notes, tags=about.tags, cancelling=run.cancelling)


def has_tables(run_id: str) -> bool:
    """Return whether the tables of a run are on this machine; those of a remote workspace come when they are read."""
    return any((open_run(run_id).home / "tables").glob("*.parquet"))


def damaged_runs() -> Mapping[str, str]:
    """Return why each run that cannot be read cannot, by id."""
    return workspace().damaged_runs()


@action("editor", "describe a run", "run_id", "name")
def describe_run(run_id: str, name: str, notes: str, tags: Sequence[str]) -> str:
    """Store the name, notes and tags of a run; return why not, "" where they are stored.

    A name equal to the one that the run has of itself is not stored.
    """
    run = workspace().run(run_id)
    try:
        run.describe(name="" if name == run.own_name else name, notes=notes, tags=tuple(tags))
    except AssayError as failure:
        return str(failure)
    return ""


@action("editor", "delete a run", "run_id")
def delete_run(run_id: str) -> None:
    """Move a run to the bin. Raises RunError while it is being worked on."""
    workspace().delete_run(run_id)


def deleted_runs() -> list[RunFacts]:
    """Return the runs in the bin, the last deleted first; of a damaged one only its id."""
    found = workspace().bin.runs()
    nothing = RunFacts("", "", "", None, (), {}, {}, "damaged")
    return [nothing._replace(id=run.id, name=run.id) if run.damage else _facts(run) for run in found]


@action("editor", "restore a run", "run_id")
def restore_run(run_id: str) -> None:
    """Move a deleted run back. Raises RunError where it is gone."""
    workspace().bin.restore(run_id)


@action("admin", "remove runs for good", "run_ids")
def empty_bin(run_ids: Sequence[str]) -> None:
    """Remove these deleted runs for good. Raises RunError where one of them is gone."""
    workspace().bin.empty(run_ids)


def run_evaluator(run_id: str, evaluator: str) -> Evaluator | None:
    """Return an evaluator as a run's parameters make it; None where this version of Assay does not have it."""
    return open_run(run_id).evaluator(evaluator)


def failure(run_id: str) -> str | None:
    """Return why a run failed, in words; None if it did not."""
    return open_run(run_id).failure


@lru_cache(maxsize=4096)
def _asked(folder: str) -> RunFacts:
    """Return what a run was asked for, which never changes; the caller fills in the rest."""
    return _asked_of(Run(Path(folder)))


def _asked_of(run: Run) -> RunFacts:
    return RunFacts(
        run.id, "", run.created, run.spec.sample, run.models, run.evaluators, run.spec.suite.model_dump(), "",
        run.spec.outputs.fingerprint,
    )  # fmt: skip


def progress(run_id: str) -> RunProgress:
    """Return how far a run is."""
    run = open_run(run_id)
    setting = run.spec.judge or {}
    return RunProgress(run.progress(), analysis.judge_names(run), run.spend, setting.get("budget", {}))


@action("editor", "stop a run", "run_id")
def cancel(run_id: str) -> None:
    """Ask a run's process to stop; what it has computed is kept."""
    from metrics import engine

    engine.cancel(workspace().run(run_id))


@action("editor", "resume a run", "run_id")
def resume(run_id: str) -> None:
    """Resume a run that stopped, in a process of its own."""
    from metrics import engine

    engine.resume(allowed_run(run_id))


@action("editor", "repeat a run", "run_id")
def repeat_run(run_id: str) -> str:
    """Start a new run that asks the same as a run, in a process of its own; return its id."""
    from metrics import engine

    again = engine.repeat(allowed_run(run_id), workspace())
    engine.start(again)
    return again.id


class Leave(NamedTuple):
    """What evaluating a stored run does beyond computing, in words; `is_foreign`: the run was not made here."""

    effects: tuple[str, ...]
    is_foreign: bool


def leave_for(run_id: str) -> Leave:
    """Return what an admin has to allow before a stored run is evaluated; no effects where that is nothing."""
    run = workspace().run(run_id)
    if effects := origin.foreign_effects(run):
        return Leave(effects, True)
    runs_code = any(own.get("allow") and id in RUN_CODE for id, own in run.evaluators.items())
    return Leave(origin.effects_of_run(run) if runs_code else (), False)


def allowed_run(run_id: str) -> Run:
    """Return a stored run that is to be evaluated, noted as let through. Raises NotAllowed; see `leave_for`."""
    run, leave = workspace().run(run_id), leave_for(run_id)
    if leave.effects:
        allow_code(", ".join((run.id, *leave.effects)))
    if leave.is_foreign:
        sign_file(run.home / FILE)
    return run


@action("admin", "run code that models wrote", "what")
def allow_code(what: str) -> None:
    """Raise NotAllowed where the visitor may not have code that models wrote run on the studio's machine."""
    del what  # it is in the audit log


def can_repair(run_id: str) -> bool:
    """Return whether a damaged run can be evaluated again: whether all that it is computed from is whole."""
    from metrics.store.run_check import can_be_made_again, check

    run = workspace().run(run_id)
    try:
        return bool(run.spec) and can_be_made_again(check(run))
    except RunError:
        return False


@action("editor", "repair a run", "run_id")
def repair(run_id: str) -> None:
    """Evaluate a damaged run again, in a process of its own; see metrics.engine.repair."""
    from metrics.engine.run_control import start_module

    run = allowed_run(run_id)
    arguments = ["verify", run.id, "--repair", "--workspace", str(run.workspace.path), "--quiet"]
    start_module(arguments, run.home / "log.txt")


def waits_for_sample() -> bool:
    """Start computing the first sample, once a session, where there is no run; return whether it is still computed."""
    if "sample_started" not in st.session_state:
        st.session_state["sample_started"] = bundled.start_first(workspace())
    return bool(st.session_state["sample_started"]) and not any(run.state == "finished" for run in runs())


@action("editor", "open a bundled sample", "name")
def open_sample(name: str) -> str:
    """Return the run of a bundled sample, and start it where it has not been computed."""
    return bundled.open_sample(workspace(), name).id


def sample_description(run_id: str) -> str | None:
    """Return what the bundled sample of a run is about; None for a run of the user's own."""
    sample = run_facts(run_id).sample
    return next((one.description for one in bundled.samples() if one.id == sample), None)


def sample_titles() -> dict[str, str]:
    """Return the bundled samples: id → title."""
    return {sample.id: sample.title for sample in bundled.samples()}


def sample_lines() -> list[tuple[str, str, str]]:
    """Return the bundled samples: id, title, and what each is about in a sentence; the first one first."""
    return sorted(
        ((one.id, one.title, one.line) for one in bundled.samples()), key=lambda each: each[0] != bundled.FIRST
    )


def report_sections() -> Mapping[str, tuple[str, str, bool]]:
    """Return the sections that a report can be made of, in their order: name → title, what it holds, unasked or not."""
    from metrics.reports.section_names import ON_REQUEST, SECTIONS

    return {name: (*words, name not in ON_REQUEST) for name, words in SECTIONS.items()}


class Replacing(NamedTuple):
    """A model that may replace another one, of the same run or of run `before`, by margins (column key, margin)."""

    model: str
    before: str
    model_before: str
    margins: tuple[tuple[str, float], ...]
    tag: str | None
    anytime: bool


@kept_here
def replacement(run_id: str, asked: Replacing) -> Differences:
    """Return whether a model of a run may replace another one."""
    from metrics.reports.baseline import replacement

    return replacement(
        open_run(run_id), asked.model, open_run(asked.before), asked.model_before, dict(asked.margins),
        asked.tag, asked.anytime,
    )  # fmt: skip


@action("viewer", "download a report", "run_id", "form")
def render_report(
    run_id: str, form: str, sections: Collection[str] | None = None, asked: Replacing | None = None,
    notes: Sequence[str] = (),
) -> bytes:  # fmt: skip
    """Return the report, or only its `sections`, as pdf, html or json; the tables as a zip of csv or parquet.

    asked: what the report says of a model that may replace another one; notes: sentences below its leaderboard.
    """
    from metrics.reports import render

    against = () if asked is None else [replacement(run_id, asked)]
    return bytes(render(open_run(run_id), form, sections, against, notes))


SELDOM = 10  # times as long as the last snapshot took is waited for the next one


class SoFar(NamedTuple):
    """An unfinished run: `board` is the id that its numbers are read by, None while there are none.

    `done` of `evaluators` evaluators are finished.
    """

    board: str | None
    done: int
    evaluators: int


class _Last(NamedTuple):
    board: str
    at: float
    cost: float


@st.cache_resource(max_entries=256, show_spinner=False)
def _hold_last(folder: str) -> dict[str, _Last]:  # noqa: ARG001 - the cache's key
    return {}


def is_there(run_id: str) -> bool:
    """Return whether the workspace has that run, or what an unfinished run had scored at that moment."""
    try:
        open_run(run_id)
    except RunNotFound:
        return False
    return True


def so_far(run_id: str) -> SoFar:
    """Return what an unfinished run has scored, not much older than a few seconds."""
    from metrics import engine

    run = workspace().run(run_id)
    known = _hold_last(str(run.folder))
    last = known.get(run_id)
    if last is None or run.state != "running" or time.monotonic() - last.at > SELDOM * last.cost:
        begun = time.monotonic()
        with suppress(RunBusy):
            if (found := engine.snapshot(run)) is not None:
                last = known[run_id] = _Last(found.id, time.monotonic(), time.monotonic() - begun)
    board = None if last is None else last.board
    if board is not None and not is_there(board):
        known.pop(run_id, None)
        board = None
    done = sum(entry.done >= entry.total > 0 for entry in progress(run_id).progress.evaluators)
    return SoFar(board, done, len(run.evaluators))
