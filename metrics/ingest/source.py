"""Source: an uploaded file, its format recognised by content, its text checked to be UTF-8 before it is parsed."""

import codecs
import json
import mmap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import orjson
import pyarrow as pa

from metrics.core.errors import InputError, InputProblem

Format = Literal["csv", "jsonl", "json", "parquet"]
MAX_BYTES = 8 << 30
MAX_JSON_BYTES = 1 << 30  # a JSON document is parsed in memory as a whole
HEAD = 1 << 16
UTF8_BOM = codecs.BOM_UTF8
TABLES = "a CSV, JSONL, JSON or Parquet file"
ENCODINGS = "UTF-8, or UTF-16 with a byte-order mark"
# Files uploaded by mistake, recognised by their first bytes.
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Office document",
    b"PK\x05\x06": "an empty zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"SQLite format 3": "an SQLite database",
    b"\x80\x04\x95": "a Python pickle (never read: it can run code)",
}


@dataclass(frozen=True)
class Source:
    """A file to read: `name` is the user's, `data` its bytes (UTF-8 without byte-order mark, except Parquet)."""

    path: Path
    name: str
    format: Format
    data: pa.Buffer

    @property
    def stem(self) -> str:
        """The user's file name without folder and extension: the model's name where no column gives one."""
        return Path(self.name.replace("\\", "/")).stem or self.name

    @cached_property
    def document(self) -> Any:
        """The value of a JSON file; None for other formats."""
        return load_json(self) if self.format == "json" else None

    def error(self, found: str, expected: str, row: int | None = None, column: str | None = None) -> InputError:
        """Return the error that this file cannot be used."""
        return InputError([InputProblem(self.name, found, expected, row, column)])


def open_source(path: str | Path, filename: str | None = None) -> Source:
    """Return the file with its format recognised and its encoding checked; InputError where it is not a table or not
    text.
    """
    place = Path(path)
    name = filename or place.name
    unread = Source(place, name, "csv", pa.py_buffer(b""))
    try:
        if place.is_dir():
            raise unread.error("a folder", TABLES)
        size = place.stat().st_size
        if size > MAX_BYTES:
            raise unread.error(f"{size:,} bytes", f"at most {MAX_BYTES:,} bytes")
        if size == 0:
            raise unread.error("an empty file", TABLES)
        with place.open("rb") as file:
            data = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise unread.error("no such file", TABLES) from None
    except (OSError, ValueError) as error:
        raise unread.error(
            f"a file that cannot be opened ({getattr(error, 'strerror', None) or error})", TABLES
        ) from None
    return source_of(place, name, data)


def source_of(place: Path, name: str, data: pa.Buffer) -> Source:
    """Return the bytes of a file as a source; InputError where they are not a table or not text."""
    unread = Source(place, name, "csv", pa.py_buffer(b""))
    head = data[:HEAD].to_pybytes()
    if head.startswith(b"PAR1"):
        return Source(place, name, "parquet", data)
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise unread.error(what, TABLES)
    data = _utf8(unread, data, head)
    head = data[:HEAD].to_pybytes()
    if not head.strip():
        raise unread.error("a file with only whitespace", TABLES)
    return Source(place, name, _text_format(head, name, data), data)


def load_json(source: Source) -> Any:
    """Return the file's JSON document; NaN and Infinity are accepted here, so that readers can list where they are."""
    if source.data.size > MAX_JSON_BYTES:
        raise source.error(
            f"{source.data.size:,} bytes of JSON", f"at most {MAX_JSON_BYTES:,} bytes; JSONL may be larger"
        )
    try:
        return orjson.loads(memoryview(source.data))
    except orjson.JSONDecodeError as error:
        problem = source.error(
            f"{error.msg} at line {error.lineno}, character {error.colno}", "a JSON document", row=error.lineno
        )
    if not any(word in source.data.to_pybytes() for word in (b"NaN", b"Infinity")):
        raise problem from None
    try:
        document = json.loads(source.data.to_pybytes())
        json.dumps(document, ensure_ascii=False).encode()  # no lone surrogates, which no table can hold
    except (ValueError, RecursionError):
        raise problem from None
    return document


def find_bytes(data: pa.Buffer, wanted: bytes, start: int = 0) -> int:
    """Return the first place of `wanted` from `start` on, −1 where there is none; the data is never copied as a
    whole.
    """
    step = 1 << 24
    overlap = len(wanted) - 1
    while start < data.size:
        place: int = data[start : start + step + overlap].to_pybytes().find(wanted)
        if place >= 0:
            return start + place
        start += step
    return -1


def _text_format(head: bytes, name: str, data: pa.Buffer) -> Format:
    """Return the text format of a file, from its first bytes; the extension only breaks ties."""
    text = head.lstrip()
    extension = Path(name).suffix.lower()
    if text[:1] == b"[" and extension in (".jsonl", ".ndjson") and _is_line_of_many(data):
        return "jsonl"
    if text[:1] == b"[":
        # A CSV may begin with a header such as [id]; JSON's first item is an object, an array or nothing.
        return "json" if extension == ".json" or text[1:].lstrip()[:1] in (b"{", b"]", b"[") else "csv"
    if text[:1] != b"{":
        return "jsonl" if extension in (".jsonl", ".ndjson") else "json" if extension == ".json" else "csv"
    if extension in (".jsonl", ".ndjson"):
        return "jsonl"
    line, newline, rest = text.partition(b"\n")
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        # A first line longer than the head, or one that is only a part of an object: a document.
        return "json"
    if data.size <= HEAD and not rest.strip():
        lone = isinstance(record, dict) and not any(isinstance(value, list) for value in record.values())
        return "jsonl" if lone and extension != ".json" else "json"
    return "jsonl" if newline and rest.strip() else "json"


def _is_line_of_many(data: pa.Buffer) -> bool:
    """Return whether the first line is a JSON value by itself and another begins below it."""
    end = find_bytes(data, b"\n")
    if end < 0 or data[end : end + HEAD].to_pybytes().lstrip()[:1] != b"[":
        return False
    try:
        orjson.loads(memoryview(data[:end]))
    except orjson.JSONDecodeError:
        return False
    return True


def _utf8(source: Source, data: pa.Buffer, head: bytes) -> pa.Buffer:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not head.startswith(codecs.BOM_UTF32_LE):
        try:
            return pa.py_buffer(data.to_pybytes().decode("utf-16").encode())
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            raise source.error(f"UTF-16 that cannot be decoded at byte {start:,}", ENCODINGS) from None
    if head.startswith(UTF8_BOM):
        data = data[len(UTF8_BOM) :]
    if data.size:
        _check_utf8(source, data)
    return data


def _check_utf8(source: Source, data: pa.Buffer) -> None:
    offsets = pa.py_buffer(memoryview(b"".join(value.to_bytes(8, "little") for value in (0, data.size))))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, data])
    try:
        whole.cast(pa.large_string())
        return
    except pa.ArrowInvalid:
        pass
    decoder = codecs.getincrementaldecoder("utf-8")()
    step, line = 1 << 20, 1
    for start in range(0, data.size, step):
        block = data[start : start + step].to_pybytes()
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=start + step >= data.size)
        except UnicodeDecodeError as error:
            place = start - pending + error.start
            line += data[start - pending : place].to_pybytes().count(b"\n") if place > start - pending else 0
            byte = data[place : place + 1].to_pybytes()[0]
            hint = "; Excel: save as “CSV UTF-8”" if byte >= 0x80 else ""
            raise source.error(
                f"byte 0x{byte:02x} at offset {place:,}, which is not UTF-8", ENCODINGS + hint, row=line
            ) from None
        line += block.count(b"\n")
