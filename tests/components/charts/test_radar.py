"""The radar: spokes from worst to best, gaps for no value, names as literal text."""

from dataclasses import replace

from components.charts import radar
from metrics.presentation.chart_data.metric_bars import radar_of
from tests.components.board_scenes import cell, column

COLUMNS = [
    column(f"{name}/{name}", direction, evaluator_title=title, description="What it means.")
    for name, title, direction in (
        ("rouge", "ROUGE", "higher"), ("looping", "Looping", "lower"), ("pii", "PII", "higher"),
    )
]  # fmt: skip
CELLS = {
    ("<b>a</b>", "rouge/rouge"): cell(0.8, low=0.7, high=0.9, n=40),
    ("<b>a</b>", "looping/looping"): replace(cell(0.1, n=40), goodness=0.9),
}


def test_a_line_is_closed_and_gaps_stay() -> None:
    (trace,) = radar.radar_figure(radar_of(COLUMNS, ["<b>a</b>"], CELLS), {"<b>a</b>": "#0f6b78"}).data
    assert list(trace.r) == [0.8, 0.9, None, 0.8]
    assert [name.replace("\N{NO-BREAK SPACE}", " ") for name in trace.theta] == [
        "ROUGE ↑", "Looping ↓", "PII ↑", "ROUGE ↑",
    ]  # fmt: skip
    assert trace.connectgaps is False
    assert [list(data) for data in trace.customdata][1] == ["<b>a</b>", "looping/looping"]


def test_the_hover_says_what_a_point_means() -> None:
    (trace,) = radar.radar_figure(radar_of(COLUMNS, ["<b>a</b>"], CELLS), {"<b>a</b>": "#0f6b78"}).data
    assert trace.hovertext[0] == (
        "<b>&lt;b&gt;a&lt;/b&gt;</b><br>ROUGE<br>0.800 (95 % 0.700–0.900), n 40<br>What it means.<br>"
        "range 0 … 1, higher is better<br>80 % of the way from worst to best<br>click: its cases"
    )
    assert "90 % of the way from worst to best" in trace.hovertext[1]


def test_models_differ_in_more_than_colour() -> None:
    names = [f"m{index}" for index in range(6)]
    traces = radar.radar_figure(radar_of(COLUMNS, names, {}), dict.fromkeys(names, "#0f6b78")).data
    assert len({trace.marker.symbol for trace in traces}) == 6
    assert len({trace.line.dash for trace in traces}) == 6


def test_a_metric_of_several_is_named_with_its_evaluator() -> None:
    several = replace(COLUMNS[1], title="longest", metric="longest")
    assert radar_of([several], [], {}).spokes == ("Looping: Longest\N{NO-BREAK SPACE}↓",)


def test_an_arrow_counts_when_a_name_is_broken_into_lines() -> None:
    assert radar.spoke("Answer relevance\N{NO-BREAK SPACE}↑") == "Answer<br>relevance\N{NO-BREAK SPACE}↑"
