"""What a good answer meets, where a file says it in several columns (MLflow's expected_facts and guidelines)."""

import orjson

from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import CONTAINERS, SUITE_ALIASES, fold
from metrics.ingest.tables.lists import ListForm, understand

CRITERIA = "criteria"
FACTS = "expected_facts"  # MLflow's: not what an answer is to be, but what it is to say
NAMES = (CRITERIA, FACTS, *SUITE_ALIASES[CRITERIA])


def gather(sheet: Sheet) -> None:
    """Write the criteria of a sheet in one column where several have them or they are facts to be stated."""
    known = {*NAMES, *(prefix + name for prefix in CONTAINERS for name in NAMES)}
    held = [name for name in sheet.table.column_names if fold(name) in known]
    if len(held) < 2 and not any(fold(name).endswith(FACTS) for name in held):
        return
    listed = [
        [_items(value, "States: " if fold(name).endswith(FACTS) else "") for value in sheet.table[name].to_pylist()]
        for name in held
    ]
    for name, own in zip(held, listed, strict=True):
        sheet.problems.note(sheet.file, name, "used", CRITERIA, sum(map(bool, own)))
    sheet.table = sheet.table.drop_columns(held)
    joined = [[item for own in row for item in own] for row in zip(*listed, strict=True)]
    sheet.put(CRITERIA, [orjson.dumps(items).decode() if items else None for items in joined])


def _items(value: str | list[str | None] | None, lead: str) -> list[str]:
    items = (understand(value, ListForm())[1] or [value]) if isinstance(value, str) else value
    return [lead + text for text in items or [] if text and text.strip()]
