"""The noise of each model's mean as a bar of its sources."""

import pytest

from components.charts.noise_bars import noise_figure
from metrics.analysis import ModelNoise
from metrics.analysis.leaderboard.noise import NoiseShare
from metrics.stats.variance_components import Components


def of(model: str, **shares: float) -> ModelNoise:
    own = {source: NoiseShare(share, share / 2, share) for source, share in shares.items()}
    return ModelNoise(model, Components(1.0, 1.0, None, 30), 30.0, 30, {}, own)


def test_parts_stand_behind_each_other_and_the_first_with_room_bears_its_name() -> None:
    figure = noise_figure([of("<b>a</b>", cases=0.98, repeats=0.02), of("b", cases=0.6, repeats=0.4)])
    cases, repeats = figure.data
    assert list(cases.text) == ["cases 98 %", "60 %"]
    assert list(repeats.text) == ["", "repeats 40 %"]
    assert list(repeats.base) == pytest.approx([0.98, 0.6])
    assert [list(point) for point in repeats.customdata] == [["<b>a</b>"], ["b"]]
    assert "<b>a</b>" not in "".join(figure.layout.yaxis.ticktext)
    assert "40 % (95 % 20–40) of the noise between repeats" in repeats.hovertext[1]


def test_a_source_that_no_model_knows_is_left_out() -> None:
    assert len(noise_figure([of("a", cases=1.0)], dark=True).data) == 1
