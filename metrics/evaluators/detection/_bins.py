"""Bins of objects by their area, or by a column of annotations or of images."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.evaluators._object_tables import object_tables
from metrics.evaluators.detection._matched import NO_SIZES, Scene
from metrics.vision.geometry import whole

AREA = "area"
MOST_BINS = 50
UNKNOWN = "neither the annotations nor the images have a column {}"
TOO_MANY = "the column {} has {:,} values, more than {}: give the edges of bins"
NO_VALUES = "the column {} has no value to bin by"


@dataclass(frozen=True, eq=False, slots=True)
class Bins:
    """A named bins: which ground truths [A, G] and predictions [A, N] lie in each, and why there are none."""

    names: tuple[str, ...]
    truths: Bools
    predictions: Bools
    why: str | None = None


def bins_of(scene: Scene, suite: Suite, outputs: Outputs, column: str, edges: Sequence[float]) -> Bins:
    """Return the bins between `edges`, both included; without edges one for each value of the column.

    A ground truth without a value is in no bin, a prediction without one in every bin.
    """
    objects = scene.objects
    if column == AREA:
        bins = between(objects.truth_area, objects.prediction_area, edges)
        return bins if scene.sized else none_of(scene, NO_SIZES)
    tables = object_tables(suite, outputs)
    found = [_text_column(table, column) for table in tables]
    if found[0] is None:
        of_images = _text_column(suite.cases, column)
        if of_images is None:
            return none_of(scene, UNKNOWN.format(column))
        found = [of_images.take(pa.array(image)) for image in (objects.truth_image, objects.prediction_image)]
    texts = [
        pa.nulls(len(table), pa.string()) if each is None else each for each, table in zip(found, tables, strict=True)
    ]
    if edges:
        return between(_numbers(texts[0]), _numbers(texts[1]), edges)
    values = sorted(value for value in texts[0].unique().to_pylist() if value is not None)
    if not values or len(values) > MOST_BINS:
        return none_of(scene, (TOO_MANY if values else NO_VALUES).format(column, len(values), MOST_BINS))
    truths, predictions = ([np.array(pc.equal(text, value).fill_null(False)) for value in values] for text in texts)
    return Bins(tuple(values), np.array(truths, bool), np.array(predictions, bool) | np.array(texts[1].is_null()))


def between(truths: Floats, predictions: Floats, edges: Sequence[float]) -> Bins:
    """Return the bins of values below, between and above the edges, which belong to both bins that meet there."""
    ends = [-np.inf, *sorted(set(edges)), np.inf]
    bounds = list(pairwise(ends))
    names = [f"{low:g}–{high:g}" for low, high in bounds]
    names[0], names[-1] = f"≤ {ends[1]:g}", f"≥ {ends[-2]:g}"
    within = [[(values >= low) & (values <= high) for low, high in bounds] for values in (truths, predictions)]
    if len(bounds) == 1:
        names = ["all"]
    return Bins(tuple(names), np.array(within[0]), np.array(within[1]) | np.isnan(predictions))


def none_of(scene: Scene, why: str) -> Bins:
    """Return no bin, for a reason."""
    objects = scene.objects
    truths, predictions = (np.zeros((0, len(each)), np.bool_) for each in (objects.truth_class, objects.score))
    return Bins((), truths, predictions, why)


def _text_column(table: pa.Table, column: str) -> pa.Array | None:
    """Return a column as texts, by its name or that of metadata; None without values."""
    for name in (column, METADATA + column):
        if name in table.column_names and table[name].null_count < len(table):
            return None if pa.types.is_nested(table[name].type) else whole(table[name]).cast(pa.string())
    return None


def _numbers(texts: pa.Array) -> Floats:
    """Return texts as numbers, NaN where they are none."""
    found = np.full(len(texts), np.nan)
    for row, text in enumerate(texts.to_pylist()):
        try:
            found[row] = np.nan if text is None else float(text)
        except ValueError:
            continue
    return found
