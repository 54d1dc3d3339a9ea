"""Curves over every score."""

import pandas as pd

from components.charts import ranked_curves

COLOURS = {"ann": "#0f6b78", "<u>ben</u>": "#c2571a"}


def test_rank_figure() -> None:
    frame = pd.DataFrame({"series": "ann", "label": "cat", "recall": [0.0, 0.5, 1.0], "precision": [1.0, 0.5, 0.0]})
    figure = ranked_curves.rank_figure(frame, COLOURS)
    assert list(figure.data[0].y) == [1.0, 0.5, 0.0]
    assert figure.layout.annotations[0].x == 0.5  # where the line ends above zero


def roc(*labels: str) -> pd.DataFrame:
    rows = [
        (series, label, threshold, fpr, tpr)
        for label in labels
        for series in COLOURS
        for threshold, fpr, tpr in ((None, 0.0, 0.0), (0.8, 0.1, 0.7), (0.2, 1.0, 1.0))
    ]
    frame = pd.DataFrame(rows, columns=["series", "label", "threshold", "fpr", "tpr"])
    return frame.astype({"threshold": float})


def test_roc_has_a_diagonal_a_panel_and_a_line_a_model() -> None:
    figure = ranked_curves.roc_figure(roc("cat", "dog"), COLOURS)
    diagonals = [trace for trace in figure.data if trace.line.dash == "dot"]
    lines = [trace for trace in figure.data if trace.line.dash != "dot"]
    assert [tuple(trace.x) for trace in diagonals] == [(0, 1), (0, 1)]
    assert len(lines) == 4
    assert list(lines[0].customdata) == ["", " at score ≥ 0.8", " at score ≥ 0.2"]


def test_roc_names_every_model_once() -> None:
    for labels in (("cat",), ("cat", "dog")):
        names = [note.text for note in ranked_curves.roc_figure(roc(*labels), COLOURS).layout.annotations]
        assert names.count("ann") == 1
        assert names.count("&lt;u&gt;ben&lt;/u&gt;") == 1
