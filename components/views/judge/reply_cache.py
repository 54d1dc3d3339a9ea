"""The cache of the judge's replies: what it holds and has saved, clearing parts of it, export and import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from components.data import judge_settings, visitors
from components.views.judge.judge_calls import dollars
from components.widgets import uploads
from components.widgets.controls import download
from metrics.presentation.format import count, in_words, plural, share, size_text

if TYPE_CHECKING:
    from components.data import Statistics

EVERY = "Any"
DAYS = {
    None: "of any age",
    1: "older than a day",
    7: "older than a week",
    30: "older than 30 days",
    180: "older than 180 days",
}


def facts(held: Statistics) -> list[tuple[str, str, str]]:
    """Return the figures of the cache: title, value, meaning."""
    asked = held.hits + held.misses
    saved = dollars(held.saved_usd) if held.saved_usd or not held.unpriced_hits else "unknown"
    some = f"; of {plural(held.unpriced_hits, 'more hit')} the price is unknown" if held.unpriced_hits else ""
    return [
        ("Replies kept", count(held.replies), "Each is the reply of one judge to one distinct question."),
        ("Size", size_text(held.bytes), "On disk, in the workspace's cache folder. Nothing is evicted."),
        ("Hits", f"{count(held.hits)} ({share(held.hits, asked)})", "Questions answered without a call."),
        ("Misses", count(held.misses), "Questions that had to be asked."),
        ("Saved", saved, f"What the hits would have cost, {plural(held.saved_tokens, 'token')}{some}."),
    ]


def draw() -> None:
    """Draw the cache view of the judge page."""
    held = judge_settings.judge_cache()
    if isinstance(held, str):
        with st.container(border=True):
            st.subheader("The cache cannot be used", anchor=False)
            st.code(held, language=None, wrap_lines=True)
        return
    if held.replies or held.hits or held.misses:
        for place, (title, value, meaning) in zip(st.columns(5), facts(held), strict=True):
            place.metric(title, value, help=meaning)
    left, right = st.columns([3, 2], gap="large")
    with left:
        if held.replies:
            rows = [(judge, in_words(step), replies) for judge, step, replies in held.steps]
            steps = pd.DataFrame(rows, columns=["Judge", "Step", "Replies"])
            st.dataframe(steps, hide_index=True, height="auto" if len(steps) < 12 else 440)
        else:
            st.text("The cache is empty: the first judged run fills it. The same question is never paid for twice.")
    with right:
        if held.replies and visitors.may("admin"):
            _clear(held)
        if said := st.session_state.pop("cache-said", ""):
            st.text(said)
        _transfer(held)


def _clear(held: Statistics) -> None:
    with st.container(border=True):
        st.text("Clear a part", help="Cleared replies are asked for, and paid for, again when they are needed.")
        judges, steps, _ = zip(*held.steps, strict=True)
        judge = st.selectbox("Judge", [EVERY, *sorted(set(judges))], key="clear-judge")
        first, second = st.columns(2)
        step = first.selectbox("Step", [EVERY, *sorted(set(steps))], format_func=in_words, key="clear-step")
        days = second.selectbox("Age", list(DAYS), format_func=DAYS.__getitem__, key="clear-age")
        chosen = (None if judge == EVERY else judge, None if step == EVERY else step, days)
        sure = st.checkbox("Yes, remove these replies permanently", key=f"clear-sure-{chosen}")
        if st.button("Clear", icon=":material/delete:", disabled=not sure):
            st.session_state["cache-said"] = (
                f"✓ {plural(judge_settings.clear_cache(*chosen), 'reply', 'replies')} removed"
            )
            st.rerun()


def _transfer(held: Statistics) -> None:
    with st.container(border=True):
        st.text("Export and import", help="With the exported file, a run replays without any call: --replay FILE.")
        replies, empty = judge_settings.export_cache, not held.replies
        download("Export", replies, "judge-replies.jsonl.gz", mime="application/gzip", disabled=empty)
        if not visitors.may("admin"):
            return
        uploads.draw_import("Import an exported cache", "cache", ["gz", "jsonl"], _import)
        if said := st.session_state.pop("cache-imported", ""):
            st.text(said)


def _import(name: str, content: bytes) -> None:
    st.session_state["cache-imported"] = judge_settings.import_cache(name, content)
