"""Unicode's normal forms in linear time: Python's own sort the marks after a letter in the square of their number."""

import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from typing import Literal

Form = Literal["NFC", "NFKC"]
SHORT = 1_000  # characters that take no noticeable time however they are made up
PARTED: Mapping[Form, Literal["NFD", "NFKD"]] = {"NFC": "NFD", "NFKC": "NFKD"}
RUN = re.compile(rb"[^\0]{2,}", re.DOTALL)  # of combining classes: marks that follow one another


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
