"""The objects of a run one by one, the thumbnails of their images, the outlines of masks."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from metrics.analysis import (
    ObjectFilter,
    Outline,
    cases as listed_cases,
    object_counts,
    object_place,
    objects,
    thumbnails,
)
from metrics.analysis.objects.object_pages import SORTS, _first
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.vision import rle
from metrics.vision.outlines import mask_rings
from tests.engine.engine_scenes import finished

BY = "detection_pr_curve"
KEEN, SHY = ObjectFilter("keen"), ObjectFilter("shy")


@pytest.fixture(scope="module")
def run(pictures: Run) -> Run:
    return pictures


@pytest.mark.parametrize(("chosen", "expected"), [
    pytest.param(KEEN, {"tp": 8, "fp_hallucination": 4}, id="keen"),
    pytest.param(SHY, {"tp": 4, "fn_no_prediction": 4}, id="shy-misses-the-dogs"),
    pytest.param(ObjectFilter("keen", score_low=0.3), {"tp": 8, "fp_hallucination": 4}, id="exactly-at-the-score"),
    pytest.param(ObjectFilter("keen", score_low=0.61), {"tp": 4, "fn_low_score": 4}, id="found-but-scored-too-low"),
    pytest.param(ObjectFilter("keen", score_low=0.31, score_high=0.6), {"tp": 4}, id="a-range-shows-what-is-in-it"),
    pytest.param(ObjectFilter("shy", score_high=0.5), {}, id="a-range-hides-what-has-no-score"),
    pytest.param(ObjectFilter("keen", iou_low=0.9), {"tp": 8}, id="iou"),
    pytest.param(ObjectFilter("keen", labels=("cat",)), {"tp": 4}, id="class"),
    pytest.param(ObjectFilter("shy", truths=("dog",)), {"fn_no_prediction": 4}, id="true-class"),
    pytest.param(ObjectFilter("keen", sizes=("medium",)), {"tp": 4}, id="size-by-the-ground-truth"),
    pytest.param(ObjectFilter("keen", search="PICTURE2"), {}, id="search-is-for-stored-names"),
    pytest.param(ObjectFilter("keen", search="P3"), {"tp": 2, "fp_hallucination": 1}, id="search-without-case"),
    pytest.param(ObjectFilter("keen", tag="no such"), {}, id="unknown-tag"),
    pytest.param(ObjectFilter("keen", labels=("'; DROP TABLE",)), {}, id="hostile-label"),
])  # fmt: skip
def test_counts_by_kind(run: Run, chosen: ObjectFilter, expected: dict[str, int]) -> None:
    if chosen.search == "PICTURE2":
        expected = {"tp": 2, "fp_hallucination": 1} if "picture2" in str(run.suite.cases["image"]) else expected
    assert object_counts(run, BY, chosen)["kind"] == expected
    assert objects(run, BY, chosen).total == sum(expected.values())


def test_every_choice_is_counted_with_the_other_filters_on(run: Run) -> None:
    counts = object_counts(run, BY, ObjectFilter("keen", kinds=("tp",), labels=("dog",)))
    assert (counts["kind"], counts["label"]) == ({"tp": 4, "fp_hallucination": 4}, {"cat": 4, "dog": 4})
    assert (counts["size"], counts["truth"]) == ({"medium": 4}, {"dog": 4})


def test_a_tile_has_the_geometry_of_both(run: Run) -> None:
    tile = objects(run, BY, ObjectFilter("keen", kinds=("tp",), labels=("dog",))).tiles[0]
    entry = tile.objects[0]
    assert (tile.case_id, tile.image_width, tile.image_height, tile.n) == ("p0", 120, 90, 1)
    assert (entry.prediction, entry.annotation) == (entry.annotation, Outline(60.0, 40.0, 40.0, 30.0, None))
    assert (entry.score, entry.iou, entry.truth) == (0.6, 1.0, "dog")
    missed = objects(run, BY, ObjectFilter("shy", kinds=("fn_no_prediction",))).tiles[0].objects[0]
    assert (missed.prediction, missed.score, missed.annotation.x) == (None, None, 60.0)
    ghost = objects(run, BY, ObjectFilter("keen", kinds=("fp_hallucination",))).tiles[0].objects[0]
    assert (ghost.label, ghost.truth, ghost.annotation, ghost.iou, ghost.area) == ("dog", None, None, None, 100.0)


def test_sizes_are_cocos(tmp_path: Path) -> None:
    """Small is below 32², large from 96² square pixels on; an area that the file states counts, else the box's."""
    areas = {"a": 1023.0, "b": 1024.0, "c": 9215.0, "d": 9216.0, "e": None, "f": None}
    sides = {"e": (31.0, 33.0), "f": (96.0, 96.0)}
    cases = [{"case_id": case, "image_width": 500, "image_height": 500} for case in areas]
    annotations = [
        {"case_id": case, "label": "cat", "annotation_id": place, "x": 0.0, "y": 0.0, "area": area}
        | dict(zip(("width", "height"), sides.get(case, (10.0, 10.0)), strict=True))
        for place, (case, area) in enumerate(areas.items(), 1)
    ]
    outputs = Outputs.from_rows([{"case_id": case, "model": "m"} for case in areas], [])
    run = finished(Workspace(tmp_path), Suite.from_rows("s", "detection", cases, annotations), outputs, BY)

    def of(size: str) -> list[str]:
        return [tile.case_id for tile in objects(run, BY, ObjectFilter("m", sizes=(size,)), "suite").tiles]

    assert {size: of(size) for size in ("small", "medium", "large")} == {
        "small": ["a", "e"], "medium": ["b", "c"], "large": ["d", "f"],
    }  # fmt: skip


@pytest.mark.parametrize("iou", [None, 0.75], ids=["stored matches", "matched again"])
def test_where_no_model_predicted_anything_every_object_is_missed(run: Run, tmp_path: Path, iou: float | None) -> None:
    outputs = Outputs.from_rows([{"case_id": f"p{place}", "model": "mute"} for place in range(4)])
    assert outputs.predictions is None
    mute = finished(Workspace(tmp_path), run.suite, outputs, BY)
    assert object_counts(mute, BY, ObjectFilter("mute", iou=iou))["kind"] == {"fn_no_prediction": 8}
    missed = objects(mute, BY, ObjectFilter("mute", iou=iou), "suite").tiles[0].objects[0]
    assert (missed.prediction, missed.annotation) == (None, Outline(60.0, 40.0, 40.0, 30.0, None))


def test_objects_by_the_tags_of_their_images(run: Run, tmp_path: Path) -> None:
    tags = {"p0": ["night"], "p1": ["night", "rain"], "p2": ["dry"]}
    cases = [row | {"tags": tags.get(row["case_id"], [])} for row in run.suite.cases.to_pylist()]
    suite = Suite.from_rows("tagged", "detection", cases, run.suite.annotations.to_pylist())
    tagged = finished(Workspace(tmp_path), suite, run.outputs, BY)
    assert object_counts(tagged, BY, KEEN)["tag"] == {"night": 6, "rain": 3, "dry": 3}
    dogs = object_counts(tagged, BY, ObjectFilter("keen", kinds=("tp",), labels=("dog",), tag="rain"))
    assert dogs["tag"] == {"night": 2, "rain": 1, "dry": 1}
    assert (dogs["kind"], dogs["label"]) == ({"tp": 1, "fp_hallucination": 1}, {"cat": 1, "dog": 1})
    assert {tile.case_id for tile in objects(tagged, BY, ObjectFilter("keen", tag="night")).tiles} == {"p0", "p1"}


@pytest.mark.parametrize("by_image", [False, True], ids=["objects", "images"])
@pytest.mark.parametrize("sort", SORTS)
def test_pages_follow_each_other_without_gap_or_repeat(run: Run, sort: str, by_image: bool) -> None:
    whole = objects(run, BY, KEEN, sort, by_image, limit=100)
    pages = [objects(run, BY, KEEN, sort, by_image, limit=3, offset=offset) for offset in range(0, 15, 3)]
    assert tuple(tile for page in pages for tile in page.tiles) == whole.tiles
    assert {(page.total, page.objects) for page in pages} == {(4 if by_image else 12, 12)}


@pytest.mark.parametrize("by_image", [False, True], ids=["objects", "images"])
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize(
    "chosen", [KEEN, SHY, ObjectFilter("keen", labels=("dog",), score_low=0.5)], ids=["keen", "shy", "dogs-over-half"]
)
def test_a_place_is_where_the_pages_show_the_object(run: Run, chosen: ObjectFilter, sort: str, by_image: bool) -> None:
    tiles = objects(run, BY, chosen, sort, by_image, limit=100).tiles
    places = [object_place(run, BY, chosen, sort, by_image, tile.case_id, tile.objects[0].key) for tile in tiles]
    assert places == list(range(len(tiles)))


@pytest.mark.parametrize(("case_id", "key"), [
    pytest.param("p0", "p2", id="filtered-out"),
    pytest.param("p1", "p0", id="of-another-image"),
    pytest.param("nobody", "p0", id="unknown-case"),
    pytest.param("p0", "", id="no-key"),
    pytest.param("p0", "a1", id="found-ones-go-by-their-prediction"),
    pytest.param("p0", "p" + "9" * 40, id="no-such-number"),
    pytest.param("p0", "p-1", id="not-a-number"),
])  # fmt: skip
def test_what_is_not_in_the_list_has_no_place(run: Run, case_id: str, key: str) -> None:
    assert object_place(run, BY, ObjectFilter("keen", kinds=("tp",)), "score", False, case_id, key) is None


@pytest.mark.parametrize(("sort", "first", "last"), [
    pytest.param("score", 0.9, 0.3, id="best-score-first"),
    pytest.param("score_up", 0.3, 0.9, id="least-score-first"),
    pytest.param("size", 0.6, 0.3, id="largest-first"),
    pytest.param("iou", 0.9, 0.3, id="without-iou-last"),
    pytest.param("iou_up", 0.9, 0.3, id="without-iou-last-too"),
])  # fmt: skip
def test_sorts(run: Run, sort: str, first: float, last: float) -> None:
    tiles = objects(run, BY, KEEN, sort).tiles
    assert (tiles[0].objects[0].score, tiles[-1].objects[0].score) == (first, last)


@pytest.mark.parametrize(
    ("evaluator", "model", "text"),
    [("rouge", "keen", "has no matches of 'rouge'"), (BY, "nobody", "has no model 'nobody'")],
    ids=["evaluator", "model"],
)
def test_what_the_run_does_not_have_is_said(run: Run, evaluator: str, model: str, text: str) -> None:
    with pytest.raises(InputError, match=text):
        objects(run, evaluator, ObjectFilter(model))


class TestThumbnails:
    def test_are_made_once_and_small(self, run: Run) -> None:
        image = run.suite.cases["image"][0].as_py()
        whole, part = thumbnails(run, [(image, None), (image, (10, 10, 40, 30))])
        assert isinstance(whole, bytes)
        assert isinstance(part, bytes)
        assert (Image.open(io.BytesIO(whole)).size, Image.open(io.BytesIO(part)).size) == ((120, 90), (30, 20))
        files = list((run.workspace.path / "thumbnails").rglob("*.jpg"))
        before = {file: file.stat().st_mtime_ns for file in files}
        assert thumbnails(run, [(image, None), (image, (10, 10, 40, 30))]) == [whole, part]
        assert {file: file.stat().st_mtime_ns for file in files} == before

    def test_without_time_at_least_one_is_made(self, run: Run) -> None:
        wanted = [(image, (0, 0, 50, 50)) for image in run.suite.cases["image"].to_pylist()]
        for _ in wanted:
            found = thumbnails(run, wanted, seconds=0)
        assert None not in found

    @pytest.mark.parametrize(("content", "reason"), [
        pytest.param(None, "the image is not there", id="absent"),
        pytest.param(b"", "the image cannot be read: UnidentifiedImageError", id="empty"),
        pytest.param(b"<svg onload=alert(1)>", "the image cannot be read: UnidentifiedImageError", id="no-image"),
        pytest.param("truncated", "the image cannot be read: OSError", id="truncated"),
        pytest.param("bomb", "the image has 15,000 × 10,001 pixels; at most 150,000,000 are shown", id="bomb"),
    ])  # fmt: skip
    def test_an_image_that_cannot_be_shown_has_a_reason(self, run: Run, content: object, reason: str) -> None:
        name = f"bad-{abs(hash(reason))}{content!r:.5}.png".replace("/", "")
        path = run.suite.media / name
        if content == "truncated":
            Image.fromarray(np.random.default_rng(0).integers(0, 255, (60, 60, 3), np.uint8)).save(path)
            path.write_bytes(path.read_bytes()[:2000])
        elif content == "bomb":
            Image.new("1", (15_000, 10_001)).save(path)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        assert (thumbnails(run, [(name, None)]), thumbnails(run, [(name, None)])) == ([reason], [reason])


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_rings_enclose_the_mask(height: int, width: int, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=height * width, max_size=height * width))
    mask = np.array(bits).reshape(height, width)
    runs, previous = [0], False
    for bit in mask.T.ravel().tolist():
        if bit != previous:
            runs.append(0)
            previous = bit
        runs[-1] += 1
    rings = mask_rings(rle.encode(runs), height, rle.box(runs, height))
    shoelace = 0.0
    for ring in rings:
        x, y = np.array(ring[0::2]), np.array(ring[1::2])
        shoelace += float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2  # holes turn the other way round
    assert shoelace == mask.sum()


@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 6), st.integers(0, 6))
def test_a_page_of_a_sort_is_a_part_of_the_whole_sort(values: list[int], offset: int, limit: int) -> None:
    given = np.array(values, np.float64)
    whole = np.argsort(given, kind="stable")
    assert _first(given, offset, limit).tolist() == whole[offset : offset + limit].tolist()


@pytest.mark.parametrize(
    ("made", "whole", "once", "errors"),
    [
        pytest.param(
            [("dog", 0.0, 0.9)], {"fp_misclassification": 1, "fn_misclassification": 1}, {"fp_misclassification": 1}, 1,
            id="one-mistake",
        ),
        pytest.param(
            [("dog", 0.0, 0.1)], {"fn_misclassification": 1}, {"fn_misclassification": 1}, 1, id="that-does-not-count"
        ),
        pytest.param(
            [("dog", 0.0, 0.9), ("dog", 1.0, 0.8)], {"fp_misclassification": 2, "fn_misclassification": 1},
            {"fp_misclassification": 2}, 2, id="two-for-one-object",
        ),
    ],
)  # fmt: skip
def test_a_wrong_class_is_one_mistake(tmp_path: Path, made: Any, whole: Any, once: Any, errors: int) -> None:
    box = {"case_id": "c", "y": 0.0, "width": 9.0, "height": 9.0}
    truth = box | {"label": "cat", "x": 0.0, "annotation_id": 1}
    suite = Suite.from_rows("s", "detection", [{"case_id": "c"}], [truth], labels=("cat", "dog"))
    rows = [box | {"model": "m", "label": label, "x": x, "score": score} for label, x, score in made]
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m"}], rows)
    run = finished(Workspace(tmp_path), suite, outputs, BY)
    assert object_counts(run, BY, ObjectFilter("m", score_low=0.5))["kind"] == whole
    assert object_counts(run, BY, ObjectFilter("m", score_low=0.5, once=True))["kind"] == once
    assert listed_cases(run, BY, BY).rows["errors"].tolist() == [errors]
