"""What is wrong with the files of coco_summary is listed, each with its file and row."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics import coco_summary
from metrics.core.errors import InputError
from tests.ingest.files import write
from tests.library.coco_files import RESULTS, TRUTH

IMAGE, CATEGORY = "the id of an image in images", "the id of a category"
BOX = "[x, y, width, height] in pixels"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"score": float("nan")}, "r.json, row 2, column score: found nan; expected a finite score", id="NaN score"
        ),
        pytest.param(
            {"score": float("inf")},
            "r.json, row 2, column score: found inf; expected a finite score",
            id="infinite score",
        ),
        pytest.param(
            {"score": "0.5"}, "r.json, row 2, column score: found '0.5'; expected a finite score", id="score in quotes"
        ),
        pytest.param(
            {"score": True}, "r.json, row 2, column score: found True; expected a finite score", id="true score"
        ),
        pytest.param(
            {"score": None}, "r.json, row 2, column score: found nothing; expected a finite score", id="no score"
        ),
        pytest.param({"image_id": 4}, f"r.json, row 2, column image_id: found 4; expected {IMAGE}", id="unknown image"),
        pytest.param(
            {"image_id": 20.5}, f"r.json, row 2, column image_id: found 20.5; expected {IMAGE}", id="half an image"
        ),
        pytest.param(
            {"image_id": "20"}, f"r.json, row 2, column image_id: found '20'; expected {IMAGE}", id="image in quotes"
        ),
        pytest.param(
            {"category_id": 1}, f"r.json, row 2, column category_id: found 1; expected {CATEGORY}", id="unknown class"
        ),
        pytest.param(
            {"category_id": 2**63},
            f"r.json, row 2, column category_id: found {2**63}; expected {CATEGORY}",
            id="huge class",
        ),
        pytest.param(
            {"bbox": [1, 2, -3, 4]},
            f"r.json, row 2, column bbox: found [1, 2, -3, 4]; expected {BOX}, width and height not negative",
            id="negative width",
        ),
        pytest.param(
            {"bbox": [1, 2, 1e308, 1e308]},
            f"r.json, row 2, column bbox: found [1, 2, 1e+308, 1e+308]; expected {BOX}, at most 1e+15 pixels",
            id="astronomic size",
        ),
        pytest.param(
            {"bbox": [1, 2, 3]},
            f"r.json, row 2, column bbox: found [1, 2, 3]; expected {BOX}, four finite numbers",
            id="three numbers",
        ),
        pytest.param(
            {"bbox": [1, 2, 3, 4, 5]},
            f"r.json, row 2, column bbox: found [1, 2, 3, 4, 5]; expected {BOX}, four finite numbers",
            id="five numbers",
        ),
        pytest.param(
            {"bbox": [1, 2, 3, "4"]},
            f"r.json, row 2, column bbox: found [1, 2, 3, '4']; expected {BOX}, four finite numbers",
            id="a number in quotes",
        ),
        pytest.param({"bbox": None}, f"r.json, row 2, column bbox: found nothing; expected {BOX}", id="no box"),
    ],
)
def test_bad_results(tmp_path, change, message):
    results = [RESULTS[0], RESULTS[1] | change]
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", results))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        pytest.param(
            "annotations",
            {"id": -1},
            "row 2, column annotations.id: found -1; expected a whole number of at least 0",
            id="id -1",
        ),
        pytest.param(
            "annotations",
            {"id": 5},
            "row 2, column annotations.id: found 5 again, first in record 1; expected every id once",
            id="an annotation twice",
        ),
        pytest.param(
            "annotations",
            {"image_id": 9},
            f"row 2, column annotations.image_id: found 9; expected {IMAGE}",
            id="unknown image",
        ),
        pytest.param(
            "annotations",
            {"category_id": 8},
            f"row 2, column annotations.category_id: found 8; expected {CATEGORY}",
            id="unknown class",
        ),
        pytest.param(
            "annotations",
            {"bbox": [0, 0, 1, -1]},
            f"row 2, column annotations.bbox: found [0, 0, 1, -1]; expected {BOX}, width and height not negative",
            id="negative height",
        ),
        pytest.param(
            "annotations",
            {"area": -1},
            "row 2, column annotations.area: found -1; expected an area in square pixels, not negative",
            id="negative area",
        ),
        pytest.param(
            "annotations",
            {"iscrowd": 2},
            "row 2, column annotations.iscrowd: found 2; expected 0 or 1",
            id="half a crowd",
        ),
        pytest.param(
            "images",
            {"id": 20},
            "row 2, column images.id: found 20 again, first in record 1; expected every id once",
            id="an image twice",
        ),
        pytest.param(
            "categories",
            {"id": 7},
            "row 2, column categories.id: found 7 again, first in record 1; expected every id once",
            id="a category twice",
        ),
        pytest.param(
            "categories",
            {"name": "cat"},
            "row 2, column categories.name: found 'cat' again, first in record 1; expected every category under its own name",
            id="a name twice",
        ),
    ],
)
def test_bad_ground_truth(tmp_path, table, change, message):
    rows = list(TRUTH[table])
    rows[1] = rows[1] | change
    truth = write(tmp_path, "t.json", TRUTH | {table: rows})
    with pytest.raises(InputError) as caught:
        coco_summary(truth, write(tmp_path, "r.json", [] if table == "images" else RESULTS))
    assert f"t.json, {message}" in str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("[{", "r.json, row 1: found ", id="cut"),
        pytest.param("", "r.json: found an empty file; expected ", id="empty"),
        pytest.param("  \n", "r.json: found a file with only whitespace; expected ", id="blanks"),
        pytest.param(
            "{}",
            "r.json: found a JSON object; expected COCO results: an array of objects with image_id, category_id, score",
            id="an object",
        ),
        pytest.param("[1]", "r.json, row 1: found 1; expected an object", id="an array of numbers"),
        pytest.param(b"\x1f\x8b\x08", "r.json: found a gzip archive; expected ", id="gzip"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, message):
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", content))
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError) as caught:
        coco_summary(tmp_path / "t*.json", tmp_path / "r.json")
    first, second = str(caught.value).splitlines()
    assert first.startswith("t*.json: found no such file")
    assert second.startswith("r.json: found no such file")


def test_a_results_file_as_ground_truth(tmp_path):
    with pytest.raises(
        InputError, match=r"r\.json: found a JSON array; expected COCO ground truth: an object with images"
    ):
        coco_summary(write(tmp_path, "r.json", RESULTS), tmp_path / "r.json")


def test_everything_wrong_is_listed_at_once(tmp_path):
    rows = [row | {"id": 1, "bbox": [0, 0, -1, 1]} for row in TRUTH["annotations"]]
    results = [{"image_id": 1, "category_id": 1, "bbox": [0], "score": None}, 7]
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH | {"annotations": rows}), write(tmp_path, "r.json", results))
    places = {(problem.file, problem.row) for problem in caught.value.problems}
    assert places == {("t.json", 1), ("t.json", 2), ("r.json", 1), ("r.json", 2)}


def test_masks_that_do_not_fit(tmp_path):
    results = [{"image_id": 3, "category_id": 2, "score": 1, "segmentation": {"size": [50, 99], "counts": "0"}}]
    annotations = [row | {"segmentation": [[0, 0, 9, 0, 9, 9]]} for row in TRUTH["annotations"]]
    truth = write(tmp_path, "t.json", TRUTH | {"annotations": annotations})
    with pytest.raises(
        InputError, match=r"r\.json, row 1, column segmentation: found size \[50, 99\], the image has \[50, 100\]"
    ):
        coco_summary(truth, write(tmp_path, "r.json", results), iou_type="segm")
