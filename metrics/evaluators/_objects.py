"""Ground truths and predictions as tables: labels, images, what is wrong, and the confusion matrix with its margins."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Int32s, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import ANNOTATIONS, PREDICTIONS, Outputs, Suite
from metrics.vision.geometry import faults, whole

FILES = ("cases", "annotations", "predictions")


def object_tables(suite: Suite, outputs: Outputs) -> tuple[pa.Table, pa.Table]:
    """Return the ground truths and the predictions."""
    truths = ANNOTATIONS.empty_table() if suite.annotations is None else suite.annotations
    return truths, PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions


def object_labels(suite: Suite, outputs: Outputs) -> tuple[str, ...]:
    """Return the labels of a suite in its order, then the others that objects have."""
    named = [chunk for table in object_tables(suite, outputs) for chunk in table["label"].chunks]
    given = pc.unique(pa.chunked_array(named, pa.string())).drop_null().to_pylist()
    return (*suite.labels, *sorted(set(given) - set(suite.labels)))


def codes_of(values: pa.ChunkedArray, names: pa.Array) -> Int32s:
    """Return the place of each value in `names`; −1 for none."""
    places = pc.index_in(whole(values), value_set=names)
    codes: Int32s = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes


def reference_problems(file: str, table: pa.Table, image: Int32s) -> list[InputProblem]:
    """Return the objects without a label or, as `image` < 0 says, without a case of the suite."""
    unlabelled = table["label"].is_null().to_numpy()
    return [
        *faults(file, "case_id", table["case_id"], image < 0, "a case of the suite"),
        *faults(file, "label", table["label"], unlabelled, "a label"),
    ]


def refuse(problems: Iterable[InputProblem]) -> None:
    """Raise InputError listing the problems by file, if there are any."""
    if listed := sorted(problems, key=lambda problem: FILES.index(problem.file)):
        raise InputError(listed)


CURVES = pa.schema([("label", pa.string()), ("predicted", pa.string()), ("count", pa.int64())])
MARGINS = ("background", "missed")  # truth of a prediction without an object; prediction of a missed object


def confusion_names(labels: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Return the names of the truths and of the predictions: the labels, at the end the margin."""
    truths, predicted = (pa.array([*labels, margin(name, labels)], pa.string()) for name in MARGINS)
    return truths, predicted


def confusion_table(counts: Ints, labels: Sequence[str]) -> pa.Table:
    """Return the cells that hold something, of counts [K + 1, K + 1], truth down: label, predicted, count."""
    truths, predicted = confusion_names(labels)
    down, across = counts.nonzero()
    return pa.table([truths.take(pa.array(down)), predicted.take(pa.array(across)), counts[down, across]], CURVES)


def margin(name: str, labels: Sequence[str]) -> str:
    """Return the name of a margin of the matrix: in parentheses where a label has it."""
    while name in labels:
        name = f"({name})"
    return name
