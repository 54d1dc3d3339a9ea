"""JSON whose whole numbers are exact at any size, and in which NaN and Infinity may stand, as some tools write them."""

import json
import re
from typing import Any

import orjson

ALL_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
MANY = b"0" * 19  # in place of as many digits: a fast look, as most texts have no such
LARGE = re.compile(rb"(?<![0-9.])[0-9]{20}|-[0-9]{19}")  # digits that may be a number beyond 64 bits
CONSTANT = re.compile(rb"NaN|Infinity")
TEXT = rb'("(?:[^"\\]|\\.)*+")'
COMMENT = re.compile(TEXT + rb"|//[^\n]*+|/\*.*?\*/", re.DOTALL)
LAST_COMMA = re.compile(TEXT + rb"|,(?=\s*[\]}])")
TOO_DEEP, LEVELS = "depth limit exceeded", 1024  # orjson's words, and its limit
PYTHON_DIGITS = 4300  # of the largest number that Python reads; a larger one stays its text


def parse_json(data: bytes | memoryview) -> Any:
    """Return the value of a JSON text. Raises orjson.JSONDecodeError where it is none, or has a lone surrogate."""
    if MANY in bytes(data).translate(ALL_ZEROS) and LARGE.search(data) and (found := _read_plainly(data)) is not None:
        return found
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        found = _read_plainly(data) if CONSTANT.search(data) else None
        if found is None:
            raise
        return found


def json_fault(error: orjson.JSONDecodeError) -> str:
    """Return what is wrong with a JSON text, in words."""
    return f"JSON nested deeper than {LEVELS:,} levels" if error.msg == TOO_DEEP else error.msg


def without_comments(data: bytes) -> bytes:
    """Return a JSON text without the comments and the commas before a closing bracket that editors allow."""
    plain = COMMENT.sub(lambda match: match[1] or b" ", data)
    return LAST_COMMA.sub(lambda match: match[1] or b"", plain)


def _read_plainly(data: bytes | memoryview) -> Any:
    """Return the value as Python's slower reader finds it; None where it finds none that a table can hold."""
    try:
        value = json.loads(bytes(data), parse_int=lambda digits: int(digits) if len(digits) < PYTHON_DIGITS else digits)
        json.dumps(value, ensure_ascii=False).encode()  # no lone surrogates, which no table can hold
    except (ValueError, RecursionError):
        return None
    return value
