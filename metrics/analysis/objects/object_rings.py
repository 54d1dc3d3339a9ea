"""What a page draws of objects: the outlines of their masks, their polygons, or their boxes."""

from math import isfinite

import pyarrow as pa

from metrics.vision.outlines import mask_rings

MANY = 60  # with more masks than that, outlines are coarser, so that all together stay small
DRAWN = ("x", "y", "width", "height", "polygons", "rle", "keypoints")
FINE, COARSE = 320, 96  # steps along the longer side of a mask

Rings = list[list[float]]


def object_rings(table: pa.Table, height: int | None) -> list[Rings]:
    """Return the rings (x1 y1 x2 y2 …, pixels) of each object of an image of that height, in pixels.

    Of its run lengths, else of its polygons, else of its box, else of the box around its key points; none where it has
    nothing that can be drawn. Filled by the rule "nonzero" they cover the object: all rings go round one way, except
    those around the holes of a mask.
    """
    finest = FINE if len(table) <= MANY else COARSE
    held = table.select([name for name in DRAWN if name in table.column_names])
    return [_rings(row, height, finest) for row in held.to_pylist()]


def _rings(row: dict[str, object], height: int | None, finest: int) -> Rings:
    from metrics.vision import rle  # on use, as in mask_rings

    text, polygons = row.get("rle"), row.get("polygons")
    if isinstance(text, str) and text and height:
        try:
            return mask_rings(text, height, rle.box(rle.decode(text), height), finest)
        except ValueError:
            pass
    if isinstance(polygons, list):
        rings = [_clockwise(ring) for ring in polygons if _is_ring(ring)]
        if rings:
            return rings
    box = [value for value in map(row.get, ("x", "y", "width", "height")) if isinstance(value, float)]
    if len(box) < 4 or not all(map(isfinite, box)):
        points = row.get("keypoints")
        if not isinstance(points, list) or not points:
            return []
        left, top = min(points[0::3]), min(points[1::3])
        box = [left, top, max(points[0::3]) - left, max(points[1::3]) - top]
    x, y, across, down = box
    return [[x, y, x + across, y, x + across, y + down, x, y + down]]


def _is_ring(ring: list[float]) -> bool:
    return len(ring) >= 6 and len(ring) % 2 == 0 and all(map(isfinite, ring))


def _clockwise(ring: list[float]) -> list[float]:
    """Return the ring, turned round where it goes the other way (y points down)."""
    x, y = ring[::2], ring[1::2]
    doubled = sum(x[i - 1] * y[i] - x[i] * y[i - 1] for i in range(len(x)))
    if doubled >= 0:
        return ring
    return [number for place in range(len(x) - 1, -1, -1) for number in (x[place], y[place])]
