"""What became of the segments of one image of a panoptic run, as the run's matches have it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from metrics.analysis.cases.example import example
from metrics.store import Run
from metrics.vision import rle

if TYPE_CHECKING:
    import pandas as pd

EVALUATOR = "panoptic_quality"


@dataclass(frozen=True, slots=True)
class SegmentOutcome:
    """A segment of one image: a true one, or a model's.

    `kind` is that of core.evaluator.MATCHES; of a true segment `tp` where the model found it. `thing`: None where the
    suite does not say. `iou`: with the segment that it matches or overlaps wrongly, whose label is `other`. `rings`:
    x1 y1 x2 y2 …, pixels.
    """

    kind: str
    label: str
    thing: bool | None
    rings: list[list[float]]
    area: float
    iou: float | None = None
    other: str | None = None


def segment_outcomes(
    run: Run, case_id: str, model: str, repeat: int = 1
) -> tuple[list[SegmentOutcome], list[SegmentOutcome]]:
    """Return the true segments of an image and a model's, the largest first; nothing where the run has no matches."""
    table = run.stored(f"matches/{EVALUATOR}")
    if table is None:
        return [], []
    this = [("case_id", "==", case_id), ("model", "==", model), ("run", "==", repeat)]
    matches = table.rows(None, this).to_pylist()
    view, classes = example(run, case_id), run.suite.classes
    labels = dict(zip(view.annotations["annotation_id"], view.annotations["label"], strict=True))
    of_predictions = {row["prediction_id"]: row for row in matches if row["prediction_id"] is not None}
    missed = {row["annotation_id"]: row["kind"] for row in matches if row["prediction_id"] is None}

    def outcome_of(
        row: dict[Any, Any], kind: str, iou: float | None = None, other: str | None = None
    ) -> SegmentOutcome:
        facts = classes.get(row["label"])
        thing = None if facts is None else facts.is_thing
        return SegmentOutcome(kind, str(row["label"]), thing, list(row["rings"]), _pixels(row), iou, other)

    truths = [
        outcome_of(row, "ignored" if row["is_crowd"] else missed.get(row["annotation_id"], "tp"))
        for row in view.annotations.to_dict("records")
    ]
    mine: pd.DataFrame = view.predictions
    if len(mine):
        mine = mine[(mine["model"] == model) & (mine["run"] == repeat)]
    found = []
    for row in mine.to_dict("records"):
        match = of_predictions.get(row["prediction_id"])
        if match is not None:
            found.append(outcome_of(row, match["kind"], match["iou"], labels.get(match["annotation_id"])))
    return sorted(truths, key=lambda each: -each.area), sorted(found, key=lambda each: -each.area)


def _pixels(row: dict[Any, Any]) -> float:
    """Return the area of a segment: the file's, else of its run lengths, else of its box; 0 where none is known."""
    if isinstance(row["rle"], str) and not isfinite(row["area"]):
        return float(rle.area(rle.decode(row["rle"])))
    known = [area for area in (row["area"], row["width"] * row["height"]) if isfinite(area)]
    return float(known[0]) if known else 0.0
