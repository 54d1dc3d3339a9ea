"""COCO ground truth and results: order, ids, geometry, and every kind of bad value listed with its place."""
# ruff: noqa: E501 - a table reads better with one line a case

import copy

import pytest

from metrics.core.errors import InputError
from metrics.ingest import load_outputs, read_outputs, read_suite
from metrics.vision import rle
from tests.ingest.files import list_problems, write

TRUTH = {
    "images": [
        {"id": 20, "file_name": "b.png", "width": 100, "height": 50},
        {"id": 3, "file_name": "a.png", "width": 100, "height": 50},
    ],
    "annotations": [
        {"id": 5, "image_id": 20, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 9.5, "iscrowd": 0},
        {"id": 4, "image_id": 3, "category_id": 2, "bbox": [0, 0, 0, 5], "iscrowd": 1},
    ],
    "categories": [{"id": 7, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 9, "name": "eel"}],
}
RESULTS = [
    {"image_id": 3, "category_id": 7, "bbox": [1.5, 2, 3, 4], "score": 0},
    {"image_id": 20, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 0.5},
]


def changed(document, path, value):
    document = copy.deepcopy(document)
    place = document
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def test_ground_truth(tmp_path):
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    assert (suite.name, suite.task, suite.labels) == ("t", "detection", ("dog", "cat", "eel"))
    assert suite.category_ids == (2, 7, 9)
    columns = ["case_id", "image", "image_width", "image_height", "metadata.image_name"]
    rows = [tuple(row.values()) for row in suite.cases.select(columns).to_pylist()]
    assert rows == [("3", None, 100, 50, "a.png"), ("20", None, 100, 50, "b.png")]
    assert [tuple(row.values())[:11] for row in suite.annotations.to_pylist()] == [
        ("20", 5, "cat", 1, 2, 3, 4, 9.5, None, None, False), ("3", 4, "dog", 0, 0, 0, 5, 0, None, None, True),
    ]  # fmt: skip


def test_results_and_none_of_a_model_that_found_nothing(tmp_path):
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    outputs = read_outputs(write(tmp_path, "yolo.json", RESULTS), suite=suite)
    rows = [tuple(row.values()) for row in outputs.outputs.select(["case_id", "model", "run"]).to_pylist()]
    assert rows == [("3", "yolo", 1), ("20", "yolo", 1)]
    assert [tuple(row.values())[:13] for row in outputs.predictions.to_pylist()] == [
        ("3", "yolo", 1, 0, "cat", 0, 1.5, 2, 3, 4, 12, None, None),
        ("20", "yolo", 1, 1, "dog", 0.5, 1, 2, 3, 4, 12, None, None),
    ]
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    loaded = load_outputs([write(tmp_path, "none.json", []), write(tmp_path, "yolo.json", RESULTS)], suite=suite)
    assert loaded.value.models == ("none", "yolo")
    assert (len(loaded.value.outputs), loaded.value.predictions["model"].to_pylist()) == (4, ["yolo", "yolo"])
    assert loaded.missing == 0
    alone = read_outputs(tmp_path / "none.json", suite=suite, model_names={tmp_path / "none.json": "mute"})
    assert alone.models == ("mute",)
    assert len(alone.predictions) == 0


def test_segmentations_are_carried_and_give_absent_boxes(tmp_path):
    ring = [10, 10, 20, 10, 20, 20, 10, 20]
    truth = changed(TRUTH, ("annotations", 0, "segmentation"), [ring])
    suite = read_suite(write(tmp_path, "t.json", truth))
    assert suite.annotations["polygons"].to_pylist() == [[[float(number) for number in ring]], None]
    runs = [50 * 10 + 5, 20, 30, 20, 50 * 90 - 75]
    shapes = [{"size": [50, 100], "counts": runs}, {"size": [50, 100], "counts": rle.encode(runs)}, [ring]]
    results = [{"image_id": 3, "category_id": 7, "score": 1, "segmentation": shape} for shape in shapes]
    rows = read_outputs(write(tmp_path, "m.json", results), suite=suite).predictions.to_pylist()
    boxes = [[row[name] for name in ("x", "y", "width", "height", "area")] for row in rows]
    assert boxes == [[10, 5, 2, 20, 40], [10, 5, 2, 20, 40], [10, 10, 10, 10, 100]]
    assert rows[0]["rle"] == rows[1]["rle"] == rle.encode(runs)
    assert rows[2]["polygons"] == [[float(number) for number in ring]]


def test_tags(tmp_path):
    truth = changed(changed(TRUTH, ("images", 0, "tags"), ["night", "rain", "night"]), ("images", 1, "tags"), [])
    suite = read_suite(write(tmp_path, "t.json", truth))
    assert suite.cases["tags"].to_pylist() == [None, ["night", "rain"]]
    assert suite.tags == ("night", "rain")
    assert read_suite(write(tmp_path, "t.json", TRUTH)).tags == ()
    with pytest.raises(InputError, match=r"row 2, column images\.tags: found 'day'; expected a list of texts such as"):
        read_suite(write(tmp_path, "t.json", changed(TRUTH, ("images", 1, "tags"), "day")))


TRUTH_PROBLEMS = {
    "tags that are no list": (("images", 0, "tags"), "night", None),
    "a tag that is no text": (("images", 1, "tags"), ["night", 1], None),
    "annotation id -1": (("annotations", 0, "id"), -1, ["t.json, row 1, column annotations.id: found -1; expected a whole number of at least 0"]),
    "annotation id twice": (("annotations", 1, "id"), 5, ["t.json, row 2, column annotations.id: found 5 again, first in record 1; expected every id once"]),
    "annotation id huge": (("annotations", 1, "id"), 2**64, None),
    "unknown image": (("annotations", 0, "image_id"), 99, ["t.json, row 1, column annotations.image_id: found 99; expected the id of an image in images"]),
    "unknown category": (("annotations", 0, "category_id"), 1, ["t.json, row 1, column annotations.category_id: found 1; expected the id of a category of the suite"]),
    "negative width": (("annotations", 0, "bbox"), [1, 2, -3, 4], ["t.json, row 1, column annotations.bbox: found [1, 2, -3, 4]; expected [x, y, width, height] in pixels, width and height not negative"]),
    "wrong arity": (("annotations", 0, "bbox"), [1, 2, 3], ["t.json, row 1, column annotations.bbox: found [1, 2, 3]; expected [x, y, width, height] in pixels, four finite numbers"]),
    "no box": (("annotations", 0, "bbox"), ..., ["t.json, row 1, column annotations.bbox: found nothing; expected [x, y, width, height] in pixels"]),
    "text box": (("annotations", 0, "bbox"), "1,2,3,4", ["t.json, row 1, column annotations.bbox: found '1,2,3,4'; expected [x, y, width, height] in pixels, four finite numbers"]),
    "NaN box": (("annotations", 0, "bbox"), [1, 2, float("nan"), 4], ["t.json, row 1, column annotations.bbox: found [1, 2, nan, 4]; expected [x, y, width, height] in pixels, four finite numbers"]),
    "box of astronomic size": (("annotations", 0, "bbox"), [0, 0, 1e16, 2], ["t.json, row 1, column annotations.bbox: found [0, 0, 1e+16, 2]; expected [x, y, width, height] in pixels, at most 1e+15 pixels"]),
    "negative area": (("annotations", 0, "area"), -1, ["t.json, row 1, column annotations.area: found -1; expected an area in square pixels, not negative"]),
    "crowd 2": (("annotations", 0, "iscrowd"), 2, ["t.json, row 1, column annotations.iscrowd: found 2; expected 0 or 1"]),
    "image id twice": (("images", 1, "id"), 20, None),
    "two categories of one name": (("categories", 1, "name"), "cat", ["t.json, row 2, column categories.name: found 'cat' again, first in record 1; expected every category under its own name"]),
    "category id twice": (("categories", 1, "id"), 7, ["t.json, row 2, column categories.id: found 7 again, first in record 1; expected every id once"]),
    "no categories": (("categories",), {}, ["t.json, column categories: found dict; expected an array categories"]),
    "an annotation that is no object": (("annotations", 0), 3, ["t.json, row 1, column annotations: found 3; expected an object"]),
    "no images": (("images",), [], None),
}  # fmt: skip


@pytest.mark.parametrize(("path", "value", "texts"), TRUTH_PROBLEMS.values(), ids=TRUTH_PROBLEMS.keys())
def test_ground_truth_problems(tmp_path, path, value, texts):
    found = list_problems(read_suite, write(tmp_path, "t.json", changed(TRUTH, path, value)))
    assert found == (found if texts is None else texts)


PIXELS = "expected [x, y, width, height] in pixels"
RESULT_PROBLEMS = [
    ("score", float("nan"), "score: found nan; expected a finite score"),
    ("score", float("inf"), "score: found inf; expected a finite score"),
    ("score", None, "score: found nothing; expected a finite score"),
    ("score", "high", "score: found 'high'; expected a finite score"),
    ("score", True, "score: found True; expected a finite score"),
    ("image_id", 4, "image_id: found 4; expected the id of an image of the suite"),
    ("category_id", 4, "category_id: found 4; expected the id of a category of the suite"),
    ("bbox", [1, 2, 3, -1], f"bbox: found [1, 2, 3, -1]; {PIXELS}, width and height not negative"),
    ("bbox", [1, 2, 3, 4, 5], f"bbox: found [1, 2, 3, 4, 5]; {PIXELS}, four finite numbers"),
]


@pytest.mark.parametrize(("key", "value", "text"), RESULT_PROBLEMS)
def test_result_problems(tmp_path, key, value, text):
    suite = read_suite(write(tmp_path, "t.json", TRUTH))
    text = f"m.json, row 2, column {text}"
    path = write(tmp_path, "m.json", changed(RESULTS, (1, key), value))
    assert list_problems(read_outputs, path, suite=suite) == [text]
    loaded = load_outputs(path, suite=suite, keep_good_rows=True)
    assert (len(loaded.value.predictions), loaded.value.left_out) == (1, 1)
    assert [str(problem) for problem in loaded.problems] == [text]


def test_results_in_place_of_ground_truth_and_the_other_way_round(tmp_path):
    truth, results = write(tmp_path, "t.json", TRUTH), write(tmp_path, "m.json", RESULTS)
    with pytest.raises(InputError, match="found COCO results; expected ground truth"):
        read_suite(results)
    with pytest.raises(InputError, match="found COCO ground truth; expected results"):
        read_outputs(truth, suite=read_suite(truth))
