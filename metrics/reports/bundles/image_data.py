"""The image of a case of a bundle: the picture, and a panel a model with its objects or areas."""

import io
from collections.abc import Mapping
from itertools import chain
from typing import Any

from metrics import analysis
from metrics.presentation.palette import MARKS
from metrics.presentation.viewers import object_panels, panoptic_panels, segment_panels
from metrics.reports.bundles.data_file import clean
from metrics.store import Run

LONGEST_SIDE, QUALITY = 1280, 82  # of a picture: pixels, and of its JPEG
LABELLED = 14  # objects of a panel; of more the labels show on hover only
WITHOUT = "The bundle was made without images: only the outlines are drawn."
PANOPTIC = "panoptic_quality"
OBJECTS = ("tp", "fp", "fp_misclassification", "fn", "annotation")  # of the legend


def image_data(run: Run, view: analysis.ExampleView, file: str, media: bool) -> tuple[dict[str, Any] | None, bytes]:
    """Return what the image viewer draws of a case, None for a task without images; and the picture, b"" for none.

    `views` are ways to look at it, each with the `evaluators` that it is of, its panels (of each output, after the
    `first` ones) and its legend.
    """
    task = run.spec.suite.task
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
    from metrics.ingest.media.images import shown_image

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
    """Return the views of a detection: what is found, false and missed at each model's operating point.

    One for all evaluators that match alike here, else named by the first of them; without any, COCO's.
    """
    points = {model: analysis.operating_point(run, model) for model in run.models}
    found, titles = list[dict[str, Any]](), analysis.match_evaluators(run)
    legend = [
        (MARKS[kind].colour, MARKS[kind].line, f"{MARKS[kind].title} {MARKS[kind].glyph}".strip()) for kind in OBJECTS
    ]
    for evaluator in titles or ("",):
        rules = analysis.rules(run, evaluator)
        panels = [_panel(run, view, output, evaluator, rules, points[output["model"]]) for output in view.outputs]
        alike = next((each for each in found if each["panels"] == panels), None)
        if alike is not None:
            alike["evaluators"].append(evaluator)
            continue
        at = f"{rules.similarity} ≥ {next(iter(points.values())).iou:.2f}"
        found.append({"title": at, "evaluators": [evaluator], "first": [], "panels": panels, "legend": legend})
    if len(found) > 1:
        for each in found:
            each["title"] = f"{titles[each['evaluators'][0]]}: {each['title']}"
    return found


def _panel(
    run: Run, view: analysis.ExampleView, output: Mapping[str, Any], evaluator: str, rules: analysis.Rules,
    point: analysis.OperatingPoint,
) -> dict[str, Any]:  # fmt: skip
    """Return the panel of an output, its objects matched by an evaluator's rules."""
    model, repeat, here = output["model"], output["run"], view.predictions
    size = view.case["image_height"], view.case["image_width"]
    if not here.empty:
        here = here[here["model"].eq(model) & here["run"].eq(repeat)].reset_index(drop=True)
    compared = analysis.compared(run, model, repeat, evaluator)
    predicted, annotated = analysis.match_objects(
        view.annotations, here, point.iou, point.score, compared, size, rules, view.case
    )
    drawn = object_panels.image_objects(view.annotations, here, annotated, predicted, compared)
    return object_panels.panel(f"{model} · score ≥ {point.score:.2f}", drawn, LABELLED, compared)


def _areas(run: Run, view: analysis.ExampleView) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the views of a segmentation, wrong areas, every region and, of panoptic ones, every segment; and how each
    kind is drawn.
    """
    case_id, outputs = view.case["case_id"], [(one["model"], one["run"]) for one in view.outputs]
    found = [(str(model), analysis.segments(run, case_id, model, repeat)) for model, repeat in outputs]
    colours = segment_panels.class_colours(run.suite.labels, chain.from_iterable(each for _, each in found))
    there = {label for _, each in found for one in each for label in (one.truth, one.predicted)}
    named = {label: colour for label, colour in colours.items() if label in there}
    mistakes = [segment_panels.mistakes_panel(name, each) for name, each in found]
    classes = [segment_panels.classes_panel(name, each, "predicted") for name, each in found]
    truth = [segment_panels.classes_panel("Ground truth", found[0][1], "truth")] if found else []
    views = [
        {
            "title": segment_panels.VIEWS[name], "evaluators": ["segmentation_iou"], "first": first, "panels": panels,
            "legend": segment_panels.legend(name, named),
        }
        for name, first, panels in (("mistakes", [], mistakes), ("classes", truth, classes))
    ]  # fmt: skip
    styles = segment_panels.styles(colours)
    if PANOPTIC in analysis.match_evaluators(run):
        of = [(str(model), *analysis.segment_outcomes(run, case_id, model, repeat)) for model, repeat in outputs]
        covered = {label: colour for label, colour in named.items() if label in run.suite.labels}
        views.insert(
            0,
            {"title": "Segments", "evaluators": [PANOPTIC], "legend": segment_panels.legend("classes", covered),
             "first": [panoptic_panels.truth_panel("Ground truth", of[0][1])],
             "panels": [panoptic_panels.model_panel(*each) for each in of]},
        )  # fmt: skip
        styles |= panoptic_panels.styles(list(colours))
    return views, styles
