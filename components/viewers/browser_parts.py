"""What scripts draw of their data alone: the heatmap, lists of cases, texts, chats and traces.

Every script inserts texts as text. No element of a rendered text can load or lead anywhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from components.viewers.browser_component import draw_in_browser, text_of, texts_of
from metrics.presentation.viewers import trace_steps
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.prose_blocks import TINTS
from metrics.presentation.viewers.viewer_files import WITH_CASES


class Asked(NamedTuple):
    """What was just asked for on the board: a sort (a column's key or NAME), columns (keys), how much a cell shows."""

    sort: str | None
    columns: list[str] | None
    cells: str | None


def heatmap(data: dict[str, Any], key: str = "heatmap") -> Asked:
    """Draw the leaderboard: models × metrics, coloured by goodness, every number with its interval and n.

    An HTML table, not `st.dataframe`: that is a canvas without hover texts per cell or a reading order, and takes
    seconds to style. Return what was just asked for; a click on a cell puts `cell` and `of` into the address.
    """
    drawn = draw_in_browser("heatmap", data, key, colour_css(), WITH_CASES, Asked._fields)
    return Asked(text_of(drawn.get("sort")), texts_of(drawn.get("columns")), text_of(drawn.get("cells")))


def case_list(rows: Sequence[dict[str, Any]], key: str) -> None:
    """Draw cases as links with answer, score and reason, walked over by keyboard; a click or Enter opens a case."""
    draw_in_browser("case_list", {"cases": list(rows)}, key, colour_css(), WITH_CASES)


def case_table(payload: Mapping[str, Any], key: str) -> None:
    """Draw what metrics.presentation.viewers.case_rows returned; a click or Enter opens a case with its model."""
    draw_in_browser("case_table", payload, key, colour_css(), WITH_CASES)


def prose(blocks: Sequence[dict[str, Any]], key: str, height: int = 420) -> None:
    """Draw texts with marks, or their Markdown, below each other in a box that scrolls beyond `height` pixels."""
    draw_in_browser("prose", {"blocks": blocks, "height": height}, key, TINTS)


def chat(view: Mapping[str, Any], key: str) -> None:
    """Draw a conversation (metrics.presentation.viewers.chat_turns.chat) with the verdicts on each turn beside it."""
    draw_in_browser("chat", view, key)


def trace(view: Mapping[str, Any], key: str) -> None:
    """Draw an agent's messages, reasoning and tool calls, step by step; if unreadable, the reason and its beginning."""
    if view["problem"]:
        st.text(view["problem"])
        st.code(view["raw"], language=None, wrap_lines=True, height=220)
        return
    draw_in_browser("trace", trace_steps.payload(view), key)
