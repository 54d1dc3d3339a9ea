"""Ids, classes and tags in composed characters (NFC), in which the same name is the same text."""

from itertools import chain
from unicodedata import is_normalized

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.cases import compose_column
from metrics.core.unicode_forms import normalized
from metrics.ingest.sheet import NAMES, Sheet
from metrics.ingest.tables.columns import Columns

COMPOSED = (
    *(name for name in NAMES if name != "artifacts"), "predicted_label", "perturbs", "case_id", "model", "label",
    "group",
)  # fmt: skip


def compose_names(sheet: Sheet, columns: Columns, task: str | None, *known: pa.ChunkedArray | pa.Array) -> None:
    """Put ids, classes and tags into composed characters; those that a suite knows into its spelling."""
    others = chain.from_iterable(each.filter(pc.invert(pc.string_is_ascii(each))).to_pylist() for each in known)
    own_spelling = {normalized("NFC", text): text for text in others if not is_normalized("NFC", text)}
    for canonical in (*COMPOSED, *(["answer"] if task == "classification" else [])):
        name = columns.columns.get(canonical, "")
        for own in columns.numbered.get(name, (name,) if name in sheet.table.column_names else ()):
            place, column = sheet.table.column_names.index(own), sheet.table[own]
            composed = compose_column(column)
            if own_spelling:
                texts = composed.to_pylist()
                spelled = [own_spelling.get(text, text) if isinstance(text, str) else text for text in texts]
                composed = pa.array(spelled, column.type)
            if composed is not column:
                sheet.table = sheet.table.set_column(place, own, composed)
