"""open_images_ap: the Open Images challenge's average precision: groups, a hierarchy of classes, verified labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.core.classes import ClassFacts
from metrics.core.evaluator import Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._examples import OPEN_IMAGES_STREET, detection_evaluator, label_rows
from metrics.evaluators.detection._federated import listed_codes, pair_codes
from metrics.evaluators.detection._matched import DetectionParameters, MatchingIou, Scene, match_objects, written_iou
from metrics.evaluators.detection.average_precision import NO_LIMIT, interpolated_curves
from metrics.evaluators.detection.voc_ap import POINTS
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.geometry import Geometry
from metrics.vision.image_resampling import resample
from metrics.vision.objects import Overlap, prepare

Parents = tuple[tuple[str, str], ...]


class OpenImages(NamedTuple):
    """The Open Images challenge. `parents`: pairs of a class and the class above it, () for no hierarchy."""

    parents: Parents = ()

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene with its truths repeated for every class above theirs, groups counted as truths."""
        above = dict(self.parents)
        labels = (*scene.labels, *sorted({label for pair in self.parents for label in pair} - set(scene.labels)))
        code = {label: place for place, label in enumerate(labels)}
        ancestors = [[code[label] for label in chain(label, above)] for label in labels]
        old = scene.objects
        row, kind = _repeat_rows(old.truth_class, ancestors)
        objects = prepare(
            images=old.images, classes=len(labels), truth_image=old.truth_image[row], truth_class=kind,
            truth_box=old.truth_box[row], truth_area=old.truth_area[row], crowd=old.crowd[row],
            prediction_image=old.prediction_image, prediction_class=old.prediction_class,
            prediction_box=old.prediction_box, prediction_area=old.prediction_area, score=old.score,
            overlap=None if old.overlap is None else _OfRows(old.overlap, row),
        )  # fmt: skip
        expanded = replace(
            scene, objects=objects, labels=labels, annotation_ids=scene.annotation_ids.take(pa.array(row)),
            ignored=np.zeros(len(row), np.bool_), nearest=True, _overlaps={},
        )  # fmt: skip
        if not is_verified(suite):
            return expanded
        image, absent = np.divmod(listed_codes(expanded, suite.cases["negative_labels"]), len(labels))
        below = [[place for place, up in enumerate(ancestors) if kind in up] for kind in range(len(labels))]
        which, lacking = _repeat_rows(absent, below)
        known = np.concatenate(
            [pair_codes(objects, image[which], lacking), pair_codes(objects, objects.truth_image, objects.truth_class)]
        )
        own = pair_codes(objects, objects.prediction_image, objects.prediction_class)
        return replace(expanded, spared=~np.isin(own, known))


@dataclass(frozen=True, eq=False, slots=True)
class _OfRows:
    """The overlap with truths that stand for others: `row` [G]."""

    overlap: Overlap
    row: Ints

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:
        return self.overlap(prediction, self.row[truth].astype(np.int32), floor)


def is_verified(suite: Suite) -> bool:
    """Return whether the suite says of an image which classes it lacks."""
    return bool(suite.cases["negative_labels"].null_count < len(suite))


def parents_of(classes: Mapping[str, ClassFacts]) -> Parents:
    """Return each class that has one above it, and that."""
    return tuple((label, facts.parent) for label, facts in classes.items() if facts.parent is not None)


def chain(label: str, above: Mapping[str, str]) -> Iterator[str]:
    """Yield a class and those above it, upwards; a circle ends where it would begin again."""
    seen = set[str]()
    current: str | None = label
    while current is not None and current not in seen:
        yield current
        seen.add(current)
        current = above.get(current)


def _repeat_rows(kinds: Int32s | Ints, others: list[list[int]]) -> tuple[Ints, Int32s]:
    """Return rows and classes: each row of `kinds` for every class that `others` has for its own.

    The rows come in their order first, with the first class of each; then the rest.
    """
    deep = max(map(len, others), default=0)
    rows, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for place in range(deep):
        table = np.array([each[place] if place < len(each) else -1 for each in others])
        kind = table[kinds]
        rows.append(np.flatnonzero(kind >= 0))
        found.append(kind[kind >= 0])
    return np.concatenate(rows), np.concatenate(found).astype(np.int32)


class OpenImagesApParameters(DetectionParameters):
    """How Open Images' average precision is taken."""

    iou_threshold: MatchingIou = 0.5
    expand_hierarchy: bool = Field(
        True, description="Count each object for the labels above its own, too, where the suite has a hierarchy."
    )
    geometry: Geometry = Field(
        "box", description="What is compared; boxes in the detection challenge. See average_precision."
    )


@detection_evaluator(
    title="Open Images AP",
    stand="first",
    metrics=(
        Metric("map", "Mean over labels of Open Images' AP (mAP).", primary=True),
        Metric("ap", "Open Images' AP of one label.", minor=True),
    ),
    sources=(
        "Kuznetsova et al. 2020, The Open Images Dataset V4",
        "TensorFlow Object Detection API, Open Images Challenge evaluation",
    ),
    examples=(
        Example(
            "one box finds a group, others inside it are ignored; a label that nobody looked for is ignored",
            OPEN_IMAGES_STREET,
            expect={"map": 1 / 2 + 1 / 2 * 2 / 3},
            rows=(
                {"metric": "ap", "label": "person", "value": 1 / 2 + 1 / 2 * 2 / 3},
                {"metric": "ap", "label": "dog", "value": None},
            ),
        ),
    ),
    differs_from="voc_ap has neither groups, hierarchy nor verified labels; coco_summary's crowds absorb predictions "
    "but need not be found.",
    differs_from_source="Predictions of equal score keep the order of images and of the file, where the API turns it "
    "round. A label has one label above it, where the challenge's hierarchy has a few with several. A group found only "
    "by predictions of score 0 counts as found. Positive image-level labels without a box are not known to the suite: "
    "predictions of them are ignored. Without any list of labels that images lack, every image counts as checked for "
    "every label. Intervals are added.",
)
def open_images_ap(suite: Suite, outputs: Outputs, parameters: OpenImagesApParameters) -> Findings:
    """The Open Images challenge's average precision (AP) of each label at one IoU threshold, and its mean (mAP).

    Three rules set it apart from Pascal VOC's AP of all points (see voc_ap):

        groups       A box around a group of objects (`is_crowd`, IsGroupOf) is one ground truth. A prediction that
                     takes no single object is inside the group if intersection ÷ area of the prediction is at least
                     `iou_threshold`: the best such prediction is a true positive, the others are ignored. A group
                     without any is missed.
        hierarchy    With `expand_hierarchy` an object counts for every label above its own, too: a car is a vehicle.
                     A model has to predict each of these labels itself.
        verified     A prediction counts only if its image was checked for its label: the label is annotated there, or
                     among the image's `negative_labels` or below one of them. Others are ignored.

    The predictions of a label are taken best score first; each claims the ground truth of the highest IoU, whether that
    is free or not. AP is the area under the interpolated curve. 0 … 1, higher is better. There is no limit of
    predictions per image.

    The hierarchy is that of the suite's class facts, which Open Images' reader takes from *hierarchy*.json beside the
    table. A label without ground truth has no AP and is left out of the mean. The 95 % interval is from half-samples of
    the images (of `cases.group` where given); a mean over more than 5 labels has none with fewer than 6 ground truths
    per label.
    """
    benchmark = OpenImages(parents_of(suite.classes) if parameters.expand_hierarchy else ())
    iou = parameters.iou_threshold
    found = match_objects(suite, outputs, (iou,), geometry=parameters.geometry, benchmark=benchmark)
    weights = found.scene.weights(parameters.resamples, parameters.seed)
    values = resample(found.ranking, weights, max_dets=NO_LIMIT, recalls=POINTS["all_points"])[0][:, :, 0]
    truths = found.truths()
    columns: Columns = {
        "iou": written_iou(iou),
        "checked": "listed labels" if is_verified(suite) else "all labels",
        **found.scene.columns,
    }
    enough = has_enough_truths(truths)
    rows = label_rows(found.scene, "map", mean_over(values, 1), values, truths, columns, of_label="ap", enough=enough)
    return Findings(rows, curves=interpolated_curves(found), matches=found.outcomes_at(iou)[1])
