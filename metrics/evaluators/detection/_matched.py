"""A suite and a model's outputs as columns, matched once for all detection evaluators."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Bools, Bytes, Floats, Int32s, Ints, Singles
from metrics.core.evaluator import MATCHES, Columns, Parameters
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Outputs, Suite, sizes_assumed
from metrics.evaluators._half_samples import Drawn, Resamples, Seed, image_weights
from metrics.evaluators._objects import codes_of, object_labels, object_tables, reference_problems, refuse
from metrics.vision import matching, outcomes
from metrics.vision.geometry import Compared, Geometry, compared_as, faults, read_sides, whole
from metrics.vision.image_resampling import resample
from metrics.vision.objects import Objects, prepare
from metrics.vision.precision_recall import Ranking

NOTHING_PREDICTED = "no prediction reaches the score threshold"
ESTIMATES_KEPT = 8  # of each matching without resamples
OUTCOMES_KEPT = 2  # of each matching: those of all predictions, and those of the first 100 of an image
NO_SIZES = "the sizes of the images are unknown, so are areas in pixels"
KEPT = 4  # matched data sets held at a time; one of 290,000 predictions takes about 40 MB
KEPT_PREDICTIONS = 2_000_000  # of all of them; a single one may have more

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Iou = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
MatchingIou = Annotated[Iou, Field(description="IoU at and above which a prediction matches.")]
IouThresholds = Annotated[
    tuple[Iou, ...], Field(min_length=1, description="IoU at and above which a prediction matches; averaged over.")
]
MaxDets = Annotated[Count, Field(description="Predictions per image and label that count, best scores first.")]


class ResampledParameters(Parameters):
    """Parameters of the intervals."""

    resamples: Resamples = 500
    seed: Seed = 0


class DetectionParameters(ResampledParameters):
    """Parameters of every detection evaluator that compares boxes, masks or outlines."""

    geometry: Geometry = Field(
        "auto",
        description="What is compared: boxes; masks at the resolution of the image, into which polygons and boxes are "
        "turned; polygons exactly, and masks by the edges of their pixels. auto: masks where ground truth and "
        "predictions both have polygons or masks, else boxes.",
    )


class OperatingParameters(DetectionParameters):
    """Parameters of the detection evaluators with one score threshold."""

    score_threshold: float = Field(
        0.5, ge=0, le=1, allow_inf_nan=False, description="Least score of the predictions that count."
    )


class MatchParameters(DetectionParameters):
    """Parameters of the detection evaluators that take many IoU thresholds and store the matches of one."""

    match_iou_threshold: Iou = Field(0.5, description="IoU at which the stored matches call a prediction right.")


@dataclass(frozen=True, eq=False)
class Scene:
    """One model's predictions and the ground truth as Objects, with the names behind the codes and rows.

    `clusters` [I]: the images that are drawn together have one code. `geometry`: how they are compared. `sized`: the
    sizes of all images are known, so areas are in pixels. A Benchmark may set `ignored` [G] (ground truths that neither
    reward nor punish, by default crowds), `spared` [N] (predictions that are ignored unless they match), `nearest`
    (matching by Pascal VOC's rule) and `find` (the pairs above a floor, by default those of `image_pairs`).
    """

    objects: Objects
    labels: tuple[str, ...]
    case_ids: pa.Array
    annotation_ids: pa.Array
    prediction_ids: pa.Array
    clusters: Int32s
    geometry: Compared = "box"
    sized: bool = True
    ignored: Bools | None = None
    spared: Bools | None = None
    nearest: bool = False
    find: Callable[[float], matching.Pairs] | None = None
    _weights: OrderedDict[tuple[int, int], Bytes] = field(default_factory=OrderedDict)
    _overlaps: dict[float, matching.Pairs] = field(default_factory=dict)

    @property
    def columns(self) -> Columns:
        """The columns of every aggregate that name the geometry; none for boxes."""
        return {} if self.geometry == "box" else {"geometry": self.geometry}

    def overlaps(self, floor: float) -> matching.Pairs:
        """Return the pairs of one image, of any labels, at IoU ≥ floor, and perhaps some below."""
        known = next((pairs for lowest, pairs in self._overlaps.items() if lowest <= floor), None)
        if known is None:
            self._overlaps.clear()
            known = self._overlaps[floor] = self.find(floor) if self.find else outcomes.image_pairs(self.objects, floor)
        return known

    @property
    def label_names(self) -> pa.Array:
        """Return the labels as a column."""
        return pa.array(self.labels, pa.string())

    @cached_property
    def predicted(self) -> tuple[pa.Array, pa.Array]:
        """Return the image and the label of each prediction, which all tables of matches share."""
        objects = self.objects
        case_ids, labels = together(
            len(objects.score),
            lambda: self.case_ids.take(pa.array(objects.prediction_image)),
            lambda: self.label_names.take(pa.array(objects.prediction_class)),
        )
        return case_ids, labels

    @property
    def drawn(self) -> Drawn:
        """How many clusters of images there are to draw from."""
        return Drawn.of(self.clusters)

    def weights(self, resamples: int, seed: int) -> Bytes:
        """Return `image_weights`; the last are kept."""
        return _keep(self._weights, (resamples, seed), lambda: image_weights(self.clusters, resamples, seed), 1)

    def totals(self, weights: Singles, rows: Bools, label: Int32s, image: Int32s) -> Floats:
        """Return how many of the objects `rows` each label has [1 + B, K]: in the data set itself, then its resamples.

        weights: [1 + B, I] how often each image occurs, first once each.
        """
        objects, label = self.objects, label[rows]
        if len(weights) == 1:
            return np.bincount(label, minlength=objects.classes)[None].astype(np.float64)
        flat = label.astype(np.int64) * objects.images + image[rows]
        flat = np.bincount(flat, minlength=objects.classes * objects.images)
        return (weights @ flat.reshape(objects.classes, objects.images).astype(np.float32).T).astype(np.float64)


class Benchmark(Protocol):
    """How a benchmark counts otherwise than COCO: a hashable value, as its scenes are kept under it."""

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:
        """Return the scene with other objects, ranks, or conditions of matching."""


@dataclass(frozen=True, eq=False)
class Matched:
    """A Scene matched at a grid of IoU thresholds and at COCO's and other area ranges."""

    scene: Scene
    matches: matching.Matches
    ranking: Ranking
    areas: tuple[tuple[float, float], ...]
    _outcomes: OrderedDict[tuple[float, int, int | None], tuple[outcomes.Outcomes, pa.Table]] = field(
        default_factory=OrderedDict
    )
    _truths: OrderedDict[tuple[float, float], Ints] = field(default_factory=OrderedDict)
    _estimates: OrderedDict[tuple[float, ...], tuple[Floats, Floats]] = field(default_factory=OrderedDict)

    def outcomes_at(self, iou: float, area: int = 0, max_dets: int | None = None) -> tuple[outcomes.Outcomes, pa.Table]:
        """Return the outcomes at one IoU threshold, and their table (schema MATCHES); the last few are kept."""
        if max_dets is not None and max_dets > self.scene.objects.rank.max(initial=0):
            max_dets = None  # leaves nothing out

        def make() -> tuple[outcomes.Outcomes, pa.Table]:
            pairs = self.scene.overlaps(min(iou, outcomes.LOCALISED))
            result = outcomes.outcomes(self.scene.objects, self.matches, pairs, iou, area, max_dets)
            return result, outcomes_table(self.scene, result, iou)

        return _keep(self._outcomes, (iou, area, max_dets), make, OUTCOMES_KEPT)

    def area(self, bounds: tuple[float, float]) -> int:
        """Return the index of an area range."""
        return self.areas.index(bounds)

    def why_none(self, bounds: tuple[float, float]) -> str | None:
        """Return why there is no value in an area range, None where there is one."""
        return None if self.scene.sized or bounds == matching.AREAS["all"] else NO_SIZES

    def truths(self, bounds: tuple[float, float] = matching.AREAS["all"]) -> Ints:
        """Return how many ground truths of each label count in an area range: [K]."""
        return _keep(self._truths, bounds, lambda: self.ranking.truths(self.area(bounds)), len(self.areas))

    def estimates(
        self,
        parameters: "ResampledParameters",
        bounds: tuple[float, float],
        max_dets: int,
        *,
        lowest: float = -np.inf,
        precision: bool = True,
    ) -> tuple[Floats, Floats]:
        """Return AP and recall, each [1 + B, K, T]: of the data set, then its resamples. The last with AP are kept.

        NaN without ground truth, and by area where the sizes of images are unknown.
        """
        area, everything = self.area(bounds), lowest <= self.scene.objects.score.min(initial=np.inf)
        key = (parameters.resamples, parameters.seed, area, max_dets, -np.inf if everything else lowest)
        weights = self.scene.weights(parameters.resamples, parameters.seed)
        alone = len(weights) == 1  # then AP takes hardly more time, and all of them hardly any room
        precision = precision or alone

        def make() -> tuple[Floats, Floats]:
            found, recall = resample(
                self.ranking, weights, area=area, max_dets=max_dets, lowest=lowest, precision=precision
            )
            if self.why_none(bounds):
                return np.full_like(found, np.nan), np.full_like(recall, np.nan)
            return found, recall

        if not (precision or key in self._estimates):
            return make()
        return _keep(self._estimates, key, make, ESTIMATES_KEPT if alone else 1)


_scenes: OrderedDict[tuple[object, ...], Scene] = OrderedDict()
_matched: OrderedDict[tuple[object, ...], Matched] = OrderedDict()


def match_objects(
    suite: Suite,
    outputs: Outputs,
    thresholds: Sequence[float],
    areas: Sequence[tuple[float, float]] = (),
    geometry: Geometry = "auto",
    benchmark: Benchmark | None = None,
) -> Matched:
    """Match one model's predictions at `thresholds` for COCO's area ranges and `areas`; the last few results are kept.

    Score ties keep the order of `suite.cases` and, within one image, of the rows. InputError listing every record that
    cannot be used.
    """
    ranges = tuple(dict.fromkeys([*matching.AREAS.values(), *areas]))
    scene = scene_of(suite, outputs, geometry, benchmark)
    key = (suite.fingerprint, outputs.fingerprint, scene.geometry, benchmark)

    def make() -> Matched:
        near = scene.overlaps(min(*thresholds, outcomes.LOCALISED))  # which the kinds of errors need, too
        aside = matching.by_area(scene.objects, ranges, scene.ignored, scene.spared)
        found = matching.match_among(scene.objects, thresholds, *aside, near, nearest=scene.nearest)
        return Matched(scene, found, Ranking.of(scene.objects, found), ranges)

    return _keep(_matched, (*key, tuple(thresholds), ranges), make, _room(outputs))


def grid_with(iou: float) -> tuple[float, ...]:
    """Return COCO's IoU thresholds if `iou` is one of them, so that all share one matching; else `iou` alone."""
    return matching.IOU_THRESHOLDS if matching.has_threshold(matching.IOU_THRESHOLDS, iou) else (iou,)


def scene_of(suite: Suite, outputs: Outputs, geometry: Geometry = "auto", benchmark: Benchmark | None = None) -> Scene:
    """Return a suite and one model's outputs as columns, as a benchmark has them; the last few are kept."""
    compared = compared_as(geometry, *object_tables(suite, outputs))

    def make() -> Scene:
        if benchmark is None:
            return _read_scene(suite, outputs, compared)
        return benchmark.applied(scene_of(suite, outputs, geometry), suite, outputs)

    return _keep(_scenes, (suite.fingerprint, outputs.fingerprint, compared, benchmark), make, _room(outputs))


def _room(outputs: Outputs) -> int:
    """Return how many data sets of this size may be held at a time."""
    rows = 0 if outputs.predictions is None else len(outputs.predictions)
    return min(KEPT, max(1, KEPT_PREDICTIONS // max(1, rows)))


def _read_scene(suite: Suite, outputs: Outputs, compared: Compared) -> Scene:
    truths, predictions = object_tables(suite, outputs)
    case_ids = whole(suite.cases["case_id"])
    labels = object_labels(suite, outputs)
    score = whole(predictions["score"]).to_numpy(zero_copy_only=False)
    truth_image, image = (codes_of(table["case_id"], case_ids) for table in (truths, predictions))
    truth_class, kind = (codes_of(table["label"], pa.array(labels, pa.string())) for table in (truths, predictions))
    sides, wrong = read_sides(compared, suite.cases, truths, predictions, truth_image, image)
    refuse(
        [
            *reference_problems("annotations", truths, truth_image),
            *reference_problems("predictions", predictions, image),
            *wrong,
            *faults("predictions", "score", predictions["score"], ~np.isfinite(score), "a finite number"),
        ]
    )
    area = whole(truths["area"]).to_numpy(zero_copy_only=False)
    objects = prepare(
        images=len(case_ids),
        classes=len(labels),
        truth_image=truth_image,
        truth_class=truth_class,
        truth_box=sides.truth_box,
        truth_area=np.where(np.isnan(area), sides.truth_area, area),
        crowd=whole(truths["is_crowd"].fill_null(False)).to_numpy(zero_copy_only=False),
        prediction_image=image,
        prediction_class=kind,
        prediction_box=sides.prediction_box,
        prediction_area=sides.prediction_area,
        score=score,
        overlap=sides.overlap,
    )
    ids = (whole(truths["annotation_id"]), whole(predictions["prediction_id"]))
    clusters = SamplingDesign.of(suite.cases).units.astype(np.int32)
    return Scene(objects, labels, case_ids, *ids, clusters, compared, not sizes_assumed(suite.cases))


def matches_at(
    suite: Suite,
    outputs: Outputs,
    found: Matched,
    iou: float,
    bounds: tuple[float, float] = matching.AREAS["all"],
    max_dets: int | None = None,
    benchmark: Benchmark | None = None,
) -> pa.Table:
    """Return the matches table at an IoU threshold, matched again where `found` lacks it."""
    if not matching.has_threshold(found.matches.thresholds, iou):
        found = match_objects(suite, outputs, (iou,), (bounds,), found.scene.geometry, benchmark)
    return found.outcomes_at(iou, found.area(bounds), max_dets)[1]


def outcomes_table(scene: Scene, result: outcomes.Outcomes, iou: float) -> pa.Table:
    """Return every prediction, then every missed ground truth, with its kind at one IoU threshold: schema MATCHES."""
    objects = scene.objects
    missed = np.flatnonzero(
        outcomes.among(result.ground_truth, (outcomes.FN_MISCLASSIFIED, outcomes.FN_LOCALISATION, outcomes.FN_MISSED))
    )
    kinds = pa.array(outcomes.KINDS, pa.string())
    of_truths = [
        scene.case_ids.take(pa.array(objects.truth_image[missed])),
        scene.label_names.take(pa.array(objects.truth_class[missed])),
        kinds.take(pa.array(result.ground_truth[missed])),
        pa.nulls(len(missed), pa.int64()),
        scene.annotation_ids.take(pa.array(missed)),
        *(pa.nulls(len(missed), pa.float64()) for _ in ("score", "iou")),
        pa.array(np.full(len(missed), iou)),
    ]
    kind, annotation_id, overlap = together(
        len(result.truth),
        lambda: kinds.take(pa.array(result.prediction)),
        lambda: scene.annotation_ids.take(pa.array(result.truth, mask=result.truth < 0)),
        lambda: pa.array(result.iou, from_pandas=True),
    )
    same = pa.array(np.full(len(result.iou), iou))
    score = pa.array(objects.score)
    of_predictions = [*scene.predicted, kind, scene.prediction_ids, annotation_id, score, overlap, same]
    columns = [pa.chunked_array(parts) for parts in zip(of_predictions, of_truths, strict=True)]
    return pa.table(columns, schema=MATCHES)


def together(rows: int, *columns: Callable[[], pa.Array]) -> list[pa.Array]:
    """Return the columns that these make, in threads where there are many rows: Arrow lets go of the interpreter."""
    if rows < matching.WORTH_A_THREAD:
        return [make() for make in columns]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(lambda make: make(), columns))


def written_iou(iou: float) -> float:
    """Return an IoU threshold as people write it: .9 where the grid holds 0.8999999999999999."""
    return round(float(iou), 10)


def _keep(store: OrderedDict[Key, Value], key: Key, make: Callable[[], Value], most: int) -> Value:
    """Return the value of `key`, made at the first call; the store holds the last `most`."""
    if key in store:
        store.move_to_end(key)
        return store[key]
    while len(store) >= most:  # before another is made, which may be large
        store.popitem(last=False)
    store[key] = make()
    return store[key]
