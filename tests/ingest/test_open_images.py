"""Open Images CSV: the order of its columns, shares of the image, unknown flags, names of classes, folders and zips."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.errors import InputError
from metrics.ingest import read_outputs, read_suite
from tests.ingest.files import packed, picture, unpacked, write

TRUTH = (
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
    "a1,xclick,/m/cat,1,0.1,0.3,0.5,0.9,0,0,1,0,0\n"
    "a1,xclick,/m/dog,1,0,1,0,1,-1,-1,-1,-1,-1\n"
    "b2,xclick,/m/cat,1,0.25,0.5,0,1,0,1,0,0,0\n"
)
PREDICTIONS = "ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax\na1,/m/cat,0.5,0.1,0.3,0.5,0.9\nb2,/m/dog,0.9,0,1,0,1\n"
IMAGES = {"images/a1.jpg": picture(100, 50, "JPEG"), "images/b2.jpg": picture(40, 40, "JPEG")}
NAMES = {"class-descriptions-boxable.csv": '/m/cat,Cat\n/m/dog,"Dog, domestic"\n'}
BOX = ("case_id", "label", "x", "y", "width", "height")
OBJECTS = [("a1", "/m/cat", 10, 25, 20, 20), ("a1", "/m/dog", 0, 0, 100, 50), ("b2", "/m/cat", 10, 0, 10, 40)]


def rows(table, *more):
    return [
        tuple(round(row[name], 6) if isinstance(row[name], float) else row[name] for name in (*BOX, *more))
        for row in table.to_pylist()
    ]


def test_csv_and_images(tmp_path):
    suite = read_suite(write(tmp_path, "t.csv", TRUTH), images=packed(tmp_path / "i.zip", IMAGES))
    assert rows(suite.annotations) == OBJECTS
    assert suite.annotations["is_crowd"].to_pylist() == [True, False, False]
    outputs = read_outputs(write(tmp_path, "m.csv", PREDICTIONS), suite=suite)
    assert rows(outputs.predictions, "score") == [(*OBJECTS[0], 0.5), ("b2", "/m/dog", 0, 0, 40, 40, 0.9)]


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_together(tmp_path, make):
    suite = read_suite(make(tmp_path / "oi.zip", {"test-annotations-bbox.csv": TRUTH} | IMAGES | NAMES))
    assert (suite.name, suite.labels) == ("oi", ("Cat", "Dog, domestic"))
    assert [row[2:] for row in rows(suite.annotations)] == [row[2:] for row in OBJECTS]
    outputs = read_outputs(make(tmp_path / "m.zip", {"p.csv": PREDICTIONS} | NAMES), suite=suite)
    assert (outputs.models, outputs.predictions["label"].to_pylist()) == (("m",), ["Cat", "Dog, domestic"])


FACTS = {
    "bbox_labels_600_hierarchy.json": '{"LabelName": "/m/root", "Subcategory": [{"LabelName": "/m/animal", "Subcategory": ['
    '{"LabelName": "/m/cat", "Part": [{"LabelName": "/m/paw"}]}, {"LabelName": "/m/dog"}]}]}',
    "test-annotations-human-imagelabels-boxable.csv": "ImageID,Source,LabelName,Confidence\n"
    "b2,verification,/m/dog,0\nb2,verification,/m/cat,1\nzz,verification,/m/dog,0\n",
}


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_hierarchy_and_verified_labels(tmp_path, make):
    suite = read_suite(make(tmp_path / "oi.zip", {"test-annotations-bbox.csv": TRUTH} | IMAGES | NAMES | FACTS))
    assert {label: facts.parent for label, facts in suite.classes.items()} == {
        "Cat": "/m/animal", "Dog, domestic": "/m/animal",
    }  # fmt: skip
    assert suite.cases["negative_labels"].to_pylist() == [[], ["Dog, domestic"]]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("h_labels_600_hierarchy.json", '{"Subcategory": [{"LabelName": 7}]}', "expected a tree of"),
    ("h_labels_600_hierarchy.json", "[1", "expected a tree of"),
    ("a-imagelabels.csv", "ImageID,LabelName\na1,/m/cat\n", "expected the columns ImageID, LabelName, Confidence"),
])  # fmt: skip
def test_facts_that_cannot_be_read(tmp_path, name, content, said):
    with pytest.raises(InputError, match=said):
        read_suite(packed(tmp_path / "oi.zip", {"test-annotations-bbox.csv": TRUTH, name: content} | IMAGES))
