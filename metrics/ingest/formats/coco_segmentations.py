"""A segmentation of a COCO document: polygons or run lengths, also as tools wrap and spell them."""

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson

from metrics.core.array_types import Floats, Ints
from metrics.ingest.tables.object_tables import outline
from metrics.ingest.tables.values import finite, whole_number
from metrics.vision import rle
from metrics.vision.masks import LARGEST_IMAGE, Shapes, draw, is_ring

Sizes = dict[int, tuple[int, int]]  # height, width by image id
NEAR = 1.5  # pixels by which the box of an outline may miss the stated one


class Segmentation(NamedTuple):
    """Compressed run lengths or rings, their box and area, and how many rings were too short and left out."""

    code: str | None
    rings: list[list[float]] | None
    box: Sequence[float]
    area: float
    short: int = 0


def read_segmentation(value: Any, size: tuple[int, int] | None, box: Floats) -> Segmentation:
    """Return a segmentation in an image of a size (height, width) of an object with a box; ValueError if it is none.

    Read are, besides COCO's forms: JSON in quotes, run lengths in a list, with numbers in quotes, fractions of 0, bytes
    as Python prints them, without a size, or with width before height where the box shows it; points as pairs; one flat
    ring whose box is the object's.
    """
    try:
        return _read(value, size, box)
    except ValueError:
        try:
            return _read(_plain(value), size, box)
        except (ValueError, SyntaxError, TypeError):
            pass
        raise


def _read(value: Any, size: tuple[int, int] | None, box: Floats) -> Segmentation:
    return _mask(value, size, box) if isinstance(value, dict) else _rings(value, box)


def _plain(value: Any) -> Any:
    """Return a segmentation without the quotes, lists and types that tools put around it."""
    if isinstance(value, str):
        return _plain(orjson.loads(value)) if value[:1] in ("[", "{") else value
    if isinstance(value, dict):
        counts, size = value.get("counts"), value.get("size")
        if isinstance(counts, str) and counts[:2] in ("b'", 'b"'):
            counts = ast.literal_eval(counts).decode()
        elif isinstance(counts, list):
            counts = list(map(whole_number, counts))
        return {"counts": counts, "size": list(map(whole_number, size)) if isinstance(size, list) else size}
    if not isinstance(value, list) or not value:
        return value
    if isinstance(value[0], dict) and len(value) == 1:
        return _plain(value[0])
    if all(isinstance(point, list) and len(point) == 2 and not isinstance(point[0], list) for point in value):
        value = [value]  # one ring of points
    if not all(isinstance(ring, list) for ring in value):
        return list(map(float, value))
    flat = ([number for part in ring for number in (part if isinstance(part, list) else [part])] for ring in value)
    return [list(map(float, ring)) for ring in flat]


def _rings(value: Any, box: Floats) -> Segmentation:
    """Return the rings of a segmentation; else ValueError."""
    # One flat list of coordinates is a ring where its box is the object's.
    if not isinstance(value, list):
        raise ValueError(f"{value!r}"[:80])
    if len(value) > 4 and all(map(finite, value)):
        if not is_ring(np.array([len(value)])).all() or not np.allclose(_outline_of([value])[0], box, atol=NEAR):
            raise ValueError(f"{value!r}"[:80])
        value = [value]
    for ring in value:
        if not isinstance(ring, list) or not all(map(finite, ring)) or (len(ring) > 5 and len(ring) % 2):
            raise ValueError(f"ring {ring!r}"[:80])
    rings = [[float(number) for number in ring] for ring in value if is_ring(np.array([len(ring)])).all()]
    if not rings:
        raise ValueError(f"ring {value[0]!r}"[:80])
    return Segmentation(None, rings, *_outline_of(rings), len(value) - len(rings))


def _outline_of(rings: list[list[float]]) -> tuple[list[float], float]:
    *box, area = outline([(ring[0::2], ring[1::2]) for ring in rings])
    return box, area


def read_masks(values: list[Any], image_ids: Ints, sizes: Sizes) -> dict[int, Segmentation]:
    """Return the result of `_mask` for all compressed texts that are right, at once; the others are left to it."""
    wanted: list[tuple[int, str, tuple[int, int]]] = []
    for place, value in enumerate(values):
        if isinstance(value, dict) and isinstance(value.get("counts"), str):
            size = sizes.get(int(image_ids[place]))
            if size is not None and value.get("size") == list(size) and size[0] * size[1] <= LARGEST_IMAGE:
                wanted.append((place, value["counts"], size))
    if not wanted:
        return {}
    places, texts, shapes = zip(*wanted, strict=True)
    height, width = np.array(shapes).T
    masks = draw(Shapes.of(rle=texts), height, width)
    columns = zip(places, texts, masks.box.tolist(), masks.area.tolist(), masks.faulty.tolist(), strict=True)
    return {
        place: Segmentation(text, None, tuple(box), float(area))
        for place, text, box, area, faulty in columns
        if text and not faulty
    }


def _mask(value: dict[str, Any], size: tuple[int, int] | None, box: Floats) -> Segmentation:
    counts, shape = value.get("counts"), value.get("size")
    if size is not None and min(size) < 1:  # the images may tell
        sides: list[Any] = shape if isinstance(shape, list) and len(shape) == 2 else [None]
        size = (sides[0], sides[1]) if all(type(side) is int and 0 < side <= LARGEST_IMAGE for side in sides) else None
    turned = size is not None and shape == [size[1], size[0]] and size[0] != size[1]
    if size is not None and shape not in (None, list(size)) and not turned:
        raise ValueError(f"size {shape!r}, the image has {list(size)}")
    if isinstance(counts, str):
        runs = rle.decode(counts)
    elif isinstance(counts, list) and all(type(run) is int for run in counts):
        runs = counts
    else:
        raise ValueError(f"counts {counts!r}"[:80])
    if any(run < 0 for run in runs) or (size is not None and sum(runs) != size[0] * size[1]):
        raise ValueError(f"runs that cover {sum(runs):,} pixels of {size}")
    text = counts if isinstance(counts, str) else rle.encode(runs)
    around = rle.box(runs, size[0] if size else 1)
    if turned and not np.allclose(around, box, atol=NEAR):
        raise ValueError(f"size {shape!r}, the image has {list(size or ())}")
    return Segmentation(text, None, around, float(rle.area(runs)))
