"""How far a run is: a bar per evaluator with what is done, what failed and the time left."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from components.views.judge.judge_calls import spend_line
from metrics.presentation import format


def summary(progress: Mapping[str, Any], going: bool = True) -> str:
    """Return the run in a line: `340 of 1,200 done · 2 failed · 14 s spent · about 31 s left`; the last only while
    `going`.
    """
    entries = progress["evaluators"]
    done, total = sum(entry["done"] for entry in entries), sum(entry["total"] for entry in entries)
    failed = sum(entry["failed"] for entry in entries)
    parts = [f"{format.count(done)} of {format.count(total)} done"] if total else [progress["message"] or "Starting …"]
    if failed:
        parts.append(f"{format.count(failed)} failed")
    parts.append(f"{format.duration(progress['seconds_spent'])} spent")
    if going and progress["seconds_left"] is not None and done < total:
        parts.append(f"about {format.duration(progress['seconds_left'])} left")
    return " · ".join(parts)


def share(entries: Sequence[Mapping[str, Any]]) -> float:
    """Done of total, 0 … 1."""
    total = sum(entry["total"] for entry in entries)
    return min(1.0, sum(entry["done"] for entry in entries) / total) if total else 0.0


def line(entry: Mapping[str, Any]) -> str:
    """One evaluator in a line: `ROUGE · 120 of 477 · 2 failed`."""
    text = f"{entry['title']} · {format.count(entry['done'])} of {format.count(entry['total'])}"
    return f"{text} · {format.plural(entry['failed'], 'failed', 'failed')}" if entry["failed"] else text


def bars(progress: Mapping[str, Any]) -> None:
    """Draw the run's bar and one for each evaluator, and what its judge costs."""
    st.progress(share(progress["evaluators"]), text=summary(progress))
    if spent := spend_line(progress["judges"], progress["spend"], progress["budget"]):
        st.text(spent)
    columns = st.columns(3)
    for index, entry in enumerate(progress["evaluators"]):
        columns[index % 3].progress(share([entry]), text=line(entry))
