"""Hostile and broken annotation files: each ends in a clear problem, never in a crash, a hang or a full memory."""
# ruff: noqa: E501 - a table reads better with one line a case

from typing import Any

import pytest

from metrics.ingest import inspect, load_suite, read_outputs, read_suite
from tests.ingest import one_scene
from tests.ingest.files import list_problems, packed, write
from tests.ingest.one_scene import PREDICTIONS, TRUTHS

LAUGHS = '<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
IMAGE = '<image id="0" name="a.png" width="9" height="9">{}</image>'
REFUSED = "expected CVAT's <annotations> of images or tracks, without a DTD or entities"


def cvat(body: str) -> str:
    return f"<annotations>{body}</annotations>"


def labelme(*shapes: Any, **facts: Any) -> dict:
    return {"version": "5", "shapes": list(shapes), "imagePath": "a.png", "imageWidth": 9, "imageHeight": 9, **facts}


def box(*points: Any, **facts: Any) -> dict:
    return {"label": "a", "shape_type": "rectangle", "points": list(points), **facts}


def createml(**coordinates: Any) -> list:
    box = {"x": 1, "y": 1, "width": 1, "height": 1, **coordinates}
    return [{"image": "a.png", "annotations": [{"label": "a", "coordinates": box}]}]


def studio(kind: str = "rectanglelabels", value: Any = None, **region: Any) -> list:
    size = {"original_width": 100, "original_height": 100}
    full = {"type": kind, "value": {kind: ["a"], **(value or {})}} | size | region
    return [{"data": {"image": "a.png"}, "annotations": [{"result": [full]}]}]


FILES = {
    "CVAT, an entity that grows": ("a.xml", LAUGHS.format(root="annotations") + cvat(IMAGE.format('<box label="&b;" xtl="1" ytl="1" xbr="2" ybr="2"/>')), ["a.xml: found XML that is refused: DTDForbidden(name='annotations', system_id=None, public_id=None); " + REFUSED]),
    "CVAT, a file from outside": ("a.xml", OUTSIDE.format(root="annotations") + cvat(IMAGE.format("&a;")), ["a.xml: found XML that is refused: DTDForbidden(name='annotations', system_id=None, public_id=None); " + REFUSED]),
    "CVAT, cut off": ("a.xml", "<annotations>" + IMAGE.format("") + "<image", ["a.xml, row 1: found XML that cannot be read: unclosed token: line 1, column 69; expected CVAT's <annotations> of images or tracks"]),
    "CVAT, a billion frames": ("a.xml", cvat("<meta><task><size>1000000000</size><original_size><width>9</width><height>9</height></original_size></task></meta>"), ["a.xml, column size: found '1000000000'; expected the image's size in whole pixels, at most 1,000,000"]),
    "CVAT, a frame far away": ("a.xml", cvat('<track label="a"><box frame="99999999999" xtl="1" ytl="1" xbr="2" ybr="2"/></track>'), ["a.xml, row 1, column frame: found '99999999999'; expected the number of a frame"]),
    "CVAT, a mask larger than the image": ("a.xml", cvat(IMAGE.format('<mask label="a" left="0" top="0" width="99" height="99" rle="0,9801"/>')), ["a.xml, row 1: found a mask of 99 × 99 at 0, 0; expected one inside an image of 9 × 9"]),
    "CVAT, a mask of a trillion pixels": ("a.xml", cvat(IMAGE.format('<mask label="a" left="0" top="0" width="1000000" height="1000000" rle="0,1000000000000"/>')), ["a.xml, row 1: found a mask of 1,000,000 × 1,000,000 pixels; expected at most 150,000,000"]),
    "CVAT, runs that do not fit": ("a.xml", cvat(IMAGE.format('<mask label="a" left="0" top="0" width="2" height="2" rle="1,99"/>')), ["a.xml, row 1, column rle: found runs that cover 100 pixels; expected 2 × 2 pixels"]),
    "CVAT, no numbers": ("a.xml", cvat(IMAGE.format('<box label="a" xtl="nan" ytl="1" xbr="2" ybr="2"/><box label="a" xtl="1" ytl="1" xbr="1e999" ybr="2"/><polygon label="a" points="1,2;3"/>')), ["a.xml, row 1, column xtl: found 'nan'; expected a number", "a.xml, row 2, column xbr: found inf; expected a finite number of pixels", "a.xml, row 3, column points: found '1,2;3'; expected x,y;x,y;…"]),
    "CVAT, swapped corners": ("a.xml", cvat(IMAGE.format('<box label="a" xtl="5" ytl="1" xbr="2" ybr="2"/>')), ["a.xml, row 1: found 5, 1, 2, 2; expected left, top, right, bottom, in this order"]),
    "CVAT, a wrong size": ("a.xml", cvat('<image id="7" name="a.png" width="1e99" height="9"/>'), ["a.xml, column width: found 1e+99 in image 7; expected a finite number of pixels"]),
    "CreateML, no numbers": ("a.json", createml(x="left", width=True), ["a.json, row 1, column coordinates.x: found 'left'; expected a number"]),
    "CreateML, a negative size": ("a.json", createml(width=-1), ["a.json, row 1: found -1 × 1; expected a width and a height of at least 0"]),
    "CreateML, beyond all numbers": ("a.json", createml(x=1e300), ["a.json, row 1, column coordinates.x: found 1e+300; expected a finite number of pixels"]),
    "CreateML, cut off": ("a.json", '[{"image": "a.png", "annotations": [', ["a.json, row 1: found unexpected end of data at line 1, character 37; expected a JSON document"]),
    "LabelMe, no points": ("a.json", labelme(box(), box([1], [2, 2]), {"label": "", "points": []}), ["a.json, row 1, column points: found a rectangle of 0 points; expected two points", "a.json, row 2, column points: found [[1], [2, 2]]; expected [[x, y], …]", "a.json, row 3, column label: found ''; expected the class of the object"]),
    "LabelMe, a mask that is none": ("a.json", labelme(box([0, 0], [1, 1], shape_type="mask", mask="?")), ["a.json, row 1, column mask: found a mask that cannot be read (Only base64 data is allowed); expected a PNG in base64"]),
    "LabelMe, two points": ("a.json", labelme(box([0, 0], [1, 1], shape_type="polygon")), ["a.json, row 1: found a polygon of 2 points; expected at least three points"]),
    "LabelMe, a wrong size": ("a.json", labelme(imageWidth=-5), ["a.json, column imageWidth: found -5; expected the image's size in whole pixels, at most 1,000,000"]),
    "Label Studio, no numbers": ("a.json", studio(value={"x": None, "y": 1, "width": 1, "height": 1}), ["a.json, row 1, column x: found nothing; expected a number"]),
    "Label Studio, a brush of other pixels": ("a.json", studio("brushlabels", {"rle": [255] * 40}), ["a.json, row 1, column rle: found a brush that cannot be read; expected runs of 100 × 100 pixels in RGBA"]),
    "Label Studio, a brush cut off": ("a.json", studio("brushlabels", {"rle": [0, 0, 156, 64, 63]}), ["a.json, row 1, column rle: found a brush that cannot be read; expected runs of 100 × 100 pixels in RGBA"]),
    "Label Studio, an enormous brush": ("a.json", studio("brushlabels", {"rle": [0]}, original_width=1_000_000, original_height=1_000_000), ["a.json, row 1, column rle: found a brush that cannot be read; expected runs of 1,000,000 × 1,000,000 pixels in RGBA"]),
    "Label Studio, no size": ("a.json", studio(value={"x": 1, "y": 1, "width": 1, "height": 1}, original_width=0), ["a.json, row 1: found a region without original_width and original_height; expected the size of its image in pixels"]),
    "DOTA, no numbers": ("s.zip", {"labelTxt/a.txt": "0 0 9 0 9 9 0 9 car 0\n0 0 x 0 9 9 0 9 car 0\n0 0 9 0 car 0\n" + "0 0 9 0 9 9 0 9 car 0\n" * 2}, ["s.zip/labelTxt/a.txt, row 2, column x1 y1 …: found 'x'; expected a number", "s.zip/labelTxt/a.txt, row 3: found '0 0 9 0 car 0'; expected x1 y1 x2 y2 x3 y3 x4 y4 class difficult"]),
    "KITTI, no numbers": ("s.zip", {"label_2/a.txt": "Car 0 0 0 1 1 9 9 1 1 1 0 0 9 0\nCar 0 0 0 9 1 1 9 1 1 1 0 0 9 0\nCar 0 0 0 nan 1 1 9 1 1 1 0 0 9 0\nCar 1\n"}, ["s.zip/label_2/a.txt, row 2: found 9, 1, 1, 9; expected left, top, right, bottom, in this order", "s.zip/label_2/a.txt, row 3, column left: found 'nan'; expected a number", "s.zip/label_2/a.txt, row 4: found 'Car 1'; expected type truncated occluded alpha left top right bottom height width length x y z rotation_y, and a score"]),
    "LabelMe XML, an entity": ("s.zip", {"a.xml": LAUGHS.format(root="annotation") + "<annotation><imagesize><nrows>9</nrows><ncols>9</ncols></imagesize><object><name>&b;</name></object></annotation>"}, ["s.zip/a.xml: found XML that is refused: DTDForbidden(name='annotation', system_id=None, public_id=None); expected an <annotation> of LabelMe, with imagesize and objects, without a DTD or entities"]),
    "one image twice": ("s.zip", {"a.json": [{"image": "a.png", "annotations": []}, {"image": "a.jpg", "annotations": []}, {"image": "a.jpg", "annotations": []}]}, ["s.zip: found the image 'a.jpg' again, first as 'a.jpg'; expected every image once"]),
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "annotations declare entities, masks of a trillion pixels or a billion frames",
    "XML without a DTD, sizes checked before anything is drawn, every fault listed",
)
@pytest.mark.parametrize(("name", "content", "texts"), FILES.values(), ids=FILES.keys())
def test_files(tmp_path, name, content, texts):
    path = packed(tmp_path / name, content) if name == "s.zip" else write(tmp_path, name, content)
    inspect(path)
    assert list_problems(read_suite, path) == texts


@pytest.mark.attack(
    "suite author",
    "annotations name images outside the upload, or on another host",
    "a name is looked up among the upload's own files and is never a path",
)
@pytest.mark.parametrize("name", ["../../a.png", "/etc/passwd", "C:\\a.png", "http://host/a.png"])
@pytest.mark.parametrize("writer", [one_scene.createml, one_scene.cvat], ids=["createml", "cvat"])
def test_names_of_images_are_no_paths(tmp_path, writer, name):
    """An image is only looked up among the upload's own files, whatever the annotations call it."""
    (file, content), *_ = writer(TRUTHS).items()
    text = content.replace("a.png", name) if isinstance(content, str) else [{**content[0], "image": name}, content[1]]
    entries = {file: text, **{path: data for path, data in one_scene.images().items() if "b.png" in path}}
    loaded = load_suite(packed(tmp_path / "s.zip", entries), keep_good_rows=True, workspace_media=tmp_path / "media")
    assert (loaded.value.cases["image"].null_count, len(list((tmp_path / "media").iterdir()))) == (1, 1)


PREDICTED = {
    "no scores": (one_scene.createml(TRUTHS), "m.zip: found objects without scores; expected a score for each object: a confidence in each annotation"),
    "an unknown image": ({"a.json": [{"image": "z.png", "annotations": one_scene.createml(PREDICTIONS)["_annotations.createml.json"][0]["annotations"]}]}, "m.zip: found predictions for 'z.png'; expected an image of the suite"),
    "an unknown class": ({"a.json": [{"image": "a.png", "annotations": [{"label": "eel", "confidence": 0.5, "coordinates": {"x": 9, "y": 9, "width": 2, "height": 2}}]}]}, "m.zip/a.json, row 1, column label: found 'eel'; expected a class of the suite"),
    "an image of another size": ({"a.json": {**one_scene.labelme(PREDICTIONS)["a.json"], "imageWidth": 400}}, "m.zip: found 'a.png' of 400 × 100 pixels; expected 200 × 100, as the suite says"),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "text"), PREDICTED.values(), ids=PREDICTED.keys())
def test_predictions(tmp_path, entries, text):
    suite = read_suite(packed(tmp_path / "s.zip", one_scene.cvat(TRUTHS)))
    assert list_problems(read_outputs, packed(tmp_path / "m.zip", entries), suite=suite) == [text]
