"""Masks as runs: every pixel, area, box and IoU is that of pycocotools; polygons by shapely."""

import numpy as np
import pytest
import shapely
from hypothesis import given, strategies as st
from pycocotools import mask as reference

from metrics.vision.masks import MaskOverlap, Shapes, draw, encode
from metrics.vision.outlines import OutlineOverlap, outline
from tests.vision.mask_oracle import decoded, random_rings, random_shape, rle_of

NUMBER = st.one_of(
    st.integers(-30, 90).map(float),
    st.floats(-30, 90, allow_nan=False),
    st.integers(-150, 450).map(lambda fifths: fifths / 5),
    st.integers(-300, 900).map(lambda tenths: tenths / 10),
)
RING = st.lists(st.tuples(NUMBER, NUMBER), min_size=3, max_size=9).map(
    lambda points: [x for point in points for x in point]
)
SIDE = st.integers(1, 64)


def texts(masks):
    return [mask["counts"].decode() for mask in masks]


@given(st.lists(RING, min_size=1, max_size=3), SIDE, SIDE)
def test_polygons_are_drawn_as_by_pycocotools(rings, height, width):
    expected = reference.merge(reference.frPyObjects(rings, height, width))
    masks = draw(Shapes.of(polygons=[rings]), height, width)
    assert encode(masks) == texts([expected])
    assert masks.area.tolist() == [int(reference.area(expected))]
    if masks.area[0]:
        assert masks.box[0].tolist() == reference.toBbox(expected).tolist()
    else:
        assert masks.box[0].tolist() == [0, 0, 0, 0]


@given(st.tuples(NUMBER, NUMBER, NUMBER.map(abs), NUMBER.map(abs)), SIDE, SIDE)
def test_boxes_are_drawn_as_by_pycocotools(box, height, width):
    expected = reference.frPyObjects(np.array([box]), height, width)
    assert encode(draw(Shapes.of(box=[box]), height, width)) == texts(expected)


@pytest.mark.parametrize("seed", range(60))
def test_masks_of_an_image_equal_pycocotools(seed):
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(1, 120)), int(rng.integers(1, 120)))
    shapes = [random_shape(rng, size, seed % 2 == 0) for _ in range(40)]
    expected = [rle_of(shape, size) for shape in shapes]
    polygons = [shape if isinstance(shape, list) else None for shape in shapes]
    runs = [None if isinstance(shape, list) else rle_of(shape, size)["counts"].decode() for shape in shapes]
    masks = draw(Shapes.of(polygons=polygons, rle=runs), *size)
    assert encode(masks) == texts(expected)
    assert masks.area.tolist() == reference.area(expected).tolist()
    some = masks.area > 0
    assert np.array_equal(masks.box[some], reference.toBbox(expected)[some])
    crowd = rng.random(len(shapes)) < 0.3
    every = np.indices((len(masks), len(masks)), np.int32).reshape(2, -1)
    iou = MaskOverlap(masks, masks, crowd)(*every, 0.0).reshape(len(masks), -1)
    assert np.array_equal(iou, reference.iou(expected, expected, crowd.astype(np.uint8)))


RUNS = {
    "nothing": ([12], "<"),
    "all": ([0, 12], "0<"),
    "zero runs in between": ([2, 3, 0, 4, 3], None),
    "one pixel": ([5, 1, 6], None),
}


@pytest.mark.parametrize(("counts", "text"), RUNS.values(), ids=RUNS.keys())
def test_run_lengths_are_read_and_written_as_by_pycocotools(counts, text):
    expected = reference.frPyObjects({"size": [3, 4], "counts": counts}, 3, 4)
    masks = draw(Shapes.of(rle=texts([expected])), 3, 4)
    assert not masks.faulty.any()
    assert masks.area.tolist() == [sum(counts[1::2])]
    assert np.array_equal(decoded({"size": [3, 4], "counts": encode(masks)[0]}), decoded(expected))
    if text is not None:
        assert encode(masks) == texts([expected]) == [text]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("!", id="a character outside the code"),
        pytest.param("é", id="no ASCII"),
        pytest.param("\\", id="ends inside a run"),
        pytest.param(";", id="too few pixels"),
        pytest.param("=", id="too many pixels"),
        pytest.param("O=", id="a negative run"),
        pytest.param("o" * 40, id="a run without end"),
        pytest.param("oooooooooo_", id="a run beyond 64 bits"),
    ],
)
def test_what_is_no_run_length_code_is_faulty_and_empty(text):
    masks = draw(Shapes.of(rle=["<", text, "0<"]), 3, 4)
    assert masks.faulty.tolist() == [False, True, False]
    assert masks.area.tolist() == [0, 0, 12]


@pytest.mark.parametrize("reach", [1e3, 1e6, 1e9, 1e300])
def test_what_lies_far_outside_is_cut_off(reach):
    ring = [-reach, -reach, reach, -reach, reach, reach, -reach, reach]
    masks = draw(Shapes.of(polygons=[[ring]], box=[[0, 0, 1, 1]]), 30, 40)
    assert masks.area.tolist() == [1200]


def test_a_large_image_costs_no_bitmap():
    masks = draw(Shapes.of(box=[[10, 10, 20_000, 20_000]] * 50), 40_000, 50_000)
    assert masks.area.tolist() == [20_000**2] * 50


def test_nothing_at_all():
    none = draw(Shapes.of(), (), ())
    assert (len(none), encode(none)) == (0, [])
    nowhere = np.zeros(0, np.int32)
    assert MaskOverlap(none, none, np.zeros(0, np.bool_))(nowhere, nowhere, 0.0).shape == (0,)


def rotated(x: float, y: float, width: float, height: float, angle: float) -> list[float]:
    corners = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return (corners @ turn + (x, y)).ravel().tolist()


def test_rotated_boxes_equal_shapely():
    rng = np.random.default_rng(3)
    boxes = [rotated(*rng.uniform(20, 60, 2), *rng.uniform(5, 50, 2), rng.uniform(0, np.pi)) for _ in range(200)]
    outlines = outline(Shapes.of(polygons=[[box] for box in boxes]))
    crowd = np.arange(200) % 5 == 0
    one, two = (np.array(rows, np.int32) for rows in (np.arange(100), np.arange(100, 200)))
    values = OutlineOverlap(outlines, outlines, crowd)(one, two, 0.5)
    for value, d, g in zip(values, one, two, strict=True):
        a, b = (shapely.Polygon(np.reshape(boxes[row], (-1, 2))) for row in (d, g))
        assert value == pytest.approx(a.intersection(b).area / (a.area if crowd[g] else a.union(b).area), abs=1e-12)


def test_exact_outlines_and_masks_agree_within_rasterisation():
    rng = np.random.default_rng(5)
    rings = [random_rings(rng, (400, 400), False)[:1] for _ in range(30)]
    fine = draw(
        Shapes.of(polygons=[[(np.array(ring) * 10 + 500).tolist() for ring in object_] for object_ in rings]),
        6_000,
        6_000,
    )
    exact = outline(Shapes.of(polygons=rings))
    simple = np.array(
        [all(shapely.Polygon(np.reshape(ring, (-1, 2))).is_valid for ring in object_) for object_ in rings]
    )
    assert fine.area[simple] / 100 == pytest.approx(exact.area[simple], rel=0.01, abs=1)


@pytest.mark.parametrize("density", [0.03, 0.3, 0.5, 0.8, 1.0])
def test_outlines_of_masks_are_their_pixels(density: float) -> None:
    """Holes, several parts, parts that touch at a corner: areas, boxes and IoU are those of pycocotools."""
    rng = np.random.default_rng(int(100 * density))
    pixels = [rng.random((24, 17)) < density for _ in range(20)]
    pixels[0][:], pixels[1][5:9, 3:8] = False, [[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 0]]
    given = [reference.encode(np.asfortranarray(each, np.uint8)) for each in pixels]
    shapes = Shapes.of(rle=[each["counts"].decode() for each in given])
    masks = draw(shapes, 24, 17)
    found = outline(shapes, masks)
    assert found.area.tolist() == masks.area.tolist() == [each.sum() for each in pixels]
    assert found.box.tolist() == masks.box.tolist()
    assert shapely.is_valid(found.shape).all()
    crowd = np.arange(20) % 3 == 0
    one, two = (each.ravel().astype(np.int32) for each in np.indices((20, 20)))
    exact = OutlineOverlap(found, found, crowd)(one, two, 0.0)
    assert exact == pytest.approx(MaskOverlap(masks, masks, crowd)(one, two, 0.0), abs=1e-12)
    assert exact == pytest.approx(reference.iou(given, given, crowd.astype(np.uint8)).ravel(), abs=1e-12)


def test_what_has_rings_has_their_outline_whatever_its_mask() -> None:
    runs = reference.encode(np.asfortranarray(np.ones((4, 5), np.uint8)))["counts"].decode()
    shapes = Shapes.of(rle=[runs, runs], polygons=[[[0, 0, 2.5, 0, 2.5, 1, 0, 1]], None])
    assert outline(shapes, draw(shapes, 4, 5)).area.tolist() == [2.5, 20]


BROKEN = {
    "bow tie": ([[0, 0, 10, 10, 10, 0, 0, 10]], 50.0),
    "a spike": ([[0, 0, 10, 0, 10, 10, 20, 20, 10, 10, 0, 10]], 100.0),
    "a line": ([[0, 0, 5, 5, 10, 10]], 0.0),
    "a point": ([[3, 3, 3, 3, 3, 3]], 0.0),
    "overlapping rings": ([[0, 0, 10, 0, 10, 10, 0, 10], [5, 0, 15, 0, 15, 10, 5, 10]], 150.0),
    "a bow tie and a square": ([[0, 0, 10, 10, 10, 0, 0, 10], [20, 0, 30, 0, 30, 10, 20, 10]], 150.0),
}


@pytest.mark.parametrize(("rings", "area"), BROKEN.values(), ids=BROKEN.keys())
def test_outlines_are_repaired_and_joined(rings, area):
    found = outline(Shapes.of(polygons=[rings, None], box=[[0, 0, 0, 0], [0, 0, 4, 5]]))
    assert found.area.tolist() == pytest.approx([area, 20])
    same = OutlineOverlap(found, found, np.zeros(2, np.bool_))(*np.zeros((2, 1), np.int32), 0.0)
    assert same.tolist() == pytest.approx([1.0 if area else 0.0])
