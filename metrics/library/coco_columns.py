"""COCO ground truth and results straight into columns of numbers, for evaluation without suite and run.

Three readers, each for what the one before leaves: a scanner for boxes in their plain form, msgspec for every file of
the right types, and the reader of uploads. It alone says what is wrong, and gives the same columns where nothing is.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metrics.vision.masks import LARGEST_IMAGE, Masks, Shapes, draw

if TYPE_CHECKING:
    from metrics.ingest.formats.coco import Listing
    from metrics.ingest.sheet import Problems

IouType = Literal["bbox", "segm"]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Scanned = tuple[Longs, Longs, Floats, Floats]
Number = TypeVar("Number", bound=np.generic)
BLOCK = 1 << 19  # bytes of results that a thread scans at a time
WAITING = 4  # blocks in memory at a time
DENSE = 4  # ids so close together are looked up in a table
BLANKS = b" \t\r\n"
TABLES = ("images", "categories", "annotations")


@dataclass(frozen=True, eq=False, slots=True)
class GroundTruth:
    """The images by ascending id with their sizes [I, 2] (height, width; 0 where not read), the categories by ascending
    id with their names, and the annotations in file order: codes into both, boxes [G, 4], areas, crowds, masks.
    """

    image_ids: Longs
    sizes: Longs
    category_ids: Longs
    labels: tuple[str, ...]
    image: Ints
    category: Ints
    box: Floats
    area: Floats
    crowd: NDArray[np.bool_]
    masks: Masks | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Results:
    """The results in file order: codes into the ground truth's images and categories, boxes [N, 4], scores, masks.

    `boxed`: the first one brings a box, so the area of each is its box's; else it is its mask's.
    """

    image: Ints
    category: Ints
    box: Floats
    score: Floats
    boxed: bool = True
    masks: Masks | None = None


class _Image(msgspec.Struct, gc=False):
    id: int
    width: int = 0
    height: int = 0


class _Category(msgspec.Struct, gc=False):
    id: int
    name: str


class _Annotation(msgspec.Struct, gc=False):
    id: int
    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    area: float
    iscrowd: int = 0


class _Result(msgspec.Struct, gc=False):
    image_id: int
    category_id: int
    score: float
    bbox: tuple[float, float, float, float]


class _Runs(msgspec.Struct, gc=False):
    size: tuple[int, int]
    counts: str


Segmentation = list[list[float]] | _Runs


class _MaskAnnotation(msgspec.Struct, gc=False):
    id: int
    image_id: int
    category_id: int
    segmentation: Segmentation
    area: float
    iscrowd: int = 0
    bbox: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


class _MaskResult(msgspec.Struct, gc=False):
    image_id: int
    category_id: int
    score: float
    segmentation: Segmentation
    bbox: tuple[float, float, float, float] | None = None


class _Document(msgspec.Struct):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_Annotation]


class _MaskDocument(msgspec.Struct):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[_MaskAnnotation]


class _NotPlain(Exception):
    """The file may be right, but only the strict reader can tell."""


def read_columns(gt_json: str | Path, results_json: str | Path, iou_type: IouType) -> tuple[GroundTruth, Results]:
    """Both files as columns; InputError listing every problem of both."""
    from metrics.vision.compiled import coco_results  # noqa: F401 - loads faster before there are threads

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            ground = threads.submit(_plain_truth, Path(gt_json), iou_type)
            blocks = _scan(Path(results_json), threads) if iou_type == "bbox" else []
            truth = ground.result()
            found = _scanned(blocks, truth) or _plain_results(Path(results_json), truth, iou_type)
        except (_NotPlain, OSError, OverflowError, msgspec.DecodeError):
            return _strict(Path(gt_json), Path(results_json), iou_type)
    return truth, found


def _scan(path: Path, threads: Executor) -> list[Future[Scanned | None]]:
    """Return the columns of each block of results, None where it is not plain; [] where the file is no array of
    objects.

    A block ends with a record, at "},". Were that within a string or a nested object, neither block would be plain.
    """
    blocks: list[Future[Scanned | None]] = []
    with path.open("rb") as file:
        block = bytearray(file.read(BLOCK)).lstrip(BLANKS)
        if not block.startswith(b"["):
            return []
        del block[0]
        while more := file.read(BLOCK):
            end = block.rfind(b"},") + 1
            if not end or (len(blocks) >= WAITING and blocks[-WAITING].result() is None):
                return []
            rest = block[end + 1 :]
            del block[end:]
            blocks.append(threads.submit(_scan_block, block))
            block = rest + more
    last = block.rstrip(BLANKS)
    if not last.endswith(b"]"):
        return []
    del last[-1]
    return [*blocks, threads.submit(_scan_block, last)]


def _scan_block(data: bytearray) -> Scanned | None:
    from metrics.vision.compiled import coco_results

    most = len(data) // coco_results.SHORTEST + 1
    columns = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty(4 * most), np.empty(most))
    data.append(0)
    count = coco_results.scan_results(np.frombuffer(data, np.uint8), *columns)
    if count < 0:
        return None
    image, category, box, score = columns
    return image[:count].copy(), category[:count].copy(), box[: 4 * count].copy(), score[:count].copy()


def _scanned(blocks: Sequence[Future[Scanned | None]], truth: GroundTruth) -> Results | None:
    """Return the results of scanned blocks; None where one is not plain."""
    parts = [part for block in blocks if (part := block.result()) is not None]
    if not blocks or len(parts) < len(blocks):
        return None
    image, category, box, score = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _checked_results(image, category, box.reshape(-1, 4), score, truth)


def _plain_truth(path: Path, iou_type: IouType) -> GroundTruth:
    document = _DECODERS[iou_type].decode(path.read_bytes())
    images, categories, annotations = document.images, document.categories, document.annotations
    image_ids, category_ids = _column(images, "id", np.int64), _column(categories, "id", np.int64)
    ids = _column(annotations, "id", np.int64)
    area, crowd = _column(annotations, "area", np.float64), _column(annotations, "iscrowd", np.int64)
    labels = [category.name for category in categories]
    box = _flat((annotation.bbox for annotation in annotations), len(annotations))
    order = np.argsort(image_ids)
    sizes = np.column_stack([_column(images, side, np.int64) for side in ("height", "width")])[order]
    _plain(
        _distinct(image_ids, 0), _distinct(category_ids, 0), _distinct(ids, 1),
        all(labels), len(set(labels)) == len(labels),
        np.isfinite(area).all(), (area >= 0).all(), ((crowd == 0) | (crowd == 1)).all(),
        iou_type == "bbox" or bool((sizes > 0).all() and (sizes.prod(axis=1) <= LARGEST_IMAGE).all()),
    )  # fmt: skip
    _plain_boxes(box)
    image_ids, by_id = image_ids[order], np.argsort(category_ids)
    truth = GroundTruth(
        image_ids, sizes, category_ids[by_id], tuple(labels[place] for place in by_id.tolist()),
        _codes(_column(annotations, "image_id", np.int64), image_ids),
        _codes(_column(annotations, "category_id", np.int64), category_ids[by_id]),
        box, area, crowd == 1,
    )  # fmt: skip
    if iou_type == "segm":
        truth = replace(truth, masks=_plain_masks([entry.segmentation for entry in annotations], sizes[truth.image]))
    return truth


def _plain_results(path: Path, truth: GroundTruth, iou_type: IouType) -> Results:
    records = _RESULT_DECODERS[iou_type].decode(path.read_bytes())
    boxed = not records or records[0].bbox is not None
    _plain(all((record.bbox is not None) == boxed for record in records))
    box = _flat((record.bbox for record in records), len(records)) if boxed else np.zeros((len(records), 4))
    image, category = (_column(records, key, np.int64) for key in ("image_id", "category_id"))
    found = _checked_results(image, category, box, _column(records, "score", np.float64), truth)
    if iou_type == "bbox":
        return found
    masks = _plain_masks([record.segmentation for record in records], truth.sizes[found.image])
    return replace(found, boxed=boxed, masks=masks)


def _checked_results(image: Longs, category: Longs, box: Floats, score: Floats, truth: GroundTruth) -> Results:
    _plain(np.isfinite(score).all())
    _plain_boxes(box)
    return Results(_codes(image, truth.image_ids), _codes(category, truth.category_ids), box, score)


def _plain_masks(segmentations: Sequence[Segmentation], sizes: Longs) -> Masks:
    """Masks of rings, or of compressed run lengths of their image's size."""
    runs = [segmentation for segmentation in segmentations if isinstance(segmentation, _Runs)]
    texts: list[str] | list[str | None]
    rings: list[list[list[float]] | None] | None
    if len(runs) == len(segmentations):
        own, texts, rings = sizes, [segmentation.counts for segmentation in runs], None
    else:
        rings = [None if isinstance(segmentation, _Runs) else segmentation for segmentation in segmentations]
        _plain(all(len(ring) >= 6 and len(ring) % 2 == 0 for polygon in rings for ring in polygon or ()))
        _plain(all(polygon is None or polygon for polygon in rings))
        own = sizes[[polygon is None for polygon in rings]]
        texts = [segmentation.counts if isinstance(segmentation, _Runs) else None for segmentation in segmentations]
    said = np.fromiter(chain.from_iterable(segmentation.size for segmentation in runs), np.int64, 2 * len(runs))
    _plain((said.reshape(-1, 2) == own).all(), all(segmentation.counts for segmentation in runs))
    shapes = Shapes.of(rle=texts, polygons=rings)
    masks = draw(shapes, *sizes.reshape(-1, 2).T)
    _plain(np.isfinite(shapes.points).all(), not masks.faulty.any())
    return masks


def _plain(*conditions: object) -> None:
    if not all(conditions):
        raise _NotPlain


def _plain_boxes(box: Floats) -> None:
    _plain(np.isfinite(box).all(), (box[:, 2:] >= 0).all())


def _column(records: Sequence[Any], key: str, kind: type[Number]) -> NDArray[Number]:
    return np.fromiter(map(attrgetter(key), records), kind, len(records))


def _flat(boxes: Iterable[Any], count: int) -> Floats:
    return np.fromiter(chain.from_iterable(boxes), np.float64, 4 * count).reshape(-1, 4)


def _distinct(ids: Longs, low: int) -> bool:
    ordered = np.sort(ids)
    return bool((ordered[:1] >= low).all() and (ordered[1:] > ordered[:-1]).all())


def _codes(values: Longs, known: Longs) -> Ints:
    """Return the place of each value in `known`, which ascends; every value must be there."""
    low, high = (int(known[0]), int(known[-1])) if len(known) else (0, -1)
    _plain(((values >= low) & (values <= high)).all())
    if high - low < DENSE * (len(values) + len(known)):
        table = np.full(high - low + 1, -1, np.int32)
        table[known - low] = np.arange(len(known), dtype=np.int32)
        places = table[values - low]
        _plain((places >= 0).all())
    else:
        places = np.searchsorted(known, values).astype(np.int32)
        _plain((known[places] == values).all())
    return places


_DECODERS: dict[IouType, Any] = {
    "bbox": msgspec.json.Decoder(_Document), "segm": msgspec.json.Decoder(_MaskDocument),
}  # fmt: skip
_RESULT_DECODERS: dict[IouType, Any] = {
    "bbox": msgspec.json.Decoder(list[_Result]), "segm": msgspec.json.Decoder(list[_MaskResult]),
}  # fmt: skip


def _strict(gt_json: Path, results_json: Path, iou_type: IouType) -> tuple[GroundTruth, Results]:
    """Return the same columns by the reader of uploads, which lists what is wrong."""
    from metrics.core.errors import InputError
    from metrics.ingest.sheet import Problems

    problems = Problems()
    truth = found = None
    try:
        truth = _strict_truth(gt_json, iou_type, problems)
    except InputError as error:
        problems.absorb(error)
    try:
        found = _strict_results(results_json, truth, iou_type, problems)
    except InputError as error:
        problems.absorb(error)
    problems.check()
    assert truth is not None  # else there was a problem
    assert found is not None
    return truth, found


def _strict_truth(path: Path, iou_type: IouType, problems: "Problems") -> GroundTruth:
    from metrics.ingest.formats import coco
    from metrics.ingest.source import load_json, open_source

    source = open_source(path)
    document = load_json(source)
    if not coco.is_ground_truth(document):
        raise source.error(_kind(document), "COCO ground truth: an object with images, annotations and categories")
    listings = [coco.Listing(source, name, document.get(name), problems) for name in TABLES]
    problems.stop()
    images, categories, annotations = listings
    labels = coco.read_labels(categories)
    image_ids = images.integers("id", "a whole number of at least 0")
    coco.unique(images, "id", image_ids)
    sizes = np.zeros((len(images), 2), np.int64)
    if iou_type == "segm":
        for place, side in enumerate(("height", "width")):
            sizes[:, place] = images.integers(side, f"the image's {side} in pixels, at least 1", low=1)
        large = sizes.prod(axis=1) > LARGEST_IMAGE
        images.wrong(large, "width", images.values("width"), f"an image of at most {LARGEST_IMAGE:,} pixels")
    ids = annotations.integers("id", "a whole number of at least 1 (0 silently spoils pycocotools' matching)", low=1)
    coco.unique(annotations, "id", ids)
    crowd = annotations.integers("iscrowd", "0 or 1", default=0)
    annotations.wrong(crowd > 1, "iscrowd", annotations.values("iscrowd"), "0 or 1")
    order = np.argsort(image_ids, kind="stable")
    truth = GroundTruth(
        image_ids[order], sizes[order], np.fromiter(labels, np.int64, len(labels)), tuple(labels.values()),
        np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros(0), crowd == 1,
    )  # fmt: skip
    image, category = _members(annotations, truth)
    box, area, masks = _strict_shapes(annotations, truth, image, iou_type)
    return replace(truth, image=image, category=category, box=box, area=area, masks=masks)


def _strict_results(path: Path, truth: GroundTruth | None, iou_type: IouType, problems: "Problems") -> Results:
    from metrics.ingest.formats import coco
    from metrics.ingest.source import load_json, open_source

    source = open_source(path)
    document = load_json(source)
    if not isinstance(document, list):
        raise source.error(_kind(document), "COCO results: an array of objects with image_id, category_id, score")
    listing = coco.Listing(source, "", document, problems)
    score = listing.floats("score", "a finite score")
    if truth is None:  # what the results point to is unknown
        listing.boxes()
        problems.stop()
        nowhere = np.zeros(len(listing), np.int32)
        return Results(nowhere, nowhere, np.zeros((len(listing), 4)), score)
    image, category = _members(listing, truth)
    box, _, masks = _strict_shapes(listing, truth, image, iou_type)
    boxed = iou_type == "bbox" or not document or bool(listing.records[0].get("bbox"))
    return Results(image, category, box, score, boxed, masks)


def _kind(document: Any) -> str:
    return f"a JSON {'array' if isinstance(document, list) else 'object' if isinstance(document, dict) else 'value'}"


def _members(listing: "Listing", truth: GroundTruth) -> tuple[Ints, Ints]:
    """Return the codes of the records' images and categories; 0 for those that are blamed."""
    found = []
    sides = (("image_id", truth.image_ids, "an image in images"), ("category_id", truth.category_ids, "a category"))
    for key, known, what in sides:
        ids = listing.integers(key, f"the id of {what}")
        there = np.isin(ids, known)
        listing.wrong(~there, key, listing.values(key), f"the id of {what}")
        found.append(np.where(there, np.searchsorted(known, ids), 0).astype(np.int32))
    return found[0], found[1]


def _strict_shapes(
    listing: "Listing", truth: GroundTruth, image: Ints, iou_type: IouType
) -> tuple[Floats, Floats, Masks | None]:
    """Return the boxes, the areas (the box's where there is none) and, for segm, the masks of the records."""
    from metrics.ingest.formats import coco

    if iou_type == "bbox":
        box = listing.boxes()
        listing.wrong(np.isnan(box[:, 0]), "bbox", listing.values("bbox"), coco.BOX)
        area = listing.floats("area", "an area in square pixels, not negative", low=0, absent=True)
        return box, np.where(np.isnan(area), box[:, 2] * box[:, 3], area), None
    sizes = dict(zip(truth.image_ids.tolist(), map(tuple, truth.sizes.tolist()), strict=True))
    columns = coco.geometry(
        listing, truth.image_ids[image] if len(truth.image_ids) else np.zeros(len(listing), np.int64), sizes
    )
    box = np.column_stack([columns[side].to_numpy() for side in ("x", "y", "width", "height")])
    if listing.bad.any():
        return box, columns["area"].to_numpy(), None
    shapes = Shapes.of(box=box, polygons=columns["polygons"].to_pylist(), rle=columns["rle"].to_pylist())
    return box, columns["area"].to_numpy(), draw(shapes, *truth.sizes[image].reshape(-1, 2).T)
