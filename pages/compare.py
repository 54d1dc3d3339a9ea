from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import agreements, boards, case_views, judge_settings, run_reads, workspace_runs
from components.viewers import blocks, text_case
from components.views.judge import judge_calls
from components.views.results import about_run, case_choice, model_comparison, replacement
from components.widgets import controls, filters, url
from components.widgets.chart import chart
from components.widgets.frame import empty, frame, is_dark
from components.widgets.literal import literal
from components.widgets.tables import header, numeric, records
from metrics.analysis import Comparison, Decision, Difference, Leaderboard, Resampled
from metrics.analysis.comparison.decisions import answer as replacement_answer, decisions as decisions_by_margins
from metrics.analysis.corrected_tests import of_comparison, of_ranks
from metrics.presentation import format, phrases
from metrics.presentation.marked_text import Part, compare_texts
from metrics.presentation.questions import can_the_judge_be_trusted, is_it_better
from metrics.presentation.viewers import board_drawing, case_texts

PAGE = 100
ANSWER_HEIGHT = 170  # pixels of an answer before it scrolls


def choose_pair(run: str, board: Leaderboard, twins: dict[str, workspace_runs.RunFacts]) -> tuple[str, str, str]:
    """Return the models A and B and the run of B: from the address, else the two that lead the leaderboard; of a board
    its baseline as A.
    """
    asked = url.param("other")
    other = asked if asked in twins else run
    ordered = list(dict.fromkeys((*run_reads.headline(run).ranked, *board.models)))  # models that are alike rank once
    of_b = twins[other].models
    pinned = boards.baseline(run) if other == run else None
    candidates = url.param("b"), *(model for model in ordered if model != pinned), *of_b
    model_b = next((model for model in candidates if model in of_b), None)
    # another run of the same model is the likely question; of one run the best that is not B
    rest = [pinned, *ordered] if other == run else [model_b, *ordered]
    likely = next((model for model in rest if model in ordered and (other != run or model != model_b)), ordered[0])
    model_a = url.param("a") if url.param("a") in ordered else likely
    url.put(a=model_a, b=model_b)
    filters.pick("A, the baseline", board.models, "a")
    filters.pick("B, the candidate", of_b, "b")
    if len(twins) > 1:
        filters.pick("Run of B", {name: run_text(entry) for name, entry in twins.items()}, "other")
    return str(model_a), str(model_b), other


def swap(run: str, other: str) -> None:
    url.put(a=url.param("b"), b=url.param("a"), run=other, other=run if other != run else None)


def names(found: Comparison, twins: dict[str, workspace_runs.RunFacts], run: str, other: str) -> tuple[str, str]:
    """Return the models as they are shown, with their run where there are two."""
    a, b = format.shorten(found.model_a, 44), format.shorten(found.model_b, 44)
    if run == other:
        return a, b
    return f"{a} ({run_text(twins[run])})", f"{b} ({run_text(twins[other])})"


def run_text(run: workspace_runs.RunFacts) -> str:
    return f"{format.shorten(run.name, 24)}, {format.moment(run.created)}"


def see_metric(key: str | None) -> None:
    url.put(key=key, kind=None, case=None, page=None)


def show_overview(found: Comparison, decisions: Sequence[Decision]) -> None:
    """Draw whether B can replace A, the forest plot, the table, and what cannot be paired."""
    if decisions and (asked := replacement.show_decisions(decisions)) is not None:
        see_metric(asked)
        st.rerun()
    tested: list[Difference | Resampled] = [*found.rows, *found.resampled]
    if any(model_comparison.toward_b(row) for row in tested):
        margins = {made.row.column.key: made.margin for made in decisions}
        chart(
            model_comparison.forest(tested, is_dark(), margins), "forest",
            "Differences B − A of each metric with 95 % intervals around zero", lambda point: see_metric(point[0]),
        )  # fmt: skip
        allowed = " Dotted: the allowed loss." if decisions else ""
        st.caption(f"◆ significant after correction, ○ not significant.{allowed} Click a point or a row for its cases.")
    for table in is_it_better.pair_blocks(found):
        blocks.draw_table(table, run, "compare", 36 + 35 * 14)
    for note in found.notes:
        st.text(note)
    if found.unpaired:
        blocks.draw_table(is_it_better.unpaired_table(found.unpaired), run, "compare")


def show_metric(row: Difference, found: Comparison, run: str, other: str, tag: str | None, correction: str) -> None:
    """Draw one metric: the cases where B loses, wins and ties, and both answers to one of them."""
    st.text(f"{row.words}: {model_comparison.facts(row, correction)}")
    if run == other and row.column.direction != "none":
        of = {"model": found.model_b, "against": found.model_a, "key": row.column.key}
        url.link("Where is B worse against A? By tag, length and other features", "slices", run=run, **of)
    titles = model_comparison.PLAIN_KINDS if row.column.direction == "none" else model_comparison.KINDS
    counts = {"losses": row.losses, "wins": row.wins, "ties": row.ties}
    named = {name: f"{title} ({format.count(counts[name])})" for name, title in titles.items()}
    kind = controls.choice("Cases", named, "kind")
    page = int(url.number("page", 1, low=1))
    listed = run_reads.differences(
        run, found.model_a, found.model_b, other, row.column.evaluator, row.column.metric, kind=kind, tag=tag,
        limit=PAGE, offset=PAGE * (page - 1),
    )  # fmt: skip
    rows, total = listed.rows, listed.total
    if rows.empty:
        st.info(f"There are no {titles[kind].lower()}. Look at the other cases.")
        return
    left, right = st.columns([9, 11], gap="medium")
    with left:
        table = rows.assign(
            a=format.aligned(rows["a"].tolist()),
            b=format.aligned(rows["b"].tolist()),
            difference=[phrases.signed(value) for value in rows["difference"]],
        )
        columns = {"case_id": header("Case", 110)}
        columns |= {name: numeric(title, 62) for name, title in (("a", "A"), ("b", "B"), ("difference", "B − A"))}
        columns["preview"] = header("Case text", "medium")
        clicked = records(table, columns, f"differences-{row.column.key}-{kind}-{page}", tallest=430)
        turn_pages(page, total)
    if clicked is not None:
        url.put(case=rows["case_id"].iloc[clicked])
    ids = rows["case_id"].tolist()
    asked = url.param("case")
    case_id = asked if asked is not None and asked in ids else str(ids[0])
    with right:
        show_case(case_id, row, rows.iloc[ids.index(case_id)], found, run, other)


def show_labels(row: Resampled, found: Comparison, run: str, other: str, tag: str | None, correction: str) -> None:
    """Draw one metric of the whole data set, label by label."""
    st.text(f"{row.words}: {model_comparison.facts(row, correction)}")
    pair = (run, found.model_a, found.model_b, other)
    labels = run_reads.label_comparison(*pair, tag, row.column.key, correction)
    if not labels:
        st.info("This metric has no values by label. Go back to all metrics.")
        return
    shown = sorted(labels, key=lambda entry: -abs(entry.difference))
    st.caption("Largest difference first; p is adjusted over the labels.")
    blocks.draw_table(is_it_better.resampled_table(shown, correction, by_label=True), run, "compare")


def turn_pages(page: int, total: int) -> None:
    first, last = PAGE * (page - 1) + 1, min(total, PAGE * page)
    with st.container(horizontal=True, vertical_alignment="center"):
        of = format.plural(total, "case")
        st.text(f"{format.count(first)}–{format.count(last)} of {of}, largest difference first", width="stretch")
        if total > PAGE:
            if st.button("", icon=":material/chevron_left:", disabled=page <= 1, key="back", help="Previous cases"):
                url.put(page=page - 1 if page > 2 else None)
                st.rerun()
            if st.button("", icon=":material/chevron_right:", disabled=last >= total, key="forth", help="Next cases"):
                url.put(page=page + 1)
                st.rerun()


def show_case(case_id: str, row: Difference, values: pd.Series, found: Comparison, run: str, other: str) -> None:
    """Draw one case: the question, the answers of A and B, and a link to the whole case."""
    pair = ((run, found.model_a, "A", values["a"]), (other, found.model_b, "B", values["b"]))
    around = {"case": case_id, "evaluator": row.column.evaluator, "metric": row.column.metric}
    baseline = case_choice.MODEL + found.model_a if run == other else case_choice.RUN + run
    is_twin = run == other or found.model_a == found.model_b or len(workspace_runs.run_facts(run).models) == 1
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(case_id, width="stretch")
        if is_twin:
            if st.button("Open this case", type="primary", icon=":material/arrow_forward:"):
                url.go("case", run=other, model=found.model_b, baseline=baseline, **around)
        else:
            for of, model, letter, _ in pair:
                if st.button(f"Open in the run of {letter}", key=f"open-{letter}"):
                    url.go("case", run=of, model=model, **around)
    views = [view for of, *_ in pair if (view := case_views.example(of, case_id)) is not None]
    if len(views) < len(pair):
        return
    draw_question(views[0].case)
    answers = [first_answer(view, model) for view, (_, model, *_) in zip(views, pair, strict=True)]
    titles = [f"{letter} · {format.shorten(model, 30)} · {format.number(value)}" for _, model, letter, value in pair]
    if all(answer is None for answer, _ in answers):
        st.caption("There are no answers as text: the case itself shows what was predicted.")
        return
    texts = [answer or "" for answer, _ in answers]
    parts: Sequence[Sequence[Part]] = ()
    written = all(answer and view.predictions.empty for (answer, _), view in zip(answers, views, strict=True))
    if written and controls.choice("Answers", {"words": "Word by word", "written": "As written"}, "view") == "words":
        both = compare_texts(*texts)
        st.text(both.sentence)
        parts = both.first, both.second
    for number, place in enumerate(st.columns(2)):
        repeats = answers[number][1]
        title = titles[number] + (f" (first of {repeats} repeats)" if repeats > 1 else "")
        with place:
            if parts:
                text_case.draw_parts(title, parts[number], f"twin-{number}", 2 * ANSWER_HEIGHT)
            else:
                text_case.draw_text(title, texts[number], ANSWER_HEIGHT, 4, "no answer")


def draw_question(case: Mapping[str, Any]) -> None:
    expected = list(case["expected_answers"] or []) or [case["label"]] * bool(case["label"])
    earlier, asked = case_texts.question_parts(case)
    for title, text in (asked, ("Expected", " | ".join(expected))):
        if text:
            text_case.draw_text(title, text, 110, 2)
    text_case.draw_earlier(earlier)


def first_answer(view: case_views.CaseView, model: str) -> tuple[str | None, int]:
    """Return a model's first answer (of a classification the top labels), and how many times it answered."""
    own = [output for output in view.outputs if output["model"] == model]
    if not own:
        return None, 0
    predicted = view.predictions
    if own[0]["answer"] is None and len(predicted) and "score" in predicted and view.image is None:
        here = predicted[(predicted["model"] == model) & (predicted["run"] == own[0]["run"])]
        top = here.sort_values("score", ascending=False, kind="stable").head(3)
        return "\n".join(f"{r.label}  {format.number(r.score)}" for r in top.itertuples()) or None, len(own)
    return own[0]["answer"], len(own)


run = frame("compare", "Is B really better than A?")
twins = boards.same_suite(run)
whole = run_reads.leaderboard(run)
if len(whole.models) < 2 and len(twins) < 2:
    empty(
        "There is only one model",
        "Compare takes two models of one run, or one model in two runs of the same suite. Evaluate another model, or "
        "the same one again on this suite.",
        "Evaluate another model",
    )
    st.stop()
model_a, model_b, other = choose_pair(run, whole, twins)
titles = {column.evaluator: column.evaluator_title for column in whole.columns}
counts = Counter(column.evaluator for column in whole.columns)
minor = sum(column.minor for column in whole.columns)
chosen = filters.many("Evaluators", {name: f"{title} ({counts[name]})" for name, title in titles.items()}, "evaluator")
tag = filters.one("Tag", whole.tags, "tag")
show_minor = bool(minor) and filters.toggle(f"More metrics ({minor})", "minor")
correction = filters.pick("Correction for many tests", is_it_better.CORRECTIONS, "correction")
anytime = filters.toggle("Cases still arrive", "anytime", replacement.ANYTIME)
filters.reset(["evaluator", "tag", "minor", "correction", "anytime"])
if run == other and model_a == model_b:
    st.info("A and B are the same model of the same run. Choose another one in the sidebar.")
    st.stop()

focus = url.param("key")
columns = board_drawing.select_columns(whole.columns, chosen, show_minor)
margins = replacement.margins(whole.columns)
keys = [column.key for column in whole.columns if column in columns or column.key in margins]
with st.spinner("Comparing: metrics of the whole data set are computed again on resamples of its cases"):
    found = run_reads.comparison(run, model_a, model_b, other, tag, tuple(keys), correction, anytime)
within = run_reads.shares_within(run, model_a, model_b, other, tag, tuple(margins.items())) if margins else {}
decisions = decisions_by_margins(found, margins, within)
name_a, name_b = names(found, twins, run, other)
paired = next((row for row in found.rows if row.column.key == focus), None)
resampled = next((row for row in found.resampled if row.column.key == focus), None)
row = paired or resampled
with st.container(gap="xsmall"):
    if row is None:
        st.subheader(
            replacement_answer(decisions) or is_it_better.answer(found, *is_it_better.names(found)), anchor=False
        )
    else:
        title, help = is_it_better.metric_label(row.column, 80), model_comparison.metric_help(row.column)
        st.subheader(literal(title), anchor=False, help=help)
    st.text(f"A  {name_a}    B  {name_b}")
    for made in decisions:
        if made.row.column.key == focus:
            st.text(made.sentence())
    if run == other and row is None:
        st.caption(f"All models: {literal(run_reads.headline(run, tag).sentence)}")
with st.container(horizontal=True):
    asked = columns if row is None else [row.column]
    replacement.draw_margins(asked, margins)
    st.button("Swap", icon=":material/swap_horiz:", on_click=swap, args=(run, other), help="Make A of B and B of A")
    if row is not None:
        st.button("All metrics", icon=":material/arrow_back:", on_click=see_metric, args=(None,))
    elif losses := [entry for entry in found.rows if entry.losses and entry.better is not None]:
        worst = next((entry for entry in losses if entry.column.primary), losses[0])
        label = f"See where B does worse ({format.count(worst.losses)})"
        st.button(label, type="primary", icon=":material/arrow_forward:", on_click=see_metric, args=(worst.column.key,))
    elif st.button("See the cases", type="primary", icon=":material/arrow_forward:"):
        url.go("cases", run=run, model=model_b, tag=tag)
if resampled is not None:
    show_labels(resampled, found, run, other, tag, correction)
elif paired is not None:
    show_metric(paired, found, run, other, tag, correction)
else:
    if found.rows or found.resampled:
        st.caption(is_it_better.method(found))
    show_overview(found, decisions)
    if run == other and (labelled := agreements.corrected_pair(run, model_a, model_b, tag)):
        st.text("Corrected by people's labels", help=can_the_judge_be_trusted.CORRECTED)
        blocks.draw_table(can_the_judge_be_trusted.corrected_pair_table(labelled), run, "compare")
    if decisions and st.button("Put the answer into a report", icon=":material/picture_as_pdf:"):
        of_a = run if run != other else None
        allowed = url.params(replacement.NAME)
        url.go("report", run=other, a=model_a, b=model_b, before=of_a, tag=tag, margin=allowed, anytime=anytime)
for line in dict.fromkeys(judge_calls.run_line(judge_settings.judge_of(each)) for each in (run, other)):
    if line:
        st.text(line)
ranked = [of_ranks(run_reads.leaderboard(run, tag=tag), tag)] if tag and found.is_of_family else []
about_run.draw_tests(run, *of_comparison(found, tag), *ranked)
