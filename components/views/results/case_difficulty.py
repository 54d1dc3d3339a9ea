"""Which cases tell models apart, whose labels are suspect, and the fewest cases that keep the ranking."""

from functools import partial
from typing import Any

import streamlit as st

from components.charts.item_map import item_figure
from components.data import case_difficulty, visitors, workspace_runs
from components.views.curves import curve_parts
from components.widgets import controls, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.literal import literal
from components.widgets.tables import draw_columns, header, numeric, whole
from metrics.analysis import CaseItem, CaseItems, Column
from metrics.presentation import case_words
from metrics.presentation.format import MISSING, aligned, count, interval, p_value, plural
from metrics.presentation.phrases import metric_title

MOST_ROWS, MOST_POINTS = 1_000, 3_000
MARKS = {"suspect": "✗ suspect", "unusual": "◇ unusual", "all wrong": "△ all wrong", "": ""}
VERDICT = (
    "✗ suspect: strong models are wrong and weak ones right, significantly (5 % after Benjamini and Hochberg's "
    "correction over the cases). ◇ unusual: p ≤ .01, which one clean case in 100 has too. △: no model is right, so "
    "that its label cannot be told from a hard case."
)
DIFFICULTY = (
    "the ability with an even chance of being right, in standard deviations of the models around the average model; a "
    "two-parameter logistic model (IRT) with weak priors"
)
DISCRIMINATION = "how steeply the chance of being right rises with ability: 1 is usual, near 0 tells nobody apart"
CORRELATION = (
    "item–rest correlation: of being right on this case with the share right on all others; below 0 the weaker models "
    "do better"
)
P = "probability of a pattern as reversed as this one in a case without a fault, given how many models are right"
TAU = "Kendall's τ with the ranking by all cases, on pairs of models that did not choose the cases; 1 is the same order"
KEPT = "pairs of models in the same order as by all cases, a tie counting half, of those that differ by all cases"
RANDOM = "Kendall's τ of as many cases drawn at random, mean of 50 draws"


def draw_case_difficulty(run: str, column: Column, tag: str | None) -> None:
    """Draw the cases of one metric by difficulty and discrimination, suspects first, and the shortest suite."""
    found = case_difficulty.case_items(run, column.evaluator, column.metric, tag)
    if found is None:
        st.info("Nothing to show: this metric has values of fewer than two models, or there are too many answers.")
        return
    st.text(case_words.needs(found) or case_words.suspects(found))
    if found.fitted:
        left, right = st.columns(2)  # the table has many columns
        with left:
            figure = item_figure(found.rows[:MOST_POINTS], is_dark())
            point = pick(figure, "form-items", f"Difficulty and discrimination of {plural(len(found.rows), 'case')}")
            st.caption(
                "A point is a case: ✗ suspect label, ◇ unusual, △ no model right. High: tells models apart. "
                f"{_right(found, column)} Click a point to open its case."
            )
    else:
        right, point = st.container(), None
        st.caption(f"What the answers say without a model of ability. {_right(found, column)}")
    with right:
        row = _draw_table(found, column)
        every = partial(case_difficulty.items_csv, run, column.evaluator, column.metric, tag)
        holds = "A row a case, with its numbers, intervals and verdict, as CSV."
        controls.download("Download all cases", every, "case-difficulty.csv", help=holds)
    case = point[0] if point else row.case_id if row else None
    if case is not None:
        about = {"evaluator": column.evaluator, "metric": column.metric, "model": found.models[0], "tag": tag}
        url.go("case", run=run, case=case, **about)
    if found.fitted:
        _draw_short(run, column, tag)


def _right(found: CaseItems, column: Column) -> str:
    """Return what counts as a right answer, in a sentence."""
    title = literal(metric_title(column, arrow=False))
    if found.threshold is None:
        return f"Right: {title} is {'0' if column.direction == 'lower' else '1'}."
    side = "at most" if column.direction == "lower" else "at least"
    return f"Right: {title} is {side} {found.threshold:g}, its threshold."


def _draw_table(found: CaseItems, column: Column) -> CaseItem | None:
    """Draw the cases; return the one just clicked."""
    rows = found.rows[:MOST_ROWS]
    about = [interval(row.difficulty_low, row.difficulty_high) or MISSING for row in rows]
    steep = [interval(row.discrimination_low, row.discrimination_high) or MISSING for row in rows]
    columns: dict[str, Any] = {
        "verdict": (header("Label", 84, VERDICT), [MARKS[row.verdict] for row in rows]),
        "case": (header("Case", 100), [row.case_id for row in rows]),
        "p": (numeric("p", 50, P), [MISSING if row.p is None else p_value(row.p) for row in rows]),
        "right": (numeric("Right", 50, "share of the models that are right"), [f"{row.right:.0%}" for row in rows]),
        "discrimination": (numeric("Discrim.", 66, DISCRIMINATION), aligned([row.discrimination for row in rows])),
        "of_discrimination": (numeric("95 %", 90, "95 % interval of the discrimination"), steep),
        "difficulty": (numeric("Difficulty", 70, DIFFICULTY), aligned([row.difficulty for row in rows])),
        "of_difficulty": (numeric("95 %", 106, "95 % interval of the difficulty"), about),
        "correlation": (numeric("r", 56, CORRELATION), aligned([row.correlation for row in rows])),
        "models": (whole("n", 36, "models that answered it"), [row.models for row in rows]),
    }
    if not found.fitted:
        columns = {name: columns[name] for name in ("verdict", "case", "right", "models", "correlation")}
    clicked = draw_columns(columns, f"items-{column.key}", tallest=400)
    if len(found.rows) > MOST_ROWS:
        st.caption(f"The first {count(MOST_ROWS)} of {count(len(found.rows))}; the download has all.")
    return None if clicked is None else rows[clicked]


def _draw_short(run: str, column: Column, tag: str | None) -> None:
    """Draw how well fewer cases keep the ranking, and the ways to take them along."""
    found = case_difficulty.short_suites(run, column.evaluator, column.metric, tag)
    if found is None or not found.sizes:
        return
    st.subheader("How few cases keep the ranking?", anchor=False)
    st.text(case_words.shortest(found))
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        columns: dict[str, Any] = {
            "cases": (header("Cases", 70), [size.cases for size in found.sizes]),
            "tau": (numeric("τ", 70, TAU), aligned([size.tau for size in found.sizes])),
            "kept": (numeric("Pairs kept", 100, KEPT), [f"{size.kept:.0f} of {size.pairs}" for size in found.sizes]),
            "random": (numeric("τ at random", 100, RANDOM), aligned([size.random for size in found.sizes])),
        }
        draw_columns(columns, f"short-{column.key}", tallest=400)
    with right:
        sizes = [size.cases for size in found.sizes]
        usual = found.smallest.cases if found.smallest else sizes[-1]
        asked = int(url.number("few", usual))
        few = asked if asked in sizes else usual
        st.selectbox(
            "Cases of the short suite", sizes, controls.place(sizes, controls.agreed("items-few", few)),
            key="items-few", width=220, on_change=_write, args=(usual,),
            help="Chosen by all models: one after the other the case that makes the abilities most certain.",
        )  # fmt: skip
        st.caption("Its mean ranks models; it is not the mean over all cases.")
        short = partial(case_difficulty.short_suite_csv, run, column.evaluator, column.metric, tag, few)
        about = "Its cases as CSV; of images their case ids."
        controls.download("Download the short suite", short, f"short-suite-{few}.csv", help=about)
        if visitors.may("editor"):
            _draw_saving(run, column, tag, few)


def _draw_saving(run: str, column: Column, tag: str | None, few: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usual = f"{workspace_runs.run_facts(run).suite['name']}, {few} cases"
        name = st.text_input("As a new suite", usual, key=f"short-name-{few}").strip()
        if st.button("Save the suite", disabled=not name, icon=":material/dataset:"):
            suite, message = case_difficulty.save_short_suite(run, name, column.evaluator, column.metric, tag, few)
            st.text(message)
            url.link("Evaluate it", "evaluate", icon=":material/play_circle:", **{"from": "stored", "suite": suite})


def _write(usual: int) -> None:
    if not controls.is_gone("items-few"):
        few = st.session_state["items-few"]
        url.put(few=None if few == usual else few)
