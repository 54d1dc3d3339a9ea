"""The models ranked by matches: what each scores against the average model, and who beats whom how often."""

from collections.abc import Mapping

import streamlit as st

from components.charts import interval_bars
from components.data import run_reads
from components.viewers import blocks
from components.views.curves import curve_parts
from components.views.results import about_run
from components.widgets import controls, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from metrics.analysis import Column, HeadToHead
from metrics.analysis.corrected_tests import of_matches
from metrics.presentation.blocks import Head, Link, table_of
from metrics.presentation.format import count, plural, short_names
from metrics.presentation.phrases import metric_title
from metrics.presentation.questions.whose_answers_are_preferred import standings_table
from metrics.presentation.ranking_words import matches_sentence

PAIR = "the stronger model first; a click compares them, case by case"
MOST_PAIRS, MOST_BARS = 200, 40  # rows of the table, models in the chart
TIE = "Scores of one case that differ by no more than this are a tie, in the metric's own unit. 0: only equal scores."


def draw_head_to_head(run: str, column: Column, tag: str | None, colours: Mapping[str, str]) -> None:
    """Draw the ranking by the matches of one metric and the table of pairs; a click on a pair compares it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tie = controls.number("Tie up to a difference of", "tie", 0.0, 0.0, help=TIE, width=220)
        found = run_reads.head_to_head(run, column.evaluator, column.metric, tag, tie)
        if found is not None:
            st.text(matches_sentence(found, metric_title(column, arrow=False)))
    if found is None:
        st.info("There is nothing to rank: too few models or cases with values of this metric, or too many matches.")
        return
    about_run.remember_tests(run, of_matches(found, metric_title(column, arrow=False)))
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        model = draw_chart(found, colours, "Click a bar to see the model's cases.")
    if model:
        about = {"evaluator": column.evaluator, "metric": column.metric, "model": model}
        url.go("cases", run=run, tag=tag, **about)
    with right:
        blocks.draw_table(standings_table(found, "matches"), run, "leaderboard", 36 + 35 * 8)
        _draw_pairs(run, found, column, tag)


def draw_chart(found: HeadToHead, colours: Mapping[str, str], click: str = "") -> str | None:
    """Draw each model's score against the average model, if comparable; return the model whose bar was clicked."""
    if not found.is_comparable:
        return None
    numbers = interval_bars.model_numbers(
        (one.model, one.model, one.wins + one.ties + one.losses, one.score, one.low, one.high)
        for one in found.standings[:MOST_BARS]
    )
    figure = interval_bars.ranked_figure(numbers, colours, "", is_dark(), (0.0, 1.0), 0.5)
    point = pick(figure, "form-matches", "Score of each model against the average model")
    st.caption(
        "Score against the average model, a tie counting half. Whiskers: 95 %; dotted: as strong as the average. "
        f"{plural(found.cases, 'case')} with a match. {click}".rstrip()
    )
    return point[0] if point else None


def _draw_pairs(run: str, found: HeadToHead, column: Column, tag: str | None) -> None:
    models = [one.model for one in found.standings]
    short = short_names(models, 14)
    pairs = [(one, other) for place, one in enumerate(models) for other in models[place + 1 :]][:MOST_PAIRS]
    table = table_of(
        f"pairs-{column.key}",
        (Head("Pair", False, PAIR, 190), [f"{short[one]} – {short[other]}" for one, other in pairs]),
        (Head("Wins / losses / ties", True, "of the first", 140), [_outcomes(*found.outcomes[pair]) for pair in pairs]),
        links=[
            Link("compare", "Compare", {"a": weaker, "b": stronger, "key": column.key, "tag": tag})
            for stronger, weaker in pairs
        ],
    )
    blocks.draw_table(table, run, "leaderboard", 36 + 35 * 6)


def _outcomes(wins: int, ties: int, losses: int) -> str:
    return " / ".join(map(count, (wins, losses, ties)))
