"""Detection suites in a line: boxes as (case, label, x, y, width, height, more)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.evaluator import Aggregate, Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite

COLUMNS = ("case_id", "label", "x", "y", "width", "height")


def suite_of(*boxes: tuple[Any, ...], cases: str = "abc", labels: tuple[str, ...] = (), groups: str = "") -> Suite:
    """A suite with one case per letter; a box may end in a dict of further columns (area, is_crowd)."""
    annotations = [{"annotation_id": index + 1, **_row(box)} for index, box in enumerate(boxes)]
    rows = [{"case_id": case, "group": groups[index] if groups else None} for index, case in enumerate(cases)]
    return Suite.from_rows("scene", "detection", rows, annotations, labels)


def outputs_of(*boxes: tuple[Any, ...], cases: str = "abc") -> Outputs:
    rows = [dict(zip((*COLUMNS, "score"), box, strict=True)) | {"model": "m"} for box in boxes]
    return Outputs.from_rows([{"case_id": case, "model": "m"} for case in cases], rows)


def of_rows(cases: Any, annotations: Any, rows: Any, labels: Any = ()) -> tuple[Suite, Outputs]:
    """A suite of these rows, and what one model predicts."""
    outputs = [{"case_id": case["case_id"], "model": "m"} for case in cases]
    predictions = [{"model": "m", **row} for row in rows]
    return Suite.from_rows("s", "detection", cases, annotations, labels), Outputs.from_rows(outputs, predictions)


def run(evaluator: str, suite: Suite, outputs: Outputs, **parameters: Any) -> Findings:
    """The findings of one evaluator, without intervals unless asked."""
    entry = evaluators()[evaluator]
    return entry(suite, outputs, entry.parameters.model_validate({"resamples": 0, **parameters}))


def pick(findings: Findings, metric: str, label: str | None = None, **columns: Any) -> Aggregate:
    """The only aggregate of that metric, label and columns."""
    rows = [row for row in findings.aggregates if (row.metric, row.label) == (metric, label)]
    (found,) = (row for row in rows if all(row.columns.get(name) == value for name, value in columns.items()))
    return found


def suite_and_outputs(scene: Any) -> tuple[Suite, Outputs]:
    """A random scene as a suite and one model's outputs; codes become names."""
    images, classes, truths, predictions = scene

    def flat(row: dict[str, Any]) -> dict[str, Any]:
        box = dict(zip(("x", "y", "width", "height"), row["box"], strict=True))
        return {"case_id": str(row["image"]), "label": str(row["label"]), **box}

    cases = [{"case_id": str(image)} for image in range(images)]
    annotations = [flat(row) | {"area": row["area"], "is_crowd": row["crowd"]} for row in truths]
    rows = [flat(row) | {"score": row["score"]} for row in predictions]
    return of_rows(cases, annotations, rows, [str(label) for label in range(classes)])


def numbered(suite: Suite) -> Suite:
    """The suite with an id for every annotation, as readers of files give them."""
    ids = pa.array(range(1, len(suite.annotations) + 1), pa.int64())
    column = suite.annotations.column_names.index("annotation_id")
    return replace(suite, annotations=suite.annotations.set_column(column, "annotation_id", ids))


def read_voc100(shared: Path) -> tuple[Suite, Outputs]:
    """The 100 photographs of ../shared and a real detector's boxes."""
    truth = json.loads((shared / "data/voc100/instances.json").read_text())
    results = json.loads((shared / "data/voc100/detections.json").read_text())
    names = {category["id"]: category["name"] for category in truth["categories"]}

    def flat(row: dict[str, Any]) -> dict[str, Any]:
        box = dict(zip(("x", "y", "width", "height"), row["bbox"], strict=True))
        return {"case_id": str(row["image_id"]), "label": names[row["category_id"]], **box}

    cases = [{"case_id": str(image["id"])} for image in truth["images"]]
    annotations = [
        flat(row) | {"area": row["area"], "is_crowd": bool(row["iscrowd"]), "annotation_id": row["id"]}
        for row in truth["annotations"]
    ]
    return of_rows(cases, annotations, [flat(row) | {"score": row["score"]} for row in results])


def _row(box: tuple[Any, ...]) -> dict[str, Any]:
    more = box[-1] if isinstance(box[-1], dict) else {}
    return dict(zip(COLUMNS, box[:6], strict=True)) | more
