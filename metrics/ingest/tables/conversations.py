"""Conversations in a column of questions, as ragas and the logs of chats have them: what is asked, and the trace."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.ingest.arrays import may_hold
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold
from metrics.ingest.tables.values import CHATS, json_text
from metrics.ingest.traces.stored_trace import Trace, json_value, trace_of
from metrics.ingest.unused_leaves import OTHERS, note_leaves
from metrics.text.agents.dialects import is_chat_message
from metrics.text.agents.traces import TraceError

TRACE = "messages"  # the column of a conversation that holds an answer
LIKE_MESSAGES = r'^\s*\[\s*\{.*"(role|type|kind|parts|content)"'
SPEAKERS = ("user", "assistant", "model")


def split_questions(file: str, table: pa.Table, problems: Problems) -> Mapping[str, pa.Array]:
    """Return the columns to put in place of those of questions that hold conversations: what is asked, and the trace.

    A conversation with calls, or with the assistant's as its last word, is a trace too, where no column has one; its
    question is what the user asked first. Of any other it is its only message, or all of them as JSON.
    """
    folded = {fold(name): name for name in table.column_names}
    if "inputs.messages" in folded and "outputs.messages" in folded:
        return _join(file, table, folded["inputs.messages"], folded["outputs.messages"], problems)
    name = next((folded[each] for each in CHATS if each in folded), None)
    pairs = [] if name is None else _read_conversations(table[name])
    if name is None or not pairs:
        return {}
    whole = _are_traces([trace for _, trace in pairs if trace is not None], folded)
    questions = [trace and (trace.question if whole else _question_of(trace, cell)) for cell, trace in pairs]
    meaning = f"question: {'what the user asked first' if whole else 'what was said'} in a conversation"
    problems.note(file, name, "used", meaning, len(table) - table[name].null_count)
    columns = {name: pa.array(questions, pa.string())}
    if not whole:
        rows = [{"question": question} for question in questions]
        note_leaves(file, problems, [cell for cell, _ in pairs], rows, {OTHERS: "question"}, name)
        return columns
    unnamed = folded.keys().isdisjoint(("case_id", "model", *SUITE_ALIASES["case_id"], *OUTPUT_ALIASES["model"]))
    if unnamed and len(set(questions)) < len(questions):  # conversations that begin alike
        columns["case_id"] = pa.array(map(str, range(1, len(questions) + 1)), pa.string())
    return {**columns, TRACE: table[name].combine_chunks()}


def _read_conversations(column: pa.ChunkedArray) -> list[tuple[Any, Trace | None]]:
    """Return the conversation in each cell with its trace, None twice for no value; nothing where a cell has none."""
    if not pa.types.is_string(column.type) or not may_hold(column, b"{"):
        return []
    if not pc.all(pc.match_substring_regex(column, LIKE_MESSAGES), min_count=1).as_py():
        return []
    try:
        cells = [None if text is None else json_value(text, ".json") for text in column.to_pylist()]
        if not all(cell is None or (isinstance(cell, list) and all(map(is_chat_message, cell))) for cell in cells):
            return []
        return [(cell, None if cell is None else trace_of(cell)) for cell in cells]
    except TraceError:
        return []


def _are_traces(conversations: Sequence[Trace], folded: Mapping[str, str]) -> bool:
    """Return whether conversations are traces: they have calls, or end with what is the answer, and no column is it."""
    if not folded.keys().isdisjoint(("trace", *OUTPUT_ALIASES["trace"])):
        return False
    if any(step.kind == "call" for trace in conversations for step in trace.steps):
        return True
    closed = all(_speakers(trace)[-1:] not in (["user"], []) for trace in conversations)
    return closed and folded.keys().isdisjoint(("answer", *OUTPUT_ALIASES["answer"]))


def _join(file: str, table: pa.Table, asked: str, replied: str, problems: Problems) -> Mapping[str, pa.Array]:
    """Return the column of messages that went in, followed by those that came out: one conversation."""
    if not (pa.types.is_string(table[asked].type) and pa.types.is_string(table[replied].type)):
        return {}
    try:
        both = [[json_value(text or "[]", ".json") for text in table[name].to_pylist()] for name in (asked, replied)]
    except TraceError:
        return {}
    if not all(isinstance(cell, list) for cells in both for cell in cells):
        return {}
    problems.note(file, replied, "used", f"what follows in the conversation of {asked}", len(table))
    return {asked: pa.array([json_text([*first, *rest]) for first, rest in zip(*both, strict=True)], pa.string())}


def _speakers(trace: Trace) -> list[str]:
    return [step.role for step in trace.steps if step.kind == "message" and step.role in SPEAKERS]


def _question_of(trace: Trace, cell: Any) -> str | None:
    """Return what a conversation asks: its only message, else all of them as JSON, which evaluators of turns read."""
    messages = [step for step in trace.steps if step.kind == "message"]
    spoken = [step.text for step in messages if step.role in SPEAKERS]
    if len(spoken) < 2:
        return next(iter(spoken or [step.text for step in messages]), None)
    plain = all(isinstance(each.get("role"), str) and isinstance(each.get("content"), str) for each in cell)
    return json_text(cell if plain else [{"role": step.role, "content": step.text} for step in messages])
