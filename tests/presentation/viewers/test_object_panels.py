"""The image viewer's figure."""

import json

import pandas as pd
import pytest

from metrics.presentation.viewers import object_panels


def with_rings(frame: pd.DataFrame) -> pd.DataFrame:
    rows = zip(*(frame[name] for name in ("x", "y", "width", "height")), strict=True)
    return frame.assign(rings=[[[x, y, x + w, y, x + w, y + h, x, y + h]] for x, y, w, h in rows])


ANNOTATIONS = with_rings(pd.DataFrame({
    "label": ["cat", "dog"], "x": [10.0, 50.0], "y": [10.0, 50.0], "width": [20.0, 10.0], "height": [20.0, 10.0],
}))  # fmt: skip
FOUND = [
    ("cat", 0.9, 11.0, 11.0, 20.0, 20.0), ("<b>cow</b>", 0.4, 70.0, 70.0, 9.0, 9.0), ("dog", 0.1, 50.0, 50.0, 9.0, 9.0),
]  # fmt: skip
PREDICTIONS = with_rings(pd.DataFrame(FOUND, columns=["label", "score", "x", "y", "width", "height"]))


def drawn() -> list[object_panels.ImageObject]:
    kinds = ["tp", "fp_hallucination", "below_score"]
    return object_panels.image_objects(ANNOTATIONS, PREDICTIONS, ["tp", "fn_no_prediction"], kinds)


def test_what_is_drawn():
    assert [(entry.kind, entry.label, entry.score) for entry in drawn()] == [
        ("annotation", "cat", None), ("fn", "dog", None), ("tp", "cat", 0.9), ("fp", "<b>cow</b>", 0.4),
    ]  # fmt: skip
    assert object_panels.legend(drawn()) == "✓ 1 found · ✗ 1 false · – 1 missed"


BOX = {"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0}
NO_BOX = dict.fromkeys(BOX)
TRIANGLES = [[0.0, 0.0, 4.0, 0.0, 4.0, 4.0], [6.0, 1.0, 9.0, 1.0, 9.0, 3.0]]


@pytest.mark.parametrize(("row", "geometry", "rings"), [
    (BOX | {"rings": TRIANGLES}, "box", ((1, 2, 4, 2, 4, 6, 1, 6),)),
    (BOX | {"rings": TRIANGLES}, "mask", tuple(map(tuple, TRIANGLES))),
    (BOX | {"rings": TRIANGLES}, "polygon", tuple(map(tuple, TRIANGLES))),
    (NO_BOX | {"rings": TRIANGLES}, "box", ((0, 0, 9, 0, 9, 4, 0, 4),)),
    (NO_BOX | {"rings": []}, "box", ()),
], ids=["box", "mask", "polygon", "box around polygons", "nothing"])  # fmt: skip
def test_rings(row, geometry, rings):
    assert object_panels.rings(row, geometry) == rings


def test_masks_are_filled_but_for_what_others_lie_on():
    panels = [object_panels.panel("a", drawn(), geometry=geometry) for geometry in ("box", "polygon", "mask")]
    assert [panel["filled"] for panel in panels] == [[], [], ["tp", "fp", "fn"]]


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("tp", "tp"), ("fp_hallucination", "fp"), ("fp_misclassification", "fp_misclassification"), ("fn_missed", "fn"),
     ("ignored", "ignored"), ("ignored_crowd", "ignored"), ("novel", "ignored")],
)  # fmt: skip
def test_drawn_kind(kind, shown):
    assert object_panels.drawn_kind(kind) == shown


def test_kinds_differ_without_colour():
    styles = object_panels.payload("case", 100, 100, None, [object_panels.panel("a", drawn())])["styles"]
    assert len({styles[kind]["dash"] for kind in ("tp", "fp", "fn")}) == 3


def test_a_panel_is_plain_data():
    panel = object_panels.panel("a", drawn())
    assert list(panel["objects"]) == ["annotation", "tp", "fp", "fn"]
    assert panel["objects"]["fp"] == [{
        "rings": [[70.0, 70.0, 79.0, 70.0, 79.0, 79.0, 70.0, 79.0]], "caption": "<b>cow</b> 0.40",
        "lines": "<b>cow</b>, score 0.400: false positive, background: nothing is there",
    }]  # fmt: skip
    assert panel["counts"] == "✓ 1 found · ✗ 1 false · – 1 missed"
    assert (panel["objects"]["annotation"][0]["caption"], json.loads(json.dumps(panel))) == ("", panel)


@pytest.mark.parametrize(("box", "view"), [
    pytest.param((300, 200, 340, 210), (268.0, 166.0, 104.0), id="with-a-margin"),
    pytest.param((300, 200, 310, 260), (201.0, 152.0, 208.0), id="a-high-one-fits-too"),
    pytest.param((0, 0, 10, 10), (0.0, 0.0, 64.0), id="small-ones-keep-a-neighbourhood-inside-the-image"),
    pytest.param((600, 470, 640, 480), (536.0, 402.0, 104.0), id="at-the-last-corner"),
    pytest.param((0, 0, 640, 480), (0.0, 0.0, 640.0), id="a-large-one-shows-the-whole-image"),
])  # fmt: skip
def test_the_view_around_the_marked_object(box, view):
    assert object_panels.focus(box, "cat", 640, 480).view == view
