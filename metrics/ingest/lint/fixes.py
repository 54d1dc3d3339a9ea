"""The fixes: each turns the predictions of a model into what the file seems to mean, and is recorded in the outputs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.ingest.arrays import codes_of
from metrics.ingest.lint.box_checks import NORMALISED, PER_CENT, READINGS, sigmoid
from metrics.ingest.lint.class_checks import NUMBERINGS, renumbered
from metrics.ingest.lint.findings import Finding
from metrics.ingest.lint.scene import Boxes
from metrics.vision.geometry import BOX, whole


class Fix(NamedTuple):
    """A fix: what a button says, what the run records, and the change of a model's predictions."""

    title: str
    words: str
    apply: Callable[[pa.Table, Suite], pa.Table]


def _boxes_read_as(name: str, table: pa.Table, suite: Suite) -> pa.Table:
    boxes = Boxes.of(suite, table)
    converted = READINGS[name].convert(boxes.box, boxes.sizes)
    box = np.where(boxes.plain[:, None] & np.isfinite(converted).all(axis=1, keepdims=True), converted, boxes.box)
    for place, side in enumerate(BOX):
        table = _with(table, side, pa.array(box[:, place], from_pandas=True))
    area = pa.array(box[:, 2] * box[:, 3], from_pandas=True)
    return _with(table, "area", pc.if_else(pa.array(boxes.plain), area, whole(table["area"])))


def _scores(change: Callable[[Floats], Floats], table: pa.Table, _: Suite) -> pa.Table:
    score = whole(table["score"]).to_numpy(zero_copy_only=False)
    return _with(table, "score", pa.array(change(score), from_pandas=True))


def _softmax(table: pa.Table, _: Suite) -> pa.Table:
    """Return the scores as probabilities of the classes of each case and run."""
    score = whole(table["score"]).to_numpy(zero_copy_only=False)
    numbers = np.stack([codes_of(table["case_id"])[0], np.asarray(table["run"])], axis=1)
    case = np.unique(numbers, axis=0, return_inverse=True)[1].ravel()
    most = np.full(case.max() + 1, -np.inf)
    np.fmax.at(most, case, score)
    raised = np.exp(score - most[case])
    total = np.bincount(case, np.nan_to_num(raised))
    return _with(table, "score", pa.array(raised / total[case], from_pandas=True))


def _labels(name: str, table: pa.Table, suite: Suite) -> pa.Table:
    return _with(table, "label", renumbered(name, table["label"], suite))


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


# In the order in which they are applied: what boxes mean is asked of pixels, what classes mean of boxes that fit.
FIXES: Mapping[str, Fix] = MappingProxyType(
    {
        **{
            name: Fix(
                f"Convert from {reading.words}" if name != NORMALISED else "Scale to pixels",
                f"boxes converted from {reading.words} to x y width height"
                if name != NORMALISED
                else "boxes scaled from shares of the image to pixels",
                partial(_boxes_read_as, name),
            )
            for name, reading in READINGS.items()
        },
        "percent": Fix(
            "Divide the scores by 100", "scores divided by 100", partial(_scores, lambda score: score / PER_CENT)
        ),
        "sigmoid": Fix(
            "Turn the scores into 0 … 1", "scores turned from logits into 0 … 1 by the sigmoid",
            partial(_scores, sigmoid),
        ),
        "softmax": Fix(
            "Turn the scores into probabilities",
            "scores turned from logits into probabilities of the classes of a case by the softmax", _softmax,
        ),
        **{
            name: Fix("Renumber the classes", f"classes renumbered: their numbers were {words}", partial(_labels, name))
            for name, (words, _) in NUMBERINGS.items()
        },
    }
)  # fmt: skip


def fix(suite: Suite, outputs: Outputs, wanted: Iterable[Finding | tuple[str, str]]) -> Outputs:
    """Return the outputs with fixes applied, each recorded in `changes`.

    `wanted` are findings, of which those without a fix are passed over, or pairs of a model and a name in FIXES. The
    fixes of one model are applied in the order of FIXES. InputError listing unknown models and fixes.
    """
    pairs = [(one.model, one.fix) if isinstance(one, Finding) else one for one in wanted]
    asked = {(model, name) for model, name in pairs if model is not None and name is not None}
    problems = [InputProblem("fix", repr(name), "one of " + ", ".join(FIXES)) for _, name in asked if name not in FIXES]
    problems += [
        InputProblem("fix", repr(model), "one of the models " + ", ".join(outputs.models))
        for model in {model for model, _ in asked}
        if model not in outputs.models
    ]
    if problems:
        raise InputError(problems)
    for name in FIXES:
        for model in outputs.models:
            if (model, name) in asked:
                outputs = _fixed(suite, outputs, model, name)
    return outputs


def of_model(outputs: Outputs, model: str) -> tuple[pa.Table, Bools]:
    """Return the predictions of a model, and which rows of all predictions they are."""
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    mine: Bools = np.asarray(pc.equal(table["model"], model).combine_chunks(), np.bool_)
    return table.filter(pa.array(mine)), mine


def changed(outputs: Outputs, model: str, change: str, text: str, count: int, predictions: pa.Table) -> Outputs:
    """Return the outputs with other predictions and the record of what was changed."""
    record: Mapping[str, Any] = {"model": model, "change": change, "predictions": count, "text": text}
    return replace(outputs, predictions=predictions, changes=(*outputs.changes, record))


def _fixed(suite: Suite, outputs: Outputs, model: str, name: str) -> Outputs:
    table, mine = of_model(outputs, model)
    if not len(table):
        return outputs
    done = FIXES[name].apply(table, suite)
    place = np.arange(len(mine))  # rows of other models stay where they are: the order in an image decides ties
    place[mine] = len(mine) + np.arange(len(done))
    both = pa.concat_tables([outputs.predictions, done.cast(outputs.predictions.schema)])  # type: ignore[union-attr]
    return changed(outputs, model, name, FIXES[name].words, len(table), both.take(pa.array(place)))
