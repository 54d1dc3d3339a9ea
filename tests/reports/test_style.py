"""The report's colours and numbers are the studio's own."""

import pytest

from components import format as studio_format
from components import palette
from metrics.presentation import style

INFINITE = float("inf")
NUMBERS = [None, float("nan"), INFINITE, -INFINITE, 0.0, 4e-4, 0.0005, 0.8421, 0.9996, 12.34, 99.96, 4567.0, -0.25]
GOODNESS = [None, -1.0, 0.0, 0.2, 0.5, 0.77, 1.0, 2.0]


@pytest.mark.parametrize("name", ["ACCENT", "SURFACE", "INK", "MUTED", "LINE", "STEPS", "STOPS", "INKS", "SERIES"])
def test_colours_are_the_palettes(name: str) -> None:
    assert getattr(style, name) == getattr(palette, name)


def test_marks_are_the_palettes() -> None:
    assert {kind: (one.title, one.colour, one.dash, one.glyph) for kind, one in style.MARKS.items()} == {
        kind: (one.title, one.colour, one.dash, one.glyph) for kind, one in palette.MARKS.items()
    }
    for kind in ("fp_other", "fn_missed", "below_score"):
        assert style.mark(kind).title == palette.mark(kind).title


@pytest.mark.parametrize("dark", [False, True])
def test_goodness_has_the_palettes_colour(dark: bool) -> None:
    assert style.ramp(dark) == palette.ramp(dark)
    for goodness in GOODNESS:
        step = style.goodness_step(goodness)
        assert (None if step is None else style.ramp(dark)[step]) == palette.goodness_colour(goodness, dark)
    for colour in style.ramp(dark):
        assert style.text_colour(colour) == palette.text_colour(colour)


@pytest.mark.parametrize("value", NUMBERS, ids=str)
def test_numbers_are_written_as_in_the_studio(value: float | None) -> None:
    assert style.number(value) == studio_format.number(value)
    assert style.interval(value, 1.0) == studio_format.interval(value, 1.0)
    if value is not None and value == value:
        assert style.range_text(value, 1.0) == studio_format.range_text(value, 1.0)


def test_words_are_the_studios() -> None:
    for name in ("MISSING", "ARROWS", "DIRECTIONS", "STATUSES"):
        assert getattr(style, name) == getattr(studio_format, name)
    assert style.moment("2026-11-21T10:28:00+00:00") == studio_format.moment("2026-11-21T10:28:00+00:00")
    assert [style.plural(n, "case") for n in (1, 1234)] == [studio_format.plural(n, "case") for n in (1, 1234)]
