"""The charts of a report: what they hold of a run, and how they are drawn."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from metrics.library.evaluator_choice import CONSISTENCY
from metrics.presentation.blocks import Answer, Bar, BarGroup, Bars, Curve, Matrix, ScorePanel, Series
from metrics.presentation.chart_data.confusion_counts import OTHERS
from metrics.reports.build import build
from metrics.reports.renderers.box_plots import coloured_models, figure_of
from metrics.reports.renderers.figures import Figure
from metrics.reports.renderers.plots import Inks, is_wide, plot
from metrics.reports.report import Report
from metrics.reports.sections.section_charts import MOST_BARS, MOST_LABELS
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.evaluators.detected import outputs_of, suite_of
from tests.pages.conftest import labels_outputs, labels_suite
from tests.pages.page_scenes import objects_run
from tests.reports.made import CLASSES, CONFUSION, CURVES, MODELS

OF_LABELS = ("classification_pr_curve", "classification", "roc_auc", "calibration")
OF_OBJECTS = ("detection_pr_curve_detailed", "detection_confusion", "error_breakdown", "calibration")
INKS = Inks(
    "#000001", "#000002", "#000003", "#ffffff", "#0000aa", "#aa0000", dict(zip(MODELS, ("#111", "#222"), strict=False))
)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(objects_run(tmp_path_factory.mktemp("pictures"), *OF_OBJECTS))


def group(report: Report, title: str) -> Answer:
    return next(group for group in report.charts if group.title == title)


def test_a_run_of_objects_has_every_chart(pictures: Report) -> None:
    assert [each.title for each in pictures.charts] == [
        "At a glance", "Curves", "Calibration", "Confusion", "Errors", "Classes",
    ]  # fmt: skip
    titles = [chart.title for chart in group(pictures, "Curves").charts]
    assert titles == [
        "Average precision, mean of 2 classes, IoU 0.5", "Detection precision–recall curve: F1, mean of 2 classes",
    ]  # fmt: skip


def test_a_run_of_labels_has_every_chart(tmp_path: Path) -> None:
    animals = build(finished(Workspace(tmp_path), labels_suite(), labels_outputs(), *OF_LABELS, name="Animals"))
    assert [each.title for each in animals.charts] == ["At a glance", "Curves", "Calibration", "Confusion", "Classes"]
    roc = [chart for chart in group(animals, "Curves").charts if isinstance(chart, Curve) and chart.diagonal]
    assert [chart.title for chart in roc] == ["ROC AUC, mean of 3 classes"]
    assert all(line.points[0] == (0.0, 0.0) and line.points[-1] == (1.0, 1.0) for line in roc[0].series)
    (bars,) = group(animals, "Classes").charts
    assert bars.title == "Classification precision–recall curve: Best F1\u00a0↑"


def test_consistency_has_a_box_plot_a_metric(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    run = finished(workspace, text_suite(), text_outputs(repeats=2), "rouge", "consistency_rouge", CONSISTENCY)
    charts = group(build(run), "Consistency").charts
    titles = [chart.title for chart in charts]
    assert titles[:2] == ["Consistency: ROUGE: ROUGE-L F1\u00a0↑", "Consistency: statistics: CV of ROUGE-L\u00a0↓"]
    panel = charts[1]
    assert isinstance(panel, ScorePanel)
    assert [(box.series, box.values) for box in panel.boxes] == [("good", (0.0,) * 6), ("poor", (0.0,) * 6)]
    figure = figure_of(panel, INKS)
    assert "Population standard deviation divided by the mean, of rouge.rougeL over the repeats of a case." in [
        label.text for label in figure.labels
    ]
    assert panel.title not in [label.text for label in figure.labels], "the page sets it"


def test_the_best_threshold_is_marked(pictures: Report) -> None:
    chart = group(pictures, "Curves").charts[-1]
    assert isinstance(chart, Curve)
    assert {line.model: line.mark for line in chart.series} == {"keen": (0.35, 1.0), "shy": (0.05, 0.5)}


def test_reliability_has_its_intervals(pictures: Report) -> None:
    charts = group(pictures, "Calibration").charts
    assert [chart.title for chart in charts] == ["Calibration: keen", "Calibration: shy"]
    assert isinstance(charts[0], Curve)
    (line,) = charts[0].series
    assert (line.points, [x for x, _, _ in line.spans]) == (((0.3, 0.0), (0.6, 1.0), (0.9, 1.0)), [0.3, 0.6, 0.9])
    assert all(low <= y <= high for (_, y), (_, low, high) in zip(line.points, line.spans, strict=True))


def test_the_confusion_matrix_counts_what_the_run_counts(pictures: Report) -> None:
    shy = group(pictures, "Confusion").charts[1]
    assert isinstance(shy, Matrix)
    assert (shy.rows, shy.columns) == (("cat", "dog", "background"), ("cat", "dog", "missed"))
    assert shy.counts == ((4, 0, 0), (0, 0, 4), (0, 0, 0))


def test_bars_of_errors_and_classes(pictures: Report) -> None:
    (costs,) = group(pictures, "Errors").charts
    assert isinstance(costs, Bars)
    missed = next(group for group in costs.groups if group.name == "missed")
    assert [(bar.model, bar.value) for bar in missed.bars] == [("keen", 0.0), ("shy", 0.5)]
    precision = group(pictures, "Classes").charts[0]
    assert isinstance(precision, Bars)
    assert precision.models == ("keen", "shy")
    assert [(each.name, each.bars[1].value) for each in precision.groups] == [("dog", 0.0), ("cat", 1.0)]
    titles = [chart.title for chart in group(pictures, "Classes").charts]
    assert len(set(titles)) == len(titles)


def test_many_labels_are_the_most_frequent_and_the_worst(tmp_path: Path) -> None:
    names = [f"class {index:02}" for index in range(60)]
    truths = [("a", name, 20 * index, 0, 10, 10) for index, name in enumerate(names) for _ in range(1 + index % 3)]
    outputs = outputs_of(*[(*box, 0.9) for box in truths[::2]])
    run = finished(Workspace(tmp_path), suite_of(*truths), outputs, "detection_confusion", "average_recall")
    report = build(run)
    (matrix,) = group(report, "Confusion").charts
    assert isinstance(matrix, Matrix)
    assert (len(matrix.rows), matrix.rows[-2]) == (MOST_LABELS + 2, OTHERS)
    assert sum(map(sum, matrix.counts)) == len(truths)
    bars = group(report, "Classes").charts[0]
    assert isinstance(bars, Bars)
    assert len(bars.groups) == MOST_BARS
    assert f"the {MOST_BARS} worst of 60 classes" in bars.title


# How they are drawn


def texts(figure: Figure) -> list[str]:
    return [label.text for label in figure.labels]


def test_a_mark_whiskers_and_the_diagonal_are_drawn() -> None:
    marked, diagram = plot(CURVES[2], INKS), plot(CURVES[3], INKS)
    assert "0.50" in texts(marked)
    assert marked.shapes.count("<circle") == 1
    assert "stroke-dasharray:2 3" not in marked.shapes
    assert "stroke-dasharray:2 3" in diagram.shapes, "the diagonal"
    assert diagram.shapes.count("<circle") == 2


def test_models_beyond_the_colours_are_grey_and_counted() -> None:
    figure = plot(Curve("t", "x", "y", tuple(Series(model, ((0.0, 0.0), (1.0, 1.0))) for model in MODELS)), INKS)
    assert "grey: 1 more" in texts(figure)
    assert MODELS[2] not in texts(figure)


def test_of_many_models_those_that_charts_choose_have_the_colours() -> None:
    models = tuple(f"m{place:02}" for place in range(20))
    report = Report("t", "run", "2026-11-21", "Nothing", models=models)
    assert coloured_models(report) == models[:8]
    chosen = Answer("charts", "At a glance", "", (Bars("b", (), models[11:17]), *CURVES))
    assert coloured_models(replace(report, charts=(chosen,))) == (*models[11:17], *models[:2])
    assert coloured_models(replace(report, models=models[:3], charts=(chosen,))) == models[:3]


def test_lines_differ_by_more_than_their_colour() -> None:
    figure = plot(CURVES[0], INKS)
    lines = re.findall(r"stroke-linejoin:round;stroke-dasharray:([0-9a-z .]+)", figure.shapes)
    legend = re.findall(r"stroke-width:1.6;stroke-dasharray:([0-9a-z .]+)", figure.shapes)
    assert (len(set(lines[:2])), legend[:2]) == (2, lines[:2])


def test_bars_name_models_groups_and_numbers() -> None:
    figure = plot(CLASSES, INKS)
    assert texts(figure)[: len(MODELS)] == list(MODELS)
    assert {"cat", "0.500", "0.600", "0.700", "0.250", "0.00"} <= set(texts(figure))
    assert figure.shapes.count("<rect") == 5 + len(MODELS)  # one of six has no value
    widths = [float(width) for width in re.findall(r'width="([0-9.]+)"', figure.shapes)][len(MODELS) :]
    assert widths[1] / widths[0] == pytest.approx(0.6 / 0.5, abs=0.01)


@pytest.mark.parametrize("most", [1e-4, 0.003, 0.07, 0.31, 1.0, 1.7, 250.0])
def test_an_axis_without_a_given_end_holds_every_bar(most: float) -> None:
    figure = plot(Bars("t", (BarGroup("a", (Bar("m", most / 2, most / 3, most),)),), ("m",)), INKS)
    numbers = [float(label.text) for label in figure.labels if label.size == 7 and label.align == "middle"]
    assert 3 <= len(numbers) <= 5
    assert numbers[0] == 0
    assert numbers[-1] <= most


def test_a_matrix_prints_its_counts_and_leaves_the_corner_free() -> None:
    figure = plot(CONFUSION, INKS)
    assert {"41", "3", "2", "1", "5"} <= set(texts(figure))
    assert "1.23M" in texts(figure) or "1,234,567" in texts(figure)
    assert figure.shapes.count("<rect") == 8
    assert figure.shapes.count("#0000aa") == 2
    assert not is_wide(figure)
