"""The table of upload formats: no reader is missing from it, and a new one needs nothing else."""

import pkgutil
from importlib import import_module

import numpy as np

from metrics.ingest import format_table, formats, inspect, read_combined, read_outputs, read_suite
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import Reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.values import tables_of
from tests.ingest.files import write


def test_every_reader_is_in_the_table_once_and_says_what_it_holds():
    modules = [import_module(f"{formats.__name__}.{module.name}") for module in pkgutil.iter_modules(formats.__path__)]
    found = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Reader)}
    table = [*format_table.FOLDERS, *format_table.EITHER, *format_table.FILES]
    assert {id(reader) for reader in table} == found
    assert len({reader.name for reader in table}) == len(table) == len(found)
    assert all(reader.contents for reader in (*format_table.FOLDERS, *format_table.EITHER))


def read_pairs(source: Source, problems: Problems) -> Sheet:
    """Return records of `name = value` lines, separated by blank lines."""
    blocks = source.data.to_pybytes().decode().split("\n\n")
    records = [dict(line.split(" = ", 1) for line in block.splitlines()) for block in blocks]
    return Sheet(source.name, tables_of([records]), np.arange(1, len(records) + 1), problems)


def test_a_new_format_is_one_reader(tmp_path, monkeypatch):
    """A reader that only says how records are read is previewed and read as suite, outputs and both."""
    reader = table_reader("pairs", lambda source: source.name.endswith(".pairs"), read_pairs)
    monkeypatch.setattr(format_table, "FILES", (reader, *format_table.FILES))
    records = "id = a\nquestion = 1 + 1?\nexpected = 2\n\nid = b\nquestion = 2 + 2?\nexpected = 4"
    cases = write(tmp_path, "s.pairs", records)
    suite = read_suite(cases)
    assert (suite.task, suite.cases["expected_answers"].to_pylist()) == ("text", [["2"], ["4"]])
    assert inspect(cases).mapping == {"case_id": "id", "question": "question", "expected_answers": "expected"}
    answers = write(tmp_path, "m.pairs", "id = a\nanswer = 2\n\nid = b\nanswer = 5")
    assert read_outputs(answers, suite=suite).outputs["answer"].to_pylist() == ["2", "5"]
    both = write(tmp_path, "c.pairs", "id = a\nquestion = 1 + 1?\nanswer = 2")
    assert read_combined(both)[1].outputs["answer"].to_pylist() == ["2"]
