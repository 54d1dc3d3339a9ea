"""What the gallery's tiles show, from plain values."""

from typing import Any

import pytest

from components.viewers import tile_gallery
from metrics.analysis import GalleryObject, Outline, Tile

HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/x.png)"


def box(x: float, y: float, width: float, height: float, polygons: list[list[float]] | None = None) -> Outline:
    return Outline(x, y, width, height, polygons)


def entry(kind: str = "fp_hallucination", **other: Any) -> GalleryObject:
    return GalleryObject(kind, "cat", None, 0.9, None, 200.0, box(100, 100, 20, 10), None)._replace(**other)


def tile(*entries: GalleryObject, **other: Any) -> Tile:
    return Tile("p0", "p0.jpg", 640, 480, len(entries), entries)._replace(**other)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        pytest.param(tile(entry()), (82, 84, 138, 126), id="small-objects-keep-a-neighbourhood"),
        pytest.param(tile(entry(prediction=box(0, 0, 20, 10))), (0, 0, 56, 42), id="moved-inside-the-image"),
        pytest.param(tile(entry(prediction=box(10, 10, 600, 400))), None, id="a-large-object-shows-the-whole"),
        pytest.param(tile(entry(annotation=box(300, 100, 20, 10))), (12, 0, 408, 297), id="around-both-geometries"),
        pytest.param(tile(entry(), image_width=None), None, id="size-unknown"),
        pytest.param(tile(entry(prediction=None)), None, id="no-geometry"),
    ],
)
def test_window(shown: Tile, expected: tuple[int, ...] | None) -> None:
    assert tile_gallery.window(shown) == expected


def test_kinds_in_order_with_unlisted_ones_beside_their_family() -> None:
    assert tile_gallery.ordered_kinds(["ignored", "tp", "fp_both", "fn_no_prediction", "fp_hallucination", "odd"]) == [
        "fp_hallucination", "fp_both", "fn_no_prediction", "tp", "ignored", "odd",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(["fp"], ["fp_hallucination", "fp_duplicate"], id="a-family"),
        pytest.param(["tp", "fp_duplicate"], ["fp_duplicate", "tp"], id="kinds"),
        pytest.param(["no such"], [], id="unknown"),
    ],
)
def test_kinds_asked_for(asked: list[str], expected: list[str]) -> None:
    assert tile_gallery.asked_kinds(asked, ["tp", "fp_duplicate", "fp_hallucination", "fn_no_prediction"]) == expected


def test_options_keep_what_is_chosen() -> None:
    assert tile_gallery.options({"dog": 3, "cat": 12_345}, ["owl"]) == {
        "cat": "cat (12,345)", "dog": "dog (3)", "owl": "owl (0)",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "shown", "expected"),
    [
        pytest.param({"fp_hallucination": 3, "fn_no_prediction": 1}, 4,
                     "m: 4 mistakes – 3 background, 1 missed; most of cat (3).", id="mistakes"),
        pytest.param({"tp": 4, "ignored": 0}, 4, "m: 4 objects – 4 found; most of cat (3).", id="found-ones"),
        pytest.param({}, 0, "m: 0 objects.", id="none"),
        pytest.param(
            {"fn": 5, "fp_hallucination": 4, "fp_duplicate": 3, "fp_misclassification": 2, "fp_localisation": 1}, 15,
            "m: 15 mistakes – 5 missed, 4 background, 3 duplicate, 3 other; most of cat (3).", id="the rest",
        ),
    ],
)  # fmt: skip
def test_headline(kinds: dict[str, int], shown: int, expected: str) -> None:
    assert tile_gallery.headline("m", kinds, {"cat": 3, "dog": 1}, shown) == expected


def drawn(*tiles: Tile, pictures: list[Any], by_image: bool = False) -> dict[str, Any]:
    windows = [None] * len(tiles)
    return tile_gallery.payload(tiles, windows, pictures, ["case?case=p0"] * len(tiles), by_image)


def test_a_tile_of_a_misclassification_names_the_truth_and_draws_both() -> None:
    wrong = entry("fp_misclassification", truth="dog", iou=0.71, annotation=box(100, 100, 24, 12))
    data = drawn(tile(wrong), pictures=[b"jpeg"])
    shown = data["tiles"][0]
    assert shown["lines"] == ["fp_misclassification", "cat", "0.90", "is dog", "IoU 0.71"]
    assert [shape["kind"] for shape in shown["shapes"]] == ["annotation", "fp_misclassification"]
    assert shown["image"].startswith("data:image/jpeg;base64,")
    assert {kind for kind, *_ in data["legend"]} == {"fp_misclassification", "annotation"}


def test_a_missed_object_is_drawn_where_it_is() -> None:
    missed = entry("fn_low_score", score=0.1, prediction=box(0, 0, 5, 5), annotation=box(10, 10, 20, 20))
    shown = drawn(tile(missed), pictures=[None])["tiles"][0]
    assert [(shape["kind"], shape["path"]) for shape in shown["shapes"]] == [("fn", "M10.0 10.0H30.0V30.0H10.0Z")]
    assert (shown["image"], shown["reason"]) == (None, "")


@pytest.mark.parametrize(
    ("polygons", "filled"),
    [
        pytest.param([[0, 0, 9, 0, 9, 9, 0, 9]], False, id="rotated-box"),
        pytest.param([[0, 0, 9, 0, 9, 9, 5, 12, 0, 9]], True, id="mask"),
        pytest.param([[0, 0, 9, 0, 9, 9], [20, 20, 29, 20, 29, 29]], True, id="two-parts"),
    ],
)
def test_masks_are_filled(polygons: list[list[float]], filled: bool) -> None:
    shown = drawn(tile(entry(prediction=box(0, 0, 9, 9, polygons))), pictures=[b"x"])["tiles"][0]
    assert shown["shapes"][0]["filled"] is filled
    assert shown["shapes"][0]["path"].count("M") == len(polygons)


def test_an_image_counts_its_objects_in_one_path_a_kind() -> None:
    shown = drawn(tile(entry(), entry(), entry("tp"), n=7), pictures=[b"x"], by_image=True)["tiles"][0]
    assert shown["lines"] == ["", "p0", "7", "2 false, 1 found +4", ""]
    assert sorted((shape["kind"], shape["path"].count("M")) for shape in shown["shapes"]) == [
        ("fp_hallucination", 2),
        ("tp", 1),
    ]


@pytest.mark.parametrize(
    ("picture", "image", "reason"),
    [
        pytest.param("the image cannot be read", "p0.jpg", "the image cannot be read", id="unreadable"),
        pytest.param(None, None, "no image", id="absent"),
    ],
)
def test_without_a_picture_the_reason_is_told(picture: str | None, image: str | None, reason: str) -> None:
    shown = drawn(tile(entry(), image=image), pictures=[picture] if image else [])["tiles"][0]
    assert (shown["image"], shown["reason"]) == (None, reason)
    assert shown["view"] == [0, 0, 640, 480]


def test_a_canvas_of_unknown_size_holds_its_objects() -> None:
    shown = drawn(tile(entry(), image=None, image_width=None, image_height=None), pictures=[])["tiles"][0]
    assert shown["view"] == [0, 0, 130, 120]


@pytest.mark.attack("model", "markup in a label of the gallery", "labels are text")
def test_hostile_labels_stay_short_text() -> None:
    lines = drawn(tile(entry(label=HOSTILE)), pictures=[b"x"])["tiles"][0]["lines"]
    assert lines[1].startswith("<img")
    assert len(lines[1]) <= 40
