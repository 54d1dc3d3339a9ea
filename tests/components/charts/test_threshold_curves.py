"""Curves by score threshold."""

import pandas as pd
import pytest

from components.charts import figure_parts, threshold_curves

COLOURS = {"ann": "#0f6b78", "ben": "#c2571a"}


def points(*rows: tuple[str, str, float, int, int, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["series", "label", "threshold", "tp", "fp", "fn"])
    frame["precision"] = (frame.tp / (frame.tp + frame.fp)).where(frame.tp + frame.fp > 0)
    frame["recall"] = frame.tp / (frame.tp + frame.fn)
    frame["f1"] = 2 * frame.tp / (2 * frame.tp + frame.fp + frame.fn)
    return frame


POINTS = points(
    ("ann", "cat", 0.25, 8, 4, 2),
    ("ann", "cat", 0.5, 6, 1, 4),
    ("ann", "cat", 0.75, 0, 0, 10),
    ("ann", "<i>dog</i>", 0.25, 5, 5, 5),
    ("ann", "<i>dog</i>", 0.5, 5, 0, 5),
    ("ben", "cat", 0.25, 9, 1, 1),
    ("ben", "cat", 0.5, 9, 0, 1),
)


@pytest.mark.parametrize(("wanted", "found"), [(0.0, 0.25), (0.3, 0.25), (0.4, 0.5), (0.625, 0.5), (1, 0.75)])
def test_nearest_threshold(wanted: float, found: float) -> None:
    assert threshold_curves.nearest([0.5, 0.25, 0.75], wanted) == found


def test_pooled_is_the_micro_average() -> None:
    row = threshold_curves.pooled(POINTS, ["cat", "<i>dog</i>"]).query("series == 'ann' and threshold == 0.25").iloc[0]
    assert (row.tp, row.fp, row.fn) == (13, 9, 7)
    assert (row.precision, row.recall, row.f1) == pytest.approx((13 / 22, 13 / 20, 26 / 42))


def test_mean_f1_is_the_macro_average() -> None:
    row = threshold_curves.mean_f1(POINTS, "mean").query("series == 'ann' and threshold == 0.25").iloc[0]
    assert row.f1 == pytest.approx((16 / 22 + 0.5) / 2)
    assert row.tp == 13


def test_pooled_has_no_precision_without_predictions() -> None:
    row = threshold_curves.pooled(POINTS, ["cat"]).query("series == 'ann' and threshold == 0.75").iloc[0]
    assert pd.isna(row.precision)
    assert row.recall == 0


def test_best_threshold_is_that_of_the_highest_f1() -> None:
    best = threshold_curves.best_threshold(POINTS)
    assert best["threshold"].to_dict() == {("ben", "cat")[::-1]: 0.5, ("cat", "ann"): 0.25, ("<i>dog</i>", "ann"): 0.5}


def test_threshold_figure_moves_one_marker_per_line() -> None:
    figure = threshold_curves.threshold_figure(POINTS, 0.5, COLOURS)
    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.customdata[0][:3] for trace in markers] == [
        ["ann", "cat", 0.5],
        ["ann", "<i>dog</i>", 0.5],
        ["ben", "cat", 0.5],
    ]
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


def test_direct_labels_keep_apart() -> None:
    figure = threshold_curves.threshold_figure(POINTS[POINTS.label == "cat"], 0.5, COLOURS)
    heights = sorted(note.y for note in figure.layout.annotations if note.text in COLOURS)
    assert heights[1] - heights[0] >= figure_parts.CLEARANCE


@pytest.mark.parametrize("labels", [0, 1, 2, 3, 4, 5, 20, 81])
def test_panels_for_any_number_of_labels(labels: int) -> None:
    frame = points(*[("ann", f"class {i}", 0.5, 3, 1, 2) for i in range(labels)])
    figure = threshold_curves.threshold_figure(frame, 0.5, COLOURS)
    assert len([axis for axis in figure.layout if str(axis).startswith("xaxis")]) >= labels
    assert figure.layout.height >= 190
