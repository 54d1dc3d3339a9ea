from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components import data
from components.viewers import chat, image_viewer, text_case, trace
from components.views.judge import judge_calls, own_verdict
from components.views.objects import object_list, object_walk
from components.views.objects.image_case import Marked, Shown, detail, outputs_predictions, picture, show_image
from components.views.results import asked_models, mark_controls
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.presentation import calibration_words, format
from metrics.presentation.names import column_name, metric_name, middle
from metrics.presentation.viewers import (
    case_texts,
    chat_turns,
    object_panels,
    panoptic_panels,
    segment_panels,
    trace_steps,
)


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
    mark: str | None
    better: str | None


def the_list(run: str) -> CaseList:
    """Return the list of the address, by default that of the run's first number."""
    asked = CaseList(*(url.param(name) for name in CaseList._fields))  # type: ignore[arg-type]
    columns = data.leaderboard(run).columns
    if not columns:
        why = "No evaluator that this installation knows has a number in this run."
        empty("This run has no numbers", why, "See the runs", "runs", run=run)
        st.stop()
    if (asked.evaluator, asked.metric) not in {(column.evaluator, column.metric) for column in columns}:
        of_evaluator = [column for column in columns if column.evaluator == asked.evaluator] or columns
        first = next((column for column in of_evaluator if column.primary), of_evaluator[0])
        asked = asked._replace(evaluator=first.evaluator, metric=first.metric)
    if asked.slice and data.read_slice(run, asked.slice, asked.evaluator, asked.metric).problem:
        asked = asked._replace(slice=None)
    return asked


def step(run: str, case_id: str, around: CaseList) -> str:
    """Draw the buttons to the previous and next case, and the position; return the case to show."""
    best_first, disputed, varied = (around.order == name for name in ("best", "disputed", "varied"))
    ids = data.case_ids(
        run, around.evaluator, around.metric, model=around.model, tag=around.tag, status=around.status,
        search=around.search, worst_first=not best_first, within=around.slice, failing=around.failing == "1",
        disputed=disputed, varied=varied, only=mark_controls.tagged_cases(run, around.mark), better_in=around.better,
        **filters.value_bounds(),
    )  # fmt: skip
    if not case_id and ids:
        case_id = ids[0]
    place = ids.index(case_id) if case_id in ids else -1
    first = "most disputed" if disputed else "most varied" if varied else "best" if best_first else "worst"
    order = f"{first} first by {metric_name(around.metric, around.evaluator)}"
    of = f" of {format.shorten(around.model, 24)}" if around.model else ""
    where = f"{format.count(place + 1)} of {format.count(len(ids))}" if place >= 0 else "not in the list"
    with st.container(horizontal=True, vertical_alignment="center"):
        before = ids[place - 1] if place > 0 else None
        after = ids[place + 1] if 0 <= place < len(ids) - 1 else None
        walk = {"Previous": (before, "arrow_back", "Left"), "Next case": (after, "arrow_forward", "Right")}
        for label, (case, icon, key) in walk.items():
            st.button(
                label, icon=f":material/{icon}:", type="primary" if key == "Right" else "secondary", shortcut=key,
                key=f"walk-{label}", disabled=case is None, on_click=url.put, kwargs={"case": case},
            )  # fmt: skip
        st.text(f"{middle(case_id, 24)} · {where}, {order}{of}", width="stretch")
        if case_id:
            mark_controls.draw(run, {"case": data.Place(case_id)})
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


def show_text(view: data.CaseView, chosen: list[Shown], around: CaseList) -> None:
    """Draw question, expected answers, the answers side by side, the scores and their evidence."""
    case, scores = view.case, view.scores.copy()
    wanted = (around.evaluator, around.metric)
    listed = next((one for one in data.leaderboard(run).columns if (one.evaluator, one.metric) == wanted), None)
    if listed is not None and (unfit := calibration_words.warning(listed)):
        st.text(f"{column_name(listed)}: {unfit}.")
    by_place = {(output["model"], output["run"]): column for column, output in chosen}
    scores["column"] = [by_place.get(place) for place in zip(scores["model"], scores["run"], strict=True)]
    scores = scores[scores["column"].notna()]
    expected = list(case["expected_answers"] or [])
    judge_calls.draw_suspicions(judge_calls.suspicions(scores["judge"]))
    text_case.draw_case(case)
    answers = [shown.output["answer"] for shown in chosen if shown.output["answer"]]
    forms = {"written": "As written"}
    forms |= {"rendered": "Rendered"} if any(text_case.has_markdown(answer) for answer in answers) else {}
    forms |= {"expected": "Against the expected"} if expected and answers else {}
    form = controls.choice("Answers", forms, "view") if len(forms) > 1 else "written"
    columns = [shown.column for shown in chosen]
    of_metric = scores[(scores["evaluator"] == around.evaluator) & (scores["metric"] == around.metric)]
    numbers = {shown.column: case_texts.predicted_text(shown.output) for shown in chosen}
    answered = any(shown.output["answer"] is not None or shown.output.get("error") for shown in chosen)
    values = {row["column"]: case_texts.score_text(row["value"], row["status"]) for row in of_metric.to_dict("records")}
    contexts = {column: list(output["retrieved_contexts"] or []) for column, output in chosen}
    ids = {column: list(output.get("context_ids") or []) for column, output in chosen}
    judged = around.evaluator in data.judges_of(run)
    rates = bool(judged) and data.may("editor")
    rater = data.own_name() or filters.text("Your name", "rater").strip() if rates else ""
    for place, (column, output) in zip(st.columns(len(chosen)), chosen, strict=True):
        with place:
            value = values.get(column)
            title = column + (f" · {metric_name(around.metric, around.evaluator)} {value}" if value else "")
            answer = output["answer"]
            if answer and form == "expected":
                text_case.draw_difference(title, case_texts.closest(answer, expected), answer, f"answer-{column}")
            elif answer:
                verdicts = of_metric.loc[of_metric["column"] == column, "verdicts"]
                groups = [group for groups in verdicts for group in groups or ()]
                text_case.draw_answer(title, answer, f"answer-{column}", groups, form == "rendered")
            elif number := numbers[column]:
                text_case.draw_answer(f"{title} · predicted", number, f"answer-{column}", [], rendered=False)
            else:
                st.text(title)
                if answered:
                    st.text(f"({output.get('error') or 'no answer'})")
            if rates and answer:
                own_verdict.draw(
                    run, case["case_id"], output["model"], rater, around.metric, f"{case['case_id']}-{column}"
                )
            show_label_scores(view.predictions, output)
            text_case.draw_list("Retrieved contexts", contexts[column], f"c-{column}", ids[column])
            own = scores[scores["column"] == column]
            show_chat(column, output, case, own)
            show_trace(column, output, case, own)
    titles = {name: data.title_of(name) for name in scores["evaluator"].unique()}
    first = scores["evaluator"] == around.evaluator  # the answer to the page's question goes first
    for part in (scores[first], scores[~first]):
        text_case.draw_evidence_by_evaluator(part, titles, contexts, around.evaluator, ids)
    st.subheader("Scores", anchor=False)
    heads: dict[str, Any] = {"evaluator": "Evaluator", "metric": "Metric"}
    heads |= {column: st.column_config.TextColumn(alignment="right") for column in columns}
    st.dataframe(case_texts.score_table(scores, titles, columns), hide_index=True, column_config=heads)


def show_chat(column: str, output: Mapping[str, Any], case: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Draw the conversation as a chat, the verdicts on its turns beside them; nothing where there is none."""
    judged = [
        (data.title_of(row["evaluator"]), row["verdicts"])
        for row in scores.drop_duplicates("evaluator").to_dict("records")
        if row["verdicts"]
    ]
    view = chat_turns.chat(output["trace"], case["question"], output["answer"], judged)
    if view is not None and chat_turns.tells_more(view):
        title, opened = f"Conversation: {chat_turns.summary(view)}", chat_turns.is_judged(view)
        with st.expander(title, key=f"chat-{column}", expanded=opened):
            chat.draw(view, f"turns-{column}")


def show_trace(column: str, output: Mapping[str, Any], case: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Draw what the agent did, step by step, beside the calls that the case expects."""
    if not output["trace"]:
        return
    of_calls = scores.loc[scores["evaluator"] == "tool_calls", "verdicts"]
    view = data.trace(output["trace"], case.get("expected_calls"), next((groups for groups in of_calls if groups), ()))
    with st.expander(f"Trace: {trace_steps.summary(view)}", key=f"trace-{column}"):
        trace.draw(view, f"steps-{column}")


def show_label_scores(predictions: pd.DataFrame, output: Mapping[str, Any]) -> None:
    """Draw the scored labels of a classification, highest first."""
    if predictions.empty:
        return
    here = outputs_predictions(predictions, output)
    st.dataframe(
        here[["label", "score"]].sort_values("score", ascending=False, kind="stable"), hide_index=True,
        column_config={
            "label": "Label",
            "score": st.column_config.ProgressColumn("Score", format="%.3f", min_value=0, max_value=1),
        },
        height="auto" if len(here) < 8 else 280,
    )  # fmt: skip


def show_segments(view: data.CaseView, chosen: list[Shown], run: str, key: str) -> None:
    """Draw the image with the wrong areas, or with the regions of the ground truth and of each model."""
    drawn = [data.segments(run, view.case["case_id"], output["model"], output["run"]) for _, output in chosen]
    colours = segment_panels.class_colours(data.labels(run), chain(*drawn))
    only = filters.one("Class", list(colours), "label")
    left, right = st.columns([2, 5], vertical_alignment="center")
    with left:
        panoptic = {"segments": "Segments"} if "panoptic_quality" in data.match_evaluators(run) else {}
        shown = controls.choice("Show", panoptic | segment_panels.VIEWS, "show")
    there = {label for each in drawn[0] for label in (each.truth, each.predicted)}
    with right:
        if shown == "segments":
            st.caption("Each thing in a shade of its own, stuff flat. Found ✓ solid, false ✗ dashed, missed – dotted.")
            there &= {*data.labels(run)}  # what no segment covers is none
        named = {label: colour for label, colour in colours.items() if label in there}
        st.html(segment_panels.legend_html("classes" if shown == "segments" else shown, named))
    source, width, height = picture(view)
    styles = segment_panels.styles(colours)
    if shown == "segments":
        of = [data.segment_outcomes(run, view.case["case_id"], output["model"], output["run"]) for _, output in chosen]
        styles = panoptic_panels.styles(list(colours))
        of_models = [panoptic_panels.truth_panel("Ground truth", of[0][0], only)]
        of_models += [
            panoptic_panels.model_panel(column, *both, only) for (column, _), both in zip(chosen, of, strict=True)
        ]
    elif shown == "mistakes":
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
        object_panels.payload(key, width or 100, height or 100, source, of_models, styles),
        detail(view, source, width, height),
    )
    with st.expander("Confused classes"):
        for place, (column, _), each in zip(st.columns(len(chosen)), chosen, drawn, strict=True):
            with place:
                st.text(column)
                st.dataframe(segment_panels.mistakes_table(each), hide_index=True)


run = frame("Example", "Why did it fail here?", unfinished=True)
around = the_list(run)
state = url.param("gallery", "")
objects = object_list.object_list(run, object_list.state_of(state)) if state else None
if objects is None:
    case_id = step(run, url.param("case", ""), around)
else:  # the list is the gallery's, and so is what stands beside this object
    stands = object_walk.walk(objects, url.param("case", ""), url.param("object", ""))
    case_id = url.param("case", "") or (stands.here.case_id if stands.here else "")
    object_walk.draw(stands, case_id, state)
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
    key = url.param("object", "")
    if objects is None:
        mark = Marked(around.model or chosen[0].output["model"], int(url.number("repeat", 1)), key)
        show_image(view, chosen, run, around.evaluator, mark)
    else:
        mark = Marked(objects.choice["model"], objects.choice["repeat"], key)
        show_image(view, chosen, run, objects.evaluator, mark)
elif chosen:
    show_text(view, chosen, around)
asked_models.draw_asked_models(run)
