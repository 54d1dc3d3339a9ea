"""Polygons compared exactly, not at the image's resolution: areas and intersections by shapely."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.stats.ratios import ratio
from metrics.vision.masks import Shapes

POLYGON, MULTIPOLYGON = 3, 6  # shapely's type numbers


@dataclass(frozen=True, eq=False, slots=True)
class Outlines:
    """N shapely geometries, their areas [N] and boxes [N, 4] (x, y, width, height); empty where there is no area."""

    shape: NDArray[np.object_]
    area: Floats
    box: Floats


@dataclass(frozen=True, eq=False, slots=True)
class OutlineOverlap:
    """The IoU of predicted with true outlines, pair by pair, as Objects.overlap wants it.

    IoU = area of the intersection / area of the union, for a crowd / area of the prediction; 0 where they do not meet.
    """

    predictions: Outlines
    truths: Outlines
    crowd: Bools

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:  # noqa: ARG002 - Overlap's signature
        """Return the IoU [P] of prediction[p] with truth[p]."""
        import shapely

        shared = shapely.area(shapely.intersection(self.predictions.shape[prediction], self.truths.shape[truth]))
        own, other = self.predictions.area[prediction], self.truths.area[truth]
        whole = np.where(self.crowd[truth], own, own + other - shared)
        return ratio(shared, whole, 0.0)


def outline(shapes: Shapes) -> Outlines:
    """Return the outlines of `shapes`: the union of an object's rings, or its box; run lengths are ignored.

    A ring that crosses itself is repaired by shapely's make_valid: what it encloses an odd number of times.
    """
    import shapely

    x, y, width, height = shapes.box.T
    shape = shapely.box(x, y, x + width, y + height)
    lengths = np.diff(shapes.ring_start) // 2
    owner = np.repeat(np.arange(len(shapes)), np.diff(shapes.object_ring))
    if len(lengths):
        indices = np.repeat(np.arange(len(lengths)), lengths)
        rings = shapely.polygons(shapely.linearrings(shapes.points.reshape(-1, 2), indices=indices))
        wrong = np.flatnonzero(~shapely.is_valid(rings))
        rings[wrong] = [_surface(ring) for ring in shapely.make_valid(rings[wrong])]
        shape[owner] = rings
        for row in np.flatnonzero(np.diff(shapes.object_ring) > 1):
            shape[row] = shapely.union_all(rings[slice(*shapes.object_ring[[row, row + 1]])])
    area = shapely.area(shape)
    shape[area == 0] = shapely.Polygon()
    left, top, right, bottom = np.nan_to_num(shapely.bounds(shape)).T
    return Outlines(shape, area, np.column_stack([left, top, right - left, bottom - top]))


def _surface(geometry: object) -> object:
    """Return the polygons in a geometry, without the lines and points that a repair leaves over."""
    import shapely

    parts = shapely.get_parts(geometry)
    kinds = shapely.get_type_id(parts)
    return shapely.union_all(parts[(kinds == POLYGON) | (kinds == MULTIPOLYGON)])
