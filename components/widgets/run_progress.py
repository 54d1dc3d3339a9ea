"""How far a run is: a bar per evaluator with counts of done and failed, and the time left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from components.views.judge.judge_calls import spend_line
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import EvaluatorProgress, Progress
    from components.data.workspace_runs import RunProgress


def summary(progress: Progress, going: bool = True) -> str:
    """Return a run in a line: `340 of 1,200 done · 2 failed · 14 s elapsed · about 31 s left`; the last if `going`."""
    entries = progress.evaluators
    done, total = sum(entry.done for entry in entries), sum(entry.total for entry in entries)
    failed = sum(entry.failed for entry in entries)
    if not total and not progress.seconds_spent:
        return "Waiting to start"
    parts = [f"{format.count(done)} of {format.count(total)} done"] if total else [progress.message or "Starting …"]
    if failed:
        parts.append(f"{format.count(failed)} failed")
    if total and progress.message.startswith("waiting"):
        parts.append(progress.message)
    parts.append(f"{format.duration(progress.seconds_spent)} elapsed")
    if going and progress.seconds_left is not None and done < total:
        parts.append(f"about {format.duration(progress.seconds_left)} left")
    return " · ".join(parts)


def share(entries: Sequence[EvaluatorProgress]) -> float:
    """Return the share that is done, 0 … 1."""
    total = sum(entry.total for entry in entries)
    return min(1.0, sum(entry.done for entry in entries) / total) if total else 0.0


def line(entry: EvaluatorProgress) -> str:
    """Return one evaluator in a line: `ROUGE · 120 of 477 · 2 failed`."""
    text = f"{entry.title} · {format.count(entry.done)} of {format.count(entry.total)}"
    return f"{text} · {format.count(entry.failed)} failed" if entry.failed else text


def bars(run: RunProgress) -> None:
    """Draw the bar of a run and one for each evaluator, and what its judge costs."""
    st.progress(share(run.progress.evaluators), text=summary(run.progress))
    if spent := spend_line(run.judges, run.spend, run.budget):
        st.text(spent)
    columns = st.columns(3)
    for index, entry in enumerate(run.progress.evaluators):
        columns[index % 3].progress(share([entry]), text=line(entry))
