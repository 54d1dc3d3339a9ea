"""Opik: items of data sets and of evaluation suites (a suite), and of experiments, which have an output, too.

An item keeps its values itself or under `data`. Its input is the question, its expected output the expected answer, its
assertions are criteria; other values are metadata.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.ingest.formats.tool_records import Fault, Numbered, Record, metadata, references, tool_reader
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.messages import ANSWERS, QUESTIONS, REFERENCES, texts_in
from metrics.ingest.tables.values import text_of
from metrics.ingest.unused_leaves import OTHERS, TAKEN

ASKED, EXPECTED = ("input", *QUESTIONS, "user_question", "user_query"), ("expected_output", *REFERENCES)
TELLING = ("input", "question", "query", "user_question", "user_query", "expected_output", "expected_answer")
CRITERIA = ("assertions", "criteria")
TEXT = ("assertion", "text", "description", "name", "value")  # where an assertion that is an object has its text


def _knows(names: frozenset[str]) -> bool:
    plain = {fold(name) for name in names}
    held = "data" in plain and any(name.startswith("data.") for name in plain)
    known = plain & {*CRITERIA, *(f"data.{name}" for name in TELLING)}
    inside = any(name.startswith(("input.", "expected_output.")) for name in plain)
    nested = inside and {"input", "expected_output"} <= plain
    return ((held and bool(known)) or nested) and "annotations" not in plain


def convert_items(
    records: Sequence[Numbered], _fault: Callable[[int, Fault], None] | None = None
) -> Iterator[Numbered]:
    """Return the items of a data set as rows of cases."""
    plain = [{fold(str(name)): value for name, value in record.items()} for _, record in records]
    inner = [record.get("data") for record in plain]
    held = [
        {fold(str(name)): value for name, value in own.items()} if isinstance(own, Mapping) else record
        for own, record in zip(inner, plain, strict=True)
    ]
    names = dict.fromkeys(name for record in held for name in record)
    asked = next((name for name in ASKED if name in names), "")
    expected = next((name for name in EXPECTED if name in names and name != asked), "")
    questions, more = texts_in([own.get(asked) for own in held], QUESTIONS)
    replies, rest = texts_in([own.get("output") for own in held], ANSWERS, last=True)
    answers, others = texts_in([own.get(expected) for own in held], REFERENCES, last=True)
    for place, (row, _) in enumerate(records):
        own, outer = held[place], plain[place]
        lists = (side[name] for side in (outer, own) for name in CRITERIA if isinstance(side.get(name), list))
        tags = outer.get("tags")
        found: Record = {
            "case_id": text_of(outer.get("id")) or str(place + 1), "question": questions[place],
            "expected_answers": references(answers[place]), "criteria": list(map(_text, next(lists, []))) or None,
            "tags": tags if isinstance(tags, list) and tags else None,
        }  # fmt: skip
        used = {"id", "tags", "data", "output", "feedback_scores", *CRITERIA, asked, expected}
        for side in (own, {} if own is outer else outer):
            for name, value in side.items():
                if name not in used:
                    found |= metadata("" if name == "metadata" and isinstance(value, Mapping) else name, value)
        if "output" in names:
            found |= {"answer": text_of(replies[place]), **metadata("output", rest[place]), **_scores(own)}
        yield row, found | metadata("input", more[place]) | metadata("expected_output", others[place])


def _scores(own: Record) -> Record:
    listed = own.get("feedback_scores")
    return {
        name: value
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, Mapping) and one.get("name")
        for name, value in metadata(f"opik.{one['name']}", one.get("value")).items()
    }


def _text(assertion: Any) -> str:
    if isinstance(assertion, Mapping):
        assertion = next((assertion[name] for name in TEXT if assertion.get(name)), assertion)
    return text_of(assertion) or ""


READS = {
    OTHERS: "question expected_answers answer metadata", "id": "case_id", "tags": "tags",
    **{f"{place}{name}": "criteria" for place in ("", "data.") for name in CRITERIA},
    **{f"{place}feedback_scores": "metadata.opik" for place in ("", "data.")},
    **{f"{place}feedback_scores.value": TAKEN for place in ("", "data.")},
}  # fmt: skip
READER = tool_reader("opik", _knows, convert_items, READS)
