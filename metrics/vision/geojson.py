"""Boxes and polygons as GeoJSON geometries (RFC 7946), in pixels with y downwards."""

import json
from collections.abc import Sequence

_compact = json.JSONEncoder(separators=(",", ":")).encode


def geojson(box: Sequence[float], rings: Sequence[Sequence[float]] | None = None) -> str:
    """Return the geometry of an object as GeoJSON text: a Polygon, or a MultiPolygon where it has several parts.

    box: x, y, width, height. rings: x1 y1 x2 y2 … of each part, without holes, as COCO has them; without any the box is
    drawn, clockwise on the screen from its upper left corner. Rings are closed.

    >>> geojson((0, 0, 2, 1))
    '{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,1],[0,1],[0,0]]]}'
    """
    x, y, width, height = box
    corners = (x, y, x + width, y, x + width, y + height, x, y + height)
    parts = [[_closed(ring)] for ring in rings or (corners,)]
    if len(parts) == 1:
        return _compact({"type": "Polygon", "coordinates": parts[0]})
    return _compact({"type": "MultiPolygon", "coordinates": parts})


def _closed(ring: Sequence[float]) -> list[list[float]]:
    points = [list(point) for point in zip(ring[::2], ring[1::2], strict=True)]
    return points if points[0] == points[-1] else [*points, points[0]]
