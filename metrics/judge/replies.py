"""Reading a judge's replies: JSON as requested, or as models write it. A reply that was cut is never completed.

Where a reply can be read in two ways it is not read: the judge is asked again. It may quote its material, in which an
author can place a reply: two objects that differ, or an object and words that differ, count as none.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, create_model

from metrics.core.errors import Cut, Unreadable
from metrics.judge.asking import I, ItemReply, Reply, T, schema_of
from metrics.judge.coercion import entry_of, fitted, labels_of, sole_field
from metrics.judge.prose_replies import said_in_words, stated
from metrics.judge.reply_text import (
    Value,
    decoded,
    has_words,
    is_quoted,
    outside,
    values,
    with_plain_marks,
    without_thoughts,
)
from metrics.judge.scalars import label_text, refused, whole_number
from metrics.text.json_text import JsonError

LONGEST = 400_000  # characters of a reply; none of our questions needs more
MOST_ENTRIES = 1_000  # of a numbered list
SHOWN = 160


def read(text: str, reply: type[T], *, cut: bool = False, limit: int = 0) -> T:
    """Return the reply in `text`. Raises Unreadable where there is none, Cut where it was cut.

    Thoughts and words around the JSON are ignored, broken syntax is repaired, values are brought into the types of the
    fields. Of numbered entries those that can be read count; Items.by_number() tells what is wrong with the others.
    `cut`: the provider stopped at its limit of `limit` tokens, so the text counts only if it is complete JSON.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"the judge's reply has {len(text):,} characters; at most {LONGEST:,} are read")
    if not text.strip():
        raise Cut(_cut_short(limit)) if cut else Unreadable("the judge's reply is empty")
    try:
        return _read(text, reply, whole=cut)
    except (JsonError, ValidationError) as failure:
        if cut:
            raise Cut(_cut_short(limit)) from None
        if refused(text):
            raise Unreadable(f"the judge refused to answer; it said {_excerpt(text)}") from None
        raise Unreadable(f"{_complaint(failure)}; the judge said {_excerpt(text)}") from None


def _cut_short(limit: int) -> str:
    return f"the judge's reply was cut by the limit of {limit:,} tokens: raise max_tokens"


def _read(text: str, form: type[T], *, whole: bool) -> T:
    """Return the reply. Raises JsonError or ValidationError; with `whole`, where the text is not one JSON value."""
    try:
        return _validated([decoded(text)], form)
    except JsonError as failure:
        if whole:
            raise
        first = failure
    said = with_plain_marks(without_thoughts(text))
    found = [value for value in values(said, listed=issubclass(form, Items)) if not is_quoted(said, value)]
    if has_words(outside(said, found)):  # an empty pair of brackets among words says nothing
        found = [value for value in found if value.content != []]
    if not any(isinstance(value.content, dict) for value in found):
        in_words = said_in_words(said, form, numbered=issubclass(form, Items))
        if in_words is not None:
            return _validated([in_words], form)
    if not found:
        raise first
    words = outside(said, found)
    for value in found:
        _require_unswallowed(said[value.begins : value.ends] + words, value, form)
    reply = _validated([value.content for value in found], form)
    if (sole := sole_field(form)) and stated(words, form) - {label_text(getattr(reply, sole))}:
        raise JsonError("its words and its JSON state different labels")
    return reply


def _validated(contents: Sequence[Any], form: type[T]) -> T:
    """Return the reply in one or several JSON values, which must agree."""
    contents = [_writable(content) for content in contents]
    if issubclass(form, Items):
        return cast(T, _items(contents, form))
    readings, failure = [], None
    for content in contents:
        try:
            readings.append(_model(fitted(content, form), form))
        except ValidationError as problem:
            failure = failure or problem
    if not readings:
        assert failure is not None
        raise failure
    required = {name for name, field in form.model_fields.items() if field.is_required()}
    if any(reading.model_dump(include=required) != readings[0].model_dump(include=required) for reading in readings):
        raise JsonError("it states several different replies")
    return readings[-1]


def _model(values: Any, form: type[T]) -> T:
    """Return the reply of these fields; one that may be missing and does not fit is left out."""
    try:
        return form.model_validate(values)
    except ValidationError as failure:
        fields = form.model_fields
        wrong = {error["loc"][0] for error in failure.errors() if error["loc"]}
        if not isinstance(values, dict) or not wrong or any(fields[str(name)].is_required() for name in wrong):
            raise
        return form.model_validate({name: value for name, value in values.items() if name not in wrong})


def _require_unswallowed(text: str, value: Value, form: type[BaseModel]) -> None:
    """Raise JsonError where the text of a repaired value, and the words around it, state a label more often than the
    value holds it.

    A label may stand in quoted material whose quotes were not escaped, and be taken for the judge's.
    """
    if not value.repaired:
        return
    stating = entry_of(form, "replies") if issubclass(form, Items) else form
    keys = [key.casefold() for key in _keys(value.content)]
    for name in stating.model_fields:
        if labels_of(stating, name) and keys.count(name) < len(
            re.findall(rf"(?<!\w){re.escape(name)}[\"'“”‘’]{{0,2}}\s*[:=]", text, re.IGNORECASE)
        ):
            raise JsonError(f"it states {name} more than once")


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from map(str, value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _keys(part)


def _writable(value: Any) -> Any:
    """Return `value` without lone surrogates (half an emoji), which no request and no table can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_writable(entry) for entry in value]
    return {key: _writable(entry) for key, entry in value.items()} if isinstance(value, dict) else value


def _complaint(failure: JsonError | ValidationError) -> str:
    if isinstance(failure, JsonError):
        return f"the judge's reply is not JSON: {failure}"
    return f"the judge's reply does not fit: {_problems(failure)}"


def _problems(failure: ValidationError) -> str:
    errors = failure.errors(include_url=False)
    problems = "; ".join(f"{'.'.join(map(str, error['loc'])) or 'reply'}: {error['msg']}" for error in errors[:3])
    return problems + (f" and {len(errors) - 3} more" if len(errors) > 3 else "")


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= SHOWN else flat[: SHOWN - 1] + "…")


class Items(Reply):
    """Base of the replies to a numbered list: those that can be read, in their order."""

    replies: list[Any]

    _complaints: dict[int, str] = PrivateAttr(default_factory=dict)  # about the others, by number
    _in_order: int | None = PrivateAttr(default=None)  # how many there were, where none had a number

    def by_number(self, count: int) -> tuple[dict[int, Any], dict[int, str]]:
        """Return the replies to `count` items by number, and for each other item why it has none.

        Unknown numbers are dropped. Entries without numbers count only if there is one for each item.
        """
        if self._in_order not in (None, count):
            return {}, dict.fromkeys(range(1, count + 1), f"{self._in_order} replies without an id")
        if 0 in {entry.id for entry in self.replies} | self._complaints.keys():
            return {}, dict.fromkeys(range(1, count + 1), "the numbers begin at 0")
        found = by_number(self.replies, count)
        found = {number: entry for number, entry in found.items() if number not in self._complaints}
        given = {entry.id for entry in self.replies}
        left = [number for number in range(1, count + 1) if number not in found]
        why = {number: "two replies that differ" if number in given else "no reply" for number in left}
        return found, why | {number: self._complaints[number] for number in left if number in self._complaints}


@lru_cache(maxsize=256)
def items_of(reply: type[ItemReply], name: str) -> type[Items]:
    """Return the form of the replies to numbered items shown under `name`: an object with one list."""
    field = Field(description=f"one entry for each of the {name}, id its number")
    title = reply.model_config.get("title") or reply.__name__
    return create_model(f"{title}s", __base__=Items, replies=(list[reply], field))  # type: ignore[valid-type]


def _items(contents: Sequence[Any], form: type[Items]) -> Items:
    """Return the entries of all values that can be read. Raises ValidationError where there are some and none can."""
    entry = entry_of(form, "replies")
    shaped = [fitted(content, form) for content in contents]
    parts = [one["replies"] for one in shaped if isinstance(one, dict) and isinstance(one.get("replies"), list)]
    if not parts:
        return form.model_validate(shaped[0])
    rows = [row for part in parts for row in part]
    if len(rows) > MOST_ENTRIES:
        raise JsonError(f"a list of {len(rows):,} entries; at most {MOST_ENTRIES:,} are read")
    numbers = [whole_number(row.get("id")) if isinstance(row, dict) else None for row in rows]
    in_order = bool(rows) and not any(isinstance(number, int) for number in numbers)
    read, complaints, failure = [], {}, None
    for place, (row, number) in enumerate(zip(rows, numbers, strict=True), 1):
        if in_order and isinstance(row, dict):
            row, number = row | {"id": place}, place
        try:
            read.append(_model(row, entry))
        except ValidationError as problem:
            failure = failure or problem
            if isinstance(number, int):
                complaints[number] = _problems(problem)
    if failure is not None and not read:
        raise failure
    found = form(replies=read)
    found._complaints, found._in_order = complaints, len(rows) if in_order else None
    return found


def by_number(entries: Sequence[I], count: int) -> dict[int, I]:
    """Return the replies by item number, without unknown numbers and contradictory replies."""
    found: dict[int, I] = {}
    contradicted: set[int] = set()
    for entry in entries:
        if 1 <= entry.id <= count and found.setdefault(entry.id, entry).model_dump() != entry.model_dump():
            contradicted.add(entry.id)
    return {number: entry for number, entry in found.items() if number not in contradicted}


@lru_cache(maxsize=256)
def schema_text(reply: type[BaseModel]) -> str:
    """Return the schema as canonical JSON, for cache keys and, where needed, the prompt."""
    return json.dumps(schema_of(reply), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
