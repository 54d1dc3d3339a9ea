"""Small files that unpack to much: each is refused in words by a process that could not hold what they become."""
# ruff: noqa: E501 - a table reads better with one line a case

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.core.errors import InputError
from metrics.ingest import decoded_size, inspect, read_suite, suite_from_frame, yaml_documents
from metrics.ingest.decoded_size import LIMITS, Decoded
from metrics.ingest.formats import json_records
from metrics.ingest.formats.parquet import unpacked
from metrics.ingest.tables.values import tables_of
from metrics.vision.outlines import mask_rings
from metrics.vision.rle import encode

ROOM = 700 << 20  # bytes above what the imports take
FREE = 64 << 20  # what a table may unpack to in that process, whatever its size: a quarter of what it may elsewhere
ROWS = 10_000
CELLS = 3_000_000  # values that take no bytes in a file, 96 MB as objects
WIDE = "x" * 10_000  # in every row it is 100 MB
CHILD = """
import json, os, resource, sys
import numpy, openpyxl, pyarrow.parquet
from metrics.core.errors import InputError
from dataclasses import replace
from metrics.ingest import load_suite, yaml_documents
from metrics.ingest.decoded_size import LIMITS
for kind in ("table", "json", "xml"):
    LIMITS[kind] = replace(LIMITS[kind], free=int(sys.argv[2]))
yaml_documents.MOST_VALUES = 30_000
for line in sys.stdin:
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]),) * 2)
        try:
            said = f"{len(load_suite(line.strip()).value.cases):,} cases"
        except InputError as error:
            said = str(error)
        except BaseException as error:
            said = "crashed: " + repr(error)
        os.write(writing, said.encode()[:4_000])
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as said:
        print(json.dumps(said.read()), flush=True)
    os.waitpid(child, 0)
"""


def columns(question: pa.Array) -> pa.Table:
    return pa.table({"case_id": pa.array(np.arange(len(question))).cast(pa.string()), "question": question})


def shared() -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(np.zeros(ROWS, np.int32), [WIDE])


def listed() -> pa.Table:
    values = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), [WIDE])
    lists = pa.ListArray.from_arrays(np.arange(0, 10_001, 50, dtype=np.int32), values)
    return columns(pa.array(["q"] * 200)).append_column("expected_answers", lists)


def views() -> pa.Array:
    made = np.zeros(ROWS, [("bytes", "<i4"), ("begin", "S4"), ("buffer", "<i4"), ("place", "<i4")])
    made["bytes"], made["begin"] = len(WIDE), b"xxxx"
    return pa.Array.from_buffers(
        pa.string_view(), ROWS, [None, pa.py_buffer(made.tobytes()), pa.py_buffer(WIDE.encode())]
    )


def overlapping() -> pa.Table:
    lists = pa.ListViewArray.from_arrays(
        np.zeros(20_000, np.int32), np.full(20_000, 1_000, np.int32), pa.array(["x" * 100] * 1_000)
    )
    return columns(pa.array(["q"] * 20_000)).append_column("expected_answers", lists)


def runs() -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([WIDE]))


def plain() -> pa.Table:
    return columns(pa.array(["x" * (1 << 18)] * 260, pa.large_string()))


def named_classes() -> pa.Table:
    features = {"info": {"features": {"label": {"_type": "ClassLabel", "names": [WIDE]}}}}
    table = columns(pa.array(["q"] * ROWS)).append_column("label", pa.array(np.zeros(ROWS, np.int64)))
    return table.replace_schema_metadata({"huggingface": json.dumps(features)})


def parquet(table: pa.Table, **options: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def arrow(table: pa.Table, compression: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        file.write_table(table)
    return buffer.getvalue()


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def workbook() -> bytes:
    """Return a workbook of 2,000 cells that share one text of a megabyte."""
    buffer = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["question"])
    book.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    cells = "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>{min(row - 1, 1)}</v></c></row>' for row in range(1, 2_001))
    entries["xl/worksheets/sheet1.xml"] = f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>".encode()
    texts = f"<sst {space}><si><t>question</t></si><si><t>{'x' * 1_000_000}</t></si></sst>"
    kind = b'<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    entries["xl/sharedStrings.xml"] = texts.encode()
    entries["[Content_Types].xml"] = entries["[Content_Types].xml"].replace(b"</Types>", kind)
    return zipped(entries)


def one_list(values: pa.Array) -> pa.Table:
    lists = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
    return pa.table({"question": ["q"], "expected_answers": lists})


def viewed() -> pa.Table:
    view = pa.ListViewArray.from_arrays(pa.array([0], pa.int32()), pa.array([CELLS], pa.int32()), pa.nulls(CELLS))
    return pa.table({"question": ["q"], "expected_answers": view})


def of_sheets(count: int, rows: str) -> bytes:
    """Return a workbook of so many sheets, all of which are the same rows."""
    buffer = io.BytesIO()
    openpyxl.Workbook().save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    book = entries["xl/workbook.xml"]
    begin, end = book.index(b"<sheet "), book.index(b"</sheets>")
    sheets = (
        book[begin:end].replace(b'"Sheet"', b'"S%d"' % n).replace(b'"1"', b'"%d"' % n) for n in range(1, count + 1)
    )
    entries["xl/workbook.xml"] = book[:begin] + b"".join(sheets) + book[end:]
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    entries["xl/worksheets/sheet1.xml"] = f"<worksheet {space}><sheetData>{rows}</sheetData></worksheet>".encode()
    return zipped(entries)


def wide_table() -> pa.Table:
    return pa.table({f"c{n}": ["x"] for n in range(20_000)})


def wide_workbook() -> bytes:
    buffer = io.BytesIO()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([f"c{n}" for n in range(12_000)])
    sheet.append(["x"] * 12_000)
    book.save(buffer)
    return buffer.getvalue()


def ragged() -> bytes:
    return b"".join(
        json.dumps({"question": "q", **{f"c{row}_{n}": 1 for n in range(200)}}).encode() + b"\n" for row in range(60)
    )


LARGE, TABLE = (
    "bytes that unpack to more than", "; or a CSV, or the table written with compression and dictionaries off",
)  # fmt: skip
FILES: dict[str, tuple[str, Callable[[], bytes], str, str]] = {
    "Parquet, one text in a dictionary for every row": ("s.parquet", lambda: parquet(columns(shared()), store_schema=False), LARGE, TABLE),
    "Parquet, lists of one text in a dictionary": ("s.parquet", lambda: parquet(listed(), store_schema=False), LARGE, TABLE),
    "Parquet, pages of zeros": ("s.parquet", lambda: parquet(plain(), compression="zstd", use_dictionary=False), LARGE, TABLE),
    "Parquet, texts that share their beginnings": ("s.parquet", lambda: parquet(plain(), use_dictionary=False, column_encoding={"question": "DELTA_BYTE_ARRAY"}), LARGE, TABLE),
    "Parquet, rows of nothing": ("s.parquet", lambda: parquet(pa.table({"question": pa.nulls(2_500_000)})), LARGE, TABLE),
    "Parquet, the name of a class": ("s.parquet", lambda: parquet(named_classes()), LARGE, TABLE),
    "Arrow, one text in a dictionary for every row": ("s.arrow", lambda: arrow(columns(shared())), LARGE, TABLE),
    "Arrow, lists of one text in a dictionary": ("s.arrow", lambda: arrow(listed()), LARGE, TABLE),
    "Arrow, views of one text": ("s.arrow", lambda: arrow(columns(views())), LARGE, TABLE),
    "Arrow, lists that overlap": ("s.arrow", lambda: arrow(overlapping()), LARGE, TABLE),
    "Arrow, a run of one text": ("s.arrow", lambda: arrow(columns(runs())), LARGE, TABLE),
    "Arrow, rows of nothing": ("s.arrow", lambda: arrow(pa.table({"question": pa.nulls(13_000_000)})), LARGE, TABLE),
    "Arrow, buffers in zstd": ("s.arrow", lambda: arrow(plain(), "zstd"), LARGE, TABLE),
    "Arrow, buffers in LZ4": ("s.arrow", lambda: arrow(plain(), "lz4"), LARGE, TABLE),
    "Parquet, a list of booleans": ("s.parquet", lambda: parquet(one_list(pa.array(np.zeros(CELLS, bool)))), LARGE, TABLE),
    "Parquet, a list of nulls": ("s.parquet", lambda: parquet(one_list(pa.nulls(CELLS))), LARGE, TABLE),
    "Arrow, a list of nulls": ("s.arrow", lambda: arrow(one_list(pa.nulls(CELLS))), LARGE, TABLE),
    "Arrow, a list of lists of nulls": ("s.arrow", lambda: arrow(one_list(pa.FixedSizeListArray.from_arrays(pa.nulls(CELLS), CELLS))), LARGE, TABLE),
    "Arrow, a list of structs of nulls": ("s.arrow", lambda: arrow(one_list(pa.StructArray.from_arrays([pa.nulls(CELLS)], ["a"]))), LARGE, TABLE),
    "Arrow, a view of nulls": ("s.arrow", lambda: arrow(viewed()), LARGE, TABLE),
    "JSON, a list of empty lists": ("s.json", lambda: b'[{"question": "q", "x": [' + b"[]," * CELLS + b"[]]}]", LARGE, "lists of texts or numbers, without many small lists in them"),
    "JSON lines, a list of empty lists": ("s.jsonl", lambda: b'{"question": "q", "x": [' + b"[]," * CELLS + b"[]]}\n", LARGE, "lists of texts or numbers, without many small lists in them"),
    "XML, empty elements": ("s.xml", lambda: b"<annotations>" + b"<a/>" * CELLS + b"</annotations>", LARGE, "; or the annotations in several files"),
    "CSV, a list of empty objects in a cell": ("s.csv", lambda: b'question,expected_answers\nq,"[' + b"{}," * CELLS + b'{}]"\n', "row 2, column expected_answers: found '[{},{},", "closed and without null"),
    "workbook, 2,000 sheets": ("s.xlsx", lambda: of_sheets(2_000, ""), "2,000 sheets", "expected at most 1,000 sheets"),
    "workbook, sheets of cells far to the right": ("s.xlsx", lambda: of_sheets(3, "".join(f'<row r="{n}"><c r="XFD{n}"/></row>' for n in range(1, 1_001))), "more than 20,000,000 cells without a value", "expected fewer sheets, without empty rows"),
    "YAML, a list of empty lists": ("s.yaml", lambda: b"- question: q\n  x: [" + b"[]," * 50_000 + b"[]]\n", "more than 30,000 values", "expected a smaller file; JSONL may be larger"),
    "gzip, a table of empty cells": ("s.csv.gz", lambda: gzip.compress(b",".join(b"c%d" % n for n in range(1_000)) + b"\n" + b"," * 999 * 8_000 + b"\n"), LARGE, "; or a smaller file, or one that is not compressed"),
    "Parquet, 20,000 columns": ("s.parquet", lambda: parquet(wide_table()), "more than 10,000 columns", "expected at most 10,000 columns"),
    "Arrow, 20,000 columns": ("s.arrow", lambda: arrow(wide_table()), "more than 10,000 columns", "expected at most 10,000 columns"),
    "Arrow, a struct of 20,000 fields": ("s.arrow", lambda: arrow(pa.table({"x": wide_table().to_struct_array()})), "more than 10,000 columns", "expected at most 10,000 columns"),
    "workbook, 12,000 columns": ("s.xlsx", wide_workbook, "more than 10,000 columns", "expected at most 10,000 columns"),
    "YAML, 10,001 names": ("s.yaml", lambda: b"- " + b"\n  ".join(b"c%d: x" % n for n in range(10_001)) + b"\n", "more than 10,000 columns", "expected at most 10,000 columns"),
    "zip, entries below the size that a ratio counts from": ("s.zip", lambda: zipped({f"labels/{n}.txt": bytes(9 << 20) for n in range(8)}), LARGE, "; or the folder itself, or a zip of fewer files"),
    "gzip, a text without end": ("s.csv.gz", lambda: gzip.compress(b"question\n" + b"a\n" * (6 << 20)), LARGE, "; or a smaller file, or one that is not compressed"),
    "workbook, cells that share a text": ("s.xlsx", workbook, LARGE, "; or a CSV or Parquet file"),
    "JSON lines, names of their own": ("s.jsonl", ragged, "row 50: found more than 10,000 columns", "expected at most 10,000 columns"),
    "JSON, 100,000 levels": ("s.json", lambda: b"[" * 100_000 + b"]" * 100_000, "found JSON nested deeper than 1,024 levels", "expected a JSON document"),
    "CSV, a million columns": ("s.csv", lambda: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n", "found more than 10,000 columns", "expected at most 10,000 columns"),
}  # fmt: skip


@pytest.fixture(scope="module")
def replies(tmp_path_factory):
    """What a process with little memory says of each file."""
    folder, places = tmp_path_factory.mktemp("hostile"), []
    for number, (name, content, *_) in enumerate(FILES.values()):
        places.append(folder / str(number) / name)
        places[-1].parent.mkdir()
        places[-1].write_bytes(content())
    command = [sys.executable, "-W", "ignore", "-c", CHILD, str(ROOM), str(FREE)]
    lines = "\n".join(map(str, places))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300, check=True, env=os.environ)
    return dict(zip(FILES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.attack(
    "suite author",
    "a file of a few megabytes unpacks to gigabytes, by compression, dictionaries, views, runs or columns",
    "what a file unpacks to is counted before it is kept, in relation to its size",
)
@pytest.mark.parametrize("what", FILES)
def test_a_small_file_does_not_fill_the_memory(replies, what):
    name, _, found, expected = FILES[what]
    assert replies[what].startswith(name)
    assert found in replies[what]
    assert replies[what].rstrip().endswith(expected)


@pytest.mark.attack(
    "suite author",
    "a table of 10,001 columns, each of which is compared with others and looked at in Python",
    "one limit on columns for every reader, and for tables in memory",
)
@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame, pa.table, lambda values: pd.DataFrame(values).to_dict("records")],
    ids=["pandas", "Arrow", "records"],
)
def test_a_table_in_memory_has_a_limit_of_columns_too(frame):
    with pytest.raises(InputError, match=r"found more than 10,000 columns; expected at most 10,000 columns"):
        suite_from_frame(frame({f"c{n}": ["x"] for n in range(10_001)}))


SIZES = {
    "texts in a dictionary": (pa.DictionaryArray.from_arrays([0, 1, None, 1], ["ab", "c" * 100]), [10, 108, 8, 108]),
    "runs": (pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), ["ab", "c"]), [10, 10, 9]),
    "views": (pa.array(["ab", "c" * 100, None]).cast(pa.string_view()), [10, 108, 8]),
    "lists": (pa.array([["a", "bc"], [], None]), [75, 8, 8]),
    "lists of one size": (pa.array([["a", "b"], ["cccc", "d"]], pa.list_(pa.string(), 2)), [74, 77]),
    "lists that overlap": (pa.ListViewArray.from_arrays(pa.array([0, 0], pa.int32()), pa.array([3, 2], pa.int32()), ["aa", "b", "c"]), [108, 75]),
    "structs": (pa.array([{"a": "xx", "b": 1}]), [26]),
    "maps": (pa.array([[("k", "vv")], []], pa.map_(pa.string(), pa.string())), [59, 8]),
}  # fmt: skip


@pytest.mark.parametrize(("array", "sizes"), SIZES.values(), ids=SIZES)
def test_the_size_of_values_is_known_before_they_are_written_out(array, sizes):
    assert decoded_size._sizes(array).tolist() == sizes
    assert decoded_size._sizes(array[1:]).tolist() == sizes[1:]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_the_pages_of_every_writer_are_walked(codec, version):
    """Bound above by what each text takes where all were as long as the longest, below by what there is."""
    table = columns(pa.array([f"question {n % 9}" for n in range(5_000)]))
    data = parquet(table, compression=codec, data_page_version=version, row_group_size=2_000, data_page_size=512)
    limit = LIMITS["table"]
    found = unpacked(pq.ParquetFile(io.BytesIO(data)), pa.py_buffer(data), Decoded("s", len(data), "table"))
    assert [one.path for one in found] == ["case_id", "question"]
    assert all(one.shared for one in found)
    assert 5_000 * 10 < found[1].most < 5_000 * (10 + 8) + len(data) < limit.free


@pytest.mark.parametrize("way", ["once", "in batches"])
def test_a_table_reads_the_same_at_once_and_in_batches(tmp_path, monkeypatch, way):
    """Files whose texts might be too large are read in batches, their dictionaries as they are; the suite is the same."""
    table = columns(pa.array([f"question {n % 9}" for n in range(500)])).append_column(
        "expected_answers", pa.array([["a", "b"]] * 500)
    )
    path = tmp_path / "s.parquet"
    path.write_bytes(parquet(table))
    monkeypatch.setattr("metrics.ingest.formats.parquet.BATCH", 64)
    if way == "in batches":
        monkeypatch.setattr("metrics.ingest.formats.parquet.ROW", 1 << 40)
    suite = read_suite(path)
    assert suite.cases["question"].to_pylist() == table["question"].to_pylist()
    assert suite.cases["expected_answers"].to_pylist() == table["expected_answers"].to_pylist()


def test_the_same_table_passes_without_compression(tmp_path, monkeypatch):
    """What the message advises is what helps: written out, a table has nothing to unpack."""
    monkeypatch.setitem(LIMITS, "table", replace(LIMITS["table"], free=1 << 20))
    table = columns(pa.array(["x" * 1_000] * 4_000))
    (tmp_path / "s.parquet").write_bytes(parquet(table, use_dictionary=False, compression="none"))
    assert inspect(tmp_path / "s.parquet").rows == 4_000
    assert len(read_suite(tmp_path / "s.parquet").cases) == 4_000


@pytest.mark.attack(
    "suite author",
    "run lengths state a mask of 2³¹ pixels, which a page would draw",
    "masks stay runs; an outline looks only at the pixels that it draws",
)
def test_a_mask_of_two_billion_pixels_is_outlined():
    height, width = 65_536, 32_767
    rings = mask_rings(encode([0, height * width]), height, (0, 0, width, height))
    assert rings == [[0.0, 0.0, float(width), 0.0, float(width), float(height), 0.0, float(height)]]


@pytest.mark.attack(
    "suite author",
    "millions of empty lists keep the parser of YAML busy for half a minute before they are refused",
    "what stands for a value is counted in the text, before it is parsed",
)
def test_values_of_yaml_are_counted_before_they_are_parsed(monkeypatch):
    monkeypatch.setattr(yaml_documents.yaml, "parse", lambda *_: pytest.fail("it was parsed"))
    with pytest.raises(yaml_documents.YamlError, match="more than 2,000,000 values"):
        yaml_documents.load_yaml(b"[" + b"[]," * 3_000_000 + b"[]]")


@pytest.mark.attack(
    "suite author",
    "many large lines of JSON, each within its limit, are objects of Python all at once",
    "lines become a table by their bytes, not only by their number",
)
def test_large_lines_become_tables_one_after_the_other(tmp_path, monkeypatch):
    lines = [json.dumps({"question": f"q{n}", "note": ["a"] * 100}) + "\n" for n in range(7)]
    (tmp_path / "s.jsonl").write_text("".join(lines))
    made = []

    def watched(batches):
        return tables_of(made.append(len(batch)) or batch for batch in batches)

    monkeypatch.setattr(json_records, "tables_of", watched)
    monkeypatch.setattr(json_records, "BATCH_BYTES", 2 * decoded_size.size_as_objects(lines[0].encode()))
    assert read_suite(tmp_path / "s.jsonl").cases["question"].to_pylist() == [f"q{n}" for n in range(7)]
    assert made == [3, 3, 1]
