from collections import Counter

import streamlit as st

from components import data
from components.charts.figure_parts import selected
from components.viewers import heatmap, text_case
from components.views.judge import judge_calls
from components.views.results import model_comparison
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame, is_dark
from components.widgets.tables import records
from metrics.presentation import format, phrases

PAGE = 100
CHART = {"displayModeBar": False}
ANSWER_HEIGHT = 170  # pixels of an answer before it scrolls


def choose_pair(run: str, board: dict, twins: dict[str, dict]) -> tuple[str, str, str]:
    """Return the models A and B and the run of B: as the address says, else the two that lead the leaderboard."""
    asked = url.param("other")
    other = asked if asked in twins else run
    ordered = data.headline(run)[1]
    of_b = twins[other]["models"]
    model_b = next((model for model in (url.param("b"), *ordered, *of_b) if model in of_b), None)
    # another run of the same model is the likely question; of one run the best that is not B
    rest = ordered if other == run else [str(model_b), *ordered]
    likely = next((model for model in rest if model in ordered and (other != run or model != model_b)), ordered[0])
    model_a = url.param("a") if url.param("a") in ordered else likely
    url.put(a=model_a, b=model_b)
    filters.one("A, the baseline", {name: name for name in board["models"]}, "a", every=None)
    filters.one("B, the candidate", {name: name for name in of_b}, "b", every=None)
    if len(twins) > 1:
        filters.one("Run of B", {name: run_text(entry) for name, entry in twins.items()}, "other", every=None)
    return str(model_a), str(model_b), other


def swap(run: str, other: str) -> None:
    url.put(a=url.param("b"), b=url.param("a"), run=other, other=run if other != run else None)


def names(found: dict, twins: dict[str, dict], run: str, other: str) -> tuple[str, str]:
    """Return the models as they are shown, with their run where there are two."""
    a, b = (format.shorten(found[model], 44) for model in ("model_a", "model_b"))
    if run == other:
        return a, b
    return tuple(f"{name} ({run_text(twins[of])})" for name, of in ((a, run), (b, other)))


def run_text(run: dict) -> str:
    return f"{format.shorten(run['name'], 24)}, {format.moment(run['created'])}"


def see_metric(key: str | None) -> None:
    url.put(key=key, kind=None, case=None, page=None)


def pick_in_forest() -> None:
    point = selected(st.session_state["forest"])
    if point:
        see_metric(point[0])


def show_overview(found: dict, correction: str) -> None:
    """The forest, the table, and what cannot be paired."""
    tested = found["rows"] + found["resampled"]
    if any(model_comparison.scaled(row) for row in tested):
        st.plotly_chart(
            model_comparison.forest(tested, is_dark()), key="forest", config=CHART, on_select=pick_in_forest,
            selection_mode="points", alt="Differences B − A of each metric with 95 % intervals around zero",
        )  # fmt: skip
        st.caption("◆ significant after the correction, ○ not. Click a point or a row to see what is behind it.")
    if found["rows"]:
        rows = model_comparison.table(found["rows"])
        columns = model_comparison.table_columns(correction)
        if not rows["left_out"].any():
            del columns["left_out"]
        clicked = records(rows, columns, "metrics", tallest=36 + 35 * 14)
        if clicked is not None:
            see_metric(found["rows"][clicked]["key"])
            st.rerun()
    if found["resampled"]:
        columns = model_comparison.resampled_columns(correction)
        clicked = records(
            model_comparison.resampled_table(found["resampled"]), columns, "resampled", tallest=36 + 35 * 14
        )
        if clicked is not None:
            see_metric(found["resampled"][clicked]["key"])
            st.rerun()
    for note in found["notes"]:
        st.text(note)
    if found["unpaired"]:
        st.text(
            "Not tested: these metrics have neither a value per case nor resamples to pair, so each number has its own "
            "interval."
        )
        st.dataframe(
            model_comparison.unpaired_table(found["unpaired"]),
            hide_index=True,
            column_config=model_comparison.UNPAIRED_COLUMNS,
        )


def show_metric(row: dict, found: dict, run: str, other: str, tag: str | None, correction: str) -> None:
    """One metric: where B loses and where it wins, and what both answered."""
    st.text(f"{row['words']}: {model_comparison.facts(row, correction)}")
    titles = model_comparison.PLAIN_KINDS if row["direction"] == "none" else model_comparison.KINDS
    kind = controls.choice(
        "Cases", {name: f"{title} ({format.count(row[name])})" for name, title in titles.items()}, "kind"
    )
    page = int(url.number("page", 1, low=1))
    rows, total = data.differences(
        run, found["model_a"], found["model_b"], other, row["evaluator"], row["metric"], kind=kind, tag=tag,
        limit=PAGE, offset=PAGE * (page - 1),
    )  # fmt: skip
    if rows.empty:
        st.info(f"No case is among the {titles[kind].lower()}. Look at the others.")
        return
    left, right = st.columns([9, 11], gap="medium")
    with left:
        listed = rows.assign(
            a=format.aligned(rows["a"].tolist()), b=format.aligned(rows["b"].tolist()),
            difference=[phrases.signed(value) for value in rows["difference"]],
        )  # fmt: skip
        columns = {"case_id": st.column_config.Column("Case", width=110)}
        columns |= {
            name: st.column_config.Column(title, alignment="right", width=62)
            for name, title in (("a", "A"), ("b", "B"), ("difference", "B − A"))
        }
        columns["preview"] = st.column_config.Column("Case text", width="medium")
        clicked = records(listed, columns, f"differences-{row['key']}-{kind}-{page}", tallest=430)
        turn_pages(page, total)
    if clicked is not None:
        url.put(case=rows["case_id"].iloc[clicked])
    ids = rows["case_id"].tolist()
    case_id = url.param("case") if url.param("case") in ids else ids[0]
    with right:
        show_case(case_id, row, rows.iloc[ids.index(case_id)], found, run, other)


def show_labels(row: dict, found: dict, run: str, other: str, tag: str | None, correction: str) -> None:
    """One metric of the whole data set, label by label."""
    st.text(f"{row['words']}: {model_comparison.facts(row, correction)}")
    pair = (run, found["model_a"], found["model_b"], other)
    labels = data.label_comparison(*pair, tag, row["key"], correction)
    if not labels:
        st.info("This metric has no values by label.")
        return
    shown = sorted(labels, key=lambda entry: -abs(entry["difference"]))
    st.caption("The largest difference first; p is corrected over the labels.")
    columns = model_comparison.resampled_columns(correction, "Label")
    records(model_comparison.resampled_table(shown), columns, f"labels-{row['key']}", tallest=520)


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


def show_case(case_id: str, row: dict, values: dict, found: dict, run: str, other: str) -> None:
    """One case: what was asked, what A and B answered, and the way to everything else about it."""
    pair = ((run, found["model_a"], "A", values["a"]), (other, found["model_b"], "B", values["b"]))
    around = {"case": case_id, "evaluator": row["evaluator"], "metric": row["metric"]}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(case_id, width="stretch")
        if run == other:
            if st.button("Open this case", type="primary", icon=":material/arrow_forward:"):
                url.go("example", run=run, compare=[found["model_a"], found["model_b"]], **around)
        else:
            for of, model, letter, _ in pair:
                if st.button(f"Open in the run of {letter}", key=f"open-{letter}"):
                    url.go("example", run=of, model=model, **around)
    views = [data.example(of, case_id) for of, *_ in pair]
    if views[0] is None or views[1] is None:
        return
    draw_question(views[0]["case"])
    answers = [first_answer(view, model) for view, (_, model, *_) in zip(views, pair, strict=True)]
    titles = [f"{letter} · {format.shorten(model, 30)} · {format.number(value)}" for _, model, letter, value in pair]
    if all(answer is None for answer, _ in answers):
        st.caption("There are no answers in words: the case itself shows what was predicted.")
        return
    written = all(answer and view["predictions"].empty for (answer, _), view in zip(answers, views, strict=True))
    forms = {"written": "As written", "words": "Word by word"}
    if written and controls.choice("Answers", forms, "view") == "words":
        text_case.draw_difference("From A (-) to B (+)", answers[0][0], answers[1][0], 2 * ANSWER_HEIGHT)
        return
    for place, title, (answer, repeats) in zip(st.columns(2), titles, answers, strict=True):
        with place:
            note = f" (first of {repeats} repeats)" if repeats > 1 else ""
            text_case.draw_text(title + note, answer, ANSWER_HEIGHT, 4, "no answer")


def draw_question(case: dict) -> None:
    question = case["question"] if case["question"] is not None else case["source_text"]
    expected = list(case["expected_answers"] or []) or [case["label"]] * bool(case["label"])
    for title, text in (("Question", question), ("Expected", " | ".join(expected))):
        if text:
            text_case.draw_text(title, text, 110, 2)


def first_answer(view: dict, model: str) -> tuple[str | None, int]:
    """Return what the model answered the first time, and how many times it was asked; for a class the label and score."""
    own = [output for output in view["outputs"] if output["model"] == model]
    if not own:
        return None, 0
    predicted = view["predictions"]
    if own[0]["answer"] is None and len(predicted) and "score" in predicted and view["image"] is None:
        here = predicted[(predicted["model"] == model) & (predicted["run"] == own[0]["run"])]
        top = here.sort_values("score", ascending=False, kind="stable").head(3)
        return "\n".join(f"{r.label}  {format.number(r.score)}" for r in top.itertuples()) or None, len(own)
    return own[0]["answer"], len(own)


run = frame("Compare", "Is B really better than A?")
twins = data.same_suite(run)
whole = data.leaderboard(run)
if len(whole["models"]) < 2 and len(twins) < 2:
    empty(
        "There is only one model",
        "Compare takes two models of one run, or one model in two runs of the same suite. Evaluate another model, or "
        "the same one again on this suite.",
        "Evaluate another model",
    )  # fmt: skip
    st.stop()
model_a, model_b, other = choose_pair(run, whole, twins)
titles = {column["evaluator"]: column["evaluator_title"] for column in whole["columns"]}
counts = Counter(column["evaluator"] for column in whole["columns"])
minor = sum(column["minor"] for column in whole["columns"])
chosen = filters.many("Evaluators", {name: f"{title} ({counts[name]})" for name, title in titles.items()}, "evaluator")
tag = filters.one("Tag", {name: name for name in whole["tags"]}, "tag") if whole["tags"] else None
show_minor = bool(minor) and filters.toggle(f"Minor metrics ({minor})", "minor")
correction = filters.one("Correction for many tests", model_comparison.CORRECTIONS, "correction", every=None) or "holm"
filters.reset(["evaluator", "tag", "minor", "correction"])
if run == other and model_a == model_b:
    st.info("A and B are the same model of the same run. Choose another one in the sidebar.")
    st.stop()

focus = url.param("key")
columns = heatmap.select_columns(whole["columns"], chosen, show_minor)
keys = [column["key"] for column in columns]
with st.spinner("Comparing: metrics of the whole data set are computed again on resamples of its cases"):
    found = data.comparison(run, model_a, model_b, other, tag, tuple(keys), correction)
name_a, name_b = names(found, twins, run, other)
row = next((row for row in found["rows"] + found["resampled"] if row["key"] == focus), None)
with st.container(horizontal=True, vertical_alignment="center"):
    with st.container(gap="xsmall", width="stretch"):
        if row is None:
            st.subheader(model_comparison.answer(found), anchor=False)
        else:
            st.subheader(model_comparison.metric_name(row, 80), anchor=False, help=model_comparison.metric_help(row))
        st.text(f"A  {name_a}    B  {name_b}")
        if run == other and row is None:
            st.caption(data.headline(run, tag)[0])
        for line in dict.fromkeys(judge_calls.run_line(data.judge_of(each)) for each in (run, other)):
            if line:
                st.text(line)
    st.button("Swap", icon=":material/swap_horiz:", on_click=swap, args=(run, other), help="Make A of B and B of A")
    if row is not None:
        st.button("All metrics", icon=":material/arrow_back:", on_click=see_metric, args=(None,))
    elif losses := [entry for entry in found["rows"] if entry["losses"] and entry["better"] is not None]:
        worst = next((entry for entry in losses if entry["primary"]), losses[0])
        label = f"See where B does worse ({format.count(worst['losses'])})"
        st.button(label, type="primary", icon=":material/arrow_forward:", on_click=see_metric, args=(worst["key"],))
    elif st.button("See the cases", type="primary", icon=":material/arrow_forward:"):
        url.go("cases", run=run, model=model_b, tag=tag)
if row in found["resampled"]:
    show_labels(row, found, run, other, tag, correction)
elif row is not None:
    show_metric(row, found, run, other, tag, correction)
else:
    if found["rows"] or found["resampled"]:
        st.caption(model_comparison.method(found, correction))
    show_overview(found, correction)
