"""What a target replied: checked, bounded, and without anything that a table cannot hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from metrics.core.fields import OUTPUT_FIELDS
from metrics.core.rounding import exact_sum
from metrics.core.unicode_forms import REPLACEMENT
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SCORED_ALIASES, fold
from metrics.ingest.traces.stored_trace import trace_of, without_thoughts
from metrics.judge.completion import CallFailed
from metrics.judge.keys import redact, redact_start
from metrics.text.agents.traces import TraceError

MAX_TEXT = 1_000_000  # characters of an answer, or of one passage
MAX_LISTED = 1_000  # passages, citations or artifacts
LONGEST_REPLY = 1 << 23  # bytes
LARGEST = 2**53  # cost, tokens or score: every whole number up to it is a float
LISTS = tuple(each.name for each in OUTPUT_FIELDS if each.is_list and not each.is_number)
NAMES = {
    **{name: (name, *OUTPUT_ALIASES[name]) for name in ("answer", "trace", "cost_usd", "tokens", *LISTS)},
    "label": ("label", "predicted_label", *SCORED_ALIASES["predicted_label"]),
    "score": ("score", *SCORED_ALIASES["score"]),
    "error": ("error",),
}
TEXTS = ("text", "content", "page_content", "passage")  # of a passage that is an object
IDS = ("id", "doc_id", "passage_id", "chunk_id")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, with the columns of OUTPUTS, `label` and `score` where it classifies, and other values as text."""

    answer: str | None = None
    retrieved_contexts: Sequence[str] | None = None
    context_ids: Sequence[str] | None = None
    citations: Sequence[str] | None = None
    trace: str | None = None
    artifacts: Sequence[str] | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    label: str | None = None
    score: float | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """Return what the answer has, by column."""
        return {name: value for name, value in asdict(self).items() if value not in (None, {})}


def answer_of(reply: Any) -> Answer:
    """Return the answer in a reply: a text, or an object with `answer`, `retrieved_contexts`, `trace` …

    The names of other tools are understood (output, response, contexts …). A passage may be an object with text and
    id. Raises CallFailed for anything else, and for what is too long.
    """
    if isinstance(reply, str):
        return Answer(answer=_text(reply, "answer"))
    if not isinstance(reply, Mapping):
        raise wrong(f"a reply of type {type(reply).__name__}, expected a text, or an object with an answer")
    given: dict[str, Any] = {}
    folded = {fold(str(key)): value for key, value in reply.items()}
    for canonical, names in NAMES.items():
        key = next((name for name in names if folded.get(name) is not None), None)
        if key is not None:
            given[canonical] = folded[key]
    known = {name for names in NAMES.values() for name in names}
    others = {str(key): value for key, value in reply.items() if fold(str(key)) not in known and value is not None}
    if "error" in given:
        raise wrong(_text(given["error"], "error"))
    return answer_from(given, {key: _text(value, key) for key, value in list(others.items())[:MAX_LISTED]})


def answer_from(given: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> Answer:
    """Return the answer with these values by canonical name. Raises CallFailed where one is not what it should be."""
    there = {name: value for name, value in given.items() if value is not None}
    values: dict[str, Any] = {name: _text(there[name], name) for name in ("answer", "label") if name in there}
    values |= {name: _list(there[name], name) for name in LISTS if name in there}
    if "context_ids" not in values and (ids := _ids_in(there.get("retrieved_contexts"))):
        values["context_ids"] = ids
    named, texts = (len(values.get(name) or ()) for name in ("context_ids", "retrieved_contexts"))
    if named and texts and named != texts:
        raise wrong(f"{named} ids of {texts} passages, expected an id for each")
    values |= {name: _number(there[name], name) for name in ("cost_usd", "tokens", "score") if name in there}
    if "tokens" in values:
        values["tokens"] = round(values["tokens"])
    if "trace" in there:
        values |= _traced(there["trace"], values)
    if "answer" not in values and not any(values.get(name) for name in ("label", "trace", "artifacts")):
        raise wrong("a reply without an answer")
    return Answer(**values, metadata=metadata or {})


def _ids_in(passages: Any) -> list[str] | None:
    """Return the ids that all passages have in them; None where one has none."""
    if not isinstance(passages, list):
        return None
    ids = [_part(passage, IDS) for passage in passages]
    return None if any(each is None for each in ids) else _list(ids, "context_ids")


def wrong(text: str) -> CallFailed:
    """Return the failure of a reply that is of no use; asking again would not help."""
    return CallFailed(clean(text)[:300], "refused")


def clean(text: str) -> str:
    """Return a text without keys, half characters and NUL."""
    return redact(text.replace("\0", REPLACEMENT))


def _text(value: Any, name: str) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > MAX_TEXT:
        raise wrong(f"{name} of {len(text):,} characters, more than {MAX_TEXT:,}")
    return clean(text)


def _list(value: Any, name: str) -> list[str]:
    items = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else None
    if items is None:
        raise wrong(f"{name} of type {type(value).__name__}, expected a list of texts")
    if len(items) > MAX_LISTED:
        raise wrong(f"{len(items):,} {name}, more than {MAX_LISTED:,}")
    found = [_part(item, TEXTS) if name == "retrieved_contexts" else item for item in items]
    return [_text(item if part is None else part, name) for item, part in zip(items, found, strict=True)]


def _part(item: Any, names: Sequence[str]) -> Any:
    """Return the first value of that name in an object; None where there is none."""
    own = item if isinstance(item, Mapping) else {}
    return next((own[name] for name in names if own.get(name) is not None), None)


def _number(value: Any, name: str) -> float:
    parts = isinstance(value, list) and all(isinstance(part, int | float) and 0 <= part <= LARGEST for part in value)
    total = exact_sum(value) if parts else value
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 <= total <= LARGEST:
        raise wrong(f"{name} {redact_start(str(value), 40)!r}, expected a number from 0 to {LARGEST:,}")
    return float(total)


def _traced(document: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the trace as it is stored, and the answer and tokens that only the trace states."""
    try:
        value = json.loads(document if isinstance(document, str) else json.dumps(document))
        trace = without_thoughts(trace_of(value))
    except (TraceError, ValueError, TypeError, RecursionError) as failure:
        raise wrong(f"a trace that cannot be read: {failure}") from None
    if len(trace.text) > LONGEST_REPLY:
        raise wrong(f"a trace of {len(trace.text):,} characters, more than {LONGEST_REPLY:,}")
    own = {"answer": trace.answer and _text(trace.answer, "answer"), "tokens": trace.tokens}
    return {"trace": clean(trace.text)} | {
        name: value for name, value in own.items() if value is not None and name not in values
    }
