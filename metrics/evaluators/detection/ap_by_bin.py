"""ap_by_bin: average precision of the objects in each bin of area, distance or any other column."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators._objects import object_tables
from metrics.evaluators.detection import _matched
from metrics.evaluators.detection._examples import NEAR_AND_FAR, detection_evaluator, label_rows
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.geometry import whole
from metrics.vision.image_resampling import resample
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, match_among
from metrics.vision.outcomes import LOCALISED
from metrics.vision.precision_recall import Ranking

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


def bins_of(scene: _matched.Scene, suite: Suite, outputs: Outputs, column: str, edges: Sequence[float]) -> Bins:
    """Return the bins between `edges`, both included; without edges one for each value of the column.

    A ground truth without a value is in no bin, a prediction without one in every bin.
    """
    objects = scene.objects
    if column == AREA:
        bins = between(objects.truth_area, objects.prediction_area, edges)
        return bins if scene.sized else none_of(scene, _matched.NO_SIZES)
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


def none_of(scene: _matched.Scene, why: str) -> Bins:
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


class ApByBinParameters(_matched.MatchParameters):
    """What the bins are of, and what average precision is taken over."""

    column: str = Field(
        AREA, description="area, or a column of the annotations or the images, such as distance or weather."
    )
    edges: tuple[float, ...] = Field(
        (32.0**2, 96.0**2),
        description="Where one bin of numbers ends and the next begins; empty: a bin for each value of the column.",
    )
    iou_thresholds: _matched.IouThresholds = IOU_THRESHOLDS
    max_dets: _matched.MaxDets = 100


@detection_evaluator(
    title="AP by bin",
    stand="aside",
    metrics=(
        Metric(
            "AP",
            "AP averaged over IoU thresholds, mean over labels, of all objects.",
            primary=True,
            twin_of=("coco_summary.AP",),
        ),
        Metric("AP_bin", "AP of the objects in one bin, named in the column bin."),
    ),
    sources=("Lin et al., Microsoft COCO: Common Objects in Context, 2014; pycocotools 2.0",),
    examples=(
        Example(
            "the near car is found, the far one is not; a false alarm of unknown distance counts in both bins",
            NEAR_AND_FAR,
            expect={"AP": 51 / 101},
            rows=(
                {"metric": "AP_bin", "label": None, "bin": "≤ 30", "value": 1.0},
                {"metric": "AP_bin", "label": None, "bin": "≥ 30", "value": 0.0},
            ),
            parameters={"column": "distance", "edges": [30]},
        ),
        Example(
            "a bin for each value: AP by the weather of the image",
            NEAR_AND_FAR,
            rows=({"metric": "AP_bin", "label": "car", "bin": "rain", "value": 51 / 101},),
            parameters={"column": "weather", "edges": []},
        ),
    ),
    differs_from="average_precision with an area_range is one of these bins; coco_summary has three of area. Slices by "
    "tag score whole images; bins of a column of annotations score single objects.",
    differs_from_source="pycocotools bins by area alone, where these numbers are its own to 1e-9; any other column "
    "follows the same rule. Intervals are added.",
)
def ap_by_bin(suite: Suite, outputs: Outputs, parameters: ApByBinParameters) -> Findings:
    """Average precision by bin: AP of the objects of some distance, area or other property alone.

    What lies outside a bin neither rewards nor punishes, by COCO's rule for areas. Within a bin

        a ground truth outside it         need not be found; a prediction that matches it is ignored
        an unmatched prediction outside   is ignored

    and all else is as in average_precision: matching prefers the ground truths of the bin, AP is the mean over labels,
    `iou_thresholds` and 101 recalls. `AP` is of all objects, `AP_bin` of one bin: for all labels (the mean of those
    with ground truth in it) and, with `label`, for each. 0 … 1, higher is better.

    `column` is area (square pixels, the annotation's own), else a column of the annotations, else of the images, also
    of their metadata. Numbers fall between `edges`, which belong to both bins; without edges each value is a bin, up to
    50. A ground truth without a value is in no bin. A prediction has its image's value, or that of its own column of
    the same name; without one it counts as false in every bin, as its distance is unknown: AP by such bins is a lower
    bound. The 95 % interval is from half-samples of the images (of `cases.group` where given).
    """
    thresholds = tuple(dict.fromkeys(parameters.iou_thresholds))
    found = _matched.match_objects(suite, outputs, thresholds, geometry=parameters.geometry)
    scene, everything, limit = found.scene, AREAS["all"], parameters.max_dets
    bins = bins_of(scene, suite, outputs, parameters.column, parameters.edges)
    estimates, _ = found.estimates(parameters, everything, limit)
    rows = _rows(found, "AP", mean_over(estimates, 2), found.truths(), scene.columns)
    if bins.why is not None:
        nothing = Spread.of_none(np.full((), np.nan))
        rows.append(number("AP_bin", nothing, n=0, columns={"bin": parameters.column}, why=bins.why))
    else:
        near = scene.overlaps(min(*thresholds, LOCALISED))
        matches = match_among(scene.objects, thresholds, scene.objects.crowd | ~bins.truths, ~bins.predictions, near)
        ranking = Ranking.of(scene.objects, matches)
        weights = scene.weights(parameters.resamples, parameters.seed)
        for place, name in enumerate(bins.names):
            values = mean_over(resample(ranking, weights, area=place, max_dets=limit)[0], 2)
            columns: Columns = {"bin": name, **scene.columns}
            rows += _rows(found, "AP_bin", values, ranking.truths(place), columns)
    rows.sort(key=lambda row: row.label is not None)
    table = _matched.matches_at(suite, outputs, found, parameters.match_iou_threshold, max_dets=limit)
    return Findings(rows, matches=table)


def _rows(found: _matched.Matched, metric: str, values: Floats, truths: Ints, columns: Columns) -> list[Aggregate]:
    enough = has_enough_truths(truths)
    return label_rows(found.scene, metric, mean_over(values, 1), values, truths, columns, enough=enough)
