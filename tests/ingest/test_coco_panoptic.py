"""COCO panoptic folders and zips: the maps as segments, what is wrong with some, and the numbers they give."""
# ruff: noqa: E501 - a table reads better with one line a case

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.ingest import inspect, read_outputs, read_suite
from metrics.ingest.media import png_maps
from metrics.vision.rle import decode
from tests.evaluators.detected import pick, run
from tests.evaluators.panoptic_oracle import plain_quality, random_pictures
from tests.ingest.files import packed, picture, read_refusal

CATEGORIES = [{"id": 3, "name": "cat", "isthing": 1}, {"id": 2, "name": "sky", "isthing": 0}]
IDS = np.array([[7, 7, 0], [7, 66_000, 66_000]])


def coloured(ids: Any, kind: str = "RGB") -> bytes:
    """A map as COCO's PNG: R + 256 G + 65,536 B."""
    pixels = np.stack([ids % 256, ids // 256 % 256, ids // 65_536], axis=-1).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).convert(kind).save(buffer, "PNG")
    return buffer.getvalue()


def record(*segments: tuple[int, int], **more: Any) -> dict[str, Any]:
    info = [{"id": id, "category_id": kind} for id, kind in segments]
    return {"image_id": 9, "file_name": "b.png", "segments_info": info} | more


def document(*records: dict[str, Any]) -> dict[str, Any]:
    images = [{"id": 9, "file_name": "b.jpg", "width": 3, "height": 2, "weather": "fog"}]
    return {"images": images, "categories": CATEGORIES, "annotations": list(records)}


SEGMENTS = record((7, 3), (66_000, 2))
ZIP = {"panoptic_val.json": document(SEGMENTS), "panoptic_val/b.png": coloured(IDS)}


def test_ground_truth(tmp_path):
    crowd = document(
        SEGMENTS | {"segments_info": [{"id": 7, "category_id": 3, "iscrowd": 1}, {"id": 66_000, "category_id": 2}]}
    )
    files = ZIP | {"panoptic_val.json": crowd, "images/b.jpg": picture(3, 2, "JPEG")}
    suite = read_suite(packed(tmp_path / "s.zip", files), workspace_media=tmp_path / "media")
    assert (suite.task, suite.labels, suite.category_ids) == ("segmentation", ("sky", "cat"), (2, 3))
    assert suite.cases["metadata.weather"].to_pylist() == ["fog"]
    assert suite.classes == {"cat": ClassFacts(is_thing=True), "sky": ClassFacts(is_thing=False)}
    (case,) = suite.cases.to_pylist()
    assert (case["case_id"], case["image_width"], case["image_height"]) == ("9", 3, 2)
    assert case["image"] is not None
    rows = [(row["label"], row["is_crowd"], decode(row["rle"])) for row in suite.annotations.to_pylist()]
    assert rows == [("cat", True, [0, 3, 3]), ("sky", False, [3, 1, 1, 1])]


def test_a_model_needs_neither_images_nor_categories(tmp_path):
    suite = read_suite(packed(tmp_path / "s.zip", ZIP))
    files = {"p.json": {"annotations": [SEGMENTS]}, "b.png": coloured(IDS, "RGBA")}
    path = packed(tmp_path / "model_a.zip", files)
    assert inspect(path).role == "outputs"
    outputs = read_outputs(path, suite=suite)
    assert outputs.outputs["model"].to_pylist() == ["model_a"]
    assert outputs.predictions["label"].to_pylist() == ["cat", "sky"]
    assert pick(run("panoptic_quality", suite, outputs), "PQ").value == 1


@pytest.mark.parametrize("seed", range(4))
def test_files_give_the_numbers_of_the_definition(tmp_path, seed):
    pictures = random_pictures(np.random.default_rng(seed), classes=2)
    truth, guess = ({"categories": CATEGORIES, "images": [], "annotations": []} for _ in range(2))
    files: list[dict[str, Any]] = [{}, {}]
    for place, one in enumerate(pictures):
        truth["images"].append({"id": place, "file_name": f"{place}.jpg"})
        kinds = {id: (kind, crowd) for id, (kind, crowd) in one.true.items()}
        guessed = {id: (kind, False) for id, kind in one.predicted.items()}
        for side, name, ids, own in ((truth, 0, one.truth, kinds), (guess, 1, one.prediction, guessed)):
            info = [{"id": id, "category_id": [3, 2][kind], "iscrowd": int(crowd)} for id, (kind, crowd) in own.items()]
            side["annotations"].append({"image_id": place, "file_name": f"{place}.png", "segments_info": info})
            files[name][f"{place}.png"] = coloured(ids)
    suite = read_suite(packed(tmp_path / "s.zip", files[0] | {"t.json": truth}))
    findings = run(
        "panoptic_quality", suite, read_outputs(packed(tmp_path / "m.zip", files[1] | {"p.json": guess}), suite=suite)
    )
    for kind, values in plain_quality(pictures, 2).items():
        found = [pick(findings, name, ["cat", "sky"][kind]).value for name in ("PQ", "SQ", "RQ")]
        assert found == ([None] * 3 if values is None else pytest.approx(values, abs=1e-12))


FAULTS = {
    "an unknown image": (record((7, 3), image_id=8), {}, "column annotations.image_id: found 8; expected the id of an image"),
    "no such map": (record((7, 3), file_name="c.png"), {}, "column annotations.file_name: found 'c.png'; expected the name of a PNG"),
    "an unknown category": (record((7, 1)), {}, "expected a list of {id, category_id}: ids from 1"),
    "an id twice": (record((7, 3), (7, 2)), {}, "expected a list of {id, category_id}: ids from 1"),
    "id 0": (record((0, 3)), {}, "expected a list of {id, category_id}: ids from 1"),
    "a segment that is not listed": (record((7, 3)), {}, "found pixels of the segments 66000; expected ids of the image's"),
    "a segment without pixels": (record((7, 3), (66_000, 2), (5, 2)), {}, "found no pixel of the segments 5; expected"),
    "no PNG": (SEGMENTS, {"panoptic_val/b.png": b"x"}, "found no PNG file; expected a PNG of 8 bits a colour"),
    "a palette": (SEGMENTS, {"panoptic_val/b.png": coloured(IDS, "P")}, "found palette pixels; expected a PNG of 8 bits"),
    "no list": (record(segments_info={"id": 1}), {}, "expected a list of {id, category_id}"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "files", "text"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_wrong_is_said(tmp_path, entry, files, text):
    path = packed(tmp_path / "s.zip", ZIP | {"panoptic_val.json": document(entry)} | files)
    assert text in read_refusal(read_suite, path)


def test_maps_of_another_size_and_beyond_all_bounds(tmp_path, monkeypatch):
    suite = read_suite(packed(tmp_path / "s.zip", ZIP))
    files = {"p.json": {"annotations": [record((7, 3))]}, "b.png": coloured(np.full((4, 4), 7))}
    with pytest.raises(InputError, match="4 × 4 pixels; expected 3 × 2, as the ground truth has"):
        read_outputs(packed(tmp_path / "m.zip", files), suite=suite)
    monkeypatch.setattr(png_maps, "MOST_PIXELS", 5)
    with pytest.raises(InputError, match="3 × 2 pixels; expected a mask of at most 5 pixels"):
        read_suite(packed(tmp_path / "s.zip", ZIP))


@pytest.mark.attack("suite author", "ids and lists of other types than COCO's", "each is a problem of its row")
def test_other_types_are_told(tmp_path):
    for number, segments in enumerate(([{"id": [7], "category_id": 3}], 7)):
        files = ZIP | {"panoptic_val.json": document(SEGMENTS | {"segments_info": segments})}
        with pytest.raises(InputError, match="segments_info"):
            read_suite(packed(tmp_path / f"{number}.zip", files))
    path = packed(tmp_path / "none.zip", ZIP | {"panoptic_val.json": {"annotations": 5, "x": '"segments_info"'}})
    with pytest.raises(InputError, match="annotations"):
        read_suite(path)


def test_ids_that_are_texts(tmp_path):
    """The same regions as with numbers; what else stands in the document is said."""
    named = document(
        {
            "image_id": "b",
            "file_name": "b.png",
            "segments_info": [
                {"id": "7", "category_id": "c-3", "area": 3, "iscrowd": False},
                {"id": 66_000, "category_id": "c-2"},
            ],
        }
    )
    named |= {
        "images": [{"id": "b", "file_name": "b.jpg"}],
        "categories": [each | {"id": f"c-{each['id']}"} for each in CATEGORIES],
        "info": {"year": 1},
    }
    path = packed(tmp_path / "s.zip", ZIP | {"panoptic_val.json": named})
    suite, plain = read_suite(path), read_suite(packed(tmp_path / "p.zip", ZIP))
    assert (suite.cases["case_id"].to_pylist(), suite.category_ids, suite.classes["sky"].id) == (["b"], (), "c-2")
    assert suite.annotations["rle"].to_pylist() == plain.annotations["rle"].to_pylist()
    assert suite.annotations["label"].to_pylist() == ["cat", "sky"]
    outputs = read_outputs(path, suite=suite)
    assert outputs.predictions["label"].to_pylist() == ["cat", "sky"]
    unused = {line.place for line in suite.receipt if line.use == "unused"}
    assert unused == {"annotations[].segments_info[].area", "info.year"}
