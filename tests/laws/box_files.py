"""Boxes in the formats of annotations: COCO, YOLO and Pascal VOC, written from the records of a data set."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.ingest.files import packed, picture
from tests.laws.doors import MODELS, Data, Row

SIDES = ("x", "y", "width", "height")
WIDE, HIGH = 64, 32


def coco(data: Data, folder: Path) -> tuple[Path, list[Path]]:
    """Return COCO's ground truth, and a file of results of each model."""
    names, labels = _names(data)

    def records(rows: Iterable[Row], *more: str) -> list[dict[str, Any]]:
        return [
            {
                "image_id": names.index(row["case_id"]) + 1, "category_id": labels.index(row["label"]) + 1,
                "bbox": [row[side] for side in SIDES], **{name: row[name] for name in more},
            }
            for row in rows
        ]  # fmt: skip

    boxes = records(data.annotations or (), "area")
    truth = {
        "images": [
            {"id": number, "file_name": name, "width": WIDE, "height": HIGH} for number, name in enumerate(names, 1)
        ],
        "categories": [{"id": number, "name": label} for number, label in enumerate(labels, 1)],
        "annotations": [box | {"id": number, "iscrowd": 0} for number, box in enumerate(boxes, 1)],
    }
    found = {model: records(_of_model(data, model), "score") for model in MODELS}
    (folder / "truth.json").write_text(json.dumps(truth))
    for model, own in found.items():
        (folder / f"{model}.json").write_text(json.dumps(own))
    return folder / "truth.json", [folder / f"{model}.json" for model in MODELS]


def yolo(data: Data, folder: Path) -> tuple[Path, list[Path]]:
    """Return a zip of YOLO labels beside their images, and one of each model."""
    names, labels = _names(data)

    def lines(rows: Iterable[Row], name: str) -> str:
        own = (row for row in rows if row["case_id"] == name)
        numbers = (
            [labels.index(row["label"]), (row["x"] + row["width"] / 2) / WIDE, (row["y"] + row["height"] / 2) / HIGH,
             row["width"] / WIDE, row["height"] / HIGH, *([row["score"]] if "score" in row else [])]
            for row in own
        )  # fmt: skip
        return "\n".join(" ".join(map(repr, line)) for line in numbers)

    def texts(rows: Iterable[Row]) -> dict[str, str]:
        kept = list(rows)
        return {f"labels/{Path(name).stem}.txt": lines(kept, name) for name in names}

    pictures = {f"images/{name}": picture(WIDE, HIGH) for name in names}
    truth = packed(
        folder / "truth.zip", {"classes.txt": "\n".join(labels), **pictures, **texts(data.annotations or ())}
    )
    return truth, [packed(folder / f"{model}.zip", texts(_of_model(data, model))) for model in MODELS]


def voc(data: Data, folder: Path) -> tuple[Path, list[Path]]:
    """Return a zip of Pascal VOC's annotations, and COCO's results of each model."""

    def document(name: str) -> str:
        objects = "".join(
            f"<object><name>{row['label']}</name><bndbox><xmin>{row['x']}</xmin><ymin>{row['y']}</ymin>"
            f"<xmax>{row['x'] + row['width']}</xmax><ymax>{row['y'] + row['height']}</ymax></bndbox></object>"
            for row in data.annotations or ()
            if row["case_id"] == name
        )
        size = f"<size><width>{WIDE}</width><height>{HIGH}</height></size>"
        return f"<annotation><filename>{name}</filename>{size}{objects}</annotation>"

    truth = packed(
        folder / "truth.zip", {f"Annotations/{Path(name).stem}.xml": document(name) for name in _names(data)[0]}
    )
    names = ("image", "label", "score", *SIDES, "model")
    rows = [",".join(str({"image": row["case_id"], **row}[name]) for name in names) for row in data.predictions or ()]
    (folder / "found.csv").write_text("\n".join([",".join(names), *rows]))
    return truth, [folder / "found.csv"]


BOX_FILES = {"COCO": coco, "YOLO": yolo, "Pascal VOC": voc}


def _names(data: Data) -> tuple[list[str], list[str]]:
    return [row["case_id"] for row in data.cases], sorted({row["label"] for row in data.annotations or ()})


def _of_model(data: Data, model: str) -> list[Row]:
    return [row for row in data.predictions or () if row["model"] == model]
