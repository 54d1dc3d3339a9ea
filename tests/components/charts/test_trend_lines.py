"""A metric over runs: lines, intervals, marks, names."""

from dataclasses import replace
from typing import Any

import pytest

from components.charts.trend_lines import trend_figure
from metrics.analysis import Difference, Stop
from tests.components.board_scenes import cell, column

COLOURS = {"ann": "#0f6b78", "<u>ben</u>": "#c2571a"}
COLUMN = column("rouge/l", threshold=None)


def stop(run: str, model: str, value: float, significance: Any = None) -> Stop:
    change = None
    if significance:
        change = Difference(
            column=COLUMN,
            n=20,
            only_a=0,
            only_b=0,
            neither=0,
            clusters=20,
            a=value - 0.1,
            b=value,
            difference=0.1,
            test="sign_flips",
            wins=5,
            losses=2,
            ties=13,
            adjusted=0.01,
            significance=significance,
        )
    number = cell(value, low=value - 0.1, high=value + 0.05, n=20)
    before = "r0" if significance else None
    return Stop(run, f"<i>{run}</i>", "2026-03-01T12:00:00+00:00", model, number, before, change)


STOPS = [
    stop("r1", "ann", 0.5), stop("r1", "<u>ben</u>", 0.6), stop("r2", "ann", 0.7, "better"),
    stop("r3", "ann", 0.7, "open"), stop("r3", "<u>ben</u>", 0.65, "leaning"),
]  # fmt: skip


def test_a_line_a_model_with_its_intervals_and_where_a_click_leads() -> None:
    ann, ben = trend_figure(STOPS, COLUMN, COLOURS).data
    assert list(ann.y) == [0.5, 0.7, 0.7]
    assert [round(x) for x in ben.x] == [0, 2]
    assert ann.x[0] < 0 < ben.x[0], "the models stand beside each other"
    assert list(ann.error_y.arrayminus) == pytest.approx([0.1] * 3)
    assert list(ann.error_y.array) == pytest.approx([0.05] * 3)
    assert [list(point) for point in ben.customdata] == [["r1", "<u>ben</u>"], ["r3", "<u>ben</u>"]]


def test_only_a_change_beyond_chance_is_filled_and_the_chosen_point_is_larger() -> None:
    ann, ben = trend_figure(STOPS, COLUMN, COLOURS, chosen=("r3", "ann")).data
    assert list(ann.marker.symbol) == ["circle", "diamond", "circle"]
    assert set(ben.marker.symbol) == {"circle"}
    assert list(ann.marker.size) == [10, 10, 14]


def test_texts_are_drawn_literally_and_say_the_change() -> None:
    figure = trend_figure(STOPS, COLUMN, COLOURS)
    hover = figure.data[1].hovertext[1]
    assert "&lt;u&gt;ben&lt;/u&gt;" in hover
    assert (
        "0.650 (95 % 0.550–0.700) · n 20<br>since the run before: may be better (uncorrected)<br>+0.100 on 20 cases"
        in hover
    )
    assert "since" not in figure.data[0].hovertext[0]
    assert {note.text for note in figure.layout.annotations} == {"ann", "&lt;u&gt;ben&lt;/u&gt;"}
    assert figure.layout.xaxis.ticktext[0] == "&lt;i&gt;r1&lt;/i&gt;<br>1 Mar ’26<br>12:00"


@pytest.mark.parametrize(("threshold", "drawn"), [(0.6, True), (0.1, False), (None, False)])
def test_the_threshold_is_drawn_where_it_is_in_sight(threshold: float | None, drawn: bool) -> None:
    figure = trend_figure(STOPS, replace(COLUMN, threshold=threshold), COLOURS)
    assert ("threshold" in {note.text for note in figure.layout.annotations}) is drawn


def test_numbers_without_intervals_and_all_alike_have_an_axis() -> None:
    flat = [replace(stop(run, "ann", 0.0), cell=cell(0.0)) for run in ("r1", "r2")]
    endless = replace(COLUMN, low=float("-inf"), high=float("inf"))
    low, high = trend_figure(flat, endless, COLOURS).layout.yaxis.range
    assert low < 0 < high
