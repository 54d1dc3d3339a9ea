"""The JSON values in a model's text: thoughts, channels and words around them left out, broken syntax repaired.

Repairs have bounded work: json-repair needs 9 s of processor time for some texts of 4,000 characters.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, SupportsIndex, overload

from metrics.core.unicode_forms import normalized
from metrics.text import thoughts
from metrics.text.json_text import MAX_DEPTH, STRUCTURE, JsonError, bounded_integer

# what reasoning models write around their thoughts; the opening mark may have been a part of the prompt
ASKED = "reflection|analysis|scratchpad"  # tags that prompts ask for
OPENING = rf"(?i:{thoughts.OPENING.pattern}|<(?:{ASKED})>)"
CLOSING = rf"(?i:{thoughts.CLOSE}|</(?:{ASKED})>)"
IN_WORDS = "|".join(f"(?:{opening}).*?(?:{closing})" for opening, closing in thoughts.WORDS)
THOUGHTS = re.compile(rf"\A\s*(?:(?:{OPENING}).*?(?:{CLOSING})|(?i:{IN_WORDS}))", re.DOTALL)
UNFINISHED = re.compile(rf"\A\s*(?:{OPENING})(?!.*(?:{CLOSING}))", re.DOTALL)
# no object may begin before the closing mark: it could stand in a string of the reply
CLOSED_ONLY = re.compile(rf"\A(?:(?!\{{\s*[\"'“]).)*?(?:{CLOSING})", re.DOTALL)
# beyond an object that the thoughts tried out: `{"` cannot stand in a string of the reply, whose quotes are escaped
CLOSED_BEFORE_JSON = re.compile(rf"\A(?!\s*[{{\[`]).*(?:{CLOSING})\s*(?:```\w*\s*)?(?=[{{\[]\s*\")", re.DOTALL)
# a message of a model that writes in channels: its header and content
CHANNEL = re.compile(
    r"<\|channel\|>((?:[^<]|<\|constrain\|>){0,200})<\|message\|>(.*?)(?=<\|(?:end|return|call|start)\|>|\Z)", re.DOTALL
)
BLOCKS = 10  # of thoughts, one after the other
BEGINNING = re.compile(r"[{\[]")
# a bracket that begins JSON, not one of prose such as [sic] or {so on}
JSON_LIKE = re.compile(r"\{\s*(?:[\"'“}]|\w+\s*:)|\[\s*[\"'“{\[\]\d-]")
QUOTES = {'"': '"', "'": "'", "”": "“"}  # a closing quote: its opening one
TAG = re.compile(r"</?[a-z_]{1,20}(?:=\w{1,40})?>|<\|[a-z_]{1,40}\|>|```\w*", re.IGNORECASE)
# the strings in which full-width marks of JSON are text; the marks, and all behind a quote that is never closed
WIDE = re.compile(r'("(?:[^"\\]|\\.)*+")|(".*|[：，｛｝［］])', re.DOTALL)
WIDE_KEY = re.compile(r'\w"\s{0,9}：')
NARROW = str.maketrans("：，｛｝［］", ":,{}[]")
ESCAPED = re.compile(r"[{\[](?:\s|\\n)*+\\\"")  # {\"name\": …
BRACKETS = re.compile(r"[\[\]{}]")
OPENS = {"]": "[", "}": "{"}
TRIES = 20  # places in a text where a value may begin but none can be read
MOST_VALUES = 500
NEAR = 1_000  # characters before and after a value that may show that it is quoted
LONGEST_BROKEN = 100_000  # characters of a text to be repaired
MOST_WORK = 1_000_000  # looks at a character; the parser may look at each as often as the text is long
AROUND = " \t\r\n\"'`*_~#.,:;!()[]{}<>|«»“”‘’„。"  # quotes, brackets, Markdown and full stops around a label
TICKS = "✅☑✔✓❌❎✖✗✘🟢🟡🔴👍👎\ufe0f"  # beside a label
REFUSAL = re.compile(
    r"[\W_]{0,20}(?:\w{1,30}\"\s*:\s*\")?(?:no[,.]\s{1,3})?(?:i['’]?m (?:very |so )?sorry|i am (?:very |so )?sorry|"
    r"i apologi[sz]e|sorry,|i must decline|i['’]m (?:not able|unable) to|as an ai|(?:unfortunately,? )?i (?:can['’]?t|"
    r"cannot|can not|won['’]t|will not|am (?:not able|unable) to|do(?: not|n['’]t) feel comfortable) ?(?:help|assist|"
    r"comply|fulfil|provide|answer|judge|evaluate|do |continue|engage|process|respond|participate|discuss|rate|with)|"
    r"lo siento|no puedo|je suis désolée?|je ne peux pas|es tut mir leid|desculpe|mi dispiace|het spijt me|przepraszam|"
    r"üzgünüm|извините|к сожалению|عذر|非常?抱歉|抱歉|对不起|申し訳|죄송)",
    re.IGNORECASE,
)
LISTED = re.compile(r"\s*(?:[-*•–]|\(?\[?\d{1,4}[.):\]]+)\s+(\S.*)")  # a line of a list: 1. …   - …   [1] …


class Value(NamedTuple):
    """A JSON value in a text, and where it stands."""

    content: Any
    begins: int
    ends: int
    repaired: bool


class _TooDeep(JsonError):
    """A value of more levels than any reply needs."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels")


class Twice:
    """In place of the value of a key that an object gives twice, differently: it fits no field."""


def decoded(text: str) -> Any:
    """Return the value of JSON text, in whose strings line breaks may stand. Raises JsonError."""
    text = text.strip()
    value, end = _decode(text, 0)
    if end < len(text):
        raise JsonError(f"Extra data at character {end + 1}")
    return value


def with_plain_marks(text: str) -> str:
    """Return a text with its JSON as JSON is written: full-width marks outside of strings and escaped quotes undone."""
    if ESCAPED.match(text.strip()):
        try:
            text = str(json.loads(f'"{text.strip()}"', strict=False))
        except ValueError:
            return text
    return WIDE.sub(lambda found: found[1] or found[2].translate(NARROW), text) if WIDE_KEY.search(text) else text


def without_thoughts(text: str) -> str:
    """Return what a model says after its thoughts. Raises JsonError where it never came to an end with them."""
    if text.lstrip().startswith("<|") and (channels := CHANNEL.findall(text)):
        said = [content for header, content in channels if not header.strip().startswith("analysis")]
        if not said:
            raise JsonError("nothing but thoughts")
        return str(said[-1])
    if UNFINISHED.search(text):
        raise JsonError("nothing but thoughts")
    for _ in range(BLOCKS):
        thoughts = THOUGHTS.match(text) or CLOSED_ONLY.match(text) or CLOSED_BEFORE_JSON.match(text)
        if thoughts is None:
            break
        text = text[thoughts.end() :]
    return text


def plain(text: str) -> str:
    """Return a label or key for comparison: case folded, without quotes, Markdown and full stops around it."""
    text = normalized("NFKC", text)
    return spaced(text.strip(AROUND + TICKS) or text.strip(AROUND)).casefold()


def spaced(text: str) -> str:
    """Return a text with single spaces in place of underscores, hyphens and runs of blanks."""
    return re.sub(r"[\s_\\-]+", " ", text)


def refused(text: str) -> bool:
    """Return whether a text that is no reply is a refusal to give one."""
    return REFUSAL.match(text) is not None


def lines_of(text: str) -> list[str] | None:
    """Return the entries of a numbered or bulleted list, after one line that may introduce it; None for other text."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].rstrip(" *_").endswith(":") and not LISTED.fullmatch(lines[0]):
        del lines[0]
    matches = [LISTED.fullmatch(line) for line in lines]
    return [match[1].strip() for match in matches if match] if matches and all(matches) else None


def values(text: str, listed: bool) -> list[Value]:
    """Return the outermost JSON objects and lists in a text, in order.

    `listed`: the reply is a list of numbered entries, which may lack its end, since a missing entry shows. Raises
    JsonError where the text ends within a value: what has been cut off cannot be known.
    """
    return list(_values(text, listed))


def outside(text: str, found: Sequence[Value]) -> str:
    """Return the words around the values, a line for each."""
    ends = [0, *(value.ends for value in found)]
    begins = [*(value.begins for value in found), len(text)]
    return "\n".join(text[end:begin] for end, begin in zip(ends, begins, strict=True))


def has_words(text: str) -> bool:
    """Return whether a text has letters or digits outside of tags and the marks of code fences."""
    return any(letter.isalnum() for letter in TAG.sub(" ", text))


def is_quoted(text: str, value: Value) -> bool:
    """Return whether a value stands amid a sentence: words before and after it on its line."""
    before = text[max(0, value.begins - NEAR) : value.begins].rpartition("\n")[2]
    after = text[value.ends : value.ends + NEAR].partition("\n")[0]
    return has_words(before) and has_words(after)


def _values(text: str, listed: bool) -> Iterator[Value]:
    repairs = Repairs()
    position = failures = count = 0
    while (begins := BEGINNING.search(text, position)) and failures < TRIES and count < MOST_VALUES:
        start = begins.start()
        try:
            content, position = _decode(text, start)
        except _TooDeep:
            raise
        except JsonError:
            failures += 1
            if not JSON_LIKE.match(text, start):
                position = start + 1
                continue
            position = _end(text, start, listed)
            content = _checked(repairs.repaired(text[start:position]))
            count += 1
            yield Value(content, start, position, repaired=True)
        else:
            count += 1
            yield Value(content, start, position, repaired=False)


def _decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start`, and where it ends."""
    try:
        content, end = DECODER.raw_decode(text, start)
    except json.JSONDecodeError as failure:
        raise JsonError(f"{failure.msg} at line {failure.lineno}, column {failure.colno}") from None
    except RecursionError:
        raise _TooDeep from None
    return _checked(content), end


def _checked(value: Any) -> Any:
    """Return `value` itself. Raises JsonError where it is nested deeper than MAX_DEPTH."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        nested = [entry for entry in level if isinstance(entry, dict | list)]
        level = [part for entry in nested for part in (entry.values() if isinstance(entry, dict) else entry)]
    raise _TooDeep


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        members[key] = value if members.get(key, value) == value else Twice()
    return members


DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_constant=lambda _: None, parse_int=bounded_integer, strict=False
)


def _end(text: str, start: int, listed: bool) -> int:
    """Return where a value in broken JSON ends. Raises JsonError where it does not."""
    if len(text) - start > LONGEST_BROKEN:
        raise JsonError(f"broken JSON of {len(text) - start:,} characters; at most {LONGEST_BROKEN:,} are repaired")
    end, stack, within = _matched(STRUCTURE, text, start)
    if end is None and within:  # its quotes may be the broken part
        end, _, _ = _matched(BRACKETS, text, start)
    if end is not None:
        return end
    whole = text.rstrip().removesuffix("```").rstrip()
    if within or stack.count("[") > listed or not _ends_with_a_value(whole):
        raise JsonError("it ends within a value")
    return len(whole)


def _ends_with_a_value(text: str) -> bool:
    """Return whether text that ends too early does so after a value; a number may lack digits."""
    if text[-1:] not in QUOTES:
        return text.endswith(("}", "]", ","))
    return text[: text.rfind(QUOTES[text[-1]], 0, -1)].rstrip().endswith(":")


def _matched(tokens: re.Pattern[str], text: str, start: int) -> tuple[int | None, str, bool]:
    """Return the place after the bracket that closes the one at `start`, the brackets that stay open without it, and
    whether the text ends within a string.

    A closing bracket also closes those within it that have none of their own.
    """
    stack = ""
    for match in tokens.finditer(text, start):
        found = match[0]
        if found in "[{":
            stack += found
            if len(stack) > MAX_DEPTH:
                raise _TooDeep
        elif found in "]}":
            stack = stack[: stack.rfind(OPENS[found])] if OPENS[found] in stack else stack
            if not stack:
                return match.end(), "", False
        elif match.end() == len(text) and (len(found) == 1 or not found.endswith('"')):
            return None, stack, True
    return None, stack, False


class _Exhausted(Exception):
    """The work allowed is done."""


class _Metered(str):
    """A text that counts how often it is looked at.

    The parser's time is quadratic for some texts, and nothing else can stop it: a count depends on no clock.
    """

    left: list[int]

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> str: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str:
        found = str.__getitem__(self, place)
        self.left[0] -= 1 + len(found) // 64
        if self.left[0] < 0:
            raise _Exhausted
        return self._same(found) if isinstance(place, slice) else found

    def __add__(self, other: str) -> str:
        return self._same(str.__add__(self, other))

    def _same(self, text: str) -> "_Metered":
        found = _Metered(text)
        found.left = self.left
        return found


class Repairs:
    """Repairs broken JSON; all texts given to one instance share its work, at most MOST_WORK."""

    def __init__(self) -> None:
        self._left = [MOST_WORK]

    def repaired(self, text: str) -> Any:
        """Return the JSON value that a broken text stands for, by json-repair's rules.

        Open brackets and strings are closed: the caller sees to it that nothing has been cut off. Raises JsonError for
        a text longer than LONGEST_BROKEN, nested too deep, or so broken that it takes more than the work allowed.
        """
        from json_repair import repair_json

        if len(text) > LONGEST_BROKEN:
            raise JsonError(f"broken JSON of {len(text):,} characters; at most {LONGEST_BROKEN:,} are repaired")
        metered = _Metered(text)
        metered.left = self._left
        try:
            return repair_json(metered, return_objects=True, skip_json_loads=True)
        except (_Exhausted, ValueError, RecursionError):  # the latter two: nested too deep for the parser
            raise JsonError("JSON too broken to be repaired") from None
