"""A reader of one upload format: what it is given (Upload, Request), and what it gives (Preview, suite, outputs)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.file_kinds import PACKED_ENDING, TABLE_ENDINGS, YAML_ENDINGS, model_of
from metrics.core.suite import Outputs, Suite, Task
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import VISION, Part
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import (
    AS_IT_SEEMS,
    BINARY,
    MAX_JSON_BYTES,
    Loaded,
    Problems,
    Reading,
    Source,
    open_source,
    source_of,
)
from metrics.ingest.tables.columns import Question, Role
from metrics.ingest.tables.lists import Rule

FIRST_ROWS = 20  # of a preview
# A .yaml beside other files configures them, and a .gz in a zip is refused.
TABLES = tuple(f".{ending}" for ending in TABLE_ENDINGS if ending not in (*YAML_ENDINGS, PACKED_ENDING))
DESCRIPTIONS = "class-descriptions"  # in the names of Open Images' tables of classes: they hold no cases
COMPANIONS = (  # in the names of its other files, which hold no boxes
    DESCRIPTIONS, "image_ids_and_rotation", "-imagelabels", "object-segmentation", "labels_600_hierarchy",
)  # fmt: skip


@dataclass(frozen=True)
class ListCell:
    """How a list cell was understood: text, items, rule; `items` None: it begins like a list but is none."""

    column: str
    canonical: str
    row: int
    text: str
    rule: Rule
    items: tuple[str, ...] | None


@dataclass(frozen=True)
class Preview:
    """What was found in an upload. `mapping` {canonical: column} can be edited and given to the readers.

    `questions` must be answered in the mapping; `unmapped` columns become metadata.*; `ignored` ones belong to the
    other kind of file. `rows` is None where counting would take long. `first` has the raw cells: text, or native lists.
    `models` are those that a folder or zip of masks has folders for. `encoding` is what a text was read as, "" where
    the file is no text; `scored` are the classes that have a column of scores each. `sheets` are the sheets of a
    workbook that are not empty, or the splits of a data set, of which `sheet` was read. `candidates` are columns that
    may hold the answers of a model each.
    """

    file: str
    format: str
    role: Role
    task: Task
    columns: tuple[str, ...]
    mapping: dict[str, str]
    questions: tuple[Question, ...] = ()
    unmapped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    rows: int | None = None
    first: tuple[dict[str, Any], ...] = ()
    lists: tuple[ListCell, ...] = ()
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    encoding: str = ""
    scored: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    candidates: tuple[str, ...] = ()

    @classmethod
    def of_objects(
        cls, upload: "Upload", format: str, role: Role, task: Task, table: pa.Table, *notes: str,
        models: tuple[str, ...] = (),
    ) -> "Preview":  # fmt: skip
        """Return the preview of a data set whose columns need no mapping; `table` has its records."""
        first = tuple(table.slice(0, FIRST_ROWS).to_pylist())
        columns = tuple(table.column_names)
        return cls(
            upload.name, format, role, task, columns, {}, rows=len(table), first=first, notes=notes, models=models
        )


class Upload:
    """What a user uploaded: a file, or a folder or zip (`bundle`)."""

    def __init__(
        self, path: Any, filename: str | None = None, bundle: Bundle | None = None, reading: Reading = AS_IT_SEEMS
    ):
        self._path, self._filename, self._reading = path, filename, reading
        self.bundle = bundle
        self.said: list[str] = []  # notes of the reader of a folder or zip

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.source.name if self.bundle is None else self.bundle.name

    @property
    def stem(self) -> str:
        """The name without folder and extension: of the suite or the model, where nothing else gives one."""
        given = (self._filename or Path(self._path).name) if self._reading.label else self.name
        plain = given.replace("\\", "/").removesuffix("." + PACKED_ENDING)
        return Path(plain).stem or self.name

    @property
    def model(self) -> str:
        """The model that the file is named for, where nothing else names it."""
        return model_of(self.stem)

    @cached_property
    def source(self) -> Source:
        """The file, or the only table in the folder or zip; InputError where it is no table, or there are several."""
        if self.bundle is None:
            return open_source(self._path, self._reading.label or self._filename, self._reading)
        tables = self.tables
        if len(tables) > 1:
            names = ", ".join(entry.name for entry in tables[:5])
            raise self.error(f"{len(tables)} tables: {names}", "one table, or each uploaded by itself")
        return self.source_of_entry(tables[0])

    def source_of_entry(self, entry: Entry) -> Source:
        """Return a file of the folder or zip as a table to read; InputError where it is none."""
        bundle = self.folder
        entry.account()
        name, place = bundle.file(entry), bundle.path / entry.name
        if bundle.path.is_dir():
            return open_source(place, name, self._reading)
        problems = Problems()
        data = bundle.data(entry, problems, MAX_JSON_BYTES)
        problems.check()
        return source_of(place, name, pa.py_buffer(data or b""), self._reading)

    @property
    def is_workbook(self) -> bool:
        """Whether it is an Excel workbook, which may have several sheets."""
        return self.bundle is None and self.source.format == "xlsx"

    @property
    def sheet(self) -> str | None:
        """The sheet of a workbook, or the split of a data set, that was asked for."""
        return self._reading.sheet

    @property
    def decoded_as(self) -> str | None:
        """The encoding that was asked for, where a text was read in it."""
        read: Source | None = self.__dict__.get("source")
        chosen = self._reading.encoding or self._reading.answers.get("encoding")
        return chosen if read is not None and read.format not in BINARY else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed to read the file, such as its encoding; nothing before it is read."""
        read: Source | None = self.__dict__.get("source")
        return tuple(self.said) if read is None else (*self.said, *read.notes)

    @cached_property
    def tables(self) -> list[Entry]:
        """The tables in the folder or zip, by their extension."""
        found = [] if self.bundle is None else self.bundle.ending(*TABLES)
        return [entry for entry in found if not any(part in entry.base.lower() for part in COMPANIONS)]

    @property
    def folder(self) -> Bundle:
        """The folder or zip; only readers of these ask for it."""
        assert self.bundle is not None
        return self.bundle

    def error(self, found: str, expected: str) -> InputError:
        """Return the error that this upload cannot be used."""
        return InputError([InputProblem(self.name, found, expected)])


def need_images(upload: Upload, suite: Suite) -> None:
    """Raise InputError where an upload of objects in images is given as outputs for a suite of another task."""
    if suite.task not in VISION:
        raise upload.error("labels of objects in images", f"outputs for a suite of {suite.task}")


@dataclass(frozen=True)
class Request:
    """What the caller asks for: the kind of file and task where they are known, the mapping, and names to give.

    `suite_name` and `model` replace the names that the upload gives; `problems` collects what is wrong. `labels` are
    the classes of the suite, for a preview of outputs; `media` is where images beside cases and answers are stored.
    """

    problems: Problems
    task: Task | None = None
    mapping: Mapping[str, str] | None = None
    role: Role | Literal["auto"] = "auto"
    suite_name: str | None = None
    model: str | None = None
    labels: tuple[str, ...] = ()
    media: str | Path | None = None


def _no_combined(upload: Upload, _: Request) -> Loaded[tuple[Suite, Outputs]]:
    found = "a format that holds either cases or answers"
    raise upload.error(found, "a file with cases and answers in every row, or one of each")


@dataclass(frozen=True)
class Reader:
    """How one upload format is recognised, previewed and read. See metrics.ingest.format_table.

    `recognises` may raise InputError where a folder or zip mixes formats. `preview` does not fail on bad records;
    `suite`, `outputs` and `combined` (both from one file) record them in the request's problems. A format that is a
    table of records has `sheet`. `images` returns the images in a folder or zip; `contents` describes what it holds.
    """

    name: str
    recognises: Callable[[Upload], bool]
    preview: Callable[[Upload, Request], Preview]
    suite: Callable[[Upload, Request, SuiteImages], Loaded[Suite]]
    outputs: Callable[[Upload, Request, Suite], Part]
    combined: Callable[[Upload, Request], Loaded[tuple[Suite, Outputs]]] = _no_combined
    sheet: Callable[[Source, Problems], Sheet] | None = None
    images: Callable[[Bundle], Sequence[Entry]] = lambda bundle: bundle.images
    contents: str = ""
