"""promptfoo's tests as a table: a row a test, its variables as columns, and assertions in columns `__expected`.

A cell `__expected`, `__expected1` … is an assertion as promptfoo writes it there, `contains-all: a, b`, or a text that
the answer equals. Assertions become what those of a configuration do; a text is the expected answer, too. Other columns
are read as in any table: CSV, Excel, JSON, JSONL or YAML; those with __ are metadata.
"""

import re

import pyarrow as pa

from metrics.core.fields import LEFT_OUT, METADATA, STRINGS
from metrics.ingest.formats.delimited import read_delimited
from metrics.ingest.formats.json_records import read_json, read_jsonl
from metrics.ingest.formats.promptfoo_assertions import Assertions, written_assertion
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.formats.tool_records import names_of
from metrics.ingest.formats.workbook import find_in_parts, read_workbook
from metrics.ingest.sheet import CODE, Sheet
from metrics.ingest.source import Problems, Source

READ = {"csv": read_delimited, "xlsx": read_workbook, "json": read_json, "yaml": read_json, "jsonl": read_jsonl}
EXPECTED = re.compile(r"__expected\d{0,4}")
ASSERTED = re.compile(rb"__expected")
THRESHOLD = "__threshold"
MADE = ("conditions", "json_schema", "criteria")


def _recognises(source: Source) -> bool:
    if source.format == "xlsx":
        if not any(find_in_parts(source, ASSERTED, "xl/sharedStrings", "xl/worksheets/")):  # as opening it is slow
            return False
        return any(map(EXPECTED.fullmatch, read_workbook(source, Problems(), 1).table.column_names))
    return source.format in READ and any(map(EXPECTED.fullmatch, names_of(source)))


def _read(source: Source, problems: Problems) -> Sheet:
    sheet = READ[source.format](source, problems)
    names = sheet.table.column_names
    held = [name for name in names if EXPECTED.fullmatch(name)]
    sheet.refuse_code([name for name in names if name not in held])
    if both := [name for name in MADE if name in sheet.table.column_names]:
        raise problems.fail(source.name, f"__expected beside {', '.join(both)}", "one of them", 1)
    made = []
    for row in sheet.table.to_pylist():
        given = [cell for name in held for cell in (row[name] if isinstance(row[name], list) else [row[name]])]
        items = [written_assertion(cell) for cell in given if cell and cell.strip()]
        equal = [item["value"] for item in items if item["type"] == "equals"]
        said = [text for text in equal if not text.strip().startswith(CODE)]
        own = Assertions(row, {}, said)
        own.add(items, row.get(THRESHOLD) or None)
        expected = list(dict.fromkeys([*said, *own.expected])) or None
        made.append(own.columns() | {"expected_answers": expected})
        for kind, use, meaning in own.said:
            problems.note(source.name, f"__expected [{kind}]", use, meaning, 1)
    for name in dict.fromkeys(name for own in made for name in own):
        values = [own.get(name) for own in made]
        if any(value is not None for value in values):
            kind = STRINGS if name in ("expected_answers", "criteria") else pa.string()
            sheet.table = sheet.table.append_column(name, pa.array(values, kind))
    for name in [name for name in names if name.startswith("__")]:  # as it is written, beside what it became
        at = sheet.table.column_names.index(name)
        sheet.table = sheet.table.set_column(at, METADATA + name, sheet.table[name])
    if left := [own[METADATA + LEFT_OUT] for own in made if own[METADATA + LEFT_OUT]]:
        source.notes.append(f"{source.name}: {len(left):,} tests have assertions that are not evaluated: {left[0]}, …")
    return sheet


READER = table_reader("promptfoo_table", _recognises, _read)
