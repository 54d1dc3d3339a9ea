"""The choices of a multiple-choice question, and which of them is correct."""

import string
from collections.abc import Sequence

import pyarrow as pa

from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import Columns, fold

CHOICES, CORRECT, LOGPROBS = "choices", "correct_choice", "choice_logprobs"
NAMES = "choices.label"  # what ARC calls its choices, which its correct one is given by: A, B, … or 1, 2, …


def columns_of(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray | pa.Array]:
    """Return the choices as lists, and the place of the correct one, from 0.

    The correct choice is given by its place, its letter, or its text; where a column names the choices, by its name.
    """
    found = columns.columns
    if CHOICES not in found:
        return {}
    read = sheet.lists(columns, CHOICES)
    if CORRECT not in found:
        return {CHOICES: read}
    given = sheet.text(found[CORRECT]).to_pylist()
    named = next((name for name in sheet.table.column_names if fold(name) == NAMES), None)
    if named is None:
        places = [_place(*one) for one in zip(given, read.to_pylist(), strict=True)]
        expected = "the place of a choice from 0, its letter, or its text"
    else:
        names = sheet.lists(Columns({NAMES: named}), NAMES).to_pylist()
        places = [_named(*one) for one in zip(given, names, read.to_pylist(), strict=True)]
        expected = f"one of the names in {named}, one for each choice"
    wrong = [text is not None and place is None for text, place in zip(given, places, strict=True)]
    sheet.report_values(wrong, found[CORRECT], given, expected)
    return {CHOICES: read, CORRECT: pa.array(places, pa.int32())}


def _named(text: str | None, names: Sequence[str] | None, choices: Sequence[str] | None) -> int | None:
    if text is None or names is None or len(names) != len(choices or ()) or text not in names:
        return None
    return names.index(text)


def _place(text: str | None, choices: Sequence[str] | None) -> int | None:
    if text is None or choices is None:
        return None
    plain = text.strip()
    if plain.removesuffix(".0").isdecimal() and int(float(plain)) < len(choices):
        return int(float(plain))
    if plain in choices:
        return choices.index(plain)
    letter = string.ascii_uppercase.find(plain.upper()) if len(plain) == 1 else -1
    return letter if 0 <= letter < len(choices) else None
