"""What is left where invalid rows are skipped: only what means the same without them."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.ingest import load_outputs, load_suite, read_combined, read_suite
from tests.ingest.files import packed, picture, write

TABLE = "image,label,x,y,width,height,image_width,image_height\n"
VOC = (
    "<annotation><filename>{0}.png</filename><size><width>50</width><height>50</height></size>"
    "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>"
    "<object><name>cat</name><bndbox><xmin>{1}</xmin><ymin>20</ymin><xmax>30</xmax><ymax>30</ymax></bndbox></object>"
    "</annotation>"
)
COCO = {
    "images": [{"id": n, "file_name": f"{n}.png", "width": 50, "height": 50} for n in (1, 2)],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 8, 8], "area": 64, "iscrowd": 0},
        {"id": 2, "image_id": 1, "category_id": 1, "bbox": [20, 20, "ten", 10], "area": 100, "iscrowd": 0},
        {"id": 3, "image_id": 2, "category_id": 1, "bbox": [1, 1, 8, 8], "area": 64, "iscrowd": 0},
    ],
}
LINE = "0 .5 .5 .2 .2"
KITTI = "car 0 0 0 {0} 1 9 9 0 0 0 0 0 0 0\ncar 0 0 0 20 20 30 30 0 0 0 0 0 0 0\n"
TRUTHS = {
    "a table": ("t.csv", TABLE + "1,cat,1,1,8,8,50,50\n1,cat,x,20,10,10,50,50\n2,cat,1,1,8,8,50,50\n"),
    "COCO": ("t.json", json.dumps(COCO)),
    "YOLO": ("t.zip", {"classes.txt": "cat", "labels/1.txt": f"{LINE}\n0 .5 .5 x .2", "labels/2.txt": LINE,
                       "images/1.png": picture(50, 50), "images/2.png": picture(50, 50)}),
    "VOC": ("t.zip", {"1.xml": VOC.format("1", "x"), "2.xml": VOC.format("2", "20")}),
    "KITTI": ("t.zip", {"label_2/1.txt": KITTI.format("x"), "label_2/2.txt": KITTI.format("1"),
                        "image_2/1.png": picture(50, 50), "image_2/2.png": picture(50, 50)}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), TRUTHS.values(), ids=TRUTHS.keys())
def test_an_image_leaves_with_an_object_that_is_skipped(tmp_path, name, content):
    file = write(tmp_path, name, content) if isinstance(content, str) else packed(tmp_path / name, content)
    with pytest.raises(InputError):
        read_suite(file)
    suite = load_suite(file, keep_good_rows=True).value
    assert (suite.cases["case_id"].to_pylist(), set(suite.annotations["case_id"].to_pylist())) == (["2"], {"2"})
    assert suite.left_out == 1
    left = [line for line in suite.receipt if (line.place, line.use) == ("images", "unused")]
    assert [(line.count, line.example) for line in left] == [(1, "1")]


def test_objects_of_unknown_images_cannot_be_skipped(tmp_path):
    path = write(tmp_path, "t.csv", TABLE + "1,cat,1,1,8,8,50,50\n1,cat,1\n")
    with pytest.raises(InputError, match="1 rows of unknown images, as they cannot be read"):
        load_suite(path, keep_good_rows=True)


def test_a_query_leaves_with_a_judgement_that_is_skipped(tmp_path):
    path = write(tmp_path, "q.txt", "q1 0 a 1\nq1 0 b x\nq2 0 a 1\n")
    assert load_suite(path, keep_good_rows=True).value.cases["case_id"].to_pylist() == ["q2"]


def test_an_answer_leaves_with_a_row_of_it_that_is_skipped(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,label\n1,cat\n2,dog\n3,eel\n"))
    text = "case_id,label,score\n1,cat,.2\n1,dog,x\n1,eel,.3\n2,dog,.9\n2,cat,.1\n"
    outputs = load_outputs(write(tmp_path, "o.csv", text), suite=suite, keep_good_rows=True).value
    assert outputs.outputs["case_id"].to_pylist() == ["2"]
    assert outputs.left_out == 3


def test_a_model_of_which_nothing_is_left_is_an_error(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,label\n1,cat\n2,dog\n"))
    files = [write(tmp_path, "a.csv", "case_id,model,prediction\n1,good,cat\n2,good,cat\n8,lost,cat\n9,lost,cat\n")]
    with pytest.raises(InputError, match="found no valid row of the model 'lost', of 2"):
        load_outputs(files, suite=suite, keep_good_rows=True)


def test_ids_that_begin_again_are_one_problem_of_a_row(tmp_path):
    """Other cases under ids that were there before: not a problem for each column, and no second answer besides."""
    path = write(tmp_path, "c.csv", "id,question,expected,answer\n1,who,a,x\n2,why,b,y\n1,how,c,z\n2,why,b,w\n")
    with pytest.raises(InputError) as failure:
        read_combined(path)
    found = [(problem.row, problem.column, problem.found, problem.expected) for problem in failure.value.problems]
    assert found == [
        (4, "case_id", "'1' again, first in row 2",
         "the same question and expected_answers in all rows of one case, or ids that tell cases apart"),
        (5, "case_id", "case '2' of model 'c' again, first in row 3",
         "one answer per case, model and run (repeats: a column run)"),
    ]  # fmt: skip
