"""What is wrong with the files of coco_summary is listed, each with its file and row."""

import pytest

from metrics import coco_summary
from metrics.core.errors import InputError
from tests.ingest.files import write
from tests.library.coco_files import RESULTS, TRUTH

IMAGE, OWN_IMAGE = "the id of an image in images", "the id of an image of the suite"
CATEGORY = "the id of a category of the suite"
BOX = "[x, y, width, height] in pixels"
NOT_NEGATIVE, FOUR = f"{BOX}, width and height not negative", f"{BOX}, four finite numbers"
BAD_RESULTS = {
    "NaN score": ("score", float("nan"), "nan", "a finite score"),
    "infinite score": ("score", float("inf"), "inf", "a finite score"),
    "a word as score": ("score", "high", "'high'", "a finite score"),
    "true score": ("score", True, "True", "a finite score"), "no score": ("score", None, "nothing", "a finite score"),
    "unknown image": ("image_id", 4, "4", OWN_IMAGE), "half an image": ("image_id", 20.5, "20.5", OWN_IMAGE),
    "image of another name": ("image_id", "020.5", "'020.5'", OWN_IMAGE),
    "unknown class": ("category_id", 1, "1", CATEGORY),
    "huge class": ("category_id", 2**63, str(2**63), CATEGORY),
    "negative width": ("bbox", [1, 2, -3, 4], "[1, 2, -3, 4]", NOT_NEGATIVE),
    "astronomic size": ("bbox", [1, 2, 1e308, 1e308], "[1, 2, 1e+308, 1e+308]", f"{BOX}, at most 1e+15 pixels"),
    "three numbers": ("bbox", [1, 2, 3], "[1, 2, 3]", FOUR),
    "five numbers": ("bbox", [1, 2, 3, 4, 5], "[1, 2, 3, 4, 5]", FOUR),
    "a word in a box": ("bbox", [1, 2, 3, "wide"], "[1, 2, 3, 'wide']", FOUR),
    "no box": ("bbox", None, "nothing", BOX),
}  # fmt: skip
BAD_TRUTHS = {
    "id -1": ("annotations", "id", -1, "-1", "a whole number of at least 0"),
    "an annotation twice": ("annotations", "id", 5, "5 again, first in record 1", "every id once"),
    "unknown image": ("annotations", "image_id", 9, "9", IMAGE),
    "unknown class": ("annotations", "category_id", 8, "8", CATEGORY),
    "negative height": ("annotations", "bbox", [0, 0, 1, -1], "[0, 0, 1, -1]", NOT_NEGATIVE),
    "negative area": ("annotations", "area", -1, "-1", "an area in square pixels, not negative"),
    "half a crowd": ("annotations", "iscrowd", 2, "2", "0 or 1"),
    "an image twice": ("images", "id", 20, "20 again, first in record 1", "every id once"),
    "a category twice": ("categories", "id", 7, "7 again, first in record 1", "every id once"),
    "a name twice": ("categories", "name", "cat", "'cat' again, first in record 1",
        "every category under its own name"),
}  # fmt: skip


@pytest.mark.parametrize(("column", "value", "found", "expected"), BAD_RESULTS.values(), ids=BAD_RESULTS)
def test_bad_results(tmp_path, column, value, found, expected):
    results = [RESULTS[0], RESULTS[1] | {column: value}]
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", results))
    assert str(caught.value) == f"r.json, row 2, column {column}: found {found}; expected {expected}"


@pytest.mark.parametrize(("table", "column", "value", "found", "expected"), BAD_TRUTHS.values(), ids=BAD_TRUTHS)
def test_bad_ground_truth(tmp_path, table, column, value, found, expected):
    rows = list(TRUTH[table])
    rows[1] = rows[1] | {column: value}
    truth = write(tmp_path, "t.json", TRUTH | {table: rows})
    with pytest.raises(InputError) as caught:
        coco_summary(truth, write(tmp_path, "r.json", [] if table == "images" else RESULTS))
    message = f"t.json, row 2, column {table}.{column}: found {found}; expected {expected}"
    assert message in str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("[{", "r.json, row 1: found ", id="cut"),
        pytest.param("", "r.json: found an empty file; expected ", id="empty"),
        pytest.param("  \n", "r.json: found a file with only whitespace; expected ", id="blanks"),
        pytest.param("{}", "r.json: found an object with ; expected an array of objects, or", id="an object"),
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
    assert str(caught.value).startswith("t*.json: found no such file")


def test_a_results_file_as_ground_truth(tmp_path):
    with pytest.raises(InputError, match="found COCO results; expected ground truth: an object with images"):
        coco_summary(write(tmp_path, "r.json", RESULTS), tmp_path / "r.json")


def test_everything_wrong_is_listed_at_once(tmp_path):
    rows = [row | {"id": 1, "bbox": [0, 0, -1, 1]} for row in TRUTH["annotations"]]
    results = [{"image_id": 1, "category_id": 1, "bbox": [0], "score": None}, 7]
    for annotations, places in ((rows, {("t.json", 1), ("t.json", 2)}), ([], {("r.json", 1), ("r.json", 2)})):
        truth = write(tmp_path, "t.json", TRUTH | {"annotations": annotations})
        with pytest.raises(InputError) as caught:
            coco_summary(truth, write(tmp_path, "r.json", results))
        assert {(problem.file, problem.row) for problem in caught.value.problems} == places


def test_masks_that_do_not_fit(tmp_path):
    results = [{"image_id": 3, "category_id": 2, "score": 1, "segmentation": {"size": [50, 99], "counts": "0"}}]
    annotations = [row | {"segmentation": [[0, 0, 9, 0, 9, 9]]} for row in TRUTH["annotations"]]
    truth = write(tmp_path, "t.json", TRUTH | {"annotations": annotations})
    with pytest.raises(InputError, match=r"row 1, column segmentation: found size \[50, 99\], the image has \[50, 100"):
        coco_summary(truth, write(tmp_path, "r.json", results), iou_type="segm")
