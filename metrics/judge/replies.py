"""Reading a judge's replies: JSON as requested or in the usual wrappings. A reply that was cut is never completed."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, Field, ValidationError, create_model

from metrics.core.errors import Unreadable
from metrics.judge.asking import I, ItemReply, Reply, T, schema_of
from metrics.text.json_text import JsonError, read_json

LONGEST = 400_000  # characters of a reply; none of our questions needs more
SHOWN = 160
THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
FENCE = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
BEGINNING = re.compile(r"[{\[]")
# a whole string, so that its content is skipped; or a comma before a closing bracket
TRAILING = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])', re.DOTALL)
TRIES = 20  # places in the text where a JSON value may begin


def read(text: str, reply: type[T], *, cut: bool = False, limit: int = 0) -> T:
    """Return the reply in `text`. Raises Unreadable where there is none.

    Thoughts, code fences, words around the JSON and trailing commas are ignored. `cut`: the provider stopped at its
    limit of `limit` tokens, so the text counts only if it is complete JSON.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"the judge's reply has {len(text):,} characters; at most {LONGEST:,} are read")
    if not text.strip():
        raise Unreadable(_cut_short(limit) if cut else "the judge's reply is empty")
    try:
        return reply.model_validate(_shaped(_writable(_json_of(text, whole=cut)), reply))
    except (JsonError, ValidationError) as failure:
        if cut:
            raise Unreadable(_cut_short(limit)) from None
        raise Unreadable(f"{_complaint(failure)}; the judge said {_excerpt(text)}") from None


def _cut_short(limit: int) -> str:
    return f"the judge's reply was cut by the limit of {limit:,} tokens: raise max_tokens"


def _json_of(text: str, whole: bool) -> Any:
    try:
        return read_json(text).value
    except JsonError as failure:
        if whole:
            raise
        first = failure
    text = THOUGHTS.sub("", text)
    for candidate in [*FENCE.findall(text), text]:
        found = _first_value(TRAILING.sub(r"\1", candidate))
        if found is not None:
            return found
    raise first


def _first_value(text: str) -> Any:
    """Return the longest top-level JSON object or list in `text`; None without any."""
    decoder, written = json.JSONDecoder(), len(text.rstrip())
    found: list[tuple[int, Any]] = []
    position = 0
    for _ in range(TRIES):
        begins = BEGINNING.search(text, position)
        if begins is None:
            break
        try:
            value, position = decoder.raw_decode(text, begins.start())
        except RecursionError:
            break
        except json.JSONDecodeError as failure:
            if failure.pos >= written or failure.msg.startswith("Unterminated"):
                break  # it is incomplete: a value inside it is not the reply
            position = begins.end()
        else:
            found.append((position - begins.start(), value))
    return max(found, key=lambda entry: entry[0])[1] if found else None


def _writable(value: Any) -> Any:
    """Return `value` without lone surrogates (half an emoji), which no request and no table can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(entry) for entry in value]
    return {key: _writable(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def _shaped(value: Any, reply: type[BaseModel]) -> Any:
    """Return `value` in the shape of `reply`: wrap a bare list, rename a single key, unwrap a nested object."""
    fields = reply.model_fields
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key not in fields and isinstance(inner, dict):
            return inner
    if len(fields) != 1:
        return value
    (name,) = fields
    if isinstance(value, list) and "list" in str(fields[name].annotation):
        return {name: value}
    if isinstance(value, dict) and name not in value and len(value) == 1:
        return {name: next(iter(value.values()))}
    return value


def _complaint(failure: JsonError | ValidationError) -> str:
    if isinstance(failure, JsonError):
        return f"the judge's reply is not JSON: {failure}"
    errors = failure.errors(include_url=False)
    problems = "; ".join(f"{'.'.join(map(str, error['loc'])) or 'reply'}: {error['msg']}" for error in errors[:3])
    more = f" and {len(errors) - 3} more" if len(errors) > 3 else ""
    return f"the judge's reply does not fit: {problems}{more}"


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…")


class Items(Reply):
    """Base of the replies to a numbered list."""

    replies: list[Any]


@lru_cache(maxsize=256)
def items_of(reply: type[ItemReply], name: str) -> type[Items]:
    """Return the form of the replies to numbered items shown under `name`: an object with one list."""
    field = Field(description=f"one entry for each of the {name}, id its number")
    title = reply.model_config.get("title") or reply.__name__
    return create_model(f"{title}s", __base__=Items, replies=(list[reply], field))  # type: ignore[valid-type]


def by_number(entries: Sequence[I], count: int) -> dict[int, I]:
    """Return the replies by item number, without unknown numbers and contradictory replies."""
    found: dict[int, I] = {}
    contradicted: set[int] = set()
    for entry in entries:
        if 1 <= entry.id <= count and found.setdefault(entry.id, entry) != entry:
            contradicted.add(entry.id)
    return {number: entry for number, entry in found.items() if number not in contradicted}


@lru_cache(maxsize=256)
def schema_text(reply: type[BaseModel]) -> str:
    """Return the schema as canonical JSON, for cache keys and, where needed, the prompt."""
    return json.dumps(schema_of(reply), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
