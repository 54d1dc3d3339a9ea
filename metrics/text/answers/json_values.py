"""Whether two answers are the same JSON: objects in any order of their members, arrays in theirs."""

from metrics.core.unicode_forms import normalized
from metrics.text.code_blocks import JSON, code_of
from metrics.text.json_text import JsonError, identity, read_json


def same_json(made: str, wanted: str) -> bool:
    """Return whether two texts hold equal JSON objects or arrays, with or without a fence and text around it.

    Numbers are equal by value, and texts in Unicode's form NFC.

    >>> same_json('Here: ```json {"b": 1.0, "a": "x"}```', '{"a": "x", "b": 1}')
    True
    """
    values = [_read(normalized("NFC", text)) for text in (wanted, made)]
    return None not in values and identity(values[0]) == identity(values[1])


def _read(text: str) -> object:
    """Return the object or array that a text is; None where it is none."""
    bare = code_of(text, JSON, "last").strip()
    if not bare.endswith(("}", "]")) or not bare.startswith(("{", "[")):
        return None
    try:
        value = read_json(bare).value
    except JsonError:
        return None
    return value if isinstance(value, dict | list) else None
