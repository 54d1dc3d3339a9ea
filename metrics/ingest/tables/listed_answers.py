"""Lists in a column `answer` or `answers`: expected answers, any of which is right, or what a model answered."""

import pyarrow as pa

from metrics.core.receipt import FileQuestion
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold

WHOSE = FileQuestion(
    "answer", "Are the lists in the column what is expected (any of them is right), or what a model answered?",
    ("expected", "model"),
)  # fmt: skip
ASKED = {"question", *SUITE_ALIASES["question"]}
OTHERS = {"expected_answers", *SUITE_ALIASES["expected_answers"]} | {
    name for canonical, aliases in OUTPUT_ALIASES.items() if canonical not in ("case_id", "answer")
    for name in (canonical, *aliases)
}  # fmt: skip


def name_expected(sheet: Sheet) -> Sheet:
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
