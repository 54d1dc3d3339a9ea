"""OpenAI evals: data sets (lines of {input, ideal}), and the event log that a run of `oaieval` writes.

In a log a sample is a case: its sampling event has prompt and answer, its match event what was expected. A sample with
several sampling events, as of evals that a model grades, is refused where no match event says which was the answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.ingest.formats.tool_records import Fault, Numbered, Record, Refused, metadata, references, tool_reader
from metrics.ingest.tables.messages import question_in
from metrics.ingest.tables.values import text_of
from metrics.ingest.unused_leaves import OTHERS

EVENT = {"event_id", "sample_id", "type", "data"}
SAMPLING = "one sampling event a sample, or a match event with what was sampled"


def _read_dataset(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    for number, (row, record) in enumerate(records, 1):
        try:
            case = text_of(record.get("id")) or str(number)
            found: Record = {"case_id": case, "question": question_in(record.get("input"))}
        except Fault as wrong:
            fault(row, wrong)
            continue
        found["expected_answers"] = references(record.get("ideal"))
        for name, value in record.items():
            if name not in ("id", "input", "ideal"):
                found |= metadata("" if name == "metadata" and isinstance(value, Mapping) else name, value)
        yield row, found


def _is_log(names: frozenset[str]) -> bool:
    told = names & {"spec.eval_name", "spec.completion_fns", "spec.base_eval"}
    return names >= EVENT or ("spec" in names and bool(told))


def _read_log(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    model: str | None = None
    samples: dict[str, list[Numbered]] = {}
    for row, record in records:
        spec = record.get("spec")
        if isinstance(spec, Mapping):
            listed = spec.get("completion_fns") or spec.get("model_name") or [None]
            model = text_of(listed[0] if isinstance(listed, list) else listed)
        elif "final_report" in record:
            continue
        elif record.keys() >= {"sample_id", "type"} and isinstance(record.get("data"), Mapping):
            sample = text_of(record["sample_id"])
            if sample:
                samples.setdefault(sample, []).append((row, record))
        else:
            found = f"an object with {', '.join(map(str, list(record)[:6]))}"[:80]
            fault(row, Fault(found, "spec, final_report or an event"))
    if not samples:
        expected = "the log of a run with its sampling events (--record_path)"
        raise Refused("an OpenAI evals log without a sample", expected)
    for sample, events in samples.items():
        try:
            record = _sample(sample, [event for _, event in events])
        except Fault as wrong:
            fault(events[0][0], wrong)
            continue
        yield events[0][0], record | ({} if model is None else {"model": model})


def _sample(sample: str, events: Sequence[Record]) -> Record:
    sampled = [event["data"] for event in events if event["type"] == "sampling"]
    matched = [event["data"] for event in events if event["type"] == "match"]
    raw: Mapping[str, Any] = next((event["data"] for event in events if event["type"] == "raw_sample"), {})
    answer = next((data["sampled"] for data in matched if data.get("sampled") is not None), None)
    if answer is None and len(sampled) != 1:
        raise Fault(f"{len(sampled)} sampling events of sample {sample!r}"[:80], SAMPLING, "type")
    answer = sampled[0].get("sampled") if answer is None else answer
    expected = next((data["expected"] for data in matched if data.get("expected") is not None), raw.get("ideal"))
    prompt = sampled[0].get("prompt") if sampled else raw.get("input")
    found: Record = {
        "case_id": sample,
        "question": question_in(prompt),
        "expected_answers": references(expected),
        "answer": text_of(answer[0] if isinstance(answer, list) and len(answer) == 1 else answer),
    }
    for event in events:
        if event["type"] in ("match", "metrics"):
            kept = {name: value for name, value in event["data"].items() if isinstance(value, bool | int | float)}
            kept |= {name: event["data"][name] for name in ("picked", "choice") if event["data"].get(name) is not None}
            found |= metadata(f"openai_evals.{event['type']}", kept)
    return found


DATA_READS = {"id": "case_id", "input": "question", "ideal": "expected_answers", OTHERS: "metadata"}
LOG_READS = {
    "spec.completion_fns": "model", "spec.model_name": "model", "sample_id": "case_id", "data.prompt": "question",
    "data.input": "question", "data.sampled": "answer", "data.expected": "expected_answers",
    "data.ideal": "expected_answers", "data": "metadata.openai_evals", "type": "metadata.openai_evals",
}  # fmt: skip
DATASET = tool_reader("openai_evals_data", {"input", "ideal"}.issubset, _read_dataset, DATA_READS, answered=False)
LOG = tool_reader("openai_evals_log", _is_log, _read_log, LOG_READS)
