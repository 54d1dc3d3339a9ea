"""A suite and a model's outputs as objects with key points, matched by their similarity (OKS)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats, Int32s
from metrics.core.errors import InputError, InputProblem
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Outputs, Suite, sizes_assumed
from metrics.evaluators._object_tables import codes_of, object_labels, object_tables, reference_problems, refuse
from metrics.evaluators.detection._matched import Matched, Scene
from metrics.vision.geometry import BOX, faults, keypoints_of, whole
from metrics.vision.keypoints import VALUES, Keypoints, oks_pairs, sigmas_of
from metrics.vision.matching import AREAS, match
from metrics.vision.objects import prepare
from metrics.vision.outcomes import LOCALISED
from metrics.vision.precision_recall import Ranking

POINTS = "x y v of every key point in finite numbers"
NEVER = np.inf  # the area of what is to be ignored in every range


@dataclass(frozen=True, eq=False)
class KeypointMatches:
    """Objects matched by OKS, as Matched has them, with their key points and the areas [G] of the ground truths."""

    found: Matched
    points: Keypoints
    truths: Keypoints
    area: Floats

    @property
    def has_points(self) -> bool:
        """Whether a prediction has key points, or there is no prediction at all."""
        return not len(self.points) or bool(self.points.counts.any())


class KeyPoints(NamedTuple):
    """COCO's key points: objects are as alike as their key points (OKS). `sigmas` go before those of the classes."""

    sigmas: tuple[float, ...] = ()

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene of the same objects with OKS in place of IoU."""
        return _read(suite, outputs, self.sigmas)[0]


def keypoint_matches(
    suite: Suite, outputs: Outputs, thresholds: Sequence[float], sigmas: Sequence[float] = ()
) -> KeypointMatches:
    """Match one model's predictions by OKS at `thresholds`; InputError listing every record that cannot be used.

    A ground truth without labelled key points is ignored, and so is what is matched with it, but unlike a crowd it
    takes one prediction only. Boxes that predictions lack are those around their key points.
    """
    scene, points, truths, area = _read(suite, outputs, sigmas)
    ranges = tuple(AREAS.values())
    matches = match(scene.objects, thresholds, ranges, scene.overlaps(min(*thresholds, LOCALISED)))
    return KeypointMatches(Matched(scene, matches, Ranking.of(scene.objects, matches), ranges), points, truths, area)


def _read(suite: Suite, outputs: Outputs, sigmas: Sequence[float]) -> tuple[Scene, Keypoints, Keypoints, Floats]:
    """Return the objects as a scene, the key points of predictions and of ground truths, and the areas of these."""
    annotations, predictions = object_tables(suite, outputs)
    case_ids = whole(suite.cases["case_id"])
    labels = object_labels(suite, outputs)
    names = pa.array(labels, pa.string())
    truth_image, image = (codes_of(table["case_id"], case_ids) for table in (annotations, predictions))
    truth_class, kind = (codes_of(table["label"], names) for table in (annotations, predictions))
    score = whole(predictions["score"]).to_numpy(zero_copy_only=False)
    truths, points = (keypoints_of(table) for table in (annotations, predictions))
    counts = _counts(truths, truth_class)
    refuse(
        [
            *reference_problems("annotations", annotations, truth_image),
            *reference_problems("predictions", predictions, image),
            *_faults("annotations", annotations, truths, truth_class, counts),
            *_faults("predictions", predictions, points, kind, counts),
            *faults("predictions", "score", predictions["score"], ~np.isfinite(score), "a finite number"),
        ]
    )
    try:
        constants = sigmas_of(labels, suite.classes, {labels[code]: n for code, n in counts.items()}, sigmas)
    except ValueError as error:
        problem = InputProblem("keypoint_summary", str(error), "one, or one for each key point", column="sigmas")
        raise InputError([problem]) from None
    truth_box, box = _boxes(annotations, truths), _boxes(predictions, points)
    area = whole(annotations["area"]).to_numpy(zero_copy_only=False)
    area = np.where(np.isnan(area), truth_box[:, 2] * truth_box[:, 3], area)
    objects = prepare(
        images=len(case_ids),
        classes=len(labels),
        truth_image=truth_image,
        truth_class=truth_class,
        truth_box=truth_box,
        truth_area=np.where(truths.labelled > 0, area, NEVER),
        crowd=whole(annotations["is_crowd"].fill_null(False)).to_numpy(zero_copy_only=False),
        prediction_image=image,
        prediction_class=kind,
        prediction_box=box,
        score=score,
    )
    scene = Scene(
        objects, labels, case_ids, whole(annotations["annotation_id"]), whole(predictions["prediction_id"]),
        SamplingDesign.of(suite.cases).units.astype(np.int32), sized=not sizes_assumed(suite.cases),
        ignored=objects.crowd | (truths.labelled == 0),
        find=lambda floor: oks_pairs(objects, points, truths, area, constants, floor),
    )  # fmt: skip
    return scene, points, truths, area


def _counts(truths: Keypoints, truth_class: Int32s) -> dict[int, int]:
    """Return how many key points the objects of each class have: those of its first ground truth with some."""
    some = np.flatnonzero(truths.counts)
    classes, first = np.unique(truth_class[some], return_index=True)
    return dict(zip(classes.tolist(), truths.counts[some[first]].tolist(), strict=True))


def _faults(file: str, table: pa.Table, points: Keypoints, kind: Int32s, counts: dict[int, int]) -> list[InputProblem]:
    """Return the key points that are no finite numbers, or not as many as the first object of the class has."""
    owner = np.repeat(np.arange(len(points)), np.diff(points.start))
    broken = np.bincount(owner[~np.isfinite(points.values)], minlength=len(points)) > 0
    broken |= np.diff(points.start) % VALUES > 0
    expected = np.array([counts.get(code, -1) for code in kind.tolist()], np.int64)
    other = ~broken & (points.counts > 0) & (expected >= 0) & (points.counts != expected)
    return [
        *faults(file, "keypoints", table["keypoints"], broken, POINTS),
        *(
            InputProblem(file, f"{points.counts[row]} key points", f"{expected[row]}, as others of the class have",
                         row + 1, "keypoints")
            for row in np.flatnonzero(other).tolist()
        ),
    ]  # fmt: skip


def _boxes(table: pa.Table, points: Keypoints) -> Floats:
    """Return the boxes [N, 4], around the key points where an object has none; 0 0 0 0 without either."""
    boxes = np.column_stack([whole(table[name]).to_numpy(zero_copy_only=False) for name in BOX]).astype(np.float64)
    lacking = ~np.isfinite(boxes.sum(axis=1))
    if lacking.any():
        boxes[lacking] = np.nan_to_num(points.boxes()[lacking])
    return boxes
