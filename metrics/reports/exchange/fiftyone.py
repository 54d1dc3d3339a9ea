"""A run of images as a FiftyOneDataset folder: metadata.json, samples.json, data/ with the images.

    fiftyone.Dataset.from_dir(folder, dataset_type=fiftyone.types.FiftyOneDataset)

Ground truth is the field `ground_truth`, a model's predictions are `predictions_MODEL`, `…_run_2` for repeats. Boxes
are relative to the image, an object with an outline or a mask has the mask inside its box. Images keep their names,
tags of objects are those that people gave them. What the run found is stored as FiftyOne's own evaluation under the key
`eval_MODEL`: tp, fp or fn of each object, `…_iou`, `…_id` of its match, and their counts of each image.
"""

import base64
import hashlib
import io
import json
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.errors import InputError, InputProblem
from metrics.core.rounding import round_tree
from metrics.presentation.safe_text import shown
from metrics.reports.exchange.contents import unique_names
from metrics.reports.renderers.bitmap_archive import drawn_objects
from metrics.store import Run
from metrics.store.reviews import Mark, Place, Review
from metrics.vision.geometry import BOX

VERSION = "1.0.0"  # of FiftyOne's documents; later versions migrate them when they import
FIELDS = "fiftyone.core.fields."
LABELS = "fiftyone.core.labels."
TRUTH = "ground_truth"
OUTCOMES = ("tp", "fp", "fn")
EVALUATION = {"": "StringField", "_iou": "FloatField", "_id": "StringField"}  # of an object, behind the key
EVALUATED = "evaluated"  # where an object has these until it is written
Object = tuple[dict[str, Any], Bools | None]  # a row of annotations or predictions, and its mask


def export(run: Run, folder: Path) -> None:
    """Write the data set. InputError where the run has no images, or its suite not all of their files and sizes."""
    rows = run.suite.cases.to_pylist()
    _check(run, rows)
    (folder / "data").mkdir()
    whole = run.suite.annotations is None  # an image has one label
    marks = Review(run).marks()
    fields = {name: _by_case(run, table, marks) for name, table in _sides(run)}
    keys = {} if whole else _evaluate(run, fields)
    files = _file_names(run, rows)
    samples = []
    for row in rows:
        image = run.suite.media / row["image"] if run.suite.media else Path(row["image"])
        shutil.copyfile(image, folder / "data" / files[row["case_id"]])
        labels = {
            name: _one_label(run, name, row, own.get(row["case_id"], []))
            if whole
            else _detections(run, name, row, own.get(row["case_id"], []))
            for name, own in fields.items()
        }
        counts = {f"{key}_{what}": own.get((row["case_id"], what), 0) for key, own in keys.items() for what in OUTCOMES}
        samples.append(_sample(run, row, files[row["case_id"]]) | labels | counts)
    _write(folder / "samples.json", {"samples": samples})
    _write(folder / "metadata.json", _metadata(run, list(fields), list(keys), whole))


def _file_names(run: Run, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the name of each image in `data`: its own, or that in the workspace where two share one."""
    own = {row["case_id"]: PurePath(str(run.suite.image_names[row["case_id"]]).replace("\\", "/")).name for row in rows}
    shared = {name for name, count in Counter(name.casefold() for name in own.values()).items() if count > 1}
    return {
        row["case_id"]: row["image"] if own[row["case_id"]].casefold() in shared else own[row["case_id"]]
        for row in rows
    }


def _evaluate(run: Run, fields: Mapping[str, Mapping[str, list[Object]]]) -> dict[str, Counter[tuple[str, str]]]:
    """Write into the objects what the run's matches say of them; return the evaluations and their counts by image."""
    if not run.match_names():
        return {}
    names = ["model", "run", "case_id", "kind", "prediction_id", "annotation_id", "iou"]
    matches = run.stored_table(f"matches/{run.match_names()[0]}", names).to_pylist()
    truths = {(case, row["annotation_id"]): row for case, own in fields[TRUTH].items() for row, _ in own}
    found: dict[str, Counter[tuple[str, str]]] = {}
    for name, by_case in fields.items():
        if name == TRUTH:
            continue
        key = "eval_" + name.removeprefix("predictions_")
        counts = found[key] = Counter()
        own = {
            (row["model"], row["run"], row["case_id"], row["prediction_id"]): row
            for rows in by_case.values()
            for row, _ in rows
        }
        side = {key[:2] for key in own}
        for match in matches:
            if (match["model"], match["run"]) not in side:
                continue
            case, what = match["case_id"], match["kind"][:2]
            predicted = own.get((match["model"], match["run"], case, match["prediction_id"]))
            truth = truths.get((case, match["annotation_id"]))
            if what not in OUTCOMES or (predicted is None and what != "fn"):
                continue
            counts[case, what] += 1
            if predicted is not None:
                matched = {} if truth is None or what != "tp" else {f"{key}_id": _object_id(run, TRUTH, truth)["$oid"]}
                predicted[EVALUATED] = {key: what, f"{key}_iou": match["iou"]} | matched
            if truth is not None and what != "fp":
                back = {} if predicted is None else {f"{key}_id": _object_id(run, name, predicted)["$oid"]}
                truth.setdefault(EVALUATED, {}).update({key: what, f"{key}_iou": match["iou"]} | back)
    return found


def has_images(run: Run) -> bool:
    """Return whether a run has images."""
    named = run.case_columns(["image"])["image"]  # the rest of a large suite is read only where it has any
    return named.null_count < len(named) and run.suite.media is not None


def _check(run: Run, rows: list[dict[str, Any]]) -> None:
    media = run.suite.media
    lost = [row["case_id"] for row in rows if not row["image"] or not media or not (media / row["image"]).is_file()]
    if len(lost) == len(rows):
        found = f"a suite of {run.suite.task} without images"
        raise InputError([InputProblem(run.id, found, "images: a FiftyOne data set is made of them")])
    problems = [InputProblem(run.id, f"no image of case {case_id!r}", "the image in the suite") for case_id in lost]
    unknown = [row["case_id"] for row in rows if not row["image_width"] or not row["image_height"]]
    if run.suite.annotations is not None:
        problems += [InputProblem(run.id, f"no size of the image of case {one!r}", "its size") for one in unknown]
    if problems:
        raise InputError(problems)


def _sides(run: Run) -> Iterator[tuple[str, pa.Table]]:
    """Yield the name of each field and its rows: the ground truth, then each model and repeat."""
    truth = run.suite.annotations
    yield TRUTH, run.suite.cases.select(["case_id", "label"]) if truth is None else truth
    names = {model: name.replace(".", "_").replace("-", "_") for model, name in unique_names(run.models).items()}
    outputs, predictions = run.outputs.outputs, run.outputs.predictions
    for model in run.models:
        repeats = sorted(set(outputs.filter(pc.equal(outputs["model"], model))["run"].to_pylist()))
        for repeat in repeats:
            name = f"predictions_{names[model]}" + (f"_run_{repeat}" if len(repeats) > 1 else "")
            if predictions is None:
                answers = run.outputs.restricted(model, repeat).outputs
                yield name, pa.table({"case_id": answers["case_id"], "label": answers["answer"]})
            else:
                own = pc.and_(pc.equal(predictions["model"], model), pc.equal(predictions["run"], repeat))
                yield name, predictions.filter(own)


def _by_case(run: Run, table: pa.Table, marks: Mapping[Place, Mark]) -> dict[str, list[Object]]:
    """Return the rows of each case with people's tags; those with an outline or a run-length mask are drawn."""
    shaped = pa.array([False] * len(table))
    if "rle" in table.column_names:
        rings = pc.fill_null(pc.greater(pc.list_value_length(table["polygons"]), 0), False)
        shaped = pc.or_(pc.is_valid(table["rle"]), rings)
    found: dict[str, list[Object]] = {}
    plain = ((row, None) for row in table.filter(pc.invert(shaped)).to_pylist())
    for row, mask in (*plain, *drawn_objects(table.filter(shaped), run.suite.cases)):
        if row["label"] is not None:
            key = f"p{row['prediction_id']}" if "prediction_id" in row else f"a{row.get('annotation_id')}"
            mark = marks.get(Place(row["case_id"], row.get("model") or "", row.get("run") or 0, key))
            row["tags"] = [shown(tag) for tag in mark.tags] if mark else []
            found.setdefault(row["case_id"], []).append((row, mask))
    return found


def _sample(run: Run, row: Mapping[str, Any], image: str) -> dict[str, Any]:
    size = {"width": row["image_width"], "height": row["image_height"]}
    return {
        "_id": _id(run, row["case_id"]), "filepath": f"data/{image}", "tags": [shown(tag) for tag in row["tags"] or ()],
        "metadata": {"_cls": "ImageMetadata", **size} if row["image_width"] else None, "_media_type": "image",
        "_rand": int(hashlib.sha256(row["case_id"].encode()).hexdigest()[:8], 16) / 16**8,
        "case_id": shown(row["case_id"]),
    }  # fmt: skip


def _one_label(run: Run, field: str, row: Mapping[str, Any], objects: list[Object]) -> dict[str, Any] | None:
    """Return the label with the highest score; None where there is none."""
    found = [one for one, _ in objects]
    if not found:
        return None
    best = max(found, key=lambda one: one.get("score") or 0.0)
    return _labelled("Classification", _id(run, field, row["case_id"]), best)


def _detections(run: Run, field: str, row: Mapping[str, Any], objects: list[Object]) -> dict[str, Any]:
    return {
        "_cls": "Detections",
        "detections": [
            _labelled("Detection", _object_id(run, field, one), one) | _placed(row, one, mask) for one, mask in objects
        ],
    }


def _object_id(run: Run, field: str, row: Mapping[str, Any]) -> dict[str, str]:
    return _id(run, field, row["case_id"], row["annotation_id"] if field == TRUTH else row["prediction_id"])


def _labelled(kind: str, id: dict[str, str], row: Mapping[str, Any]) -> dict[str, Any]:
    crowd = {"iscrowd": bool(row["is_crowd"])} if row.get("is_crowd") is not None else {}
    return {
        "_id": id, "_cls": kind, "tags": row["tags"], "label": shown(row["label"]),
        "confidence": row.get("score"), **crowd, **row.get(EVALUATED, {}),
    }  # fmt: skip


def _placed(case: Mapping[str, Any], row: Mapping[str, Any], mask: Bools | None) -> dict[str, Any]:
    """Return box and mask of an object; the box is relative to the image: left, top, width, height."""
    width, height = case["image_width"], case["image_height"]
    if mask is None or not mask.any():
        x, y, wide, high = (row[name] or 0.0 for name in BOX)
        return {"bounding_box": [x / width, y / height, wide / width, high / height], "mask": None}
    lines, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, bottom, left, right = int(lines[0]), int(lines[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    box = [left / width, top / height, (right - left) / width, (bottom - top) / height]
    return {"bounding_box": box, "mask": _binary(mask[top:bottom, left:right])}


def _binary(mask: Bools) -> dict[str, Any]:
    """Return a mask as FiftyOne stores arrays: numpy's file format, compressed by zlib, as BSON's extended JSON."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(mask), allow_pickle=False)
    packed = base64.b64encode(zlib.compress(buffer.getvalue())).decode()
    return {"$binary": {"base64": packed, "subType": "00"}}


def _metadata(run: Run, fields: list[str], keys: list[str], whole: bool) -> dict[str, Any]:
    """Return the document of the data set, the schema of its fields in it."""
    date = {"$date": datetime.fromisoformat(run.created).strftime("%Y-%m-%dT%H:%M:%SZ")}
    label = _embedded("Classification", _label_fields()) if whole else _embedded("Detections", [_detection_list(keys)])
    schema = [
        _field("id", "ObjectIdField", db_field="_id"), _field("filepath", "StringField"),
        _field("tags", "ListField", subfield=FIELDS + "StringField"),
        _field("metadata", "EmbeddedDocumentField", embedded_doc_type="fiftyone.core.metadata.ImageMetadata", fields=[
            _field("size_bytes", "IntField"), _field("mime_type", "StringField"), _field("width", "IntField"),
            _field("height", "IntField"), _field("num_channels", "IntField"),
        ]),
        _field("created_at", "DateTimeField"), _field("last_modified_at", "DateTimeField"),
        _field("case_id", "StringField"),
        *(_field(name, "EmbeddedDocumentField", **label) for name in fields),
        *(_field(f"{key}_{what}", "IntField") for key in keys for what in OUTCOMES),
    ]  # fmt: skip
    return {
        "_id": _id(run, "dataset"), "name": shown(run.name), "version": VERSION, "media_type": "image",
        "created_at": date, "last_modified_at": date, "persistent": False, "tags": [], "group_media_types": {},
        "description": f"Assay run {run.id}", "info": {"assay_run": run.id, "suite": shown(run.spec.suite.name)},
        "app_config": {}, "classes": {name: list(run.suite.labels) for name in fields},
        "default_classes": list(run.suite.labels), "mask_targets": {}, "default_mask_targets": {}, "skeletons": {},
        "sample_fields": schema, "frame_fields": [], "saved_views": [], "workspaces": [], "annotation_runs": {},
        "brain_methods": {}, "evaluations": {}, "runs": {},
    }  # fmt: skip


def _embedded(kind: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"embedded_doc_type": LABELS + kind, "fields": fields}


def _detection_list(keys: list[str]) -> dict[str, Any]:
    own = [
        *_label_fields(), _field("bounding_box", "ListField", subfield=FIELDS + "FloatField"),
        _field("mask", "ArrayField"), _field("iscrowd", "BooleanField"),
        *(_field(key + end, kind) for key in keys for end, kind in EVALUATION.items()),
    ]  # fmt: skip
    return _field("detections", "ListField", subfield=FIELDS + "EmbeddedDocumentField", **_embedded("Detection", own))


def _label_fields() -> list[dict[str, Any]]:
    return [
        _field("id", "ObjectIdField", db_field="_id"), _field("tags", "ListField", subfield=FIELDS + "StringField"),
        _field("label", "StringField"), _field("confidence", "FloatField"),
    ]  # fmt: skip


def _field(name: str, kind: str, **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "name": name, "ftype": FIELDS + kind, "embedded_doc_type": None, "subfield": None, "fields": [],
        "db_field": name, "description": None, "info": None, "read_only": False,
    }  # fmt: skip
    return usual | more


def _id(run: Run, *key: Any) -> dict[str, str]:
    """Return an object id that follows from the run and a key."""
    return {"$oid": hashlib.sha256(json.dumps([run.id, *key]).encode()).hexdigest()[:24]}


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(round_tree(document), ensure_ascii=False) + "\n", encoding="utf-8")
