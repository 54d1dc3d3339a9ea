"""A selection of a detection run's objects as files: CSV of the objects; COCO, YOLO and a suite of their images."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.objects.object_filter import ObjectFilter
from metrics.analysis.objects.object_pages import Outline, Tile, object_keys, objects
from metrics.core.suite import IMAGE_NAME, Suite
from metrics.store import Run
from metrics.store.reviews import Place, Review
from metrics.store.table_files import write

if TYPE_CHECKING:
    import pandas as pd

MAX_EXPORTED = 50_000  # objects of an export
MOST_BYTES = 200_000_000  # of images in a zip; with more it has the labels alone
EDGES = ("x", "y", "width", "height")


def object_table(run: Run, evaluator: str, chosen: ObjectFilter) -> pd.DataFrame:
    """Return a row for each of at most MAX_EXPORTED selected objects, the best scores first.

    Columns: case_id, image, model, repeat, object, outcome, label, true_label, score, iou, x … height of the prediction
    and truth_x … of the ground truth in pixels, tags and note.
    """
    import pandas as pd

    marks, rows = Review(run).marks(), []
    for tile in _tiles(run, evaluator, chosen):
        (entry,) = tile.objects
        mark = marks.get(Place(tile.case_id, chosen.model, chosen.repeat, entry.key))
        rows.append(
            {
                "case_id": tile.case_id,
                "image": run.suite.image_names[tile.case_id],
                "model": chosen.model,
                "repeat": chosen.repeat,
                "object": entry.key,
                "outcome": entry.kind,
                "label": entry.label,
                "true_label": entry.truth,
                "score": entry.score,
                "iou": entry.iou,
                **_edges(entry.prediction, ""),
                **_edges(entry.annotation, "truth_"),
                "tags": "; ".join(mark.tags) if mark else None,
                "note": (mark.note or None) if mark else None,
            }
        )
    return pd.DataFrame(rows)


def as_csv(run: Run, evaluator: str, chosen: ObjectFilter) -> bytes:
    """Return `object_table` as CSV; cells that a spreadsheet would run as a formula begin with an apostrophe."""
    return write(object_table(run, evaluator, chosen), "csv")


def as_coco(run: Run, evaluator: str, chosen: ObjectFilter) -> bytes:
    """Return the images of the selection with their ground truth as COCO JSON.

    Ids of images and annotations are those of the file that the suite came from, so that the two can be joined; an
    image whose id is no number has its place, and its id as `case_id`. `predictions` holds the selected predictions as
    COCO results, each with its `outcome`; readers of COCO ignore it.
    """
    tiles = _tiles(run, evaluator, chosen)
    suite = selected_suite(run, evaluator, chosen)
    places = _image_ids(run.suite.cases["case_id"].to_pylist())
    numbers = dict(zip(suite.labels, suite.category_ids or range(1, len(suite.labels) + 1), strict=True))
    cases = suite.cases.to_pylist()
    heights = {case["case_id"]: (case["image_height"], case["image_width"]) for case in cases}
    annotations: Any = suite.annotations
    document = {
        "info": {"description": suite.name},
        "images": [
            {"id": places[case["case_id"]], "file_name": _file_name(case)}
            | ({} if str(places[case["case_id"]]) == case["case_id"] else {"case_id": case["case_id"]})
            | {side: case[f"image_{side}"] for side in ("width", "height") if case[f"image_{side}"] is not None}
            for case in cases
        ],
        "categories": [{"id": numbers[label], "name": label} for label in suite.labels],
        "annotations": [
            {
                "id": row["annotation_id"],
                "image_id": places[row["case_id"]],
                "category_id": numbers[row["label"]],
                "bbox": [row[edge] for edge in EDGES],
                "area": row["area"],
                "iscrowd": int(bool(row["is_crowd"])),
                **_segmentation(row, *heights[row["case_id"]]),
            }
            for row in annotations.to_pylist()
        ],
        "predictions": [
            {
                "image_id": places[tile.case_id],
                "category_id": numbers.get(entry.label),
                "score": entry.score,
                "bbox": list(entry.prediction[:4]),
                "outcome": entry.kind,
            }
            for tile in tiles
            for entry in tile.objects
            if entry.prediction is not None
        ],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def as_yolo(run: Run, evaluator: str, chosen: ObjectFilter) -> bytes:
    """Return the images of the selection with their ground truth as a zip: data.yaml, labels/ and images/.

    Crowds, and images whose size is unknown, have no place in YOLO and are left out. Beyond MOST_BYTES the images are.
    """
    suite = selected_suite(run, evaluator, chosen)
    annotations: Any = suite.annotations
    codes = {label: code for code, label in enumerate(suite.labels)}
    lines: dict[str, list[str]] = {}
    sizes = {case["case_id"]: (case["image_width"], case["image_height"]) for case in suite.cases.to_pylist()}
    for row in annotations.to_pylist():
        wide, high = sizes[row["case_id"]]
        if wide and high and not row["is_crowd"] and row["x"] is not None:
            x, y, width, height = (row[edge] for edge in EDGES)
            box = ((x + width / 2) / wide, (y + height / 2) / high, width / wide, height / high)
            text = " ".join(f"{number:.6f}" for number in box)
            lines.setdefault(row["case_id"], []).append(f"{codes[row['label']]} {text}\n")
    files = _media(suite)
    whole = sum(path.stat().st_size for path in files.values()) <= MOST_BYTES
    names = "".join(f"  {code}: {json.dumps(label, ensure_ascii=False)}\n" for label, code in codes.items())
    buffer, taken = io.BytesIO(), set[str]()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.yaml", f"path: .\ntrain: images\nval: images\nnames:\n{names}")
        for place, case in enumerate(suite.cases.to_pylist(), 1):
            name = PurePosixPath(_file_name(case).replace("\\", "/")).name or f"{place}.jpg"
            if PurePosixPath(name).stem in taken:
                name = f"{place}-{name}"
            taken.add(PurePosixPath(name).stem)
            archive.writestr(f"labels/{PurePosixPath(name).stem}.txt", "".join(lines.get(case["case_id"], ())))
            if whole and case["case_id"] in files:
                archive.write(files[case["case_id"]], f"images/{name}", zipfile.ZIP_STORED)
    return buffer.getvalue()


def selected_suite(run: Run, evaluator: str, chosen: ObjectFilter) -> Suite:
    """Return the suite of the images of the selection, with their whole ground truth."""
    keys = object_keys(run, evaluator, chosen)[:MAX_EXPORTED]
    return run.suite.restricted(pa.array(sorted({case_id for case_id, _ in keys}), pa.string()))


def _tiles(run: Run, evaluator: str, chosen: ObjectFilter) -> tuple[Tile, ...]:
    return objects(run, evaluator, chosen, limit=MAX_EXPORTED).tiles


def _edges(outline: Outline | None, prefix: str) -> dict[str, float | None]:
    return {f"{prefix}{edge}": None if outline is None else getattr(outline, edge) for edge in EDGES}


def _image_ids(case_ids: list[str]) -> dict[str, int]:
    """Return the number of each image: its id where all are whole numbers, as in COCO's files, else its place."""
    whole = all(id.isdecimal() and str(int(id)) == id for id in case_ids)
    return {id: int(id) if whole else place for place, id in enumerate(case_ids, 1)}


def _file_name(case: dict[str, Any]) -> str:
    """Return the name of an image as the upload gave it."""
    return str(case.get(IMAGE_NAME) or case["image"] or case["case_id"])


def _segmentation(row: dict[str, Any], height: int | None, width: int | None) -> dict[str, Any]:
    """Return the mask of an annotation as COCO writes it, nothing where it is a box."""
    if row["rle"] is not None and height and width:
        return {"segmentation": {"size": [height, width], "counts": row["rle"]}}
    return {"segmentation": row["polygons"]} if row["polygons"] else {}


def _media(suite: Suite) -> dict[str, Path]:
    """Return the image file of each case that has one."""
    if suite.media is None:
        return {}
    named = suite.cases.filter(pc.is_valid(suite.cases["image"])).select(["case_id", "image"]).to_pylist()
    paths = {row["case_id"]: suite.media / row["image"] for row in named}
    return {case_id: path for case_id, path in paths.items() if path.is_file()}
