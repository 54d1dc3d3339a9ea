"""Curves by score threshold."""

import pytest

from components.charts import threshold_curves
from tests.presentation.chart_data.test_curve_points import POINTS, points

COLOURS = {"ann": "#0f6b78", "ben": "#c2571a"}


def test_threshold_figure_moves_one_marker_per_line() -> None:
    figure = threshold_curves.threshold_figure(POINTS, 0.5, COLOURS)
    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.customdata[0][:3] for trace in markers] == [
        ["ann", "cat", 0.5], ["ann", "<i>dog</i>", 0.5], ["ben", "cat", 0.5],
    ]  # fmt: skip
    assert all(len(trace.x) == 1 for trace in markers)


def test_f1_figure_marks_the_best_threshold_of_each_line() -> None:
    figure = threshold_curves.f1_figure(POINTS, 0.5, COLOURS)
    markers = {tuple(trace.customdata[0][:2]): trace.x[0] for trace in figure.data if trace.mode == "markers"}
    assert markers == {("ann", "cat"): 0.25, ("ann", "<i>dog</i>"): 0.5, ("ben", "cat"): 0.5}
    assert {shape.x0 for shape in figure.layout.shapes} == {0.5}


def test_threshold_figure_leaves_undefined_precision_out() -> None:
    figure = threshold_curves.threshold_figure(POINTS[POINTS.label == "cat"], 0.75, COLOURS)
    line = next(trace for trace in figure.data if trace.mode == "lines+markers")
    assert [point[2] for point in line.customdata] == [0.25, 0.5]


@pytest.mark.parametrize("draw", [threshold_curves.threshold_figure, threshold_curves.f1_figure])
def test_names_are_drawn_literally(draw: object) -> None:
    frame = POINTS.assign(series=POINTS["series"].replace("ben", "<img src=x>"))
    figure = draw(frame, 0.5, {"ann": "#000000", "<img src=x>": "#111111"})  # type: ignore[operator]
    drawn = [note.text for note in figure.layout.annotations] + [trace.name for trace in figure.data]
    hovers = "".join(trace.hovertemplate for trace in figure.data)
    assert "&lt;i&gt;dog&lt;/i&gt;" in drawn
    assert "<img" not in "".join(drawn) + hovers


@pytest.mark.parametrize("labels", [0, 1, 4, 30])
def test_panels_for_any_number_of_labels(labels: int) -> None:
    frame = points(*[("ann", f"class {i}", 0.5, 3, 1, 2) for i in range(labels)])
    figure = threshold_curves.threshold_figure(frame, 0.5, COLOURS)
    assert len([axis for axis in figure.layout if str(axis).startswith("xaxis")]) >= labels
    assert figure.layout.height >= 190
