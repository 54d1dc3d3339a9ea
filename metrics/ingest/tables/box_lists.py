"""A box as four numbers in one column of a table, such as [10, 20, 30, 40], as columns of its sides."""

import re

import numpy as np

from metrics.core.receipt import FileQuestion
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import fold, is_detection
from metrics.ingest.tables.object_tables import CORNERS, SIDES

BOX_FORM = FileQuestion("box_form", "What are the four numbers of a box, in pixels?", ("xyxy", "xywh", "cxcywh"))
NAMES = ("bbox", "box", "bounding_box", "xyxy", "xywh", "cxcywh")
NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
FOUR = re.compile(rf"[\[(]?\s*{NUMBER}(?:\s*[,;\s]\s*{NUMBER}){{3}}\s*[\])]?")


def spread_boxes(sheet: Sheet) -> Sheet:
    """Return the sheet of objects in images, its column of boxes of four numbers written as a column for each side.

    What the numbers are is said by the column's name; else they are no corners where one lies before the other; else
    only a person can say.
    """
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
