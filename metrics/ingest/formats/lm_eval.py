"""lm-evaluation-harness samples (samples_TASK_….jsonl): a line a document, with the requests and what came back.

The question is the document's where it has one with a usual name, else the prompt as sent. The answer is the response
as it came (several are repeats); what the harness filtered from it is kept as `metadata.lm_eval.filtered`, or
`metadata.lm_eval.FILTER.filtered` where several filters were used. Of a multiple-choice document the answer is the
choice with the greatest log-likelihood, and the expected answer the target's choice; the choices, the place of the
correct one and the log-likelihoods are kept beside them. Metrics are kept as metadata.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.ingest.formats.tool_records import Fault, Numbered, Record, metadata, references, tool_reader
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.messages import QUESTIONS
from metrics.ingest.tables.values import text_of
from metrics.ingest.unused_leaves import OTHERS, TAKEN

NAMED = ("question", "query", "prompt", "problem", "goal", "sentence", "premise", "ctx")
OWN = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
       "prompt_hash", "target_hash"}  # fmt: skip
EXPECTED = "a sample with doc_id, doc, target, arguments and resps"
SUITABLE = "samples of tasks that generate text, or that choose between several continuations of one prompt"


def _knows(names: frozenset[str]) -> bool:
    return names >= {"doc_id", "doc", "target"} and bool(names & {"resps", "filtered_resps"})


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    filters = dict.fromkeys(text_of(record.get("filter")) for _, record in records)
    first: dict[tuple[str, str], Record] = {}
    made: list[Numbered] = []
    for row, record in records:
        try:
            found = _rows(record, len(filters) > 1)
        except Fault as wrong:
            fault(row, wrong)
            continue
        for one in found:
            key = one["case_id"], one["run"]
            if key in first and len(filters) > 1:  # the same response, filtered in another way
                first[key].update({name: value for name, value in one.items() if name not in first[key]})
                continue
            first.setdefault(key, one)
            made.append((row, one))
    yield from made


def _rows(record: Record, several: bool) -> list[Record]:
    case = text_of(record.get("doc_id"))
    doc = record.get("doc")
    if case in (None, "") or not isinstance(doc, Mapping | str):
        raise Fault(f"an object with {', '.join(list(record)[:8])}"[:80], EXPECTED)
    requests = _requests(record.get("arguments"))
    expected, answers = record.get("target"), _generated(record)
    generated = answers is not None
    chances: Record = {}
    if answers is None:
        choices = [text_of(request[1]) or "" for request in requests if len(request) > 1]
        logprobs = _log_likelihoods(record, choices, requests)
        answers = [choices[logprobs.index(max(logprobs))].strip()]
        delimited = all(text.startswith(" ") for text in choices)  # by the blank that the harness puts in front
        plain = [text[1:] for text in choices] if delimited else choices
        chances = {"choices": plain, "choice_logprobs": list(map(repr, logprobs))}
        place = expected
        if isinstance(place, str) and place.isdecimal() and len(place) < 6:
            place = int(place)
        if type(place) is int and 0 <= place < len(choices):
            expected = choices[place].strip()
            chances["correct_choice"] = str(place)
        elif text_of(expected) in chances["choices"]:
            chances["correct_choice"] = str(chances["choices"].index(text_of(expected)))
    name = text_of(record.get("filter")) or "none"
    prefix = f"lm_eval.{name}" if several else "lm_eval"
    kept = metadata(f"{prefix}.filtered", _only(record.get("filtered_resps"))) if generated else {}
    for key, value in record.items():
        if key not in OWN:
            kept |= metadata(f"{prefix}.{key}", value)
    shared = {
        "case_id": case,
        "question": _question(doc, requests),
        "expected_answers": references(expected),
        **chances,
        **metadata("doc", doc if isinstance(doc, Mapping) else None),
        **kept,
    }
    return [shared | {"run": str(run), "answer": answer} for run, answer in enumerate(answers, 1)]


def _requests(arguments: Any) -> list[list[Any]]:
    """Return the arguments of each request: lists, or objects arg_0, arg_1, … of gen_args_0, gen_args_1, …"""
    if isinstance(arguments, Mapping):
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, Mapping)]
    return [one for one in arguments if isinstance(one, list) and one] if isinstance(arguments, list) else []


def _generated(record: Record) -> list[str | None] | None:
    """Return the texts that the model generated, a repeat each; None where it returned log-likelihoods."""
    for name in ("resps", "filtered_resps"):
        listed = record.get(name)
        first = listed[0] if isinstance(listed, list) and listed else None
        if isinstance(first, str):
            return [first]
        if name == "resps" and isinstance(first, list) and first and all(isinstance(text, str) for text in first):
            likelihood = len(first) == 2 and first[1] in ("True", "False")
            return None if likelihood else list(first)
    return None


def _log_likelihoods(record: Record, choices: Sequence[str], requests: Sequence[list[Any]]) -> list[float]:
    """Return the log-likelihood of each continuation; Fault where the requests are no choice."""
    listed = record.get("filtered_resps")
    values = [_likelihood(entry) for entry in listed] if isinstance(listed, list) else []
    if len(choices) < 2 or len(values) != len(choices) or any(math.isnan(value) for value in values):
        raise Fault("log-likelihoods that choose nothing", SUITABLE, "filtered_resps")
    if len({text_of(request[0]) for request in requests}) > 1 or len(set(choices)) < len(choices):
        raise Fault("choices that differ in their prompt, or unconditional requests beside them", SUITABLE, "arguments")
    return values


def _likelihood(entry: Any) -> float:
    """Return the log-likelihood in [value, is_greedy], which may be texts; NaN where there is none."""
    first = entry[0] if isinstance(entry, list) and entry else entry
    try:
        return float(first)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _only(listed: Any) -> Any:
    return listed[0] if isinstance(listed, list) and len(listed) == 1 else listed


def _question(doc: Mapping[str, Any] | str, requests: Sequence[list[Any]]) -> str | None:
    if isinstance(doc, str):
        return doc
    folded = {fold(str(name)): value for name, value in doc.items()}
    usual = next((folded[name] for name in (*NAMED, *QUESTIONS) if isinstance(folded.get(name), str)), None)
    return usual or (text_of(requests[0][0]) if requests else None)


READS = {
    "doc_id": "case_id", "doc": "question metadata.doc", "target": f"{TAKEN} expected_answers", "resps": "answer",
    "arguments": "question choices", "filtered_resps": "answer choice_logprobs metadata.lm_eval",
    OTHERS: "metadata.lm_eval",
}  # fmt: skip
READER = tool_reader("lm_eval", _knows, _convert, READS)
