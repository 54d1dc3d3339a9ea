"""Key points in uploads: COCO's ground truth and results, YOLO's pose labels, and what is wrong with some."""

import json
from typing import Any

import numpy as np
import pytest

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.ingest import Reading, load_outputs, read_outputs, read_suite
from tests.evaluators.detected import pick, run
from tests.ingest.files import packed, read_refusal, write
from tests.vision.keypoint_oracle import NAMES, coco_poses, random_poses

PERSON = {
    "id": 4, "name": "person", "keypoints": ["head", "hand"], "skeleton": [[1, 2], [2, 9], "x"],
}  # fmt: skip
TRUTH = {
    "images": [{"id": 7, "file_name": "a.png", "width": 100, "height": 50}],
    "categories": [PERSON, {"id": 5, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 4, "bbox": [0, 0, 50, 50], "keypoints": [9, 9, 2, 0, 0, 0],
         "num_keypoints": 1},
        {"id": 2, "image_id": 7, "category_id": 4, "keypoints": [9, 9, 2, 30, 29, 1, ]},
        {"id": 3, "image_id": 7, "category_id": 5, "bbox": [0, 0, 9, 9]},
    ],
}  # fmt: skip
RESULTS = [{"image_id": 7, "category_id": 4, "score": 0.5, "keypoints": [10, 9, 1, 30, 40, 0.2]}]
SIDES = ("x", "y", "width", "height")


def test_coco_key_points_are_read(tmp_path):
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    assert suite.classes == {"person": ClassFacts(keypoints=("head", "hand"), skeleton=((0, 1),))}
    assert suite.annotations["keypoints"].to_pylist() == [[9, 9, 2, 0, 0, 0], [9, 9, 2, 30, 29, 1], None]
    around = [suite.annotations[side][1].as_py() for side in SIDES]
    assert around == [9, 9, 21, 20]  # of the labelled points, where there is no box
    outputs = read_outputs(write(tmp_path, "r.json", RESULTS), suite=suite)
    assert outputs.predictions["keypoints"].to_pylist() == [[10, 9, 1, 30, 40, 0.2]]
    assert [outputs.predictions[side][0].as_py() for side in SIDES] == [10, 9, 20, 31]


@pytest.mark.parametrize(("keypoints", "text"), [
    pytest.param([1, 2], "column keypoints: found '[1, 2]'; expected a list of x, y, v", id="no v"),
    pytest.param([1, 2, "x"], "expected a list of x, y, v for each key point, in finite numbers", id="a text"),
    pytest.param({"x": 1}, "expected a list of x, y, v", id="no list"),
    pytest.param([1, 2, 1], "found 1 key points for person; expected as many as the ground truth has: person 2",
                 id="one too few"),
])  # fmt: skip
def test_wrong_key_points_are_problems(tmp_path, keypoints, text):
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    rows = [*RESULTS, RESULTS[0] | {"keypoints": keypoints, "bbox": [0, 0, 9, 9]}]
    with pytest.raises(InputError) as caught:
        read_outputs(write(tmp_path, "r.json", rows), suite=suite)
    assert "row 2" in str(caught.value)
    assert text in str(caught.value)
    loaded = load_outputs(write(tmp_path, "r.json", rows), suite=suite, keep_good_rows=True)
    assert loaded.value.predictions is not None
    assert len(loaded.value.predictions) == 1


@pytest.mark.parametrize("seed", range(3))
def test_files_give_the_numbers_of_pycocotools(tmp_path, seed):
    images, truths, results = scene = random_poses(np.random.default_rng(seed))
    sized = [{"id": place + 1, "file_name": f"{place}.png", "width": 600, "height": 600} for place in range(images)]
    document = {
        "images": sized,
        "categories": [{"id": 1, "name": "person"}], "annotations": truths,
    }  # fmt: skip
    suite = read_suite(write(tmp_path, "t.json", document))
    findings = run("keypoint_summary", suite, read_outputs(write(tmp_path, "r.json", results), suite=suite))
    for name, expected in zip(NAMES, coco_poses(*scene), strict=True):
        assert pick(findings, name).value == (None if expected is None else pytest.approx(expected, abs=1e-9))


def pose_set(shape: str, **labels: str) -> dict[str, Any]:
    sized = json.dumps({"names": ["person"]})
    return {"data.yaml": sized[:-1] + f', "kpt_shape": {shape}}}'} | {
        f"labels/{name}.txt": text for name, text in labels.items()
    }


def test_yolo_poses_are_read(tmp_path):
    truth = pose_set("[2, 3]", a="0 0.5 0.5 0.2 0.4 0.1 0.2 2 0 0 0\n")
    suite = read_suite(packed(tmp_path / "s.zip", truth))
    assert suite.annotations["keypoints"].to_pylist() == [[100, 200, 2, 0, 0, 0]]  # images of assumed 1,000 pixels
    guesses = {"labels/a.txt": "0 0.5 0.5 0.2 0.4 0.1 0.25 0.9 0.3 0.3 0.1 0.75\n"}  # no data.yaml: as the suite has
    outputs = read_outputs(packed(tmp_path / "p.zip", guesses), suite=suite)
    assert outputs.predictions["keypoints"].to_pylist() == [pytest.approx([100, 250, 0.9, 300, 300, 0.1])]
    assert outputs.predictions["score"].to_pylist() == [0.75]


@pytest.mark.parametrize(("names", "expected"), [
    pytest.param("{0: [head, hand], 1: [head, paw]}", {"man": ("head", "hand"), "dog": ("head", "paw")}, id="numbers"),
    pytest.param("{dog: [head, paw]}", {"dog": ("head", "paw")}, id="class names"),
    pytest.param("[head, hand]", {"man": ("head", "hand"), "dog": ("head", "hand")}, id="one list"),
    pytest.param("{0: [head], 1: [head, ''], 2: [a, b]}", {}, id="too few, a blank one, no class"),
    pytest.param("{0: [[head], hand], 1: head}", {}, id="no texts"),
    pytest.param("17", {}, id="no list"),
])  # fmt: skip
def test_names_of_yolo_key_points(tmp_path, names, expected):
    yaml = f"names: [man, dog]\nkpt_shape: [2, 3]\nflip_idx: [0, 1]\nkpt_names: {names}\n"
    files = {"data.yaml": yaml, "labels/a.txt": "0 0.5 0.5 0.2 0.4 0.1 0.2 2 0 0 0\n"}
    suite = read_suite(packed(tmp_path / "s.zip", files))
    assert suite.classes == {label: ClassFacts(keypoints=named) for label, named in expected.items()}
    findings = run("keypoint_summary", suite, read_outputs(packed(tmp_path / "p.zip", {
        "labels/a.txt": "0 0.5 0.5 0.2 0.4 0.1 0.2 1 0 0 0 0.5\n"}), suite=suite))  # fmt: skip
    first = expected.get("man", ("1", "2"))[0]
    assert pick(findings, "keypoint_PCK", "man", keypoint=first).value == 1


def test_predicted_yolo_poses_without_visibility(tmp_path):
    suite = read_suite(packed(tmp_path / "s.zip", pose_set("[2, 2]", a="0 0.5 0.5 0.2 0.4 0.1 0.2 0.3 0.3\n")))
    guesses = {"labels/a.txt": "0 0.5 0.5 0.2 0.4 0.1 0.25 0.3 0.3 0.75\n", "labels/b.txt": ""}  # no data.yaml
    outputs = read_outputs(packed(tmp_path / "p.zip", guesses), suite=suite)
    assert outputs.predictions["keypoints"].to_pylist() == [pytest.approx([100, 250, 2, 300, 300, 2])]
    assert outputs.predictions["score"].to_pylist() == [0.75]


POINTS_IN_BOXES = "0 .5 .5 .4 .6 .35 .3 .6 .7\n0 .2 .3 .2 .4 .15 .15 .25 .45\n0 .7 .7 .3 .3 0 0 .6 .8\n"
POLYGONS = "0 .1 .1 .3 .1 .3 .4 .1 .4\n0 .5 .5 .52 .5 .52 .53\n0 .6 .2 .9 .2 .9 .5 .6 .5\n"


def test_key_points_without_their_shape_are_asked_about(tmp_path):
    """Lines of a box and key points x y have the form of polygons; 0 0 is a point that is not labelled."""
    path = packed(tmp_path / "s.zip", {"data.yaml": "names: [man]", "labels/a.txt": POINTS_IN_BOXES})
    assert "expected an answer, points=polygon or points=key_points" in read_refusal(read_suite, path)
    for answer, box, outlines in (("polygon", [350, 300, 250, 400], 3), ("key_points", [300, 200, 400, 600], 0)):
        suite = read_suite(path, reading=Reading(answers={"points": answer}))
        assert [suite.annotations[side][0].as_py() for side in SIDES] == pytest.approx(box)
        assert len(suite.annotations) - suite.annotations["polygons"].null_count == outlines


def test_polygons_are_no_key_points(tmp_path):
    suite = read_suite(
        packed(tmp_path / "s.zip", {"data.yaml": "names: [man]\nkpt_shape: null", "labels/a.txt": POLYGONS})
    )
    assert suite.annotations["polygons"].null_count == 0


def test_yolo_poses_without_visibility_and_with_wrong_lines(tmp_path):
    suite = read_suite(packed(tmp_path / "s.zip", pose_set("[3, 2]", a="0 0.5 0.5 0.2 0.4 0.1 0.2 0 0 -1 -1\n")))
    assert suite.annotations["keypoints"].to_pylist() == [[100, 200, 2, 0, 0, 0, -1000, -1000, 0]]
    lines = "0 0.5 0.5 0.2 0.4 0.1 0.2\n0 0.5 0.5 0.2 0.4 0.1 0.2 nan\n0 0.5 0.5 0.2 0.4 0.1 x 2\n"
    lines += "0 0.5 0.5 0.2 0.4 0.1 1e308 2\n0 0.5 0.5 0.2 1e308 0.1 0.1 2\n"
    with pytest.raises(InputError) as caught:
        read_suite(packed(tmp_path / "s.zip", pose_set("[1, 3]", a=lines)))
    assert [(one.row, one.expected) for one in caught.value.problems] == [
        (1, "class xc yc w h and 1 key points x y v"), (2, "finite numbers"), (3, "finite numbers"),
        (4, "finite numbers"), (5, "a number from 0 to 1"),
    ]  # fmt: skip
