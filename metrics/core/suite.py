"""Suite, Outputs and Case: the data of an evaluation as frozen, typed Arrow tables, and their content fingerprints."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.arrow import plain_column
from metrics.core.classes import ClassFacts, class_records
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.fields import (
    CASE_FIELDS,
    METADATA as METADATA,
    NUMBERS as NUMBERS,
    OUTPUT_FIELDS,
    STRINGS as STRINGS,
    TASKS as TASKS,
    Case as Case,
    Task as Task,
    schema_of,
)
from metrics.core.label_fields import ANNOTATION_FIELDS, PREDICTION_FIELDS
from metrics.core.receipt import Receipt


def fingerprint(*parts: pa.Table | str) -> str:
    """Return the sha256 (64 hex digits) of the values of tables and strings; their chunks and slices do not matter."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(f"text {len(part)} {part}\n".encode())
            continue
        for name in part.column_names:
            digest.update(f"column {name}\n".encode())
            _digest_array(digest, part[name])
    return digest.hexdigest()


def _digest_array(digest: Any, column: pa.ChunkedArray | pa.Array) -> None:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # combining over 2 GiB of text leaves several chunks
        array = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in array.chunks])
    # the name of a list's field changes when it goes through Parquet
    kind = "list" if pa.types.is_list(array.type) else str(array.type).removeprefix("large_")
    digest.update(f"{kind} {len(array)} {array.null_count}\n".encode())
    if array.null_count:
        digest.update(array.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    if array.null_count == len(array):
        return
    if pa.types.is_list(array.type):
        digest.update(pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).tobytes())
        _digest_array(digest, array.flatten())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        values = pc.fill_null(array, "").cast(pa.large_binary())
        digest.update(pc.binary_length(values).to_numpy(zero_copy_only=False).tobytes())
        _, offsets, data = values.buffers()
        bounds = memoryview(offsets).cast("q")
        first, last = bounds[values.offset], bounds[values.offset + len(values)]
        if data is not None:
            digest.update(memoryview(data)[first:last])
    elif pa.types.is_boolean(array.type):
        digest.update(pc.fill_null(array, False).cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    else:
        digest.update(pc.fill_null(array, 0).to_numpy(zero_copy_only=False).tobytes())


COMPLEXITY = METADATA + "complexity"
IMAGE_NAME = METADATA + "image_name"
ASSUMED_SIZE = METADATA + "assumed_size"  # "yes" for images of unknown size whose boxes were given as 0–1
ASSUMED_SIDE = 1000  # their width and height: IoU does not depend on it, areas do
MEDIUM = "medium"  # the complexity of a case that gives none
CRITERIA = ("tag", "search", "length", "complexity")  # of Suite.matching that are no columns

CASES, OUTPUTS = schema_of(CASE_FIELDS), schema_of(OUTPUT_FIELDS)
ANNOTATIONS, PREDICTIONS = schema_of(ANNOTATION_FIELDS), schema_of(PREDICTION_FIELDS)
# columns that came later: what has no value in them keeps the fingerprint that it had before
LATER = frozenset(
    column.name for column in (*CASE_FIELDS, *OUTPUT_FIELDS, *ANNOTATION_FIELDS, *PREDICTION_FIELDS) if column.later
)


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return `table` with the columns of `schema`, in its order and types, absent ones null, then `metadata.*` ones.

    Raises ValueError on any other column, pyarrow's errors on a value that does not cast.
    """
    unknown = [name for name in table.column_names if name not in schema.names and not name.startswith(METADATA)]
    if unknown:
        raise ValueError(f"columns {unknown} are not in the schema {schema.names}")
    columns: dict[str, pa.ChunkedArray | pa.Array] = {}
    for name, kind in zip(schema.names, schema.types, strict=True):
        columns[name] = table[name].cast(kind) if name in table.column_names else pa.nulls(table.num_rows, kind)
    for name in table.column_names:
        if name.startswith(METADATA):
            columns[name] = table[name].cast(pa.string())
    return pa.table(columns)


def identifying(table: pa.Table) -> pa.Table:
    """Return the columns of `table` by which it is identified: those of LATER only where they have a value."""
    kept = [name for name in table.column_names if name not in LATER or table[name].null_count < len(table)]
    return table.select(kept)


def sizes_assumed(cases: pa.Table) -> bool:
    """Return whether the size of an image is unknown and only assumed, so that areas in pixels mean nothing."""
    return ASSUMED_SIZE in cases.column_names and pc.any(pc.equal(cases[ASSUMED_SIZE], "yes")).as_py() is True


@dataclass(frozen=True, eq=False)
class Suite:
    """The test cases: one row of `cases` each (schema CASES), geometries in `annotations` (schema ANNOTATIONS).

    `media` is the folder with the images named in `cases.image`; `labels` are the classes in the suite's own order;
    `left_out` counts wrong rows of the upload that the user chose to leave out; `category_ids` are the numbers that a
    results file may use instead of `labels`, in the same order; `label_keys` are the keys of labels that are all of the
    form key=value (core.label_keys); `classes` are the facts about labels that have some. `receipt` says what became of
    each part of the file.
    """

    name: str
    task: Task
    cases: pa.Table
    annotations: pa.Table | None = None
    labels: tuple[str, ...] = ()
    media: Path | None = None
    left_out: int = 0
    category_ids: tuple[int, ...] = ()
    label_keys: tuple[str, ...] = ()
    classes: Mapping[str, ClassFacts] = field(default_factory=dict)
    receipt: Receipt = ()

    @classmethod
    def from_rows(
        cls,
        name: str,
        task: Task,
        cases: Iterable[Mapping[str, Any]],
        annotations: Iterable[Mapping[str, Any]] | None = None,
        labels: Sequence[str] = (),
    ) -> "Suite":
        """Return a suite from plain records whose keys are the columns of CASES and ANNOTATIONS."""
        table = rows_table(cases, CASES)
        geometry = None if annotations is None else rows_table(annotations, ANNOTATIONS)
        if not labels:
            source = table["label"] if geometry is None else geometry["label"]
            several = table["labels"].combine_chunks().flatten().to_pylist()
            labels = sorted({label for label in (*source.to_pylist(), *several) if label is not None})
        return cls(name, task, table, geometry, tuple(labels))

    def __len__(self) -> int:
        return cast(int, self.cases.num_rows)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of task, labels, their keys and facts, cases and annotations (not of the name or the pixels)."""
        tables = [self.cases] if self.annotations is None else [self.cases, self.annotations]
        keys = ["keys " + "\x1f".join(self.label_keys)] if self.label_keys else []
        facts = ["classes " + json.dumps(class_records(self.classes), sort_keys=True)] if self.classes else []
        return fingerprint(self.task, "\x1f".join(self.labels), *keys, *facts, *map(identifying, tables))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Every tag of the suite, the most frequent first, then by name."""
        return tags_of(self.cases)

    @cached_property
    def image_names(self) -> dict[str, str | None]:
        """The name of each case's image as the upload gave it, else its file in `media`; None where it has none."""
        names = [self.cases[name] for name in (IMAGE_NAME, "image") if name in self.cases.column_names]
        found = pc.coalesce(*names).to_pylist()
        return dict(zip(self.cases["case_id"].to_pylist(), found, strict=True))

    def filter(self, **criteria: Any) -> "Suite":
        """Return the suite with only the cases that meet every criterion; see `matching`."""
        return self.restricted(self.matching(criteria))

    def matching(self, criteria: Mapping[str, Any]) -> pa.Array:
        """Return the ids of the cases that meet every criterion, in the suite's order.

        tag: the tag, or one of a list of tags. search: text in the case's id or question, ignoring case. length:
        (least, most) characters of the question, None for no limit. complexity: see `complexity_of`. Any other name is
        a column of the suite, or of its metadata: the value, or one of a list; None means that there is none. In a
        column of lists the value is in the list. Raises InputError for a name that is none of these.
        """
        unknown = [name for name in criteria if name not in CRITERIA and case_column(self.cases, name) is None]
        if unknown:
            known = [*CRITERIA, *(name.removeprefix(METADATA) for name in self.cases.column_names)]
            raise InputError(InputProblem(self.name, f"the criterion {id!r}", one_of(id, known)) for id in unknown)
        keep = np.ones(len(self), bool)
        for name, wanted in criteria.items():
            keep &= _meets(self.cases, name, wanted)
        return self.cases["case_id"].combine_chunks().filter(pa.array(keep))

    def restricted(self, case_ids: pa.Array) -> "Suite":
        """Return the suite with only those cases (and their annotations), in its own order."""
        keep = self.cases.filter(pc.is_in(self.cases["case_id"], case_ids))
        geometry = self.annotations
        if geometry is not None:
            geometry = geometry.filter(pc.is_in(geometry["case_id"], case_ids))
        return replace(self, cases=keep, annotations=geometry)


@dataclass(frozen=True, eq=False)
class Outputs:
    """The models' outputs: one row of `outputs` per case, model and repeat (schema OUTPUTS).

    `predictions` (schema PREDICTIONS) holds scored labels, with geometries in detection; a case without rows there has
    no predictions. `left_out` counts wrong rows of the upload that the user chose to leave out. `files` is the folder
    of the files that `artifacts` names. `targets` describes models that Assay itself asked, by name. `changes` records,
    in order, what was changed after reading (metrics.ingest.lint): model, change, number of predictions, text.
    `receipt` says what became of each part of the files; of one file with cases and outputs the suite has it.
    """

    outputs: pa.Table
    predictions: pa.Table | None = None
    left_out: int = 0
    files: Path | None = None
    targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    changes: tuple[Mapping[str, Any], ...] = ()
    receipt: Receipt = ()

    @classmethod
    def from_rows(
        cls, outputs: Iterable[Mapping[str, Any]], predictions: Iterable[Mapping[str, Any]] | None = None
    ) -> "Outputs":
        """Return outputs from plain records with the columns of OUTPUTS and PREDICTIONS; `run` defaults to 1."""
        table = rows_table(({"run": 1, **row} for row in outputs), OUTPUTS)
        scored = None
        if predictions is not None:
            numbered = ({"run": 1, "prediction_id": index, **row} for index, row in enumerate(predictions))
            scored = rows_table(numbered, PREDICTIONS)
        return cls(table, scored)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of outputs and predictions."""
        tables = [self.outputs] if self.predictions is None else [self.outputs, self.predictions]
        return fingerprint(*map(identifying, tables))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models, in order of first appearance."""
        return tuple(self.outputs["model"].unique().to_pylist())

    def restricted(
        self, model: str | None = None, run: int | None = None, case_ids: pa.Array | None = None
    ) -> "Outputs":
        """Return only the rows of one model, one repeat and some cases, as far as given, in file order."""

        def keep(table: pa.Table) -> pa.Table:
            if model is not None:
                table = _filtered(table, pc.equal(table["model"], model))
            if run is not None:
                table = _filtered(table, pc.equal(table["run"], run))
            if case_ids is not None:
                table = _filtered(table, pc.is_in(table["case_id"], case_ids))
            return table

        predictions = None if self.predictions is None else keep(self.predictions)
        return replace(self, outputs=keep(self.outputs), predictions=predictions)


def rows_table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return a table of `schema` from plain records; other keys become `metadata.*` text columns."""
    records = list(rows)
    extra = list(dict.fromkeys(key for record in records for key in record if key not in schema.names))
    columns = {
        name: plain_column([record.get(name) for record in records], kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    }
    for key in extra:
        texts = [None if record.get(key) is None else str(record[key]) for record in records]
        columns[key if key.startswith(METADATA) else METADATA + key] = plain_column(texts, pa.string())
    return pa.table(columns)


def question_lengths(cases: pa.Table) -> Ints:
    """Return the characters of each question [cases]; 0 where there is none."""
    return np.asarray(pc.fill_null(pc.utf8_length(cases["question"]), 0).to_numpy(), np.int64)


def complexity_of(cases: pa.Table) -> pa.Array:
    """Return the complexity of each case: its metadata `complexity`, or `medium` where it gives none."""
    if COMPLEXITY not in cases.column_names:
        return pa.array([MEDIUM] * len(cases), pa.string())
    given = cases[COMPLEXITY].combine_chunks()
    return pc.if_else(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(given), ""), True), MEDIUM, given)


def tags_of(cases: pa.Table) -> tuple[str, ...]:
    """Return every tag of a table of cases, the most frequent first, then by name."""
    flat = cases["tags"].combine_chunks().flatten().drop_null()
    counts = [(entry["counts"], entry["values"]) for entry in flat.value_counts().to_pylist()]
    return tuple(tag for _, tag in sorted(counts, key=lambda pair: (-pair[0], pair[1])))


def _filtered(table: pa.Table, keep: pa.ChunkedArray) -> pa.Table:
    """Return the rows to keep; where that is all of them, the table itself and no copy."""
    return table if pc.all(keep, skip_nulls=False, min_count=0).as_py() else table.filter(keep)


def case_column(cases: pa.Table, name: str) -> str | None:
    """Return the column of that name, or of that name in the metadata; None where there is none."""
    return next((column for column in (name, METADATA + name) if column in cases.column_names), None)


def _meets(cases: pa.Table, name: str, wanted: Any) -> Bools:
    if name == "search":
        ids = pc.match_substring(cases["case_id"], wanted, ignore_case=True)
        return _mask(ids) | _mask(pc.match_substring(cases["question"], wanted, ignore_case=True))
    if name == "length":
        least, most = wanted
        lengths = question_lengths(cases)
        return (lengths >= (least or 0)) & (lengths <= (np.inf if most is None else most))
    if name == "complexity":
        return _among(complexity_of(cases), wanted)
    column = cases["tags" if name == "tag" else cast(str, case_column(cases, name))]
    if not pa.types.is_list(column.type):
        return _among(column, wanted)
    lists = column.combine_chunks()
    if wanted is None:
        return _mask(pc.equal(pc.fill_null(pc.list_value_length(lists), 0), 0))
    found = np.zeros(len(cases), bool)
    found[pc.list_parent_indices(lists).to_numpy()[_among(pc.list_flatten(lists), wanted)]] = True
    return found


def _among(column: pa.Array | pa.ChunkedArray, wanted: Any) -> Bools:
    values = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    if pa.types.is_string(column.type):
        values = [None if value is None else str(value) for value in values]
    return _mask(pc.is_in(column, pa.array(values, column.type)))


def _mask(column: pa.Array | pa.ChunkedArray) -> Bools:
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), bool)


def with_source(suite: Suite, inputs: Collection[str]) -> Suite:
    """Return the suite with its questions as the source texts that `inputs` name, where no case has a source text.

    Valor's Datum.text, a question elsewhere, is the source of a summary. The suite itself where nothing changes.
    """
    cases = suite.cases
    unneeded = "source_text" not in inputs or cases["source_text"].null_count < len(cases)
    if unneeded or cases["question"].null_count == len(cases):
        return suite
    place = cases.column_names.index("source_text")
    return replace(suite, cases=cases.set_column(place, "source_text", cases["question"]))
