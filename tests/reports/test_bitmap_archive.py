"""The archive of bitmaps: what is in it, and that our own readers get the same pixels back."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from metrics import bitmap
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.ingest import read_suite
from metrics.reports.renderers import bitmap_archive as archive_of
from metrics.reports.renderers.bitmap_archive import bitmap_archive
from metrics.store import Run, Workspace
from metrics.vision.masks import Shapes, draw, encode
from tests.engine.engine_scenes import finished
from tests.ingest.files import write

HEIGHT, WIDTH = 30, 40
HOLED = draw(
    Shapes.of(polygons=[[[2, 2, 22, 2, 22, 22, 2, 22, 2, 2, 6, 6, 6, 12, 12, 12, 12, 6, 6, 6]]]), HEIGHT, WIDTH
)
SHAPES: list[dict[str, Any]] = [
    {"label": "box", "x": 3.0, "y": 4.0, "width": 10.0, "height": 5.0},
    {"label": "../turned", "polygons": [[20.0, 2.0, 30.0, 12.0, 20.0, 22.0, 10.0, 12.0]]},
    {"label": "holed", "rle": encode(HOLED)[0]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    cases = [
        {"case_id": "b", "image_height": 9, "image_width": 9},
        {"case_id": "../a", "image_height": HEIGHT, "image_width": WIDTH},
    ]
    truths = [{"case_id": "../a", "annotation_id": place, **shape} for place, shape in enumerate(SHAPES)]
    suite = Suite.from_rows("shapes", "detection", cases, truths)
    found = [{"case_id": "../a", "model": "a/b", "score": 0.5, **SHAPES[0]}]
    outputs = Outputs.from_rows([{"case_id": name, "model": "a/b"} for name in ("b", "../a")], found)
    return finished(Workspace(tmp_path_factory.mktemp("w")), suite, outputs, "average_precision")


@pytest.fixture(scope="module")
def archive(run: Run) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(bitmap_archive(run)))


def lines(archive: zipfile.ZipFile) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read("objects.jsonl").decode().splitlines()]


def test_every_object_has_a_file_of_our_own_name(archive: zipfile.ZipFile) -> None:
    about = [(row["file"], row["case_id"], row["model"], row["label"], row["score"]) for row in lines(archive)]
    assert about == [
        ("ground_truth/000001.png", "../a", None, "box", None),
        ("ground_truth/000002.png", "../a", None, "../turned", None),
        ("ground_truth/000003.png", "../a", None, "holed", None),
        ("model_1/000001.png", "../a", "a/b", "box", 0.5),
    ]
    assert sorted(archive.namelist()) == sorted([row[0] for row in about] + ["objects.jsonl"])


def test_the_pictures_are_the_bitmaps(archive: zipfile.ZipFile) -> None:
    for row, shape in zip(lines(archive), SHAPES, strict=False):
        with Image.open(io.BytesIO(archive.read(row["file"]))) as image:
            assert (image.mode, image.size) == ("P", (WIDTH, HEIGHT))
            assert image.getpalette()[:6] == [0, 0, 0, 255, 255, 255]
            assert (np.asarray(image) == bitmap(shape, HEIGHT, WIDTH)).all()


def test_our_reader_of_masks_gets_the_same_pixels(archive: zipfile.ZipFile, tmp_path: Path) -> None:
    archive.extractall(tmp_path, [name for name in archive.namelist() if name.startswith("ground_truth")])
    suite = read_suite(tmp_path / "ground_truth", task="segmentation")
    codes = {row["case_id"]: row["rle"] for row in suite.annotations.to_pylist() if row["label"] == "1"}
    expected = [encode(draw(shapes_of(shape), HEIGHT, WIDTH))[0] for shape in SHAPES]
    assert [codes[f"{place:06}"] for place in (1, 2, 3)] == expected


def shapes_of(shape: dict[str, Any]) -> Shapes:
    box = [[shape.get(name, 0.0) for name in ("x", "y", "width", "height")]]
    return Shapes.of(box=box, polygons=[shape.get("polygons")], rle=[shape.get("rle")])


def test_our_reader_of_polygons_gets_the_same_pixels(archive: zipfile.ZipFile, tmp_path: Path) -> None:
    rows = [
        {"image": "a.png", "image_width": WIDTH, "image_height": HEIGHT, "label": row["label"],
         "polygon": json.dumps(row["geojson"])}
        for row in lines(archive)[:3]
    ]  # fmt: skip
    suite = read_suite(write(tmp_path, "s.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    for row, shape in zip(suite.annotations.to_pylist(), SHAPES, strict=True):
        assert (bitmap(row, HEIGHT, WIDTH) == bitmap(shape, HEIGHT, WIDTH)).all()


def test_what_cannot_be_drawn_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_of, "MOST", 3)
    with pytest.raises(InputError, match="found 4 objects; expected at most 3"):
        bitmap_archive(run)
    monkeypatch.undo()
    suite = Suite.from_rows("s", "detection", [{"case_id": "a"}], [{"case_id": "a", "annotation_id": 1, **SHAPES[0]}])
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m"}], [])
    sizeless = finished(Workspace(tmp_path), suite, outputs, "average_precision")
    with pytest.raises(InputError, match="column image_height"):
        bitmap_archive(sizeless)
    texts = Suite.from_rows("t", "text", [{"case_id": "a", "expected_answers": ["x"]}])
    answers = Outputs.from_rows([{"case_id": "a", "model": "m", "answer": "x"}])
    with pytest.raises(InputError, match="expected a run with objects in images"):
        bitmap_archive(finished(Workspace(tmp_path), texts, answers, "rouge"))
