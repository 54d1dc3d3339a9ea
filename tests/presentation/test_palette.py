"""The colours: readable, ordered, safe for colour-blind eyes."""

import itertools
import math
from collections.abc import Sequence

import pytest

from metrics.presentation import palette

THEMES = [pytest.param(False, id="light"), pytest.param(True, id="dark")]

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(colour: str) -> list[float]:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    return [sum(weight * channel for weight, channel in zip(row, linear(colour), strict=True)) for row in matrix]


@pytest.mark.parametrize("dark", THEMES)
def test_every_step_carries_readable_text(dark):
    for colour in palette.ramp(dark):
        assert palette.contrast(colour, palette.text_colour(colour)) >= 4.5


@pytest.mark.parametrize("dark", THEMES)
def test_luminance_goes_one_way(dark):
    light = [palette.luminance(colour) for colour in palette.ramp(dark)]
    assert light == sorted(light, reverse=not dark)
    assert abs(light[0] - light[-1]) > 0.3


@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("dark", THEMES)
def test_quarters_of_the_scale_differ_for_colour_blind_eyes(dark, blindness):
    quarters = [seen(palette.ramp(dark)[step], BLINDNESS[blindness]) for step in (0, 7, 14, 20)]
    for one, other in itertools.combinations(quarters, 2):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) > 0.03


@pytest.mark.parametrize("dark", THEMES)
def test_surface_texts_and_series_stand_out(dark):
    surface = palette.SURFACE[dark]
    assert palette.contrast(palette.INK[dark], surface) >= 7
    assert palette.contrast(palette.MUTED[dark], surface) >= 4.5
    assert palette.contrast(palette.ACCENT[dark], surface) >= 4.5
    assert all(palette.contrast(colour, surface) >= 3 for colour in palette.series(dark))


def oklab(light: Sequence[float]) -> list[float]:
    """OKLab (Ottosson, 2020) of linear RGB."""
    to_cones = (
        (0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )  # fmt: skip
    to_lab = (
        (0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )  # fmt: skip
    cones = [math.cbrt(sum(w * max(c, 0.0) for w, c in zip(row, light, strict=True))) for row in to_cones]
    return [sum(w * c for w, c in zip(row, cones, strict=True)) for row in to_lab]


@pytest.mark.parametrize(("classes", "apart"), [(8, 0.13), (16, 0.085), (24, 0.065)])
@pytest.mark.parametrize("sight", ["normal", *BLINDNESS])
def test_classes_are_distinct_for_every_sight(sight, classes, apart):
    """A step of .02 is about what is just noticed side by side."""
    one_to_one = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    colours = [oklab(seen(colour, BLINDNESS.get(sight, one_to_one))) for colour in palette.CLASSES[:classes]]
    assert len(colours) == classes
    assert min(math.dist(one, other) for one, other in itertools.combinations(colours, 2)) > apart


@pytest.mark.parametrize("dark", THEMES)
def test_classes_stand_out_from_both_surfaces(dark):
    assert min(palette.contrast(colour, palette.SURFACE[dark]) for colour in palette.CLASSES) > 1.4


def test_goodness_picks_the_ends_and_nothing_for_nothing():
    assert palette.goodness_step(None) is None
    assert [palette.goodness_step(goodness) for goodness in (-1.0, 0.0, 0.5, 1.0, 7.0)] == [0, 0, 10, 20, 20]
    assert len(palette.ramp()) == palette.STEPS + 1


def test_marks_have_a_second_channel():
    lines = {kind: palette.mark(kind).line for kind in ("tp", "fp", "fn")}
    assert lines == {"tp": "solid", "fp": "dashed", "fn": "dotted"}
    assert palette.mark("fp_duplicate") == palette.mark("fp")
    assert palette.mark("no such kind") == palette.mark("ignored")
