"""Masks as bitmaps and as GeoJSON: for other tools, one object at a time."""

import json

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.vision.mask_rings import outlines
from metrics.vision.masks import Masks


def bitmap_of(masks: Masks, row: int) -> Bools:
    """Return one mask as a bitmap [height, width] of its image."""
    height, width = int(masks.height[row]), int(masks.width[row])
    edges = masks.edges[masks.start[row] : masks.start[row + 1]]
    change = np.zeros(height * width + 1, np.int8)
    change[edges[0::2]] = 1
    change[edges[1::2]] -= 1
    inside: Bools = np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)
    return inside.reshape(width, height).T


def mask_geojson(mask: Bools) -> str:
    """Return the outline of a bitmap [height, width] along the edges of its pixels as a GeoJSON MultiPolygon.

    Each part has its holes after its outer ring. Rings are closed and in pixels, y downwards; drawn again they cover
    exactly the same pixels.
    """
    rings = [np.array(ring).reshape(-1, 2) for ring in outlines(mask, finest=max(mask.shape))]
    parts = [[ring] for ring in rings if _doubled_area(ring) > 0]
    for hole in rings:
        if _doubled_area(hole) < 0:
            around = [part for part in parts if _inside(_corner_pixel(hole), part[0])]
            min(around, key=lambda part: _doubled_area(part[0])).append(hole)
    closed = [[[*ring.tolist(), ring[0].tolist()] for ring in part] for part in parts]
    return json.dumps({"type": "MultiPolygon", "coordinates": closed}, separators=(",", ":"))


def _doubled_area(ring: Floats) -> float:
    """Return twice the area of a ring [points, 2]; below 0 where it runs anticlockwise on the screen, as holes do."""
    x, y = ring.T
    return float(np.dot(np.roll(x, 1), y) - np.dot(x, np.roll(y, 1)))


def _corner_pixel(hole: Floats) -> tuple[float, float]:
    """Return the middle of a pixel inside a hole: below the left end of its uppermost edge."""
    x, y = min(map(tuple, hole.tolist()), key=lambda point: (point[1], point[0]))
    return x + 0.5, y + 0.5


def _inside(point: tuple[float, float], ring: Floats) -> bool:
    """Return whether a ring goes round a point, by the number of edges to its right."""
    (x0, y0), (x1, y1) = ring.T, np.roll(ring, -1, axis=0).T
    crosses = (y0 > point[1]) != (y1 > point[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x0 + (point[1] - y0) * (x1 - x0) / (y1 - y0)
    return bool(np.count_nonzero(crosses & (at > point[0])) % 2)
