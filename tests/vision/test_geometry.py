"""How tables of objects become boxes, masks and outlines, and what is wrong with them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pycocotools import mask as coco

from metrics.core.errors import InputError
from metrics.vision.geometry import Compared, Geometry, compared_as, drawn, image_sizes, read_sides, whole, with_boxes

SCHEMA = pa.schema(
    [(name, pa.float64()) for name in ("x", "y", "width", "height")]
    + [("polygons", pa.list_(pa.list_(pa.float64()))), ("rle", pa.string()), ("is_crowd", pa.bool_())]
)
SQUARE = [1.0, 1.0, 4.0, 1.0, 4.0, 4.0, 1.0, 4.0]  # 3 × 3 pixels
RLE = coco.encode(np.asfortranarray(np.pad(np.ones((2, 3), np.uint8), ((1, 5), (2, 5)))))[
    "counts"
].decode()  # of 8 × 10


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([dict.fromkeys(SCHEMA.names) | row for row in rows], SCHEMA)


def box(*sides: float) -> dict[str, Any]:
    return dict(zip(("x", "y", "width", "height"), sides, strict=True))


def cases(*sizes: tuple[int | None, int | None]) -> pa.Table:
    return pa.table(
        {
            name: pa.array([size[place] for size in sizes], pa.int64())
            for place, name in enumerate(("image_height", "image_width"))
        }
    )


def places(count: int, image: int = 0) -> np.ndarray:
    return np.full(count, image, np.int32)


BOX = table(box(1, 1, 3, 3))
NOTHING = table()


@pytest.mark.parametrize(
    ("geometry", "truths", "predictions", "compared"),
    [
        pytest.param("auto", BOX, BOX, "box", id="boxes"),
        pytest.param("auto", table({"polygons": [SQUARE]}), BOX, "box", id="a model with boxes"),
        pytest.param("auto", BOX, table({"rle": RLE}), "box", id="ground truth with boxes"),
        pytest.param("auto", table({"polygons": [SQUARE]}, box(0, 0, 1, 1)), table({"rle": RLE}), "mask", id="masks"),
        pytest.param("auto", table({"polygons": []}), table({"rle": RLE}), "box", id="no rings"),
        pytest.param("auto", table({"rle": ""}), table({"rle": RLE}), "box", id="no runs"),
        pytest.param("auto", NOTHING, NOTHING, "box", id="nothing"),
        pytest.param("polygon", BOX, BOX, "polygon", id="as asked"),
    ],
)
def test_masks_are_compared_where_both_sides_have_them(
    geometry: Geometry, truths: pa.Table, predictions: pa.Table, compared: Compared
) -> None:
    assert compared_as(geometry, truths, predictions) == compared


MIXED = table({"polygons": [SQUARE]}, {"rle": RLE}, box(1, 1, 3, 3), {**box(5, 5, 1, 2), "polygons": [SQUARE]})


def test_boxes_are_those_given_or_around_what_is_drawn() -> None:
    sides, problems = read_sides("box", cases((8, 10)), MIXED, BOX, places(4), places(1))
    assert problems == []
    assert sides.truth_box.tolist() == [[1, 1, 3, 3], [2, 1, 3, 2], [1, 1, 3, 3], [5, 5, 1, 2]]
    assert sides.truth_area.tolist() == [9, 6, 9, 2]
    assert sides.prediction_box.tolist() == [[1, 1, 3, 3]]
    assert sides.overlap is None


def test_masks_have_areas_in_pixels_and_overlap() -> None:
    sides, problems = read_sides("mask", cases((8, 10)), MIXED, BOX, places(4), places(1))
    assert problems == []
    assert sides.truth_area.tolist() == [9, 6, 9, 9]
    assert sides.prediction_area.tolist() == [9]
    assert sides.overlap is not None
    found = sides.overlap(np.zeros(4, np.int32), np.arange(4, dtype=np.int32), 0.0)
    assert found.tolist() == pytest.approx([1, 4 / 11, 1, 1])  # columns 2, 3 of lines 1, 2


def test_outlines_are_exact() -> None:
    half = [1.0, 1.0, 2.5, 1.0, 2.5, 4.0, 1.0, 4.0]
    crowd = {"polygons": [SQUARE], "is_crowd": True}
    sides, problems = read_sides(
        "polygon", cases((None, None)), table(crowd), table({"polygons": [half]}), places(1), places(1)
    )
    assert problems == []
    assert sides.prediction_area.tolist() == [4.5]
    assert sides.overlap is not None
    assert sides.overlap(places(1), places(1), 0.0).tolist() == [1.0]  # of a crowd: its share of the prediction


def test_runs_have_outlines_too() -> None:
    """3 × 2 pixels, of which a ring and a box are compared with all or a part; what has rings needs no size."""
    sides, problems = read_sides("polygon", cases((8, 10)), MIXED, table({"rle": RLE}), places(4), places(1))
    assert problems == []
    assert sides.truth_area.tolist() == [9, 6, 9, 9]
    assert sides.prediction_box.tolist() == [[2, 1, 3, 2]]
    assert sides.overlap is not None
    found = sides.overlap(np.zeros(4, np.int32), np.arange(4, dtype=np.int32), 0.0)
    assert found.tolist() == pytest.approx([4 / 11, 1, 4 / 11, 4 / 11])
    _, problems = read_sides("polygon", cases((None, None)), MIXED, BOX, places(4), places(1))
    assert {problem.column for problem in problems} == {"image_height", "image_width"}


TWO, ODD, ENDLESS = [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]], [[1.0, 2.0, 3.0, 4.0, 5.0, np.nan]]
WRONG = [
    pytest.param("box", box(np.nan, 0, 1, 1), [("x", "nan")], id="no number"),
    pytest.param("box", box(0, np.inf, 1, 1), [("y", "inf")], id="infinite"),
    pytest.param("box", box(0, 0, -1, -2), [("width", "-1.0"), ("height", "-2.0")], id="negative sides"),
    pytest.param("box", box(-3, -4, 0, 0), [], id="outside, of no size"),
    pytest.param("box", {}, [("x", "None"), ("y", "None"), ("width", "None"), ("height", "None")], id="nothing"),
    pytest.param("mask", {"polygons": TWO}, [("polygons", str(TWO))], id="two points"),
    pytest.param("mask", {"polygons": ODD}, [("polygons", str(ODD))], id="odd"),
    pytest.param("mask", {"polygons": ENDLESS}, [("polygons", str(ENDLESS))], id="not finite"),
    pytest.param("mask", {"rle": "11"}, [("rle", "11")], id="runs of too few pixels"),
    pytest.param("box", {"rle": "11"}, [("rle", "11")], id="runs in place of a box"),
    pytest.param("polygon", {"rle": "11"}, [("rle", "11")], id="runs that have no outline"),
]


@pytest.mark.parametrize(("compared", "row", "expected"), WRONG)
def test_what_is_wrong_is_said_of_its_row(
    compared: Compared, row: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """In the second row of the predictions; the first is right."""
    right = {"polygons": [SQUARE]}
    truths, predictions = table(right), table(right, row)
    _, problems = read_sides(compared, cases((8, 10)), truths, predictions, places(1), places(2))
    found = [(problem.column, problem.found, problem.row) for problem in problems]
    assert found == [(column, text, 2) for column, text in expected]
    assert all("predictions" in str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([(8, 10)], [], id="known"),
        pytest.param([(None, 10)], [("image_height", "None")], id="no height"),
        pytest.param([(8, 0)], [("image_width", "0")], id="no width"),
        pytest.param([(-8, 10)], [("image_height", "-8")], id="negative"),
        pytest.param([(2**16, 2**15 - 1)], [], id="as large as can be"),
        pytest.param([(2**16, 2**15)], [("image_width", "32768")], id="too large"),
    ],
)
def test_masks_need_the_size_of_their_image(sizes: list[Any], expected: list[tuple[str, str]]) -> None:
    one = table({"polygons": [SQUARE]})
    read = cases(*sizes, (None, None))  # no object is of the second image
    _, problems = read_sides("mask", read, one, one, places(1), places(1))
    assert [(problem.column, problem.found) for problem in problems] == expected
    _, problems = read_sides("box", read, one, BOX, places(1), places(1))
    assert problems == []  # boxes around rings need none
    with_runs = read_sides("box", read, table({"rle": RLE}), BOX, places(1), places(1))[1]
    assert [(problem.column, problem.found) for problem in with_runs if problem.column != "rle"] == expected
    _, problems = read_sides("mask", read, one, one, places(1, -1), places(1, -1))
    assert problems == []  # nor has an object of no image one
    _, problems = read_sides("mask", cases(), one, one, places(1, -1), places(1, -1))
    assert problems == []


def test_all_that_is_wrong_is_raised_together() -> None:
    with pytest.raises(InputError) as error:
        drawn("annotations", table({"polygons": [[1.0]]}, {"rle": "11"}), cases((None, 4), (4, 4)))
    assert [problem.column for problem in error.value.problems] == ["image_height", "polygons", "rle"]


def test_missing_boxes_are_filled_in() -> None:
    found = with_boxes(table({}, box(1, 2, 3, 4)), np.array([[9.0, 8, 7, 6], [5, 5, 5, 5]]))
    assert [found[name].to_pylist() for name in ("x", "y", "width", "height")] == [[9, 1], [8, 2], [7, 3], [6, 4]]


def test_columns_of_parts_become_one() -> None:
    parts = pa.chunked_array([pa.array([1, 2]), pa.array([3])])
    assert whole(parts).to_pylist() == [1, 2, 3]
    assert image_sizes(cases((3, None), (-1, 4))).tolist() == [[3, 0], [0, 4]]
