"""One model's objects as columns in a memory-mapped file: the join of matches and geometry that a gallery filters.

Joining a million matches with their geometries takes a second; it is done once, when the objects are first opened.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.analysis.objects.matching_again import ANY_LABEL, matches_at, stored_at
from metrics.core.array_types import Bytes, Floats, Int32s, Ints, Singles
from metrics.core.errors import InputError
from metrics.core.files import make_folder, write_text, written_whole
from metrics.core.suite import PREDICTIONS
from metrics.store import Run
from metrics.store.manifest import digest_of

FOLDER = "objects-3"  # in the workspace's cache, for a sealed run never changes; raise it when the columns do
SUM = ".sha256"  # the ending of the file beside an index with its checksum
SIZES = {"small": 32.0**2, "medium": 96.0**2, "large": np.inf}  # below how many square pixels; COCO's ranges
BOX = ("x", "y", "width", "height")
SHAPES = ("polygons", "rle", "keypoints")
_building = Lock()


@dataclass(frozen=True, eq=False, slots=True)
class ObjectIndex:
    """N objects: every prediction and every missed ground truth of one model and repeat, the best scores first.

    kinds and labels name the codes. kind, label, truth [N] are codes; truth, the label of the ground truth that the
    object took, overlaps or is, is −1 without one. position [N]: of the case in the suite. score, iou [N]: NaN where
    there is none. area [N], square pixels: of the ground truth that was found or missed, else of the prediction; size
    [N] its place in SIZES. prediction_id [N], and prediction_box [N, 4]: x, y, width, height; −1 and NaN where there is
    none. shaped [N]: whether the prediction has one of SHAPES. annotation [N]: the row of the ground truth in
    the suite's annotations, −1 without one. took [N]: whether the prediction took its ground truth, which is missed
    where the prediction does not count.
    """

    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    kind: NDArray[np.int8]
    label: Int32s
    truth: Int32s
    position: Int32s
    score: Floats
    iou: Floats
    area: Singles
    size: NDArray[np.int8]
    prediction_id: Ints
    prediction_box: Singles
    shaped: Bytes
    annotation: Int32s
    took: Bytes


def object_index(run: Run, evaluator: str, model: str, repeat: int = 1, iou: float | None = None) -> ObjectIndex:
    """Return the objects that an evaluator matched, at its own IoU threshold or at `iou`, of any score.

    InputError where the run has no such evaluator or model.
    """
    if evaluator not in run.match_names():
        raise InputError(f"run {run.id} has no matches of {evaluator!r}; it has those of {list(run.match_names())}")
    if model not in run.models:
        raise InputError(f"run {run.id} has no model {model!r}; it has {list(run.models)}")
    stored = stored_at(run, evaluator, iou)
    at = "" if iou is None or stored else f".{iou:.2f}"
    name = f"{evaluator}.{run.models.index(model)}.{int(repeat)}{at}.arrow"
    path = run.workspace.cache_file(f"{FOLDER}/{run.id}/{name}")
    with _building:
        if not _is_whole(path):
            _read_index.cache_clear()  # it maps the file as it was
            _write(path, _join(run, evaluator, model, int(repeat), iou))
        return _read_index(path)


def _is_whole(path: Path) -> bool:
    """Return whether an index is stored, as it was written: one that was changed would show other objects."""
    try:
        return path.with_suffix(SUM).read_text() == digest_of(path)
    except (OSError, ValueError):
        return False


def _join(
    run: Run, evaluator: str, model: str, repeat: int, iou: float | None
) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
    """Return the columns of the index and the names of its codes."""
    this = [("model", "==", model), ("run", "==", repeat)]
    texts = ["case_id", "label", "kind"]
    if stored_at(run, evaluator, iou):
        table = run.stored(f"matches/{evaluator}")
        assert table is not None  # who asks has looked
        matches = table.rows(None, this, read_dictionary=texts)
        matches = matches.unify_dictionaries().combine_chunks()
    else:
        matches = matches_at(run, evaluator, model, repeat, iou)
    suite, count = run.suite, len(run.suite)
    case_ids = suite.cases["case_id"].combine_chunks()
    position = _codes(matches["case_id"], case_ids)
    prediction_id, annotation_id = (matches[f"{of}_id"].fill_null(-1).to_numpy() for of in ("prediction", "annotation"))

    stored = run.stored("outputs/predictions.parquet")  # none where no model predicted anything
    predictions = PREDICTIONS.empty_table()
    if stored is not None:
        shape = {"area", *BOX, *SHAPES} & set(stored.columns)
        predictions = stored.rows(["prediction_id", *sorted(shape)], this)
    predicted = _lookup(predictions["prediction_id"].to_numpy(), prediction_id)
    annotations = suite.annotations
    assert annotations is not None  # detection has them
    # an annotation's id may come again in another image
    ids = np.unique(annotations["annotation_id"].to_numpy())
    places = pc.index_in(annotations["case_id"], case_ids).to_numpy().astype(np.int64)
    keys = np.searchsorted(ids, annotations["annotation_id"].to_numpy()) * count + places
    wanted = np.searchsorted(ids, annotation_id) * count + position
    annotated = np.where(annotation_id < 0, -1, _lookup(keys, wanted))

    names = pa.array(sorted({*suite.labels, *_names(matches["label"]), *_names(annotations["label"])}), pa.string())
    kinds = pa.array(sorted(_names(matches["kind"])), pa.string())
    kind = _codes(matches["kind"], kinds)
    found = pc.equal(matches["kind"], "tp").to_numpy(zero_copy_only=False)
    of_prediction, of_annotation = _area(predictions)[predicted], _area(annotations)[annotated]
    area = np.where((prediction_id < 0) | found, of_annotation, of_prediction)
    columns: dict[str, NDArray[Any]] = {
        "kind": kind.astype(np.int8),
        "label": _codes(matches["label"], names).astype(np.int32),
        "truth": _with_none(_codes(annotations["label"], names))[annotated].astype(np.int32),
        "position": position.astype(np.int32),
        "score": matches["score"].to_numpy(),
        "iou": matches["iou"].to_numpy(),
        "area": np.nan_to_num(area).astype(np.float32),
        "prediction_id": prediction_id,
        "prediction_box": np.column_stack([_with_none(predictions[edge].to_numpy())[predicted] for edge in BOX]),
        "shaped": _shaped(predictions)[predicted],
        "annotation": annotated.astype(np.int32),
        "took": _took(matches, found, annotated, evaluator),
    }
    columns["prediction_box"] = columns["prediction_box"].astype(np.float32)
    columns["size"] = np.searchsorted([*SIZES.values()][:-1], columns["area"], side="right").astype(np.int8)
    score = np.where(np.isnan(columns["score"]), -np.inf, columns["score"])
    order = np.lexsort((position, -columns["area"], -score))
    return {name: column[order] for name, column in columns.items()}, {
        "kinds": kinds.to_pylist(),
        "labels": names.to_pylist(),
    }


def _took(matches: pa.Table, found: NDArray[np.bool_], annotated: Ints, evaluator: str) -> NDArray[np.uint8]:
    """Return which predictions took their ground truth: those found, and with ANY_LABEL those of another label."""
    if evaluator == ANY_LABEL:
        mistaken = pc.equal(matches["kind"], "fp_misclassification").to_numpy(zero_copy_only=False)
        found = found | (mistaken & (annotated >= 0))
    return found.astype(np.uint8)


def _write(path: Path, joined: tuple[dict[str, NDArray[Any]], dict[str, list[str]]]) -> None:
    columns, names = joined
    columns["prediction_box"] = pa.FixedSizeListArray.from_arrays(columns["prediction_box"].ravel(), len(BOX))
    table = pa.table(columns).replace_schema_metadata({"names": json.dumps(names)})
    make_folder(path.parent)
    with (
        written_whole(path) as beside,
        pa.OSFile(str(beside), "wb") as stream,
        pa.ipc.new_file(stream, table.schema) as writer,
    ):
        writer.write_table(table)
    write_text(path.with_suffix(SUM), digest_of(path))


@lru_cache(maxsize=32)
def _read_index(path: Path) -> ObjectIndex:
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all().combine_chunks()
    names = json.loads(table.schema.metadata[b"names"])
    boxes = table["prediction_box"].combine_chunks().flatten().to_numpy().reshape(-1, len(BOX))
    columns = {name: table[name].to_numpy() for name in table.column_names if name != "prediction_box"}
    return ObjectIndex(tuple(names["kinds"]), tuple(names["labels"]), prediction_box=boxes, **columns)


def _codes(column: pa.ChunkedArray, names: pa.Array) -> Ints:
    """Return the place of each value in `names`, −1 where it is not there."""
    if pa.types.is_dictionary(column.type):
        column = column.combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        of_words = pc.index_in(column.dictionary, names).fill_null(-1).to_numpy().astype(np.int64)
        return np.asarray(_with_none(of_words)[column.indices.fill_null(-1).to_numpy()])
    return np.asarray(pc.index_in(column, names).fill_null(-1).to_numpy().astype(np.int64))


def _names(column: pa.ChunkedArray) -> set[str]:
    return set(pc.cast(column.unique(), pa.string()).drop_null().to_pylist())


def _lookup(keys: NDArray[Any], wanted: NDArray[Any]) -> Ints:
    """Return the row of `keys` that holds each of `wanted`, −1 where none does."""
    if not len(keys):
        return np.full(len(wanted), -1)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    rows = order[place]
    return np.where(keys[rows] == wanted, rows, -1)


def _area(table: pa.Table) -> Floats:
    """Return the area of each row, of the box where the file gave none, and at the end, for −1, none."""
    area, width, height = (table[name].to_numpy() for name in ("area", "width", "height"))
    return _with_none(np.where(np.isnan(area), width * height, area))


def _shaped(table: pa.Table) -> Bytes:
    """Return which rows have more than a box, and at the end, for −1, none."""
    shaped = np.zeros(len(table) + 1, np.uint8)
    for name in set(SHAPES) & set(table.column_names):
        shaped[:-1] |= pc.is_valid(table[name]).to_numpy().astype(np.uint8)
    return shaped


def _with_none(values: NDArray[Any]) -> NDArray[Any]:
    """Return `values` with the value of a row without a match, −1 or NaN, at the end: index −1 finds it there."""
    return np.append(values, values.dtype.type(-1 if values.dtype.kind == "i" else np.nan))
