"""Semantic segmentation in pure arithmetic: label maps, pixel counts, IoU and boundary IoU.

A label map is a vector of codes, one a pixel, column after column (position y + x · height) as COCO's run lengths are;
codes 0 … K−1 are the labels, K means no label, −1 a pixel that counts nowhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.stats.float_tolerance import ratio
from metrics.vision.masks import Masks, starts

MOST_RUNS = 4_000_000  # of one label map


@dataclass(frozen=True, eq=False, slots=True)
class Tally:
    """The pixels of one image, or of many.

    confusion [K, K + 1]: pixels by true and by predicted label, in the last column those predicted as no label.
    bands [3, K]: pixels in the bands along the contours of a label's regions, in both maps, in the truth, in the
    prediction.
    """

    confusion: Ints
    bands: Ints

    @property
    def areas(self) -> Ints:
        """Pixels of each label in both maps, in the truth, in the prediction: [3, K]."""
        counts = self.confusion
        return np.stack([counts.diagonal(), counts.sum(axis=1), counts[:, : len(counts)].sum(axis=0)])


def label_map(masks: Masks, first: int, last: int, code: Int32s, pixels: int, ground: int) -> Int32s:
    """Return the map of one image from its masks first … last−1 and the code of each; `ground` where there is no mask.

    Where masks overlap, the last one wins.
    """
    from metrics.vision.compiled import label_map_counts

    codes = np.full(pixels, ground, np.int32)
    label_map_counts.paint(masks.edges, masks.start, first, last, code, codes)
    return codes


def tally(truth: Int32s, prediction: Int32s, height: int, labels: int, distance: int) -> Tally:
    """Count the pixels of a true and a predicted label map of K = `labels` labels, of one size.

    Pixels whose truth is −1 are left out of both maps before the bands are taken. The band of a region are its pixels
    that have, within `distance` pixels along each axis, one of another label or the edge of the image: those that
    eroding it `distance` times by 3 × 3 pixels takes away. Source: Cheng et al., Boundary IoU, 2021.
    """
    from metrics.vision.compiled import label_map_counts

    seen = np.where(truth < 0, truth, prediction).astype(np.int32)
    confusion, bands = np.zeros((labels, labels + 1), np.int64), np.zeros((3, labels + 1), np.int64)
    near = [label_map_counts.band(codes, height, distance) for codes in (truth, seen)]
    label_map_counts.tally(truth, seen, near[0], near[1], confusion, bands)
    return Tally(confusion, bands[:, :labels])


def iou(counts: Int32s | Ints | Floats) -> Floats:
    """Return shared / (true + predicted − shared) of counts [..., 3, K]: [..., K]; NaN for a label in neither map."""
    shared = counts[..., 0, :].astype(np.float64)
    either = counts[..., 1, :] + counts[..., 2, :] - shared
    return ratio(shared, either)


def dice(counts: Int32s | Ints | Floats) -> Floats:
    """Return 2·shared / (true + predicted) of counts [..., 3, K]: [..., K]; NaN for a label in neither map."""
    shared, true, predicted = (counts[..., row, :].astype(np.float64) for row in range(3))
    return ratio(2.0 * shared, true + predicted)


def contour_distances(truth: Int32s, prediction: Int32s, height: int, labels: int) -> Floats:
    """Return how far apart the contours of each label are in two maps, in pixels: [2, K]; NaN for a label that is not
    in both.

        Hausdorff distance = max over both contours of the distance of a pixel to the nearest of the other contour
        HD95 = the larger of the two 95 % points of these distances

    A contour are the pixels beside one of another code, or at the edge of the image. Pixels whose truth is −1 are left
    out of both maps. Equal to MONAI's. Sources: Hausdorff 1914; Huttenlocher et al. 1993.
    """
    from metrics.vision.compiled import label_map_counts

    found = np.full((2, labels), np.nan)
    places = [_contours(codes, height) for codes in (truth, np.where(truth < 0, truth, prediction))]
    for label in range(labels):
        one, other = (np.argwhere(codes == label) for codes in places)
        if len(one) and len(other):
            apart = label_map_counts.nearest(one, other), label_map_counts.nearest(other, one)
            found[:, label] = [max(map(np.max, apart)), max(np.percentile(each, 95) for each in apart)]
    return found


def _contours(codes: Int32s, height: int) -> Int32s:
    """Return a map [width, height] with the codes of the pixels along contours, −1 elsewhere."""
    drawn = codes.reshape(-1, height)
    inner = np.zeros(drawn.shape, bool)
    middle = drawn[1:-1, 1:-1]
    inner[1:-1, 1:-1] = (
        (middle == drawn[:-2, 1:-1])
        & (middle == drawn[2:, 1:-1])
        & (middle == drawn[1:-1, :-2])
        & (middle == drawn[1:-1, 2:])
    )
    return np.where(inner, np.int32(-1), drawn)


def regions(codes: NDArray[Any], height: int) -> tuple[Int32s, Masks]:
    """Return the codes in a label map, rising, and the mask of each; ValueError beyond MOST_RUNS runs."""
    from metrics.vision.compiled import mask_runs as loops

    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    begin = np.concatenate([[0], changes])
    if len(begin) > MOST_RUNS:
        raise ValueError(f"{len(begin):,} runs of pixels, more than {MOST_RUNS:,}")
    end = np.concatenate([changes, [len(codes)]])
    of_run = codes[begin]
    order = np.argsort(of_run, kind="stable")
    found, count = np.unique(of_run, return_counts=True)
    edges = np.column_stack([begin, end])[order].astype(np.int32).ravel()
    start = starts(2 * count)
    high = np.full(len(found), height, np.int32)
    wide = np.full(len(found), len(codes) // height, np.int32)
    area, box = loops.measure(edges, start, high)
    return found.astype(np.int32), Masks(high, wide, start, edges, area, box, np.zeros(len(found), np.bool_))
