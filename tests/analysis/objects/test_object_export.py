"""A selection of objects as files that others read: pycocotools, a YOLO data set, a spreadsheet, a suite."""

import contextlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from metrics.analysis import ObjectFilter, as_coco, as_csv, as_yolo, object_counts, object_keys, objects, selected_suite
from metrics.core.suite import Outputs, Suite
from metrics.ingest import outputs_from_frame, suite_from_frame
from metrics.reports.renderers.export_tables import table
from metrics.store import Run, Workspace
from metrics.store.reviews import Place, Review
from tests.engine.engine_scenes import finished

BY = "detection_pr_curve"
GHOSTS = ObjectFilter("keen", kinds=("fp_hallucination",), search="p1")


@pytest.fixture(scope="module")
def run(pictures: Run) -> Run:
    return pictures


@pytest.mark.parametrize(("places", "expected"), [
    pytest.param((("p0", "p2"), ("p1", "p5")), {"tp": 1, "fp_hallucination": 1}, id="objects"),
    pytest.param((("p3", ""),), {"tp": 2, "fp_hallucination": 1}, id="an-image"),
    pytest.param((("p0", "p2"), ("p0", "")), {"tp": 2, "fp_hallucination": 1}, id="an-object-of-the-image"),
    pytest.param((("p0", "a1"), ("nobody", ""), ("p0", "p999")), {}, id="what-is-not-there"),
    pytest.param((), {}, id="none"),
])  # fmt: skip
def test_places(run: Run, places: tuple[tuple[str, str], ...], expected: dict[str, int]) -> None:
    # the predictions of keen in p1 are 4, 5 and 6
    assert object_counts(run, BY, ObjectFilter("keen", places=places))["kind"] == expected


def test_a_missed_object_has_a_place(run: Run) -> None:
    found = objects(run, BY, ObjectFilter("shy", places=(("p2", "a6"), ("p2", "a5"))))
    assert [(tile.case_id, tile.objects[0].key, tile.objects[0].kind) for tile in found.tiles] == [
        ("p2", "a6", "fn_no_prediction")
    ]
    assert object_keys(run, BY, ObjectFilter("shy", kinds=("fn_no_prediction",), search="p2")) == [("p2", "a6")]


@pytest.mark.parametrize(("chosen", "expected"), [
    pytest.param(ObjectFilter("shy", right_in="keen"), {"fn_no_prediction": 4}, id="dogs-that-keen-finds"),
    pytest.param(ObjectFilter("shy", right_in="keen", score_low=0.7), {}, id="not-at-a-score-that-keen-fails"),
    pytest.param(ObjectFilter("keen", right_in="shy"), {}, id="keen-finds-all-that-shy-does"),
    pytest.param(ObjectFilter("shy", right_in="keen", iou=0.9), {"fn_no_prediction": 4}, id="at-another-iou"),
    pytest.param(ObjectFilter("keen", right_in="shy", score_low=0.95), {}, id="both-wrong"),
])  # fmt: skip
def test_wrong_here_and_right_there(run: Run, chosen: ObjectFilter, expected: dict[str, int]) -> None:
    assert object_counts(run, BY, chosen)["kind"] == expected


@pytest.mark.parametrize("by_image", [False, True], ids=["objects", "images"])
@pytest.mark.parametrize("sort", ["score", "size_up", "suite"])
def test_keys_are_those_of_the_pages(run: Run, sort: str, by_image: bool) -> None:
    tiles = objects(run, BY, ObjectFilter("keen"), sort, by_image, limit=100).tiles
    keys = [(tile.case_id, "" if by_image else tile.objects[0].key) for tile in tiles]
    assert object_keys(run, BY, ObjectFilter("keen"), sort, by_image) == keys


def test_coco_is_read_by_pycocotools(run: Run, tmp_path: Path) -> None:
    from pycocotools.coco import COCO

    path = tmp_path / "selection.json"
    path.write_bytes(as_coco(run, BY, GHOSTS))
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(path))
        results = coco.loadRes([row | {"score": row["score"]} for row in json.loads(path.read_text())["predictions"]])
    assert [image["width"] for image in coco.loadImgs(coco.getImgIds())] == [120]
    names = {category["id"]: category["name"] for category in coco.loadCats(coco.getCatIds())}
    found = {names[each["category_id"]]: each["bbox"] for each in coco.loadAnns(coco.getAnnIds())}
    assert found == {"cat": [10.0, 10.0, 30.0, 20.0], "dog": [60.0, 40.0, 40.0, 30.0]}
    (ghost,) = results.loadAnns(results.getAnnIds())
    assert (names[ghost["category_id"]], ghost["bbox"], ghost["outcome"]) == (
        "dog", [80.0, 5.0, 10.0, 10.0], "fp_hallucination",
    )  # fmt: skip


def test_the_whole_document_of_one_image(run: Run) -> None:
    document = json.loads(as_coco(run, BY, ObjectFilter("keen", search="p2")))
    assert document == {
        "info": {"description": "pictures"},
        "images": [
            {"id": 3, "case_id": "p2", "file_name": run.suite.cases["image"][2].as_py(), "width": 120, "height": 90}
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": 5, "image_id": 3, "category_id": 1, "bbox": [10, 10, 30, 20], "area": 600, "iscrowd": 0},
            {"id": 6, "image_id": 3, "category_id": 2, "bbox": [60, 40, 40, 30], "area": 1200, "iscrowd": 0},
        ],
        "predictions": [
            {"image_id": 3, "category_id": 1, "score": 0.9, "bbox": [10, 10, 30, 20], "outcome": "tp"},
            {"image_id": 3, "category_id": 2, "score": 0.6, "bbox": [60, 40, 40, 30], "outcome": "tp"},
            {"image_id": 3, "category_id": 2, "score": 0.3, "bbox": [80, 5, 10, 10], "outcome": "fp_hallucination"},
        ],
    }


def test_crowds_and_masks_in_files(tmp_path: Path) -> None:
    box = {"label": "cat", "x": 10.0, "y": 20.0, "width": 40.0, "height": 60.0, "area": 2400.0}
    cases = [{"case_id": "a", "image_width": 100, "image_height": 200}, {"case_id": "b"}]
    rows = [
        box | {"case_id": "a", "annotation_id": 1},
        box | {"case_id": "a", "annotation_id": 2, "is_crowd": True},
        box | {"case_id": "b", "annotation_id": 3},
    ]
    made = [box | {"case_id": case, "model": "m", "score": 0.5} for case in "ab"]
    outputs = Outputs.from_rows([{"case_id": case, "model": "m"} for case in "ab"], made)
    run = finished(Workspace(tmp_path), Suite.from_rows("s", "detection", cases, rows), outputs, BY)
    document = json.loads(as_coco(run, BY, ObjectFilter("m")))
    assert [row["iscrowd"] for row in document["annotations"]] == [0, 1, 0]
    assert document["images"] == [
        {"id": 1, "case_id": "a", "file_name": "a", "width": 100, "height": 200},
        {"id": 2, "case_id": "b", "file_name": "b"},
    ]
    with zipfile.ZipFile(io.BytesIO(as_yolo(run, BY, ObjectFilter("m")))) as archive:
        labels = {name: archive.read(name).decode() for name in archive.namelist() if name.startswith("labels")}
    assert labels == {"labels/a.txt": "0 0.300000 0.250000 0.400000 0.300000\n", "labels/b.txt": ""}


def test_coco_keeps_the_ids_and_names_of_the_file_it_came_from(tmp_path: Path) -> None:
    box = {"category_id": 3, "bbox": [10, 10, 30, 30], "area": 900, "iscrowd": 0}
    truth = {
        "images": [
            {"id": number, "width": 90, "height": 90, "file_name": f"pets/{number}.jpg"} for number in (397, 42)
        ],
        "categories": [{"id": 3, "name": "cat"}],
        "annotations": [box | {"id": 90_001, "image_id": 397}, box | {"id": 17, "image_id": 42}],
    }
    made = [{"image_id": number, "category_id": 3, "bbox": [10, 10, 30, 30], "score": 0.5} for number in (397, 42)]
    suite = suite_from_frame(truth)
    run = finished(Workspace(tmp_path), suite, outputs_from_frame(made, suite=suite, model_name="m"), BY)
    document = json.loads(as_coco(run, BY, ObjectFilter("m")))
    assert {image["id"]: image["file_name"] for image in document["images"]} == {397: "pets/397.jpg", 42: "pets/42.jpg"}
    assert {row["id"]: row["image_id"] for row in document["annotations"]} == {90_001: 397, 17: 42}
    assert {row["image_id"] for row in document["predictions"]} == {397, 42}
    images = {
        row.case_id: row.image for row in pd.read_csv(io.BytesIO(as_csv(run, BY, ObjectFilter("m")))).itertuples()
    }
    assert images == {397: "pets/397.jpg", 42: "pets/42.jpg"}
    assert {*table(run, "matches")["image"]} == {"pets/397.jpg", "pets/42.jpg"}


def test_yolo_has_labels_and_images(run: Run) -> None:
    with zipfile.ZipFile(io.BytesIO(as_yolo(run, BY, GHOSTS))) as archive:
        names = archive.namelist()
        (labels,) = [name for name in names if name.startswith("labels/")]
        assert f"images/{Path(labels).stem}.png" in names
        assert 'names:\n  0: "cat"\n  1: "dog"\n' in archive.read("data.yaml").decode()
        assert archive.read(labels).decode().splitlines() == [
            "0 0.208333 0.222222 0.250000 0.222222", "1 0.666667 0.611111 0.333333 0.333333",
        ]  # fmt: skip


def test_the_columns_of_a_csv(run: Run) -> None:
    table = pd.read_csv(io.BytesIO(as_csv(run, BY, ObjectFilter("keen", search="p3"))))
    image = run.suite.cases["image"][3].as_py()
    assert table.drop(columns=["tags", "note"]).astype(object).where(table.notna(), None).to_dict("records") == [
        {
            "case_id": "p3", "image": image, "model": "keen", "repeat": 1, "object": f"p{12 + place}",
            "outcome": outcome, "label": label, "true_label": label if outcome == "tp" else None, "score": score,
            "iou": 1.0 if outcome == "tp" else None, **dict(zip(("x", "y", "width", "height"), box, strict=True)),
            **dict(zip(("truth_x", "truth_y", "truth_width", "truth_height"),
                       box if outcome == "tp" else [None] * 4, strict=True)),
        }
        for place, (outcome, label, score, box) in enumerate([
            ("tp", "cat", 0.9, (10, 10, 30, 20)), ("tp", "dog", 0.6, (60, 40, 40, 30)),
            ("fp_hallucination", "dog", 0.3, (80, 5, 10, 10)),
        ])
    ]  # fmt: skip


def test_csv_has_a_row_an_object_with_its_tags(run: Run) -> None:
    Review(run).tag([Place("p1", "keen", 1, "p6")], add=["=cmd()"])
    Review(run).note(Place("p1", "keen", 1, "p6"), "A shadow")
    table = pd.read_csv(io.BytesIO(as_csv(run, BY, GHOSTS)))
    columns = ["case_id", "object", "outcome", "label", "score", "x", "width", "tags", "note"]
    assert table[columns].to_numpy().tolist() == [
        ["p1", "p6", "fp_hallucination", "dog", 0.3, 80.0, 10.0, "'=cmd()", "A shadow"]
    ]


def test_the_suite_of_a_selection_can_be_evaluated(run: Run, tmp_path: Path) -> None:
    suite = selected_suite(run, BY, GHOSTS)
    assert (len(suite), suite.media) == (1, run.suite.media)
    outputs = run.outputs.restricted(case_ids=suite.cases["case_id"].combine_chunks())
    again = finished(Workspace(tmp_path), suite, outputs, BY)
    assert object_counts(again, BY, ObjectFilter("keen"))["kind"] == {"tp": 2, "fp_hallucination": 1}


def test_a_mask_stays_a_mask(pictures: Run, tmp_path: Path) -> None:
    whole = pictures
    ring = [[10.0, 10.0, 40.0, 10.0, 40.0, 30.0]]
    rows = [row | {"polygons": ring if row["label"] == "cat" else None} for row in whole.suite.annotations.to_pylist()]
    suite = Suite.from_rows("masks", "detection", whole.suite.cases.select(range(5)).to_pylist(), rows)
    run = finished(Workspace(tmp_path / "masks"), suite, whole.outputs, BY)
    document = json.loads(as_coco(run, BY, ObjectFilter("keen", kinds=("tp",), search="p0")))
    shapes = {row["category_id"]: row.get("segmentation") for row in document["annotations"]}
    assert shapes == {1: ring, 2: None}


def test_images_without_a_name_of_their_own_are_told_apart(run: Run, tmp_path: Path) -> None:
    names = pa.array(["a/x.png", "b/x.png", "../x.png", "x.png"])
    cases = run.suite.cases.append_column("metadata.image_name", names)
    again = finished(Workspace(tmp_path / "named"), replace(run.suite, cases=cases), run.outputs, BY)
    with zipfile.ZipFile(io.BytesIO(as_yolo(again, BY, ObjectFilter("keen")))) as archive:
        labels = sorted(name for name in archive.namelist() if name.startswith("labels/"))
    assert labels == ["labels/2-x.txt", "labels/3-x.txt", "labels/4-x.txt", "labels/x.txt"]
