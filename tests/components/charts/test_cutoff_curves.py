"""Measures by rank: which metrics are such measures, and how their lines and bands are drawn."""

from math import log10

import pandas as pd
import pytest

from components.charts.cutoff_curves import cutoff_figure
from metrics.presentation.chart_data import curve_points

COLOURS = {"ann": "#0f6b78", "<u>ben</u>": "#c2571a"}
METRICS = ("recall_at_10", "recall_at_1", "mrr", "ndcg_at_1", "ndcg_at_10", "hit_rate_at_5")


def numbers() -> pd.DataFrame:
    rows = [
        (series, metric, place / 10, place / 10 - 0.05, place / 10 + 0.05, 40)
        for series in COLOURS
        for place, metric in enumerate(METRICS)
    ]
    return pd.DataFrame(rows, columns=["series", "metric", "value", "low", "high", "n"])


def test_only_measures_at_several_ranks_are_drawn_in_their_order() -> None:
    found = curve_points.measures(METRICS)
    assert found == {"ndcg": {1: "ndcg_at_1", 10: "ndcg_at_10"}, "recall": {1: "recall_at_1", 10: "recall_at_10"}}
    points = curve_points.points(numbers(), found)
    assert points[points["series"] == "ann"][["label", "k", "value"]].to_numpy().tolist() == [
        ["ndcg", 1, 0.3], ["ndcg", 10, 0.4], ["recall", 1, 0.1], ["recall", 10, 0.0],
    ]  # fmt: skip


def test_each_line_has_a_band_and_says_its_interval() -> None:
    points = curve_points.points(numbers(), curve_points.measures(METRICS))
    figure = cutoff_figure(points, {"ndcg": "nDCG", "recall": "Recall"}, COLOURS)
    assert len(figure.data) == 8  # a band and a line for each of two measures and two models
    band, line = figure.data[:2]
    assert list(band.x) == [1, 10, 10, 1]
    assert list(band.y) == pytest.approx([0.25, 0.35, 0.45, 0.35])
    assert list(line.y) == [0.3, 0.4]
    assert line.hovertext[1] == "<b>ann</b><br>nDCG@10 0.400 (95 % 0.350–0.450) · n 40"
    assert list(map(list, line.customdata)) == [["ann", "ndcg_at_1"], ["ann", "ndcg_at_10"]]
    names = [note.text for note in figure.layout.annotations]
    assert names.count("&lt;u&gt;ben&lt;/u&gt;") == 1
    assert figure.layout.xaxis.range[1] >= log10(10)
