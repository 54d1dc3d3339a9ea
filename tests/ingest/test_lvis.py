"""LVIS's files: COCO's with the classes that each image was checked for and how frequent classes are."""

import pytest

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.ingest import read_suite
from tests.ingest.files import write

TRUTH = {
    "images": [
        {"id": 20, "coco_url": "http://images.cocodataset.org/val2017/000000000020.jpg", "width": 100, "height": 50,
         "neg_category_ids": [2, 9, 2], "not_exhaustive_category_ids": []},
        {"id": 3, "file_name": "a.png", "width": 100, "height": 50,
         "neg_category_ids": [], "not_exhaustive_category_ids": [7]},
    ],
    "annotations": [{"id": 1, "image_id": 20, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 9.5}],
    "categories": [
        {"id": 7, "name": "cat", "frequency": "f", "image_count": 1944},
        {"id": 2, "name": "dog", "frequency": "r", "image_count": 1},
        {"id": 9, "name": "eel"},
    ],
}  # fmt: skip


def test_lists_and_frequencies(tmp_path):
    suite = read_suite(write(tmp_path, "lvis.json", TRUTH))
    lists = suite.cases.select(["metadata.image_name", "negative_labels", "not_exhaustive_labels"]).to_pylist()
    assert [tuple(row.values()) for row in lists] == [("a.png", [], ["cat"]), ("000000000020.jpg", ["dog", "eel"], [])]
    assert suite.classes == {"cat": ClassFacts(images=1944), "dog": ClassFacts(images=1)}


@pytest.mark.parametrize("value", [7, ["cat"], [8], [True]])
def test_unknown_categories_are_problems(tmp_path, value):
    first, second = TRUTH["images"]
    wrong = TRUTH | {"images": [first | {"neg_category_ids": value}, second], "annotations": []}
    with pytest.raises(InputError, match=r"neg_category_ids.*a list of ids of categories"):
        read_suite(write(tmp_path, "lvis.json", wrong))
