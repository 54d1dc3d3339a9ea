"""Thoughts before the answers in a table: stripped, kept beside as metadata, and said in the receipt."""

from dataclasses import replace

import pyarrow.compute as pc

from metrics.core.receipt import FileQuestion
from metrics.core.suite import METADATA
from metrics.ingest.arrays import as_mask, may_hold
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import Columns, Role
from metrics.ingest.tables.text_cases import REASONING as COLUMN
from metrics.text.thoughts import STOPS, split_all

REASONING = FileQuestion(
    "reasoning",
    "Thoughts before an answer, and end marks after it, are stripped, so that evaluators see the answer alone, or kept "
    "as a part of it.",
    ("strip", "keep"),
)
# in every text with thoughts, and in few others; all but those that begin so have one of the marks
MAY_BE = (
    r"(?i)(<|＜|&lt;|\[)\s?\|?/?\s?(\w{1,9}[:_])*(think|thought|reason|analysis|scratchpad|reflection|monologue|plan>"
    r"|internal>|cot>)|◁|<\||\|>|<unused9|assistantfinal|my thought process|done thinking|my reasoning steps|<details"
    r"|```thi?o?[nu]|```reason|</s>|<end_of_turn>|<eos>|<｜|^[\W_]*(thoughts?|thinking|reasoning)[*_]*\s?:"
)
BEGINNING = r"(?i)^[\s\v\x1c-\x1f\x{85}\x{feff}\pZ*_#]*(?:analysis|here|thinking|thought|reasoning|\[think)"
MARKS = (b"<", b"[/", b"&l", b"``", b"\x1b", "◁".encode(), "＜".encode())
ANSWERS = ("answer", "predicted_label", "predicted_value")


def strip_thoughts(sheet: Sheet, columns: Columns, role: Role) -> Columns:
    """Strip the thoughts before the answers of a sheet, and return its columns with the one in which they are kept."""
    answers = (*ANSWERS, "label") if role == "outputs" else ANSWERS  # beside cases `label` is the true class
    for name in [columns.columns[each] for each in answers if each in columns.columns]:
        column = sheet.text(name)
        if not may_hold(column, *MARKS) and not pc.any(pc.match_substring_regex(column, BEGINNING)).as_py():
            continue
        texts, likely = column.to_pylist(), as_mask(pc.match_substring_regex(column, MAY_BE)).tolist()
        total = len(column) - column.null_count
        split = split_all([text if may_be else None for text, may_be in zip(texts, likely, strict=True)], total)
        found = [each for each in split if each is not None]
        if not found or not wants_stripped(sheet.problems, sheet.file, name, len(found), total):
            continue
        pairs = zip(texts, split, strict=True)
        sheet.put(name, [text if each is None else each.answer or None for text, each in pairs])
        taken = {other.removeprefix(METADATA) for other in sheet.table.column_names}
        place = f"{COLUMN} of {name}" if COLUMN in taken else COLUMN
        thoughts = [None if each is None else each.thoughts or None for each in split]
        ends = [STOPS.search(text or "") if each is not None else None for text, each in zip(texts, split, strict=True)]
        if ended := [end[0].strip() for end in ends if end is not None]:
            what = "the mark of a turn's end, taken off the answer"
            sheet.problems.note(sheet.file, f"{name}: end marks", "unused", what, len(ended), ended[0])
        told = [each for each, end in zip(split, ends, strict=True) if each is not None and (each.thoughts or not end)]
        if not told:
            continue
        sheet.put(place, thoughts)
        example = next(filter(None, thoughts), "")
        sheet.problems.note(sheet.file, f"{name}: thoughts", "kept", METADATA + place, len(told), example)
        if unanswered := sum(not each.answer for each in told):
            what = "the text ends in its thoughts: there is no answer"
            sheet.problems.note(sheet.file, f"{name}: answers after thoughts", "unused", what, unanswered)
        columns = replace(columns, unmapped=(*columns.unmapped, place))
    return columns


def wants_stripped(problems: Problems, file: str, place: str, count: int, total: int) -> bool:
    """Return whether the thoughts before, and end marks after, that many of a file's answers are to be stripped."""
    found = f"thoughts or end marks around {count:,} of {total:,} answers"
    return problems.ask(file, REASONING, found, default="strip", place=place) == "strip"
