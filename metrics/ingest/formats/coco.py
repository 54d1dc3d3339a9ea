"""COCO JSON: ground truth (images, annotations, categories) and results; every bad value listed with its index."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.suite import METADATA
from metrics.ingest.sheet import Mask, Problems, Sheet, only
from metrics.ingest.source import Source
from metrics.ingest.tables.sheet_cells import duplicates
from metrics.ingest.tables.values import finite
from metrics.vision import rle
from metrics.vision.masks import LARGEST_IMAGE, Shapes, draw

BOX = "[x, y, width, height] in pixels"
MAX_ID = 2**63 - 1
SEGMENTATION = "polygons [[x1, y1, x2, y2, x3, y3, …], …] or run lengths {size: [height, width], counts}"
POLYGONS = pa.list_(pa.list_(pa.float64()))
Shape = tuple[str, tuple[float, float, float, float], float]  # compressed run lengths, box, area


def is_ground_truth(document: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON document is COCO ground truth."""
    return (
        isinstance(document, dict) and "images" in document and ("annotations" in document or "categories" in document)
    )


def is_results(document: Any) -> TypeGuard[list[Any]]:
    """Return whether a JSON document is a list of COCO results (an empty list is one, of a model that found nothing)."""
    if not isinstance(document, list):
        return False
    first = document[0] if document else {"image_id": 0, "bbox": 0}
    return (
        isinstance(first, dict)
        and "image_id" in first
        and ("bbox" in first or "segmentation" in first or "score" in first)
    )


class Listing(Sheet):
    """An array of a COCO document under validation; `column` names are prefixed with the array's name."""

    def __init__(self, source: Source, name: str, records: Any, problems: Problems):
        self.prefix = name + "." if name else ""
        if not isinstance(records, list):
            found = "nothing" if records is None else type(records).__name__
            problems.add(source.name, found, f"an array {name}", column=name, fatal=True)
            records = []
        self.records: list[dict[str, Any]] = [record if isinstance(record, dict) else {} for record in records]
        count = len(self.records)
        super().__init__(source.name, pa.table({"index": np.arange(1, count + 1)}), np.arange(1, count + 1), problems)
        wrong = np.fromiter((not isinstance(record, dict) for record in records), bool, count)
        self.blame(wrong, name or None, lambda row: repr(records[row])[:80], "an object")

    def values(self, key: str) -> list[Any]:
        """Return what every record has under `key`, None where nothing."""
        return [record.get(key) for record in self.records]

    def wrong(self, mask: Mask, key: str, found: Sequence[Any] | Callable[[int], str], expected: str) -> None:
        """Blame the records of `mask` that are not yet blamed."""
        self.blame(mask & ~self.bad, self.prefix + key, found, expected)

    def integers(self, key: str, what: str, low: int = 0, default: int | None = None) -> NDArray[np.int64]:
        """Return a whole number per record, `default` where absent; blamed ones are −1."""
        values = self.values(key)
        if set(map(type, values)) != {int}:
            values = [default if value is None else value for value in values]
            values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
            good = np.fromiter((type(value) is int and abs(value) <= MAX_ID for value in values), bool, len(values))
            self.wrong(~good, key, self.values(key), what)
            values = [value if fine else -1 for value, fine in zip(values, good.tolist(), strict=True)]
        try:
            numbers = np.array(values, np.int64)
        except OverflowError:
            good = np.fromiter((abs(value) <= MAX_ID for value in values), bool, len(values))
            self.wrong(~good, key, self.values(key), what)
            numbers = np.array(
                [value if fine else -1 for value, fine in zip(values, good.tolist(), strict=True)], np.int64
            )
        self.wrong(numbers < low, key, self.values(key), what)
        return numbers

    def floats(self, key: str, what: str, low: float | None = None, absent: bool = False) -> NDArray[np.float64]:
        """Return a finite number per record, NaN where blamed (or absent, where that is allowed)."""
        values = self.values(key)
        if not set(map(type, values)) <= {int, float}:
            good = np.fromiter((finite(value) or (absent and value is None) for value in values), bool, len(values))
            self.wrong(~good, key, values, what)
            values = [value if finite(value) else float("nan") for value in values]
        numbers = _floats(values)
        missing = (
            np.fromiter((value is None for value in self.values(key)), bool, len(values))
            if absent
            else np.zeros(len(values), bool)
        )
        self.wrong(~np.isfinite(numbers) & ~missing, key, self.values(key), what)
        if low is not None:
            with np.errstate(invalid="ignore"):
                self.wrong(numbers < low, key, self.values(key), what)
        return numbers

    def boxes(self) -> NDArray[np.float64]:
        """Return the boxes (n × 4), NaN where there is none; arity, finiteness and sign are checked."""
        values = self.values("bbox")
        if set(map(type, values)) <= {list} and set(map(len, values)) <= {4}:
            parts = list(chain.from_iterable(values))
            if set(map(type, parts)) <= {int, float}:
                boxes = _floats(parts).reshape(-1, 4)
                self._check_boxes(boxes, values, np.zeros(len(values), bool))
                return boxes
        absent = np.fromiter((value is None or value == [] for value in values), bool, len(values))
        good = np.fromiter(
            (isinstance(v, list) and len(v) == 4 and all(map(finite, v)) for v in values), bool, len(values)
        )
        self.wrong(~good & ~absent, "bbox", values, BOX + ", four finite numbers")
        boxes = np.array(
            [value if fine else [np.nan] * 4 for value, fine in zip(values, good.tolist(), strict=True)], float
        ).reshape(-1, 4)
        self._check_boxes(boxes, values, ~good)
        return boxes

    def _check_boxes(self, boxes: NDArray[np.float64], values: list[Any], skip: Mask) -> None:
        with np.errstate(invalid="ignore"):
            self.wrong(~np.isfinite(boxes).all(axis=1) & ~skip, "bbox", values, BOX + ", four finite numbers")
            self.wrong((boxes[:, 2:] < 0).any(axis=1) & ~skip, "bbox", values, BOX + ", width and height not negative")


def read_ground_truth(
    source: Source, document: dict[str, Any], problems: Problems
) -> tuple[pa.Table, pa.Table, dict[int, str]]:
    """Return the cases (images by ascending id), the annotations in file order, and the labels by ascending category
    id.
    """
    categories = Listing(source, "categories", document.get("categories"), problems)
    images = Listing(source, "images", document.get("images"), problems)
    annotations = Listing(source, "annotations", document.get("annotations", []), problems)
    problems.stop()
    labels = read_labels(categories)
    ids = images.integers("id", "a whole number of at least 0")
    unique(images, "id", ids)
    widths = images.integers("width", "the image's width in pixels, at least 1", low=1)
    heights = images.integers("height", "the image's height in pixels, at least 1", low=1)
    names = images.values("file_name")
    images.wrong(_not_text(names), "file_name", names, "the name of the image file")
    tags = images.values("tags")
    images.wrong(_not_tags(tags), "tags", tags, 'a list of texts such as ["night", "rain"]')
    cases = pa.table(
        {
            "case_id": pa.array(ids).cast(pa.string()),
            "image_width": pa.array(np.minimum(widths, 2**31 - 1).astype(np.int32)),
            "image_height": pa.array(np.minimum(heights, 2**31 - 1).astype(np.int32)),
            METADATA + "image_name": pa.array([name if isinstance(name, str) else None for name in names], pa.string()),
            **({"tags": _tags(tags, images.bad)} if any(tags) else {}),
        }
    )
    kept = np.flatnonzero(~images.bad)
    order = kept[np.argsort(ids[kept], kind="stable")]
    sizes = {int(ids[place]): (int(heights[place]), int(widths[place])) for place in order}
    geometry = _annotations(annotations, sizes, labels)
    for listing in (categories, images, annotations):
        listing.leave_out()
    return cases.take(pa.array(order)), geometry, labels


def _annotations(listing: Listing, sizes: dict[int, tuple[int, int]], labels: dict[int, str]) -> pa.Table:
    ids = listing.integers("id", "a whole number of at least 1 (0 silently spoils pycocotools' matching)", low=1)
    unique(listing, "id", ids)
    image_ids, image_labels = _places(listing, sizes, labels, "the id of an image in images")
    crowds = listing.integers("iscrowd", "0 or 1", default=0)
    listing.wrong(crowds > 1, "iscrowd", listing.values("iscrowd"), "0 or 1")
    columns = geometry(listing, image_ids, sizes)
    table = {
        "case_id": pa.array(image_ids).cast(pa.string()),
        "annotation_id": pa.array(ids),
        "label": image_labels,
        **columns,
        "is_crowd": pa.array(crowds == 1),
    }
    return only(pa.table(table), ~listing.bad)


def read_results(
    source: Source,
    document: list[Any],
    problems: Problems,
    sizes: dict[str, tuple[int, int]],
    labels: dict[int, str],
    model: str,
) -> tuple[Sheet, pa.Table]:
    """Return the predictions in file order; `sizes` are (height, width) by case id, `labels` go by category id."""
    listing = Listing(source, "", document, problems)
    by_id = {int(case): size for case, size in sizes.items() if case.isascii() and case.isdigit()}
    image_ids, image_labels = _places(listing, by_id, labels, "the id of an image of the suite")
    scores = listing.floats("score", "a finite score")
    columns = geometry(listing, image_ids, by_id)
    models = [value if isinstance(value, str) and value else model for value in listing.values("model")]
    return listing, pa.table(
        {
            "case_id": pa.array(image_ids).cast(pa.string()),
            "model": pa.array(models, pa.string()),
            "label": image_labels,
            "score": pa.array(scores),
            **columns,
        }
    )


def read_labels(categories: Listing) -> dict[int, str]:
    """Category id → name, by ascending id; nothing can be left out here, since annotations rest on it."""
    ids = categories.integers("id", "a whole number of at least 0")
    unique(categories, "id", ids)
    names = categories.values("name")
    categories.wrong(_not_text(names), "name", names, "the name of the category")
    texts = pa.array([name if isinstance(name, str) else None for name in names], pa.string())
    again, first = duplicates([texts])
    categories.wrong(
        again,
        "name",
        lambda row: f"{names[row]!r} again, first in record {first[row] + 1}",
        "every category under its own name",
    )
    if categories.bad.any():
        categories.problems.fatal = True
        categories.problems.stop()
    return {int(ids[place]): names[place] for place in np.argsort(ids, kind="stable")}


def _places(
    listing: Listing, sizes: dict[int, tuple[int, int]], labels: dict[int, str], what: str
) -> tuple[NDArray[np.int64], pa.Array]:
    images = listing.integers("image_id", what)
    listing.wrong(
        ~np.isin(images, np.fromiter(sizes, np.int64, len(sizes))), "image_id", listing.values("image_id"), what
    )
    if not labels:
        names = (
            listing.values("label")
            if any("label" in record for record in listing.records)
            else listing.values("category_name")
        )
        listing.wrong(
            _not_text(names), "label", names, "a label (the suite is not from COCO, so a category_id says nothing)"
        )
        return images, pa.array([name if isinstance(name, str) else None for name in names], pa.string())
    known = np.fromiter(labels, np.int64, len(labels))
    categories = listing.integers("category_id", "the id of a category of the suite")
    listing.wrong(
        ~np.isin(categories, known), "category_id", listing.values("category_id"), "the id of a category of the suite"
    )
    order = np.argsort(known)
    index = np.clip(np.searchsorted(known[order], categories), 0, len(known) - 1)
    return images, pa.array(list(labels.values()), pa.string()).take(pa.array(order[index]))


def geometry(listing: Listing, image_ids: NDArray[np.int64], sizes: dict[int, tuple[int, int]]) -> dict[str, pa.Array]:
    """Return the columns of the records' boxes, areas, polygons and run lengths; an absent box is its segmentation's."""
    boxes = listing.boxes()
    areas = listing.floats("area", "an area in square pixels, not negative", low=0, absent=True)
    count = len(listing)
    polygons: pa.Array = pa.nulls(count, POLYGONS)
    masks: pa.Array = pa.nulls(count, pa.string())
    segmentations = listing.values("segmentation")
    without = np.isnan(boxes[:, 0]) & ~listing.bad
    if any(segmentations):
        rings: list[list[list[float]] | None] = [None] * count
        codes: list[str | None] = [None] * count
        right = _right_masks(segmentations, image_ids, sizes)
        for place, value in enumerate(segmentations):
            if not value or listing.bad[place]:
                continue
            try:
                if isinstance(value, dict):
                    codes[place], box, area = right.get(place) or _mask(value, sizes.get(int(image_ids[place])))
                else:
                    rings[place], box, area = _rings(value)
            except ValueError as error:
                listing.wrong(np.arange(count) == place, "segmentation", str(error), SEGMENTATION)
                continue
            if without[place]:
                boxes[place], without[place] = box, False
                if np.isnan(areas[place]):
                    areas[place] = area
        polygons, masks = pa.array(rings, POLYGONS), pa.array(codes, pa.string())
    listing.wrong(without, "bbox", listing.values("bbox"), BOX)
    areas = np.where(np.isnan(areas), boxes[:, 2] * boxes[:, 3], areas)
    sides = {
        name: pa.array(np.ascontiguousarray(boxes[:, place]))
        for place, name in enumerate(("x", "y", "width", "height"))
    }
    return {**sides, "area": pa.array(areas), "polygons": polygons, "rle": masks}


def _rings(value: Any) -> tuple[list[list[float]], tuple[float, float, float, float], float]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r}"[:80])
    rings: list[list[float]] = []
    for ring in value:
        if not isinstance(ring, list) or len(ring) < 6 or len(ring) % 2 or not all(map(finite, ring)):
            raise ValueError(f"ring {ring!r}"[:80])
        rings.append([float(number) for number in ring])
    xs = list(chain.from_iterable(ring[0::2] for ring in rings))
    ys = list(chain.from_iterable(ring[1::2] for ring in rings))
    surface = sum(abs(_shoelace(ring)) for ring in rings)
    return rings, (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)), surface


def _shoelace(ring: list[float]) -> float:
    x, y = np.array(ring[0::2]), np.array(ring[1::2])
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _right_masks(
    values: list[Any], image_ids: NDArray[np.int64], sizes: dict[int, tuple[int, int]]
) -> dict[int, Shape]:
    """Return what `_mask` says of compressed texts in which it finds nothing wrong, all at once; the others are left
    to it.
    """
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
    return {place: (text, tuple(box), float(area)) for place, text, box, area, faulty in columns if text and not faulty}


def _mask(value: dict[str, Any], size: tuple[int, int] | None) -> Shape:
    counts, shape = value.get("counts"), value.get("size")
    if size is not None and shape != list(size):
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
    return text, rle.box(runs, size[0] if size else 1), float(rle.area(runs))


def unique(listing: Listing, key: str, ids: NDArray[np.int64]) -> None:
    """Blame the records whose id another one has before them; those below 0 are blamed already."""
    again, first = duplicates([pa.array(ids)])
    again &= ids >= 0
    listing.wrong(again, key, lambda row: f"{ids[row]} again, first in record {first[row] + 1}", "every id once")


def _not_text(values: list[Any]) -> Mask:
    return np.fromiter((not (isinstance(value, str) and value) for value in values), bool, len(values))


def _not_tags(values: list[Any]) -> Mask:
    return np.fromiter(
        (value is not None and not (isinstance(value, list) and not _not_text(value).any()) for value in values),
        bool,
        len(values),
    )


def _tags(values: list[Any], bad: Mask) -> pa.Array:
    """Tags in the order given, each once; an empty list is none."""
    lists = [
        list(dict.fromkeys(value)) if value and not wrong else None for value, wrong in zip(values, bad, strict=True)
    ]
    return pa.array(lists, pa.list_(pa.string()))


def _floats(values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64)
    except OverflowError:  # an integer beyond 1.8e308
        return np.array([float(value) if abs(value) < 1e308 else np.inf for value in values], np.float64)
