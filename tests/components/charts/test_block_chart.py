"""Any chart of an answer is drawn on a page, with what its SVG shows."""

import json

import pytest

from components.charts.block_chart import chart_figure
from metrics.analysis.leaderboard.distributions import Distribution
from metrics.presentation.blocks import Chart, Radar, ScoreBox, ScorePanel
from tests.reports.made import CLASSES, CONFUSION, CURVES, MODELS

COLOURS = dict(zip(MODELS, ("#0f6b78", "#c46a2b", "#7a5ab5"), strict=True))
RADAR = Radar("r", ("a", "b", "c"), MODELS[:1], ((0.5, None, 0.2),), (("x", "y", "z"),), ("k", "l", "m"))
SPREAD = Distribution(MODELS[0], 9, 0.5, tuple(place / 100 for place in range(101)), 0.1, 0.9, (), 0)
BOXES = ScorePanel("Scores", "", 0.0, 1.0, share=False, boxes=(ScoreBox(MODELS[0], (0.5,), SPREAD, 0.5, 0.4, 0.6),))
DRAWN: dict[str, tuple[Chart, list[str]]] = {
    "lines": (CURVES[0], ["recall", "precision", MODELS[2]]),
    "mark": (CURVES[2], ["score threshold", '"size": 13']),
    "diagonal": (CURVES[3], ["mean score", "error_y", '"dash": "dot"']),
    "bars": (CLASSES, ["cat", "0.500", "error_x"]),
    "matrix": (CONFUSION, ["predicted", "1.23M", "missed"]),
    "radar": (RADAR, ["scatterpolar", "click: its cases"]),
    "boxes": (BOXES, ["diamond"]),
}


@pytest.mark.parametrize(("chart", "wanted"), DRAWN.values(), ids=DRAWN)
def test_every_chart_is_drawn(chart: Chart, wanted: list[str]) -> None:
    drawn = json.dumps(json.loads(chart_figure(chart, COLOURS).to_json()), ensure_ascii=False)
    assert [text for text in wanted if text not in drawn] == []
