"""The formats of annotation tools: one scene gives the same boxes and the same AP from every one of them."""

import pytest

from metrics.ingest import Reading, inspect, read_outputs, read_suite
from tests.ingest import one_scene
from tests.ingest.files import packed, unpacked, write
from tests.ingest.one_scene import PREDICTIONS, SIZES, TRUTHS, boxes, scores

WRITERS = {
    "yolo": one_scene.yolo, "yolo, rotated boxes": one_scene.yolo_obb, "dota": one_scene.dota, "kitti": one_scene.kitti,
    "labelme": one_scene.labelme, "cvat": one_scene.cvat, "createml": one_scene.createml,
    "label_studio": one_scene.label_studio,
}  # fmt: skip
UNSCORED = {"pascal_voc": one_scene.voc, "labelme_xml": one_scene.labelme_xml}


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
@pytest.mark.parametrize("name", [*WRITERS, *UNSCORED])
def test_the_same_boxes_and_the_same_ap(tmp_path, reference, name, make):
    writer = (WRITERS | UNSCORED)[name]
    truth = make(tmp_path / "truth.zip", writer(TRUTHS) | one_scene.images())
    suite = read_suite(truth, workspace_media=tmp_path / "media")
    assert boxes(suite) == sorted((row[0], row[1], *map(float, row[2:])) for row in TRUTHS)
    assert suite.labels == ("cat", "dog")
    assert suite.cases.select(["case_id", "image_width", "image_height"]).to_pylist() == [
        {"case_id": image, "image_width": wide, "image_height": high} for image, (wide, high) in SIZES.items()
    ]
    assert suite.cases["image"].null_count == 0
    preview = inspect(truth)
    assert (preview.format, preview.role, preview.rows) == (name.split(",")[0], "suite", len(TRUTHS))
    outputs = read_outputs(make(tmp_path / "m.zip", WRITERS.get(name, one_scene.yolo)(PREDICTIONS)), suite=suite)
    assert scores(suite, outputs) == pytest.approx(reference)


@pytest.mark.parametrize("name", WRITERS)
def test_predictions_for_a_suite_of_another_format(tmp_path, reference, name):
    path = packed(tmp_path / "m.zip", WRITERS[name](PREDICTIONS))
    preview = inspect(path)
    assert (preview.format, preview.role, preview.rows) == (name.split(",")[0], "outputs", len(PREDICTIONS))
    for other in (one_scene.voc, one_scene.dota):
        suite = read_suite(packed(tmp_path / f"{other.__name__}.zip", other(TRUTHS) | one_scene.images()))
        assert scores(suite, read_outputs(path, suite=suite)) == pytest.approx(reference)


@pytest.mark.parametrize("first", [0, 1], ids=["ids from 0", "ids from 1"])
def test_coco_with_scores_and_ids_from_0(tmp_path, reference, first):
    """Ids of images, annotations and categories may begin with 0; the numbers of the two files need not be the same."""
    suite = read_suite(write(tmp_path, "truth.json", one_scene.coco(TRUTHS, 0)))
    assert suite.annotations["annotation_id"].to_pylist() == [0, 1, 2, 3, 4]
    assert boxes(suite) == sorted((row[0], row[1], *map(float, row[2:])) for row in TRUTHS)
    path = write(tmp_path, "m.json", one_scene.coco(PREDICTIONS, first))
    assert (inspect(path).format, inspect(path).role) == ("coco_ground_truth", "outputs")
    outputs = read_outputs(path, suite=suite)
    assert outputs.models == ("m",)
    assert scores(suite, outputs) == pytest.approx(reference)
    other = read_suite(packed(tmp_path / "s.zip", one_scene.cvat(TRUTHS)))
    assert scores(other, read_outputs(path, suite=other)) == pytest.approx(reference)


def test_images_of_one_name_in_several_folders(tmp_path):
    body = "".join(
        f'<image id="{place}" name="1.png" subset="{subset}" width="9" height="9"/>'
        for place, subset in enumerate(("Train", "Val"))
    )
    suite = read_suite(write(tmp_path, "a.xml", f"<annotations>{body}<meta/></annotations>"))
    assert suite.cases["case_id"].to_pylist() == ["Train/1", "Val/1"]
    entries = {
        f"{split}/{name}": content for split in ("train", "val") for name, content in one_scene.labelme(TRUTHS).items()
    }
    every = Reading(answers={"split": "all"})
    assert read_suite(packed(tmp_path / "l.zip", entries), reading=every).cases["case_id"].to_pylist() == [
        "train/a", "train/b", "val/a", "val/b",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in (*WRITERS, *UNSCORED) if "yolo" not in name])
def test_one_split_is_read_in_every_format(tmp_path, name):
    """Truth of the split train lies a pixel off, so that a model of the split test is seen to be compared with its."""
    moved = [(row[0], row[1], row[2] + 1, *row[3:]) for row in TRUTHS]
    entries = {
        f"{split}/{file}": content
        for split, rows in (("train", moved), ("test", TRUTHS))
        for file, content in (WRITERS | UNSCORED)[name](rows).items()
    }
    path = packed(tmp_path / "s.zip", entries)
    suite = read_suite(path, reading=Reading(sheet="train"))
    assert one_scene.boxes(suite) == sorted(moved)
    suite = read_suite(path)
    assert one_scene.boxes(suite) == sorted(TRUTHS)
    said = "\n".join(map(str, suite.receipt))
    assert "split=test, as it seems; else split=train or split=all" in said
    assert inspect(path).sheets == ("train", "test", "all")
    assert inspect(path).sheet == "test"
