"""A text case: question, expected answers, contexts and the answers of the models, side by side.

Text written by a model or a file is drawn only by st.text, st.code and st.dataframe: as Markdown or HTML it could make
the browser send requests.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st

from components.viewers import evidence_list, prose
from components.views.judge import judge_calls
from metrics.presentation.format import MISSING, STATUSES, number
from metrics.presentation.markdown_tree import markdown_tree
from metrics.presentation.marked_text import Part, difference, last_turn, with_claims, words_of
from metrics.presentation.names import metric_name
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import VerdictGroup

ANSWER_HEIGHT = 210  # pixels of an answer before it scrolls
CASE_HEIGHT = 130
COLUMNS = 3  # models side by side
CONSTRAINTS = {"label": "True label", "conditions": "Conditions", "json_schema": "JSON schema"}


def closest(answer: str, expected: Sequence[str]) -> str:
    """Return the expected answer that shares the most words with the answer; empty if there is none."""
    words = set(words_of(answer))
    return max(expected, key=lambda text: len(words.intersection(words_of(text))), default="")


def score_table(scores: pd.DataFrame, titles: Mapping[str, str], columns: Sequence[str]) -> pd.DataFrame:
    """Return a table of evaluator and metric × output (`column` of `scores`); a cell is the value or its status."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for entry in scores.to_dict("records"):
        key = (
            titles[entry["evaluator"]],
            metric_name(entry["metric"], entry["evaluator"]),
        )
        rows.setdefault(key, dict.fromkeys(columns, ""))[entry["column"]] = score_text(entry["value"], entry["status"])
    return pd.DataFrame([{"evaluator": title, "metric": metric, **cells} for (title, metric), cells in rows.items()])


def score_text(value: float | None, status: str) -> str:
    """Return the value, or the status in words if there is none."""
    missing = value is None or pd.isna(value)
    return STATUSES.get(status, status) if missing and status != "ok" else number(value)


def fact_parts(facts: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Return facts as (title, kind, content): `table` a data frame, `code` long or nested text, `fact` a short value.

    Consecutive records with the same fields become one table.
    """
    parts: list[tuple[str, str, Any]] = []
    for fields, group in groupby(facts.items(), key=lambda item: _fields(item[1])):
        records = list(group)
        if fields and len(records) > 1:
            rows = [{"": _title(name), **{_head(k): _flat(v) for k, v in record.items()}} for name, record in records]
            parts.append(("", "table", pd.DataFrame(rows)))
        else:
            parts += [_part(_head(name), value) for name, value in records]
    return parts


def _part(title: str, value: Any) -> tuple[str, str, Any]:
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        return title, "table", pd.DataFrame([{_head(k): _flat(cell) for k, cell in item.items()} for item in value])
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return title, "table", pd.DataFrame({title: value})
    if _fields(value):
        return title, "fact", " · ".join(f"{_title(key)} {_flat(cell)}" for key, cell in value.items())
    if isinstance(value, str) and len(value) > 80:
        return title, "code", value
    if isinstance(value, Mapping | list) and value:
        return title, "code", json.dumps(value, ensure_ascii=False, indent=1)
    return title, "fact", _flat(value)


def _fields(value: Any) -> tuple[str, ...]:
    """Return the keys of a record of short values; empty for anything else."""
    if not isinstance(value, Mapping) or any(
        isinstance(cell, Mapping | list) or len(str(cell)) > 80 for cell in value.values()
    ):
        return ()
    return tuple(value)


def _title(name: str) -> str:
    return str(name).replace("_", " ")


def _head(name: str) -> str:
    title = _title(name)
    return title[:1].upper() + title[1:]


def _flat(value: Any) -> Any:
    if isinstance(value, bool):
        return "✓" if value else "✗"
    if value is None:
        return MISSING
    if value in ([], {}):
        return "none"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | list) else str(value)


def draw_case(case: Mapping[str, Any]) -> None:
    """Draw the question beside the expected answers, then everything else that the suite has for the case."""
    expected = list(case["expected_answers"] or [])
    earlier, asked = question_parts(case)
    blocks = [asked]
    blocks += [
        ("Expected answer" if len(expected) == 1 else f"Expected answer {n + 1}", e) for n, e in enumerate(expected)
    ]
    blocks += [(title, case[name]) for name, title in CONSTRAINTS.items() if case.get(name)]
    blocks = [(title, text) for title, text in blocks if text]
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
            prose.draw([prose.block([Part(text)], role) for role, text in turns], "earlier")


def question_parts(case: Mapping[str, Any]) -> tuple[Sequence[tuple[str, str]], tuple[str, str | None]]:
    """Return the earlier turns of a case's conversation, (role, text) each, and what it asks now: title, text."""
    if case["question"] is None:
        return (), ("Source text", case["source_text"])
    conversation = last_turn(case["question"])
    if conversation is None:
        return (), ("Question", case["question"])
    earlier, last = conversation
    return earlier, (f"Question: last turn ({last.role})", last.text)


def text_height(text: str, columns: int) -> int:
    """Return the approximate height in pixels of a text with its box, in one of so many columns."""
    per_line = 108 // columns
    return 36 + 23 * sum(max(1, -(-len(line) // per_line)) for line in text.split("\n"))


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
    with st.container(gap="xsmall"):
        st.text(title)
        content = prose.block(with_claims(answer, groups)) if tree is None else prose.block(tree, rendered=True)
        prose.draw([content], key, ANSWER_HEIGHT)


def draw_difference(
    title: str, expected: str, answer: str, key: str, height: int = ANSWER_HEIGHT, exact: bool = False
) -> None:
    """Draw the answer compared with the expected one: what is only expected struck out, only answered underlined."""
    with st.container(gap="xsmall"):
        st.text(title)
        prose.draw([prose.block(difference(expected, answer, exact))], key, height)


def draw_list(
    title: str, texts: Sequence[str], key: str, ids: Sequence[str | None] | None = None, opened: bool = False
) -> None:
    """Draw a list of passages, with their ids if any, in an expander that shows how many; nothing if there are none."""
    if not texts:
        return
    with st.expander(f"{title} ({len(texts)})", key=key, expanded=opened):
        for name, text in zip(context_titles(len(texts), ids), texts, strict=True):
            if ids:
                st.text(name)  # literal: an id could be Markdown
            else:
                st.caption(name)
            st.text(text)


def draw_evidence(
    score: Mapping[Hashable, Any], contexts: Sequence[str], key: str, ids: Sequence[str | None] | None = None
) -> None:
    """Why a score is what it is: the reason, the verdicts beside the contexts, the rest as plain data, who judged."""
    if isinstance(score["reason"], str):  # pandas has NaN for none
        st.text(score["reason"])
    if score["verdicts"]:
        evidence_list.draw(score["verdicts"], contexts, f"evidence-{key}", ids)
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


def draw_evidence_by_evaluator(
    scores: pd.DataFrame,
    titles: Mapping[str, str],
    contexts: Mapping[str, Sequence[str]],
    opened: str | None,
    ids: Mapping[str, Sequence[str | None]],
) -> None:
    """Draw an expander for each evaluator that has more than a value, the outputs side by side; `opened` starts open.

    `contexts` are those of each output, by its column, in order; `ids` theirs, empty where they have none.
    """
    for evaluator, rows in scores.groupby("evaluator", sort=False):
        has_evidence = rows["reason"].notna()
        for part in ("evidence", "verdicts", "judge"):
            has_evidence |= rows[part].map(bool)
        explained = rows[has_evidence].drop_duplicates(["column", "reason"])
        if explained.empty:
            continue
        # drawn when it is open: the tables of every evaluator would take longer than all else on the page
        box = st.expander(
            f"Evidence: {titles[str(evaluator)]}", evaluator == opened,
            key=f"evidence-of-{evaluator}", on_change="rerun",
        )  # fmt: skip
        if not box.open:
            continue
        with box:
            for place, column in zip(st.columns(len(contexts)), contexts, strict=True):
                with place:
                    if len(contexts) > 1:
                        st.text(column)
                    for row in explained[explained["column"] == column].to_dict("records"):
                        draw_evidence(row, contexts[column], f"{evaluator}-{row['metric']}-{column}", ids[column])
