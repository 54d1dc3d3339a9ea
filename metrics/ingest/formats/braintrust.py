"""Braintrust: experiments and logs (input, output, expected, scores), and data sets (input, expected: a suite).

The root span of each row is read; spans inside it are not. The case is the row of the data set that it came from, where
it names one; several of one case are repeats. Scores are kept as `metadata.braintrust.NAME`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.ingest.formats.tool_records import (
    Fault,
    Numbered,
    Record,
    Refused,
    amount,
    count,
    group,
    lookup,
    metadata,
    number_runs,
    references,
    tool_reader,
)
from metrics.ingest.tables.messages import ANSWERS, QUESTIONS, REFERENCES, texts_in
from metrics.ingest.tables.values import text_of
from metrics.ingest.unused_leaves import TAKEN

OWN = {"root_span_id", "span_id", "_xact_id", "span_parents", "is_root", "dataset_record_id", "span_attributes",
       "experiment_id", "_pagination_key", "xact_id"}  # fmt: skip
ROOTS = "an export with the root span of each row"


def _knows(names: frozenset[str]) -> bool:
    telling = names & OWN
    rows = "input" in names and bool(names & {"expected", "output", "scores"})
    return rows and (len(telling) > 1 or (bool(telling) and bool(names & {"expected", "scores"})))


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    names = {str(name).partition(".")[0] for _, record in records for name in record}
    dataset = not names & {"output", "scores"}
    roots = [one for one in records if _is_root(one[1])]
    if not roots:
        raise Refused("Braintrust spans without a root span", ROOTS)
    questions, more = texts_in([group(record, "input") for _, record in roots], QUESTIONS)
    answers, others = texts_in([group(record, "output") for _, record in roots], ANSWERS, last=True)
    expected, _ = texts_in([group(record, "expected") for _, record in roots], REFERENCES, last=True)
    made = []
    for place, (row, record) in enumerate(roots):
        case = text_of(record.get("dataset_record_id") or lookup(record, "origin.id") or record.get("id")
                       or record.get("span_id"))  # fmt: skip
        if not case:
            fault(row, Fault("no id", "a row with id or dataset_record_id", "id"))
            continue
        found: Record = {"case_id": case, "question": questions[place], "expected_answers": references(expected[place])}
        tags = record.get("tags")
        found |= {"tags": tags if isinstance(tags, list) and tags else None} | metadata("input", more[place])
        own = group(record, "metadata")
        found |= metadata("" if isinstance(own, Mapping) else "braintrust.metadata", own)
        if not dataset:
            found |= {"answer": text_of(answers[place])} | metadata("output", others[place]) | _facts(record)
        made.append((row, found))
    if not dataset:
        number_runs([found for _, found in made])
    return iter(made)


def _is_root(record: Record) -> bool:
    if isinstance(record.get("is_root"), bool) or record.get("is_root") in ("true", "false"):
        return record["is_root"] in (True, "true")
    root, span = record.get("root_span_id"), record.get("span_id")
    return root is None or span is None or root == span


def _facts(record: Record) -> Record:
    error: Any = record.get("error")
    start, end = (amount(lookup(record, f"metrics.{name}")) for name in ("start", "end"))
    found: Record = {
        "error": text_of(error) if error not in (None, "") else None,
        "duration_s": max(0.0, end - start) if start is not None and end is not None else None,
        "tokens": count(lookup(record, "metrics.tokens") or lookup(record, "metrics.total_tokens")),
        "cost_usd": amount(lookup(record, "metrics.estimated_cost")),
    }
    scores = group(record, "scores")
    for name, value in scores.items() if isinstance(scores, Mapping) else ():
        found |= metadata(f"braintrust.{name}", value)
    return found


NUMBERS = ("start", "end", "tokens", "total_tokens", "estimated_cost")
READS = {
    **dict.fromkeys(("dataset_record_id", "origin.id", "id", "span_id"), "case_id"),
    "input": "question metadata.input", "output": "answer metadata.output", "expected": "expected_answers",
    "tags": "tags", "metadata": "metadata", "error": "error", "scores": "metadata.braintrust", "is_root": TAKEN,
    **{f"metrics.{name}": TAKEN for name in NUMBERS},
}  # fmt: skip
READER = tool_reader("braintrust", _knows, _convert, READS)
