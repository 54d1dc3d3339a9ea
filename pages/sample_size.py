from math import floor, log10

import pandas as pd
import streamlit as st

from components.charts.precision_lines import precision_figure
from components.widgets import controls, url
from components.widgets.chart import draw
from components.widgets.frame import frame, is_dark
from components.widgets.tables import numeric
from metrics.presentation import sample_sizes
from metrics.presentation.format import aligned, count
from metrics.presentation.sample_sizes import QUESTIONS, Costs, answer_lines, sizes

MIN_PRECISION = 0.001  # of a wanted precision, so that the cases stay below ten millions
WANTED = "How precise the number is to be: ± of its 95 % interval, or the smallest difference that should be detected."
PASSING = "The share of outputs that judge and people pass, taken as the same for both."
ANSWERS = {
    "answer": "Dollars of one answer of one model, with what the judge costs for it. 0: not counted.",
    "label": "Dollars of one label by a person. 0: not counted.",
}
BUDGET = "Dollars that may be spent. 0: no limit."
REPEATS = "How often each model answers each case."
NOISE = (
    "The share of the variance of single scores that lies between repeats of a case. A run with repeats tells it: "
    "Overview, More charts, Precision, Plan another suite."
)
GROUP = "How many cases belong together, such as questions about one document. 1: none do."
ICC = "How alike the scores in a group are, from 0 (not at all) to 1 (equal): the intraclass correlation."
WIDTH = "half of the 95 % interval that so many cases are expected to give"
DETECTED = "the difference that a test at 5 % detects in 80 % of evaluations: of two models, or from a limit"

frame("sample_size", "How many cases do I need?", needs_run=False)
chosen = controls.choice(
    "What is to be known", {name: one.title for name, one in QUESTIONS.items()}, "kind",
    clears=("expected", "passing", "wanted"),
)  # fmt: skip
kind, asked = next((name, one) for name, one in QUESTIONS.items() if name == chosen)
with st.container(horizontal=True):
    high = asked.high if asked.high is not None else 1e6
    expected = controls.number(asked.label, "expected", asked.usual, 0.01, high, 0.05, asked.help, width=230)
    passing = (
        controls.number("Share that passes", "passing", 0.7, 0.01, 0.99, 0.05, PASSING) if kind == "kappa" else 0.5
    )
    near = url.number("wanted", 0.05, MIN_PRECISION)
    wanted = controls.number(
        "Wanted precision ±", "wanted", 0.05, MIN_PRECISION, None, 10.0 ** floor(log10(near)), WANTED
    )
    paid = "label" if kind == "kappa" else "answer"
    answer = controls.number(f"Dollars per {paid}", "answer", 0.0, 0.0, None, 0.001, ANSWERS[paid])
    budget = controls.number("Budget in dollars", "budget", 0.0, 0.0, None, 10.0, BUDGET)
    repeats = 1
    if kind != "kappa":
        repeats = int(controls.number("Answers of each case", "repeats", 1.0, 1.0, 50.0, 1.0, REPEATS, "%.0f"))
    noise = controls.number("Noise between repeats", "noise", 0.3, 0.0, 1.0, 0.05, NOISE) if repeats > 1 else 0.0
    group = controls.number("Cases per group", "size", 1.0, 1.0, 1e4, 1.0, GROUP, "%.0f")
    icc = controls.number("Likeness in a group", "icc", 0.3, 0.0, 1.0, 0.05, ICC) if group > 1 else 0.0
aim = sample_sizes.aim(kind, expected, passing, sample_sizes.design_effect(group, icc, repeats, noise))
costs = Costs(answer, asked.models, repeats, budget or None)
for line in answer_lines(aim, wanted, costs):
    st.text(line)
shown = [n for n in sizes(aim, wanted, costs) if aim.detectable(n) < float("inf")]
widths, differences = [aim.half_width(n) for n in shown], [aim.detectable(n) for n in shown]
left, right = st.columns((3, 2))
with left:
    figure = precision_figure(shown, widths, differences, wanted, costs.affordable, is_dark())
    alt = "Half of the 95 % interval and the detectable difference by the number of cases"
    draw(figure, "sample-size", alt, "ignore")
    st.caption(
        "Detected: by a two-sided test at 5 %, in 80 % of evaluations. The cases are a random sample of what they "
        "stand for."
    )
with right:
    table = {
        "cases": [count(n) for n in shown], "width": aligned(widths), "difference": aligned(differences),
        "cost": [f"${costs.of(n):,.2f}" for n in shown],
    }  # fmt: skip
    columns = {
        "cases": numeric("Cases", 76, "in the suite; each model answers all of them"),
        "width": numeric("95 % ±", 80, WIDTH),
        "difference": numeric("Detected", 84, DETECTED),
        "cost": numeric("Costs", 80, "cases × models × answers of each × dollars per answer"),
    }
    st.dataframe(
        pd.DataFrame(table), hide_index=True, column_config=columns,
        column_order=[name for name in columns if name != "cost" or answer], height="content",
    )  # fmt: skip
with st.container(horizontal=True):
    if st.button("Make or sample a suite", type="primary", icon=":material/arrow_forward:"):
        url.go("suites")
    if st.button("See where a run's noise comes from"):
        url.go("leaderboard", form="noise")
