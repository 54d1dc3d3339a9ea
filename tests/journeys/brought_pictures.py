"""Boxes and masks as people bring them, a function a journey, and the numbers of pycocotools and of a plain count."""

import contextlib
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from tests.journeys.brought_files import Brought, Numbers, save


def coco_numbers(name: str, truth: Any, results: list[dict[str, Any]]) -> Numbers:
    """Return COCO's AP and AP50 of a model by pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        ground = COCO()
        ground.dataset = truth
        ground.createIndex()
        summary = COCOeval(ground, ground.loadRes(results), "bbox")
        summary.evaluate()
        summary.accumulate()
        summary.summarize()
    return {(name, "coco_summary.AP"): float(summary.stats[0]), (name, "coco_summary.AP50"): float(summary.stats[1])}


def detectors(folder: Path, shared: Path, *, names: Sequence[str], of: str = "") -> Brought:
    """COCO's ground truth and a file of results for each detector; its boxes are those `of` another file."""
    suite = shared / "data" / "voc100" / "instances.json"
    outputs = [shared / "data" / "journeys" / "vision" / f"{name}.json" for name in names]
    truth, numbers = json.loads(suite.read_text()), {}
    for path in outputs:
        numbers |= coco_numbers(path.stem, truth, json.loads(path.with_stem(of or path.stem).read_text()))
    return Brought(suite, outputs, numbers)


def yolo_folders(folder: Path, shared: Path) -> Brought:
    """Zips as a YOLO trainer keeps them: photographs with labels and data.yaml, and labels with confidences."""
    place = shared / "data" / "voc100"
    truth = json.loads((place / "instances.json").read_text())
    images = {image["id"]: image for image in truth["images"][:8]}
    names = {category["id"]: category["name"] for category in truth["categories"]}
    numbered = {category: number for number, category in enumerate(names)}
    truth["images"] = list(images.values())
    truth["annotations"] = [each for each in truth["annotations"] if each["image_id"] in images]
    results = json.loads((place.parent / "journeys" / "vision" / "rtdetr_l.json").read_text())
    results = [each for each in results if each["image_id"] in images]

    def lines(objects: list[dict[str, Any]], image: dict[str, Any]) -> str:
        rows = []
        for each in objects:
            if each["image_id"] == image["id"]:
                x, y, w, h = each["bbox"]
                box = (
                    (x + w / 2) / image["width"], (y + h / 2) / image["height"], w / image["width"],
                    h / image["height"],
                )  # fmt: skip
                score = [f"{each['score']:.4f}"] if "score" in each else []
                rows.append(" ".join([str(numbered[each["category_id"]]), *(f"{edge:.8f}" for edge in box), *score]))
        return "\n".join(rows) + "\n"

    suite, outputs = folder / "valid.zip", folder / "yolo11n.zip"
    with zipfile.ZipFile(suite, "w") as kept, zipfile.ZipFile(outputs, "w") as said:
        kept.writestr("data.yaml", f"nc: {len(names)}\nnames: {json.dumps(list(names.values()))}\n")
        for image in images.values():
            stem = Path(image["file_name"]).stem
            kept.write(place / "images" / image["file_name"], f"images/{image['file_name']}")
            kept.writestr(f"labels/{stem}.txt", lines(truth["annotations"], image))
            said.writestr(f"labels/{stem}.txt", lines(results, image))
    return Brought(suite, [outputs], coco_numbers("yolo11n", truth, results))


def tables_of_boxes(folder: Path, shared: Path) -> Brought:
    """CSV files of the same objects, a box a row, and of two detectors."""
    brought = detectors(folder, shared, names=("rtdetr_confused", "rtdetr_lowrecall"))
    truth = json.loads(brought.suite.read_text())
    images = {image["id"]: image["file_name"] for image in truth["images"]}
    labels = {category["id"]: category["name"] for category in truth["categories"]}

    def table(name: str, objects: list[dict[str, Any]]) -> Path:
        frame = pd.DataFrame([each["bbox"] for each in objects], columns=["x", "y", "w", "h"])
        frame["image"] = [images[each["image_id"]] for each in objects]
        frame["label"] = [labels[each["category_id"]] for each in objects]
        if "score" in objects[0]:
            frame["score"] = [each["score"] for each in objects]
        return save(folder / f"{name}.csv", frame)

    outputs = [table(path.stem, json.loads(path.read_text())) for path in brought.outputs]
    return Brought(table("objects", truth["annotations"]), outputs, brought.numbers)


def masks(folder: Path, shared: Path) -> Brought:
    """Zips of indexed PNGs: a label for every pixel, by two models."""
    from sklearn.metrics import accuracy_score, jaccard_score

    rows, columns = np.mgrid[:48, :64]
    places = {f"street_{number}": (10 + 5 * number, 12 + 4 * number) for number in range(6)}

    def draw(shift: int) -> dict[str, np.ndarray]:
        kept = {}
        for name, (y, x) in places.items():
            image = (rows > 36).astype(np.uint8)
            image[(rows - y) ** 2 + (columns - x - shift) ** 2 < 90] = 2
            kept[name] = image
        return kept

    def pack(name: str, images: dict[str, np.ndarray]) -> Path:
        path = folder / f"{name}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("labels.txt", "building\nroad\ncar\n")
            for stem, image in images.items():
                picture, buffer = Image.fromarray(image, "P"), io.BytesIO()
                picture.putpalette([90, 90, 90, 40, 40, 60, 200, 60, 60])
                picture.save(buffer, "PNG")
                archive.writestr(f"{stem}.png", buffer.getvalue())
        return path

    truth, numbers, outputs = draw(0), {}, []
    for name, shift in {"unet": 2, "coarse": 7}.items():
        said = draw(shift)
        outputs.append(pack(name, said))
        pair = [np.concatenate([image.ravel() for image in images.values()]) for images in (truth, said)]
        numbers[name, "segmentation_iou.miou"] = float(jaccard_score(*pair, average="macro"))
        numbers[name, "segmentation_iou.pixel_accuracy"] = float(accuracy_score(*pair))
    return Brought(pack("masks", truth), outputs, numbers)
