"""True and predicted values as lists and arrays: y_true and y_pred of a script as a suite and outputs."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.classes import numeric_labels, positive_class
from metrics.core.suite import CASES, Outputs, Suite, Task, conform
from metrics.ingest.output_parts import Part, outputs_of
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables.number_targets import MANY

Kind = Literal["texts", "whole numbers", "numbers", "lists", "columns"]  # columns: of numbers, one for each class
ClassNames = Sequence[Any] | Mapping[Any, Any]
TRUTH, PREDICTION, CASE_ROWS = "y_true", "y_pred", "the cases of the suite"
CHOOSE = "task='classification' for classes or task='regression' for numbers"
ORDER = "the same index in both, or .to_numpy() of both for the order of rows"


@dataclass(frozen=True, eq=False)
class Vector:
    """Values in order: [n], or [n, classes] with the `names` of the columns where they have some.

    `ids` are the texts of a pandas index that names rows, None of one that only counts them; `indexed`: it has either.
    """

    values: NDArray[Any]
    ids: tuple[str, ...] | None = None
    indexed: bool = False
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def kind(self) -> Kind | None:
        """What the values are, missing ones aside; None where they are of several kinds, or all are missing."""
        if self.values.ndim == 2:
            return "columns"
        if self.values.dtype != object:
            whole = self.values[~self.missing] % 1 == 0 if self.values.dtype.kind == "f" else np.ones(1, bool)
            return None if self.missing.all() else "whole numbers" if whole.all() else "numbers"
        kinds = {_kind_of(value) for value in self.values[~self.missing].tolist()}
        if kinds == {"whole numbers", "numbers"}:
            return "numbers"
        return kinds.pop() if len(kinds) == 1 else None

    @cached_property
    def missing(self) -> Bools:
        """Where there is no value."""
        if self.values.dtype == object:
            return np.fromiter(map(_is_missing, self.values), bool, len(self))
        empty = ~np.isfinite(self.values) if self.values.dtype.kind == "f" else np.zeros(self.values.shape, bool)
        return np.asarray(empty.any(axis=1) if empty.ndim == 2 else empty)

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers, NaN for missing ones."""
        return np.where(self.missing, np.nan, self.values).astype(np.float64)

    @cached_property
    def flags(self) -> bool:
        """Whether they are truth values."""
        return self.values.ndim == 1 and {type(value) for value in self.values[~self.missing].tolist()} == {bool}


class Read(NamedTuple):
    """The suite and outputs of vectors, and what was assumed."""

    suite: Suite
    outputs: Outputs
    notes: tuple[str, ...] = ()


def as_vector(given: Any) -> Vector | None:
    """Return a list, tuple, array, tensor, series, or frame of numbers as a vector; None for anything else."""
    if hasattr(given, "iloc"):
        return _of_pandas(given)
    if hasattr(given, "detach"):  # a tensor of torch
        given = given.detach().cpu().numpy()
    elif hasattr(given, "to_numpy") and not hasattr(given, "columns"):  # a series of polars, an array of Arrow
        given = given.to_numpy() if hasattr(given, "dtype") else np.array(given.to_pylist(), object)
    elif not isinstance(given, list | tuple | np.ndarray) and hasattr(given, "__array__") and hasattr(given, "shape"):
        given = np.asarray(given)
    if isinstance(given, np.ndarray):
        return Vector(_plain(given)) if given.ndim in (1, 2) else None
    if not isinstance(given, list | tuple) or any(isinstance(own, Mapping) or hasattr(own, "columns") for own in given):
        return None
    rows = [np.asarray(value) for value in given if isinstance(value, list | tuple | np.ndarray)]
    numeric = all(row.ndim == 1 and row.dtype.kind in "biuf" for row in rows)
    if len(rows) == len(given) and numeric and len({len(row) for row in rows}) == 1 and _are_columns(rows):
        return Vector(_plain(np.stack(rows)))
    return Vector(_objects(given)) if given else None


def _are_columns(rows: Sequence[NDArray[Any]]) -> bool:
    """Return whether lists of numbers of one length are rows of 0 and 1 or of scores, and not lists of classes."""
    return any(row.dtype.kind == "f" for row in rows) or all(np.isin(row, (0, 1)).all() for row in rows)


def _of_pandas(given: Any) -> Vector | None:
    index = given.index
    numbered = type(index).__name__ == "RangeIndex" or index.nlevels > 1 or not index.is_unique
    ids = None if numbered else tuple(map(str, index))
    if given.ndim == 1:
        return Vector(_plain(given.to_numpy()), ids, True)
    if not all(getattr(kind, "kind", "") in ("b", "i", "u", "f") for kind in given.dtypes):
        return None
    if given.shape[1] == 1:
        return Vector(_plain(given.to_numpy()), ids, True)
    return Vector(given.to_numpy(np.float64), ids, True, tuple(map(str, given.columns)))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are, anything else as Python's own values."""
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    return values if values.ndim == 2 or values.dtype.kind in "biuf" else _objects(values.tolist())


def _objects(values: Iterable[Any]) -> NDArray[Any]:
    listed = [value.item() if getattr(value, "ndim", None) == 0 else value for value in values]  # numpy's, tensors
    found = np.empty(len(listed), object)
    for place, value in enumerate(listed):
        found[place] = value.tolist() if isinstance(value, np.ndarray) else value
    return found


def _kind_of(value: Any) -> Kind | None:
    if isinstance(value, str):
        return "texts"
    if isinstance(value, list | tuple | AbstractSet):
        return "lists"
    if isinstance(value, int):
        return "whole numbers"
    if isinstance(value, float):
        return "whole numbers" if value.is_integer() else "numbers"
    return None


def _is_missing(value: Any) -> bool:
    none = value is None or type(value).__name__ in ("NAType", "NaTType")
    return none or (isinstance(value, float) and not np.isfinite(value))


def read_vectors(
    truth: Vector,
    models: Mapping[str, Vector],
    task: Task | None = None,
    classes: ClassNames | None = None,
    keep_good_rows: bool = False,
) -> Read:
    """Return true values and those that models predicted as a suite and outputs, a case for each place.

    Texts, truth values and few whole numbers are classes, numbers with fractions are numbers to predict, and texts that
    the predictions hardly ever repeat are expected answers; `task` decides otherwise. A class may be predicted, or have
    a column of scores, in the order of `classes` (default: sorted, as in scikit-learn); of two classes the second may
    have the only scores. A case may have a list of classes, or a row of 0 and 1. `classes` may also name the classes
    that the values number.

    Values are matched by place, or by the pandas indexes of both where these name rows. InputError lists every length
    that differs, every missing value, and values of several kinds.
    """
    problems = Problems(keep_good_rows)
    _sheet(TRUTH, truth, problems)
    files = {name: PREDICTION if len(models) == 1 else name for name in models}
    sheets = {name: _sheet(files[name], own, problems) for name, own in models.items()}
    models = {name: _in_order(files[name], own, truth, TRUTH, problems) for name, own in models.items()}
    ids = pa.array(truth.ids or map(str, range(1, len(truth) + 1)), pa.string())
    asked = task or (None if classes is None else "classification")
    task, notes = _decided_task(truth, models, asked, problems)
    reader = _Reader(task, problems)
    if not problems.fatal:
        suite = reader.suite(truth, ids, models, classes)
        parts = [reader.part(name, own, suite, sheets[name]) for name, own in models.items()]
    problems.check()
    outputs = outputs_of(parts, suite, problems).value
    if truth.missing.any():
        good = ids.filter(pa.array(~truth.missing))
        suite = replace(suite.restricted(good), left_out=int(truth.missing.sum()))
        outputs = outputs.restricted(case_ids=good)
    return Read(suite, outputs, notes)


def vector_part(given: Any, model: str, suite: Suite, problems: Problems) -> Part | None:
    """Return the answers of a model in a list, array or series, in the order of the suite's cases; None for others.

    A series whose index has the ids of all cases is joined by it.
    """
    vector = as_vector(given)
    if vector is None or suite.task in ("detection", "segmentation"):
        return None
    ids = tuple(suite.cases["case_id"].to_pylist())
    own = _in_order(model, vector, Vector(np.array(ids, object), ids), CASE_ROWS, problems)
    sheet = _sheet(model, own, problems)
    problems.stop()
    return _Reader(suite.task, problems).part(model, own, suite, sheet)


def _sheet(name: str, own: Vector, problems: Problems) -> Sheet:
    """Return the sheet that stands for a vector in messages; its missing values are problems."""
    rows = np.arange(1, len(own) + 1)
    sheet = Sheet(name, pa.table({"place": pa.array(map(str, rows.tolist()), pa.string())}), rows, problems)
    sheet.report(own.missing, None, "no value", "a value in each place")
    return sheet


def _in_order(name: str, own: Vector, truth: Vector, whose: str, problems: Problems) -> Vector:
    """Return values in the order of the cases; a length or an index that does not fit is a problem."""
    if len(own) != len(truth):
        problems.add(name, f"{len(own):,} values", f"{len(truth):,}, as many as {whose}", fatal=True)
        return own
    if own.ids is None or truth.ids is None:
        numbers, given = set(map(str, range(len(truth)))), own.ids or truth.ids
        if own.indexed and truth.indexed and given and set(given) == numbers:
            problems.add(name, f"the rows of {whose} in another order, by its index", ORDER, fatal=True)
        return own
    places = {id: place for place, id in enumerate(own.ids)}
    unknown = [id for id in truth.ids if id not in places]
    if not unknown:
        return replace(own, values=own.values[[places[id] for id in truth.ids]], ids=truth.ids)
    if truth.indexed:
        found = f"an index without {len(unknown):,} of the {len(truth):,} ids of {whose}, such as {unknown[0]!r}"
        problems.add(name, found, ORDER, fatal=True)
    return own


def _decided_task(
    truth: Vector, models: Mapping[str, Vector], task: Task | None, problems: Problems
) -> tuple[Task, tuple[str, ...]]:
    """Return the task that the values show, and what was assumed for it."""
    for name, own in {TRUTH: truth, **models}.items():
        if own.kind is None:
            types = dict.fromkeys(type(value).__name__ for value in own.values[~own.missing].tolist())
            found = f"values of several kinds: {', '.join(types)}" if types else "no value at all"
            problems.add(name, found, "values of one kind: texts, numbers, or lists of classes", fatal=True)
    kinds = {own.kind for own in models.values()}
    if task is not None or problems.fatal or truth.kind in ("lists", "columns"):
        return task or "classification", ()
    if truth.kind == "numbers":
        return "regression", ()
    distinct = set(truth.values[~truth.missing].tolist())
    if truth.kind == "texts":
        again = [value in distinct for own in models.values() if own.kind == "texts" for value in own.values.tolist()]
        sentences = 1 < len(distinct) == len(truth) and any(" " in value for value in distinct)  # none comes again
        if 2 * sum(again) >= len(again) and not sentences:
            return "classification", ()
        return "text", (
            f"{TRUTH} and {PREDICTION} were read as expected answers and answers (task='classification' for classes)",
        )
    if "numbers" in kinds and kinds <= {"numbers", "whole numbers"}:
        if len(distinct) != 2:
            return "regression", ()
        low, high = sorted(distinct)
        note = f"the predictions were read as scores of class {high:g} against {low:g} (task='regression' for numbers)"
        return "classification", () if high == 1 else (note,)  # 0 or -1 against 1 are no ratings
    if kinds != {"whole numbers"} or len(distinct) <= 2:
        return "classification", ()
    if len(distinct) > MANY:
        found = f"{len(distinct):,} different whole numbers, which may be classes or numbers to predict"
        problems.add(TRUTH, found, CHOOSE, fatal=True)
    return "classification", (f"{TRUTH} was read as {len(distinct)} classes (task='regression' for numbers)",)


class _Reader:
    """What makes the tables of a suite and of outputs from vectors; what does not fit the task is a problem."""

    def __init__(self, task: Task, problems: Problems):
        self.task, self.problems = task, problems
        self.names: dict[str, str] = {}  # of classes, by what the values call them
        self.as_flags = False  # 0 and 1 beside truth values

    def suite(self, truth: Vector, ids: pa.Array, models: Mapping[str, Vector], classes: ClassNames | None) -> Suite:
        """Return the suite of true values."""
        columns: dict[str, Any] = {"case_id": ids}
        labels: tuple[str, ...] = ()
        if self.task == "regression":
            columns["true_value"] = self._numbers(TRUTH, truth)
        elif self.task == "text":
            columns["expected_answers"] = [[str(value)] for value in truth.values.tolist()]
        elif self.task == "classification":
            self.as_flags = truth.flags or any(own.flags for own in models.values())
            lists = self._lists(truth)
            labels = self._name_classes({label for own in lists for label in own}, classes, truth, models)
            lists = [[self.names.get(label, label) for label in own] for own in lists]
            several = truth.kind == "lists" or any(len(own) != 1 for own in lists if truth.kind == "columns")
            columns |= {"labels": lists} if several else {"label": [own[0] if own else None for own in lists]}
        else:
            self.problems.add(TRUTH, f"values for the task {self.task}", CHOOSE, fatal=True)
        kinds = {name: CASES.field(name).type for name in columns}
        table = pa.table({name: pa.array(own, kinds[name]) for name, own in columns.items()})
        return Suite("suite", self.task, conform(table, CASES), None, labels)

    def part(self, model: str, own: Vector, suite: Suite, sheet: Sheet) -> Part:
        """Return the outputs of a model."""
        ids, count = suite.cases["case_id"], len(suite)
        keys = {"case_id": ids, "model": [model] * count, "run": pa.array(np.ones(count, np.int32))}
        if self.task == "regression":
            return Part(sheet, pa.table(keys | {"predicted_value": self._numbers(sheet.file, own)}))
        if self.task != "classification":
            texts = [None if gone else str(value) for value, gone in zip(own.values.tolist(), own.missing, strict=True)]
            return Part(sheet, pa.table(keys | {"answer": pa.array(texts, pa.string())}))
        several = suite.cases["labels"].null_count < count
        found, rows = self._scored(sheet.file, own, suite.labels, several) or self._predicted(own)
        return Part(sheet, pa.table(keys), found, rows)

    def _numbers(self, name: str, own: Vector) -> pa.Array:
        if own.kind not in ("numbers", "whole numbers", None):
            self.problems.add(name, str(own.kind), "numbers, as the task is regression", fatal=True)
            return pa.nulls(len(own), pa.float64())
        return pa.array(own.numbers, from_pandas=True)

    def _lists(self, own: Vector) -> list[list[str]]:
        """Return the classes of each place, as the values call them; none where a value is missing."""
        if own.values.ndim == 2:
            names = own.names or tuple(map(str, range(own.values.shape[1])))
            return [[names[place] for place in np.flatnonzero(row).tolist()] for row in own.values]
        texts: dict[Any, str] = {}
        found: list[list[str]] = []
        for value, gone in zip(own.values.tolist(), own.missing.tolist(), strict=True):
            several = sorted(value, key=str) if isinstance(value, AbstractSet) else value
            given = () if gone else several if isinstance(several, list | tuple) else (several,)
            found.append([texts.get(label) or texts.setdefault(label, self._text(label)) for label in given])
        return found

    def _text(self, value: Any) -> str:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool) or (self.as_flags and value in (0, 1)):
            return str(bool(value))
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    def _name_classes(
        self, seen: set[str], classes: ClassNames | None, truth: Vector, models: Mapping[str, Vector]
    ) -> tuple[str, ...]:
        """Return the classes in their order, after taking down what the values call them."""
        if classes is None:
            named = next((own.names for own in models.values() if seen <= set(own.names)), ())
            wide = tuple(map(str, range(truth.values.shape[1]))) if truth.values.ndim == 2 else ()
            labels = named or truth.names or wide or sorted(seen)
            return tuple(sorted(labels, key=float) if not named and numeric_labels(labels) else labels)
        if isinstance(classes, Mapping):
            self.names = {self._text(number): str(name) for number, name in classes.items()}
        else:
            texts = [self._text(name) for name in classes]
            numbers = [str(place) for place in range(len(texts))]
            called = texts if seen <= {*texts} and truth.values.ndim == 1 else numbers
            self.names = dict(zip(called, texts, strict=True))
        if unknown := sorted(seen - self.names.keys()):
            more = f", and {len(unknown) - 1} more" * (len(unknown) > 1)
            found = f"the class {unknown[0]}{more}, not in classes={list(self.names.values())}"
            self.problems.add(TRUTH, found, "every class in it", fatal=True)
        return tuple(self.names.values())

    def _predicted(self, own: Vector) -> tuple[pa.Table, Ints]:
        lists = self._lists(own)
        rows = np.repeat(np.arange(len(lists)), [len(labels) for labels in lists])
        labels = [self.names.get(label, label) for labels in lists for label in labels]
        return pa.table({"label": pa.array(labels, pa.string()), "score": pa.nulls(len(rows), pa.float64())}), rows

    def _scored(self, model: str, own: Vector, labels: tuple[str, ...], several: bool) -> tuple[pa.Table, Ints] | None:
        """Return the scores of classes; None where the values are classes themselves."""
        scores = own.values
        if own.kind == "numbers" or (
            own.kind == "whole numbers" and not {*map(self._text, scores.tolist())} & {*self.names, *labels}
        ):
            order = self._two(model, labels)
            numbers = own.numbers
            shares = bool(((numbers >= 0) & (numbers <= 1) | own.missing).all())
            scores = np.stack([(1 if shares else 0) - numbers, numbers], axis=1)
        elif own.kind != "columns" or (several and np.isin(scores, (0, 1)).all()):
            return None
        else:
            order = tuple(self.names.get(name, name) for name in own.names) if {*labels} <= {*own.names} else labels
        if scores.shape[1] != len(order):
            found = f"{scores.shape[1]} columns of scores"
            expected = f"one for each of the {len(labels)} classes ({', '.join(labels[:5])}); classes=[…] names columns"
            self.problems.add(model, found, expected, fatal=True)
            return None
        rows, places = np.nonzero(np.isfinite(scores))
        named = pa.array(order, pa.string()).take(pa.array(places))
        return pa.table({"label": named, "score": pa.array(np.asarray(scores[rows, places], np.float64))}), rows

    def _two(self, model: str, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return two classes, last the one that single scores are of."""
        high = labels[-1] if self.names and len(labels) == 2 else positive_class(labels)
        if len(labels) == 2 and high is not None:
            return tuple(sorted(labels, key=lambda label: label == high))
        if len(labels) == 2:
            expected = f"classes={list(labels)}, of which the scores are of the second"
            found = f"scores, but not of which class: {labels[0]} or {labels[1]}"
            self.problems.add(model, found, expected, fatal=True)
        return labels
