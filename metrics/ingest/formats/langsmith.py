"""LangSmith: data sets (a suite, whose `outputs` are the expected answers), runs and results of experiments (both).

A run of an experiment belongs to the case that is its reference example; several of one example are repeats. The
answer is in `outputs`, the expected one in `reference_outputs` or `reference`; feedback is `metadata.feedback.KEY`. Of
a trace the root run is read, with the documents of its retriever runs as retrieved contexts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.core.suite import METADATA
from metrics.ingest.formats.tool_records import (
    Fault,
    Numbered,
    Record,
    Refused,
    amount,
    count,
    drop_unnamed_models,
    group,
    lookup,
    metadata,
    number_runs,
    references,
    seconds_between,
    tool_reader,
)
from metrics.ingest.tables.messages import ANSWERS, QUESTIONS, REFERENCES, texts_in
from metrics.ingest.tables.values import item_text, text_of
from metrics.ingest.unused_leaves import TAKEN

INPUTS, REFERENCE = ("inputs", "input"), ("reference_outputs", "reference", "reference_output")
OF_RUNS = {"run_type", "dotted_order", "parent_run_id", "trace_id", "session_id", "reference_example_id"}
OF_EXPERIMENTS = {"example_id", "feedback", "feedback_stats", *REFERENCE}
OF_DATASETS = {"dataset_id", "source_run_id", "attachment_urls", "modified_at", "dataset_split"}


def _knows(names: frozenset[str]) -> bool:
    if "run_type" in names and len(names & OF_RUNS) > 1:
        return True
    pair = not names.isdisjoint(INPUTS) and "outputs" in names
    nested = any(name.startswith(("inputs.", "input.")) for name in names) or "reference_outputs" in names
    return pair and ((nested and bool(names & OF_EXPERIMENTS)) or len(names & OF_DATASETS) > 1)


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    names = {str(name).partition(".")[0] for _, record in records for name in record}
    if "run_type" in names:
        records, documents = _roots(records)
    else:
        documents = {}
    dataset = "run_type" not in names and not names & OF_EXPERIMENTS
    questions, more = texts_in([group(record, *INPUTS) for _, record in records], QUESTIONS)
    outputs, others = texts_in([group(record, "outputs") for _, record in records],
                               REFERENCES if dataset else ANSWERS, last=True)  # fmt: skip
    expected, _ = texts_in([group(record, *REFERENCE) for _, record in records], REFERENCES, last=True)
    made = []
    for place, (row, record) in enumerate(records):
        case = text_of(_first(record, "reference_example_id", "example_id", "id", "trace_id"))
        if case in (None, ""):
            fault(row, Fault("no id", "a record with id, example_id or reference_example_id", "id"))
            continue
        found: Record = {"case_id": case, "question": questions[place]}
        found |= metadata("inputs", more[place]) | metadata("outputs", others[place])
        found |= metadata("", record.get("metadata") if isinstance(record.get("metadata"), Mapping) else None)
        if dataset:
            found["expected_answers"] = references(outputs[place])
        else:
            found |= {"expected_answers": references(expected[place]), "answer": text_of(outputs[place])}
            found |= _facts(record) | {"retrieved_contexts": documents.get(text_of(record.get("trace_id")) or "")}
        made.append((row, found))
    if not dataset:
        drop_unnamed_models([found for _, found in made])
        number_runs([found for _, found in made])
    return iter(made)


def _roots(records: Sequence[Numbered]) -> tuple[Sequence[Numbered], dict[str, list[str]]]:
    """Return the root runs, and the retrieved documents by trace; Refused where there is no root."""
    roots = [one for one in records if _first(one[1], "parent_run_id", "parent_run_ids") in (None, "", [])]
    if not roots:
        raise Refused("LangSmith runs without a root run", "an export of root runs (filter: Is root)")
    documents: dict[str, list[str]] = {}
    for _, record in records:
        listed = lookup(record, "outputs.documents")
        if record.get("run_type") == "retriever" and isinstance(listed, list):
            texts = [text for entry in listed if (text := item_text(entry))]
            documents.setdefault(text_of(record.get("trace_id")) or "", []).extend(texts)
    return roots, documents


def _facts(record: Record) -> Record:
    feedback: Record = {}
    stats = group(record, "feedback_stats", "feedback")
    for key, value in stats.items() if isinstance(stats, Mapping) else ():
        feedback |= metadata(f"feedback.{key}", value.get("avg") if isinstance(value, Mapping) else value)
    seconds = amount(_first(record, "execution_time", "latency"))
    return {
        "model": text_of(lookup(record, "extra.metadata.ls_model_name")) or None,
        "error": text_of(record.get("error")) or None,
        "duration_s": seconds_between(record.get("start_time"), record.get("end_time")) if seconds is None else seconds,
        "tokens": count(record.get("total_tokens")),
        "cost_usd": amount(record.get("total_cost")),
        **{name: value for name, value in feedback.items() if name.startswith(METADATA)},
    }


def _first(record: Record, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


NUMBERS = ("start_time", "end_time", "execution_time", "latency", "total_tokens", "total_cost")
READS = {
    **dict.fromkeys(("reference_example_id", "example_id", "id", "trace_id"), "case_id"),
    **dict.fromkeys(INPUTS, "question metadata.inputs"), **dict.fromkeys(REFERENCE, "expected_answers"),
    **dict.fromkeys(("feedback_stats", "feedback"), "metadata.feedback"), **dict.fromkeys(NUMBERS, TAKEN),
    "outputs": "answer expected_answers retrieved_contexts metadata.outputs", "metadata": "metadata",
    "extra.metadata.ls_model_name": "model", "error": "error",
}  # fmt: skip
READER = tool_reader("langsmith", _knows, _convert, READS)
