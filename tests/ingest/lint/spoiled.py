"""The harbour sample's results, spoiled in the ways that real files are: a COCO record → the record as written."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.core.installation import SAMPLES
from metrics.core.suite import Outputs, Suite
from metrics.ingest import load_outputs, read_suite
from tests.evaluators.detected import pick, run

HARBOUR = SAMPLES / "detection"
MODEL = "tern-base"
SIZE = (480, 360)
Spoil = Callable[[dict[str, Any]], dict[str, Any]]


def _boxes(change: Callable[[float, float, float, float], list[float]]) -> Spoil:
    return lambda record: record | {"bbox": change(*record["bbox"])}


def _scores(change: Callable[[float], float]) -> Spoil:
    return lambda record: record | {"score": change(record["score"])}


def _classes(change: Callable[[int], int]) -> Spoil:
    return lambda record: record | {"category_id": change(record["category_id"])}


def shares(x: float, y: float, w: float, h: float) -> list[float]:
    return [x / SIZE[0], y / SIZE[1], w / SIZE[0], h / SIZE[1]]


def corners(x: float, y: float, w: float, h: float) -> list[float]:
    return [x, y, x + w, y + h]


SPOILED: dict[str, tuple[Spoil, list[str]]] = {  # what was done to each record, and the fixes that undo it
    "shares of the image": (_boxes(shares), ["normalised"]),
    "x1 y1 x2 y2": (_boxes(corners), ["xyxy"]),
    "shares as x1 y1 x2 y2": (_boxes(lambda *box: shares(*corners(*box))), ["normalised", "xyxy"]),
    "centres": (_boxes(lambda x, y, w, h: [x + w / 2, y + h / 2, w, h]), ["cxcywh"]),
    "top left for a centre": (_boxes(lambda x, y, w, h: [x - w / 2, y - h / 2, w, h]), ["top-left"]),
    "y before x": (_boxes(lambda x, y, w, h: [y, x, h, w]), ["yxhw"]),
    "height before width": (_boxes(lambda x, y, w, h: [x, y, h, w]), ["xyhw"]),
    "y1 x1 y2 x2": (_boxes(lambda x, y, w, h: [y, x, y + h, x + w]), ["yxyx"]),
    "per cent": (_scores(lambda score: 100 * score), ["percent"]),
    "logits": (_scores(lambda score: math.log(score / (1 - score))), ["sigmoid"]),
    "classes from 0": (_classes(lambda number: number - 1), ["classes+1"]),
    "classes 1 too high": (_classes(lambda number: number + 1), ["classes-1"]),
    "everything": (
        lambda record: {
            "image_id": record["image_id"], "category_id": record["category_id"] - 1,
            "bbox": shares(*corners(*record["bbox"])), "score": 100 * record["score"],
        },
        ["normalised", "xyxy", "percent", "classes+1"],
    ),
}  # fmt: skip


def harbour() -> Suite:
    """The suite of the sample."""
    return read_suite(HARBOUR / "instances.json", name="harbour")


def results(model: str = MODEL) -> list[dict[str, Any]]:
    """The records of a model's results."""
    records: list[dict[str, Any]] = json.loads((HARBOUR / "results" / f"{model}.json").read_text())
    return records


def outputs_of(suite: Suite, folder: Path, records: list[dict[str, Any]], model: str = MODEL) -> Outputs:
    """The outputs in a file of those records, unknown classes kept."""
    path = folder / f"{model}.json"
    path.write_text(json.dumps(records))
    return load_outputs(path, suite=suite, keep_unknown_classes=True).value


def ap(suite: Suite, outputs: Outputs) -> float | None:
    """COCO's AP of the outputs of one model."""
    value: float | None = pick(run("coco_summary", suite, outputs), "AP").value
    return value
