"""MLflow: rows of inputs and expectations, with outputs or without, as its data sets and `evaluate` have them.

The expected response is the expected answer; expected facts, each as what the answer states, and guidelines are
criteria. Of expected retrieved context the texts are reference contexts, the addresses ids of relevant contexts. Other
inputs, outputs and expectations are metadata.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from metrics.ingest.formats.promptfoo_assertions import read_value
from metrics.ingest.formats.tool_records import (
    Fault,
    Numbered,
    Record,
    group,
    lookup,
    metadata,
    references,
    tool_reader,
)
from metrics.ingest.leaf_notes import leaves_of
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.messages import ANSWERS, QUESTIONS, reply_message, texts_in
from metrics.ingest.tables.values import item_text, text_of, without
from metrics.ingest.unused_leaves import OTHERS, TAKEN

IDS = ("id", "case_id", "dataset_record_id", "request_id", "trace_id")
RESPONSE = ("expected_response", "expected_output", "expected_answer", "ground_truth", "answer")
FACTS, GUIDELINES, PASSAGES = "expected_facts", "guidelines", "expected_retrieved_context"
RETRIEVED = ("retrieved_context", "retrieved_contexts", "contexts", "source_documents")
OF_AGENTS = (RESPONSE[0], FACTS, GUIDELINES, PASSAGES)  # columns of their own in a table of an agent's evaluation
TRACED = {"run_type", "span_id", "context.span_id"}


def _knows(names: frozenset[str]) -> bool:
    held = {name.partition(".")[0] for name in names}
    judged = {"request", "response"} <= held and bool(held & {"assessments", *OF_AGENTS})
    return ({"inputs", "expectations"} <= held or judged) and not TRACED & names


def _rename_sides(record: Record) -> Record:
    """Return a row of an agent's evaluation (request, response, expected_facts …) or a trace as one of a data set."""
    if "request" not in record:
        return record
    expected = {name: record[name] for name in OF_AGENTS if name in record}
    for one in record.get("assessments") or ():
        held = one.get("expectation") if isinstance(one, Mapping) else None
        if isinstance(held, Mapping):
            expected[str(one.get("assessment_name") or one.get("name"))] = held.get("value")
    sides = {side: read_value(record.get(name)) for side, name in (("inputs", "request"), ("outputs", "response"))}
    if (listed := record.get(RETRIEVED[0])) and not isinstance(sides["outputs"], Mapping):
        sides["outputs"] = {"response": sides["outputs"], RETRIEVED[0]: listed}
    taken = {"request", "response", RETRIEVED[0], *OF_AGENTS}
    return {name: value for name, value in record.items() if name not in taken} | sides | {"expectations": expected}


def _convert(records: Sequence[Numbered], _fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    records = [(row, _rename_sides(record)) for row, record in records]
    sides = [group(record, "outputs") for _, record in records]
    outputs = [reply_message(side) or side for side in sides]
    questions, more = texts_in([group(record, "inputs") for _, record in records], QUESTIONS)
    answers, others = texts_in([without(value, *RETRIEVED) for value in outputs], ANSWERS, last=True)
    keyed = next((name for name in IDS if all(record.get(name) not in (None, "") for _, record in records)), None)
    for place, (row, record) in enumerate(records):
        found: Record = {"case_id": text_of(record[keyed])} if keyed else {}
        found |= {"question": questions[place], **_read_expectations(group(record, "expectations"))}
        found |= metadata("inputs", more[place])
        if any(value is not None for value in outputs):
            held = next((listed for name in RETRIEVED if (listed := lookup(outputs[place], name))), None)
            texts = [text for entry in held if (text := item_text(entry))] if isinstance(held, list) else None
            found |= {"answer": text_of(answers[place]), "retrieved_contexts": texts}
            found |= metadata("outputs", others[place])
        for name, value in record.items():
            if name.partition(".")[0] not in ("inputs", "outputs", "expectations", keyed):
                found |= metadata("" if name == "metadata" and isinstance(value, Mapping) else name, value)
        yield row, found


def _read_expectations(expectations: Any) -> Record:
    if isinstance(expectations, list) and all(isinstance(one, Mapping) and "name" in one for one in expectations):
        expectations = {one["name"]: one.get("value") for one in expectations}
    if not isinstance(expectations, Mapping):
        return {"expected_answers": references(expectations)}
    held = {fold(str(name)): value for name, value in expectations.items()}
    response = next((name for name in RESPONSE if held.get(name) not in (None, "")), None)
    facts, rules = (_leaves(held.get(name)) for name in (FACTS, GUIDELINES))
    listed = held.get(PASSAGES)
    passages = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    texts = [text for one in passages if (text := text_of(one.get("content")))]
    ids = [text for one in passages if (text := text_of(one.get("doc_uri") or one.get("doc_id")))]
    taken = {response, FACTS, GUIDELINES, *((PASSAGES,) if texts or ids else ())}
    return {
        "expected_answers": references(held[response]) if response else None,
        "criteria": [*(f"States: {fact}" for fact in facts), *rules] or None,
        "reference_contexts": texts or None,
        "reference_context_ids": ids or None,
        **metadata("expectations", {name: value for name, value in held.items() if name not in taken}),
    }


def _leaves(value: Any) -> list[str]:
    """Return the texts of a list, also where rules are listed by what they are about."""
    leaves = (own if isinstance(own, list) else [own] for _, own in leaves_of(value))
    return references([*chain.from_iterable(leaves)]) or []


READS = {
    OTHERS: "case_id metadata", "inputs": "question metadata.inputs", **dict.fromkeys(("request", "response"), TAKEN),
    "outputs": "answer retrieved_contexts metadata.outputs", RETRIEVED[0]: "retrieved_contexts",
    **dict.fromkeys(("expectations", *OF_AGENTS), "expected_answers criteria reference_contexts metadata.expectations"),
    **{f"{place}{name}": TAKEN for place in ("expectations.", "")
       for name in (FACTS, f"{PASSAGES}.doc_uri", f"{PASSAGES}.doc_id")},
    "expectations.name": TAKEN,
}  # fmt: skip
READER = tool_reader("mlflow", _knows, _convert, READS)
