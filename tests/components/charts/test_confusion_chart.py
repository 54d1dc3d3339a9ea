"""The confusion matrix."""

import pytest

from components.charts import confusion_chart
from tests.presentation.chart_data.test_confusion_counts import MARGINS, OBJECTS, counts


def test_cells_carry_their_labels() -> None:
    layer = confusion_chart.confusion_figure(counts(("a", "a", 3), ("b", "a", 1))).data[-1]
    assert [list(cell) for cell in layer.customdata] == [["a", "a", 3], ["a", "b", 0], ["b", "a", 1], ["b", "b", 0]]
    assert list(layer.text) == ["3", "", "1", ""]


def test_the_margins_stand_apart_and_have_no_corner() -> None:
    figure = confusion_chart.confusion_figure(OBJECTS, MARGINS, "objects")
    right, wrong, layer = figure.data
    assert ["background", "missed"] not in [list(cell[:2]) for cell in layer.customdata]
    assert max(layer.x) == 2 + confusion_chart.APART
    assert list(right.x) == pytest.approx([-0.5, 0.5, 1.5, 1.5 + confusion_chart.APART, 2.5 + confusion_chart.APART])
    assert len(wrong.z) == 4


def test_shares_are_of_the_row_and_in_the_margin_of_the_column() -> None:
    layer = confusion_chart.confusion_figure(OBJECTS, MARGINS).data[-1]
    texts = dict(zip(((cell[0], cell[1]) for cell in layer.customdata), layer.hovertext, strict=True))
    assert "30.0 %" in texts["cat", "missed"]
    assert "50.0 %" in texts["background", "dog"]
    assert "10.0 %" in texts["cat", "dog"]


def test_names_are_drawn_literally() -> None:
    figure = confusion_chart.confusion_figure(counts(("<b>a</b>", "<b>a</b>", 3)))
    assert "&lt;b&gt;a&lt;/b&gt;" in figure.data[-1].hovertext[0]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;b&gt;a&lt;/b&gt;"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (99_999, "99,999"), (123_456, "123k"), (12_345_678, "12.3M"), (2_000_000_000, "2G")]
)
def test_a_count_of_pixels_fits_into_its_cell(count: int, text: str) -> None:
    figure = confusion_chart.confusion_figure(counts(("a", "a", count), ("a", "b", 1), ("b", "b", 1)))
    assert figure.data[-1].text[0] == text
