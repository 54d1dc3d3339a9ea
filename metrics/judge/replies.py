"""Reading a judge's replies: JSON as requested, or as models write it. A reply that was cut is never completed.

Where a reply can be read in two ways it is not read: the judge is asked again. It may quote its material, in which an
author can place a reply: two objects that differ, or an object and words that differ, count as none.
"""

import json
import re
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import Any, cast

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, create_model

from metrics.core.errors import Cut, Unreadable
from metrics.core.unicode_forms import without_halves
from metrics.judge import reply_text, reply_values
from metrics.judge.asking import I, ItemReply, Reply, T, schema_of
from metrics.judge.reply_text import TAG, Value, decoded, is_quoted, lines_of, outside, plain, refused, values
from metrics.judge.reply_values import ANSWERS, REASONS, as_label, coerced, entry_of, fitted, labels_of, sole_field
from metrics.text.json_text import JsonError

LONGEST = 400_000  # characters of a reply; none of our questions needs more
MOST_ENTRIES = 1_000  # of a numbered list
SHOWN = 160
LONGEST_PROSE = 20_000  # characters of a reply in words
# Verdict: yes   **Verdict:** yes   - reason = …   Score (1-5): 4
NAMED = re.compile(r"[\W_]*([^\W\d_][\w ]{0,30}?)(?: ?\([^()]{1,20}\))?[*_`\"' ]*[:=](?!/)\s*(.*)")
NUMBERED = re.compile(r"[^\w-]*(?:[^\W\d_]+\s+)?(\d{1,6})\s*[\])*_]*[\])}.:=–—-]+\s*(\S.*)")  # 1. yes   [2] no
# a name on a line of its own, the value on the next:   ## Verdict   **Verdict**
HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)([^\W\d_][\w ]{0,30}?)[ \t]*:?\*{0,2}:?[ \t]*\n\s*", re.MULTILINE)
TAGGED = re.compile(r"^[ \t]*<(\w{1,30})>([^<>]*)</\1>[ \t]*$", re.MULTILINE)  # <verdict>yes</verdict>
# \boxed{4}   Final answer: $\boxed{4}$
BOXED = re.compile(r"(^|:)[\s*$]{0,40}\\boxed\{(?:\\text\{)?([\w .-]{1,40})\}{1,2}[\s*$.]*$", re.MULTILINE)
RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")  # below the heading of a table
CELLS = re.compile(r"(?<!\\)\|")
STATES = (
    r"\b(?:verdict|answer|judge?ment|decision|conclusion|label|rating|grade|score|{field})\W{{0,9}}"
    r"(?:is|would be)?\W{{0,9}}(?<!\w)({labels})(?!\w)"
)


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
        what = f"is not JSON: {failure}" if isinstance(failure, JsonError) else f"does not fit: {_problems(failure)}"
        raise Unreadable(f"the judge's reply {what}; the judge said {_excerpt(text)}") from None


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
    said = reply_text.with_plain_marks(reply_text.without_thoughts(text))
    found = [value for value in values(said, listed=issubclass(form, Items)) if not is_quoted(said, value)]
    if reply_text.has_words(outside(said, found)):  # an empty pair of brackets among words says nothing
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
    if (sole := sole_field(form)) and stated(words, form) - {reply_values.label_text(getattr(reply, sole))}:
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
        return without_halves(value)
    if isinstance(value, list):
        return [_writable(entry) for entry in value]
    return {key: _writable(entry) for key, entry in value.items()} if isinstance(value, dict) else value


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
    numbers = [reply_values.whole_number(row.get("id")) if isinstance(row, dict) else None for row in rows]
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


def said_in_words(text: str, form: type[BaseModel], numbered: bool) -> Any:
    """Return what a text without JSON says, to be fitted to `form`; None where that is not plain.

    `numbered`: the form is one list of numbered entries.
    """
    text = TAGGED.sub(lambda found: f"{found[1]}: {' '.join(found[2].split())}", text)
    text = TAG.sub(" ", text).strip()
    sole = sole_field(form)
    if not text or len(text) > LONGEST_PROSE or refused(text):
        return None
    if sole and reply_values.is_list(form, sole):
        entry = entry_of(form, sole)
        rows: Any = None
        if numbered:
            rows = _numbered(text, entry) or _table(text) or _blocks(text, entry)
        elif entry is str:
            rows = [] if reply_values.says_none(text, sole) else lines_of(text) or _table(text)
        return None if rows is None else {sole: rows}
    if sole and (labels := labels_of(form, sole)):
        label = coerced(text, form.model_fields[sole].annotation)
        if label in labels or isinstance(label, bool):
            return {sole: label} | ({"reason": text} if plain(text) != plain(str(label)) else {})
    text = HEADING.sub(r"\1: ", text)
    return _by_name(BOXED.sub(lambda found: f"{found[1] or 'answer:'} {found[2]}", text), form)


def stated(text: str, form: type[BaseModel]) -> set[Any]:
    """Return the labels that a text states in words ("my verdict is no"); only of a form with a single choice."""
    sole = sole_field(form)
    labels = labels_of(form, sole) if sole else ()
    if not labels:
        return set()
    words = {*map(plain, map(str, labels)), *({"true", "false"} if {"yes", "no"} <= set(labels) else ())}
    pattern = STATES.format(field=re.escape(str(sole)), labels="|".join(map(re.escape, words)))
    return {plain(str(as_label(found, labels))) for found in re.findall(pattern, text, re.IGNORECASE)}


def _numbered(text: str, entry: Any) -> list[dict[str, Any]] | None:
    """Return the entries of lines such as "1. yes"; None unless all lines but one before them are such."""
    sole = sole_field(entry)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and not NUMBERED.fullmatch(lines[0]):
        del lines[0]
    matches = [NUMBERED.fullmatch(line) for line in lines]
    if sole is None or not matches or not all(matches):
        return None
    found = [{"id": int(match[1]), sole: match[2]} for match in matches if match]
    # other lines of numbered blocks can look like these
    return found if all(_named(str(row[sole]), _names(entry)) is None for row in found) else None


def _table(text: str) -> list[dict[str, str]] | None:
    """Return the rows of a Markdown table by the heads of its columns; None for other text, or with words after it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    start = next((place for place, line in enumerate(lines) if "|" in line), len(lines))
    if len(lines) < start + 3 or not RULE.fullmatch(lines[start + 1]):
        return None
    cells = [[cell.strip() for cell in CELLS.split(line.strip("|"))] for line in lines[start:]]
    heads, _, *rows = cells
    if len(set(heads)) < len(heads) or any(len(row) != len(heads) for row in cells):
        return None
    return [{head: cell.replace("\\|", "|") for head, cell in zip(heads, row, strict=True)} for row in rows]


def _blocks(text: str, entry: Any) -> list[dict[str, Any]] | None:
    """Return the entries of blocks of lines, each block a number and then names and values, as in YAML.

    None where there are other lines, but for one before them.
    """
    names, sole = _names(entry), sole_field(entry)
    labels = labels_of(entry, sole) if sole else ()
    rows: list[dict[str, Any]] = []
    for place, line in enumerate(filter(str.strip, text.splitlines())):
        named = _named(line, names)
        if named is None:
            numbered = NUMBERED.fullmatch(line)
            number = int(numbered[1]) if numbered else reply_values.whole_number(line.lstrip(" \t-*•"))
            if isinstance(number, int):
                rows.append({"id": number})
                rest = numbered[2] if numbered else ""
                named = _named(rest, names)
                if sole and labels and named is None and as_label(rest, labels) in labels:
                    named = _joined(sole), rest
            elif place:
                return None
        if named and (not rows or rows[-1].setdefault(*named) != named[1]):
            return None
    # a numbered list within a reason looks like blocks, but without a value
    values = names - REASONS - {_joined(name) for name, field in entry.model_fields.items() if not field.is_required()}
    whole = all(row.keys() & values for row in rows) and len({row["id"] for row in rows}) == len(rows)
    return rows if rows and whole else None


def _joined(name: str) -> str:
    return "".join(plain(name).split())


def _names(form: type[BaseModel]) -> Set[str]:
    """Return the names, as of _named(), under which values of a form stand."""
    return {_joined(name) for name in form.model_fields if name != "id"} | ANSWERS | REASONS


def _named(line: str, names: Set[str]) -> tuple[str, str] | None:
    """Return name and value of a line such as "Verdict: yes"; None where the name is not one of `names`."""
    match = NAMED.fullmatch(line.strip())
    name = _joined(match[1]) if match else ""
    return (name, match[2]) if match and name in names else None


def _by_name(text: str, form: type[BaseModel]) -> Any:
    """Return the values of lines such as "Verdict: yes"; None unless the last line is one and no two differ."""
    names = _names(form)
    found: dict[str, str] = {}
    last = None
    for line in filter(str.strip, text.splitlines()):
        last = _named(line, names)
        if last and found.setdefault(*last) != last[1]:
            return None
    return found if last else None
