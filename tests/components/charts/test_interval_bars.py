"""Bars with intervals."""

import pandas as pd
import pytest

from components.charts import interval_bars

COLOURS = {"ann": "#0f6b78", "<b>ben</b>": "#c2571a"}
NAN = float("nan")
NUMBERS = pd.DataFrame(
    [
        ("cat", "ann", 0.5, 0.4, 0.7, 10, "c"),
        ("cat", "<b>ben</b>", 0.7, NAN, NAN, 10, "c"),
        ("dog", "ann", NAN, NAN, NAN, 0, "d"),
        ("dog", "<b>ben</b>", 0.2, 0.1, 0.3, 5, "d"),
    ],
    columns=["name", "series", "value", "low", "high", "n", "key"],
)


def test_whiskers_are_the_interval() -> None:
    figure = interval_bars.bars_figure(NUMBERS, COLOURS)
    first = next(trace for trace in figure.data if trace.type == "bar")
    assert first.error_x.array[0] == pytest.approx(0.2)
    assert first.error_x.arrayminus[0] == pytest.approx(0.1)
    assert [list(data) for data in first.customdata] == [["ann", "c"], ["ann", "d"]]


def test_the_first_group_says_which_bar_is_whose() -> None:
    figure = interval_bars.bars_figure(NUMBERS, COLOURS)
    texts = [text for trace in figure.data if trace.type == "scatter" for text in trace.text]
    assert texts == ["  0.500  <b>ann</b>", "  –", "  0.700  <b>&lt;b&gt;ben&lt;/b&gt;</b>", "  0.200"]


def test_a_gap_in_the_order_takes_a_place() -> None:
    figure = interval_bars.bars_figure(NUMBERS, COLOURS, order=["cat", "", "dog"])
    assert list(figure.layout.yaxis.ticktext) == ["cat", "", "dog"]


@pytest.mark.parametrize("groups", [1, 80])
def test_bars_keep_their_least_height(groups: int) -> None:
    frame = pd.concat([NUMBERS.head(2).assign(name=f"class {index}") for index in range(groups)])
    figure = interval_bars.bars_figure(frame, COLOURS)
    assert figure.layout.height >= interval_bars.HEAD + groups * (2 * interval_bars.THINNEST + interval_bars.GAP)
