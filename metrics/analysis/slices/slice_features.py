"""What is known of each case, as columns to slice by: tags, metadata, lengths, counts, classes, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.analysis.slices.slice_conditions import METADATA, Condition
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.errors import InputError
from metrics.stats.float_tolerance import ratio
from metrics.stats.slice_search import Facet
from metrics.store import Run, cache_by_run

FEW_NUMBERS = 6  # distinct numbers that are bins of their own; more are cut into quarters
MOST_VALUES = 40  # of a category, the most frequent
FEWEST = 5  # cases of a value that is shown
PIXELS = 1e6  # a megapixel
IMAGE_NAME = f"{METADATA}image_name"  # differs in every case
TITLES = {
    "tag": "Tag", "class": "Class", "perturbation": "Perturbation", "topic": "Topic of the question",
    "holds": "Class in the image", "size": "Size of the object", "question_length": "Question length",
    "source_length": "Source length", "expected_length": "Expected answer length", "answer_length": "Answer length",
    "context_length": "Context length", "contexts": "Contexts", "reference_contexts": "Reference contexts",
    "expected_answers": "Expected answers", "image_size": "Image size", "area": "Object area",
    "objects": "Objects in the image",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Feature:
    """One way of slicing: disjoint bins by their conditions, and the sets of bins that are searched.

    `conditions` are of the bins, `sets` the conditions of the facet's sets; marks make a facet for each name.
    """

    name: str
    conditions: tuple[Condition, ...]
    facets: tuple[Facet, ...]
    sets: tuple[tuple[Condition, ...], ...]

    @property
    def title(self) -> str:
        """Return the title of the feature."""
        return title_of(self.name)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number per unit: NaN where there is none."""

    values: Floats

    @property
    def varies(self) -> bool:
        """Whether any two units differ."""
        present = self.values[~np.isnan(self.values)]
        return len(present) > 0 and bool(present.min() < present.max())

    def mask(self, condition: Condition) -> Bools:
        """Return the units that meet a condition."""
        low = -np.inf if condition.low is None else condition.low
        high = np.inf if condition.high is None else condition.high
        return (self.values > low) & (self.values <= high)

    def take(self, rows: Ints) -> Numbers:
        """Return the numbers of these rows."""
        return Numbers(self.values[rows])

    def feature(self, name: str) -> Feature | None:
        """Return the numbers cut into quarters, or into FEW_NUMBERS single ones; None where all are in one bin."""
        present = self.values[~np.isnan(self.values)]
        distinct = np.unique(present)
        if len(distinct) <= FEW_NUMBERS:
            edges = distinct[:-1]
        else:
            edges = np.unique(np.quantile(present, [0.25, 0.5, 0.75], method="lower"))
            edges = edges[edges < distinct[-1]]
        if not len(edges):
            return None
        bounds: list[float | None] = [None, *edges.tolist(), None]
        count = len(bounds) - 1
        spans = [(first, first + 1) for first in range(count)]
        spans += [(0, last) for last in range(2, count)] + [(first, count) for first in range(1, count - 1)]
        sets = np.array([[first <= code < last for code in range(count)] for first, last in spans])
        conditions = tuple(
            Condition(name, low=bounds[first], high=bounds[last], is_number=True) for first, last in spans
        )
        codes = np.where(np.isnan(self.values), -1, np.searchsorted(edges, self.values, side="left"))
        return Feature(name, conditions[:count], (Facet(codes, sets),), (conditions,))


@dataclass(frozen=True, eq=False)
class Categories:
    """A category per unit: codes [n] into `names`, −1 where there is none. `titles` say what a name stands for."""

    names: tuple[str, ...]
    codes: Ints
    titles: tuple[str, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether any two units differ."""
        return bool((self.codes != self.codes[:1]).any())

    def mask(self, condition: Condition) -> Bools:
        """Return the units that meet a condition."""
        place = -1 if condition.value is None else _place(self.names, condition.value)
        return np.asarray(self.codes == place)

    def take(self, rows: Ints) -> Categories:
        """Return the categories of these rows."""
        return Categories(self.names, self.codes[rows], self.titles)

    def feature(self, name: str) -> Feature | None:
        """Return the categories of FEWEST units or more, the most frequent first; None where there is one at most."""
        counts = np.bincount(self.codes + 1, minlength=len(self.names) + 1)
        shown = [code for code in np.argsort(-counts[1:], kind="stable")[:MOST_VALUES] if counts[code + 1] >= FEWEST]
        codes = [*shown, -1] if counts[0] >= FEWEST else shown
        if len(codes) < 2:
            return None
        titles = self.titles or (None,) * len(self.names)
        conditions = tuple(
            Condition(name) if code < 0 else Condition(name, self.names[code], title=titles[code]) for code in codes
        )
        places = np.full(len(self.names) + 1, -1)
        places[np.array(codes)] = np.arange(len(codes))
        return Feature(name, conditions, (Facet(places[self.codes], np.eye(len(codes), dtype=bool)),), (conditions,))


@dataclass(frozen=True, eq=False)
class Marks:
    """Any number of names per unit, as tags are: held [n, names]."""

    names: tuple[str, ...]
    held: Bools

    @property
    def varies(self) -> bool:
        """Whether any two units differ."""
        return bool((self.held != self.held[:1]).any())

    def mask(self, condition: Condition) -> Bools:
        """Return the units that meet a condition."""
        if condition.value is None:
            return np.asarray(~self.held.any(axis=1))
        place = _place(self.names, condition.value)
        return np.asarray(self.held[:, place]) if place >= 0 else np.zeros(len(self.held), bool)

    def take(self, rows: Ints) -> Marks:
        """Return the names of these rows."""
        return Marks(self.names, self.held[rows])

    def feature(self, name: str) -> Feature | None:
        """Return a bin for each name that at least FEWEST units have and as many lack; None where there is none."""
        n, counts = len(self.held), self.held.sum(axis=0)
        most = np.argsort(-counts, kind="stable")[:MOST_VALUES]
        shown = [code for code in most if FEWEST <= counts[code] <= n - FEWEST]
        conditions = tuple(Condition(name, self.names[code]) for code in shown)
        facets = tuple(Facet(self.held[:, code].astype(np.int64) - 1, np.ones((1, 1), bool)) for code in shown)
        return Feature(name, conditions, facets, tuple((one,) for one in conditions)) if shown else None


Known = Numbers | Categories | Marks


@cache_by_run(maxsize=16)
def known_of_cases(run: Run, model: str) -> Mapping[str, Known]:
    """Return what is known of the cases of a run by name; of outputs, those of one model, repeats averaged."""
    if model not in run.models:
        raise InputError(f"run {run.id} has no model {model!r}; it has {', '.join(run.models)}")
    return {**known_of_suite(run), **_varying(_of_outputs(run, model))}


@cache_by_run(maxsize=4)
def known_of_suite(run: Run) -> Mapping[str, Known]:
    """Return what the suite of a run says of its cases by name."""
    return _varying(_of_suite(run))


def _varying(found: Mapping[str, Known]) -> dict[str, Known]:
    return {name: known for name, known in found.items() if known.varies}


def _of_suite(run: Run) -> dict[str, Known]:
    size, path = run.spec.suite.cases, run.input_path("suite/cases.parquet")

    def column(name: str) -> pa.ChunkedArray:
        return run.case_columns([name])[name]  # read when it is needed: never all texts at once

    tags = column("tags").combine_chunks()
    found: dict[str, Known] = {"tag": _marks(tags.flatten(), pc.list_parent_indices(tags).to_numpy(), size)}
    named = (name for name in pq.read_schema(path).names if name.startswith(METADATA) and name != IMAGE_NAME)
    for name in ("label", "perturbation", *named):
        if (texts := column(name)).null_count < size:
            found["class" if name == "label" else name] = _read_values(texts, name.startswith(METADATA))
    found["question_length"] = Numbers(_float(pc.utf8_length(column("question"))))
    found["source_length"] = Numbers(_float(pc.utf8_length(column("source_text"))))
    expected = column("expected_answers")
    found["expected_length"] = Numbers(_length_of_list(expected, mean=True))
    found["expected_answers"] = Numbers(_float(pc.list_value_length(expected)))
    found["reference_contexts"] = Numbers(_float(pc.list_value_length(column("reference_contexts"))))
    found["image_size"] = Numbers(_float(column("image_width")) * _float(column("image_height")) / PIXELS)
    if run.stored_input("suite/annotations.parquet") is not None:
        annotations: Any = run.suite.annotations
        position = pc.index_in(annotations["case_id"], column("case_id").combine_chunks()).to_numpy()
        found["objects"] = Numbers(np.bincount(position, minlength=size).astype(np.float64))
        found["holds"] = _marks(annotations["label"].combine_chunks(), position, size)
    return found


def _of_outputs(run: Run, model: str) -> dict[str, Known]:
    pieces = run.needed("outputs/outputs.parquet").pieces(["case_id", "answer", "retrieved_contexts"], model)
    lengths = pa.concat_tables(map(_lengths, pieces))  # never all texts at once
    case_ids = run.case_columns(["case_id"])["case_id"].combine_chunks()
    position = pc.index_in(lengths["case_id"], case_ids).to_numpy()

    def of_cases(name: str) -> Numbers:
        values = _float(lengths[name])
        there = ~np.isnan(values)
        counts = np.bincount(position[there], minlength=len(case_ids))
        sums = np.bincount(position[there], values[there], len(case_ids))
        return Numbers(ratio(sums, counts))

    return {name: of_cases(name) for name in lengths.column_names if name != "case_id"}


def _lengths(outputs: pa.Table) -> pa.Table:
    """Return how long some outputs are, beside their case_id."""
    contexts = outputs["retrieved_contexts"]
    return pa.table(
        {
            "case_id": outputs["case_id"],
            "answer_length": _float(pc.utf8_length(outputs["answer"])),
            "contexts": _float(pc.list_value_length(contexts)),
            "context_length": _length_of_list(contexts, mean=False),
        }
    )


def features(known: Mapping[str, Known]) -> list[Feature]:
    """Return the known columns as ways of slicing; those with a single bin are left out."""
    return [feature for name, column in known.items() if (feature := column.feature(name)) is not None]


def title_of(name: str) -> str:
    """Return what a feature is called."""
    return TITLES.get(name) or name.removeprefix(METADATA)


def mask_of(known: Mapping[str, Known], where: Sequence[Condition]) -> Bools:
    """Return the units that meet every condition; InputError where a column is not known."""
    unknown = [one.feature for one in where if one.feature not in known]
    if unknown:
        raise InputError(f"the run has nothing to slice by as {unknown[0]!r}; it has {', '.join(known)}")
    wrong = [one for one in where if one.is_number != isinstance(known[one.feature], Numbers)]
    if wrong:
        kind = "a number" if isinstance(known[wrong[0].feature], Numbers) else "a category"
        raise InputError(f"{wrong[0].feature!r} is {kind}; the slice asks otherwise")
    return np.asarray(np.logical_and.reduce([known[one.feature].mask(one) for one in where]))


def titled(known: Mapping[str, Known], where: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions with the titles of what are only codes, such as topics."""
    found = []
    for one in where:
        column = known.get(one.feature)
        if isinstance(column, Categories) and column.titles and one.value in column.names:
            one = replace(one, title=column.titles[column.names.index(one.value)])
        found.append(one)
    return tuple(found)


def _read_values(column: pa.ChunkedArray, may_be_numbers: bool) -> Known:
    """Return texts as categories; where all of them are numbers, as those."""
    texts = column.combine_chunks()
    if may_be_numbers:
        try:
            return Numbers(_float(pc.cast(texts, pa.float64())))
        except pa.ArrowInvalid:
            pass
    coded = texts.dictionary_encode()
    return Categories(tuple(coded.dictionary.to_pylist()), coded.indices.fill_null(-1).to_numpy().astype(np.int64))


def _marks(words: pa.Array, position: Ints, size: int) -> Marks:
    """Return which of `size` units has which of the MOST_VALUES most frequent words, each at its position."""
    coded = words.dictionary_encode()
    code = coded.indices.fill_null(-1).to_numpy()
    counts = np.bincount(code[code >= 0], minlength=len(coded.dictionary))
    most = np.argsort(-counts, kind="stable")[:MOST_VALUES]
    column = np.full(len(counts) + 1, -1)
    column[most] = np.arange(len(most))
    column = column[code]
    held = np.zeros((size, len(most)), bool)
    held[position[column >= 0], column[column >= 0]] = True
    return Marks(tuple(str(name) for name in coded.dictionary.take(pa.array(most)).to_pylist()), held)


def _length_of_list(column: pa.ChunkedArray, mean: bool) -> Floats:
    """Return the characters of all the texts of each list, or of one on average; NaN for an empty or absent list."""
    lists = column.combine_chunks()
    lengths = _float(pc.utf8_length(lists.flatten()))
    parents = pc.list_parent_indices(lists).to_numpy()
    there = ~np.isnan(lengths)
    counts = np.bincount(parents[there], minlength=len(lists))
    sums = np.bincount(parents[there], lengths[there], len(lists))
    found = sums / np.maximum(counts, 1) if mean else sums
    return np.where(counts > 0, found, np.nan)


def _float(column: pa.ChunkedArray | pa.Array) -> Floats:
    """Return numbers as float64, NaN where there is none."""
    values = pc.cast(column, pa.float64())
    flat = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return np.asarray(flat.to_numpy(zero_copy_only=False))


def _place(names: Sequence[str], value: str) -> int:
    return names.index(value) if value in names else -2  # −1 is a value of its own: none given
