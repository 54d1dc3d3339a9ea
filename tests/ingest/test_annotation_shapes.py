"""What annotation tools draw beside boxes: rotated boxes, polygons, ellipses, masks, tracks, regions to ignore."""
# ruff: noqa: E501 - a table reads better with one line a case

import base64
import io
import math
from typing import Any

import numpy as np
import pytest
from PIL import Image

from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from metrics.ingest import load_suite, read_outputs, read_suite
from metrics.ingest.formats.label_studio import brush
from metrics.vision.geometry import drawn
from metrics.vision.outlines import bitmap_of
from tests.fuzz import full_uploads
from tests.ingest.files import packed, picture, write


def objects(suite: Any) -> list[tuple]:
    return [
        (row["label"], *(pytest.approx(row[side], abs=1e-9) for side in ("x", "y", "width", "height", "area")))
        for row in suite.annotations.to_pylist()
    ]


def bitmap(suite: Any, row: int = 0) -> np.ndarray:
    cases = suite.cases.take([suite.cases["case_id"].to_pylist().index(suite.annotations["case_id"][row].as_py())])
    return bitmap_of(drawn("annotations", suite.annotations.slice(row, 1), cases), 0)


ROUND = round(36 * math.sin(math.radians(5)), 12)  # the area of a regular polygon of 72 corners
SQUARE = [(10, 10), (30, 10), (30, 20), (10, 20)]
CVAT_SHAPES = {
    "box": ('<box label="a" xtl="10" ytl="10" xbr="30" ybr="20"/>', ("a", 10, 10, 20, 10, 200)),
    "turned about its centre": ('<box label="a" xtl="10" ytl="10" xbr="30" ybr="20" rotation="90"/>', ("a", 15, 5, 10, 20, 200)),
    "polygon": ('<polygon label="a" points="10,10;30,10;30,20"/>', ("a", 10, 10, 20, 10, 100)),
    "ellipse": ('<ellipse label="a" cx="20" cy="20" rx="10" ry="5"/>', ("a", 10, 15, 20, 10, 50 * ROUND)),
    "mask": ('<mask label="a" left="3" top="2" width="3" height="2" rle="1, 2, 2, 1"/>', ("a", 4, 2, 2, 2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("shape", CVAT_SHAPES)
def test_cvat(tmp_path, shape):
    body, expected = CVAT_SHAPES[shape]
    text = f'<annotations><image id="0" name="i.png" width="40" height="30">{body}</image></annotations>'
    suite = read_suite(write(tmp_path, "a.xml", text))
    assert objects(suite) == [expected]
    if shape == "mask":  # a crop of 3 × 2 at (3, 2): .XX / ..X, row by row
        pixels = np.zeros((30, 40), bool)
        pixels[2, 4:6] = pixels[3, 5] = True
        assert (bitmap(suite) == pixels).all()


def test_the_tracks_of_a_video_in_cvat(tmp_path):
    """Three frames: a car in the first two leaves the picture, and nothing is in the third."""
    text = """<?xml version="1.0" encoding="utf-8"?><annotations><version>1.1</version><meta><task><size>3</size>
      <start_frame>0</start_frame><labels><label><name>car</name></label><label><name>bus</name></label></labels>
      <original_size><width>40</width><height>30</height></original_size></task></meta>
      <track id="0" label="car"><box frame="0" outside="0" xtl="1" ytl="2" xbr="5" ybr="6"/>
      <box frame="1" outside="0" xtl="2" ytl="2" xbr="6" ybr="6"/>
      <box frame="2" outside="1" xtl="3" ytl="2" xbr="7" ybr="6"/></track></annotations>"""
    suite = read_suite(write(tmp_path, "a.xml", text))
    assert suite.labels == ("car", "bus")
    assert suite.cases.select(["case_id", "image_width", "image_height"]).to_pylist() == [
        {"case_id": f"frame_00000{frame}", "image_width": 40, "image_height": 30} for frame in range(3)
    ]
    seen = [(row["case_id"], row["x"]) for row in suite.annotations.to_pylist()]
    assert seen == [("frame_000000", 1), ("frame_000001", 2)]


def png(pixels: np.ndarray) -> str:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


MASK = np.array([[True, False], [True, True]])
LABELME_SHAPES = {
    "rectangle": ([{"shape_type": "rectangle", "points": [[30, 20], [10, 10]]}], ("a", 10, 10, 20, 10, 200)),
    "rectangle of four corners": ([{"shape_type": "rectangle", "points": SQUARE}], ("a", 10, 10, 20, 10, 200)),
    "rotated box": ([{"shape_type": "rotation", "points": SQUARE, "direction": 0.1}], ("a", 10, 10, 20, 10, 200)),
    "polygon without a type": ([{"points": SQUARE}], ("a", 10, 10, 20, 10, 200)),
    "two parts of one object": ([{"points": SQUARE, "group_id": 1}, {"points": [[0, 0], [4, 0], [4, 4]], "group_id": 1}], ("a", 0, 0, 30, 20, 208)),
    "two rectangles of one object": ([{"shape_type": "rectangle", "points": [[0, 0], [4, 8]], "group_id": "g"}, {"shape_type": "rectangle", "points": [[4, 0], [8, 8]], "group_id": "g"}], ("a", 0, 0, 8, 8, 64)),
    "overlapping parts": ([{"shape_type": "rectangle", "points": [[0, 0], [4, 8]], "group_id": 0}, {"points": [[2, 0], [8, 0], [8, 8], [2, 8]], "group_id": 0}], ("a", 0, 0, 8, 8, 64)),
    "blank groups": ([{"points": SQUARE, "group_id": ""}], ("a", 10, 10, 20, 10, 200)),
    "another spelling": ([{"shape_type": "Rectangle", "points": [[30, 20], [10, 10]]}], ("a", 10, 10, 20, 10, 200)),
    "a circle and a rectangle": ([{"shape_type": "circle", "points": [[20, 15], [25, 15]], "group_id": 2}, {"shape_type": "rectangle", "points": [[0, 0], [4, 8]], "group_id": 2}], ("a", 0, 0, 25, 20, 25 * ROUND + 32)),
    "a mask and a rectangle": ([{"shape_type": "mask", "points": [[3, 2], [4, 3]], "mask": png(MASK), "group_id": 3}, {"shape_type": "rectangle", "points": [[4, 2], [8, 6]], "group_id": 3}], ("a", 3, 2, 5, 4, 18)),
    "circle": ([{"shape_type": "circle", "points": [[20, 15], [25, 15]]}], ("a", 15, 10, 10, 10, 25 * ROUND)),
    "mask": ([{"shape_type": "mask", "points": [[3, 2], [4, 3]], "mask": png(MASK)}], ("a", 3, 2, 2, 2, 3)),
}  # fmt: skip


def labelme(shapes: list[dict]) -> dict:
    listed = [{"label": "a", **shape} for shape in shapes]
    return {"version": "5", "shapes": listed, "imagePath": "..\\i.png", "imageWidth": 40, "imageHeight": 30}


@pytest.mark.parametrize("shape", LABELME_SHAPES)
def test_labelme(tmp_path, shape):
    shapes, expected = LABELME_SHAPES[shape]
    suite = read_suite(write(tmp_path, "i.json", labelme(shapes)))
    assert objects(suite) == [expected]
    if shape == "mask":
        pixels = np.zeros((30, 40), bool)
        pixels[2:4, 3:5] = MASK
        assert (bitmap(suite) == pixels).all()


@pytest.mark.parametrize(("content", "name", "value"), [
    (full_uploads.coco_truth(), "weather.sky", "grey"), (full_uploads.label_studio(), "weather", "rain"),
    (full_uploads.createml(), "checksum", "x"), (labelme([]) | {"flags": {"dusk": True}}, "flags.dusk", "true"),
], ids=["COCO", "Label Studio", "CreateML", "LabelMe"])  # fmt: skip
def test_what_an_image_has_beside_its_objects_is_kept(tmp_path, content, name, value):
    suite = read_suite(write(tmp_path, "u.json", content))
    assert suite.cases[f"metadata.{name}"][0].as_py() == value
    (line,) = [line for line in suite.receipt if line.meaning == f"metadata.{name}"]
    assert (line.use, line.example, line.place.endswith(name)) == ("kept", value, True)


def test_what_labelme_draws_beside_objects(tmp_path):
    shapes = [{"shape_type": "point", "points": [[1, 1]]}, {"shape_type": "line", "points": [[1, 1], [2, 2]]}]
    loaded = load_suite(write(tmp_path, "i.json", labelme(shapes)))
    assert len(loaded.value.annotations) == 0
    shapes[0] |= {"flags": {"blurred": True}, "attributes": {}, "description": ""}
    lines = list(map(str, read_suite(write(tmp_path, "i.json", labelme(shapes) | {"flags": {"dusk": True}})).receipt))
    assert lines == [
        "i.json: version (1) is not used: no evaluator uses it, such as '5'",
        "i.json: shapes[].flags.blurred (1) is not used: no evaluator uses it, such as 'True'",
        "i.json: shapes of type point (1) is not used: no area, so no object to match",
        "i.json: shapes of type line (1) is not used: no area, so no object to match",
        "i.json: flags.dusk (1) is kept as metadata.flags.dusk, such as 'true'",
    ]


def test_points_of_labelmes_web_page_that_are_no_box(tmp_path):
    points = [(1, 1), (9, 1), (9, 9), (2, 8)]
    drawn = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in points)
    text = f"<annotation><filename>i.png</filename><object><name>cat</name><type>bounding_box</type><polygon>{drawn}</polygon></object></annotation>"
    suite = read_suite(write(tmp_path, "i.xml", text), images=packed(tmp_path / "i.zip", {"i.png": picture(20, 20)}))
    assert [suite.annotations[side][0].as_py() for side in ("x", "y", "width", "height")] == [1, 1, 8, 8]
    assert any(line.use == "unused" and line.meaning.startswith("they are no corners") for line in suite.receipt)


def test_labelme_blank_groups_are_none_and_unknown_kinds_are_named(tmp_path):
    shapes = [{"points": SQUARE, "group_id": group, "shape_type": "polygon"} for group in ("", "", None, 1, 1)]
    suite = read_suite(write(tmp_path, "i.json", labelme([*shapes, {"points": SQUARE, "shape_type": "cuboid"}])))
    assert len(suite.annotations) == 4
    assert "i.json: shapes of type cuboid (1) is not used: no kind of shape that LabelMe has" in map(str, suite.receipt)


def test_labelme_groups(tmp_path):
    """Shapes of two labels are two objects, the highest score of a group is its own, and one may be difficult."""
    shapes = [
        {"points": SQUARE, "group_id": 1, "score": 0.2, "difficult": False},
        {"points": SQUARE, "group_id": 1, "score": 0.7, "difficult": True},
        {"points": SQUARE, "group_id": 1, "score": 0.5, "label": "b"},
    ]
    suite = read_suite(write(tmp_path, "i.json", labelme(shapes)))
    assert suite.annotations.select(["label", "difficult", "area"]).to_pylist() == [
        {"label": "a", "difficult": True, "area": 200}, {"label": "b", "difficult": False, "area": 200},
    ]  # fmt: skip
    assert read_outputs(tmp_path / "i.json", suite=suite).predictions["score"].to_pylist() == [0.7, 0.5]
    [line] = [line for line in suite.receipt if line.use == "used" and line.place != "rows"]
    assert (line.place, line.meaning, line.count) == (
        "shapes[].group_id",
        "shapes of one label and group_id are one object",
        1,
    )


def packed_bits(parts: list[tuple[int, int]]) -> list[int]:
    """Whole numbers, each in so many bits, as bytes."""
    text = "".join(f"{value:0{bits}b}" for value, bits in parts)
    text += "0" * (-len(text) % 8)
    return [int(text[place : place + 8], 2) for place in range(0, len(text), 8)]


def brushed(alpha: np.ndarray) -> list[int]:
    """A mask as Label Studio's brush writes it: RGBA, a run where a pixel is transparent and single words elsewhere."""
    values = [value for pixel in alpha.ravel() for value in ((255, 10, 20, 255) if pixel else (0, 0, 0, 0))]
    parts = [(len(values), 32), (7, 5), (2, 4), (3, 4), (7, 4), (15, 4)]
    place = 0
    while place < len(values):
        end = place
        if values[place]:
            while end < len(values) and values[end] and end - place < 8:
                end += 1
            parts += [(0, 1), (0, 2), (end - place - 1, 3), *((value, 8) for value in values[place:end])]
        else:
            while end < len(values) and not values[end] and end - place < 256:
                end += 1
            parts += [(1, 1), (2, 2), (end - place - 1, 8), (0, 8)]
        place = end
    return packed_bits(parts)


def task(value: dict, kind: str = "rectanglelabels", **region: Any) -> dict:
    result = {"type": kind, "original_width": 200, "original_height": 100, "value": {**value, kind: ["a"]}, **region}
    return {"data": {"image": "s3://bucket/i.png"}, "annotations": [{"result": [result]}]}


STUDIO_SHAPES = {
    "box": (task({"x": 10, "y": 20, "width": 20, "height": 30}), ("a", 20, 20, 40, 30, 1200)),
    "turned about its corner": (task({"x": 50, "y": 20, "width": 20, "height": 30, "rotation": 90}), ("a", 70, 20, 30, 40, 1200)),
    "polygon": (task({"points": [[10, 10], [20, 10], [20, 30]]}, "polygonlabels"), ("a", 20, 10, 20, 20, 200)),
    "ellipse": (task({"x": 50, "y": 50, "radiusX": 10, "radiusY": 20}, "ellipselabels"), ("a", 80, 30, 40, 40, 400 * ROUND)),
}  # fmt: skip


@pytest.mark.parametrize("shape", STUDIO_SHAPES)
def test_label_studio(tmp_path, shape):
    document, expected = STUDIO_SHAPES[shape]
    assert objects(read_suite(write(tmp_path, "t.json", [document]))) == [expected]


def test_the_brush_of_label_studio(tmp_path):
    pixels = np.zeros((10, 14), bool)
    pixels[2:5, 3:9] = pixels[7, 0] = True
    assert (brush(brushed(pixels), 14, 10) == pixels).all()
    document = task({"format": "rle", "rle": brushed(pixels)}, "brushlabels", original_width=14, original_height=10)
    assert (bitmap(read_suite(write(tmp_path, "t.json", [document]))) == pixels).all()


def test_which_annotation_of_label_studio_is_read(tmp_path):
    """The ground truth, not what was skipped; a task without answers is left out; keypoints are no objects."""
    region = task({"x": 10, "y": 20, "width": 20, "height": 30})["annotations"][0]["result"][0]
    other = region | {"value": region["value"] | {"x": 0}}
    point = region | {"type": "keypointlabels", "value": {"x": 1, "y": 1, "keypointlabels": ["a"]}}
    document = [
        {"data": {"photo": "/data/local-files/?d=set%2F1.png"}, "annotations": [
            {"result": [other]}, {"result": [region, point], "ground_truth": True}, {"result": [], "was_cancelled": True}]},
        {"data": {"photo": "2.png"}, "annotations": []},
        {"data": {"photo": "3.png"}, "annotations": [{"result": []}]},
    ]  # fmt: skip
    loaded = load_suite(write(tmp_path, "t.json", document))
    assert loaded.value.cases["case_id"].to_pylist() == ["1", "3"]
    assert objects(loaded.value) == [("a", 20, 20, 40, 30, 1200)]
    assert loaded.notes == ("Tasks without an answer: 1. They are left out.",)
    said = "\n".join(map(str, read_suite(tmp_path / "t.json").receipt))
    assert "is not used: of a task with several annotations the one marked as ground truth is read" in said
    assert "regions of type keypointlabels (1) is not used: they are no objects in an image" in said


def test_the_models_of_label_studio(tmp_path):
    """Each model version is a model; the prediction's score is that of regions without one."""
    document = task({"x": 10, "y": 20, "width": 20, "height": 30})
    suite = read_suite(write(tmp_path, "t.json", [document]))
    (region,) = document["annotations"][0]["result"]
    document["predictions"] = [
        {"model_version": "v1", "score": 0.5, "result": [region, region | {"score": 0.25}]},
        {"model_version": "v2", "score": 0.75, "result": [region]},
    ]
    outputs = read_outputs(write(tmp_path, "p.json", [document]), suite=suite)
    rows = outputs.predictions.select(["model", "score"]).to_pylist()
    assert [(row["model"], row["score"]) for row in rows] == [("v1", 0.5), ("v1", 0.25), ("v2", 0.75)]


def test_a_region_that_kitti_does_not_care_about(tmp_path):
    """A detection inside it is neither right nor wrong, of whatever class; elsewhere it is wrong."""
    line = "{} 0 0 0 {} {} {} {} 1 1 1 0 0 9 0"
    both = [line.format("Car", 0, 0, 20, 20), line.format("Bus", 0, 50, 20, 60)]
    truth = "\n".join([*both, line.format("DontCare", 50, 0, 90, 40)])
    loaded = load_suite(packed(tmp_path / "t.zip", {"label_2/1.txt": truth}))
    suite = loaded.value
    assert loaded.notes == ("DontCare regions: 1. Detections inside them are ignored.",)
    assert [(row["label"], row["is_crowd"]) for row in suite.annotations.to_pylist()] == [
        ("Car", False), ("Bus", False), ("Bus", True), ("Car", True),
    ]  # fmt: skip

    def precision(*extra: str) -> float | None:
        lines = [*(own + " 0.5" for own in both), *extra]
        path = packed(tmp_path / "m.zip", {"label_2/1.txt": "\n".join(lines)})
        found = coco_summary(suite, read_outputs(path, suite=suite), CocoSummaryParameters())
        return next(row.value for row in found.aggregates if row.metric == "AP" and row.label is None)

    assert precision(line.format("Car", 60, 10, 70, 20) + " 0.9") == pytest.approx(1.0)
    assert precision(line.format("Car", 60, 60, 70, 70) + " 0.9") < 0.9
