"""Arrays, dictionaries of models, torchvision's and COCO's objects of a script, as what the readers take."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from metrics.core.classes import class_key
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.suite import Suite, Task
from metrics.ingest.formats.coco import is_ground_truth
from metrics.ingest.formats.torchvision import are_detections, as_results, by_image, read_detections
from metrics.ingest.joined_sheets import join_sheets
from metrics.ingest.source import Problems
from metrics.ingest.tables.native_types import frame_sheet
from metrics.ingest.vectors import PREDICTION, TRUTH, ClassNames, Vector, as_vector, read_vectors

MODEL = "model"  # the name of one that has none
FILE = re.compile(r"\S+\.\w{2,8}|\S+://\S+")  # what names a file, or its URL


class Given(NamedTuple):
    """Suite and outputs as `metrics.library.input_data` takes them, settings for them, and what was assumed."""

    suite: Any
    outputs: Any
    models: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unknown_classes: tuple[str, ...] = ()


def recognize_values(
    suite: Any,
    outputs: Any,
    task: Task | None = None,
    classes: ClassNames | None = None,
    model: str = MODEL,
    keep_good_rows: bool = False,
) -> Given:
    """Return what `evaluate` was given as suite and outputs; files, frames and what is unknown stay as they are.

    `model` is the name of predictions without one. InputError lists everything that does not fit.
    """
    truth, outputs = _of_columns(_by_id(suite), _by_id(outputs))
    several = isinstance(outputs, Mapping)
    models = {str(name): _by_id(own) for name, own in outputs.items()} if several else {model: outputs}
    kinds = {_kind_of(own) for own in models.values()}
    match _kind_of(truth), kinds.pop() if len(kinds) == 1 else "":
        case "tables", "nothing":
            found = Given(_stacked(truth, task), None)
        case "files", "nothing":
            found = Given(truth[0], list(truth[1:]))
        case "texts" | "values", "nothing":
            raise InputError([InputProblem("evaluate", "one list of values", "two: evaluate(y_true, y_pred)")])
        case "COCO", "objects":
            found = Given(truth, {name: as_results(own, truth) for name, own in models.items()})
        case "objects", "objects":
            if not several and any("scores" in image for image in truth):  # predictions first, as torchmetrics has it
                truth, models = outputs, {model: truth}
            found = Given(*read_detections(truth, models, classes))
        case "texts" | "values" | "column", _ if outputs is not None and (vector := as_vector(truth)) is not None:
            found = _read_arrays(vector, models, task, classes, keep_good_rows)
        case _, "file" if several:
            found = Given(truth, [str(own) for own in models.values()], tuple(models))
        case _, given:
            found = Given(truth, models if several or given == "texts" else outputs)
    if classes is not None and (found.suite is suite or not isinstance(found.suite, Suite)):
        expected = f"arrays of {TRUTH} and {PREDICTION}, or torchvision's dictionaries"
        raise InputError([InputProblem("classes", "names of classes for a table", expected)])
    return found


def _read_arrays(
    truth: Vector, models: Mapping[str, Any], task: Task | None, classes: ClassNames | None, keep_good_rows: bool
) -> Given:
    """Return true values and the predictions of models as suite and outputs. InputError for what is no array."""
    vectors = {name: as_vector(own) for name, own in models.items()}
    found = {name: own for name, own in vectors.items() if own is not None}
    expected, wrong = f"a list, array or series, as {TRUTH} is one", sorted(vectors.keys() - found.keys())
    refuse(InputProblem(name, f"a {type(models[name]).__name__}", expected) for name in wrong)
    read = read_vectors(truth, found, task, classes, keep_good_rows)
    predicted = () if read.outputs.predictions is None else read.outputs.predictions["label"].unique().to_pylist()
    unknown = [label for label in predicted if label not in read.suite.labels]
    spelled_otherwise = {*map(class_key, unknown)} & {*map(class_key, read.suite.labels)}
    if not unknown or spelled_otherwise:  # another spelling is asked about
        return Given(read.suite, read.outputs, notes=read.notes)
    note = f"predictions of classes that {TRUTH} does not have count as false: {', '.join(unknown[:5])}"
    return Given(read.suite, read.outputs, (), (*read.notes, f"{note} (classes=[…] makes them classes)"), ("false",))


def _kind_of(given: Any) -> str:
    """Return which of `KINDS` it is; "" for none."""
    return next((kind for kind, fits in KINDS.items() if fits(given)), "")


def _by_id(given: Any) -> Any:
    """Return {id: value} as a series and {id: boxes} as a list that says them; anything else as it is."""
    scalars = isinstance(given, Mapping) and all(isinstance(own, str | bool | int | float) for own in given.values())
    if not scalars or not given or _are_files([*given.values()]):
        return by_image(_coco_document(given))
    import pandas as pd

    return pd.Series([*given.values()], index=[str(id) for id in given], dtype=object)


def _are_files(given: Any) -> bool:
    """Return whether it is a list of paths, or of texts that name files."""
    return _is_list_of(given, str | Path) and all(isinstance(own, Path) or FILE.fullmatch(own) for own in given)


def _is_list_of(given: Any, kind: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(own, kind) for own in given)


def _coco_document(given: Any) -> Any:
    """Return the document of an object of pycocotools: ground truth, or the results that loadRes has read."""
    if type(given).__name__ != "COCO" or not isinstance(getattr(given, "dataset", None), dict):
        return given
    annotations = given.dataset.get("annotations", [])
    return annotations if annotations and "score" in annotations[0] else given.dataset


def _of_columns(given: Any, outputs: Any) -> tuple[Any, Any]:
    """Return a dictionary of columns as true values and predictions, else as a frame. InputError for other lengths."""
    if not isinstance(given, Mapping) or _kind_of(given) in ("COCO", "tables"):
        return given, outputs
    if outputs is None and given.keys() == {TRUTH, PREDICTION}:
        return given[TRUTH], given[PREDICTION]
    lengths = {str(key): len(own) for key, own in given.items() if hasattr(own, "__len__") and not isinstance(own, str)}
    if len(lengths) < len(given) or not given:
        return given, outputs
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length:,} {name}" for name, length in lengths.items())
        raise InputError([InputProblem("evaluate", f"columns of different lengths: {found}", "a value for each row")])
    import pandas as pd

    return pd.DataFrame({name: list(own) for name, own in given.items()}), outputs


def _stacked(models: Mapping[str, Any], task: Task | None) -> pa.Table:
    """Return the tables of models, each with cases and answers, as one, joined as files of these are. InputError."""
    problems = Problems()
    sheets = [frame_sheet(own, str(name), problems) for name, own in models.items()]
    return join_sheets(sheets, [str(name) for name in models], problems, task).table


KINDS: dict[str, Callable[[Any], object]] = {  # of a suite, or of a model's outputs; the first that fits
    "nothing": lambda given: given is None,
    "file": lambda given: isinstance(given, str | Path),
    "files": _are_files,
    "COCO": is_ground_truth,
    "objects": are_detections,
    "tables": lambda given: isinstance(given, Mapping) and {*map(_kind_of, given.values())} == {"table"},
    "texts": lambda given: _is_list_of(given, str) or (hasattr(given, "iloc") and given.ndim == 1),
    "column": lambda given: hasattr(given, "iloc") and given.shape[1] == 1 and as_vector(given) is not None,
    "table": lambda given: _is_list_of(given, Mapping) or hasattr(given, "columns") or hasattr(given, "column_names"),
    "values": lambda given: as_vector(given) is not None,
}
