"""A text case: question, expected answers, contexts and the answers of the models, side by side.

Text written by a model or a file is drawn only by st.text, st.code and st.dataframe: as Markdown or HTML it could make
the browser send requests.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.viewers import browser_parts
from components.viewers.browser_component import draw_in_browser
from components.views.judge import judge_calls
from components.widgets.literal import literal
from metrics.presentation import format
from metrics.presentation.marked_text import TOO_LONG, Part, difference, with_claims
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import VerdictGroup
from metrics.presentation.viewers.case_texts import case_blocks, fact_parts, question_parts
from metrics.presentation.viewers.evidence_rows import payload
from metrics.presentation.viewers.prose_blocks import block, markdown_tree

ANSWER_HEIGHT = 210  # pixels of an answer before it scrolls
CASE_HEIGHT = 130
COLUMNS = 3  # models side by side
FIRST_LINE = 90  # characters of the first passage in the title of a folded list


def draw_case(case: Mapping[str, Any]) -> None:
    """Draw the question beside the expected answers, then everything else that the suite has for the case."""
    earlier, _ = question_parts(case)
    blocks = case_blocks(case)
    for start in range(0, len(blocks), COLUMNS):
        row = blocks[start : start + COLUMNS]
        for place, (title, text) in zip(st.columns(len(row)), row, strict=True):
            with place:
                draw_text(title, text, CASE_HEIGHT, len(row))
    draw_earlier(earlier)
    draw_list("Reference contexts", list(case["reference_contexts"] or []), "reference")


def draw_earlier(turns: Sequence[tuple[str, str]]) -> None:
    """Draw the earlier turns of a conversation, (role, text) each, in an expander; nothing for none."""
    if turns:
        with st.expander(f"Earlier turns ({len(turns)})", key="earlier-turns"):
            browser_parts.prose([block([Part(text)], role) for role, text in turns], "earlier")


def text_height(text: str, columns: int) -> int:
    """Return the approximate height in pixels of a text with its box, in one of so many columns."""
    per_line = 108 // columns
    return 36 + 23 * sum(max(1, -(-len(line) // per_line)) for line in text.split("\n"))


def draw_asked(case: Mapping[str, Any], height: int, expected_height: int) -> None:
    """Draw the question, what was said before it, and the first two expected answers."""
    earlier, (title, asked) = question_parts(case)
    draw_text(title, asked, height)
    draw_earlier(earlier)
    for index, expected in enumerate(list(case["expected_answers"] or [])[:2]):
        draw_text(f"Expected answer {index + 1}" if index else "Expected answer", expected, expected_height)


def draw_text(title: str, text: str | None, height: int, columns: int = 1, absent: str = "none given") -> None:
    """Draw a titled block of literal text in one of `columns`; it scrolls beyond `height` pixels."""
    # a box of fixed height only where the text needs one, so that short answers leave no hole
    with st.container(gap="xsmall"):
        st.text(title)
        with st.container(border=True, height=height if text_height(text or "", columns) > height else "content"):
            st.text(text if text else f"({absent})")


def has_markdown(answer: str) -> bool:
    """Return whether an answer has Markdown to render."""
    return markdown_tree(answer) is not None


def draw_answer(title: str, answer: str, key: str, groups: Sequence[VerdictGroup] = (), rendered: bool = False) -> None:
    """Draw an answer with the claims of a judge's verdicts marked, or, where `rendered`, its Markdown as elements."""
    tree = markdown_tree(answer) if rendered else None
    _draw_block(title, block(with_claims(answer, groups)) if tree is None else block(tree, rendered=True), key)


def draw_parts(title: str, parts: Sequence[Part], key: str, height: int = ANSWER_HEIGHT) -> None:
    """Draw a text of which words are marked."""
    _draw_block(title, block(parts), key, height)


def draw_difference(title: str, expected: str, answer: str, key: str, exact: bool = False) -> None:
    """Draw the answer compared with the expected one: what is only expected struck out, only answered underlined."""
    parts = difference(expected, answer, exact)
    draw_parts(title if parts is not None else f"{title} · {TOO_LONG}", parts or [Part(answer)], key)


def _draw_block(title: str, content: dict[str, Any], key: str, height: int = ANSWER_HEIGHT) -> None:
    with st.container(gap="xsmall"):
        st.text(title)
        browser_parts.prose([content], key, height)


def draw_list(title: str, texts: Sequence[str], key: str, ids: Sequence[str | None] | None = None) -> None:
    """Draw passages, with their ids if any, in an expander that shows how many and how they begin; nothing for none."""
    if not texts:
        return
    beginning = literal(format.shorten(texts[0].strip(), FIRST_LINE))
    with st.expander(f"{title} ({len(texts)}): {beginning}", key=key):
        for name, text in zip(context_titles(len(texts), ids), texts, strict=True):
            if ids:
                st.text(name)  # literal: an id could be Markdown
            else:
                st.caption(name)
            st.text(text)


def draw_marked_list(title: str, texts: Sequence[tuple[str, Sequence[Part]]], key: str) -> None:
    """Draw titled passages of which words are marked in an expander; nothing for none."""
    if texts:
        with st.expander(title, key=key):
            browser_parts.prose([block(parts, name) for name, parts in texts], f"{key}-texts")


def draw_evidence(
    score: Mapping[Hashable, Any], contexts: Sequence[str], key: str, ids: Sequence[str | None] | None = None
) -> None:
    """Why a score is what it is: the reason, the verdicts beside the contexts, the rest as plain data, who judged."""
    if said := score["reason"] if isinstance(score["reason"], str) else score["why"]:  # pandas has NaN for none
        st.text(said)
    if score["verdicts"]:
        _draw_list(score["verdicts"], contexts, f"evidence-{key}", ids)
    facts = []
    for title, kind, content in fact_parts(score["evidence"]):
        if kind == "fact":
            facts.append(f"{title}: {content}")
            continue
        if title:
            st.text(title)
        if kind == "table":
            st.dataframe(content, hide_index=True, height="auto" if len(content) < 8 else 280)
        else:
            st.code(content, language=None, wrap_lines=True, height="content" if len(content) < 600 else 220)
    if facts:
        st.text("\n".join(facts))
    if score["judge"]:
        judge_calls.draw_calls(score["judge"], key)


def draw_evaluator_evidence(
    scores: pd.DataFrame,
    title: str,
    contexts: Mapping[str, Sequence[str]],
    ids: Mapping[str, Sequence[str | None]],
    asked: bool = False,
) -> None:
    """Draw what the scores of one evaluator rest on, the outputs side by side; nothing where they have only values.

    `contexts` are those of each output, by its column, in order; `ids` theirs, empty where they have none. asked: say
    so where there is nothing.
    """
    has_evidence = scores["reason"].notna()
    for part in ("evidence", "verdicts", "judge"):
        has_evidence |= scores[part].map(bool)
    explained = scores[has_evidence].drop_duplicates(["column", "reason"])
    if explained.empty:
        if asked:
            st.text(f"{title}: a score without more evidence than its value.")
        return
    st.subheader(f"Why: {literal(title)}", anchor=False)
    for place, column in zip(st.columns(len(contexts)), contexts, strict=True):
        with place:
            if len(contexts) > 1:
                st.text(column)
            for row in explained[explained["column"] == column].to_dict("records"):
                key = f"{row['evaluator']}-{row['metric']}-{column}{'-asked' * asked}"
                draw_evidence(row, contexts[column], key, ids[column])


def _draw_list(
    groups: Sequence[VerdictGroup], contexts: Sequence[str], key: str, ids: Sequence[str | None] | None = None
) -> None:
    """Draw the verdicts of one score beside the contexts they rest on, each with its id if there is one."""
    draw_in_browser("evidence_list", payload(groups, contexts, ids), key)
