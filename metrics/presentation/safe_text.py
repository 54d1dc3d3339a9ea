"""Cleaning of every text that a report, an export or a JUnit file contains."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any, TypeVar

CUT = "… [cut: {:,} more characters]"
REPLACEMENT = "\ufffd"
# what neither XML 1.0 nor UTF-8 can carry: control characters but tab and line ends, lone surrogates, non-characters
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")  # embeddings and overrides: they reorder the surrounding text
_STRONG = re.compile(
    "[A-Za-z\u00c0-\u02b8\u0370-\u058f\u0900-\u1fff\u3040-\ud7ff]|([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])"
)

Tree = TypeVar("Tree")


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
