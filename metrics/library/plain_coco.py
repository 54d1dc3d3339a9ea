"""COCO files in their plain form straight into columns of numbers; any other file is left to the careful reader.

Two fast readers: a scanner of boxes in their plain form, and msgspec for every file of the right types. Both end in the
columns that the rules of metrics.vision.coco_columns are about. A file that breaks a rule, or holds other types, is not
plain: what is wrong with it, if anything, is for metrics.ingest.formats.coco to find.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.vision import coco_columns as coco
from metrics.vision.masks import Masks, Shapes, draw, is_ring

Scanned = tuple[Ints, Ints, Floats, Floats]
Number = TypeVar("Number", bound=np.generic)
AnyAnnotation = TypeVar("AnyAnnotation")
BLOCK = 1 << 19  # bytes of results that a thread scans at a time
WAITING = 4  # blocks in memory at a time
BLANKS = b" \t\r\n"


class NotPlain(Exception):
    """The file may be right, but only the careful reader can decide that."""


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


class _Document(msgspec.Struct, Generic[AnyAnnotation]):
    images: list[_Image]
    categories: list[_Category]
    annotations: list[AnyAnnotation]


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
            return None


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


def _scanned(blocks: Sequence[Future[Scanned | None]], truth: coco.GroundTruth) -> coco.Results | None:
    """Return the results of scanned blocks; None where one is not plain."""
    parts = [part for block in blocks if (part := block.result()) is not None]
    if not blocks or len(parts) < len(blocks):
        return None
    image, category, box, score = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _checked_results(image, category, box.reshape(-1, 4), score, truth)


def _truth(path: Path, iou_type: coco.IouType) -> coco.GroundTruth:
    document = _DECODERS[iou_type].decode(path.read_bytes())
    images, categories, annotations = document.images, document.categories, document.annotations
    image_ids, category_ids = _column(images, "id", np.int64), _column(categories, "id", np.int64)
    labels = [category.name for category in categories]
    box = _flat((annotation.bbox for annotation in annotations), len(annotations))
    area, crowd = _column(annotations, "area", np.float64), _column(annotations, "iscrowd", np.int64)
    sizes = np.column_stack([_column(images, side, np.int64) for side in ("height", "width")])
    _check(coco.image_faults(image_ids))
    _check(coco.category_faults(category_ids, np.array(labels, np.str_)))
    _check(coco.annotation_faults(_column(annotations, "id", np.int64)))
    _check(coco.crowd_faults(crowd))
    _check(coco.box_faults(box, np.zeros(len(box), np.bool_)))
    _check(coco.area_faults(area))
    by_image, by_category = np.argsort(image_ids), np.argsort(category_ids)
    image_ids, sizes, category_ids = image_ids[by_image], sizes[by_image], category_ids[by_category]
    truth = coco.GroundTruth(
        image_ids, sizes, category_ids, tuple(labels[place] for place in by_category.tolist()),
        _codes("image_id", _column(annotations, "image_id", np.int64), image_ids),
        _codes("category_id", _column(annotations, "category_id", np.int64), category_ids),
        box, area, crowd == 1,
    )  # fmt: skip
    if iou_type == "bbox":
        return truth
    _check(coco.size_faults(sizes))
    _check(coco.pixel_faults(sizes))
    return replace(truth, masks=_masks([entry.segmentation for entry in annotations], sizes[truth.image]))


def _results(path: Path, truth: coco.GroundTruth, iou_type: coco.IouType) -> coco.Results:
    records = _RESULT_DECODERS[iou_type].decode(path.read_bytes())
    boxed = not records or records[0].bbox is not None
    _require(all((record.bbox is not None) == boxed for record in records))
    box = _flat((record.bbox for record in records), len(records)) if boxed else np.zeros((len(records), 4))
    image, category = (_column(records, key, np.int64) for key in ("image_id", "category_id"))
    found = _checked_results(image, category, box, _column(records, "score", np.float64), truth)
    if iou_type == "bbox":
        return found
    masks = _masks([record.segmentation for record in records], truth.sizes[found.image])
    return replace(found, boxed=boxed, masks=masks)


def _checked_results(image: Ints, category: Ints, box: Floats, score: Floats, truth: coco.GroundTruth) -> coco.Results:
    _check(coco.score_faults(score))
    _check(coco.box_faults(box, np.zeros(len(box), np.bool_)))
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


_DECODERS: dict[coco.IouType, Any] = {
    "bbox": msgspec.json.Decoder(_Document[_Annotation]), "segm": msgspec.json.Decoder(_Document[_MaskAnnotation]),
}  # fmt: skip
_RESULT_DECODERS: dict[coco.IouType, Any] = {
    "bbox": msgspec.json.Decoder(list[_Result]), "segm": msgspec.json.Decoder(list[_MaskResult]),
}  # fmt: skip
