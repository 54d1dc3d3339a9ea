"""Inspect's logs (.eval, or JSON): a sample is a case, an epoch a repeat, the task's model the model.

The question is the sample's input, or what its messages ask; expected answers are its target. What the scorers of
Inspect found is kept as `metadata.inspect.SCORER`. Tokens, seconds and cost are those of the one call of the model, or
where it was called several times those of the whole sample, in which scorers that use the same model are counted too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import orjson

from metrics.core.errors import InputError
from metrics.core.suite import METADATA
from metrics.ingest.formats.table_reader import bundle_reader, table_reader
from metrics.ingest.formats.tool_records import Fault, amount, count, references
from metrics.ingest.media.archive import MAX_FILE_BYTES
from metrics.ingest.media.bundle import Bundle, Rows
from metrics.ingest.reader import FIRST_ROWS, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.messages import calls_tools, content_text, note_media, question_in, reply_message
from metrics.ingest.tables.values import flatten, json_text, tables_of, text_of, without
from metrics.ingest.traces.chat_traces import conversation
from metrics.ingest.unused_leaves import RECORDS, TAKEN, note_leaves
from metrics.text.agents.traces import TraceError

HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
SAMPLE = "a sample with id, epoch, input, target and output"
NO_SAMPLES = (
    "a log with its samples: the .eval file, or JSON written with log_samples (not `inspect log dump --header-only`)"
)
READS = {
    "id": "case_id", "epoch": "run", "input": "question", "input.role": TAKEN, "target": "expected_answers",
    "choices": "choices", "messages": "trace", "output": "answer metadata.reasoning", "error": "error",
    **{f"{place}.{name}": columns for place in ("output.usage", "model_usage")
       for name, columns in (("total_tokens", "tokens"), ("total_cost", "cost_usd"))},
    **dict.fromkeys(("output.time", "working_time", "total_time"), "duration_s"), "metadata": "metadata",
    "scores": "metadata.inspect", "score": "metadata.inspect", "limit.type": "metadata.inspect.limit",
    "attachments": "question answer trace", "eval.model": "model",
}  # fmt: skip
ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


def _is_log(document: Any) -> bool:
    spec = document.get("eval") if isinstance(document, Mapping) else None
    return isinstance(spec, Mapping) and "status" in document and "version" in document and "task" in spec


def _read_log(source: Source, problems: Problems) -> Sheet:
    document = source.document
    samples = document.get("samples")
    if not isinstance(samples, list) or not samples:
        status = text_of(document.get("status")) or "?"
        raise source.error(f"an Inspect log without samples (status {status})", NO_SAMPLES)
    if note := _unfinished(document, source.name):
        source.notes.append(note)
    made = list(_records(enumerate(samples, 1), _model(document), source.name, problems))
    if not made:
        raise InputError(problems.listed)
    records = [record for _, record in made]
    note_leaves(source.name, problems, samples, records, READS, "samples[]")
    note_leaves(source.name, problems, [without(document, "samples")], records, READS)
    return Sheet(source.name, tables_of([records]), np.array([row for row, _ in made], np.int64), problems)


def _is_eval(upload: Upload) -> bool:
    names = {entry.name for entry in upload.folder.entries}
    return HEADER in names or START in names


def _read_eval(upload: Upload, problems: Problems, most: int | None = None) -> Sheet:
    bundle = upload.folder
    files = _sample_files(bundle)
    head = next(entry for name in (HEADER, START) for entry in bundle.entries if entry.name == name)
    header = _parse(bundle, head, problems)
    problems.check()
    if not isinstance(header, Mapping) or not isinstance(header.get("eval"), Mapping):
        raise problems.fail(bundle.file(head), "no object eval", "the header of an Inspect log")
    if not files:
        raise problems.fail(bundle.name, "an Inspect log without samples", NO_SAMPLES)
    if note := _unfinished(header, bundle.name):
        upload.said.append(note)
    which: list[int] = []
    records: list[dict[str, Any]] = []
    samples: list[Any] = []
    names = bundle.names(files)
    for place, entry in enumerate(files[:most]):
        sample = _parse(bundle, entry, problems)
        if sample is None:
            problems.left_out += 1
            continue
        for _, record in _records([(1, sample)], _model(header), names[place], problems):
            which.append(place)
            records.append(record)
            samples += [sample] if len(samples) < RECORDS else []
    if not records:
        raise InputError(problems.listed)
    note_leaves(bundle.name, problems, samples, records, READS)
    note_leaves(bundle.file(head), problems, [header], records, READS)
    return Rows(bundle.name, tables_of([records]), [1] * len(records), which, names, problems)


def _sample_files(bundle: Bundle) -> list[Any]:
    return [entry for entry in bundle.entries if entry.name.startswith(SAMPLES) and entry.suffix == ".json"]


def _parse(bundle: Bundle, entry: Any, problems: Problems) -> Any:
    data = bundle.data(entry, problems, MAX_FILE_BYTES)
    if data is None:
        return None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if b"NaN" in data or b"Infinity" in data:
            with suppress(ValueError, RecursionError):
                return json.loads(data)  # a score that its scorer could not give is NaN
        problems.add(bundle.file(entry), f"{error.msg} at line {error.lineno}", "a JSON document")
        return None


def _unfinished(log: Mapping[str, Any], name: str) -> str | None:
    """Return a note where a log is not that of a run that ended well: samples may be missing."""
    status = text_of(log.get("status")) or "started"
    return None if status == "success" else f"{name}: the status of the log is “{status}”, samples may be missing."


def _model(log: Mapping[str, Any]) -> str | None:
    return text_of(log["eval"].get("model")) or None


def _records(
    samples: Iterable[tuple[int, Any]], model: str | None, file: str, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, sample in samples:
        try:
            record = _record(sample, model)
            note_media(problems, file, [sample["input"], sample.get("output")])
            yield row, record
        except Fault as wrong:
            problems.skip(file, wrong.found, wrong.expected, row, wrong.column)


def _record(sample: Any, model: str | None) -> dict[str, Any]:
    if not isinstance(sample, Mapping) or text_of(sample.get("id")) in (None, "") or "input" not in sample:
        raise Fault(repr(sample)[:60], SAMPLE)
    epoch = sample.get("epoch", 1)
    if type(epoch) is not int or epoch < 1:
        raise Fault(repr(epoch)[:60], "a whole number of at least 1", "epoch")
    output = sample.get("output")
    if "output" in sample and not isinstance(output, Mapping | None):
        raise Fault(repr(output)[:60], "an object with choices", "output")
    error, attached = sample.get("error"), sample.get("attachments")
    files = attached if isinstance(attached, Mapping) else {}
    messages = _resolved(sample.get("messages") or [], files)
    record: dict[str, Any] = {
        "case_id": text_of(sample["id"]),
        "run": str(epoch),
        "question": question_in(_resolved(sample["input"], files)),
        "expected_answers": references(sample.get("target")),
        "model": model,
        "answer": _resolved(content_text(reply_message(output or {}).get("content")) or None, files),
        "error": text_of(error.get("message") or error) if isinstance(error, Mapping) else text_of(error),
        **_usage(sample, output or {}, messages, model),
        "trace": _trace(messages),
    }
    if isinstance(sample.get("choices"), list):
        record["choices"] = [text_of(choice) for choice in sample["choices"]]
    own = sample.get("metadata")
    kept = flatten({METADATA.removesuffix("."): own}) if isinstance(own, Mapping) and own else {}
    if thoughts := _resolved(_thoughts(output or {}), files):
        record[METADATA + "reasoning"] = thoughts
    return record | {name: text_of(value) for name, value in kept.items()} | _scores(sample)


def _thoughts(output: Mapping[str, Any]) -> str:
    """Return what the model thought, which Inspect keeps in parts beside those of the text."""
    content = reply_message(output).get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    return "\n".join(text_of(part.get("reasoning")) or "" for part in parts if part.get("type") == "reasoning")


def _usage(sample: Mapping[str, Any], output: Mapping[str, Any], messages: Any, model: str | None) -> dict[str, Any]:
    """Return tokens, seconds and cost: of the call where there was one, else of the sample."""
    calls = sum(isinstance(message, Mapping) and message.get("source") == "generate" for message in messages)
    usage, seconds = output.get("usage"), output.get("time")
    if calls > 1:
        by_model = sample.get("model_usage")
        usage = by_model.get(model) if isinstance(by_model, Mapping) else None
        seconds = sample.get("working_time", sample.get("total_time"))
    used = usage if isinstance(usage, Mapping) else {}
    cost, tokens = amount(used.get("total_cost")), count(used.get("total_tokens"))
    return {"duration_s": amount(seconds), "cost_usd": cost, "tokens": tokens}


def _trace(messages: Any) -> str | None:
    if not calls_tools(messages):
        return None
    try:
        conversation(messages)
    except TraceError as failure:
        raise Fault(str(failure), "messages with roles", "messages") from None
    return json_text(messages)


def _scores(sample: Mapping[str, Any]) -> dict[str, str | None]:
    scores = sample.get("scores")
    if not isinstance(scores, Mapping):
        old = sample.get("score")
        scores = {"score": old} if isinstance(old, Mapping) else {}
    found: dict[str, Any] = {}
    for name, score in scores.items():
        if isinstance(score, Mapping):
            prefix = f"{METADATA}inspect.{name}"
            found |= flatten({prefix: score.get("value")})
            found |= {f"{prefix}.{key}": score[key] for key in ("answer", "explanation") if score.get(key) is not None}
    if isinstance(sample.get("limit"), Mapping):
        found[METADATA + "inspect.limit"] = sample["limit"].get("type")
    return {name: text_of(value) for name, value in found.items() if value is not None and value == value}  # not NaN


def _resolved(value: Any, files: Mapping[str, Any]) -> Any:
    """Return a value in whose texts the attachments that it refers to stand themselves."""
    if not files:
        return value
    if isinstance(value, str):
        return ATTACHMENT.sub(lambda match: str(files.get(match[1], match[0])), value)
    if isinstance(value, list):
        return [_resolved(item, files) for item in value]
    return {key: _resolved(item, files) for key, item in value.items()} if isinstance(value, Mapping) else value


def _head(upload: Upload, problems: Problems) -> tuple[Sheet, int | None]:
    return _read_eval(upload, problems, FIRST_ROWS), len(_sample_files(upload.folder))


LOG = table_reader("inspect_json", lambda source: _is_log(source.document), _read_log, answered=True)
EVAL = bundle_reader("inspect_eval", _is_eval, _read_eval, _head, answered=True, contents="an Inspect log (.eval)")
