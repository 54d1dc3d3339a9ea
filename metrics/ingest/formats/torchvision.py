"""Torchvision's dictionaries, one an image: boxes (x1 y1 x2 y2), labels, scores and masks."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import ANNOTATIONS, CASES, METADATA, Outputs, Suite, conform
from metrics.ingest.output_parts import Part, objects_part, outputs_of
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.vision.rle import encode

TARGETS = "targets"
ClassNames = Sequence[Any] | Mapping[Any, Any]


def by_image(given: Any) -> Any:
    """Return {image id: boxes and labels} as a list of dictionaries that say their image_id; anything else as it is."""
    if isinstance(given, Mapping) and given and are_detections([*given.values()]):
        return [{"image_id": id, **own} for id, own in given.items()]
    return given


def are_detections(given: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    """Return whether a list has a dictionary of boxes and labels for each image."""
    if not isinstance(given, list | tuple) or not given or not all(isinstance(one, Mapping) for one in given):
        return False
    return all("labels" in one and "boxes" in one and "image" not in one for one in given)


def read_detections(
    targets: Sequence[Mapping[str, Any]],
    models: Mapping[str, Sequence[Mapping[str, Any]]],
    classes: ClassNames | None = None,
) -> tuple[Suite, Outputs]:
    """Return targets and the predictions of models as a suite and outputs.

    They are matched by `image_id` where all have one, else by place. Each has `boxes` [n, 4] and `labels` [n],
    predictions `scores` [n]; `masks` [n, height, width] are kept, predicted ones from 0.5 on. Targets may have
    `iscrowd` and `area` [n], and `orig_size` (height, width). `classes` names the labels: by number, or in a list whose
    first name is of label 0. InputError lists everything that does not fit.
    """
    problems = Problems()
    ids = [str(_array(target["image_id"]).reshape(-1)[0]) for target in targets if "image_id" in target]
    ids = ids if len(set(ids)) == len(targets) else [str(place) for place in range(1, len(targets) + 1)]
    models = {name: _in_order(own, ids) for name, own in models.items()}
    for name, own in models.items():
        if len(own) != len(targets):
            problems.add(name, f"{len(own):,} dictionaries", f"{len(targets):,}, one for each target", fatal=True)
    truth = _objects(TARGETS, targets, ids, classes, problems)
    found = {name: _objects(name, own, ids, classes, problems, scored=True) for name, own in models.items()}
    problems.stop()
    sizes = [_size(target) for target in targets]
    images = [str(target.get("file_name", "")) or None for target in targets]
    cases = {
        "case_id": pa.array(ids),
        "image_height": pa.array([size and size[0] for size in sizes], pa.int32()),
        "image_width": pa.array([size and size[1] for size in sizes], pa.int32()),
        **({METADATA + "image_name": pa.array(images, pa.string())} if any(images) else {}),
    }
    numbers = pa.array(np.arange(1, len(truth) + 1))
    annotations = conform(truth.append_column("annotation_id", numbers), ANNOTATIONS)
    named = [str(name) for name in (classes.values() if isinstance(classes, Mapping) else classes or ())]
    seen = set(truth["label"].to_pylist())
    labels = [name for name in named if name in seen] or sorted(seen, key=lambda text: (len(text), text))
    suite = Suite("suite", "detection", conform(pa.table(cases), CASES), annotations, tuple(labels))
    problems.keep_unknown_classes = True
    outputs = outputs_of([_part(name, own, problems) for name, own in found.items()], suite, problems)
    return suite, outputs.value


def as_results(predictions: Sequence[Mapping[str, Any]], document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the predictions of a model as COCO results, of the images that `image_id` says, else in their order."""
    images = [image.get("id") for image in document["images"]]
    if len(predictions) != len(images) and not all("image_id" in one for one in predictions):
        expected = f"{len(images):,}, one for each image, or an image_id in each"
        raise InputError([InputProblem("predictions", f"{len(predictions):,} dictionaries", expected)])
    results = []
    for place, own in enumerate(predictions):
        problems = Problems()
        table = _objects("predictions", [own], ["1"], None, problems, scored=True)
        problems.stop()
        id = _array(own["image_id"]).reshape(-1)[0].item() if "image_id" in own else images[place]
        for row in table.to_pylist():
            box = [row[side] for side in ("x", "y", "width", "height")]
            label = int(row["label"]) if row["label"].isdecimal() else row["label"]
            results.append({"image_id": id, "category_id": label, "bbox": box, "score": row["score"]})
    return results


def _part(model: str, table: pa.Table, problems: Problems) -> Part:
    sheet = Sheet(model, table.select(["case_id"]), np.arange(1, len(table) + 1), problems)
    return objects_part(sheet, table.append_column("model", pa.array([model] * len(table), pa.string())), model)


def _in_order(given: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Return predictions in the order of the images where each says which it is of, else as they are."""
    own = {str(_array(one["image_id"]).reshape(-1)[0]): one for one in given if "image_id" in one}
    return [own[id] for id in ids] if own.keys() == {*ids} and len(own) == len(given) else given


def _size(target: Mapping[str, Any]) -> tuple[int, int] | None:
    if "masks" in target:
        height, width = _array(target["masks"]).shape[-2:]
        return int(height), int(width)
    size = _array(target["orig_size"]).reshape(-1).tolist() if "orig_size" in target else []
    return (int(size[0]), int(size[1])) if len(size) == 2 else None


def _objects(
    name: str, given: Sequence[Mapping[str, Any]], ids: Sequence[str], classes: ClassNames | None, problems: Problems,
    scored: bool = False,
) -> pa.Table:  # fmt: skip
    """Return the objects of all images as a table; what does not fit is a problem of its image."""
    fields = {"scores": "score"} if scored else {"area": "area", "iscrowd": "is_crowd"}
    tables = []
    for place, (image, id) in enumerate(zip(given, ids, strict=False), 1):
        labels = _array(image["labels"]).reshape(-1).tolist()
        count, wrong = len(labels), len(problems)
        columns: dict[str, Any] = {}

        def report(key: str, found: str, expected: str, row: int = place) -> None:
            problems.add(name, found, expected, row, key, fatal=True)

        box = _array(image["boxes"]).astype(float)
        box = box if box.size else box.reshape(0, 4)
        if box.shape != (count, 4):
            report("boxes", f"{'×'.join(map(str, box.shape))} numbers", f"{count}×4, a box for each label")
        elif not np.isfinite(box).all() or (box[:, 2:] < box[:, :2]).any():
            report("boxes", "NaN, or x2 below x1 or y2 below y1", "x1 y1 x2 y2 in pixels")
        for key, field in fields.items():
            if key not in image and not scored:
                continue
            values = _array(image.get(key, ())).reshape(-1)
            if len(values) != count:
                report(key, f"{len(values)} values", f"{count}, one for each label")
            elif not np.isfinite(values.astype(float)).all():
                report(key, "NaN or infinity", "finite numbers")
            columns[field] = values.astype(bool if key == "iscrowd" else float)
        if "masks" in image:
            columns["rle"] = [_run_lengths(mask) for mask in _bitmaps(image["masks"])]
            if len(columns["rle"]) != count:
                report("masks", f"{len(columns['rle'])} masks", f"{count}, one for each label")
        names = [_label(label, classes) for label in labels]
        if None in names:
            report("labels", f"the label {labels[names.index(None)]}", f"a number that classes={classes!r:.80} names")
        if len(problems) == wrong:
            width, height = (box[:, 2:] - box[:, :2]).T
            sides = {"x": box[:, 0], "y": box[:, 1], "width": width, "height": height}
            keys = {"case_id": pa.array([id] * count, pa.string()), "label": pa.array(names, pa.string())}
            areas = {} if scored else {"area": width * height}
            tables.append(pa.table(keys | sides | areas | columns))
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def _label(label: Any, classes: ClassNames | None) -> str | None:
    if classes is None:
        return str(label)
    if isinstance(classes, Mapping):
        return None if label not in classes else str(classes[label])
    return str(classes[label]) if isinstance(label, int) and 0 <= label < len(classes) else None


def _bitmaps(masks: Any) -> Bools:
    """Return masks [n, height, width], or [n, 1, height, width] of shares, as truth values."""
    given = _array(masks)
    given = given[:, 0] if given.ndim == 4 else given
    return np.asarray(given >= 0.5 if given.dtype.kind == "f" else given > 0)


def _run_lengths(mask: Bools) -> str:
    """Return a bitmap as COCO's compressed run lengths: down the columns, first of what is outside."""
    flat = np.concatenate([[False], mask.ravel(order="F"), [False]])
    changes = np.flatnonzero(flat[1:] != flat[:-1])
    edges = [0, *changes.tolist()]
    return encode(np.diff(edges if edges[-1] == mask.size else [*edges, mask.size]).tolist())


def _array(given: Any) -> np.ndarray[Any, Any]:
    return np.asarray(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
