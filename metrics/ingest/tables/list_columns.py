"""Columns of lists of which only a person may know what they are: answers that are expected or given, and boxes."""

import re

import numpy as np
import pyarrow as pa

from metrics.core.receipt import FileQuestion
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold, is_detection
from metrics.ingest.tables.object_tables import CORNERS, SIDES

WHOSE = FileQuestion(
    "answer", "Are the lists in the column what is expected (any of them is right), or what a model answered?",
    ("expected", "model"),
)  # fmt: skip
ASKED = {"question", *SUITE_ALIASES["question"]}
OTHERS = {"expected_answers", *SUITE_ALIASES["expected_answers"]} | {
    name for canonical, aliases in OUTPUT_ALIASES.items() if canonical not in ("case_id", "answer")
    for name in (canonical, *aliases)
}  # fmt: skip
BOX_FORM = FileQuestion("box_form", "What are the four numbers of a box, in pixels?", ("xyxy", "xywh", "cxcywh"))
NAMES = ("bbox", "box", "bounding_box", "xyxy", "xywh", "cxcywh")
NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
FOUR = re.compile(rf"[\[(]?\s*{NUMBER}(?:\s*[,;\s]\s*{NUMBER}){{3}}\s*[\])]?")


def settle_lists(sheet: Sheet) -> Sheet:
    """Return the sheet, a box of four numbers in one column as columns of its sides, lists of answers by their name."""
    return _name_expected(_spread_boxes(sheet))


def _name_expected(sheet: Sheet) -> Sheet:
    """Return the sheet, its column `answer` of lists named expected_answers where only questions stand beside it."""
    names = {fold(name): name for name in sheet.table.column_names}
    place = names.get("answer", names.get("answers"))
    if place is None or not ASKED & names.keys() or OTHERS & names.keys():
        return sheet
    if not pa.types.is_list(sheet.table[place].type):
        return sheet
    whose = sheet.problems.ask(sheet.file, WHOSE, "lists of texts beside questions", default="expected", place=place)
    if whose == "expected":
        renamed = ["expected_answers" if name == place else name for name in sheet.table.column_names]
        sheet.table = sheet.table.rename_columns(renamed)
    return sheet


def _spread_boxes(sheet: Sheet) -> Sheet:
    """Return the sheet of objects in images, its column of boxes of four numbers written as a column for each side."""
    # What the numbers are is said by the column's name; else they are no corners where one lies before the other; else
    # only a person can say.
    folded = {fold(name): name for name in sheet.table.column_names}
    name = next((folded[key] for key in NAMES if key in folded), None)
    if name is None or is_detection(folded) or not is_detection((*folded, *CORNERS)):
        return sheet
    texts = [text and text.replace('"', "") for text in sheet.text(name).to_pylist()]  # lists of texts, too
    if not any(texts) or not all(FOUR.fullmatch(text.strip()) for text in texts if text):
        return sheet
    box = np.array([re.findall(NUMBER, text) if text else [np.nan] * 4 for text in texts], float)
    form: str | None = fold(name)
    if form not in BOX_FORM.choices:
        apart = bool((box[:, 2:] < box[:, :2]).any())
        found = f"boxes of four numbers, such as {next(filter(None, texts))[:60]}"
        found += ", some of which would end before they begin as xyxy" * apart
        form = sheet.problems.ask(sheet.file, BOX_FORM, found, default="xywh" if apart else None, place=name)
    else:
        sheet.problems.note(sheet.file, name, "used", f"the box, as {form}", len(sheet))
    if form == "cxcywh":
        box[:, :2] -= box[:, 2:] / 2
    sides = CORNERS
    if form in ("xywh", "cxcywh") and not folded.keys() & set(SIDES):
        sides = SIDES
    elif form in ("xywh", "cxcywh"):
        box[:, 2:] += box[:, :2]
    for side, values in zip(sides, box.T.tolist(), strict=True):
        sheet.put(side, [None if np.isnan(value) else repr(value) for value in values])
    sheet.table = sheet.table.drop_columns([name])
    return sheet
