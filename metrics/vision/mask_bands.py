"""Boundary IoU of masks: how well their contours agree, whatever their size."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.vision.masks import CHUNK, MaskOverlap, Masks, starts
from metrics.vision.segmentation import band_distance


@dataclass(frozen=True, eq=False, slots=True)
class BoundaryOverlap:
    """The lesser of mask IoU and boundary IoU, pair by pair, as Objects.overlap wants it.

    Boundary IoU is the mask IoU of the bands. Source: Cheng et al., Boundary IoU, 2021; boundary-iou-api 1.0.
    """

    masks: MaskOverlap
    bands: MaskOverlap

    @classmethod
    def of(cls, masks: MaskOverlap, ratio: float) -> "BoundaryOverlap":
        """Return the overlap of masks; bands are `ratio` of the image's diagonal wide."""
        of_predictions, of_truths = (bands_of(each, ratio) for each in (masks.predictions, masks.truths))
        return cls(masks, MaskOverlap(of_predictions, of_truths, masks.crowd))

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:
        """Return the overlap [P] of prediction[p] with truth[p]; what is less than `floor` is 0."""
        found = self.masks(prediction, truth, floor)
        near = np.flatnonzero(found > 0)
        along = self.bands(prediction[near], truth[near], floor)
        found[near] = np.minimum(found[near], along)
        return found


def bands_of(masks: Masks, ratio: float) -> Masks:
    """Return the bands along the contours of masks, as masks.

    A band has the pixels with one outside the mask, or outside the image, within band_distance along each axis.
    """
    from metrics.vision.compiled import mask_bands, mask_runs

    sides, inverse = np.unique(np.column_stack([masks.height, masks.width]), axis=0, return_inverse=True)
    wide = np.array([band_distance(high, across, ratio) for high, across in sides.tolist()], np.int32)
    distance = np.ascontiguousarray(wide[inverse.ravel()]) if len(masks) else np.zeros(0, np.int32)

    def part(bounds: tuple[int, int]) -> tuple[Int32s, Ints]:
        return mask_bands.bands(masks.edges, masks.start, masks.box, masks.height, distance, *bounds)

    chunks = list(pairwise([*range(0, max(len(masks), 1), CHUNK), len(masks)]))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        edges, counts = map(np.concatenate, zip(*threads.map(part, chunks), strict=True))
    start = starts(counts)
    area, box = mask_runs.measure(edges, start, masks.height)
    return Masks(masks.height, masks.width, start, edges, area, box, masks.faulty)
