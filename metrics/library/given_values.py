"""Arrays, dictionaries of models, torchvision's and COCO's objects of a script, as what the readers take."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from metrics.core.classes import class_key
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Suite, Task
from metrics.ingest.formats.coco import is_ground_truth
from metrics.ingest.formats.torchvision import are_detections, as_results, by_image, read_detections
from metrics.ingest.tables.columns import fold, spellings
from metrics.ingest.tables.native_types import plain_frame
from metrics.ingest.vectors import PREDICTION, TRUTH, ClassNames, Vector, as_vector, read_vectors

MODEL = "model"  # the name of one that has none
FILE = re.compile(r"\S+\.\w{2,8}|\S+://\S+")  # what names a file, or its URL
NAMES_CASE = spellings("case_id", "question")


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
    given = _recognize(_by_id(suite), _by_id(outputs), task, classes, model, keep_good_rows)
    if classes is not None and (given.suite is suite or not isinstance(given.suite, Suite)):
        expected = f"arrays of {TRUTH} and {PREDICTION}, or torchvision's dictionaries"
        raise InputError([InputProblem("classes", "names of classes for a table", expected)])
    return given


def _recognize(
    suite: Any, outputs: Any, task: Task | None, classes: ClassNames | None, model: str, keep_good_rows: bool
) -> Given:
    """Return what `recognize_values` returns, whether or not the names of classes are of use."""
    if isinstance(suite, Mapping) and not is_ground_truth(suite):
        if outputs is None and suite and all(_is_table(own) for own in suite.values()):
            return Given(_stacked(suite), None)
        suite, outputs = _of_columns(suite, outputs)
    if outputs is None and isinstance(suite, list | tuple) and _are_files(suite):
        return Given(suite[0], list(suite[1:]))
    if outputs is None:
        if not isinstance(suite, str | Path | Suite) and not _is_table(suite) and as_vector(suite) is not None:
            raise InputError([InputProblem("evaluate", "one list of values", "two: evaluate(y_true, y_pred)")])
        return Given(suite, outputs)
    several = isinstance(outputs, Mapping)
    models = {str(name): _by_id(own) for name, own in outputs.items()} if several else {model: outputs}
    if is_ground_truth(suite) and all(are_detections(own) for own in models.values()):
        return Given(suite, {name: as_results(own, suite) for name, own in models.items()})
    if several and models and all(isinstance(own, str | Path) for own in models.values()):
        return Given(suite, [str(own) for own in models.values()], tuple(models))
    if are_detections(suite) and all(are_detections(own) for own in models.values()):
        if len(models) == 1 and any("scores" in image for image in suite):  # predictions first, as torchmetrics has it
            suite, models = models[model], {model: suite}
        return Given(*read_detections(suite, models, classes))
    column = hasattr(suite, "iloc") and suite.shape[1:] == (1,) and as_vector(suite) is not None  # of numbers alone
    if isinstance(suite, str | Path | Suite) or (_is_table(suite) and not column) or is_ground_truth(suite):
        texts = isinstance(outputs, list | tuple) and outputs and all(isinstance(own, str) for own in outputs)
        if texts and not _are_files(outputs):
            return Given(suite, models)
        return Given(suite, models if several or (hasattr(outputs, "iloc") and outputs.ndim == 1) else outputs)
    truth = as_vector(suite)
    return Given(suite, outputs) if truth is None else _read_arrays(truth, models, task, classes, keep_good_rows)


def _read_arrays(
    truth: Vector, models: Mapping[str, Any], task: Task | None, classes: ClassNames | None, keep_good_rows: bool
) -> Given:
    """Return true values and the predictions of models as suite and outputs. InputError for what is no array."""
    vectors = {name: as_vector(own) for name, own in models.items()}
    found = {name: own for name, own in vectors.items() if own is not None}
    if len(found) < len(vectors):
        expected = f"a list, array or series, as {TRUTH} is one"
        wrong = {name: models[name] for name in vectors if name not in found}
        raise InputError(InputProblem(name, f"a {type(own).__name__}", expected) for name, own in wrong.items())
    read = read_vectors(truth, found, task, classes, keep_good_rows)
    predicted = () if read.outputs.predictions is None else read.outputs.predictions["label"].unique().to_pylist()
    unknown = [label for label in predicted if label not in read.suite.labels]
    spelled_otherwise = {*map(class_key, unknown)} & {*map(class_key, read.suite.labels)}
    if not unknown or spelled_otherwise:  # another spelling is asked about
        return Given(read.suite, read.outputs, notes=read.notes)
    note = f"predictions of classes that {TRUTH} does not have count as false: {', '.join(unknown[:5])}"
    return Given(read.suite, read.outputs, (), (*read.notes, f"{note} (classes=[…] makes them classes)"), ("false",))


def _by_id(given: Any) -> Any:
    """Return {id: value} as a series and {id: boxes} as a list that says them; anything else as it is."""
    scalars = isinstance(given, Mapping) and all(isinstance(own, str | bool | int | float) for own in given.values())
    if not scalars or not given or _are_files([*given.values()]):
        return by_image(_coco_document(given))
    import pandas as pd

    return pd.Series([*given.values()], index=[str(id) for id in given], dtype=object)


def _are_files(given: Sequence[Any]) -> bool:
    """Return whether all are paths, or texts that name files."""
    return bool(given) and all(isinstance(own, Path) or (isinstance(own, str) and FILE.fullmatch(own)) for own in given)


def _coco_document(given: Any) -> Any:
    """Return the document of an object of pycocotools: ground truth, or the results that loadRes has read."""
    if type(given).__name__ != "COCO" or not isinstance(getattr(given, "dataset", None), dict):
        return given
    annotations = given.dataset.get("annotations", [])
    return annotations if annotations and "score" in annotations[0] else given.dataset


def _is_table(given: Any) -> bool:
    """Return whether it is a frame, a table or a list of records."""
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(own, Mapping) for own in given)
    return hasattr(given, "columns") or hasattr(given, "column_names")


def _of_columns(given: Mapping[str, Any], outputs: Any) -> tuple[Any, Any]:
    """Return a dictionary of columns as true values and predictions, else as a frame. InputError for other lengths."""
    if outputs is None and given.keys() == {TRUTH, PREDICTION}:
        return given[TRUTH], given[PREDICTION]
    lengths = {
        str(name): len(own) for name, own in given.items() if hasattr(own, "__len__") and not isinstance(own, str)
    }
    if len(lengths) < len(given) or not given:
        return given, outputs
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length:,} {name}" for name, length in lengths.items())
        raise InputError([InputProblem("evaluate", f"columns of different lengths: {found}", "a value for each row")])
    import pandas as pd

    return pd.DataFrame({name: list(own) for name, own in given.items()}), outputs


def _stacked(models: Mapping[str, Any]) -> Any:
    """Return the tables of models, each with cases and answers, as one; rows without ids are matched by place."""
    import pandas as pd

    plain = {str(name): plain_frame(own, str(name)) for name, own in models.items()}
    frames = {name: own.to_pandas() if isinstance(own, pa.Table) else own for name, own in plain.items()}
    named = any({fold(str(column)) for column in own.columns} & NAMES_CASE for own in frames.values())
    for name, own in frames.items():
        frames[name] = own.assign(model=name, **({} if named else {"case_id": range(1, len(own) + 1)}))
    return pd.concat(frames.values(), ignore_index=True)
