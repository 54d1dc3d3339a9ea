"""Box plots, histograms and shares up to each value."""

from dataclasses import replace

import pytest

from components.charts import spread
from metrics.analysis import Distribution

HOSTILE = "<i>ben</i>"
QUANTILES = tuple(step / 100 for step in range(101))
OWN = Distribution("ann", 5, 0.5, QUANTILES, 0.1, 0.9, (2, 0, 3), 1, (("c7", 0.0),))
MODELS = [OWN, replace(OWN, model=HOSTILE, far=(), beyond=0)]
COLOURS = {"ann": "#0f6b78", HOSTILE: "#c2571a"}
EDGES = [0.0, 0.25, 0.5, 1.0]


def clickable(figure) -> list[list]:  # type: ignore[no-untyped-def, type-arg]
    return [list(data) for trace in figure.data if trace.customdata is not None for data in trace.customdata]


def test_boxes_say_all_five_numbers_and_lead_to_cases() -> None:
    figure = spread.box_figure(MODELS, COLOURS, "ROUGE", 0.75)
    assert clickable(figure) == [["ann", "c7"], ["ann"], [HOSTILE]]
    means = [trace for trace in figure.data if trace.marker.symbol == "diamond"]
    assert means[0].hovertext[0] == (
        "<b>ann</b><br>mean 0.500 (◆), n 5<br>median 0.500; half of the cases lie from 0.250 to 0.750 (box)<br>"
        "whiskers from 0.100 to 0.900: within 1.5 box lengths<br>1 case beyond the whiskers<br>click: its cases"
    )
    assert list(figure.layout.yaxis.ticktext) == ["ann", "&lt;i&gt;ben&lt;/i&gt;"]
    assert [shape.x0 for shape in figure.layout.shapes] == [0.75]


def test_models_with_a_long_start_in_common_have_different_names() -> None:
    models = [replace(OWN, model=f"acme-labs/llama-3-{size}b-instruct-chat") for size in (1, 8)]
    colours = dict.fromkeys([own.model for own in models], "#0f6b78")
    short = ["acme-labs/llama-3-1b-instruct-chat", "acme-labs/llama-3-8b-instruct-chat"]
    assert list(spread.box_figure(models, colours, "ROUGE").layout.yaxis.ticktext) == short
    assert [trace.name for trace in spread.ecdf_figure(models, colours, "ROUGE").data if trace.name] == short


def test_bars_carry_the_edges_of_their_bin() -> None:
    figure = spread.histogram_figure(MODELS, EDGES, COLOURS, "ROUGE")
    assert len(figure.data) == 2
    assert [list(data) for data in figure.data[0].customdata] == [
        ["ann", 0.0, 0.25], ["ann", 0.25, 0.5], ["ann", 0.5, None],
    ]  # fmt: skip
    assert list(figure.data[0].y) == [2, 0, 3]
    assert figure.data[0].hovertext[2] == "<b>ann</b><br>3 cases of 5 from 0.5 to 1<br>click: these cases"
    assert tuple(figure.layout.yaxis.range) == pytest.approx((0, 3.18))


def test_lines_run_through_the_quantiles() -> None:
    figure = spread.ecdf_figure(MODELS, COLOURS, "ROUGE")
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert list(lines[0].x)[50] == 0.5
    assert list(lines[0].y)[50] == 0.5
    assert marks[0].hovertext[10] == "<b>ann</b><br>50 % of 5 cases have at most 0.500<br>click: its cases"
    assert len({trace.marker.symbol for trace in marks}) == 2
    assert marks[1].name == "&lt;i&gt;ben&lt;/i&gt;"


@pytest.mark.parametrize(
    ("bounds", "covered"), [((-2.0, 3.0), True), ((0.0, float("inf")), False), (None, False)],
    ids=["all-of-a-finite-range", "not-an-open-one", "none"],
)  # fmt: skip
def test_the_axis_of_boxes_shows_the_declared_range(bounds: tuple[float, float] | None, covered: bool) -> None:
    low, high = spread.box_figure(MODELS, COLOURS, "Grade", bounds=bounds).layout.xaxis.range
    assert (low <= -2 and high >= 3) is covered
