"""The choices of a multiple-choice question, and which of them is correct."""

import string
from collections.abc import Sequence

import pyarrow as pa

from metrics.ingest.sheet import Sheet
from metrics.ingest.tables import sheet_cells
from metrics.ingest.tables.columns import Columns

CHOICES, CORRECT, LOGPROBS = "choices", "correct_choice", "choice_logprobs"


def columns_of(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray | pa.Array]:
    """Return the choices as lists, and the place of the correct one, from 0.

    The correct choice may be given by its place, its letter, or its text.
    """
    found = columns.columns
    if CHOICES not in found:
        return {}
    read = sheet_cells.lists(sheet, columns, CHOICES)
    if CORRECT not in found:
        return {CHOICES: read}
    given = sheet_cells.text(sheet, found[CORRECT]).to_pylist()
    places = [
        None if text is None or choices is None else _place(text, choices)
        for text, choices in zip(given, read.to_pylist(), strict=True)
    ]
    wrong = [text is not None and place is None for text, place in zip(given, places, strict=True)]
    sheet.report_values(wrong, found[CORRECT], given, "the place of a choice from 0, its letter, or its text")
    return {CHOICES: read, CORRECT: pa.array(places, pa.int32())}


def _place(text: str, choices: Sequence[str]) -> int | None:
    plain = text.strip()
    if plain.removesuffix(".0").isdecimal() and int(float(plain)) < len(choices):
        return int(float(plain))
    if plain in choices:
        return choices.index(plain)
    letter = string.ascii_uppercase.find(plain.upper()) if len(plain) == 1 else -1
    return letter if 0 <= letter < len(choices) else None
