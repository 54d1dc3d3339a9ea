"""Source: an uploaded file, its format recognised by content, its text made UTF-8; the problems found in files."""

import gc
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import orjson
import pyarrow as pa

from metrics.core.errors import InputError, InputProblem, did_you_mean
from metrics.core.exact_json import TOO_DEEP, json_fault, parse_json, without_comments
from metrics.core.file_kinds import PACKED_ENDING, YAML_ENDINGS, foreign_kind, upload_of
from metrics.core.files import open_regular
from metrics.core.input_problems import short
from metrics.core.receipt import EXAMPLE_CHARACTERS, WORDS, FileQuestion, Receipt, ReceiptLine, Use, sorted_receipt
from metrics.core.unicode_forms import HALF_ESCAPE, without_escaped_halves
from metrics.ingest.decoded_size import Decoded, size_as_objects
from metrics.ingest.media.archive import WORKBOOK, is_gzip, office_kind, unpacked
from metrics.ingest.text_encoding import UTF8, as_utf8

Format = Literal["csv", "jsonl", "json", "yaml", "parquet", "arrow", "xlsx"]
BINARY: tuple[Format, ...] = ("parquet", "arrow", "xlsx")
DOCUMENTS: tuple[Format, ...] = ("json", "yaml")  # that are one value
MAX_BYTES = 8 << 30
MAX_JSON_BYTES = 1 << 30  # a JSON document is parsed in memory as a whole
HEAD = 1 << 16
ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
ARROW = (b"ARROW1\0\0", b"\xff\xff\xff\xff")  # an IPC file, and an IPC stream
TABLES = "a CSV, JSONL, JSON, YAML, Parquet, Arrow or Excel file"
T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """How the user says that a file is to be read: its encoding, the sheet of a workbook; None: as it seems.

    `answers` are to questions about the file, {name: choice}; see metrics.core.receipt.FileQuestion. `label` is what
    it is called where another file has its name, see `labels_of`.
    """

    encoding: str | None = None
    sheet: str | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    label: str = ""


AS_IT_SEEMS = Reading()


def labels_of(paths: Iterable[str], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what those of the files are called that share their name: `a (old).csv`, by a folder, else by number.

    `names` are those that people know them by; "" stands for files that are the only ones of their name.
    """
    of_name: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        of_name.setdefault((names or {}).get(path) or Path(path).name, []).append(path)
    labels = {}
    for name, same in of_name.items():
        levels = zip(*(reversed(Path(path).parts[:-1]) for path in same), strict=False)
        numbers = tuple(map(str, range(1, len(same) + 1)))
        marks = next((level for level in levels if len(set(level)) == len(same)), numbers)
        stem = Path(name.removesuffix("." + PACKED_ENDING)).stem
        for path, mark in zip(same, marks, strict=True):
            labels[path] = name.replace(stem, f"{stem} ({mark})", 1) if len(same) > 1 else ""
    return labels


@dataclass(frozen=True)
class Source:
    """A file to read: `name` is the user's, `data` its bytes (a text as UTF-8 without byte-order mark).

    `encoding` is what a text was read as; `sheet` the one asked for in a workbook; `notes` say what was assumed.
    """

    path: Path
    name: str
    format: Format
    data: pa.Buffer
    encoding: str = UTF8
    sheet: str | None = None
    notes: list[str] = field(default_factory=list)

    @cached_property
    def document(self) -> Any:
        """The value of a JSON or YAML file; None for other formats."""
        if self.format != "yaml":
            return load_json(self) if self.format == "json" else None
        from metrics.ingest.yaml_documents import YamlError, load_yaml

        try:
            return load_yaml(self.data.to_pybytes())
        except YamlError as error:
            raise self.error(error.found, error.expected, error.row) from None

    def error(self, found: str, expected: str, row: int | None = None, column: str | None = None) -> InputError:
        """Return the error that this file cannot be used."""
        return _error(self.name, found, expected, row, column)


def open_source(path: str | Path, filename: str | None = None, reading: Reading = AS_IT_SEEMS) -> Source:
    """Return the file, its format and encoding recognised; InputError where it is no table or no text."""
    place = Path(path)
    name = filename or place.name
    try:
        if place.is_dir():
            raise _error(name, "a folder", TABLES)
        with open_regular(place) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                raise _error(name, f"{size:,} bytes", f"at most {MAX_BYTES:,} bytes")
            if size == 0:
                raise _error(name, "an empty file", TABLES)
            data = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        if filename:
            raise _error(name, "no such file", TABLES) from None
        near = did_you_mean(name, os.listdir(place.parent)) if place.parent.is_dir() else ""
        found, expected = f"no such file in {place.parent.absolute()}", f"a file{f' ({near})' if near else ''}"
        raise _error(name, found, expected) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise _error(name, f"a file that cannot be opened ({why})", TABLES) from None
    return source_of(place, name, data, reading)


def source_of(place: Path, name: str, data: pa.Buffer, reading: Reading = AS_IT_SEEMS) -> Source:
    """Return the bytes of a file as a source; InputError where they are not a table or not text."""
    plain = name  # what the file would be called without its compression
    if name.lower().endswith("." + PACKED_ENDING) and is_gzip(data):
        plain = name[: -len(PACKED_ENDING) - 1]
        data = unpacked(name, data)
    head = data[:HEAD].to_pybytes()
    if head.startswith(b"PAR1"):
        return Source(place, name, "parquet", data)
    if head.startswith(ARROW):
        return Source(place, name, "arrow", data)
    if head.startswith(ZIPS):
        if (office := office_kind(data)) != WORKBOOK:
            raise _error(name, office, TABLES)
        return Source(place, name, "xlsx", data, sheet=reading.sheet)
    if kind := foreign_kind(head, plain):
        workbook = plain.lower().endswith((".xls", ".xlsx"))
        raise _error(name, kind, TABLES + "; open it in Excel and save it as .xlsx" * workbook)
    data, encoding = as_utf8(name, data, reading.encoding or reading.answers.get("encoding"))
    head = data[:HEAD].to_pybytes()
    if not head.strip():
        raise _error(name, "a file with only whitespace", TABLES)
    notes = [f"{name} was read as {encoding}."] if encoding != UTF8 else []
    form = _text_format(head, plain, data)
    if form in ESCAPING and HALF_ESCAPE.search(memoryview(data)):
        text, halves = without_escaped_halves(data.to_pybytes())
        if halves:
            notes.append(f"{name}: {halves:,} × half of a surrogate pair, which is no character, became U+FFFD.")
            data = pa.py_buffer(text)
    return Source(place, name, form, data, encoding, notes=notes)


ESCAPING: tuple[Format, ...] = ("json", "jsonl", "yaml")  # formats of text that escape characters with \\u


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, which walks over all records while more are made: three quarters of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:  # not by another reader that pauses it
            gc.enable()


@collector_paused()
def load_json(source: Source) -> Any:
    """Return the file's JSON document; NaN and Infinity are accepted; see metrics.core.exact_json."""
    size = source.data.size
    if size > MAX_JSON_BYTES:
        raise source.error(f"{size:,} bytes of JSON", f"at most {MAX_JSON_BYTES:,} bytes; JSONL may be larger")
    Decoded(source.name, size, "json").check(size_as_objects(source.data))
    try:
        return parse_json(memoryview(source.data))
    except orjson.JSONDecodeError as error:
        with suppress(orjson.JSONDecodeError):
            found = parse_json(without_comments(source.data.to_pybytes()))
            source.notes.append(f"{source.name}: comments, and commas before a closing bracket, were left out.")
            return found
        deep = error.msg == TOO_DEEP
        found = json_fault(error) + f" at line {error.lineno}, character {error.colno}" * (not deep)
        raise source.error(found, "a JSON document", row=None if deep else error.lineno) from None


def _error(file: str, found: str, expected: str, row: int | None = None, column: str | None = None) -> InputError:
    return InputError([InputProblem(file, found, expected, row, column)])


def _text_format(head: bytes, name: str, data: pa.Buffer) -> Format:
    """Return the text format of a file, from its first bytes; the extension only breaks ties."""
    text = head.lstrip()
    extension = Path(name).suffix.lower()
    if extension.removeprefix(".") in YAML_ENDINGS:
        return "yaml"
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
        record = parse_json(line)
    except orjson.JSONDecodeError:
        # A first line longer than the head, or one that is only a part of an object: a document.
        return "json"
    if data.size <= HEAD and not rest.strip():
        lone = isinstance(record, dict) and not any(isinstance(value, list) for value in record.values())
        return "jsonl" if lone and extension != ".json" else "json"
    return "jsonl" if newline and rest.strip() else "json"


def _is_line_of_many(data: pa.Buffer) -> bool:
    """Return whether the first line is a JSON value by itself and another begins below it."""
    end = re.search(b"\n", memoryview(data))
    if end is None or data[end.end() : end.end() + HEAD].to_pybytes().lstrip()[:1] != b"[":
        return False
    try:
        parse_json(memoryview(data[: end.start()]))
    except orjson.JSONDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """The result of reading an upload: the value, the problems of the rows left out, and notes for the user.

    `missing` counts the (case, model) pairs of the suite that the outputs do not answer; they are no error.
    """

    value: T
    problems: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    missing: int = 0


class Problems:
    """Everything wrong with an upload: problems of rows, which can be left out, and fatal ones; and its receipt.

    `answers` are a person's to the questions about each file: {file: {question: choice}}, "" for every file.
    """

    def __init__(self, keep_good_rows: bool = False):
        self.keep_good_rows = keep_good_rows
        self.keep_unknown_classes = False  # predictions of classes that the suite does not have are no problems
        self.fatal = False
        self.left_out = 0
        self.answers: dict[str, Mapping[str, str]] = {}
        self._files: dict[str, int] = {}
        self._found: list[InputProblem] = []
        self._receipt: dict[tuple[str, str, Use, str], ReceiptLine] = {}

    def add(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None, *,
        fatal: bool = False,
    ) -> None:  # fmt: skip
        """Record one problem; leaving rows out does not fix a fatal one."""
        self.extend([InputProblem(file, found, expected, row, column, fatal)])
        self.fatal |= fatal

    def skip(self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None) -> None:
        """Record the problem of a record that is left out."""
        self.left_out += 1
        self.add(file, found, expected, row, column)

    def extend(self, problems: Iterable[InputProblem]) -> None:
        """Record problems found elsewhere."""
        for problem in problems:
            self._files.setdefault(problem.file, len(self._files))
            self._found.append(problem)

    def note(
        self, file: str, place: str, use: Use, meaning: str, count: int | None = None, example: object = "",
        question: str = "", answers: tuple[str, ...] = (), asks: str = "",
    ) -> None:  # fmt: skip
        """Record what became of a part of a file; see ReceiptLine. Counts of the same part add up."""
        key = (file, short(place), use, question)
        before = self._receipt.get(key)
        if before is not None and before.count is not None and count is not None:
            count += before.count
        text = (before.example if before else "") or short(str(example), EXAMPLE_CHARACTERS)
        self._receipt[key] = ReceiptLine(file, key[1], use, meaning, count, text, question, answers, asks)

    def is_noted(self, file: str, place: str) -> bool:
        """Return whether it is recorded what became of that part of a file, and not only what was decided about it."""
        return any((file, short(place), use, "") in self._receipt for use in WORDS if use != "asked")

    @property
    def receipt(self) -> Receipt:
        """What became of each part of the files so far."""
        return sorted_receipt(self._receipt.values())

    def ask(
        self, file: str, question: FileQuestion, found: str, *, default: str | None = None, place: str | None = None,
        row: int | None = None,
    ) -> str | None:  # fmt: skip
        """Return the answer to a question about a file, else `default`; without both it is a fatal problem, and None.

        `place` is the column or path that it is about. The receipt says what was decided, and by whom.
        """
        answer = self.answer(file, question.name)
        if answer is not None and not question.takes(answer):
            found, default, answer = f"the answer {answer!r}", None, None
        chosen = answer or default
        if chosen is None:
            self.extend([InputProblem(file, found, question.expected, row, place, True, 1, question)])
            self.fatal = True
            return None
        said = f"{question.name}={chosen}"
        others = " or ".join(each for each in question.answers if each != said)
        seems = f"as it seems{'; else ' * bool(others)}{others}"
        words = f"{found}: {said}, {'as you said' if answer else seems}"
        answers = (chosen, *(choice for choice in question.choices if choice != chosen))
        self.note(
            file, place or question.name, "asked", words, question=question.name, answers=answers, asks=question.text
        )
        return chosen

    def answer(self, file: str, question: str) -> str | None:
        """Return a person's answer to a question about a file; None for none."""
        named = (self.answers.get(name, {}) for name in (file, upload_of(file), ""))
        return next((own[question] for own in named if question in own), None)

    def absorb(self, error: InputError) -> None:
        """Record the problems of a file that could not be read at all."""
        seen = {replace(problem, fatal=True) for problem in self._found}
        fatal = (replace(problem, fatal=True) for problem in error.problems)
        self.extend(problem for problem in fatal if problem not in seen)
        self.fatal = True

    def __len__(self) -> int:
        return len(self._found)

    @property
    def listed(self) -> tuple[InputProblem, ...]:
        """All problems, by file in the order given, then by row."""
        return tuple(sorted(self._found, key=lambda problem: (self._files[problem.file], problem.row or 0)))

    def stop(self) -> None:
        """Raise InputError where reading cannot continue, whether or not bad rows may be left out."""
        if self.fatal:
            raise InputError(self.listed)

    def check(self) -> None:
        """Raise InputError where something is wrong and bad rows may not be left out, or that would not fix it."""
        if self._found and (self.fatal or not self.keep_good_rows):
            raise InputError(self.listed)

    def fail(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None
    ) -> InputError:
        """Return the error to raise where reading cannot continue: this problem after all others."""
        self.add(file, found, expected, row, column, fatal=True)
        return InputError(self.listed)


def first_line(error: BaseException) -> str:
    """Return the first line of what a library's error says, at most 200 characters."""
    text = re.sub(r" <_io\.\w+ object at \w+>", "", str(error)).strip()
    return (text or type(error).__name__).splitlines()[0][:200]
