"""Bitmaps of objects from any geometry: against pycocotools, and back again through GeoJSON and the readers."""

import json
import random
import warnings
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco

from metrics import bitmap
from metrics.core.errors import InputError
from metrics.ingest.tables.object_tables import parse_polygon
from metrics.vision.masks import Shapes, draw
from metrics.vision.outlines import bitmap_of, geojson

HEIGHT, WIDTH = 40, 50
RING = [5.2, 4.1, 40.7, 8.9, 30.3, 35.5, 8.0, 30.25]
TURNED = [20.0, 5.0, 35.0, 20.0, 20.0, 35.0, 5.0, 20.0]  # a box turned by 45°
HOLED = "POLYGON ((2 2, 42 2, 42 32, 2 32, 2 2), (10 10, 20 10, 20 20, 10 20, 10 10), (25 12, 35 12, 30 28, 25 12))"


def of_rings(*rings: list[float]) -> Any:
    with warnings.catch_warnings(action="ignore"):  # pycocotools calls numpy as it was before 2.0
        return coco.decode(coco.merge(coco.frPyObjects(list(rings), HEIGHT, WIDTH))).astype(bool)


def random_mask(seed: int) -> Any:
    """A bitmap of blobs with holes, some of them touching at corners."""
    draw_from = np.random.default_rng(seed)
    mask = draw_from.random((HEIGHT, WIDTH)) < 0.5
    for _ in range(seed % 3):  # smoother
        mask = (mask + np.roll(mask, 1, 0) * 1 + np.roll(mask, 1, 1) * 1) >= 2
    return mask


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ({"x": 3.0, "y": 4.0, "width": 10.0, "height": 20.0}, of_rings([3, 4, 13, 4, 13, 24, 3, 24])),
        ({"x": 40.5, "y": -3.0, "width": 30.0, "height": 10.0}, of_rings([40.5, -3, 70.5, -3, 70.5, 7, 40.5, 7])),
        ({"polygons": [RING]}, of_rings(RING)),
        ({"polygons": [TURNED]}, of_rings(TURNED)),
        ({"polygons": [RING, TURNED], "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}, of_rings(RING, TURNED)),
        ({"rle": coco.encode(np.asfortranarray(random_mask(4), np.uint8))["counts"].decode()}, random_mask(4)),
    ],
    ids=["box", "box beyond the edge", "polygon", "rotated box", "parts before a box", "run lengths"],
)
def test_a_bitmap_has_the_pixels_of_pycocotools(annotation: dict[str, Any], expected: Any) -> None:
    found = bitmap(annotation, HEIGHT, WIDTH)
    assert found.shape == (HEIGHT, WIDTH)
    assert (found == expected).all()


def test_a_polygon_with_holes_covers_what_is_between_its_rings() -> None:
    rings, box = parse_polygon(HOLED)
    outer, square, triangle = ([2, 2, 42, 2, 42, 32, 2, 32], [10, 10, 20, 10, 20, 20, 10, 20], [25, 12, 35, 12, 30, 28])
    found = bitmap({"polygons": rings}, HEIGHT, WIDTH)
    expected = of_rings(outer) & ~of_rings(square) & ~of_rings(triangle)
    assert (found == expected).all()
    assert box == (2, 2, 40, 30, 40 * 30 - 10 * 10 - 10 * 16 / 2)


def outline_of(mask: Any) -> str:
    code = coco.encode(np.asfortranarray(mask, np.uint8))["counts"].decode()
    return geojson((0, 0, 1, 1), [RING], code, mask.shape)


@pytest.mark.parametrize("seed", range(12))
def test_geojson_drawn_again_covers_the_same_pixels(seed: int) -> None:
    mask = random_mask(seed)
    text = outline_of(mask)
    shape = json.loads(text)
    assert shape["type"] == "MultiPolygon"
    assert all(ring[0] == ring[-1] for part in shape["coordinates"] for ring in part)
    rings, box = parse_polygon(text)
    assert (bitmap({"polygons": rings}, HEIGHT, WIDTH) == mask).all()
    assert box[4] == mask.sum()


@pytest.mark.parametrize(
    ("code", "size"), [("04", (2, 3)), ("04", (0, 0)), ("04", (1 << 16, 1 << 16)), ("~", (2, 2)), ("", (2, 2))]
)
def test_run_lengths_of_no_such_image_leave_the_rings(code: str, size: tuple[int, int]) -> None:
    assert geojson((0, 0, 1, 1), [RING], "04", (2, 2)) != geojson((0, 0, 1, 1), [RING])
    assert geojson((0, 0, 1, 1), [RING], code, size) == geojson((0, 0, 1, 1), [RING])


def test_holes_belong_to_the_part_around_them() -> None:
    mask = np.zeros((9, 20), bool)
    mask[0:9, 0:9] = True
    mask[1:8, 1:8] = False  # a ring with an island that has a hole of its own
    mask[3:6, 3:6] = True
    mask[4, 4] = False
    mask[2:5, 12:15] = True
    parts = json.loads(outline_of(mask))["coordinates"]
    assert sorted((len(part), len(part[0])) for part in parts) == [(1, 5), (2, 5), (2, 5)]
    island = next(part for part in parts if [3.0, 3.0] in part[0])
    assert sorted(island[1])[0] == [4.0, 4.0]


@pytest.mark.parametrize("seed", range(4))
def test_every_mask_of_many_is_its_own(seed: int) -> None:
    masks = [random_mask(random.Random(seed).randrange(99) + place) for place in range(5)]
    codes = [coco.encode(np.asfortranarray(mask, np.uint8))["counts"].decode() for mask in masks]
    drawn = draw(Shapes.of(rle=codes), HEIGHT, WIDTH)
    assert all((bitmap_of(drawn, place) == mask).all() for place, mask in enumerate(masks))


def test_all_that_cannot_be_drawn_is_listed() -> None:
    with pytest.raises(InputError) as error:
        bitmap({"polygons": [[1.0, 2.0]], "x": 0.0}, 0, 4)
    text = str(error.value)
    assert "annotation, row 1, column polygons" in text
    assert "column image_height: found 0" in text
    with pytest.raises(InputError, match="rle"):
        bitmap({"rle": "abc"}, 4, 4)
