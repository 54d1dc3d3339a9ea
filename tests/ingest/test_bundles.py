"""Folders and zips: what they hold is told by their files, and everything hostile about them is refused."""
# ruff: noqa: E501 - a table reads better with one line a case

import zipfile

import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, read_combined, read_outputs, read_suite
from tests.ingest.files import packed, picture, read_refusal, unpacked, write

LABELS = {"labels/a.txt": "0 0.5 0.5 1 1", "classes.txt": "cat"}
COCO = {
    "images": [{"id": 1, "file_name": "a.png", "width": 8, "height": 6}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
    "categories": [{"id": 1, "name": "cat"}],
}


UNKNOWN = {
    "nothing": ({}, "no files"),
    "images only": ({"a.png": picture(), "b.png": picture()}, "2 files (a.png, b.png)"),
    "several tables": ({"a.csv": "id\n1\n", "b.csv": "id\n1\n"}, "2 tables: a.csv, b.csv"),
    "two formats": (LABELS | {"a.xml": "<annotation/>"}, "both YOLO labels and Pascal VOC annotations"),
    "another": ({"notes.md": "x", "a.exe": "x", "b": "x", "c": "x"}, " files (a.exe, b, c, …)"),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "found"), UNKNOWN.values(), ids=UNKNOWN.keys())
@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
@pytest.mark.parametrize("read", [read_suite, inspect, read_combined], ids=["suite", "inspect", "combined"])
def test_what_they_hold_is_nothing_known(tmp_path, make, entries, found, read):
    path = tmp_path / "x.zip"
    path.mkdir() if make is unpacked and not entries else make(path, dict(sorted(entries.items())))
    assert found in read_refusal(read, path)


HOSTILE = {
    "absolute": ("/etc/x.txt", "a path that leaves the archive"),
    "parent": ("../x.txt", "a path that leaves the archive"),
    "parent inside": ("a/../../x.txt", "a path that leaves the archive"),
    "an archive": ("inner.zip", "an archive in the archive"), "a link": ("link", "a symbolic link"),
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "a zip with links, archives, or names that leave it",
    "the list of a zip is checked whole before anything is unpacked",
)
@pytest.mark.parametrize(("entry", "why"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_zips(tmp_path, entry, why):
    path = packed(tmp_path / "x.zip", LABELS | {"a.png": picture()})
    info = zipfile.ZipInfo(entry)
    if why == "a symbolic link":
        info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "x")
    suite = read_suite(packed(tmp_path / "good.zip", LABELS | {"a.png": picture()}))
    for read in (read_suite, inspect, lambda path: read_outputs(path, suite=suite)):
        with pytest.raises(InputError) as caught:
            read(path)
        assert [problem.found for problem in caught.value.problems] == [f"entry {entry!r}: {why}"]


@pytest.mark.parametrize(("name", "found"),
    [("x.zip", "no readable zip"), ("x.xlsx", "a damaged zip archive or Office document")])  # fmt: skip
def test_damaged(tmp_path, name, found):
    with pytest.raises(InputError, match=found):
        read_suite(write(tmp_path, name, b"PK\x03\x04" + bytes(40)))


PICTURES = {"images/a.png": picture(), "images/z.png": picture(colour=9)}
VOC = "<annotation><filename>a.png</filename><size><width>8</width><height>6</height></size></annotation>"
LABELME = {"version": "5", "shapes": [], "imagePath": "a.png", "imageWidth": 8, "imageHeight": 6}
BESIDE = {"README.txt": "hello", "notes.md": "x", "LICENSE": "x"}
SAID = {  # files of one image → what the receipt says of the others
    "YOLO": (LABELS | BESIDE, ["*.md (1)", "*.txt (1)", "LICENSE (1)"]),  # an image without labels has no objects
    "VOC": ({"Annotations/a.xml": VOC} | BESIDE, ["*.md (1)", "*.png (1)", "*.txt (1)", "LICENSE (1)"]),
    "LabelMe": ({"a.json": LABELME} | BESIDE, ["version (1)", "*.md (1)", "*.png (1)", "*.txt (1)", "LICENSE (1)"]),
    "a table": ({"t.csv": "image,label,x,y,width,height\na.png,cat,1,1,2,2\n"} | BESIDE, ["*.md (1)", "*.png (1)", "*.txt (1)", "LICENSE (1)"]),
    "COCO": ({"coco.json": COCO} | BESIDE, ["*.md (1)", "*.png (1)", "*.txt (1)", "LICENSE (1)"]),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "said"), SAID.values(), ids=SAID.keys())
@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_the_receipt_names_the_files_that_are_not_read(tmp_path, make, entries, said):
    suite = read_suite(make(tmp_path / "s.zip", entries | PICTURES))
    lines = [line for line in suite.receipt if line.use == "unused"]
    assert [f"{line.place} ({line.count})" for line in lines] == said
    assert [line.example for line in lines if line.place == "*.png"] in ([], ["images/z.png"])


def test_images_of_other_cases_are_refused(tmp_path):
    boxes = write(tmp_path, "t.csv", "image,label,x,y,width,height,image_width,image_height\nq.png,cat,1,1,2,2,8,6\n")
    images = packed(tmp_path / "i.zip", PICTURES)
    found = "i.zip: found no image of any case; expected images with the names that the suite has"
    assert read_refusal(read_suite, boxes, images=images) == found


def test_images_of_texts_are_refused(tmp_path):
    texts = write(tmp_path, "t.csv", "case_id,question,expected_answer\n1,a,b\n")
    images = packed(tmp_path / "i.zip", PICTURES)
    found = "i.zip: found images for a suite of text; expected cases with images: a column image, or objects"
    assert read_refusal(read_suite, texts, images=images) == found
