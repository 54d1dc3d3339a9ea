"""Objects as outlines: polygons, masks traced along the edges of their pixels, compared exactly by shapely."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.stats.float_tolerance import ratio
from metrics.vision.masks import LARGEST_IMAGE, Masks, Shapes, draw

POLYGON, MULTIPOLYGON = 3, 6  # shapely's type numbers
FINEST = 96  # steps along the longer side of a mask's box

Rings = list[list[float]]  # x1 y1 x2 y2 … in pixels


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


def outline(shapes: Shapes, masks: Masks | None = None) -> Outlines:
    """Return the outlines of `shapes`: the union of an object's rings, else of its mask, if it has one, else its box.

    A ring that crosses itself is repaired by shapely's make_valid: what it encloses an odd number of times. Of an
    object with run lengths and no rings the outline goes along the edges of the pixels of its mask, holes too.
    """
    import shapely

    x, y, width, height = shapes.box.T
    shape = shapely.box(x, y, x + width, y + height)
    lengths, rings_of = np.diff(shapes.ring_start) // 2, np.diff(shapes.object_ring)
    if len(lengths):
        indices = np.repeat(np.arange(len(lengths)), lengths)
        rings = shapely.polygons(shapely.linearrings(shapes.points.reshape(-1, 2), indices=indices))
        wrong = np.flatnonzero(~shapely.is_valid(rings))
        rings[wrong] = [_surface(ring) for ring in shapely.make_valid(rings[wrong])]
        shape[np.repeat(np.arange(len(shapes)), rings_of)] = rings
        for row in np.flatnonzero(rings_of > 1):
            shape[row] = shapely.union_all(rings[slice(*shapes.object_ring[[row, row + 1]])])
    if masks is not None:
        for row in np.flatnonzero((rings_of == 0) & (np.diff(shapes.text_start) > 0)):
            shape[row] = _mask_outline(masks, int(row))
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


def _mask_outline(masks: Masks, row: int) -> Any:
    """Return what the edges of a mask's pixels enclose: parts with their holes."""
    import shapely

    edges, high = masks.edges[slice(*masks.start[[row, row + 1]])], int(masks.height[row])
    rings = _rings_in_box(edges, high, masks.box[row], max(high, int(masks.width[row])))
    if not rings:
        return shapely.Polygon()
    first, *others = (np.reshape(ring, (-1, 2)) for ring in rings)
    return shapely.make_valid(shapely.Polygon(first, others))  # by parity


def mask_rings(rle: str, height: int, box: Sequence[float], finest: int = FINEST) -> Rings:
    """Return the rings around the parts and the holes of a mask of COCO's run lengths.

    height: of the image, pixels; box: x, y, width, height of the mask. Masks wider or higher than `finest` pixels are
    sampled, so that outlines stay small. ValueError on a text that is not run lengths.
    """
    from metrics.vision.rle import decode  # on use: with the readers of every format it is a tenth of a cold start

    return _rings_in_box(np.cumsum(np.array(decode(rle), np.int64)), height, box, finest)


def _rings_in_box(edges: Ints | Int32s, height: int, box: Sequence[float] | Floats, finest: int) -> Rings:
    """Return the rings of the mask whose runs begin and end at `edges`, y + x · height, within a box."""
    left, top = max(0, int(box[0])), max(0, int(box[1]))
    columns, lines = int(np.ceil(box[0] + box[2])) - left, min(height, int(np.ceil(box[1] + box[3]))) - top

    def inside(x: Ints, y: Ints) -> Bools:  # only what is drawn, however large the mask
        found: Bools = np.searchsorted(edges, (left + x) * height + top + y[:, None], side="right") % 2 == 1
        return found

    return _rings(lines, columns, left, top, finest, inside)


def bitmap_rings(mask: Bools, left: int = 0, top: int = 0, finest: int = FINEST) -> Rings:
    """Return the rings around the parts and the holes of a bitmap [lines, columns] whose corner is at (left, top)."""
    lines, columns = mask.shape
    return _rings(lines, columns, left, top, finest, lambda x, y: mask[np.ix_(y, x)])


def _rings(lines: int, columns: int, left: int, top: int, finest: int, inside: Callable[[Ints, Ints], Bools]) -> Rings:
    """Return the rings of a mask, of which so many pixels at most are looked at, evenly, along its longer side."""
    if columns < 1 or lines < 1:
        return []
    step = max(1, -(-max(columns, lines) // finest))
    return [
        [float(edge) for x, y in ring for edge in (left + min(x * step, columns), top + min(y * step, lines))]
        for ring in _trace(inside(np.arange(0, columns, step), np.arange(0, lines, step)))
    ]


def _trace(mask: Bools) -> list[list[tuple[int, int]]]:
    """Return closed rings of corners (x, y) between true and false pixels, straight runs joined."""
    padded = np.pad(mask, 1)
    inside = padded[1:-1, 1:-1]
    ahead: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # the four edges of a pixel, clockwise: where the neighbour across it is false
    for neighbour, (x0, y0), (x1, y1) in (
        (padded[:-2, 1:-1], (0, 0), (1, 0)),
        (padded[1:-1, 2:], (1, 0), (1, 1)),
        (padded[2:, 1:-1], (1, 1), (0, 1)),
        (padded[1:-1, :-2], (0, 1), (0, 0)),
    ):
        for y, x in np.argwhere(inside & ~neighbour).tolist():
            ahead.setdefault((x + x0, y + y0), []).append((x + x1, y + y1))
    rings = []
    while ahead:
        start = next(iter(ahead))
        ring, here = [start], start
        while True:
            following = ahead[here].pop()
            if not ahead[here]:
                del ahead[here]
            if len(ring) > 1 and _straight(ring[-2], ring[-1], following):
                ring.pop()
            if following == start:
                break
            ring.append(following)
            here = following
        rings.append(ring)
    return rings


def _straight(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    return a[0] == b[0] == c[0] or a[1] == b[1] == c[1]


def bitmap_of(masks: Masks, row: int) -> Bools:
    """Return one mask as a bitmap [height, width] of its image."""
    height, width = int(masks.height[row]), int(masks.width[row])
    edges = masks.edges[masks.start[row] : masks.start[row + 1]]
    change = np.zeros(height * width + 1, np.int8)
    change[edges[0::2]] = 1
    change[edges[1::2]] -= 1
    inside: Bools = np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)
    return inside.reshape(width, height).T


def geojson(
    box: Sequence[float],
    rings: Sequence[Sequence[float]] | None = None,
    rle: str | None = None,
    size: Sequence[int] = (0, 0),
) -> str:
    """Return the geometry of an object as GeoJSON text (RFC 7946): a Polygon, or of several parts a MultiPolygon.

    rle: COCO's run lengths of an image of that size, height and width: a MultiPolygon along the edges of the pixels, of
    each part its holes after its outer ring; drawn again it covers exactly the same pixels. Passed over if they are
    not of that size. rings: x1 y1 x2 y2 … of each part, without holes, as COCO has them. box: x, y, width, height, y
    downwards; without anything else it is drawn, clockwise on the screen from its upper left corner. Rings are closed.

    >>> geojson((0, 0, 2, 1))
    '{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,1],[0,1],[0,0]]]}'
    """
    if rle and 0 < size[0] * size[1] <= LARGEST_IMAGE:
        mask = draw(Shapes.of(rle=[rle]), *size)
        if not mask.faulty[0]:
            import shapely

            whole = shapely.get_parts(_mask_outline(mask, 0))
            return _geojson([[r.coords for r in (part.exterior, *part.interiors) if r] for part in whole], False)
    x, y, width, height = box
    corners = (x, y, x + width, y, x + width, y + height, x, y + height)
    parts = [list(zip(ring[::2], ring[1::2], strict=True)) for ring in rings or (corners,)]
    return _geojson([[part if part[0] == part[-1] else [*part, part[0]]] for part in parts], len(parts) == 1)


def _geojson(parts: Sequence[Iterable[Iterable[Sequence[float]]]], alone: bool) -> str:
    rings = [[[list(point) for point in ring] for ring in part] for part in parts]
    kind, coordinates = ("Polygon", rings[0]) if alone else ("MultiPolygon", rings)
    return json.dumps({"type": kind, "coordinates": coordinates}, separators=(",", ":"))
