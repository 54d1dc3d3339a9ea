"""How objects are compared: as boxes, as masks at the resolution of the image, or as exact outlines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Int32s, Ints, Numbers
from metrics.core.errors import InputError, InputProblem
from metrics.vision.boxes import box_areas
from metrics.vision.keypoints import VALUES, Keypoints
from metrics.vision.masks import LARGEST_IMAGE, MaskOverlap, Masks, Shapes, draw, is_ring, starts
from metrics.vision.objects import Overlap
from metrics.vision.outlines import OutlineOverlap, Outlines, outline

Geometry = Literal["auto", "box", "mask", "polygon"]
Compared = Literal["box", "mask", "polygon"]

BOX = ("x", "y", "width", "height")
SIDES = ("image_height", "image_width")
AT_LEAST = "the image's side in pixels, at least 1: masks are compared at its resolution"
AT_MOST = f"an image of at most {LARGEST_IMAGE:,} pixels"
RING = "rings of at least three points, x1 y1 x2 y2 … in finite numbers of pixels"
RLE = "COCO's compressed run lengths of exactly the image's pixels"


@dataclass(frozen=True, eq=False, slots=True)
class Sides:
    """Ground truths and predictions ready to compare: boxes [N, 4], areas [N] in square pixels, and what refines boxes.

    With masks the area is the number of pixels, as pycocotools has it for masks without a box.
    """

    truth_box: Floats
    truth_area: Numbers
    prediction_box: Floats
    prediction_area: Numbers
    overlap: Overlap | None


def compared_as(geometry: Geometry, truths: pa.Table, predictions: pa.Table) -> Compared:
    """Return the meaning of "auto": masks where both sides have outlines or run lengths, else boxes.

    A model that gives only boxes is evaluated by boxes even where the ground truth has polygons too, as COCO's always
    has: that is COCO's box evaluation of these files. So is a model with masks where the ground truth has none.
    """
    if geometry != "auto":
        return geometry
    return "mask" if all(_has_runs(table).any() or _has_rings(table) for table in (truths, predictions)) else "box"


def read_sides(
    compared: Compared, cases: pa.Table, truths: pa.Table, predictions: pa.Table, truth_image: Int32s, image: Int32s
) -> tuple[Sides, list[InputProblem]]:
    """Return the objects of both sides, ready to compare, and everything that is wrong with their geometry.

    `truth_image` and `image` hold the row in `cases` of each object's image, −1 for none.
    """
    sizes = image_sizes(cases)
    sides = (("annotations", truths, truth_image), ("predictions", predictions, image))
    problems: list[InputProblem] = []
    crowd = np.array(whole(truths["is_crowd"].fill_null(False)), np.bool_)
    if compared == "box":
        boxes = [_read_boxes(*side, sizes, problems) for side in sides]
        result = Sides(boxes[0], box_areas(boxes[0]), boxes[1], box_areas(boxes[1]), None)
        needed = [side[2][_lacks_box(side[1]) & _has_runs(side[1])] for side in sides]
    elif compared == "mask":
        of_truths, of_predictions = (_read_masks(*side, sizes, problems) for side in sides)
        overlap = MaskOverlap(of_predictions, of_truths, crowd)
        result = Sides(of_truths.box, of_truths.area, of_predictions.box, of_predictions.area, overlap)
        needed = [truth_image, image]
    else:
        true_outlines, outlines = (_read_outlines(*side, sizes, problems) for side in sides)
        exact = OutlineOverlap(outlines, true_outlines, crowd)
        result = Sides(true_outlines.box, true_outlines.area, outlines.box, outlines.area, exact)
        needed = [side[2][_has_runs(side[1])] for side in sides]
    return result, [*size_problems(cases, sizes, needed), *problems]


def drawn(file: str, table: pa.Table, cases: pa.Table) -> Masks:
    """Return the masks of the objects of a table; `cases` has a row with the size of its image for each of them.

    `file` is their name in messages. InputError listing every size and geometry that cannot be drawn.
    """
    sizes, image = image_sizes(cases), np.arange(len(table), dtype=np.int32)
    problems: list[InputProblem] = []
    masks = _read_masks(file, table, image, sizes, problems)
    if found := [*size_problems(cases, sizes, [image]), *problems]:
        raise InputError(found)
    return masks


def with_boxes(table: pa.Table, boxes: Floats) -> pa.Table:
    """Return the objects of a table, those without a box with theirs of `boxes` [N, 4]."""
    for place, name in enumerate(BOX):
        values = pc.coalesce(whole(table[name]), pa.array(boxes[:, place]))
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


def faults(file: str, column: str, values: pa.ChunkedArray, wrong: Bools, expected: str) -> list[InputProblem]:
    """Return one problem for each value of a column that is `wrong`."""
    rows = np.flatnonzero(wrong).tolist()
    return [InputProblem(file, str(values[row].as_py()), expected, row + 1, column) for row in rows]


def whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array."""
    joined = column.combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined


def image_sizes(cases: pa.Table) -> Ints:
    """Return height and width of each image [I, 2], 0 where unknown."""
    sides = [whole(cases[name].fill_null(0)).to_numpy(zero_copy_only=False) for name in SIDES]
    return np.column_stack(sides).astype(np.int64).clip(0)


def size_problems(cases: pa.Table, sizes: Ints, images: Sequence[Int32s]) -> list[InputProblem]:
    """Return those of `images` whose size is missing or beyond all bounds."""
    needed = np.zeros(len(cases), np.bool_)
    for rows in images:
        needed[rows[rows >= 0]] = True
    problems = []
    for place, name in enumerate(SIDES):
        problems += faults("cases", name, cases[name], needed & (sizes[:, place] < 1), AT_LEAST)
    large = sizes.prod(axis=1) > LARGEST_IMAGE
    return problems + faults("cases", SIDES[1], cases[SIDES[1]], needed & large, AT_MOST)


def _read_boxes(file: str, table: pa.Table, image: Int32s, sizes: Ints, problems: list[InputProblem]) -> Floats:
    """Return the boxes [N, 4]; around the polygons or run lengths where an object has no box."""
    boxes, lacking = _boxes(table), _lacks_box(table)
    problems += _box_problems(file, table, ~lacking)
    if lacking.any():
        shapes = _checked(file, table, problems)
        runs = _has_runs(table)
        if runs.any():  # nothing is compiled for rings
            of_runs = lacking & runs
            boxes[of_runs] = _drawn(file, table, image, sizes, shapes, problems).box[of_runs]
        for row in np.flatnonzero(lacking & ~runs).tolist():
            boxes[row] = shapes.ring_box(row)
    return boxes


def _read_masks(file: str, table: pa.Table, image: Int32s, sizes: Ints, problems: list[InputProblem]) -> Masks:
    problems += _box_problems(file, table, ~_shaped(table))
    return _drawn(file, table, image, sizes, _checked(file, table, problems), problems)


def _read_outlines(file: str, table: pa.Table, image: Int32s, sizes: Ints, problems: list[InputProblem]) -> Outlines:
    problems += _box_problems(file, table, ~_shaped(table))
    shapes = _checked(file, table, problems)
    return outline(shapes, _drawn(file, table, image, sizes, shapes, problems) if _has_runs(table).any() else None)


def _drawn(
    file: str, table: pa.Table, image: Int32s, sizes: Ints, shapes: Shapes, problems: list[InputProblem]
) -> Masks:
    height, width = sizes[image].T if len(sizes) else np.zeros((2, len(image)), np.int64)
    known = (height > 0) & (width > 0) & (height * width <= LARGEST_IMAGE) & (image >= 0)
    masks = draw(shapes, np.where(known, height, 1), np.where(known, width, 1))
    problems += faults(file, "rle", table["rle"], masks.faulty & known, RLE)
    return masks


def _checked(file: str, table: pa.Table, problems: list[InputProblem]) -> Shapes:
    """Return the shapes of a table, fit to be drawn: where rings are wrong, all are left out."""
    shapes = _shapes(table)
    finite = np.isfinite(shapes.points)
    wrong = ~is_ring(np.diff(shapes.ring_start)) | (np.diff(starts(~finite)[shapes.ring_start]) > 0)
    owner = np.repeat(np.arange(len(shapes)), np.diff(shapes.object_ring))
    broken = np.bincount(owner[wrong], minlength=len(shapes)) > 0
    problems += faults(file, "polygons", table["polygons"], broken, RING)
    shapes.box[~np.isfinite(shapes.box).all(axis=1)] = 0.0
    if not broken.any():
        return shapes
    none = np.zeros(1, np.int64)
    return replace(shapes, points=np.zeros(0), ring_start=none, object_ring=np.zeros_like(shapes.object_ring))


def _box_problems(file: str, table: pa.Table, wanted: Bools) -> list[InputProblem]:
    """Return what is wrong with the boxes of the objects `wanted` [N]."""
    boxes = _boxes(table)
    problems: list[InputProblem] = []
    for index, name in enumerate(BOX):
        problems += faults(file, name, table[name], wanted & ~np.isfinite(boxes[:, index]), "a finite number of pixels")
        if name in ("width", "height"):
            problems += faults(file, name, table[name], wanted & (boxes[:, index] < 0), "at least 0")
    return problems


def _shapes(table: pa.Table) -> Shapes:
    polygons = whole(table["polygons"])
    rings = polygons.flatten()
    numbers = rings.flatten().to_numpy(zero_copy_only=False)
    texts = whole(table["rle"].fill_null("")).cast(pa.large_binary())
    _, offsets, data = texts.buffers()
    bounds = np.zeros(1, np.int64)
    if len(texts):
        bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    text = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
    return Shapes(
        _boxes(table), np.array(numbers, np.float64), starts(_lengths(rings)), starts(_lengths(polygons)),
        np.array(text), bounds - bounds[0],
    )  # fmt: skip


def _lengths(lists: pa.Array) -> Ints:
    lengths: Ints = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return lengths


def _shaped(table: pa.Table) -> Bools:
    """Return which objects have polygons or run lengths [N]."""
    result = _has_runs(table)
    if table["polygons"].null_count < len(table):
        result |= _lengths(whole(table["polygons"])) > 0
    return result


def _has_rings(table: pa.Table) -> bool:
    """Return whether a polygon is an outline: readers keep a line in place of those that are none."""
    return bool(is_ring(_lengths(whole(table["polygons"]).flatten())).any())


def _has_runs(table: pa.Table) -> Bools:
    """Return which objects have run lengths [N]."""
    if table["rle"].null_count == len(table):
        return np.zeros(len(table), np.bool_)
    lengths: Int32s = whole(pc.binary_length(table["rle"]).fill_null(0)).to_numpy(zero_copy_only=False)
    return lengths > 0


def _lacks_box(table: pa.Table) -> Bools:
    """Return which objects have polygons or run lengths, but no box [N]."""
    return np.isnan(_boxes(table)).all(axis=1) & _shaped(table)


def keypoints_of(table: pa.Table) -> Keypoints:
    """Return the key points of the objects of a table."""
    column = whole(table["keypoints"])
    values = column.flatten().to_numpy(zero_copy_only=False)
    return Keypoints(np.array(values, np.float64), starts(_lengths(column)))


def _boxes(table: pa.Table) -> Floats:
    """Return the boxes [N, 4], around the key points of those that have nothing else; NaN without any."""
    boxes = np.column_stack([whole(table[name]).to_numpy(zero_copy_only=False) for name in BOX]).astype(np.float64)
    if "keypoints" in table.column_names and table["keypoints"].null_count < len(table):
        lacking, points = np.isnan(boxes).all(axis=1) & ~_shaped(table), keypoints_of(table)
        if lacking.any() and not (np.diff(points.start) % VALUES).any():  # else there is no telling x from y
            boxes[lacking] = points.boxes()[lacking]
    return boxes
