"""COCO files in their plain form straight into columns of numbers; any other file is left to the careful reader.

msgspec reads every file of the right types into the columns that the rules of metrics.vision.coco_columns are about. A
file that breaks a rule, or holds other types, is not plain: what is wrong with it, if anything, is for the reader of
uploads to find.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.core.files import bytes_of
from metrics.vision import coco_columns as coco
from metrics.vision.masks import Masks, Shapes, draw, is_ring

Number = TypeVar("Number", bound=np.generic)
FIRST = 1 << 16  # bytes of which the keys are looked at
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
    try:
        truth = _truth(gt_json, iou_type)
        return truth, _results(results_json, truth, iou_type)
    except (NotPlain, OSError, OverflowError, msgspec.DecodeError):
        return None


def _truth(path: Path, iou_type: coco.IouType) -> coco.GroundTruth:
    document = _DOCUMENT.decode(bytes_of(path))
    images, categories = document.images, document.categories
    image_ids, category_ids = _column(images, "id", np.int64), _column(categories, "id", np.int64)
    labels = [category.name for category in categories]
    sizes = np.column_stack([_column(images, side, np.int64) for side in ("height", "width")])
    _need_usual_keys(document.annotations)
    annotations = _ANNOTATION_DECODERS[iou_type].decode(document.annotations)
    image, category, ids, crowd = (
        _column(annotations, key, np.int64) for key in ("image_id", "category_id", "id", "iscrowd")
    )
    box = _flat((annotation.bbox for annotation in annotations), len(annotations))
    area = _column(annotations, "area", np.float64)
    _check(coco.image_faults(image_ids))
    _check(coco.category_faults(category_ids, np.array(labels, np.str_)))
    _check(coco.annotation_faults(ids))
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
    return replace(truth, masks=_masks([annotation.segmentation for annotation in annotations], sizes[truth.image]))


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
    _require(not MEANT.search(bytes(memoryview(array)[:FIRST])))


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
