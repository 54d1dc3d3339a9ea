"""The objects of a detection run one by one: what became of each, filtered, sorted, paged, with its geometry."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.analysis.objects.object_filter import LOW_SCORE, ObjectFilter, all_of, annotation_ids, masks_of
from metrics.analysis.objects.object_index import BOX, SIZES, ObjectIndex, object_index
from metrics.analysis.objects.object_rings import Bone, bones
from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.core.classes import ClassFacts
from metrics.core.rounding import none_if_nan
from metrics.store import Run
from metrics.vision.outlines import mask_rings

SORTS = ("score", "score_up", "iou", "iou_up", "size", "size_up", "suite", "most")
MOST_IN_IMAGE = 40  # more cannot be distinguished in a thumbnail
SHAPE = ("polygons", "rle")
POSE = "keypoints"


class Outline(NamedTuple):
    """Where an object is, in pixels: its box, polygons (of a mask its outline), key points' lines; None: unknown."""

    x: float | None
    y: float | None
    width: float | None
    height: float | None
    polygons: list[list[float]] | None
    bones: list[Bone] | None = None


class GalleryObject(NamedTuple):
    """One object: what became of it, its size in square pixels, and its two geometries, None where it has none.

    `key` tells it apart within its case, model and repeat: p and the prediction_id, or, of a missed ground truth, a and
    the annotation_id.
    """

    kind: str
    label: str
    truth: str | None
    score: float | None
    iou: float | None
    area: float | None
    prediction: Outline | None
    annotation: Outline | None
    key: str = ""


class Tile(NamedTuple):
    """One tile of a gallery: an image (its file name in the suite's media, or None) and objects in it.

    image_width, image_height: pixels, or None; n: objects that the filter leaves in the image, of which `objects` are
    the first; 1 where a tile is an object.
    """

    case_id: str
    image: str | None
    image_width: int | None
    image_height: int | None
    n: int
    objects: tuple[GalleryObject, ...]


class ObjectPage(NamedTuple):
    """Some tiles of a gallery, how many tiles there are in all, and how many objects they show."""

    tiles: tuple[Tile, ...]
    total: int
    objects: int


def objects(
    run: Run,
    evaluator: str,
    chosen: ObjectFilter,
    sort: str = "score",
    by_image: bool = False,
    limit: int = 60,
    offset: int = 0,
) -> ObjectPage:
    """Return a page of the objects of a run's matches, one a tile; or one image a tile, with up to 40 of them.

    The size of an object is the area of its ground truth where that is found or missed, else that of the prediction.
    `sort` is one of SORTS: the best first, with `_up` the least; what lacks the value comes last; `most` is for images,
    those with most objects first. InputError where the run has no such evaluator or model.
    """
    index = object_index(run, evaluator, chosen.model, chosen.repeat, chosen.iou)
    (kind, label), masks = masks_of(run, evaluator, index, chosen)
    rows = np.flatnonzero(all_of(masks))
    position, values = index.position[rows], _values(index, rows, sort)
    if by_image:
        there, best, counts = _images(position, values, len(run.suite), sort)
        total = len(there)
        shown = there[_first(best[there], offset, limit)]
        wanted = np.zeros(len(counts), np.bool_)
        wanted[shown] = True
        near = rows[wanted[position]]
        groups = [near[index.position[near] == place] for place in shown]
    else:
        total = len(rows)
        groups = [rows[place : place + 1] for place in _first(values, offset, limit)]
        shown = np.array([index.position[group[0]] for group in groups], np.int64)
    names = ["case_id", "image", "image_width", "image_height"]
    images = run.suite.cases.select(names).take(shown).to_pylist()
    first = [group[:MOST_IN_IMAGE] for group in groups]
    heights = np.repeat(
        [np.nan if image["image_height"] is None else image["image_height"] for image in images], list(map(len, first))
    )
    found = iter(_objects(run, index, kind, label, np.concatenate([np.empty(0, np.int64), *first]), heights, chosen))
    tiles = tuple(
        Tile(**image, n=len(group), objects=tuple(islice(found, len(drawn))))
        for image, group, drawn in zip(images, groups, first, strict=True)
    )
    return ObjectPage(tiles, total, len(position))


def object_place(
    run: Run, evaluator: str, chosen: ObjectFilter, sort: str, by_image: bool, case_id: str, key: str = ""
) -> int | None:
    """Return at which offset of `objects`, in that sort, an object of a case stands, or the case's image.

    None where the filter leaves it out. `key` is that of GalleryObject; it is not looked at where `by_image`.
    """
    index = object_index(run, evaluator, chosen.model, chosen.repeat, chosen.iou)
    case = pc.index(run.suite.cases["case_id"], case_id).as_py()
    _, masks = masks_of(run, evaluator, index, chosen)
    rows = np.flatnonzero(all_of(masks))
    position, values = index.position[rows], _values(index, rows, sort)
    if by_image:
        there, best, _ = _images(position, values, len(run.suite), sort)
        mine = np.flatnonzero(there == case)
        values = best[there]
    else:
        mine = np.flatnonzero((position == case) & _rows_with_key(run, index, rows, key))
    if case < 0 or not len(mine):
        return None
    place = int(mine[0])
    return int((values < values[place]).sum() + (values[:place] == values[place]).sum())


def object_counts(run: Run, evaluator: str, chosen: ObjectFilter) -> dict[str, dict[str, int]]:
    """Return how many objects each kind, label, truth, size and tag would leave, each with the other filters on."""
    index = object_index(run, evaluator, chosen.model, chosen.repeat, chosen.iou)
    (kind, label), masks = masks_of(run, evaluator, index, chosen)
    kinds = (*index.kinds, LOW_SCORE)
    columns: dict[str, tuple[NDArray[Any], tuple[str, ...]]] = {
        "kind": (kind, kinds),
        "label": (label, index.labels),
        "truth": (index.truth, index.labels),
        "size": (index.size, tuple(SIZES)),
    }
    counts = {}
    for name, (codes, names) in columns.items():
        kept = codes[all_of({other: mask for other, mask in masks.items() if other != name})]
        found = np.bincount(kept[kept >= 0], minlength=len(names))
        counts[name] = {names[code]: int(found[code]) for code in np.flatnonzero(found)}
    in_case = np.bincount(
        index.position[all_of({name: mask for name, mask in masks.items() if name != "tag"})], minlength=len(run.suite)
    )
    tags = run.suite.cases["tags"].combine_chunks()
    lengths = pc.list_value_length(tags).fill_null(0).to_numpy()
    words = tags.flatten().dictionary_encode()
    sums = np.bincount(words.indices.to_numpy(), np.repeat(in_case, lengths), len(words.dictionary)).astype(int)
    counts["tag"] = {tag: int(n) for tag, n in zip(words.dictionary.to_pylist(), sums, strict=True) if n}
    return counts


def _values(index: ObjectIndex, rows: Ints, sort: str) -> Floats:
    """Return what to sort by, the least first, infinite where there is none."""
    columns: dict[str, NDArray[Any]] = {"score": index.score, "iou": index.iou, "size": index.area}
    column = columns.get(sort.removesuffix("_up"))
    values = (index.position if column is None else column)[rows].astype(float)
    rising = column is None or sort.endswith("_up")
    return np.asarray(np.nan_to_num(values if rising else -values, nan=np.inf, neginf=-np.inf, posinf=np.inf))


def _images(position: Int32s, values: Floats, images: int, sort: str) -> tuple[Ints, Floats, Ints]:
    """Return the positions of the images with objects; what each image is sorted by, the least first; its objects."""
    counts: Ints = np.bincount(position, minlength=images)
    if sort == "most":
        best = -counts.astype(float)
    else:
        best = np.full(images, np.inf)
        np.minimum.at(best, position, values)
    return np.flatnonzero(counts), best, counts


def object_keys(
    run: Run, evaluator: str, chosen: ObjectFilter, sort: str = "score", by_image: bool = False
) -> list[tuple[str, str]]:
    """Return case_id and key of every object that the filter leaves, or of every image with "" as key, in that sort."""
    index = object_index(run, evaluator, chosen.model, chosen.repeat, chosen.iou)
    _, masks = masks_of(run, evaluator, index, chosen)
    rows = np.flatnonzero(all_of(masks))
    position, values = index.position[rows], _values(index, rows, sort)
    case_ids = run.suite.cases["case_id"].combine_chunks()
    if by_image:
        there, best, _ = _images(position, values, len(run.suite), sort)
        shown = there[np.argsort(best[there], kind="stable")]
        return [(case_id, "") for case_id in case_ids.take(pa.array(shown)).to_pylist()]
    rows = rows[np.argsort(values, kind="stable")]
    predicted, missed = index.prediction_id[rows].tolist(), annotation_ids(run)[index.annotation[rows]].tolist()
    names = case_ids.take(pa.array(index.position[rows])).to_pylist()
    return [
        (case_id, f"p{prediction}" if prediction >= 0 else f"a{annotation}")
        for case_id, prediction, annotation in zip(names, predicted, missed, strict=True)
    ]


def _rows_with_key(run: Run, index: ObjectIndex, rows: Ints, key: str) -> Bools:
    """Return which of these rows have the key."""
    family, number = key[:1], key[1:]
    if family not in ("p", "a") or not number.isdecimal():
        return np.zeros(len(rows), np.bool_)
    predicted = index.prediction_id[rows]
    if family == "p":
        named: Bools = predicted == int(number)
    else:
        named = (predicted < 0) & (annotation_ids(run)[index.annotation[rows]] == int(number))
    return named


def _first(values: Floats, offset: int, limit: int) -> Ints:
    """Return the places of the values offset … offset + limit in rising order; equal ones keep theirs."""
    stop = min(offset + limit, len(values))
    if stop <= offset:
        return np.empty(0, np.int64)
    edge = np.partition(values, stop - 1)[stop - 1]
    near = np.flatnonzero(values <= edge)
    return near[np.argsort(values[near], kind="stable")][offset:stop]


def _objects(
    run: Run,
    index: ObjectIndex,
    kind: NDArray[np.int8],
    label: Int32s,
    rows: Ints,
    heights: NDArray[Any],
    chosen: ObjectFilter,
) -> Iterator[GalleryObject]:
    """Yield the objects in these rows with their geometries; heights: pixels of their images, NaN where unknown."""
    kinds = (*index.kinds, LOW_SCORE)
    shapes = _prediction_shapes(run, chosen, index.prediction_id[rows[index.shaped[rows] > 0]])
    columns = (
        kind[rows],
        label[rows],
        index.truth[rows],
        index.score[rows],
        index.iou[rows],
        index.area[rows],
        index.prediction_id[rows],
        index.prediction_box[rows],
        index.annotation[rows],
        annotation_ids(run)[index.annotation[rows]],
        heights,
    )
    annotations: Any = run.suite.annotations
    classes = run.suite.classes
    truths = annotations.select([*BOX, *SHAPE, POSE]).take(index.annotation[rows[index.annotation[rows] >= 0]])
    annotated = iter(truths.to_pylist())
    for what, named, truth, score, iou, area, prediction, box, annotation, annotation_id, height in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        predicted = dict(zip(BOX, map(none_if_nan, box), strict=True)) | shapes.get(
            prediction, dict.fromkeys((*SHAPE, POSE))
        )
        name, true = index.labels[named], index.labels[truth] if truth >= 0 else None
        known = none_if_nan(score), none_if_nan(iou), none_if_nan(area)
        guess = _outline(predicted, height, classes.get(name), True) if prediction >= 0 else None
        own = _outline(next(annotated), height, classes.get(index.labels[truth])) if annotation >= 0 else None
        key = f"p{prediction}" if prediction >= 0 else f"a{annotation_id}"
        yield GalleryObject(kinds[what], name, true, *known, guess, own, key)


def _outline(geometry: Mapping[str, Any], height: float, facts: ClassFacts | None, guessed: bool = False) -> Outline:
    """Return a geometry with the outline of its run lengths as polygons; without where it cannot be drawn."""
    x, y, wide, high = (geometry[edge] for edge in BOX)
    polygons, text, box = geometry["polygons"], geometry["rle"], (x, y, wide, high)
    if text is not None and polygons is None and height == height and None not in box:
        with suppress(ValueError):
            polygons = mask_rings(text, int(height), box)
    rings = [ring for ring in polygons or () if len(ring) >= 6]  # a line stands for what is no outline
    return Outline(x, y, wide, high, rings or None, bones(geometry[POSE], facts, guessed) or None)


def _prediction_shapes(run: Run, chosen: ObjectFilter, ids: Ints) -> dict[int, dict[str, Any]]:
    """Return the polygons, run lengths and key points of these predictions by id."""
    if not len(ids):
        return {}
    this = [("model", "==", chosen.model), ("run", "==", chosen.repeat), ("prediction_id", "in", ids.tolist())]
    predictions = run.needed("outputs/predictions.parquet")
    columns = [name for name in (*SHAPE, POSE) if name in predictions.columns]
    table = predictions.rows(["prediction_id", *columns], this)
    return {row.pop("prediction_id"): {POSE: None, **row} for row in table.to_pylist()}
