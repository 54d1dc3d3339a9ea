"""Text that others wrote: cleaned for every report, export and JUnit file, and escaped inside Markdown.

Escaped, nothing of it becomes markup, HTML, an image, a link, a mention of a person or a reference to an issue, in
GitHub's flavour and in CommonMark.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from metrics.presentation.format import MISSING

CUT = "… [cut: {:,} more characters]"
REPLACEMENT = "\ufffd"
# what neither XML 1.0 nor UTF-8 can carry: control characters but tab and line ends, lone surrogates, non-characters
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # embeddings and overrides: they reorder the surrounding text
_STRONG = re.compile(
    "[A-Za-z\u00c0-\u02b8\u0370-\u058f\u0900-\u1fff\u3040-\ud7ff]|([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])"
)

Tree = TypeVar("Tree")
NAME = 80  # characters of a name
SENTENCE = 600
ZERO_WIDTH = "&#8203;"  # what begins with @ or # is looked for in the rendered text, too
_ACTIVE = re.compile(r"[\\`*_{}\[\]<>#!|~&@$]|:(?=\S)")
_LINE_START = re.compile(r"^(\d*)([.)+=-])(?=\s|$|[-=])")  # a list, a rule, a heading's underline
_WORDS = re.compile(r"(?i)\b(www(?=\.)|gh(?=-\d))")  # www.… becomes a link, GH-1 a reference
_IN_CODE = re.compile(r"^[^`|\\]+$")


def safe(text: str) -> str:
    """Return `text` with the characters that XML or UTF-8 cannot carry replaced by U+FFFD."""
    return _ILLEGAL.sub(REPLACEMENT, text)


def shown(text: str, limit: int | None = None) -> str:
    """Return `safe` text with `\\n` line ends and no direction overrides, cut with a mark after `limit`."""
    plain = _DIRECTIONS.sub("", safe(text).replace("\r\n", "\n").replace("\r", "\n"))
    if limit is None or len(plain) <= limit:
        return plain
    return plain[:limit].rstrip() + CUT.format(len(plain) - limit)


def ending(text: str, limit: int) -> str:
    """Return `shown` text, of a long one its end: the last turn of a conversation is the one that was answered."""
    plain = shown(text)
    if len(plain) <= limit:
        return plain
    return f"{CUT.format(len(plain) - limit)[2:]} …{plain[-limit:].lstrip()}"


def shown_tree(value: Tree, clean: Callable[[str], str] = shown) -> Tree:
    """Return `value` with `clean` applied to every text in it, through dataclasses, tuples, lists and dicts."""
    result: Any = value
    if isinstance(value, str):
        result = clean(value)
    elif isinstance(value, tuple | list):
        result = type(value)(shown_tree(entry, clean) for entry in value)
    elif isinstance(value, dict):
        result = {shown_tree(key, clean): shown_tree(entry, clean) for key, entry in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        entries = {field.name: shown_tree(getattr(value, field.name), clean) for field in dataclasses.fields(value)}
        result = type(value)(**entries)
    return result  # type: ignore[no-any-return]


def is_rtl(text: str) -> bool:
    """Return whether the first letter with a strong direction in `text` is right-to-left."""
    found = _STRONG.search(text)
    return found is not None and found[1] is not None


def is_code(paragraph: str) -> bool:
    """Return whether a paragraph of a docstring is a formula or an example: every line of it is indented."""
    return all(line.startswith("  ") for line in paragraph.splitlines())


def code(text: str, limit: int = NAME) -> str:
    """Return a name as code, on one line: inside code nothing is looked for. MISSING for a blank one."""
    flat = " ".join(shown(text, limit).split())
    if not flat:
        return MISSING
    return f"`{flat}`" if _IN_CODE.match(flat) else f"<code>{_escaped(flat)}</code>"


def prose(text: str, limit: int = SENTENCE) -> str:
    """Return a sentence that may hold a model's name or words, on one line, with every active character escaped."""
    flat = " ".join(shown(text, limit).split())
    start = _LINE_START.match(flat)
    return f"{start[1]}&#{ord(start[2])};{_escaped(flat[start.end() :])}" if start else _escaped(flat)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table of cells that are Markdown already; the columns `numbers` are aligned to the right."""
    rule = ["--:" if place in numbers else "---" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _escaped(text: str) -> str:
    split = _WORDS.sub(lambda found: found[0] + ZERO_WIDTH, text)
    return re.sub(rf"{re.escape(ZERO_WIDTH)}|{_ACTIVE.pattern}", lambda found: _entity(found[0]), split)


def _entity(found: str) -> str:
    if found == ZERO_WIDTH:
        return found
    return f"&#{ord(found)};" + (ZERO_WIDTH if found in "@#" else "")
