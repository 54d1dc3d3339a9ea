"""Unicode's normal forms in linear time: Python's own sort the marks after a letter in the square of their number; and
text without halves of surrogate pairs, which no file, request or table can hold.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from typing import Literal

Form = Literal["NFC", "NFKC"]
SHORT = 1_000  # characters that take no noticeable time however they are made up
PARTED: Mapping[Form, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}
RUN = re.compile(rb"[^\0]{2,}", re.DOTALL)  # of combining classes: marks that follow one another

HALF = re.compile("[\ud800-\udfff]")
# … as JSON and YAML escape it: of two that are a pair, neither
HALF_ESCAPE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"
)
REPLACEMENT = "\ufffd"


def without_halves(text: str) -> str:
    """Return `text` with U+FFFD in place of each half of a surrogate pair."""
    return text if text.isascii() else HALF.sub(REPLACEMENT, text)


def without_escaped_halves(data: bytes) -> tuple[bytes, int]:
    """Return JSON or YAML text of the same length without escapes of halves of surrogate pairs, and how many it had."""
    halves = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal halves
        halves += match[1] is not None
        return match[0] if match[1] is None else rb"\ufffd"

    return HALF_ESCAPE.sub(replaced, data), halves


def normalized(form: Form, text: str) -> str:
    """Return `text` in a normal form of Unicode, as `unicodedata.normalize`; linear in its length.

    Marks are put in order first, by a sort that does not change the form of a text.
    """
    if len(text) <= SHORT or unicodedata.is_normalized(form, text):
        return unicodedata.normalize(form, text)
    parts = "".join(map(partial(unicodedata.normalize, PARTED[form]), text))  # each by itself: unsorted
    classes = bytes(map(unicodedata.combining, parts))
    sorted_parts, end = list[str](), 0
    for run in RUN.finditer(classes):
        sorted_parts += parts[end : run.start()], *sorted(parts[slice(*run.span())], key=unicodedata.combining)
        end = run.end()
    return unicodedata.normalize(form, "".join(sorted_parts) + parts[end:])
