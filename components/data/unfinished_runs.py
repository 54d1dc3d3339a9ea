"""What an unfinished run has scored so far."""

from __future__ import annotations

import time
from typing import NamedTuple

import streamlit as st

from components.data.workspace_runs import progress, workspace

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
def _known(folder: str) -> dict[str, _Last]:  # noqa: ARG001 - the cache's key
    return {}


def so_far(run_id: str) -> SoFar:
    """Return what an unfinished run has scored, not much older than a few seconds."""
    from metrics import engine
    from metrics.core.errors import RunBusy, RunNotFound

    run = workspace().run(run_id)
    known = _known(str(run.folder))
    last = known.get(run_id)
    if last is None or run.state != "running" or time.monotonic() - last.at > SELDOM * last.cost:
        begun = time.monotonic()
        try:
            found = engine.snapshot(run)
        except RunBusy:
            found = None
        if found is not None:
            last = known[run_id] = _Last(found.id, time.monotonic(), time.monotonic() - begun)
    board = None if last is None else last.board
    if board is not None:
        try:
            workspace().run(board)
        except RunNotFound:
            known.pop(run_id, None)
            board = None
    now = progress(run_id).progress.evaluators
    done = sum(entry.done >= entry.total > 0 for entry in now)
    return SoFar(board, done, len(run.evaluators))
