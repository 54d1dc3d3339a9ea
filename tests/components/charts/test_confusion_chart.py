"""The confusion matrix."""

import pandas as pd
import pytest

from components.charts import confusion_chart

MARGINS = ("hallucination", "missed")
OBJECTS = pd.DataFrame(
    [("cat", "cat", 6), ("cat", "dog", 1), ("cat", "missed", 3), ("dog", "dog", 2), ("hallucination", "dog", 3)],
    columns=["label", "predicted", "count"],
)


def counts(*cells: tuple[str | None, str | None, int]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["label", "predicted", "count"])


def test_the_matrix_is_ordered_and_filled() -> None:
    matrix = confusion_chart.confusion_matrix(counts(("b", "a", 2), ("a", "a", 5), (None, "b", 1)))
    assert list(matrix.index) == ["(none)", "a", "b"]
    assert matrix.to_numpy().tolist() == [[0, 0, 1], [0, 5, 0], [0, 2, 0]]


def test_the_margins_are_last() -> None:
    matrix = confusion_chart.confusion_matrix(OBJECTS, MARGINS)
    assert list(matrix.index) == ["cat", "dog", "hallucination"]
    assert list(matrix.columns) == ["cat", "dog", "missed"]
    assert matrix.to_numpy().tolist() == [[6, 1, 3], [0, 2, 0], [0, 3, 0]]


@pytest.mark.parametrize("margins", [None, MARGINS])
def test_what_does_not_fit_is_summed(margins: tuple[str, str] | None) -> None:
    frame = counts(*((f"l{i}", f"l{i}", 1) for i in range(60)), *([("l0", "missed", 9)] if margins else []))
    matrix = confusion_chart.confusion_matrix(frame, margins)
    assert matrix.to_numpy().sum() == 60 + (9 if margins else 0)
    assert matrix.loc[confusion_chart.OTHERS, confusion_chart.OTHERS] == 60 - confusion_chart.MOST_LABELS
    assert len(matrix) == confusion_chart.MOST_LABELS + 1 + bool(margins)


def test_a_group_names_its_labels() -> None:
    names = confusion_chart.groups(counts(*((f"l{i:02}", f"l{i:02}", 60 - i) for i in range(60))))
    assert [name for name, shown in names.items() if shown == confusion_chart.OTHERS] == [
        f"l{i:02}" for i in range(40, 60)
    ]


def test_cells_carry_their_labels() -> None:
    layer = confusion_chart.confusion_figure(counts(("a", "a", 3), ("b", "a", 1))).data[-1]
    assert [list(cell) for cell in layer.customdata] == [["a", "a", 3], ["a", "b", 0], ["b", "a", 1], ["b", "b", 0]]
    assert list(layer.text) == ["3", "", "1", ""]


def test_the_margins_stand_apart_and_have_no_corner() -> None:
    figure = confusion_chart.confusion_figure(OBJECTS, MARGINS, "objects")
    right, wrong, layer = figure.data
    assert ["hallucination", "missed"] not in [list(cell[:2]) for cell in layer.customdata]
    assert max(layer.x) == 2 + confusion_chart.APART
    assert list(right.x) == pytest.approx([-0.5, 0.5, 1.5, 1.5 + confusion_chart.APART, 2.5 + confusion_chart.APART])
    assert len(wrong.z) == 4


def test_shares_are_of_the_row_and_in_the_margin_of_the_column() -> None:
    layer = confusion_chart.confusion_figure(OBJECTS, MARGINS).data[-1]
    texts = dict(zip(((cell[0], cell[1]) for cell in layer.customdata), layer.hovertext, strict=True))
    assert "30.0 %" in texts["cat", "missed"]
    assert "50.0 %" in texts["hallucination", "dog"]
    assert "10.0 %" in texts["cat", "dog"]


def test_names_are_drawn_literally() -> None:
    figure = confusion_chart.confusion_figure(counts(("<b>a</b>", "<b>a</b>", 3)))
    assert "&lt;b&gt;a&lt;/b&gt;" in figure.data[-1].hovertext[0]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;b&gt;a&lt;/b&gt;"]


@pytest.mark.parametrize(
    ("cells", "margins"),
    [
        ([("a", "a", 1)], ("hallucination", "missed")),
        ([("(hallucination)", "a", 1), ("hallucination", "(missed)", 1)], ("(hallucination)", "(missed)")),
    ],
    ids=["free names", "classes called so"],
)
def test_the_names_of_the_margins(cells: list[tuple[str, str, int]], margins: tuple[str, str]) -> None:
    assert confusion_chart.margins_of(counts(*cells)) == margins


def test_the_most_frequent_mistakes() -> None:
    found = confusion_chart.confusions(OBJECTS, MARGINS)
    assert found.to_dict("records") == [{"label": "cat", "predicted": "dog", "count": 1, "share": 0.1}]
    assert confusion_chart.confusions(counts(("a", "a", 1))).empty


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (99_999, "99,999"), (123_456, "123k"), (12_345_678, "12.3M"), (2_000_000_000, "2G")]
)
def test_a_count_of_pixels_fits_into_its_cell(count: int, text: str) -> None:
    figure = confusion_chart.confusion_figure(counts(("a", "a", count), ("a", "b", 1), ("b", "b", 1)))
    assert figure.data[-1].text[0] == text
