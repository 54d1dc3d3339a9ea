"""What the checks find in the predictions of an upload, the answers given so far, and images that show it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import streamlit as st

from components.data.evaluation_inputs import Inputs, corrected, uploaded_data
from components.data.workspace_runs import workspace_path
from metrics.ingest.lint import FIXES, Finding, UnknownClass, fix, lint, unknown_classes
from metrics.presentation.phrases import change_lines
from metrics.presentation.viewers.object_panels import ImageObject, image_objects
from metrics.vision.boxes import box_iou
from metrics.vision.outcomes import match_image

if TYPE_CHECKING:
    import pyarrow as pa

    from metrics.core.suite import Outputs, Suite

MOST_DRAWN = 100  # predictions of an image, best scores first
FOUND_AT = 0.5  # IoU
MARGIN = 1.05  # of a canvas about the boxes of an image whose size nobody knows


class ObjectChecks(NamedTuple):
    """The findings that are left after the fixes chosen, what these changed, and classes that the suite lacks.

    `titles` are the words of each finding's button, "" where it has no fix; `boxes`: predictions are objects in images.
    """

    findings: Sequence[Finding]
    titles: Sequence[str]
    changes: Sequence[str]
    unknown: Sequence[UnknownClass]
    labels: Sequence[str]
    boxes: bool = True


class BoxPreview(NamedTuple):
    """An image with the ground truth and a model's boxes, as read and, where a fix is proposed, as fixed."""

    image: str | None
    width: int
    height: int
    panels: Mapping[str, Sequence[ImageObject]]


def object_checks(inputs: Inputs) -> ObjectChecks:
    """Return what the checks find in inputs that can be read."""
    return _checks(str(workspace_path()), inputs, repr(inputs))


def findings_by_model(inputs: Inputs) -> Mapping[str, int]:
    """Return how much the checks find in the predictions of each model."""
    return Counter(finding.model for finding in object_checks(inputs).findings if finding.model)


@st.cache_resource(max_entries=16, show_spinner=False)
def _checks(folder: str, _inputs: Inputs, key: str) -> ObjectChecks:  # noqa: ARG001 - parts of the cache's key
    read = uploaded_data(_inputs)
    suite, outputs = read.suite, corrected(read, _inputs)
    findings = lint(suite, outputs)
    return ObjectChecks(
        findings, [FIXES[each.fix].title if each.fix else "" for each in findings], change_lines(outputs.changes),
        unknown_classes(suite, corrected(read, replace(_inputs, classes=()))), suite.labels,
        suite.task == "detection",
    )  # fmt: skip


def box_preview(inputs: Inputs, model: str | None, findings: Sequence[Finding], case_id: str) -> BoxPreview:
    """Return one image with the boxes of a model (None: of all), before and after the fixes of its findings."""
    read = uploaded_data(inputs)
    suite = read.suite
    one = suite.cases.filter(np.asarray(suite.cases["case_id"]) == case_id)
    small = suite.restricted(one["case_id"].combine_chunks())
    now = corrected(read, inputs).restricted(model, case_ids=one["case_id"].combine_chunks())
    sides = {"As read": now}
    if any(finding.fix for finding in findings):
        # what a fix does to an image depends on nothing but that image
        sides["Fixed"] = fix(small, now, [finding for finding in findings if finding.model == model])
    row = one.to_pylist()[0]
    image = None if suite.media is None or row["image"] is None else str(suite.media / row["image"])
    panels = {title: _drawn(small, outputs) for title, outputs in sides.items()}
    width, height = row["image_width"], row["image_height"]
    if width is None or height is None:  # then a canvas that holds every box
        tables = (small.annotations, *(outputs.predictions for outputs in sides.values()))
        corners = [(x + wide, y + high) for table in tables for x, y, wide, high in map(_box, _rows(table))]
        width, height = (max(1, math.ceil(max(ends) * MARGIN)) for ends in zip((0.0, 0.0), *corners, strict=True))
    return BoxPreview(image, width, height, panels)


def _drawn(suite: Suite, outputs: Outputs) -> list[ImageObject]:
    """Return what to draw of one image, matched as everywhere: an object is found once, by the best score."""
    import pandas as pd

    truths = _rows(suite.annotations)
    found = sorted(_rows(outputs.predictions), key=lambda row: -(row["score"] or 0))[:MOST_DRAWN]
    boxes, objects = (np.array([_box(row) for row in rows]).reshape(-1, 4) for rows in (found, truths))
    overlaps = box_iou(boxes, objects, np.array([bool(row["is_crowd"]) for row in truths], bool))
    annotations, predictions = (
        pd.DataFrame([{**row, "rings": [_ring(row)]} for row in rows]) for rows in (truths, found)
    )
    kinds, truth_kinds = match_image(annotations, predictions, overlaps, FOUND_AT, -np.inf)
    return image_objects(annotations, predictions, truth_kinds, kinds)


def _rows(table: pa.Table | None) -> list[dict[str, Any]]:
    return [] if table is None else [row for row in table.to_pylist() if None not in _box(row)]


def _box(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("x", "y", "width", "height"))


def _ring(row: Mapping[str, Any]) -> tuple[float, ...]:
    x, y, width, height = _box(row)
    return (x, y, x + width, y, x + width, y + height, x, y + height)
