"""The trace column of a table: converted to the stored form, with answer, usage and question taken from the traces."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from metrics.core.suite import Suite
from metrics.ingest.arrays import flat, is_blank
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import Columns, Role
from metrics.ingest.tables.messages import NO_TEXT
from metrics.ingest.tables.thoughts import wants_stripped
from metrics.ingest.traces.stored_trace import EXPECTED, SHOWN, Trace, json_value, read_trace, without_thoughts
from metrics.ingest.traces.trace_leaves import note_trace_leaves
from metrics.ingest.unused_leaves import RECORDS
from metrics.text.agents.traces import TraceError

LOOKED_AT = 1_000_000  # characters of the cells in which what is not read is looked for
TAKEN = ("trace", "answer", "tokens", "duration_s", "cost_usd")  # of every trace; the question only of cases


def unpack(sheet: Sheet, columns: Columns, role: Role, suite: Suite | None = None) -> Columns:
    """Convert the sheet's traces to their stored form, and return the columns with what the traces add.

    That is the answer, tokens, seconds and dollars where the sheet has no column for them, and the question where it
    holds cases. Without case ids a trace belongs to the case of `suite` whose question is the user's first message.
    Cells that are not a trace are problems.
    """
    name = columns.columns.get("trace")
    if name is None or role == "suite":
        return columns
    traces = _strip_thoughts(sheet, name, _read_traces(sheet, name))
    media = Counter(kind for trace in traces if trace is not None for kind in trace.media.elements())
    for kind, number in sorted(media.items()):
        sheet.problems.note(sheet.file, f"{name}: {kind} parts", "unused", NO_TEXT, number)
    _note_unread(sheet, name, traces)
    cells = [{} if trace is None else _cells_of(trace) for trace in traces]
    taken = (*TAKEN, "question") if role == "combined" else TAKEN
    derived: dict[str, Sequence[str | None]] = {each: [own.get(each) for own in cells] for each in taken}
    if role == "outputs" and suite is not None and "question" not in columns.columns:
        given = columns.columns.get("case_id")
        named = sheet.text(given).to_pylist() if given else [None] * len(sheet)
        if given is None or None in named:
            derived["case_id"] = _find_cases(sheet, named, [own.get("question") for own in cells], suite)
    return _store(sheet, columns, name, derived)


def _read_traces(sheet: Sheet, name: str) -> list[Trace | None]:
    """Return the trace of each cell, None where it is blank or none, which is a problem."""
    column = sheet.text(name)
    traces: list[Trace | None] = []
    wrong: dict[int, str] = {}
    for row, (text, blank) in enumerate(zip(column.to_pylist(), is_blank(column).tolist(), strict=True)):
        try:
            traces.append(None if blank else read_trace(text))
        except TraceError as failure:
            wrong[row] = str(failure)
            traces.append(None)
    sheet.blame_rows(wrong, name, EXPECTED)
    return traces


def _strip_thoughts(sheet: Sheet, name: str, traces: list[Trace | None]) -> list[Trace | None]:
    """Return the traces without the thoughts in their answers, where they have any and these are not to be kept."""
    stripped = [None if trace is None else without_thoughts(trace) for trace in traces]
    count = sum(old is not new for old, new in zip(traces, stripped, strict=True))
    total = len(traces) - traces.count(None)
    return stripped if count and wants_stripped(sheet.problems, sheet.file, name, count, total) else traces


def _cells_of(trace: Trace) -> dict[str, str | None]:
    numbers = {"tokens": trace.tokens, "duration_s": trace.seconds, "cost_usd": trace.cost_usd}
    texts = {name: None if number is None else str(number) for name, number in numbers.items()}
    return {"trace": trace.text, "answer": trace.answer, "question": trace.question, **texts}


def _note_unread(sheet: Sheet, name: str, traces: Sequence[Trace | None]) -> None:
    """Say what of the first cells their traces do not have."""
    cells = sheet.text(name).to_pylist()
    read = [place for place, trace in enumerate(traces) if trace is not None]
    sizes = accumulate(len(cells[place]) for place in read)
    first = [place for place, size in zip(read[:RECORDS], sizes, strict=False) if size <= LOOKED_AT] or read[:1]
    documents = [json_value(cells[place], ".json") for place in first]
    records = [{"trace": trace.text} for place in first if (trace := traces[place]) is not None]
    note_trace_leaves(sheet.file, sheet.problems, documents, records, name)


def _store(sheet: Sheet, columns: Columns, name: str, derived: Mapping[str, Sequence[str | None]]) -> Columns:
    """Put the traces into the sheet, and what it lacks into new columns; return the columns with these."""
    mapping = dict(columns.columns)
    for canonical, values in derived.items():
        if canonical not in ("trace", "case_id") and (canonical in mapping or not any(values)):
            continue
        place = name if canonical == "trace" else mapping.get(canonical, canonical)
        while place in sheet.table.column_names and place not in (name, mapping.get(canonical)):
            place = f"{place} of the trace"  # that name is another column's
        sheet.put(place, values)
        mapping[canonical] = place
    return replace(columns, columns=mapping)


def _find_cases(sheet: Sheet, named: Sequence[str | None], questions: Sequence[str | None], suite: Suite) -> list[str]:
    """Return the case of each row, of one that does not name it that whose question the user asked."""
    ids: dict[str, list[str]] = {}
    pairs = zip(suite.cases["question"].to_pylist(), suite.cases["case_id"].to_pylist(), strict=True)
    for question, case_id in pairs:
        if question is not None:
            ids.setdefault(_words(question), []).append(case_id)
    cases: list[str] = []
    wrong: dict[int, str] = {}
    for row, (case_id, question) in enumerate(zip(named, questions, strict=True)):
        fitting = [case_id] if case_id is not None else ids.get(_words(question or ""), [])
        if len(fitting) != 1:
            several = f", the question of {len(fitting)} cases" if fitting else ""
            wrong[row] = f"no case id, and a user who asks {(question or 'nothing')[:SHOWN]!r}{several}"
        cases.append(fitting[0] if len(fitting) == 1 else f"?{row}")  # so that the row is a problem only once
    sheet.blame_rows(wrong, "case_id", "a case id, or the question of one case of the suite")
    return cases


def describe(sheet: Sheet, columns: Columns, role: Role) -> str | None:
    """Return, for a preview, the forms of the first traces and what they provide; None without a trace column."""
    name = columns.columns.get("trace")
    if name is None:
        return None
    kinds: dict[str, None] = {}
    for text in flat(sheet.text(name)).drop_null().slice(0, 20).to_pylist():
        try:
            kinds[read_trace(text).format] = None
        except TraceError:
            kinds["unreadable"] = None
    wanted = ("question", "answer") if role == "combined" else ("answer",)
    taken = " and ".join(f"the {canonical}" for canonical in wanted if canonical not in columns.columns)
    return f"Traces: {', '.join(kinds) or 'none'}{f'; {taken} from them' if taken else ''}."


def _words(text: str) -> str:
    return " ".join(text.split())
