"""Key points of objects: their similarity (OKS), pair by pair, and how far each of them is off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Floats, Ints
from metrics.core.classes import ClassFacts
from metrics.vision.matching import Pairs
from metrics.vision.objects import Objects

# nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles, the left one first: pycocotools 2.0, Params
COCO_SIGMAS = tuple(
    number / 10
    for number in (0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87, 0.89, 0.89)
)
OTHER_SIGMA = 0.05  # of the key points of other classes: about the mean of COCO's
COCO_SKELETON = (  # pairs of its 17 key points
    (15, 13), (13, 11), (16, 14), (14, 12), (11, 12), (5, 11), (6, 12), (5, 6), (5, 7), (6, 8), (7, 9), (8, 10), (1, 2),
    (0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6),
)  # fmt: skip
VALUES = 3  # x, y and v of a key point


@dataclass(frozen=True, eq=False, slots=True)
class Keypoints:
    """The key points of N objects, x y v …; those of object i are values[start[i] : start[i + 1]], perhaps none."""

    values: Floats
    start: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def counts(self) -> Ints:
        """How many key points each object has [N], labelled or not."""
        return np.diff(self.start) // VALUES

    @property
    def owner(self) -> Ints:
        """The object of each key point."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def points(self) -> Floats:
        """x, y and v of each key point [P, 3]."""
        return self.values.reshape(-1, VALUES)

    @property
    def labelled(self) -> Ints:
        """How many key points of each object have v > 0 [N]."""
        return np.bincount(self.owner[self.points[:, 2] > 0], minlength=len(self))

    def boxes(self) -> Floats:
        """Return x, y, width, height of the box around all key points of each object [N, 4]; NaN without any."""
        boxes = np.full((len(self), 4), np.nan)
        some = np.flatnonzero(self.counts)
        if len(some):
            first = self.start[some] // VALUES
            low = np.minimum.reduceat(self.points[:, :2], first)
            boxes[some, :2], boxes[some, 2:] = low, np.maximum.reduceat(self.points[:, :2], first) - low
        return boxes


def sigmas_of(
    labels: Sequence[str], classes: Mapping[str, ClassFacts], counts: Mapping[str, int], given: Sequence[float] = ()
) -> list[tuple[float, ...]]:
    """Return the OKS constant of each key point of each label.

    `given`, one for all or one each, goes first; then the class's own; then COCO's for 17 key points; then OTHER_SIGMA.
    counts: how many key points the objects of a label have; a label without any gets none. ValueError where `given` is
    neither one nor one each.
    """
    result = []
    for label in labels:
        count = counts.get(label, 0)
        own: Sequence[float] = classes[label].sigmas if label in classes else ()
        if given:
            if len(given) not in (1, count) and count:
                raise ValueError(f"{len(given)} sigmas for the {count} key points of {label!r}")
            own = [*given] * (count if len(given) == 1 else 1)
        elif len(own) != count:
            own = COCO_SIGMAS if count == len(COCO_SIGMAS) else [OTHER_SIGMA] * count
        result.append(tuple(own[:count]))
    return result


def skeleton_of(facts: ClassFacts | None, count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of key points that lines connect: the class's own, else COCO's for 17 key points, else none."""
    own = () if facts is None else facts.skeleton
    if not own and count == len(COCO_SIGMAS):
        return COCO_SKELETON
    return tuple(pair for pair in own if max(pair) < count)


def oks_pairs(
    objects: Objects, points: Keypoints, truths: Keypoints, area: Floats, sigmas: Sequence[ArrayLike], floor: float
) -> Pairs:
    """Return the pairs of the same image, of any classes, whose object keypoint similarity is at least `floor`.

    With d the distance of a predicted from a true key point, s² the area [G] of the ground truth and σ the constant of
    the key point in its class (`sigmas` [K], one for each key point):

        OKS = mean over the labelled key points (v > 0) of exp(−d² / (2 · s² · (2σ)²))

    Where none is labelled the mean is over all, and d is how far a point lies outside the box made three times as wide
    and high. Source: pycocotools 2.0, `COCOeval.computeOks`.
    """
    from metrics.vision.compiled.keypoint_pairs import keypoint_pairs

    sizes = [len(np.atleast_1d(each)) for each in sigmas]
    prediction, start, truth, oks = keypoint_pairs(
        objects.prediction_order, objects.prediction_image, objects.truth_order, objects.truth_image,
        objects.truth_class, points.values, points.start, truths.values, truths.start, objects.truth_box, area,
        np.concatenate([np.zeros(0), *(np.asarray(each, np.float64) for each in sigmas)]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), floor,
    )  # fmt: skip
    return Pairs(prediction, start.astype(np.int32), truth, oks)


def point_errors(
    points: Keypoints, truths: Keypoints, prediction: Ints, truth: Ints, area: Floats
) -> tuple[Ints, Ints, Floats]:
    """Return how far the labelled key points of matched objects are off.

    prediction, truth [M]: the rows of the objects of each match, of as many key points; area [G]: square pixels.
    Returns, for each labelled key point of each match [P], the match, its place among the key points, and its distance
    from the true one as a share of the square root of the object's area.
    """
    count = truths.counts[truth]
    match = np.repeat(np.arange(len(truth)), count)
    place = np.arange(len(match)) - np.repeat(np.cumsum(count) - count, count)
    true = truths.points[truths.start[truth[match]] // VALUES + place]
    found = points.points[points.start[prediction[match]] // VALUES + place]
    seen = np.flatnonzero(true[:, 2] > 0)
    distance = np.hypot(*(found[seen, :2] - true[seen, :2]).T)
    return match[seen], place[seen], distance / np.sqrt(area[truth[match[seen]]] + np.spacing(1))
