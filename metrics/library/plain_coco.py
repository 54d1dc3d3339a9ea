"""COCO files in their plain form straight into columns of numbers; any other file is left to the careful reader.

Two fast readers: a scanner of boxes in their plain form, and msgspec for every file of the right types. Both end in the
columns that the rules of metrics.vision.coco_columns are about. A file that breaks a rule, or holds other types, is not
plain: what is wrong with it, if anything, is for the reader of uploads to find.
"""

import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.core.files import bytes_of, open_regular
from metrics.vision import coco_columns as coco
from metrics.vision.masks import Masks, Shapes, draw, is_ring

Records = tuple[Ints, Floats, Floats]  # ids [2 or 4, N], boxes [N, 4], areas or scores [N]
Number = TypeVar("Number", bound=np.generic)
BLOCK = 1 << 22  # bytes of results that a thread scans at a time
LONGEST = 1 << 16  # bytes of the longest record of which the end is looked for
BLANKS = b" \t\r\n"
MEANT = re.compile(rb'"(is_crowd|isCrowd|label|category|category_name|class_name|class|name)"')  # see Listing


class NotPlain(Exception):
    """The file may be right, but only the reader of uploads can decide that."""


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
    annotations: msgspec.Raw


def read_plain(
    gt_json: Path, results_json: Path, iou_type: coco.IouType
) -> tuple[coco.GroundTruth, coco.Results] | None:
    """Return both files as columns; None where one is not plain."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        try:
            ground = threads.submit(_truth, gt_json, iou_type)
            blocks = _scan(results_json, threads) if iou_type == "bbox" else []
            truth = ground.result()
            return truth, _scanned(blocks, truth) or _results(results_json, truth, iou_type)
        except (NotPlain, OSError, OverflowError, msgspec.DecodeError):
            threads.shutdown(wait=False, cancel_futures=True)
            return None


def _scan(path: Path, threads: Executor) -> list[Future[Records | None]]:
    """Return the columns of each block of results, None where it is not plain."""
    size = path.stat().st_size
    return [threads.submit(_scan_block, path, begin) for begin in range(0, size, BLOCK)]


def _scan_block(path: Path, begin: int) -> Records | None:
    """Return the columns of the records that follow a "}," which begins in the block, and the file's first.

    Each thread reads its own block. Were a "}," within a string or a nested object, the block before it would not be
    plain.
    """
    data = bytearray(BLOCK + LONGEST)
    with open_regular(path) as file:
        file.seek(begin)
        length = file.readinto(data)
    if begin:
        start = data.find(b"},", 0, length) + 2
        if not 2 <= start < BLOCK + 2:  # no record begins here: the last one ends the file, or the next block
            return np.empty((2, 0), np.int64), np.empty((0, 4)), np.empty(0)
    else:
        start = data.find(b"[", 0, length) + 1
        if data[:start].strip(BLANKS) != b"[":
            return None
    end = data.find(b"},", BLOCK, length) + 1
    if not end:
        end = data.rfind(b"]", start, length)
        if end < 0 or length == len(data) or data[end + 1 : length].strip(BLANKS):
            return None
    data[end] = 0
    found = _records(np.frombuffer(data, np.uint8)[start : end + 1], "results")
    if found is None:
        return None
    _check_results(found[1], found[2])
    return found


def _records(data: Bytes, kind: Literal["annotations", "results"]) -> Records | None:
    """Return image and category ids, of annotations also ids and crowds, [2 or 4, N], boxes [N, 4] and areas or scores.

    None where a record is not plain; data ends with a 0.
    """
    from metrics.vision.compiled import coco_records

    room = len(data) // coco_records.SHORTEST + 1
    names, rows = (coco_records.ANNOTATION, 4) if kind == "annotations" else (coco_records.RESULT, 2)
    whole, box, number = np.zeros((rows, room), np.int64), np.empty((room, 4)), np.empty(room)
    count = coco_records.scan_records(data, names, whole.reshape(-1), box.reshape(-1), number)
    return None if count < 0 else (whole[:, :count], box[:count], number[:count])


def _scanned(blocks: Sequence[Future[Records | None]], truth: coco.GroundTruth) -> coco.Results | None:
    """Return the results of scanned blocks; None where one is not plain."""
    parts = []
    for place, block in enumerate(blocks):
        part = block.result()
        if part is None:
            for later in blocks[place:]:
                later.cancel()
            return None
        parts.append(part)
    if not parts:
        return None
    ids, boxes, scores = zip(*parts, strict=True)
    image, category = np.concatenate(ids, axis=1)
    return _coded(image, category, np.concatenate(boxes), np.concatenate(scores), truth)


def _truth(path: Path, iou_type: coco.IouType) -> coco.GroundTruth:
    document = _DOCUMENT.decode(bytes_of(path))
    images, categories = document.images, document.categories
    image_ids, category_ids = _column(images, "id", np.int64), _column(categories, "id", np.int64)
    labels = [category.name for category in categories]
    sizes = np.column_stack([_column(images, side, np.int64) for side in ("height", "width")])
    shapes: list[Segmentation] = []
    _need_usual_keys(document.annotations)
    found = _scanned_annotations(document.annotations) if iou_type == "bbox" else None
    if found is None:
        annotations = _ANNOTATION_DECODERS[iou_type].decode(document.annotations)
        keys = ("image_id", "category_id", "id", "iscrowd")
        whole = np.stack([_column(annotations, key, np.int64) for key in keys])
        box = _flat((annotation.bbox for annotation in annotations), len(annotations))
        found = whole, box, _column(annotations, "area", np.float64)
        shapes = [annotation.segmentation for annotation in annotations] if iou_type == "segm" else []
    (image, category, ids, crowd), box, area = found
    _check(coco.id_faults(image_ids))
    _check(coco.category_faults(category_ids, np.array(labels, np.str_)))
    _check(coco.id_faults(ids))
    _check(coco.crowd_faults(crowd))
    _check(coco.box_faults(box, np.zeros(len(box), np.bool_)))
    _check(coco.area_faults(area))
    by_image, by_category = np.argsort(image_ids), np.argsort(category_ids)
    image_ids, sizes, category_ids = image_ids[by_image], sizes[by_image], category_ids[by_category]
    truth = coco.GroundTruth(
        image_ids, sizes, category_ids, tuple(labels[place] for place in by_category.tolist()),
        _codes("image_id", image, image_ids), _codes("category_id", category, category_ids), box, area, crowd == 1,
    )  # fmt: skip
    if iou_type == "bbox":
        return truth
    _check(coco.size_faults(sizes))
    _check(coco.pixel_faults(sizes))
    return replace(truth, masks=_masks(shapes, sizes[truth.image]))


def _scanned_annotations(array: msgspec.Raw) -> Records | None:
    data = bytearray(array)
    data[-1] = 0  # the bracket
    found = _records(np.frombuffer(data, np.uint8)[1:], "annotations")
    return found and (found[0].copy(), found[1].copy(), found[2].copy())  # without the room that was left


def _results(path: Path, truth: coco.GroundTruth, iou_type: coco.IouType) -> coco.Results:
    data = bytes_of(path)
    _need_usual_keys(data)
    records = _RESULT_DECODERS[iou_type].decode(data)
    boxed = not records or records[0].bbox is not None
    _require(all((record.bbox is not None) == boxed for record in records))
    box = _flat((record.bbox for record in records), len(records)) if boxed else np.zeros((len(records), 4))
    image, category = (_column(records, key, np.int64) for key in ("image_id", "category_id"))
    score = _column(records, "score", np.float64)
    _check_results(box, score)
    found = _coded(image, category, box, score, truth)
    if iou_type == "bbox":
        return found
    masks = _masks([record.segmentation for record in records], truth.sizes[found.image])
    return replace(found, boxed=boxed, masks=masks)


def _need_usual_keys(array: Any) -> None:
    """Leave records to the careful reader whose first ones have keys that change or contradict others."""
    _require(not MEANT.search(bytes(memoryview(array)[:LONGEST])))


def _check_results(box: Floats, score: Floats) -> None:
    _check(coco.score_faults(score))
    _check(coco.box_faults(box, np.zeros(len(box), np.bool_)))


def _coded(image: Ints, category: Ints, box: Floats, score: Floats, truth: coco.GroundTruth) -> coco.Results:
    codes = _codes("image_id", image, truth.image_ids), _codes("category_id", category, truth.category_ids)
    return coco.Results(*codes, box, score)


def _masks(segmentations: Sequence[Segmentation], sizes: Ints) -> Masks:
    """Return the masks of rings, or of compressed run lengths of their image's size."""
    runs = [segmentation for segmentation in segmentations if isinstance(segmentation, _Runs)]
    texts: list[str] | list[str | None]
    rings: list[list[list[float]] | None] | None
    if len(runs) == len(segmentations):
        own, texts, rings = sizes, [segmentation.counts for segmentation in runs], None
    else:
        rings = [None if isinstance(segmentation, _Runs) else segmentation for segmentation in segmentations]
        _require(all(polygon is None or polygon for polygon in rings))
        own = sizes[[polygon is None for polygon in rings]]
        texts = [segmentation.counts if isinstance(segmentation, _Runs) else None for segmentation in segmentations]
    given = np.fromiter(chain.from_iterable(segmentation.size for segmentation in runs), np.int64, 2 * len(runs))
    _require((given.reshape(-1, 2) == own).all() and all(segmentation.counts for segmentation in runs))
    shapes = Shapes.of(rle=texts, polygons=rings)
    _require(is_ring(np.diff(shapes.ring_start)).all() and np.isfinite(shapes.points).all())
    masks = draw(shapes, *sizes.reshape(-1, 2).T)
    _require(not masks.faulty.any())
    return masks


def _codes(key: str, values: Ints, known: Ints) -> Int32s:
    codes = coco.codes_of(values, known)
    _check(coco.member_faults(key, codes, ""))
    return codes


def _check(faults: Iterable[coco.Fault]) -> None:
    _require(not any(fault.wrong.any() for fault in faults))


def _require(plain: object) -> None:
    if not plain:
        raise NotPlain


def _column(records: Sequence[Any], key: str, kind: type[Number]) -> NDArray[Number]:
    return np.fromiter(map(attrgetter(key), records), kind, len(records))


def _flat(boxes: Iterable[Any], count: int) -> Floats:
    return np.fromiter(chain.from_iterable(boxes), np.float64, 4 * count).reshape(-1, 4)


_DOCUMENT = msgspec.json.Decoder(_Document)
_ANNOTATION_DECODERS: dict[coco.IouType, Any] = {
    "bbox": msgspec.json.Decoder(list[_Annotation]), "segm": msgspec.json.Decoder(list[_MaskAnnotation]),
}  # fmt: skip
_RESULT_DECODERS: dict[coco.IouType, Any] = {
    "bbox": msgspec.json.Decoder(list[_Result]), "segm": msgspec.json.Decoder(list[_MaskResult]),
}  # fmt: skip
