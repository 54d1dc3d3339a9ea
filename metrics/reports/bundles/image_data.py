"""The image of a case of a bundle: the picture, and a panel a model with its objects or areas."""

from __future__ import annotations

import io
from typing import Any

from metrics import analysis
from metrics.presentation.palette import MARKS
from metrics.presentation.viewers import object_panels, segment_panels
from metrics.reports.bundles.data_file import clean
from metrics.store import Run

LONGEST_SIDE, QUALITY = 1280, 82  # of a picture: pixels, and of its JPEG
LABELLED = 14  # objects of a panel; of more the labels show on hover only
WITHOUT = "The bundle was made without images: only the outlines are drawn."
OBJECTS = ("tp", "fp", "fp_misclassification", "fn", "annotation")  # of the legend


def image_data(run: Run, view: analysis.ExampleView, file: str, media: bool) -> tuple[dict[str, Any] | None, bytes]:
    """Return what the image viewer draws of a case, None for a task without images; and the picture, b"" for none.

    `views` are ways to look at it, each with its panels (of each output, after the `first` ones) and its legend.
    """
    task = run.spec["suite"]["task"]
    if task not in ("detection", "segmentation") or not view.outputs:
        return None, b""
    picture, size, why_none = _picture(view) if media else (b"", None, WITHOUT)
    views, styles = _areas(run, view) if task == "segmentation" else (_objects(run, view), None)
    width, height = _size(view, size, views)
    name, source = view.case["case_id"], file if picture else None
    drawing = object_panels.payload(name, width, height, source, views[0]["panels"][:1], styles)
    found = {"drawing": drawing, "views": views, "heights": object_panels.MOST_HEIGHT, "note": why_none}
    return clean(found), picture


def _picture(view: analysis.ExampleView) -> tuple[bytes, tuple[int, int] | None, str]:
    """Return the JPEG of the pixels alone, the image's width and height, and why there is none."""
    from metrics.ingest.media.shown_images import shown_image

    if view.image is None:
        return b"", None, "The suite has no images: only the outlines are drawn."
    width, height = view.case["image_width"], view.case["image_height"]
    try:
        image, size = shown_image(view.image, (width, height) if width and height else None, LONGEST_SIDE)
    except (FileNotFoundError, ValueError) as failure:
        why = str(failure) if isinstance(failure, ValueError) else "the file is gone"
        return b"", None, f"Only the outlines are drawn: {why}."
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return buffer.getvalue(), size, ""


def _size(view: analysis.ExampleView, size: tuple[int, int] | None, views: list[dict[str, Any]]) -> tuple[float, float]:
    """Return width and height that the objects are drawn in: as stated, of the picture, or what holds them all."""
    stated = view.case["image_width"], view.case["image_height"]
    if stated[0] and stated[1]:
        return stated
    if size is not None:
        return size
    every = [
        ring for one in views for panel in (*one["first"], *one["panels"])
        for objects in panel["objects"].values() for each in objects for ring in each["rings"]
    ]  # fmt: skip
    right, bottom = (max((max(ring[side::2]) for ring in every), default=100.0) for side in (0, 1))
    return right, bottom


def _objects(run: Run, view: analysis.ExampleView) -> list[dict[str, Any]]:
    """Return the view of a detection: what is found, false and missed at the run's operating point."""
    point, rules = analysis.operating_point(run), analysis.rules(run, None)
    size, predictions, panels = (view.case["image_height"], view.case["image_width"]), view.predictions, []
    for output in view.outputs:
        model, repeat = output["model"], output["run"]
        here = predictions
        if not predictions.empty:
            here = predictions[predictions["model"].eq(model) & predictions["run"].eq(repeat)].reset_index(drop=True)
        compared = analysis.compared(run, model, repeat)
        predicted, annotated = analysis.match_objects(
            view.annotations, here, point.iou, point.score, compared, size, rules, view.case
        )
        drawn = object_panels.image_objects(view.annotations, here, annotated, predicted, compared)
        panels.append(object_panels.panel(str(model), drawn, LABELLED, compared))
    legend = [
        (MARKS[kind].colour, MARKS[kind].line, f"{MARKS[kind].title} {MARKS[kind].glyph}".strip()) for kind in OBJECTS
    ]
    title = f"Score ≥ {point.score:.2f}, IoU ≥ {point.iou:.2f}"
    return [{"title": title, "first": [], "panels": panels, "legend": legend}]


def _areas(run: Run, view: analysis.ExampleView) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the views of a segmentation, wrong areas and every region, and how each kind is drawn."""
    colours = segment_panels.class_colours(run.suite.labels)
    found = [
        (str(one["model"]), analysis.segments(run, view.case["case_id"], one["model"], one["run"]))
        for one in view.outputs
    ]
    there = {label for _, each in found for one in each for label in (one.truth, one.predicted)}
    named = {label: colour for label, colour in colours.items() if label in there}
    mistakes = [segment_panels.mistakes_panel(name, each) for name, each in found]
    classes = [segment_panels.classes_panel(name, each, "predicted") for name, each in found]
    truth = [segment_panels.classes_panel("Ground truth", found[0][1], "truth")] if found else []
    return [
        {
            "title": segment_panels.VIEWS[name], "first": first, "panels": panels,
            "legend": segment_panels.legend(name, named),
        }
        for name, first, panels in (("mistakes", [], mistakes), ("classes", truth, classes))
    ], segment_panels.styles(colours)  # fmt: skip
