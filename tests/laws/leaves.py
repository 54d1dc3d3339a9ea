"""The leaves of an upload: each value in it with its path, and the upload with that value changed."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial, reduce
from operator import getitem
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from openpyxl import Workbook, load_workbook

from metrics.ingest.yaml_documents import load_yaml
from tests.fuzz.target import Input
from tests.ingest.test_packed_tables import parquet, stream

Leaf = tuple[str, Callable[[], bytes]]  # the path without indexes, a.b.c, and the bytes with another value there
MARK = "zq9"
KITTI = "type truncated occluded alpha left top right bottom height width length x y z rotation_y score".split()
COLUMNS = {15: KITTI[:15], 16: KITTI}  # of lines with so many fields, the names
DOCUMENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bytes]]] = {  # how to read and write them
    "json": (json.loads, lambda value: json.dumps(value).encode()),
    "jsonl": (
        lambda data: [json.loads(line) for line in data.splitlines() if line.strip()],
        lambda records: b"\n".join(json.dumps(record).encode() for record in records),
    ),
    "yaml": (load_yaml, lambda value: yaml.safe_dump(value, allow_unicode=True).encode()),
    "parquet": (lambda data: pq.read_table(pa.BufferReader(data)).to_pylist(), lambda rows: parquet(_arrow(rows))),
    "arrow": (lambda data: pa.ipc.open_stream(data).read_all().to_pylist(), lambda rows: stream(_arrow(rows))),
    "feather": (lambda data: pa.ipc.open_file(data).read_all().to_pylist(), lambda rows: stream(_arrow(rows), True)),
    "xlsx": (lambda data: _read_book(data), lambda sheets: _write_book(sheets)),  # {sheet NAME: records}
}


def packed(given: Input, form: str) -> Input | None:
    """Return the records of an upload in another form, or it in gzip ("gz"); None where that cannot hold them."""
    if form == "gz":
        return Input(f"{given.name}.gz", gzip.compress(given.data))
    ending = given.name.rpartition(".")[2]
    if ending == "csv":
        rows = csv.DictReader(io.StringIO(given.data.decode()))
        records: Any = [{name: cell for name, cell in row.items() if cell} for row in rows]
    else:
        records = DOCUMENTS[ending][0](given.data) if ending in ("json", "jsonl") else None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        return None
    try:
        return Input(f"u.{form}", DOCUMENTS[form][1]({"sheet 1": records} if form == "xlsx" else records))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None  # values of several types


def _arrow(records: list[dict[str, Any]]) -> pa.Table:
    names = dict.fromkeys(name for record in records for name in record)
    return pa.Table.from_pylist([{name: record.get(name) for name in names} for record in records])


def _read_book(data: bytes) -> dict[str, list[dict[str, Any]]]:
    sheets = {f"sheet {sheet.title}": list(sheet.values) for sheet in load_workbook(io.BytesIO(data)).worksheets}
    return {name: [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for name, rows in sheets.items()}


def _write_book(sheets: dict[str, list[dict[str, Any]]]) -> bytes:
    target = io.BytesIO()
    book = Workbook()
    book.remove(book.active)
    for title, records in sheets.items():
        sheet, names = (
            book.create_sheet(title.removeprefix("sheet ")),
            dict.fromkeys(name for record in records for name in record),
        )
        for row in (names, *([record.get(name) for name in names] for record in records)):
            sheet.append([json.dumps(cell) if isinstance(cell, dict | list) else cell for cell in row])
    book.save(target)
    return target.getvalue()


def leaves(given: Input) -> Iterator[Leaf]:
    """Yield the first leaf of each path of an upload; of images none."""
    plain, _, ending = given.name.rpartition(".")
    if ending == "gz":
        for path, change in leaves(Input(plain, gzip.decompress(given.data))):
            yield path, lambda change=change: gzip.compress(change())
    if given.name.endswith("/") or ending in ("gz", "png", "jpg"):
        return
    seen: set[str] = set()
    for path, change in _FORMS.get(ending, _fields)(given.data):
        if path not in seen:
            seen.add(path)
            yield path, change


def _other(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else f"{value}{MARK}"


def _document(data: bytes, load: Callable[[Any], Any], dump: Callable[[Any], bytes]) -> Iterator[Leaf]:
    document = load(data)
    for path in _paths(document):

        def change(path: tuple[Any, ...] = path) -> bytes:
            copy = deepcopy(document)
            inner = _at(copy, path[:-1])
            inner[path[-1]] = _other(inner[path[-1]])
            return dump(copy)

        yield _path(path), change


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in pairs:
        yield from _paths(inner, (*path, step))
    if path and isinstance(value, str | int | float):
        yield path


def strays(given: Input) -> Iterator[tuple[str, Input, Callable[[], bytes]]]:
    """Yield, for each path of an object in a document, an entry that no reader knows, with a value of the object's own.

    That is the path of the entry, the upload with it, and the bytes with another value there.
    """
    load, dump = DOCUMENTS.get(given.name.rpartition(".")[2], (lambda data: None, bytes))
    document = load(given.data)
    seen: set[str] = set()
    for *above, name in _paths(document):
        text, path = _at(document, (*above, name)), _path((*above, MARK))
        if isinstance(name, str) and isinstance(text, str) and len(text) > 3 and path not in seen:
            seen.add(path)

            def put_value(value: str, above: Sequence[Any] = above) -> bytes:
                copy = deepcopy(document)
                _at(copy, above)[MARK] = value
                return dump(copy)

            yield path, Input(given.name, put_value(text)), partial(put_value, _other(text))


def _at(value: Any, path: Sequence[Any]) -> Any:
    return reduce(getitem, path, value)


def _path(steps: Iterable[Any]) -> str:
    return ".".join(str(step) for step in steps if not isinstance(step, int))


def _xml(data: bytes) -> Iterator[Leaf]:
    def walk(node: ElementTree.Element, path: str) -> Iterator[tuple[str, ElementTree.Element, str | None]]:
        text, named = (node.text or "").strip(), node.get("name")
        if text:
            yield f"{path}.{named}" if named else path, node, None
        for name in node.attrib:  # the name of a text belongs to its path
            yield f"{path}.{_text(named) if text and named and name == 'name' else name}", node, name
        for child in node:
            yield from walk(child, f"{path}.{child.tag}")

    def texts_of(root: ElementTree.Element) -> list[tuple[str, ElementTree.Element, str | None]]:
        return list(walk(root, root.tag))

    for place, (path, _, _) in enumerate(texts_of(ElementTree.fromstring(data))):

        def change(place: int = place) -> bytes:
            root = ElementTree.fromstring(data)
            _, node, name = texts_of(root)[place]
            if name is None:
                node.text = _text(node.text or "")
            else:
                node.set(name, _text(node.get(name) or ""))
            return ElementTree.tostring(root)

        yield path, change


def _text(value: str) -> str:
    """Return another text, another number where it is one."""
    try:
        return str(_other(json.loads(value)))
    except ValueError:
        return f"{value}{MARK}"


def _table(data: bytes) -> Iterator[Leaf]:
    dialect = csv.Sniffer().sniff(data.decode().splitlines()[0], ",;\t")
    header, *rows = list(csv.reader(io.StringIO(data.decode()), delimiter=dialect.delimiter))
    for column, name in enumerate(header):
        row = next((place for place, cells in enumerate(rows) if cells[column]), None)
        if row is None:
            continue

        def change(row: int = row, column: int = column) -> bytes:
            cells = [list(each) for each in rows]
            cells[row][column] = _text(cells[row][column])
            target = io.StringIO(newline="")
            csv.writer(target, delimiter=dialect.delimiter).writerows([header, *cells])
            return target.getvalue().encode()

        yield name, change


def _fields(data: bytes) -> Iterator[Leaf]:
    """Yield the fields of the first line of each length: of labels, rankings, lists of classes.

    A field is called what stands before its colon, else by its column or, where a format names its columns, by that.
    """
    text = data.decode()
    for line in re.finditer(r".+", text):
        fields = list(re.finditer(r"[^\s,]+", line[0]))
        for place, match in enumerate(fields):
            begin, end = line.start() + match.start(), line.start() + match.end()

            def change(begin: int = begin, end: int = end) -> bytes:
                return (text[:begin] + _text(text[begin:end]) + text[end:]).encode()

            name, colon, _ = match[0].partition(":")
            names = COLUMNS.get(len(fields), ())
            yield name if colon else names[place] if names else f"{len(fields)} columns.column {place + 1}", change


def _archive(data: bytes) -> Iterator[Leaf]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    kinds: set[str] = set()
    for name, content in entries.items():
        folder, _, base = name.rpartition("/")
        kind = f"{folder}/{base.rpartition('.')[2]}"
        if kind in kinds or not content or name.endswith("/"):
            continue  # one file of each folder and ending stands for its like
        kinds.add(kind)
        for path, change in leaves(Input(name, content)):

            def whole(name: str = name, change: Callable[[], bytes] = change) -> bytes:
                target = io.BytesIO()
                with zipfile.ZipFile(target, "w") as archive:
                    for other, own in entries.items():
                        archive.writestr(other, change() if other == name else own)
                return target.getvalue()

            yield f"{name}.{path}", whole


_FORMS: dict[str, Callable[[bytes], Iterator[Leaf]]] = {
    **{ending: partial(_document, load=load, dump=dump) for ending, (load, dump) in DOCUMENTS.items()},
    "xml": _xml, "csv": _table, "tsv": _table, "zip": _archive,
}  # fmt: skip
