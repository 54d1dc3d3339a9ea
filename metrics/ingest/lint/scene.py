"""The boxes of one side of an upload as arrays, and how two sides overlap."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.core.suite import Suite
from metrics.vision.geometry import BOX, image_sizes, whole
from metrics.vision.matching import find_pairs
from metrics.vision.objects import prepare

OVERLAPPING = 0.5  # the IoU at which a box and an object are taken for the same thing
MOST_IMAGES = 500  # with ground truth, that readings are compared on: the readings differ by far more than chance
SLACK, SLACK_SHARE = 2.0, 0.02  # how far a box may reach beyond its image: pixels, and share of the side


@dataclass(frozen=True, eq=False, slots=True)
class Boxes:
    """N objects: the row of their image in `cases` (−1: none), boxes [N, 4] as x, y, width, height, image sizes [N, 2].

    `sizes` are width and height, NaN where unknown. `plain` [N]: which boxes are looked at.
    """

    image: Int32s
    box: Floats
    sizes: Floats
    plain: Bools

    @classmethod
    def of(cls, suite: Suite, table: pa.Table, shaped: bool = False) -> "Boxes":
        """Return the objects of a table of annotations or predictions.

        Looked at are boxes of four numbers in an image of the suite; those of objects that also have polygons or a mask
        only if `shaped`: such a box may follow from its shape.
        """
        cases = whole(suite.cases["case_id"])
        image = pc.index_in(whole(table["case_id"]), value_set=cases).fill_null(-1)
        rows = np.array(image.to_numpy(zero_copy_only=False), np.int32)
        known = image_sizes(suite.cases)[:, ::-1].astype(np.float64)
        known[(known < 1).any(axis=1)] = np.nan
        sizes = np.vstack([known, [[np.nan, np.nan]]])[rows]  # row −1 is the last
        columns = [whole(table[name]).to_numpy(zero_copy_only=False) for name in BOX]
        box = np.column_stack(columns).astype(np.float64)
        plain = ~in_any(~np.isfinite(box)) & (rows >= 0)
        return cls(rows, box, sizes, plain if shaped else plain & _unshaped(table))

    def __len__(self) -> int:
        return len(self.image)

    def take(self, rows: Ints | Int32s) -> "Boxes":
        """Return the objects of some rows, in that order."""
        return Boxes(self.image[rows], self.box[rows], self.sizes[rows], self.plain[rows])


def leaving(box: Floats, sizes: Floats) -> Bools:
    """Return which boxes [N] reach beyond their image by more than rounding or a generous detector does.

    The slack is the larger of 2 pixels and 2 % of the side. Also a box of negative width or height, which no image
    holds. Where the size is unknown a box does not leave it.
    """
    slack = np.maximum(SLACK, SLACK_SHARE * sizes)
    with np.errstate(invalid="ignore"):
        out = (box[:, :2] < -slack) | (box[:, :2] + box[:, 2:] > sizes + slack)
        negative = in_any(box[:, 2:] < 0) & ~in_any(np.isnan(sizes))
    return in_any(out) | negative


def in_any(flags: Bools) -> Bools:
    """Return of which rows [N, k] a flag is set: k is small, where numpy's any(axis=1) takes ten times as long."""
    return np.asarray(np.logical_or.reduce([*flags.T]))


def overlaps(image: Int32s, box: Floats, truth: Boxes) -> tuple[Int32s, Int32s]:
    """Return the predictions that overlap an object of any class at IoU ≥ .5, each with the one that it overlaps most.

    `image` and `box` are of the predictions; both results are rows [P].
    """
    if not len(image) or not len(truth):
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    objects = prepare(
        images=int(max(image.max(), truth.image.max())) + 1, classes=1,
        truth_image=truth.image, truth_class=np.zeros(len(truth), np.int32), truth_box=truth.box,
        prediction_image=image, prediction_class=np.zeros(len(image), np.int32), prediction_box=box,
        score=np.zeros(len(image)),
    )  # fmt: skip
    pairs = find_pairs(objects, OVERLAPPING)
    if not len(pairs.prediction):
        return pairs.prediction, pairs.prediction
    counts = np.diff(pairs.start)
    owner = np.repeat(np.arange(len(counts)), counts)
    best = np.lexsort((-pairs.iou, owner))[pairs.start[:-1]]
    return pairs.prediction, pairs.truth[best]


def compared(truth: Boxes, boxes: Boxes) -> tuple[Ints, Ints]:
    """Return the rows of ground truth and of predictions in at most MOST_IMAGES images with ground truth."""
    images = np.unique(truth.image[truth.plain])
    if len(images) > MOST_IMAGES:
        images = images[np.linspace(0, len(images) - 1, MOST_IMAGES).astype(np.int64)]
    truths, found = (np.flatnonzero(side.plain & np.isin(side.image, images)) for side in (truth, boxes))
    return truths, found


def _unshaped(table: pa.Table) -> Bools:
    """Return which objects have neither polygons nor run lengths [N]."""
    rings = pc.fill_null(pc.list_value_length(table["polygons"]), 0)
    runs = pc.fill_null(pc.binary_length(table["rle"]), 0)
    return np.asarray((np.asarray(rings) == 0) & (np.asarray(runs) == 0))
