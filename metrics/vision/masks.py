"""Masks as sorted runs of pixels, never as bitmaps: read from run lengths, drawn from polygons and boxes, compared, in
whole or by the bands along their contours.

Every number and every pixel is that of pycocotools' maskUtils.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Bools, Bytes, Floats, Int32s, Ints

LARGEST_IMAGE = 2**31 - 1  # pixels: positions are 32-bit numbers
NO_RUNS = "\x7f"  # no character of run lengths
CHUNK = 4_096  # objects or pairs that a thread takes at a time


@dataclass(frozen=True, eq=False, slots=True)
class Shapes:
    """N objects in columns, each as run lengths, as polygons or as a box, whichever of these comes first.

    The compressed run lengths of object i are text[text_start[i] : text_start[i + 1]] (ASCII codes), its rings
    object_ring[i] … object_ring[i + 1]−1, ring r the numbers x1 y1 x2 y2 … points[ring_start[r] : ring_start[r + 1]];
    empty where it has none. `box` [N, 4] is x, y, width, height in pixels.
    """

    box: Floats
    points: Floats
    ring_start: Ints
    object_ring: Ints
    text: Bytes
    text_start: Ints

    @classmethod
    def of(
        cls,
        *,
        box: ArrayLike | None = None,
        polygons: Sequence[Sequence[Sequence[float]] | None] | None = None,
        rle: Sequence[str | None] | None = None,
    ) -> "Shapes":
        """Return the shapes in lists of one length; what an object lacks is None."""
        count = max(len(column) for column in (np.asarray(() if box is None else box), polygons or (), rle or ()))
        rings = [rings or () for rings in polygons or ()] or [()] * count
        flat = [ring for object_rings in rings for ring in object_rings]
        texts = [text or "" for text in rle or ()] or [""] * count
        if not all(map(str.isascii, texts)):
            texts = [text if text.isascii() else NO_RUNS for text in texts]
        return cls(
            np.zeros((count, 4)) if box is None else np.array(box, np.float64).reshape(-1, 4),
            np.array(list(chain.from_iterable(flat)), np.float64),
            starts([len(ring) for ring in flat]),
            starts([len(object_rings) for object_rings in rings]),
            np.frombuffer(bytearray("".join(texts).encode()), np.uint8),
            starts([len(text) for text in texts]),
        )

    def __len__(self) -> int:
        return len(self.box)

    def ring_box(self, row: int) -> Floats:
        """Return the box around the rings of an object; all 0 where it has none."""
        first, last = self.ring_start[self.object_ring[[row, row + 1]]]
        if first == last:
            return np.zeros(4)
        points = self.points[first:last].reshape(-1, 2)
        return np.concatenate([points.min(axis=0), np.ptp(points, axis=0)])


@dataclass(frozen=True, eq=False, slots=True)
class Masks:
    """N masks. A position is y + x · height; the runs of mask i are edges[start[i] : start[i + 1]], first position and
    the one past the last in turn. `area` [N] in pixels, `box` [N, 4] x, y, width, height of the smallest box around
    it; `faulty` [N]: the run lengths could not be read, or are not of the image's size, and the mask is empty.
    """

    height: Int32s
    width: Int32s
    start: Ints
    edges: Int32s
    area: Ints
    box: Floats
    faulty: Bools

    def __len__(self) -> int:
        return len(self.area)


@dataclass(frozen=True, eq=False, slots=True)
class MaskOverlap:
    """The IoU of predicted with true masks, pair by pair, as Objects.overlap wants it; masks have their image's size.

    IoU = pixels in both / pixels in either, for a crowd / pixels of the prediction; 0 where they share none. Source:
    pycocotools 2.0, `maskUtils.iou`.
    """

    predictions: Masks
    truths: Masks
    crowd: Bools

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:
        """Return the IoU [P] of prediction[p] with truth[p]; what is less than `floor` is 0."""
        from metrics.vision.compiled import mask_runs

        one, two = self.predictions, self.truths
        iou = np.empty(len(prediction))

        def fill(bounds: tuple[int, int]) -> None:
            mask_runs.overlaps(
                prediction, truth, *bounds, one.edges, one.start, one.area, one.box,
                two.edges, two.start, two.area, two.box, self.crowd.view(np.uint8), floor, iou,
            )  # fmt: skip

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, _chunks(len(prediction))))
        return iou


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


def draw(shapes: Shapes, height: ArrayLike, width: ArrayLike) -> Masks:
    """Return the masks of `shapes` in images of these sizes [N] (one number: of all), of at most 2³¹−1 pixels.

    A polygon covers the pixels that pycocotools' `frPoly` gives it, several rings their union; a self-crossing ring is
    filled by parity. A box is the polygon of its corners, as `frBbox` has it. What lies outside the image is cut off.
    """
    from metrics.vision.compiled import mask_runs

    count = len(shapes)
    high, wide = (np.array(np.broadcast_to(np.asarray(side, np.int32), count)) for side in (height, width))

    def part(bounds: tuple[int, int]) -> tuple[Int32s, Ints, Bytes]:
        return mask_runs.draw(
            shapes.box, shapes.points, shapes.ring_start, shapes.object_ring, shapes.text, shapes.text_start,
            high, wide, *bounds,
        )  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        edges, counts, faulty = map(np.concatenate, zip(*threads.map(part, _chunks(count)), strict=True))
    start = starts(counts)
    return Masks(high, wide, start, edges, *mask_runs.measure(edges, start, high), faulty.view(np.bool_))


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

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        edges, counts = map(np.concatenate, zip(*threads.map(part, _chunks(len(masks))), strict=True))
    start = starts(counts)
    area, box = mask_runs.measure(edges, start, masks.height)
    return Masks(masks.height, masks.width, start, edges, area, box, masks.faulty)


def band_distance(height: int, width: int, ratio: float) -> int:
    """Return how many pixels wide a band is: `ratio` of the image's diagonal, rounded, at least 1."""
    return max(1, round(ratio * hypot(height, width)))


def encode(masks: Masks) -> list[str]:
    """Return COCO's compressed text of each mask, as `maskUtils.encode` has it."""
    from metrics.vision.compiled import mask_runs as loops

    text, places = loops.encode(masks.edges, masks.start, masks.height.astype(np.int64) * masks.width)
    whole = text.tobytes().decode()
    return [whole[begin:end] for begin, end in pairwise(places.tolist())]


def is_ring(numbers: Ints) -> Bools:
    """Return whether a ring may have this many numbers: at least three points, x1 y1 x2 y2 …"""
    right: Bools = (numbers >= 6) & (numbers % 2 == 0)
    return right


def starts(lengths: ArrayLike) -> Ints:
    """Return where each of consecutive parts of these lengths begins, and the end: [N + 1]."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def _chunks(count: int) -> list[tuple[int, int]]:
    """Return the first and past-the-last number of each chunk; one empty chunk of nothing."""
    return list(pairwise([*range(0, max(count, 1), CHUNK), count]))
