from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.data import Place, case_views, found_slices, run_reads, visitors, workspace_runs
from components.viewers import browser_parts, image_viewer, text_case
from components.views.judge import judge_calls, label_entry, rating_queue
from components.views.objects import object_list, object_walk
from components.views.objects.image_case import (
    Marked,
    Shown,
    describe_image,
    detail,
    draw_picture,
    outputs_predictions,
    picture,
    show_image,
)
from components.views.results import about_run, case_choice, case_outputs, case_scores, mark_controls
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.analysis import Segment
from metrics.core.registry import title_of
from metrics.presentation import format, guarantee_words
from metrics.presentation.format import column_name, metric_name, middle
from metrics.presentation.marked_text import Part
from metrics.presentation.viewers import (
    case_texts,
    chat_turns,
    object_panels,
    panoptic_panels,
    segment_panels,
    trace_steps,
)


class ListNumber(NamedTuple):
    """The number whose cases the list holds, and the model that it is of."""

    evaluator: str
    metric: str
    model: str | None


def find_number(run: str) -> ListNumber:
    """Return the number of the address, by default the run's first; a slice that cannot be read leaves the address."""
    asked, model = (url.param("evaluator", ""), url.param("metric", "")), url.param("model")
    columns = run_reads.leaderboard(run).columns
    if not columns:
        why = "No evaluator that this installation knows has a number in this run."
        empty("This run has no numbers", why, "See the runs", "runs", run=run)
        st.stop()
    if asked not in {(column.evaluator, column.metric) for column in columns}:
        of_evaluator = [column for column in columns if column.evaluator == asked[0]] or columns
        first = next((column for column in of_evaluator if column.primary), of_evaluator[0])
        asked = first.evaluator, first.metric
    if (part := url.param("slice")) and found_slices.read_slice(run, part, *asked).problem:
        url.put(slice=None)
    return ListNumber(*asked, model)


def walk_buttons(before: str | None, after: str | None) -> None:
    """Draw the buttons to the previous and the next case."""
    walk = {"Previous": (before, "arrow_back", "Left"), "Next case": (after, "arrow_forward", "Right")}
    for label, (case, icon, key) in walk.items():
        st.button(
            label,
            icon=f":material/{icon}:",
            type="primary" if key == "Right" else "secondary",
            shortcut=key,
            key=f"walk-{label}",
            disabled=case is None,
            on_click=url.put,
            kwargs={"case": case},
        )


def step(run: str, case_id: str, around: ListNumber) -> str:
    """Draw the buttons to the previous and next case, and the position; return the case to show."""
    ids = case_choice.listed_ids(run, run_reads.leaderboard(run), around.evaluator, around.metric)
    if not case_id and ids:
        case_id = ids[0]
    place = ids.index(case_id) if case_id in ids else -1
    order = case_choice.order_words(run, around.evaluator, around.metric)
    where = f"{format.count(place + 1)} of {format.count(len(ids))}" if place >= 0 else "not in the list"
    with st.container(horizontal=True, vertical_alignment="center"):
        before = ids[place - 1] if place > 0 else None
        walk_buttons(before, ids[place + 1] if 0 <= place < len(ids) - 1 else None)
        st.text(f"{middle(case_id, 24)} · {where}, {order}", width="stretch")
        if case_id:
            mark_controls.draw(run, {"case": Place(case_id)})
        if st.button("Cases", icon=":material/list_alt:", help="Back to the list"):
            about = case_choice.case_address(run, around.evaluator, around.metric)
            url.go("cases", **about | {"model": around.model})
    return case_id


class AnswerView(NamedTuple):
    """How answers are drawn: as written, rendered, against the expected or word by word; who rates them.

    parts: of two answers word by word, by column; answered: whether there is any answer.
    """

    form: str
    rater: str | None  # None: nobody rates here
    answered: bool
    parts: Mapping[str, Sequence[Part]]


def show_text(run: str, view: case_views.CaseView, beside: case_outputs.Beside, around: ListNumber) -> None:
    """Draw question, expected answers and contexts, the answers side by side with their scores, and why they failed."""
    warn_of_calibration(run, around)
    columns = {(column.evaluator, column.metric): column for column in run_reads.leaderboard(run).columns}
    chosen, rows = beside.shown, beside.scores()
    scores = case_scores.CaseScores(rows, columns, (around.evaluator, around.metric))
    judge_calls.draw_suspicions(judge_calls.suspicions(rows["judge"]))
    text_case.draw_case(view.case)
    contexts = {shown.column: list(shown.output["retrieved_contexts"] or []) for shown in chosen}
    ids = {shown.column: list(shown.output.get("context_ids") or []) for shown in chosen}
    are_shared = len({(*texts, None, *ids[column]) for column, texts in contexts.items()}) == 1
    above = st.container()
    how = answer_view(run, view.case, beside, around)
    passages = case_scores.Passages(contexts, ids)
    if are_shared:
        column, title = chosen[0].column, "The same contexts" if how.parts else "Retrieved contexts"
        with above:
            text_case.draw_list(title, contexts[column], "c-shared", ids[column])
    marked = passages.marked() if how.parts and not are_shared else {}
    for place, shown in zip(st.columns(len(chosen)), chosen, strict=True):
        with place:
            own = rows[rows["column"] == shown.column]
            rater = how.rater if beside.views[shown.column] is view else None
            show_answer(run, view.case, shown, own, around, how._replace(rater=rater))
            scores.draw_marks(shown.column)
            show_label_scores(beside.views[shown.column].predictions, shown.output)
            column = shown.column
            if column in marked:
                title = f"Retrieved contexts ({len(contexts[column])})"
                text_case.draw_marked_list(title, marked[column], f"c-{column}")
            elif not are_shared:
                text_case.draw_list("Retrieved contexts", contexts[column], f"c-{column}", ids[column])
            show_chat(column, shown.output, view.case, own)
            show_trace(column, shown.output, view.case, own)
    scores.draw_evidence(passages)
    scores.draw_table(passages)


def warn_of_calibration(run: str, around: ListNumber) -> None:
    """Say where the threshold of the list's number was calibrated for something else."""
    wanted = (around.evaluator, around.metric)
    listed = next((one for one in run_reads.leaderboard(run).columns if (one.evaluator, one.metric) == wanted), None)
    if listed is not None and (unfit := guarantee_words.warning(listed)):
        st.text(f"{column_name(listed)}: {unfit}.")


def answer_view(run: str, case: Mapping[str, Any], beside: case_outputs.Beside, around: ListNumber) -> AnswerView:
    """Draw the choice of how answers are shown and, for who may rate them, the field of the name; return both."""
    answers = beside.answers()
    forms = {"written": "As written"}
    forms |= {"rendered": "Rendered"} if any(text_case.has_markdown(answer) for answer in answers) else {}
    forms |= {"expected": "Against the expected"} if case["expected_answers"] and answers else {}
    words = {"words": "Word by word"} if len(beside.shown) == len(answers) == 2 else {}
    forms = words | forms if beside.is_pair else forms | words
    form = controls.choice("Answers", forms, "view") if len(forms) > 1 else "written"
    parts = beside.marked_answers() if form == "words" else {}
    rater = None
    if around.evaluator in run_reads.judges_of(run) and visitors.may("editor"):
        rating_queue.known_name()
        rater = visitors.own_name() or filters.text("Your name", "rater").strip()
    answered = any(shown.output["answer"] is not None or shown.output.get("error") for shown in beside.shown)
    return AnswerView(form, rater, answered, parts)


def show_answer(
    run: str, case: Mapping[str, Any], shown: Shown, scores: pd.DataFrame, around: ListNumber, how: AnswerView
) -> None:
    """Draw an output's answer with its value of the list's number and, for a rater, the field for an own verdict."""
    column, output = shown
    answer, key = output["answer"], f"answer-{column}"
    of_metric = scores[(scores["evaluator"] == around.evaluator) & (scores["metric"] == around.metric)]
    values = [case_texts.score_text(row["value"], row["status"]) for row in of_metric.to_dict("records")]
    value = values[-1] if values else ""
    title = column + (f" · {metric_name(around.metric, around.evaluator)} {value}" if value else "")
    if column in how.parts:
        text_case.draw_parts(title, how.parts[column], key)
    elif answer and how.form == "expected":
        text_case.draw_difference(title, case_texts.closest(answer, list(case["expected_answers"])), answer, key)
    elif answer:
        groups = [group for groups in of_metric["verdicts"] for group in groups or ()]
        text_case.draw_answer(title, answer, key, groups, how.form == "rendered")
    elif number := case_texts.predicted_text(output):
        text_case.draw_answer(f"{title} · predicted", number, key, [], rendered=False)
    else:
        st.text(title)
        if how.answered:
            st.text(f"({output.get('error') or 'no answer'})")
    if how.rater is not None and answer:
        place = f"{case['case_id']}-{column}"
        title = metric_name(around.metric, around.evaluator)
        label_entry.draw_verdict(run, case["case_id"], output["model"], how.rater, around.metric, title, place)


def show_chat(column: str, output: Mapping[str, Any], case: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Draw the conversation as a chat, the verdicts on its turns beside them; nothing where there is none."""
    judged = [
        (title_of(row["evaluator"]), row["verdicts"])
        for row in scores.drop_duplicates("evaluator").to_dict("records")
        if row["verdicts"]
    ]
    view = chat_turns.chat(output["trace"], case["question"], output["answer"], judged)
    if view is not None and chat_turns.tells_more(view):
        title, opened = f"Conversation: {chat_turns.summary(view)}", chat_turns.is_judged(view)
        with st.expander(title, key=f"chat-{column}", expanded=opened):
            browser_parts.chat(view, f"turns-{column}")


def show_trace(column: str, output: Mapping[str, Any], case: Mapping[str, Any], scores: pd.DataFrame) -> None:
    """Draw what the agent did, step by step, beside the calls that the case expects."""
    if not output["trace"]:
        return
    of_calls = scores.loc[scores["evaluator"] == "tool_calls", "verdicts"]
    view = case_views.trace(output["trace"], case.get("expected_calls"), next(filter(None, of_calls), ()))
    with st.expander(f"Trace: {trace_steps.summary(view)}", key=f"trace-{column}"):
        browser_parts.trace(view, f"steps-{column}")


def show_label_scores(predictions: pd.DataFrame, output: Mapping[str, Any]) -> None:
    """Draw the scored labels of a classification, highest first."""
    if predictions.empty:
        return
    here = outputs_predictions(predictions, output)
    st.dataframe(
        here[["label", "score"]].sort_values("score", ascending=False, kind="stable"),
        hide_index=True,
        column_config={
            "label": "Label",
            "score": st.column_config.ProgressColumn("Score", format="%.3f", min_value=0, max_value=1),
        },
        height="auto" if len(here) < 8 else 280,
    )


def show_segments(view: case_views.CaseView, chosen: list[Shown], run: str, key: str) -> None:
    """Draw the image with the wrong areas, or with the regions of the ground truth and of each model."""
    drawn = [run_reads.segments(run, view.case["case_id"], output["model"], output["run"]) for _, output in chosen]
    colours = segment_panels.class_colours(run_reads.labels(run), chain(*drawn))
    only = filters.one("Class", list(colours), "label")
    left, right = st.columns([2, 5], vertical_alignment="center")
    with left:
        panoptic = {"segments": "Segments"} if "panoptic_quality" in run_reads.match_evaluators(run) else {}
        shown = controls.choice("Show", panoptic | segment_panels.VIEWS, "show")
    with right:
        show_legend(run, shown, colours, drawn[0])
    source, width, height = picture(view)
    if shown == "segments":
        styles = panoptic_panels.styles(list(colours))
        panels = panoptic_views(view, chosen, run, only)
    else:
        styles = segment_panels.styles(colours)
        panels = segment_views(chosen, drawn, shown, only)
    payload = object_panels.payload(key, width or 100, height or 100, source, panels, styles)
    image_viewer.viewer(payload, detail(view, source, width, height))
    with st.expander("Confused classes"):
        for place, (column, _), each in zip(st.columns(len(chosen)), chosen, drawn, strict=True):
            with place:
                st.text(column)
                st.dataframe(segment_panels.mistakes_table(each), hide_index=True)


def show_legend(run: str, shown: str, colours: Mapping[str, str], drawn: Sequence[Segment]) -> None:
    """Draw the colours of the classes that the first model's picture has."""
    there = {label for each in drawn for label in (each.truth, each.predicted)}
    if shown == "segments":
        st.caption("Each thing in a shade of its own, stuff flat. Found ✓ solid, false ✗ dashed, missed – dotted.")
        there &= {*run_reads.labels(run)}  # what no segment covers is none
    named = {label: colour for label, colour in colours.items() if label in there}
    st.html(segment_panels.legend_html("classes" if shown == "segments" else shown, named))


def panoptic_views(view: case_views.CaseView, chosen: list[Shown], run: str, only: str | None) -> list[Any]:
    """Return the panels of the segments: the ground truth's, then each model's."""
    of = [run_reads.segment_outcomes(run, view.case["case_id"], output["model"], output["run"]) for _, output in chosen]
    panels = [panoptic_panels.truth_panel("Ground truth", of[0][0], only)]
    pairs = zip(chosen, of, strict=True)
    return panels + [panoptic_panels.model_panel(column, *both, only) for (column, _), both in pairs]


def segment_views(chosen: list[Shown], drawn: Sequence[Sequence[Segment]], shown: str, only: str | None) -> list[Any]:
    """Return the panels of each model's mistakes, or of the ground truth's classes and of each model's."""
    pairs = zip((column for column, _ in chosen), drawn, strict=True)
    if shown == "mistakes":
        return [segment_panels.mistakes_panel(column, each, only) for column, each in pairs]
    truth = segment_panels.classes_panel("Ground truth", drawn[0], "truth", only)
    return [truth, *(segment_panels.classes_panel(column, each, "predicted", only) for column, each in pairs)]


run = frame("case", "Why did it fail here?", unfinished=True)
around = find_number(run)
state = url.param("gallery", "")
objects = object_list.object_list(run, url.state_of(state)) if state else None
if objects is None:
    case_id = step(run, url.param("case", ""), around)
else:  # the list is the gallery's, and so is what stands beside this object
    stands = object_walk.walk(objects, url.param("case", ""), url.param("object", ""))
    case_id = url.param("case", "") or (stands.here.case_id if stands.here else "")
    object_walk.draw(stands, case_id, state)
view = case_views.example(run, case_id) if case_id else None
if view is None:
    empty("There is no such case", "Choose one from the list of cases of this run.", "See the cases", "cases", run=run)
    st.stop()
url.put(case=case_id)
if not view.outputs:
    st.info("No model answered this case. Go on to the next one.")
if about := [*filter(None, [describe_image(view)]), *case_texts.case_labels(view.case)]:
    st.text(" · ".join(about))
task = workspace_runs.run_facts(run).suite["task"]
beside = case_outputs.choose(run, view, around.model, runs=task not in ("segmentation", "detection"))
chosen = beside.shown
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
    draw_picture(view)
    show_text(run, view, beside, around)
about_run.draw_asked_models(run)
