"""The precision by the number of cases, with what is wanted and where the budget ends."""

from math import log10

import pytest

from components.charts.precision_lines import LINES, precision_figure

CASES, WIDTHS, DIFFERENCES = [10, 100, 1_000], [0.3, 0.1, 0.03], [0.43, 0.14, 0.043]


def test_lines_are_named_at_their_ends_on_logarithmic_axes() -> None:
    figure = precision_figure(CASES, WIDTHS, DIFFERENCES, 0.05, 500)
    words = {note.text: note for note in figure.layout.annotations}
    assert set(words) == {*LINES, "wanted 0.050", "the budget ends: 500"}
    assert words[LINES[0]].y == pytest.approx(log10(0.03))
    assert words["wanted 0.050"].y == pytest.approx(log10(0.05))
    assert [list(line.y) for line in figure.data] == [WIDTHS, DIFFERENCES]
    assert figure.data[0].hovertext[1] == "100 cases<br>95 % interval ± 0.100"


@pytest.mark.parametrize("affordable", [None, 3, 10**6])
def test_a_budget_out_of_sight_is_not_drawn(affordable: int | None) -> None:
    figure = precision_figure(CASES, WIDTHS, DIFFERENCES, 0.05, affordable, dark=True)
    assert not any("budget" in note.text for note in figure.layout.annotations)
