"""What the views share: words, the models and classes to draw, lists that link to examples, tables of numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from components.data import run_reads, workspace_runs
from components.data.pictures import case_pictures
from components.widgets import filters, url
from components.widgets.frame import is_dark
from components.widgets.tables import ROW, records
from metrics.core.evaluator import Metric
from metrics.presentation import format, palette
from metrics.presentation.viewers import object_panels

PANELS = 6  # classes shown by default
LINES = 6  # models shown by default
COLUMNS = (3, 2)  # widths of the chart and what is beside it
LIST_HEIGHT = 330
PICTURE_ROW = 56  # pixels of a row with a picture
MEAN = "mean of classes"
WHY = object_panels.DETAILS | {
    "fp_both": "wrong class and poor box",
    "fn": "its score is below the threshold",
    "fn_localisation": "found, but with a poor box",
}
WHY_CASE = {
    "fp_misclassification": "another class is the true one",
    "fn_misclassification": "another class is predicted",
    "fn_no_prediction": "no class is predicted",
    "fn": "its score is below the threshold",
}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a task for what is counted and what holds it."""

    thing: str
    things: str
    case: str
    why: Mapping[str, str]
    listed: str = ""  # the rows of a list, where they are not the things themselves


DETECTION = Words("object", "objects", "image", WHY)
SEGMENTATION = Words("pixel", "pixels", "image", {}, "image")
SEGMENTS = Words("segment", "segments", "image", WHY)
OTHERS = Words("case", "cases", "case", WHY_CASE)


def asked_key(run: str) -> str | None:
    """Return the key of labels that the address asks for, else the first; None where labels have no keys."""
    keys = run_reads.leaderboard(run).label_keys
    asked = url.param("label_key")
    return asked if asked in keys else next(iter(keys), None)


def curves(run: str, evaluator: str) -> pd.DataFrame:
    """Return the curves of an evaluator, of the asked key of labels."""
    frame, key = run_reads.curves(run, evaluator), asked_key(run)
    return frame[frame["key"] == key] if key is not None and "key" in frame else frame


def label_numbers(run: str, evaluator: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the numbers of these metrics per class and over all classes, of the asked key of labels."""
    numbers, key = run_reads.label_numbers(run, evaluator, tuple(metrics)), asked_key(run)
    return numbers if key is None else numbers[[columns.get("key") == key for columns in numbers["columns"]]]


def metrics_of(run: str, evaluator: str) -> dict[str, Metric]:
    """Return an evaluator's metrics by name, as the run's parameters make them; none where it is unknown here."""
    entry = workspace_runs.run_evaluator(run, evaluator)
    return {metric.name: metric for metric in entry.metrics} if entry is not None else {}


def words(run: str, evaluator: str | None = None) -> Words:
    """Return the words of a run's task; of a segmentation those of what the evaluator counts, segments or pixels."""
    if workspace_runs.run_facts(run).suite["task"] == "segmentation":
        return SEGMENTS if evaluator in run_reads.match_evaluators(run) else SEGMENTATION
    return DETECTION if workspace_runs.run_facts(run).suite["task"] == "detection" else OTHERS


def picked(*names: str | None) -> Callable[[list[Any]], None]:
    """Return what writes the customdata of a clicked point into the address, under `names` (None: skip)."""
    return lambda point: url.put(**{name: value for name, value in zip(names, point, strict=False) if name})


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each of the models."""
    colours = palette.series(is_dark())
    return {name: colours[index % len(colours)] for index, name in enumerate(names)}


def lines_in(frame: pd.DataFrame) -> dict[str, tuple[str, int]]:
    """Return (model, repeat) of every line of a table of curves, by its name."""
    first = frame.drop_duplicates("series")
    pairs = zip(first["model"].astype(str), first["run"].astype(int), strict=True)
    return dict(zip(first["series"].astype(str), pairs, strict=True))


def choose_series(
    frame: pd.DataFrame, most: int = LINES
) -> tuple[list[str], dict[str, str], dict[str, tuple[str, int]]]:
    """Choose the lines to draw; return their names, and of every line the colour and (model, repeat)."""
    places = lines_in(frame)
    chosen = filters.many("Models", list(places), "model", filters.unasked(list(places), most))
    return chosen or list(places)[:most], colours_of(list(places)), places


def choose_labels(labels: Sequence[str], together: str | None = None) -> list[str]:
    """Choose the classes to draw, by default the first ones; `together` names all classes, which come first."""
    several = [together, *labels] if together and len(labels) > 1 else list(labels)
    return filters.many("Classes", several, "label", filters.unasked(several, PANELS)) or several[:PANELS]


def ordered(points: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these labels, in their order."""
    points = points[points["label"].isin(labels)]
    place = {label: index for index, label in enumerate(labels)}
    return points.sort_values("label", key=lambda names: names.map(place), kind="stable")


def of_labels(numbers: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the numbers over all classes, then those of `labels` in their order."""
    place = {label: index for index, label in enumerate(labels)}
    rows = numbers[numbers["label"].isna() | numbers["label"].isin(labels)]
    keys = [place.get(label, -1) for label in rows["label"]]
    return rows.iloc[sorted(range(len(rows)), key=keys.__getitem__)]


def list_things(
    run: str, rows: pd.DataFrame, total: int, key: str, said: Words, model: str, **about: url.Value
) -> None:
    """Draw a list of objects or cases, each of which opens its example; `about` is added to the address.

    With a column `object` the example opens on that object.
    """
    if rows.empty:
        st.info(f"There are no {said.things} behind this. Click another point.")
        return
    if pictures := case_pictures(run, rows["case_id"].tolist()):
        found = [pictures.get(case) for case in rows["case_id"]]
        sources: list[Any] = [one.source if one else None for one in found]
        rows = rows.assign(picture=sources, file=[one.name if one else "" for one in found])
        same, none = (rows["file"] == rows["case_id"]).all(), rows["picture"].isna().all()
        rows = rows.drop(columns=["file"] * bool(same) + ["picture"] * bool(none))
    titles = {
        "picture": "",
        "file": "File",
        "case_id": said.case.capitalize(),
        "label": "Class",
        "score": "Score",
        "iou": "IoU",
        "kind": "Why",
        "pixels": "Pixels",
    }
    shown = rows[[column for column in titles if column in rows]]
    if "kind" in shown:
        shown = shown.assign(kind=[said.why.get(kind, "") for kind in shown["kind"]])
    for column in ("score", "iou"):
        if column in shown:
            shown = shown.assign(**{column: format.aligned(shown[column].tolist()) if shown[column].any() else ""})
    columns = {
        name: st.column_config.Column(title, alignment="right" if name in ("score", "iou") else None)
        for name, title in titles.items()
        if name in shown and (shown[name] != "").any()
    }
    if "picture" in columns:
        columns["picture"] = st.column_config.ImageColumn("", width=70)
    clicked = records(shown, columns, key, LIST_HEIGHT, PICTURE_ROW if "picture" in columns else ROW)
    many = format.plural(total, said.listed or said.thing)
    st.caption(many if total == len(rows) else f"{format.count(len(rows))} of {many} are listed.")
    if st.button(f"Open the first {said.case}", type="primary", icon=":material/arrow_forward:"):
        clicked = 0
    if clicked is not None:
        if "object" in rows and said.case == DETECTION.case:
            about["object"] = str(rows["object"].iloc[clicked])
        url.go("case", run=run, case=str(rows["case_id"].iloc[clicked]), model=model, **about)


def pictures_link(run: str, model: str, chosen: Mapping[str, url.Value], label: str = "See them as pictures") -> None:
    """Draw a link to the gallery with filters for exactly these objects; `repeat` 1 is the default there."""
    about = {name: value for name, value in chosen.items() if (name, value) != ("repeat", 1)}
    url.link(label, "gallery", icon=":material/grid_view:", run=run, model=model, **about)


def back(label: str, *names: str) -> None:
    """Draw a button that removes these query parameters."""
    if st.button(label, icon=":material/arrow_back:"):
        url.put(**dict.fromkeys(names))
        st.rerun()


def numbers_table(
    numbers: pd.DataFrame, value: str, series: Sequence[str], height: int = 400, first: str = "Class"
) -> None:
    """Draw numbers of classes and models, a row each: class, model, value, 95 % interval; `At`, n, `first` if there."""
    rows = numbers[numbers["series"].isin(series)]
    parts: dict[str, Any] = {"Class": rows["label"].fillna("mean")}
    parts |= {name: rows[name] for name in rows.columns if name == first}
    parts |= {"Model": rows["series"], value: format.aligned(rows["value"].tolist())}
    parts |= {"At": rows["At"]} if "At" in rows else {}
    ends = zip(rows["low"], rows["high"], strict=True)
    parts["95 %"] = [format.interval(low, high) or format.MISSING for low, high in ends]
    parts |= {"n": [format.count(int(n)) for n in rows["n"]]} if "n" in rows else {}
    if len(set(series)) == 1:
        del parts["Model"]
    if rows["label"].isna().all():
        del parts["Class"]
    table = pd.DataFrame(parts)
    right = {name: st.column_config.Column(alignment="right") for name in (value, "At", "95 %", "n") if name in table}
    st.dataframe(
        table, hide_index=True, column_config=right, height="content" if 36 + 35 * len(table) <= height else height
    )
