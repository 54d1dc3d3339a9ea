"""The models ranked by matches of a metric, or by preferences of people and judge: standings, pairs, bias, cases."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from components.charts import interval_bars
from components.data import preferences, run_reads, visitors
from components.viewers import blocks
from components.views.curves import curve_parts
from components.views.results import about_run
from components.widgets import controls, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.tables import ROW, cell_of, draw_columns, header, numeric
from metrics.analysis import Column, HeadToHead
from metrics.analysis.corrected_tests import of_matches
from metrics.analysis.preferences.matches import Source
from metrics.presentation import ranking_words
from metrics.presentation.blocks import Head, Link, table_of
from metrics.presentation.format import MISSING, count, plural, short_names, shorten
from metrics.presentation.palette import goodness_step, ramp, text_colour
from metrics.presentation.phrases import metric_title
from metrics.presentation.questions.whose_answers_are_preferred import share_text, share_won, standings_table

SCORES = "scores"
TITLES: dict[str, str] = {SCORES: "Scores", "people": "People", "judge": "Judge", "both": "People and judge"}
MOST_MODELS = 30  # of the matrix
CELL = (
    "share of matches that the model of the row wins against that of the column, a tie counting half, and their "
    "number; a click lists the cases"
)
PREFERRED = {1.0: "✓", 0.5: "=", 0.0: "✗", None: MISSING}
SIDES = "✓ the first model is preferred, = a tie, ✗ the second"
PAIR = "the stronger model first; a click compares them, case by case"
MOST_PAIRS, MOST_BARS = 200, 40  # rows of the table, models in the chart
TIE = "Scores of one case that differ by no more than this are a tie, in the metric's own unit. 0: only equal scores."


def choose_source(run: str) -> Source | None:
    """Draw what to rank by where a run's data has preferences; None for scores."""
    given = {by for own in preferences.preference_criteria(run).values() for by in own}
    if not given:
        return None
    offered = [SCORES, *(by for by in ("people", "judge") if by in given), *(["both"] if len(given) > 1 else [])]
    asked = controls.choice("Ranked by", {name: TITLES[name] for name in offered}, "source", clears=["by", "pair"])
    return next((source for source in ranking_words.SOURCES if source == asked), None)


def draw_standings(run: str, source: Source, tag: str | None, colours: Mapping[str, str]) -> None:
    """Draw the ranking by a source's preferences, and the cases of the pair that the address names."""
    criterion = _choose_criterion(run, source)
    found = preferences.preferred_models(run, source, criterion, tag)
    st.text(ranking_words.standing_sentence(found, source, criterion))
    if found is None:
        st.info("There is nothing to rank: no two models have been compared in both orders, or by a person.")
        return
    about_run.remember_tests(run, of_matches(found, f"{ranking_words.SOURCES[source]} ({criterion})"))
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        draw_chart(found, colours)
    with right:
        blocks.draw_table(standings_table(found, "preferred"), run, "leaderboard", 36 + ROW * 8)
        if found.is_comparable:
            st.caption(ranking_words.left_sentence(preferences.more_matches(found)))
        if visitors.may("editor") and st.button("Compare more answers", icon=":material/swords:"):
            url.go("arena", run=run)
    _draw_matrix(found)
    if styled := ranking_words.style_sentence(preferences.style_control(run, source, criterion, tag)):
        st.text(styled)
    for by in ("people", "judge") if source == "both" else (source,):
        for bias in preferences.position_bias(run, by, criterion, tag):
            st.text(ranking_words.bias_sentence(bias))
    if told := ranking_words.agreed_sentence(preferences.judge_and_people(run, criterion, tag)):
        st.text(told)
    _draw_cases(run, found, source, criterion, tag)


def _choose_criterion(run: str, source: Source) -> str:
    offered = [name for name, own in preferences.preference_criteria(run).items() if source == "both" or source in own]
    if len(offered) == 1:
        return offered[0]
    asked = url.param("by")
    first = asked if asked in offered else offered[0]
    chosen = st.selectbox("Criterion", offered, offered.index(first), width=300, key=f"preferred-by-{source}")
    url.put(by=None if chosen == offered[0] else chosen)
    return chosen


def _draw_matrix(found: HeadToHead) -> None:
    models = [one.model for one in found.standings[:MOST_MODELS]]
    short = short_names(models, 18)
    places = {str(place): model for place, model in enumerate(models)}
    shares = [{name: share_won(found, row, model) for name, model in places.items()} for row in models]
    table = pd.DataFrame(
        {"model": short[row], **{name: share_text(own[name]) for name in places}}
        for row, own in zip(models, shares, strict=True)
    )
    styles = pd.DataFrame({"model": "", **{name: _style(own[name]) for name in places}} for own in shares)
    heads = {"model": header("Wins of", 130, "the model that wins or loses, the strongest first")}
    heads |= {str(place): numeric(f"against {short[model]}", None, CELL) for place, model in enumerate(models)}
    clicked = cell_of(table, heads, "win-matrix", 36 + ROW * 12, styles)
    if clicked is None or clicked[1] == "model":
        return
    pair = [models[clicked[0]], models[int(clicked[1])]]
    if pair[0] != pair[1] and url.params("pair") != pair:
        url.put(pair=pair)
        st.rerun()


def _style(share: tuple[float, int] | None) -> str:
    step = goodness_step(None if share is None else share[0])
    if step is None:
        return ""
    colour = ramp(is_dark())[step]
    return f"background-color: {colour}; color: {text_colour(colour)}"


def _draw_cases(run: str, found: HeadToHead, source: Source, criterion: str, tag: str | None) -> None:
    asked = url.params("pair")
    if len(asked) != 2 or tuple(asked) not in found.outcomes:
        st.caption("Click a cell of the matrix for the cases of two models.")
        return
    one, other = asked
    cases, total = preferences.preference_cases(run, one, other, source, criterion, tag)
    wins, ties, losses = found.outcomes[one, other]
    outcomes = f"{plural(wins, 'win')}, {count(losses)} losses, {count(ties)} ties"
    st.text(f"{one} against {other}: {outcomes}" + (f"; the first {count(len(cases))}" if len(cases) < total else ""))
    judge = header("Judge", 60, f"{SIDES}; ⇄ each order prefers another model, which is a tie")
    reason = header("Reason", 300, "the judge's first reason, or what people noted")
    columns = {
        "case": (header("Case", 90, "a click opens it"), [case.case_id for case in cases]),
        "question": (header("Question", 300), [shorten(case.question, 120) for case in cases]),
        "people": (header("People", 60, SIDES), [PREFERRED[case.people] for case in cases]),
        "votes": (numeric("Votes", 56, "of people"), [count(case.votes) for case in cases]),
        "judge": (judge, [PREFERRED[case.judge] + (" ⇄" if case.contradictory else "") for case in cases]),
        "note": (reason, [shorten(case.note, 200) for case in cases]),
    }
    if (clicked := draw_columns(columns, "preferred-cases", tallest=36 + ROW * 10)) is not None:
        url.go("case", run=run, case=cases[clicked].case_id, model=one)


def draw_head_to_head(run: str, column: Column, tag: str | None, colours: Mapping[str, str]) -> None:
    """Draw the ranking by the matches of one metric and the table of pairs; a click on a pair compares it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tie = controls.number("Tie up to a difference of", "tie", 0.0, 0.0, help=TIE, width=220)
        found = run_reads.head_to_head(run, column.evaluator, column.metric, tag, tie)
        if found is not None:
            st.text(ranking_words.matches_sentence(found, metric_title(column, arrow=False)))
    if found is None:
        st.info("There is nothing to rank: too few models or cases with values of this metric, or too many matches.")
        return
    about_run.remember_tests(run, of_matches(found, metric_title(column, arrow=False)))
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        model = draw_chart(found, colours, "Click a bar to see the model's cases.")
    if model:
        url.go("cases", run=run, tag=tag, evaluator=column.evaluator, metric=column.metric, model=model)
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
    found_of = (found.outcomes[pair] for pair in pairs)
    outcomes = [" / ".join(map(count, (wins, losses, ties))) for wins, ties, losses in found_of]
    about = {"key": column.key, "tag": tag}
    table = table_of(
        f"pairs-{column.key}",
        (Head("Pair", False, PAIR, 190), [f"{short[one]} – {short[other]}" for one, other in pairs]),
        (Head("Wins / losses / ties", True, "of the first", 140), outcomes),
        links=[Link("compare", "Compare", about | {"a": weaker, "b": stronger}) for stronger, weaker in pairs],
    )
    blocks.draw_table(table, run, "leaderboard", 36 + 35 * 6)
