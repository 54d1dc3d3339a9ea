"""One image of a detection run: true positives, false positives and missed objects, the models side by side."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.data import case_views, pictures, run_reads
from components.data.pictures import IMAGE_NAME
from components.viewers import image_viewer
from components.views.objects import object_list, point_controls
from components.widgets import filters
from components.widgets.literal import literal
from metrics.analysis import match_objects
from metrics.presentation import format
from metrics.presentation.viewers import object_panels

SHOWN_WIDTH = 420  # pixels of a picture beside answers
LABELLED = 40  # with more objects in an image, labels show on hover only


class Shown(NamedTuple):
    """An output and the heading of its column."""

    column: str
    output: Mapping[str, Any]


class Marked(NamedTuple):
    """The object that the image opens on: its model, repeat and key (see metrics.analysis.GalleryObject)."""

    model: str
    repeat: int
    key: str


def outputs_predictions(predictions: pd.DataFrame, output: Mapping[str, Any]) -> pd.DataFrame:
    """Return the predictions of one output."""
    mine: pd.DataFrame = predictions[(predictions["model"] == output["model"]) & (predictions["run"] == output["run"])]
    return mine


def stated_size(view: case_views.CaseView) -> tuple[int, int] | None:
    """Return width and height of the image as the suite states them."""
    width, height = view.case["image_width"], view.case["image_height"]
    return (width, height) if width and height else None


def detail(
    view: case_views.CaseView, source: str | None, width: int | None, height: int | None
) -> pictures.Detail | None:
    """Return the full resolution of the image, where it has more than what was sent."""
    if source is None or view.image is None or width is None or height is None:
        return None
    return pictures.detail(view.image, width, height, stated_size(view))


def picture(view: case_views.CaseView) -> tuple[str | None, int | None, int | None]:
    """Return the image as a data URI (or draw why there is none), its width and height."""
    width, height = view.case["image_width"], view.case["image_height"]
    if view.image is None:
        st.info("The suite has no images: only the outlines are drawn. Upload it again with a zip of its images.")
        return None, width, height
    try:
        source, *size = pictures.picture(view.image, stated_size(view))
    except ValueError as failure:
        st.error(f"Only the outlines are drawn: {literal(str(failure))}.")
        return None, width, height
    return source, width or size[0], height or size[1]


def describe_image(view: case_views.CaseView) -> str:
    """Return the file name of the image, its id where that is another, and its size; "" where there is none."""
    name, case_id, size = view.case.get(IMAGE_NAME) or "", view.case["case_id"], stated_size(view)
    facts = [name, f"id {case_id}" * (name != case_id), "{} × {} px".format(*size) if size else ""]
    return " · ".join(filter(None, facts)) if name else ""


def draw_picture(view: case_views.CaseView) -> None:
    """Draw the image of a case whose answers are no objects in it, with its name; nothing where there is none."""
    if view.image is None:
        return
    source, width, _ = picture(view)
    if source is not None:
        st.image(source, width=min(SHOWN_WIDTH, width or SHOWN_WIDTH))


def show_image(
    view: case_views.CaseView, chosen: Sequence[Shown], run: str, evaluator: str, marked: Marked | None = None
) -> None:
    """Draw the image with true positives, false positives and missed objects at the operating point."""
    annotations, predictions = view.annotations, view.predictions
    labels = sorted({*annotations.get("label", []), *predictions.get("label", [])} - {None})
    only = filters.one("Class", labels, "label")
    own = run_reads.match_rules(run, evaluator)
    state = object_list.state_here()
    points = [point_controls.point_of(run, state, output["model"]) for _, output in chosen]
    point_controls.draw(run, points[0], state, own.similarity)
    st.html(image_viewer.legend_html())
    source, width, height = picture(view)
    more = detail(view, source, width, height)
    size = view.case["image_height"], view.case["image_width"]
    panels, tables, edges = [], [], [(100.0, 100.0)]
    for (column, output), point in zip(chosen, points, strict=True):
        at = f" · score ≥ {point.score:.2f}" if len(set(points)) > 1 else ""
        here = outputs_predictions(predictions, output)
        compared = run_reads.compared(run, output["model"], output["run"], evaluator)
        of_predictions, of_annotations = match_objects(
            annotations, here, point.iou, point.score, compared, size, own, view.case
        )
        drawn = object_panels.image_objects(annotations, here, of_annotations, of_predictions, compared)
        drawn = [entry for entry in drawn if not only or entry.label == only]
        panels.append(object_panels.panel(column + at, drawn, LABELLED, compared))
        tables.append(object_panels.object_table(drawn))
        edges += [(max(ring[0::2]), max(ring[1::2])) for entry in drawn for ring in entry.rings]
    right, bottom = (max(ends) for ends in zip(*edges, strict=True))
    width, height = width or right, height or bottom
    focus = _focus(view, marked, width, height) if marked else None
    key = f"{view.case['case_id']} {marked.key if marked else ''}"
    image_viewer.viewer(object_panels.payload(key, width, height, source, panels, focus=focus), more)
    with st.expander("Objects"):
        for place, panel, table in zip(st.columns(len(chosen)), panels, tables, strict=True):
            with place:
                st.text(f"{panel['title']}\n{panel['counts']}")
                st.dataframe(table, hide_index=True)


def _focus(view: case_views.CaseView, marked: Marked, width: float, height: float) -> object_panels.Focus | None:
    """Return where the marked object is; None where there is none of that key or it has no place."""
    family, number = marked.key[:1], marked.key[1:]
    if family not in ("p", "a") or not number.isdecimal():
        return None
    table, name = view.annotations, "annotation_id"
    if family == "p":
        name = "prediction_id"
        table = outputs_predictions(view.predictions, {"model": marked.model, "run": marked.repeat})
    found = table[table[name] == int(number)] if name in table else table[:0]
    shapes = object_panels.rings(found.to_dict("records")[0]) if len(found) else ()
    if not shapes:
        return None
    label = format.shorten(str(found["label"].iloc[0]), 40)
    return object_panels.focus(object_panels.extent(shapes), label, width, height)
