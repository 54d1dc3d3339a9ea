"""Objects in images from a table: one row an object, boxes in pixels or 0–1, as corners or as corner and size."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.label_fields import OBJECT_TABLE_FIELDS
from metrics.core.rounding import exact_sum
from metrics.core.suite import METADATA, PREDICTIONS, Suite
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, flat, is_null, only
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables import id_matches
from metrics.ingest.tables.columns import Columns, is_open_images
from metrics.vision import rle
from metrics.vision.coco_columns import FARTHEST

CORNERS = ("xmin", "ymin", "xmax", "ymax")
SIDES = ("x", "y", "width", "height")
CASE_LISTS = tuple(each.name for each in OBJECT_TABLE_FIELDS if each.is_list)
POLYGONS = PREDICTIONS.field("polygons").type
WKT_PART = re.compile(r"\(\s*\([^()]*\)(?:\s*,\s*\([^()]*\))*\s*\)")
WKT_RING = re.compile(r"\(([^()]*)\)")
NO_SIZES = "the size of the image (columns image_width and image_height, or the images): the boxes are 0–1"
Point: TypeAlias = tuple[float, float]
Column: TypeAlias = pa.ChunkedArray | pa.Array
Sizes = Mapping[str, tuple[int, int]]  # case id → (width, height)


def image_cases(sheet: Sheet, columns: Columns) -> tuple[pa.Table, Ints, Column]:
    """Return one case for each image in order of appearance, the index of each row's case, and each row's case id.

    Values of an image that differ between its rows are problems; metadata that differ do not belong to the case: see
    `object_metadata`.
    """
    found = columns.columns
    name = found.get("image") or found.get("case_id")
    if name is None:
        raise sheet.problems.fail(sheet.file, "no column with the image", "a column image, image_name, file_name", 1)
    ids = sheet.required(found.get("case_id", name), "the name of the image")
    values: dict[str, Column] = {"case_id": ids, METADATA + "image_name": sheet.text(name)}
    for canonical, side in (("image_width", "width"), ("image_height", "height")):
        place = found.get(canonical) or (found.get(side) if _corners(columns) else None)
        if place is not None:
            pixels = sheet.numbers(place, low=1, high=1e6, whole=True)
            values[canonical] = arrays.integers(pixels, pa.int32())
    listed = {name: sheet.lists(columns, name) for name in CASE_LISTS if name in found}
    extra = sheet.metadata(columns)
    _, first = arrays.duplicates([ids])
    for canonical, column in values.items():
        differs = arrays.differs(column, first)
        sheet.report(differs, canonical, column, "the same value in all rows of one image")
    extra = {name: column for name, column in extra.items() if not arrays.differs(column, first).any()}
    values |= listed
    heads = (first == np.arange(len(sheet))) & ~is_null(ids)
    index = np.cumsum(heads) - 1
    return only(pa.table(values | extra), heads), index[first], ids


def geometry(sheet: Sheet, columns: Columns, ids: Column, sizes: Sizes) -> tuple[dict[str, Any], Bools]:
    """Return label, box, area, polygons and rle of each row, and which rows hold an object at all.

    A row with neither label nor geometry only says that the image exists. Boxes that all lie within 0…1 are shares of
    the image's size.
    """
    found = columns.columns
    if "label" not in found:
        raise sheet.problems.fail(sheet.file, "no column with the class", "a column label", 1)
    label = sheet.text(found["label"])
    names = _box_columns(columns)
    shapes = [found[name] for name in ("polygon", "rle") if name in found]
    if not names and not shapes:
        expected = "columns x, y, width, height or xmin, ymin, xmax, ymax, or polygon, or rle"
        raise sheet.problems.fail(sheet.file, "no boxes", expected, 1)
    objects = ~np.logical_and.reduce([is_null(label), *(is_null(sheet.table[name]) for name in (*names, *shapes))])
    sheet.report(objects & arrays.is_blank(label), found["label"], label, "a class")
    wide, high = _row_sizes(ids, sizes)
    boxes = np.full((len(sheet), 4), np.nan)
    given = np.zeros(len(sheet), bool)
    if names:
        given = objects.copy()
        if shapes:
            given &= ~np.logical_and.reduce([is_null(sheet.table[name]) for name in names])
        boxes = _boxes(sheet, columns, names, given, wide, high)
    polygons, masks, derived = _shapes(sheet, columns, objects, wide, high)
    boxes[~given] = derived[~given, :4]
    sheet.report(objects & ~sheet.bad & np.isnan(boxes).any(axis=1), None, "no box", "a box, polygon or run lengths")
    far = (np.abs(boxes) > FARTHEST).any(axis=1)
    sheet.report(objects & far, None, "a box of astronomic size", f"coordinates of at most {FARTHEST:.0e} pixels")
    boxes[far] = np.nan
    area = box_areas(boxes)
    area = np.where(given | np.isnan(derived[:, 4]), area, derived[:, 4])
    if "area" in found:
        stated = sheet.numbers(found["area"], low=0)
        area = np.where(np.isnan(stated), area, stated)
    shape = {**box_columns(boxes), "area": arrays.floats(area), "polygons": polygons, "rle": masks}
    return {"label": label, **shape}, objects


def box_columns(boxes: Floats) -> dict[str, pa.Array]:
    """Return boxes [N, 4] (x, y, width, height) as columns, NaN as null."""
    return {side: arrays.floats(boxes[:, place]) for place, side in enumerate(SIDES)}


def box_areas(boxes: Floats) -> Floats:
    """Return width × height of boxes [N, 4]; infinite where it is too large, for boxes that are problems already."""
    with np.errstate(over="ignore"):
        areas: Floats = boxes[:, 2] * boxes[:, 3]
    return areas


def match_cases(sheet: Sheet, columns: Columns, cases: pa.Table) -> pa.Array:
    """Return the case id of each row's image, which is named by the id or by its file, with or without extension."""
    found = columns.columns
    name = found.get("case_id") or found.get("image")
    if name is None:
        expected = "a column image, image_name, file_name or case_id"
        raise sheet.problems.fail(sheet.file, "no column with the image", expected, 1)
    given = flat(sheet.required(name, "the name of the image"))
    index = find_cases(given, cases, sheet.problems, sheet.file)
    named = METADATA + "image_name" in cases.column_names and "case_id" not in found
    known = cases[METADATA + "image_name" if named else "case_id"]
    id_matches.check_known(sheet, name, given, is_null(index), known, "image name", "an image of the suite")
    return flat(cases["case_id"]).take(index)


def find_cases(given: pa.Array, cases: pa.Table, problems: Problems | None = None, file: str = "") -> pa.Array:
    """Return the index of the case that each name of an image refers to, null where there is none.

    A name is the case id or the image's name; else either without folders and extension, where only one case has it;
    else, of numbers, without leading zeros; else in any letter case, which the receipt of `file` says.
    """
    known = [flat(cases["case_id"])]
    if METADATA + "image_name" in cases.column_names:
        known.append(flat(cases[METADATA + "image_name"]))
    index = pa.nulls(len(given), pa.int32())
    for names in known:
        index = pc.coalesce(index, pc.index_in(given, names, skip_nulls=True))
    for shorten in (_plain, _number, pc.utf8_lower):
        plain = shorten(_plain(given))
        for names in known:
            stems = shorten(_plain(names))
            again, first = arrays.duplicates([stems])
            repeated = np.isin(first, first[again])
            once = pc.if_else(pa.array(repeated), None, stems)
            before, index = index, pc.coalesce(index, pc.index_in(plain, once, skip_nulls=True))
            if shorten is pc.utf8_lower and problems is not None and (more := before.null_count - index.null_count):
                example = given.filter(pc.and_(before.is_null(), index.is_valid()))[0]
                problems.note(file, "names of images", "used", "found in another letter case", more, example)
    return index


def _plain(names: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(names, r"^.*[/\\]|\.[A-Za-z]{2,5}$", "")


def _number(names: pa.Array) -> pa.Array:
    """Return the plain names that are numbers without leading zeros; null for others."""
    plain = _plain(names)
    digits = pc.match_substring_regex(plain, r"^[0-9]+$")
    return pc.if_else(digits, pc.replace_substring_regex(plain, r"^0+(.)", r"\1"), None)


def check_labels(sheet: Sheet, column: str, labels: Column, suite: Suite, rows: Bools | None = None) -> None:
    """Record as problems the labels, of all rows or of some, that are no class of the suite, unless those are kept."""
    if sheet.problems.keep_unknown_classes:
        return
    unknown = ~as_mask(pc.is_in(labels, pa.array(suite.labels, pa.string()))) & ~sheet.bad
    sheet.report(unknown if rows is None else unknown & rows, column, labels, "a class of the suite")


def check_keypoints(sheet: Sheet, column: str, predictions: pa.Table, suite: Suite) -> None:
    """Record as problems the predictions that have another number of key points than the ground truths of their class.

    Classes whose ground truths have none are not looked at.
    """
    annotations = suite.annotations
    if "keypoints" not in predictions.column_names or annotations is None:
        return
    posed = annotations.filter(pc.is_valid(annotations["keypoints"]))
    numbers = pc.list_value_length(posed["keypoints"]).to_pylist()
    known = dict(zip(reversed(posed["label"].to_pylist()), reversed(numbers), strict=True))  # the first of each class
    label = predictions["label"].to_pylist()
    found = pc.list_value_length(predictions["keypoints"]).to_pylist()
    wrong = {
        place: f"{number // 3} key points for {name}"
        for place, (name, number) in enumerate(zip(label, found, strict=True))
        if number is not None and known.get(name, number) != number
    }
    expected = "as many as the ground truth has: " + ", ".join(f"{own} {n // 3}" for own, n in list(known.items())[:5])
    sheet.blame_rows(wrong, column, expected)


def sizes_of(cases: pa.Table) -> dict[str, tuple[int, int]]:
    """Return case id → (width, height) of its image, where both are known."""
    if not {"image_width", "image_height"} <= set(cases.column_names):
        return {}
    rows = zip(*(cases[name].to_pylist() for name in ("case_id", "image_width", "image_height")), strict=True)
    return {case: (wide, high) for case, wide, high in rows if wide is not None and high is not None}


def object_metadata(sheet: Sheet, columns: Columns, ids: Column) -> dict[str, Column]:
    """Return the columns of unknown meaning whose values differ between the rows of an image: its objects have them."""
    _, first = arrays.duplicates([ids])
    extra = sheet.metadata(columns)
    return {name: column for name, column in extra.items() if arrays.differs(column, first).any()}


def object_flags(sheet: Sheet, columns: Columns) -> dict[str, pa.Array]:
    """Return which rows are crowds, in Open Images where −1, not known, is no; and which are difficult, where given."""
    found = columns.columns
    unknown = ("-1",) if is_open_images(sheet.table.column_names) else ()
    crowd = np.zeros(len(sheet), bool)
    if "is_crowd" in found:
        crowd = sheet.flags(found["is_crowd"], unknown=unknown)
    flags = {"is_crowd": pa.array(crowd)}
    if "difficult" in found:
        flags["difficult"] = pa.array(sheet.flags(found["difficult"]))
    return flags


def scale(columns: Columns, sheet: Sheet) -> str:
    """Return how the boxes of a sheet are understood: "pixels" or "0–1", and by which columns."""
    names = _box_columns(columns)
    if not names:
        return "polygons or masks"
    values = np.stack([sheet.numbers(name) for name in names], axis=1)
    return ("0–1" if _normalised(values) else "pixels") + ", " + " ".join(names)


def are_shares(columns: Columns, sheet: Sheet) -> bool:
    """Return whether the objects of a sheet are boxes alone, all of 0–1."""
    names = _box_columns(columns)
    if not names or "polygon" in columns.columns or "rle" in columns.columns:
        return False
    unchecked = Sheet(sheet.file, sheet.table, sheet.rows, Problems())
    values = np.stack([unchecked.numbers(name) for name in names], axis=1)
    return is_open_images(sheet.table.column_names) or _normalised(values)


def _corners(columns: Columns) -> bool:
    return all(corner in columns.columns for corner in CORNERS)


def _box_columns(columns: Columns) -> list[str]:
    forms = (CORNERS, SIDES, (*CORNERS[:2], *SIDES[2:]))  # left, top, width, height is the last
    return [columns.columns[side] for side in next((form for form in forms if columns.columns.keys() >= set(form)), ())]


def _normalised(values: Floats) -> bool:
    """Return whether boxes are shares of the image: all within 0…1, and not just pixels that happen to be 0 and 1."""
    known = values[~np.isnan(values).any(axis=1)]
    return bool(len(known)) and bool((known >= 0).all() and (known <= 1).all() and (known % 1 != 0).any())


def _boxes(sheet: Sheet, columns: Columns, names: list[str], given: Bools, wide: Floats, high: Floats) -> Floats:
    shares = is_open_images(sheet.table.column_names)
    low, high_end = (0.0, 1.0) if shares else (-np.inf, np.inf)
    values = np.stack([sheet.numbers(name, low=low, high=high_end) for name in names], axis=1)
    for place, name in enumerate(names):
        sheet.report(given & ~sheet.bad & np.isnan(values[:, place]), name, sheet.table[name], "a number")
    if shares or _normalised(values[given]):
        sheet.report(given & np.isnan(wide), None, "no size", NO_SIZES)
        values = values * np.stack([wide, high, wide, high], axis=1)
    if _corners(columns):
        values[:, 2:] -= values[:, :2]
    with np.errstate(invalid="ignore"):
        for place in (2, 3):
            what = "not before " + names[place - 2] if _corners(columns) else "of at least 0"
            sheet.report(given & (values[:, place] < 0), names[place], sheet.table[names[place]], "a number " + what)
    values[~given] = np.nan
    return values


def _row_sizes(ids: Column, sizes: Sizes) -> tuple[Floats, Floats]:
    codes, _ = arrays.codes_of(ids)
    known = pc.dictionary_encode(flat(ids), null_encoding="encode").dictionary.to_pylist()
    table = np.array([sizes.get(name, (np.nan, np.nan)) for name in known] or [(np.nan, np.nan)], float)
    return (table[codes, 0], table[codes, 1]) if len(codes) else (np.zeros(0), np.zeros(0))


def _shapes(
    sheet: Sheet, columns: Columns, objects: Bools, wide: Floats, high: Floats
) -> tuple[pa.Array, pa.Array, Floats]:
    """Return polygons, run lengths, and the x, y, width, height and area that they give, NaN where there is none."""
    count = len(sheet)
    rings: list[list[list[float]] | None] = [None] * count
    codes: list[str | None] = [None] * count
    derived = np.full((count, 5), np.nan)
    for canonical, what in (
        ("polygon", "a POLYGON in WKT or GeoJSON"),
        ("rle", "COCO run lengths of the image's size"),
    ):
        name = columns.columns.get(canonical)
        if name is None:
            continue
        column = sheet.text(name)
        for place in np.flatnonzero(objects & ~is_null(column)).tolist():
            try:
                if canonical == "polygon":
                    rings[place], derived[place] = parse_polygon(column[place].as_py())
                else:
                    codes[place], derived[place] = _run_lengths(column[place].as_py(), wide[place], high[place])
            except (ValueError, TypeError, KeyError, IndexError):
                mask = np.zeros(count, bool)
                mask[place] = True
                sheet.report(mask, name, column, what)
    return pa.array(rings, POLYGONS), pa.array(codes, pa.string()), derived


def parse_polygon(text: str) -> tuple[list[list[float]], tuple[float, float, float, float, float]]:
    """Return the rings of a WKT or GeoJSON (multi)polygon, their box and area; ValueError otherwise.

    A part is one ring, into which its holes are joined by a cut of no width: an outer ring, a hole the other way round.
    """
    body = text.strip()
    if body.startswith("{"):
        shape = orjson.loads(body)
        shape = shape.get("geometry", shape)
        if shape["type"] not in ("Polygon", "MultiPolygon"):
            raise ValueError(shape["type"])
        parts = shape["coordinates"] if shape["type"] == "MultiPolygon" else [shape["coordinates"]]
        points = [[[(float(x), float(y)) for x, y in ring] for ring in part] for part in parts]
    else:
        if not re.match(r"(MULTI)?POLYGON\s*\(", body, re.IGNORECASE):
            raise ValueError(body)
        parts = [WKT_RING.findall(part) for part in WKT_PART.findall(body)]
        points = [[[_point(pair) for pair in ring.split(",")] for ring in part] for part in parts]
    rings = [list(chain.from_iterable(_with_holes([_open(ring) for ring in part]))) for part in points]
    if not rings or not np.isfinite(list(chain.from_iterable(rings))).all():
        raise ValueError(body)
    return rings, outline([(ring[0::2], ring[1::2]) for ring in rings])


def _open(ring: list[Point]) -> list[Point]:
    ring = ring[:-1] if ring[0] == ring[-1] else ring
    if len(ring) < 3:
        raise ValueError(f"a ring of {len(ring)} points")
    return ring


def _with_holes(rings: list[list[Point]]) -> list[Point]:
    """Return an outer ring with its holes, out to each and back from the ring's first point."""
    outer, *holes = rings
    joined = list(outer)
    for hole in holes:
        turned = hole if _turns_right(hole) != _turns_right(outer) else hole[::-1]
        joined += [outer[0], *turned, turned[0]]
    return joined


def _turns_right(ring: list[Point]) -> bool:
    return exact_sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(ring, ring[1:] + ring[:1], strict=True)) > 0


def outline(rings: Iterable[tuple[ArrayLike, ArrayLike]]) -> tuple[float, float, float, float, float]:
    """Return the box of rings (their xs and ys) as x, y, width, height, and the sum of the areas they enclose."""
    points = [(np.asarray(x), np.asarray(y)) for x, y in rings]
    area = sum(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2 for x, y in points)  # shoelace formula
    xs, ys = (np.concatenate(side) for side in zip(*points, strict=True))
    return float(xs.min()), float(ys.min()), float(np.ptp(xs)), float(np.ptp(ys)), float(area)


def _point(text: str) -> Point:
    x, y = text.split()
    return float(x), float(y)


def _run_lengths(text: str, wide: float, high: float) -> tuple[str, tuple[float, float, float, float, float]]:
    """Return compressed text, box and area of run lengths: compressed or a list, alone or as counts beside the size."""
    counts: Any = text.strip()
    if counts[:1] in ("{", "["):
        with suppress(orjson.JSONDecodeError):  # a code may begin with a bracket, but never ends with one
            counts = orjson.loads(counts)
    if isinstance(counts, dict):
        if [int(side) for side in counts["size"]] != [high, wide]:
            raise ValueError(text)
        counts = counts["counts"]
    if isinstance(counts, list) and len(counts) == 1 and str(counts[0]) != str(int(wide * high)):
        counts = counts[0]  # a code among lists, in a column that has both
    runs = [int(str(run)) for run in counts] if isinstance(counts, list) else rle.decode(str(counts))
    if np.isnan(wide) or any(run < 0 for run in runs) or sum(runs) != wide * high:
        raise ValueError(text)
    code = rle.encode(runs) if isinstance(counts, list) else str(counts)
    return code, (*rle.box(runs, int(high)), float(rle.area(runs)))
