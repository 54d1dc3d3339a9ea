"""The leaves of an upload: each value in it with its path, and the upload with that value changed."""

import csv
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

import yaml

from metrics.ingest.yaml_documents import load_yaml
from tests.fuzz.target import Input

Leaf = tuple[str, Callable[[], bytes]]  # the path without indexes, a.b.c, and the bytes with another value there
MARK = "zq9"
KITTI = "type truncated occluded alpha left top right bottom height width length x y z rotation_y score".split()
COLUMNS = {15: KITTI[:15], 16: KITTI}  # of lines with so many fields, the names
PACKED = ("parquet", "arrow", "feather", "xlsx", "gz", "png", "jpg")


DOCUMENTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bytes]]] = {  # how to read and write them
    "json": (json.loads, lambda value: json.dumps(value).encode()),
    "jsonl": (
        lambda data: [json.loads(line) for line in data.splitlines() if line.strip()],
        lambda records: b"\n".join(json.dumps(record).encode() for record in records),
    ),
    "yaml": (load_yaml, lambda value: yaml.safe_dump(value, allow_unicode=True).encode()),
}


def leaves(given: Input) -> Iterator[Leaf]:
    """Yield the first leaf of each path of an upload; of what is packed (Parquet, Arrow, Excel, gzip, images) none."""
    ending = given.name.rpartition(".")[2]
    if given.name.endswith("/") or ending in PACKED:
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

            def put(value: str, above: Sequence[Any] = above) -> bytes:
                copy = deepcopy(document)
                _at(copy, above)[MARK] = value
                return dump(copy)

            yield path, Input(given.name, put(text)), partial(put, _other(text))


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
