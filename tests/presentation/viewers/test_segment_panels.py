"""What the viewer draws of a segmentation."""

from typing import Any

import pytest

from metrics.analysis import Segment
from metrics.presentation.viewers import segment_panels

RING = [0.0, 0, 10, 0, 10, 10, 0, 10]
SMALL = [0.0, 0, 1, 0, 1, 1, 0, 1]


def part(kind: Any, truth: str | None, predicted: str | None, pixels: int, *rings: list[float]) -> Segment:
    return Segment(kind, truth, predicted, pixels, list(rings) or [RING])


PARTS = [
    part("truth", "road", None, 600), part("truth", "<b>sky</b>", None, 400), part("predicted", None, "road", 900),
    part("mistaken", "<b>sky</b>", "road", 300, SMALL, RING), part("missed", "road", None, 5),
    part("ignored", None, None, 50),
]  # fmt: skip


def test_mistakes_lie_over_the_outlines_of_the_truth():
    panel = segment_panels.mistakes_panel("m", PARTS)
    assert list(panel["objects"]) == ["truth", "ignored", "mistaken", "missed"]
    assert "truth" not in panel["filled"]
    assert panel["counts"] == "✗ 30.5 % of 1,000 pixels wrong"
    (wrong,) = panel["objects"]["mistaken"]
    assert (wrong["caption"], wrong["lines"]) == ("road", "<b>sky</b> predicted as road, 300 pixels")
    assert wrong["rings"][0] == RING, "the name is written into the largest part"
    assert panel["objects"]["missed"][0]["caption"] == "", "too small for a name"


def test_a_class_leaves_what_it_has_a_part_in():
    panel = segment_panels.mistakes_panel("m", PARTS, "<b>sky</b>")
    assert {kind: len(drawn) for kind, drawn in panel["objects"].items()} == {"truth": 1, "mistaken": 1}
    assert panel["counts"] == "✗ 300 pixels wrong"


def test_every_class_has_its_colour():
    colours = segment_panels.class_colours(["road", "<b>sky</b>"])
    panel = segment_panels.classes_panel("truth", PARTS, "truth")
    assert set(panel["objects"]) == {"class road", "class <b>sky</b>"} <= set(segment_panels.styles(colours))
    assert (panel["filled"], panel["counts"]) == (list(panel["objects"]), "2 classes")
    assert segment_panels.classes_panel("m", PARTS, "predicted", "road")["counts"] == "1 class"


@pytest.mark.parametrize("view", segment_panels.VIEWS)
def test_the_legend_is_never_markup_of_the_data(view):
    colours = segment_panels.class_colours(["<b>sky</b>", *(f"class {index}" for index in range(20))])
    text = segment_panels.legend_html(view, colours)
    assert "<b>" not in text
    assert ("&lt;b&gt;sky" in text, "and 5 more" in text) == ((view == "classes"),) * 2


def test_the_table_lists_the_mistakes():
    assert segment_panels.mistakes_table(PARTS).to_numpy().tolist() == [
        ["<b>sky</b>", "road", 300], ["road", "no class", 5],
    ]  # fmt: skip
