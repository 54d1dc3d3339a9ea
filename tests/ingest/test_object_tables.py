"""Detection CSVs: corners or sides, pixels or shares, polygons, run lengths, and every bad box listed."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.ingest import read_outputs, read_suite
from metrics.ingest.tables.object_tables import parse_polygon
from tests.ingest.files import list_problems, write

SIDES = [("a.png", "cat", 10, 5, 20, 10, 200), ("a.png", "dog", 0, 0, 100, 50, 5000), ("b.png", "cat", 1, 2, 3, 4, 12)]
FORMS = {
    "sides": "image,label,x,y,width,height\na.png,cat,10,5,20,10\na.png,dog,0,0,100,50\nb.png,cat,1,2,3,4\n",
    "corners": "filename,class,xmin,ymin,xmax,ymax\na.png,cat,10,5,30,15\na.png,dog,0,0,100,50\nb.png,cat,1,2,4,6\n",
    "corners with the image's size": "filename,width,height,class,xmin,ymin,xmax,ymax\na.png,100,50,cat,10,5,30,15\na.png,100,50,dog,0,0,100,50\nb.png,100,50,cat,1,2,4,6\n",
    "shares": "image,label,image_width,image_height,x,y,width,height\na.png,cat,100,50,0.1,0.1,0.2,0.2\na.png,dog,100,50,0,0,1,1\nb.png,cat,100,50,0.01,0.04,0.03,0.08\n",
    "shares as corners, Open Images order": "ImageID,LabelName,XMin,XMax,YMin,YMax,image_width,image_height\na.png,cat,0.1,0.3,0.1,0.3,100,50\na.png,dog,0,1,0,1,100,50\nb.png,cat,0.01,0.04,0.04,0.12,100,50\n",
    "polygons": "image,label,polygon\na.png,cat,\"POLYGON ((10 5, 30 5, 30 15, 10 15, 10 5))\"\na.png,dog,\"{\"\"type\"\": \"\"Polygon\"\", \"\"coordinates\"\": [[[0,0],[100,0],[100,50],[0,50],[0,0]]]}\"\nb.png,cat,\"POLYGON((1 2,4 2,4 6,1 6,1 2))\"\n",
}  # fmt: skip


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
def test_forms(tmp_path, content):
    suite = read_suite(write(tmp_path, "s.csv", content))
    assert (suite.task, suite.labels) == ("detection", ("cat", "dog"))
    assert suite.cases["case_id"].to_pylist() == ["a.png", "b.png"]
    rows = [
        tuple(row[name] for name in ("case_id", "label", "x", "y", "width", "height", "area"))
        for row in suite.annotations.to_pylist()
    ]
    for row, expected in zip(rows, SIDES, strict=True):
        assert (row[:2], row[2:]) == (expected[:2], pytest.approx(expected[2:]))


def test_rows_without_an_object_say_the_image_is_there(tmp_path):
    content = "image,label,x,y,width,height,is_crowd,tags,camera\na,cat,1,1,1,1,true,night,c1\nb,,,,,,,,c2\n"
    suite = read_suite(write(tmp_path, "s.csv", content))
    assert suite.cases.select(["case_id", "tags", "metadata.camera"]).to_pylist() == [
        {"case_id": "a", "tags": ["night"], "metadata.camera": "c1"},
        {"case_id": "b", "tags": None, "metadata.camera": "c2"},
    ]
    assert suite.annotations["is_crowd"].to_pylist() == [True]


def test_outputs_find_their_image_by_id_name_or_stem(tmp_path):
    suite = read_suite(
        write(
            tmp_path,
            "s.csv",
            "case_id,image,label,x,y,width,height\n1,a.png,cat,1,1,1,1\n2,b.png,dog,1,1,1,1\n3,c.png,,,,,\n",
        )
    )
    content = (
        "image,label,score,model,x,y,width,height\na.png,cat,0.5,m,1,1,5,5\n2,dog,0,m,1,1,5,5\nb,cat,1,n,1,1,5,5\n"
    )
    outputs = read_outputs(write(tmp_path, "o.csv", content), suite=suite)
    rows = outputs.predictions.select(["case_id", "model", "prediction_id", "label", "score"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("1", "m", 0, "cat", 0.5), ("2", "m", 1, "dog", 0.0), ("2", "n", 0, "cat", 1.0),
    ]  # fmt: skip
    assert len(outputs.outputs) == 6


def test_outputs_without_rows_found_nothing(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", FORMS["sides"]))
    outputs = read_outputs(write(tmp_path, "quiet.csv", "image,label,score,x,y,width,height\n"), suite=suite)
    assert outputs.models == ("quiet",)
    assert len(outputs.predictions) == 0


PROBLEMS = {
    "negative width": ("a,cat,1,1,-1,1\n", ["s.csv, row 2, column width: found '-1'; expected a number of at least 0"]),
    "astronomic size": (
        "a,cat,1,1,1e308,1e308\n",
        ["s.csv, row 2: found a box of astronomic size; expected coordinates of at most 1e+15 pixels"],
    ),
    "NaN": ("a,cat,nan,1,1,1\n", ["s.csv, row 2, column x: found 'nan'; expected a finite number"]),
    "missing": ("a,cat,,1,1,1\n", ["s.csv, row 2, column x: found nothing; expected a number"]),
    "no number": ("a,cat,1,1,1,wide\n", ["s.csv, row 2, column height: found 'wide'; expected a number"]),
    "no class": ("a,,2,1,1,1\n", ["s.csv, row 2, column label: found nothing; expected a class"]),
    "no image": (",cat,2,1,1,1\n", ["s.csv, row 2, column image: found nothing; expected the name of the image"]),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "texts"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path, rows, texts):
    assert list_problems(read_suite, write(tmp_path, "s.csv", "image,label,x,y,width,height\n" + rows)) == texts


@pytest.mark.parametrize(
    "text",
    ["POLYGON ((0 0, 1 1))", "POINT (1 1)", "POLYGON ((0 0, 9 0, 9 9), (1 1, 2 1))", "POLYGON ((0 0, x 0, 9 9))",
     '{"type": "Point", "coordinates": [1, 2]}', "{", "", "POLYGON ((0 0, inf 0, 9 9))"],
)  # fmt: skip
def test_bad_polygons(text):
    with pytest.raises((ValueError, TypeError, KeyError)):
        parse_polygon(text)


def test_multipolygons_flags_and_lists_of_benchmarks(tmp_path):
    rings, box = parse_polygon("MULTIPOLYGON (((0 0, 2 0, 2 2, 0 2, 0 0)), ((5 5, 6 5, 6 6, 5 5)))")
    assert rings == [[0, 0, 2, 0, 2, 2, 0, 2], [5, 5, 6, 5, 6, 6]]
    assert box == (0, 0, 6, 6, 4.5)
    rows = (
        "image,label,x,y,width,height,difficult,negative_labels,not_exhaustive_labels\n"
        'a,cat,0,0,9,9,1,dog;eel,"[""cat""]"\nb,dog,0,0,9,9,,,\n'
    )
    suite = read_suite(write(tmp_path, "t.csv", rows))
    assert suite.annotations["difficult"].to_pylist() == [True, False]
    assert suite.cases.select(["negative_labels", "not_exhaustive_labels"]).to_pylist() == [
        {"negative_labels": ["dog", "eel"], "not_exhaustive_labels": ["cat"]},
        {"negative_labels": None, "not_exhaustive_labels": None},
    ]


def test_what_differs_within_an_image_belongs_to_its_objects(tmp_path):
    rows = "image,label,x,y,width,height,distance,camera\na,cat,0,0,9,9,3.5,c1\na,dog,0,0,9,9,,c1\nb,cat,0,0,9,9,8,c2\n"
    suite = read_suite(write(tmp_path, "t.csv", rows))
    assert suite.annotations["metadata.distance"].to_pylist() == ["3.5", None, "8"]
    assert suite.cases["metadata.camera"].to_pylist() == ["c1", "c2"]
    assert "metadata.camera" not in suite.annotations.column_names
    scored = rows.replace("camera", "score").replace("c1", "0.5").replace("c2", "0.9")
    outputs = read_outputs(write(tmp_path, "m.csv", scored), suite=suite)
    assert outputs.predictions["metadata.distance"].to_pylist() == ["3.5", None, "8"]
