"""Pascal VOC folders and zips: boxes as COCO's converters have them, difficult kept as a flag, hostile XML refused."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.errors import InputError
from metrics.ingest import Reading, inspect, load_suite, read_outputs, read_suite
from tests.ingest.files import packed, picture, unpacked, write


def item(name="cat", box=(1, 2, 11, 22), extra=""):
    corners = "".join(
        f"<{side}>{value}</{side}>" for side, value in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
    )
    return f"<object><name>{name}</name>{extra}<bndbox>{corners}</bndbox></object>"


def annotation(objects="", size="<size><width>100</width><height>50</height></size>", filename="a.png"):
    return f"<annotation><filename>{filename}</filename>{size}{objects}</annotation>"


SET = {
    "Annotations/a.xml": annotation(item() + item("dog", (0, 0, 100, 50.5), "<difficult>1</difficult>")),
    "Annotations/b.xml": annotation(filename="folder\\b.png"), "ImageSets/Main/train.txt": "a\nb\n",
}  # fmt: skip
IMAGES = {"JPEGImages/a.png": picture(100, 50), "JPEGImages/b.png": picture(100, 50, colour=1)}
BOX = ("case_id", "label", "x", "y", "width", "height", "area")


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
@pytest.mark.parametrize("images", [{}, IMAGES], ids=["alone", "with images"])
def test_suite(tmp_path, make, images):
    loaded = load_suite(make(tmp_path / "voc.zip", SET | images), workspace_media=tmp_path / "media")
    suite = loaded.value
    assert (suite.name, suite.task, suite.labels, suite.category_ids) == ("voc", "detection", ("cat", "dog"), ())
    columns = ["case_id", "image_width", "image_height", "metadata.image_name"]
    assert [tuple(row.values()) for row in suite.cases.select(columns).to_pylist()] == [
        ("a", 100, 50, "a.png"), ("b", 100, 50, "b.png"),
    ]  # fmt: skip
    assert suite.cases["image"].null_count == (0 if images else 2)
    assert [tuple(row[name] for name in BOX) for row in suite.annotations.to_pylist()] == [
        ("a", "cat", 1, 2, 10, 20, 200), ("a", "dog", 0, 0, 100, 50.5, 5050),
    ]  # fmt: skip
    assert suite.annotations["difficult"].to_pylist() == [False, True]
    assert suite.annotations["is_crowd"].to_pylist() == [False, False]
    said = "Objects marked difficult: 1. voc_ap ignores them; other evaluators count them as all others."
    assert loaded.notes == (said,)


def test_a_name_that_no_image_has_is_said_to_be_unused(tmp_path):
    files = {"a.xml": annotation(item(), filename="other.png"), "a.png": picture(100, 50)}
    suite = read_suite(packed(tmp_path / "voc.zip", files), workspace_media=tmp_path / "media")
    assert suite.cases["metadata.image_name"].to_pylist() == ["a.png"]
    assert (
        "voc.zip: annotation.filename (1) is not used: no image has this name, the image is that with the name of the file, such as 'other.png'"
        in list(map(str, suite.receipt))
    )


def test_unknown_sizes_come_from_the_images_and_predictions_find_theirs(tmp_path):
    entries = {
        "a.xml": annotation(item(), "<size><width>0</width><height>0</height></size>"),
        "b.xml": annotation("", "", ""),
    }
    suite = read_suite(packed(tmp_path / "v.zip", entries | IMAGES))
    assert suite.cases["image_width"].to_pylist() == [100, 100]
    assert read_suite(packed(tmp_path / "w.zip", entries)).cases["image_width"].to_pylist() == [None, None]
    suite = read_suite(packed(tmp_path / "v.zip", SET))
    outputs = read_outputs(
        write(tmp_path, "o.csv", "image,label,score,x,y,width,height\na.png,cat,1,1,1,5,5\nb,dog,1,1,1,5,5\n"),
        suite=suite,
    )
    assert outputs.predictions["case_id"].to_pylist() == ["a", "b"]
    with pytest.raises(InputError, match="found Pascal VOC annotations, which have no scores"):
        read_outputs(tmp_path / "v.zip", suite=suite)


LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + annotation(item("&b;"))
PROBLEMS = {
    "every problem": (annotation(item("", (1, 2, 3, 4)) + item("cat", (5, 2, 3, "x")) + item("cat", ("nan", 2, 3, 4))), [
        "v.zip/a.xml, row 1, column name: found nothing; expected the class of the object",
        "v.zip/a.xml, row 2, column ymax: found 'x'; expected a number",
        "v.zip/a.xml, row 3, column xmin: found 'nan'; expected a number",
    ]),
    "corners out of order": (annotation(item("cat", (5, 2, 3, 4))), ["v.zip/a.xml, row 1: found 5, 2, 3, 4; expected left, top, right, bottom, in this order"]),
    "astronomic size": (annotation("<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>1e308</xmax><ymax>2</ymax></bndbox></object>"), ["v.zip/a.xml, row 1, column xmax: found 1e+308; expected a finite number of pixels"]),
    "no box": (annotation("<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax></bndbox></object>"), ["v.zip/a.xml, row 1, column ymax: found nothing; expected a number"]),
    "difficult": (annotation(item(extra="<difficult>very</difficult>")), ["v.zip/a.xml, row 1, column difficult: found 'very'; expected 0 or 1, true or false"]),
    "size": (annotation("", "<size><width>-1</width></size>"), ["v.zip/a.xml, column size.width: found '-1'; expected the image's size in whole pixels, at most 1,000,000"]),
    "not well-formed": ("<annotation>\n<object></annotation>", ["v.zip/a.xml, row 2: found XML that cannot be read: mismatched tag: line 2, column 10; expected an <annotation> with size and objects"]),
    "empty": ("", ["v.zip/a.xml, row 1: found XML that cannot be read: no element found: line 1, column 0; expected an <annotation> with size and objects"]),
    "another root": ("<html/>", ["v.zip/a.xml: found a root element <html>; expected an <annotation> with size and objects"]),
    "entities": (LAUGHS, ["v.zip/a.xml: found XML that is refused: DTDForbidden(name='a', system_id=None, public_id=None); expected an <annotation> with size and objects, without a DTD or entities"]),
    "an external entity": ('<!DOCTYPE a SYSTEM "file:///etc/passwd">' + annotation(), None),
    "an unknown encoding": ('<?xml version="1.0" encoding="x-none"?><annotation/>', None),
}  # fmt: skip


@pytest.mark.parametrize(("text", "texts"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path, text, texts):
    path = packed(tmp_path / "v.zip", {"a.xml": text, "b.xml": annotation(item())})
    with pytest.raises(InputError) as caught:
        read_suite(path)
    assert len(caught.value.problems) > 0
    assert texts is None or [str(problem) for problem in caught.value.problems] == texts
    loaded = load_suite(path, keep_good_rows=True)
    assert "b" in loaded.value.cases["case_id"].to_pylist()
    assert loaded.value.left_out > 0


def test_voc100(shared):
    folder = shared / "data" / "voc100"
    suite = read_suite(folder / "gts" / "pascalvoc")
    truth = read_suite(folder / "instances.json")
    names = dict(zip(truth.cases["case_id"].to_pylist(), truth.cases["metadata.image_name"].to_pylist(), strict=True))

    def rows(suite, name_of):
        sizes = {row["case_id"]: (row["image_width"], row["image_height"]) for row in suite.cases.to_pylist()}
        return sorted(
            (name_of(row["case_id"]), *sizes[row["case_id"]], *(row[name] for name in (*BOX[1:], "is_crowd")))
            for row in suite.annotations.to_pylist()
        )

    assert (rows(suite, lambda case: case + ".jpg"), len(suite)) == (rows(truth, names.get), 100)
    assert set(suite.labels) == set(truth.labels)
    assert suite.annotations["difficult"].to_pylist().count(True) == 38


LISTS = {  # lists of ImageSets, what is asked for → the annotations that are read
    "val goes first": ({"Main/train.txt": "a\n", "Main/val.txt": "b\n", "Main/cat_val.txt": "a 1\n"}, None, ["b"]),
    "asked for": ({"Main/train.txt": "a  1\n", "Main/val.txt": "b -1\n"}, "train", ["a"]),
    "all": ({"train.txt": "a.jpg\n", "val.txt": "b.jpg\n"}, "all", ["a", "b"]),
    "of another task": ({"Main/trainval.txt": "a\nb\n", "Segmentation/val.txt": "b\n"}, None, ["a", "b"]),
}


@pytest.mark.parametrize(("lists", "sheet", "cases"), LISTS.values(), ids=LISTS.keys())
def test_lists_of_image_sets_are_splits(tmp_path, lists, sheet, cases):
    files = {name: text for name, text in SET.items() if name.endswith(".xml")}
    path = packed(tmp_path / "voc.zip", files | {f"ImageSets/{name}": text for name, text in lists.items()})
    suite = read_suite(path, reading=Reading(sheet=sheet))
    assert suite.cases["case_id"].to_pylist() == cases
    assert len(inspect(path).sheets) == (0 if "Main/trainval.txt" in lists else 3)
