from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components import data
from components.viewers import image_viewer, segment_panels, text_case, trace
from components.views.judge import judge_calls
from components.views.results import asked_models
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.presentation import calibration_words, format

LABELLED = {1: 25, 2: 14, 3: 8}  # with more objects, in so many columns, labels show on hover only


class CaseList(NamedTuple):
    """The list that the case is looked at in: the query parameters of the page Cases."""

    evaluator: str
    metric: str
    model: str | None
    tag: str | None
    status: str | None
    search: str | None
    order: str | None
    slice: str | None
    failing: str | None
    value_min: str | None
    value_max: str | None


class Shown(NamedTuple):
    """An output and the heading of its column."""

    column: str
    output: Mapping[str, Any]


def the_list(run: str) -> CaseList:
    """Return the list of the address, by default that of the run's first number."""
    asked = CaseList(*(url.param(name) for name in CaseList._fields))  # type: ignore[arg-type]
    columns = data.leaderboard(run).columns
    if (asked.evaluator, asked.metric) not in {(column.evaluator, column.metric) for column in columns}:
        of_evaluator = [column for column in columns if column.evaluator == asked.evaluator] or columns
        first = next((column for column in of_evaluator if column.primary), of_evaluator[0])
        asked = asked._replace(evaluator=first.evaluator, metric=first.metric)
    if asked.slice and data.read_slice(run, asked.slice, asked.evaluator, asked.metric).problem:
        asked = asked._replace(slice=None)
    return asked


def step(run: str, case_id: str, around: CaseList) -> str:
    """Draw the buttons to the previous and next case, and the position; return the case to show."""
    best_first, disputed = around.order == "best", around.order == "disputed"
    ids = data.case_ids(
        run, around.evaluator, around.metric, model=around.model, tag=around.tag, status=around.status,
        search=around.search, worst_first=not best_first, within=around.slice, failing=around.failing == "1",
        disputed=disputed,
        **filters.value_bounds(),
    )  # fmt: skip
    if not case_id and ids:
        case_id = ids[0]
    place = ids.index(case_id) if case_id in ids else -1
    first = "most disputed" if disputed else "best" if best_first else "worst"
    order = f"{first} first by {around.metric}"
    of = f" of {format.shorten(around.model, 24)}" if around.model else ""
    where = f"{format.count(place + 1)} of {format.count(len(ids))}" if place >= 0 else "not in the list"
    with st.container(horizontal=True, vertical_alignment="center"):
        before = ids[place - 1] if place > 0 else None
        after = ids[place + 1] if 0 <= place < len(ids) - 1 else None
        walk = {"Previous": (before, "arrow_back", "Left"), "Next case": (after, "arrow_forward", "Right")}
        for label, (case, icon, key) in walk.items():
            st.button(
                label, icon=f":material/{icon}:", type="primary" if key == "Right" else "secondary", shortcut=key,
                disabled=case is None, on_click=url.put, kwargs={"case": case},
            )  # fmt: skip
        st.text(f"{format.shorten(case_id, 24)} · {where}, {order}{of}", width="stretch")
        if state := url.param("gallery"):
            url.link_back("Gallery", "gallery", state, icon=":material/grid_view:")
        if st.button("Cases", icon=":material/list_alt:", help="Back to the list"):
            url.go("cases", run=run, **around._asdict())
    return case_id


def choose_outputs(view: data.CaseView, model: str | None) -> list[Shown]:
    """Choose the outputs to show side by side; by default that of the list's model and the next ones."""
    several = len({output["run"] for output in view.outputs}) > 1
    every = [
        Shown(f"{output['model']} #{output['run']}" if several else output["model"], output) for output in view.outputs
    ]
    names = {shown.column: shown.column for shown in every}
    asked = filters.many("Models side by side", names, "compare") if len(names) > 1 else []
    chosen = [shown for shown in every if shown.column in asked] or sorted(
        every, key=lambda shown: shown.output["model"] != model
    )
    return chosen[: text_case.COLUMNS]


def outputs_predictions(predictions: pd.DataFrame, output: Mapping[str, Any]) -> pd.DataFrame:
    """Return the predictions of one output."""
    mine: pd.DataFrame = predictions[(predictions["model"] == output["model"]) & (predictions["run"] == output["run"])]
    return mine


def show_text(view: data.CaseView, chosen: list[Shown], around: CaseList) -> None:
    """Draw question, expected answers, the answers side by side, the scores and their evidence."""
    case, scores = view.case, view.scores.copy()
    wanted = (around.evaluator, around.metric)
    listed = next((one for one in data.leaderboard(run).columns if (one.evaluator, one.metric) == wanted), None)
    if listed is not None and (unfit := calibration_words.warning(listed)):
        st.text(f"{listed.title}: {unfit}.")
    by_place = {(output["model"], output["run"]): column for column, output in chosen}
    scores["column"] = [by_place.get(place) for place in zip(scores["model"], scores["run"], strict=True)]
    scores = scores[scores["column"].notna()]
    expected = list(case["expected_answers"] or [])
    judge_calls.draw_suspicions(judge_calls.suspicions(scores["judge"]))
    text_case.draw_case(case)
    compare = "written"
    if expected and any(shown.output["answer"] for shown in chosen):
        compare = controls.choice("Answers", {"written": "As written", "expected": "Against the expected"}, "view")
    columns = [shown.column for shown in chosen]
    of_metric = scores[(scores["evaluator"] == around.evaluator) & (scores["metric"] == around.metric)]
    answered = any(shown.output["answer"] is not None or shown.output.get("error") for shown in chosen)
    values = {row["column"]: text_case.score_text(row["value"], row["status"]) for row in of_metric.to_dict("records")}
    contexts = {column: list(output["retrieved_contexts"] or []) for column, output in chosen}
    ids = {column: list(output.get("context_ids") or []) for column, output in chosen}
    for place, (column, output) in zip(st.columns(len(chosen)), chosen, strict=True):
        with place:
            value = values.get(column)
            title = column + (f" · {around.metric} {value}" if value else "")
            answer = output["answer"]
            if compare == "expected" and answer:
                text_case.draw_difference(title, text_case.closest(answer, expected), answer)
            elif answered:
                text_case.draw_text(
                    title, answer, text_case.ANSWER_HEIGHT, len(chosen), output.get("error") or "no answer"
                )
            else:
                st.text(title)
            show_label_scores(view.predictions, output)
            text_case.draw_list("Retrieved contexts", contexts[column], f"c-{column}", ids[column])
            show_trace(column, output)
    titles = {name: entry.title for name, entry in data.catalogue().items()}
    told = scores["evaluator"] == around.evaluator
    if scores.loc[told, "verdicts"].map(bool).any():  # the answer to the page's question goes first
        text_case.draw_evidence_by_evaluator(scores[told], titles, contexts, around.evaluator, ids)
    else:
        told &= False
    st.subheader("Scores", anchor=False)
    numbers = {column: st.column_config.TextColumn(alignment="right") for column in columns}
    st.dataframe(text_case.score_table(scores, titles, columns), hide_index=True, column_config=numbers)
    text_case.draw_evidence_by_evaluator(scores[~told], titles, contexts, around.evaluator, ids)


def show_trace(column: str, output: Mapping[str, Any]) -> None:
    """Draw what the agent did, step by step."""
    if not output["trace"]:
        return
    view = data.trace(output["trace"])
    with st.expander(f"Trace: {trace.summary(view)}", key=f"trace-{column}"):
        trace.draw(view, f"steps-{column}")


def show_label_scores(predictions: pd.DataFrame, output: Mapping[str, Any]) -> None:
    """Draw the scored labels of a classification, highest first."""
    if predictions.empty:
        return
    here = outputs_predictions(predictions, output)
    st.dataframe(
        here[["label", "score"]].sort_values("score", ascending=False, kind="stable"), hide_index=True,
        column_config={"score": st.column_config.ProgressColumn(format="%.3f", min_value=0, max_value=1)},
        height="auto" if len(here) < 8 else 280,
    )  # fmt: skip


def picture(view: data.CaseView) -> tuple[str | None, int | None, int | None]:
    """Return the image as a data URI (or draw why there is none), its width and height."""
    width, height = view.case["image_width"], view.case["image_height"]
    if view.image is None:
        st.info("The suite has no images: only the outlines are drawn. Upload it again with a zip of its images.")
        return None, width, height
    try:
        source, *size = data.picture(view.image)
    except ValueError as failure:
        st.error(f"Only the outlines are drawn: {failure}.")
        return None, width, height
    return source, width or size[0], height or size[1]


def show_segments(view: data.CaseView, chosen: list[Shown], run: str, key: str) -> None:
    """Draw the image with the wrong areas, or with the regions of the ground truth and of each model."""
    colours = segment_panels.class_colours(data.labels(run))
    only = filters.one("Class", list(colours), "label")
    drawn = [data.segments(run, view.case["case_id"], output["model"], output["run"]) for _, output in chosen]
    left, right = st.columns([2, 5], vertical_alignment="center")
    with left:
        shown = controls.choice("Show", segment_panels.VIEWS, "show")
    there = {label for each in drawn[0] for label in (each.truth, each.predicted)}
    with right:
        named = {label: colour for label, colour in colours.items() if label in there}
        st.html(segment_panels.legend_html(shown, named))
    source, width, height = picture(view)
    if shown == "mistakes":
        of_models = [
            segment_panels.mistakes_panel(column, each, only) for (column, _), each in zip(chosen, drawn, strict=True)
        ]
    else:
        of_models = [segment_panels.classes_panel("Ground truth", drawn[0], "truth", only)]
        of_models += [
            segment_panels.classes_panel(column, each, "predicted", only)
            for (column, _), each in zip(chosen, drawn, strict=True)
        ]
    image_viewer.viewer(
        image_viewer.payload(key, width or 100, height or 100, source, of_models, segment_panels.styles(colours))
    )
    with st.expander("Confused classes"):
        for place, (column, _), each in zip(st.columns(len(chosen)), chosen, drawn, strict=True):
            with place:
                st.text(column)
                st.dataframe(segment_panels.mistakes_table(each), hide_index=True)


def show_image(view: data.CaseView, chosen: list[Shown], run: str, evaluator: str, key: str) -> None:
    """Draw the image with true positives, false positives and missed objects at the chosen thresholds."""
    annotations, predictions = view.annotations, view.predictions
    labels = sorted({*annotations.get("label", []), *predictions.get("label", [])} - {None})
    only = filters.one("Class", labels, "label")
    left, right, facts = st.columns([2, 2, 3], vertical_alignment="bottom")
    with left:
        score = controls.slider("Score at least", "score", 0.0, step=0.01)
    with right:
        own = data.match_rules(run, evaluator)
        iou = controls.slider("IoU at least", "iou", min(0.95, max(0.05, own.iou)), low=0.05, high=0.95)
    with facts:
        st.html(image_viewer.legend_html())
    source, width, height = picture(view)
    size = view.case["image_height"], view.case["image_width"]
    panels, tables, edges = [], [], [(100.0, 100.0)]
    for column, output in chosen:
        here = outputs_predictions(predictions, output)
        compared = data.compared(run, output["model"], output["run"], evaluator)
        of_predictions, of_annotations = data.match_objects(
            annotations, here, iou, score, compared, size, own.max_dets, own.keyed
        )
        drawn = image_viewer.image_objects(annotations, here, of_annotations, of_predictions, compared)
        drawn = [entry for entry in drawn if not only or entry.label == only]
        panels.append(image_viewer.panel(column, drawn, LABELLED[len(chosen)], compared))
        tables.append(image_viewer.object_table(drawn))
        edges += [(max(ring[0::2]), max(ring[1::2])) for entry in drawn for ring in entry.rings]
    right, bottom = (max(ends) for ends in zip(*edges, strict=True))
    image_viewer.viewer(image_viewer.payload(key, width or right, height or bottom, source, panels))
    with st.expander("Objects"):
        for place, panel, table in zip(st.columns(len(chosen)), panels, tables, strict=True):
            with place:
                st.text(f"{panel['title']}\n{panel['counts']}")
                st.dataframe(table, hide_index=True)


run = frame("Example", "Why did it fail here?")
around = the_list(run)
case_id = step(run, url.param("case", "") or "", around)
view = data.example(run, case_id) if case_id else None
if view is None:
    empty("There is no such case", "Choose one from the list of cases of this run.", "See the cases", "cases", run=run)
    st.stop()
url.put(case=case_id)
if not view.outputs:
    st.info("No model answered this case.")
chosen = choose_outputs(view, around.model)
task = data.run_facts(run).suite["task"]
if chosen and task == "segmentation":
    show_segments(view, chosen, run, case_id)
elif chosen and task == "detection":
    show_image(view, chosen, run, around.evaluator, case_id)
elif chosen:
    show_text(view, chosen, around)
asked_models.draw_asked_models(run)
