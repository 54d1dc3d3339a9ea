"""The chart of pass rates: points, intervals, limits, what it says on hover."""

import pandas as pd
import pytest

from components.charts.passing import SYMBOLS, passing_figure


def windows(timed: bool) -> pd.DataFrame:
    begins = pd.to_datetime(["2026-11-21T10:00Z", "2026-11-21T11:00Z", "2026-11-21T12:00Z"]) if timed else [None] * 3
    return pd.DataFrame(
        {
            "window": [4, 5, 6], "begins": begins, "first_number": [0, 20, 40], "sampled": [20, 20, 5],
            "passed": [18, 13, 0], "judged": [20, 20, 0], "unscored": [0, 0, 5], "rate": [0.9, 0.65, None],
            "low": [0.7, 0.43, None], "high": [0.97, 0.82, None],
            "health": ["healthy", "critical", "insufficient_data"],
        }
    )  # fmt: skip


@pytest.mark.parametrize("timed", [True, False])
def test_a_point_a_judged_window(timed: bool) -> None:
    figure = passing_figure(windows(timed), 0.85, 0.7, chosen=5)
    upper, lower, points = figure.data
    assert list(points.y) == [0.9, 0.65]
    assert (list(upper.y), list(lower.y), lower.fill) == ([0.97, 0.82], [0.7, 0.43], "tonexty")
    assert list(points.marker.symbol) == [SYMBOLS["healthy"], SYMBOLS["critical"]]
    assert len(set(points.marker.color)) == 2
    assert [list(point) for point in points.customdata] == [[4], [5]]
    assert points.marker.size[1] > points.marker.size[0]
    begins = "21 Nov 2026, 11:00" if timed else "from sampled case 21"
    assert points.hovertext[1] == (
        f"<b>{begins}</b><br>0.650 pass: 13 of 20 judged, 0 unscored<br>current pass rate 0.430–0.820<br>critical"
    )


def test_the_limits_are_drawn_and_named() -> None:
    figure = passing_figure(windows(True), 0.85, 0.7)
    assert [shape.y0 for shape in figure.layout.shapes] == [0.85, 0.7]
    assert [note.text for note in figure.layout.annotations] == ["warning 0.85", "critical 0.7"]
    low, high = figure.layout.yaxis.range
    assert low < 0.43
    assert high > 1


@pytest.mark.parametrize("dark", [True, False])
def test_nothing_judged_is_an_empty_chart(dark: bool) -> None:
    assert len(passing_figure(windows(True).iloc[2:], 0.85, 0.7, dark=dark).data[-1].x) == 0


def test_a_window_that_an_earlier_version_judged_has_no_band() -> None:
    older = windows(True).iloc[:2].assign(low=[None, 0.43], high=[None, 0.82])
    upper, _, points = passing_figure(older, 0.85, 0.7).data
    assert (len(upper.x), len(points.x)) == (1, 2)
    assert "current" not in points.hovertext[0]
