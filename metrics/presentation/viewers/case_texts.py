"""The texts of a case: what it asks, its scores, and the facts of a score's evidence."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from metrics.core.fields import CASE_FIELDS, METADATA
from metrics.core.suite import IMAGE_NAME
from metrics.presentation.format import MISSING, STATUSES, exact, metric_name, number, shorten
from metrics.presentation.marked_text import Part, compare_texts, last_turn, words_of
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import fact_text
from metrics.presentation.why_words import NOTE
from metrics.text.agents.call_matching import ExpectedCallsError, call_text, expected_calls

# what pages show before the other facts of a case, after them, or beside them
SHOWN_APART = ("question", "expected_answers", "reference_contexts", "expected_calls")
MAX_METADATA = 8  # columns of a case


def closest(answer: str, expected: Sequence[str]) -> str:
    """Return the expected answer that shares the most words with the answer; empty if there is none."""
    words = set(words_of(answer))
    return max(expected, key=lambda text: len(words.intersection(words_of(text))), default="")


Passages = tuple[Sequence[str], Sequence[str | None]]  # the contexts that an output retrieved, and their ids


def context_twins(first: Passages, second: Passages) -> tuple[list[tuple[str, list[Part]]], ...]:
    """Return the contexts of two outputs to show beside each other: of each, a title and the marked text of each.

    What both have is not marked, wherever it stands. Another context is compared word by word with the one of its id
    there, else with the one at its place if they share most of their words.
    """
    return _beside(first, second, is_second=False), _beside(second, first, is_second=True)


def _beside(own: Passages, other: Passages, is_second: bool) -> list[tuple[str, list[Part]]]:
    texts, ids = own
    found = []
    for place, (title, text) in enumerate(zip(context_titles(len(texts), ids), texts, strict=True)):
        if text in other[0]:
            at = place if other[0][place : place + 1] == [text] else other[0].index(text)
            found.append((title if at == place else f"{title} · there as {at + 1}", [Part(text)]))
            continue
        like = _counterpart(text, place, ids[place] if ids else None, other)
        both = compare_texts(like, text) if is_second else compare_texts(text, like)
        found.append((f"{title} · only here", both.second if is_second else both.first))
    return found


def _counterpart(text: str, place: int, id: str | None, other: Passages) -> str:
    """Return the context of the other output that takes the place of one, "" where none does."""
    texts, ids = other
    if id is not None and id in ids:
        return texts[ids.index(id)]
    like = texts[place] if place < len(texts) else ""
    said, there = set(words_of(text)), set(words_of(like))
    return like if 2 * len(said & there) > max(len(said), len(there)) else ""


def score_table(scores: pd.DataFrame, titles: Mapping[str, str], columns: Sequence[str]) -> pd.DataFrame:
    """Return a table of evaluator and metric × output (`column` of `scores`); a cell is the value or its status."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for entry in scores.to_dict("records"):
        key = (titles[entry["evaluator"]], metric_name(entry["metric"], entry["evaluator"]))
        rows.setdefault(key, dict.fromkeys(columns, ""))[entry["column"]] = score_text(entry["value"], entry["status"])
    return pd.DataFrame([{"evaluator": title, "metric": metric, **cells} for (title, metric), cells in rows.items()])


def score_text(value: float | None, status: str) -> str:
    """Return the value, or the status in words if there is none."""
    missing = value is None or pd.isna(value)
    return STATUSES.get(status, status) if missing and status != "ok" else number(value)


def fact_parts(facts: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Return facts as (title, kind, content): `table` a data frame, `code` long or nested text, `fact` a short value.

    Consecutive records with the same fields become one table. What is missing, and the NOTE that says why, is left out.
    """
    parts: list[tuple[str, str, Any]] = []
    told = [(name, value) for name, value in facts.items() if value is not None and name != NOTE]
    for fields, group in groupby(told, key=lambda item: _fields(item[1])):
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
    if isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value):
        return "", "table", pd.DataFrame({title: value})
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return _part(title, value[0])
    if isinstance(value, list) and value and all(isinstance(item, int | float) for item in value):
        return title, "fact", ", ".join(map(_flat, value))
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
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | list) else fact_text(value)


def predicted_text(output: Mapping[str, Any]) -> str | None:
    """Return the number that a model predicted, with its interval if it gave one; None where it gave neither."""
    value, low, high = (output.get(f"predicted_{name}") for name in ("value", "low", "high"))
    ends = "" if low is None or high is None or low != low or high != high else f"{exact(low)} … {exact(high)}"
    if value is None or value != value:
        return ends or None
    return f"{exact(value)} ({ends})" if ends else exact(value)


def _shown(value: Any) -> str:
    """Return a fact of a case as text, "" for none; of a list each item."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, float | int):
        return "" if value != value else exact(value)
    return ", ".join(map(_shown, value))


def question_parts(case: Mapping[str, Any]) -> tuple[Sequence[tuple[str, str]], tuple[str, str | None]]:
    """Return the earlier turns of a case's conversation, (role, text) each, and what it asks now: title, text."""
    if case["question"] is None:
        return (), ("Source text", case["source_text"])
    conversation = last_turn(case["question"])
    if conversation is None:
        return (), ("Question", case["question"])
    earlier, last = conversation
    return earlier, (f"Question: last turn ({last.role})", last.text)


def case_facts(case: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what else a case asks and is checked by, title and text each: conditions, true class, choices …"""
    facts = [
        (field.title, _shown(case.get(field.name)))
        for field in CASE_FIELDS
        if field.role in ("ask", "expect", "help") and field.name not in SHOWN_APART
    ]
    return [(title, text) for title, text in facts if text]


def case_labels(case: Mapping[str, Any]) -> list[str]:
    """Return what a case is sorted by: its tags, then its columns of metadata as `category: billing`."""
    own = {name: case[name] for name in case if name.startswith(METADATA) and name != IMAGE_NAME}
    told = [f"{name.removeprefix(METADATA)}: {shorten(str(value))}" for name, value in own.items() if value is not None]
    return [*(case["tags"] or ()), *told[:MAX_METADATA]]


def _calls(text: str) -> str:
    """Return expected calls, one a line; as they are where they cannot be read."""
    try:
        calls = expected_calls(text)
    except ExpectedCallsError:
        return text
    return "\n".join(map(call_text, calls)) or "no call"


def case_blocks(case: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a case asks now, the expected answers and what else the suite demands: title and text each."""
    expected = list(case["expected_answers"] or [])
    blocks = [question_parts(case)[1]]
    blocks += [
        ("Expected answer" if len(expected) == 1 else f"Expected answer {n + 1}", e) for n, e in enumerate(expected)
    ]
    blocks += [fact for fact in case_facts(case) if fact not in blocks]
    if case.get("expected_calls"):
        blocks.append(("Expected calls", _calls(case["expected_calls"])))
    return [(title, text) for title, text in blocks if text]
