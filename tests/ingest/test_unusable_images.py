"""Missing and broken images: AP needs no pixels, so they are listed as notes and the suite is evaluated."""

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import sizes_assumed
from metrics.evaluators.detection.average_precision import AverageRecallParameters, average_recall
from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from metrics.ingest import load_suite, read_outputs, read_suite
from tests.ingest import one_scene
from tests.ingest.files import packed, write
from tests.ingest.one_scene import PREDICTIONS, TRUTHS, boxes, scores

UNKNOWN = (
    "Images of unknown size: {} of 2. Their boxes of 0–1 are kept as if the image had 1,000 × 1,000 pixels: IoU is the "
    "same, scores by area have no value."
)
SHOWN = "Images that cannot be shown: {} of 2. No score depends on them."


def truncated(image: bytes) -> bytes:
    return image[: len(image) - 40]


BROKEN = {
    "missing": ({"images/b.png": None}, "no image 'b"),
    "truncated": ({"images/b.png": truncated(one_scene.images()["images/b.png"])}, "images/b.png: "),
    "no image": ({"images/b.png": b"hello"}, "images/b.png: cannot identify image file"),
}
KNOW_SIZES = {"cvat": one_scene.cvat, "labelme": one_scene.labelme, "label_studio": one_scene.label_studio,
              "voc": one_scene.voc}  # fmt: skip


def with_images(files: dict, change: dict) -> dict:
    return {name: data for name, data in (files | one_scene.images() | change).items() if data is not None}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("writer", [*KNOW_SIZES.values(), one_scene.yolo], ids=[*KNOW_SIZES, "yolo"])
def test_a_missing_or_broken_image_is_a_note(tmp_path, reference, writer, broken):
    change, found = BROKEN[broken]
    loaded = load_suite(packed(tmp_path / "s.zip", with_images(writer(TRUTHS), change)))
    suite = loaded.value
    assert (len(suite), suite.left_out, loaded.problems) == (2, 0, ())
    assert suite.cases["image"].null_count == 1
    assert SHOWN.format(1) in loaded.notes
    assert any(found in note for note in loaded.notes)
    outputs = read_outputs(packed(tmp_path / "m.zip", one_scene.yolo(PREDICTIONS)), suite=suite)
    known = not sizes_assumed(suite.cases)
    assert known == (writer is not one_scene.yolo or broken == "truncated")
    expected = {name: value for name, value in reference.items() if known or not name.endswith(SIZES)}
    found_scores = scores(suite, outputs)
    assert {name: found_scores[name] for name in expected} == pytest.approx(expected)


SIZES = ("_small", "_medium", "_large")


@pytest.mark.parametrize("writer", [one_scene.yolo, one_scene.open_images], ids=["yolo", "open_images"])
def test_boxes_of_0_to_1_without_any_image(tmp_path, reference, writer):
    """IoU is the same when both axes are stretched, so AP is exact; AP by area has no value and says why."""
    loaded = load_suite(packed(tmp_path / "s.zip", writer(TRUTHS)))
    suite = loaded.value
    assert loaded.notes == (UNKNOWN.format(2),)
    assert sizes_assumed(suite.cases)
    assert suite.cases["metadata.assumed_size"].to_pylist() == ["yes", "yes"]
    for given in (one_scene.yolo, one_scene.open_images, one_scene.cvat, one_scene.label_studio):
        outputs = read_outputs(packed(tmp_path / "m.zip", given(PREDICTIONS)), suite=suite)
        found = coco_summary(suite, outputs, CocoSummaryParameters(geometry="box"))
        rows = {row.metric: row for row in found.aggregates if row.label is None}
        for name, value in reference.items():
            if name.endswith(SIZES):
                assert (rows[name].value, rows[name].reason) == (None, NO_SIZES), name
            else:
                assert rows[name].value == pytest.approx(value), name
    recall = average_recall(suite, outputs, AverageRecallParameters())
    by_area = [row for row in recall.aggregates if row.metric == "coco_ar"]
    assert {row.columns["area"]: row.value is None for row in by_area} == {
        "all": False, "small": True, "medium": True, "large": True,
    }  # fmt: skip


NO_SIZES = "the sizes of the images are unknown, so are areas in pixels"


def test_sizes_may_come_in_the_table_and_pixels_need_them(tmp_path):
    lines = one_scene.open_images(TRUTHS)["boxes.csv"].splitlines()
    sized = [lines[0] + ",image_width,image_height"]
    sized += [f"{line},{','.join(map(str, one_scene.SIZES[line[0]]))}" for line in lines[1:]]
    suite = read_suite(write(tmp_path, "s.csv", "\n".join(sized) + "\n"))
    assert not sizes_assumed(suite.cases)
    assert boxes(suite) == sorted((row[0], row[1], *map(float, row[2:])) for row in TRUTHS)
    suite = read_suite(packed(tmp_path / "s.zip", one_scene.yolo(TRUTHS)))
    with pytest.raises(
        InputError, match="found 'a' with boxes in pixels; expected the size of the image, or boxes of 0–1"
    ):
        read_outputs(packed(tmp_path / "m.zip", one_scene.kitti(PREDICTIONS)), suite=suite)
