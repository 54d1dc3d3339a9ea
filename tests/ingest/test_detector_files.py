"""What detectors write: one scene in the form of each library and service is read as the same boxes."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from collections.abc import Callable
from typing import Any

import pytest

from metrics.core.suite import Suite
from metrics.ingest import Reading, inspect, read_outputs, read_suite
from tests.ingest.files import list_problems, packed, picture, read_refusal, write
from tests.ingest.one_scene import PREDICTIONS, SIZES, TRUTHS, coco, corners, images, rows_of, yolo

NUMBER = {"cat": 1, "dog": 2}
Row = tuple[Any, ...]


def shares(row: Row) -> list[float]:
    """x1 y1 x2 y2 as shares of the image."""
    wide, high = SIZES[row[0]]
    return [value / (high if place % 2 else wide) for place, value in enumerate(corners(row))]


def columns(rows: list[Row], first: int = 1) -> dict[str, Any]:
    return {
        "boxes": [corners(row) for row in rows],
        "labels": [NUMBER[row[1]] - 1 + first for row in rows],
        "scores": [row[6] for row in rows],
    }


def each(one: Callable[[list[Row]], Any], key: str = "image", inner: str | None = None) -> list[dict[str, Any]]:
    """A record for each image: `one` makes its objects, as further keys or under `inner`."""
    made = ((name, one(rows_of(PREDICTIONS, name))) for name in SIZES)
    return [{key: f"{name}.png", **({inner: value} if inner else value)} for name, value in made]


def named(one: Callable[[list[Row]], Any]) -> dict[str, Any]:
    return {f"{name}.png": one(rows_of(PREDICTIONS, name)) for name in SIZES}


def lines(records: list[Any]) -> str:
    return "\n".join(map(json.dumps, records))


def hugging_face(rows: list[Row]) -> list[Any]:
    return [
        {
            "score": row[6],
            "label": row[1],
            "box": dict(zip(("xmin", "ymin", "xmax", "ymax"), corners(row), strict=True)),
        }
        for row in rows
    ]


def ultralytics(rows: list[Row]) -> list[Any]:
    return [
        {
            "name": row[1],
            "class": NUMBER[row[1]] - 1,
            "confidence": row[6],
            "box": dict(zip(("x1", "y1", "x2", "y2"), corners(row), strict=True)),
        }
        for row in rows
    ]


def tensorflow(rows: list[Row]) -> dict[str, Any]:
    boxes = [[shares(row)[place] for place in (1, 0, 3, 2)] for row in rows]
    return {
        "detection_boxes": boxes,
        "detection_classes": [float(NUMBER[row[1]]) for row in rows],
        "detection_scores": [row[6] for row in rows],
        "num_detections": float(len(rows)),
    }


def roboflow(rows: list[Row]) -> dict[str, Any]:
    size = dict(zip(("width", "height"), SIZES[rows[0][0]], strict=True))
    return {
        "predictions": [
            {
                "x": row[2] + row[4] / 2,
                "y": row[3] + row[5] / 2,
                "width": row[4],
                "height": row[5],
                "class": row[1],
                "class_id": NUMBER[row[1]] - 1,
                "confidence": row[6],
                "detection_id": "u",
            }
            for row in rows
        ],
        "image": size,
    }


def fiftyone(rows: list[Row]) -> list[Any]:
    return [
        {
            "label": row[1],
            "confidence": row[6],
            "bounding_box": [
                shares(row)[0],
                shares(row)[1],
                shares(row)[2] - shares(row)[0],
                shares(row)[3] - shares(row)[1],
            ],
        }
        for row in rows
    ]


def azure(rows: list[Row]) -> list[Any]:
    return [
        {
            "label": row[1],
            "score": row[6],
            "box": dict(zip(("topX", "topY", "bottomX", "bottomY"), shares(row), strict=True)),
        }
        for row in rows
    ]


def vertex(rows: list[Row]) -> dict[str, Any]:
    return {
        "displayNames": [row[1] for row in rows],
        "confidences": [row[6] for row in rows],
        "ids": ["7"] * len(rows),
        "bboxes": [[shares(row)[place] for place in (0, 2, 1, 3)] for row in rows],
    }


def mmdetection(rows: list[Row]) -> dict[str, Any]:
    return {("bboxes" if key == "boxes" else key): value for key, value in columns(rows, 0).items()}


FORMS = {
    "torchvision": ("m.json", each(columns, "image_id")),
    "torchvision by name": ("m.json", named(columns)),
    "torchvision in lines": ("m.jsonl", lines(each(columns, "file_name"))),
    "Detectron2's Instances": ("m.json", each(lambda rows: {"pred_boxes": columns(rows)["boxes"], "pred_classes": columns(rows, 0)["labels"], "scores": columns(rows)["scores"]}, "file_name", "instances")),
    "supervision's Detections": ("m.json", named(lambda rows: {"xyxy": columns(rows)["boxes"], "confidence": columns(rows)["scores"], "class_id": columns(rows, 0)["labels"], "class_name": [row[1] for row in rows]})),
    "MMDetection": ("m.zip", {f"preds/{name}.json": mmdetection(rows_of(PREDICTIONS, name)) for name in SIZES}),
    "transformers": ("m.json", each(hugging_face, "image", "predictions")),
    "transformers by name": ("m.json", named(hugging_face)),
    "transformers in lines": ("m.jsonl", lines(each(hugging_face, "file_name", "objects"))),
    "Ultralytics' to_json": ("m.zip", {f"{name}.json": ultralytics(rows_of(PREDICTIONS, name)) for name in SIZES}),
    "YOLOv5's pandas": ("m.json", named(lambda rows: [{**item["box"], "confidence": item["score"], "name": item["label"]} for item in hugging_face(rows)])),
    "TensorFlow": ("m.json", each(tensorflow, "image_id")),
    "TensorFlow in batches": ("m.json", named(lambda rows: {key: [value] for key, value in tensorflow(rows).items()})),
    "Roboflow": ("m.json", named(roboflow)),
    "Roboflow, a file an image": ("m.zip", {f"{name}.json": roboflow(rows_of(PREDICTIONS, name)) for name in SIZES}),
    "FiftyOne's detections": ("m.json", {"classes": ["cat", "dog"], "labels": {name: fiftyone(rows_of(PREDICTIONS, name)) for name in SIZES}}),
    "FiftyOne's samples": ("m.json", {"samples": each(lambda rows: {"detections": fiftyone(rows)}, "filepath", "predictions")}),
    "MMDetection's samples": ("m.json", each(mmdetection, "img_path", "pred_instances")),
    "FiftyOne's samples with their truth": ("m.json", {"samples": [record | {"ground_truth": {"detections": []}} for record in each(lambda rows: {"detections": fiftyone(rows)}, "filepath", "predictions")]}),
    "Azure": ("m.jsonl", lines(each(azure, "filename", "boxes"))),
    "Vertex": ("m.jsonl", lines([{"instance": {"content": f"gs://b/{name}.png", "mimeType": "image/png"}, "prediction": vertex(rows_of(PREDICTIONS, name))} for name in SIZES])),
}  # fmt: skip


@pytest.fixture
def suite(tmp_path) -> Suite:
    return read_suite(write(tmp_path, "gt.json", coco(TRUTHS)))


def boxes(outputs: Any, cases: dict[str, str]) -> list[Row]:
    return [
        (
            cases[row["case_id"]],
            row["label"],
            *(round(row[side], 6) for side in ("x", "y", "width", "height")),
            row["score"],
        )
        for row in outputs.predictions.to_pylist()
    ]


def write_upload(folder: Any, file: str, content: Any) -> Any:
    return packed(folder / file, content) if file.endswith(".zip") else write(folder, file, content)


@pytest.mark.parametrize(("file", "content"), FORMS.values(), ids=FORMS.keys())
def test_predictions(tmp_path, suite, file, content):
    path = write_upload(tmp_path, file, content)
    outputs = read_outputs(path, suite=suite)
    assert boxes(outputs, {"1": "a", "2": "b"}) == PREDICTIONS
    assert outputs.models == ("m",)
    role = "combined" if "ground_truth" in json.dumps(content, default=str) else "outputs"
    assert (inspect(path).format, inspect(path).role) == ("detector_json", role)


@pytest.mark.parametrize("form", ["FiftyOne's detections", "TensorFlow", "Roboflow"])
def test_predictions_for_images_of_unknown_size(tmp_path, form):
    """A suite without sizes holds its boxes as shares of 1,000 pixels, and those of the model are taken along."""
    suite = read_suite(packed(tmp_path / "gt.zip", yolo(TRUTHS)))
    found = boxes(read_outputs(write_upload(tmp_path, *FORMS[form]), suite=suite), {"a": "a", "b": "b"})
    for row, expected in zip(found, PREDICTIONS, strict=True):
        wide, high = SIZES[row[0]]
        assert row[2:6] == pytest.approx(
            [1000 * value / side for value, side in zip(expected[2:6], (wide, high) * 2, strict=True)]
        )


def test_boxes_of_shares_are_ground_truth_as_well(tmp_path):
    labels = {
        name: [
            {key: value for key, value in item.items() if key != "confidence"}
            for item in fiftyone([(*row, 0) for row in rows_of(TRUTHS, name)])
        ]
        for name in SIZES
    }
    files = {"labels.json": {"classes": ["cat", "dog"], "labels": labels}} | images()
    suite = read_suite(packed(tmp_path / "set.zip", files), workspace_media=tmp_path)
    assert suite.cases.select(["case_id", "image_width"]).to_pylist() == [
        {"case_id": name, "image_width": SIZES[name][0]} for name in SIZES
    ]
    rows = [
        (row["case_id"], row["label"], *(round(row[side], 6) for side in ("x", "y", "width", "height")))
        for row in suite.annotations.to_pylist()
    ]
    assert rows == TRUTHS


NUMBERS = {  # labels of the two boxes, answer → classes, or what is asked
    "ids": ([1, 2], None, ["cat", "dog"]),
    "from 0": ([0, 1], None, ["cat", "dog"]),
    "one that may be either": ([1, 1], None, "found classes by number, 1 to 1; expected an answer, class_numbers=ids or class_numbers=from_0 or class_numbers=from_1"),
    "answered": ([1, 1], "from_0", ["dog", "dog"]),
    "answered otherwise": ([1, 1], "ids", ["cat", "cat"]),
    "none": ([1, 7], None, "found '1' (row 1), '7' (row 1); expected a class of the suite"),
}  # fmt: skip


@pytest.mark.parametrize(("labels", "answer", "expected"), NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_of_classes(tmp_path, suite, labels, answer, expected):
    record = {"image_id": 1, "boxes": [[0, 0, 5, 5], [1, 1, 5, 5]], "labels": labels, "scores": [0.5, 0.4]}
    path = write(tmp_path, "m.json", [record])
    reading = Reading(answers={} if answer is None else {"class_numbers": answer})
    if isinstance(expected, str):
        assert expected in read_refusal(read_outputs, path, suite=suite, readings={path: reading})
    else:
        outputs = read_outputs(path, suite=suite, readings={path: reading})
        assert outputs.predictions["label"].to_pylist() == expected


FROM_1 = "m.json: [].category_id was decided: classes by number, 2 to 3: class_numbers=from_1, as it seems"
RESULTS = {  # names of a YOLO suite's classes, category ids of results → classes, what is said
    "from 0": (["cat", "dog"], [0, 1], ["cat", "dog"], None),
    "from 1": (["cat", "dog", "eel"], [3, 2], ["eel", "dog"], FROM_1),
    "as in COCO": ([f"c{place}" for place in range(80)], [90, 13], ["c79", "c11"], "class_numbers=coco_ids, as it seems"),
    "80 from 1": ([f"c{place}" for place in range(80)], [80, 12], ["c79", "c11"], "class_numbers=from_1, as it seems"),
}  # fmt: skip


@pytest.mark.parametrize(("names", "numbers", "classes", "said"), RESULTS.values(), ids=RESULTS.keys())
def test_numbers_of_classes_in_results_for_a_yolo_suite(tmp_path, names, numbers, classes, said):
    suite = read_suite(
        packed(tmp_path / "s.zip", {"data.yaml": f"names: {json.dumps(names)}", "labels/7.txt": "0 0.5 0.5 1 1"})
    )
    results = [{"image_id": 7, "category_id": number, "bbox": [0.1, 0.1, 0.5, 0.5], "score": 0.5} for number in numbers]
    outputs = read_outputs(write(tmp_path, "m.json", results), suite=suite)
    assert outputs.predictions["label"].to_pylist() == classes
    decided = [str(line) for line in outputs.receipt if line.use == "asked"]
    assert len(decided) == (said is not None)
    assert said is None or said in decided[0]


@pytest.mark.parametrize("form", ["results", "table"])
def test_boxes_in_pixels_of_images_of_unknown_size_are_refused(tmp_path, form):
    """YOLO labels without their images are shares of assumed images: pixels of the real ones are no such boxes."""
    suite = read_suite(packed(tmp_path / "s.zip", {"data.yaml": "names: [cat]", "labels/7.txt": "0 0.5 0.5 0.2 0.2"}))
    for box, refused in (([40, 40, 20, 20], True), ([0.4, 0.4, 0.2, 0.2], False)):
        path = write(tmp_path, "m.csv", "image,label,x,y,width,height,score\n7,cat," + ",".join(map(str, [*box, 0.5])))
        if form == "results":
            path = write(tmp_path, "m.json", [{"image_id": 7, "category_id": 0, "bbox": box, "score": 0.5}])
        if refused:
            found = "found boxes in pixels, of images whose size the suite does not know; expected the suite's images"
            assert found in read_refusal(read_outputs, path, suite=suite)
        else:
            assert len(read_outputs(path, suite=suite).predictions) == 1


def test_numbers_that_may_be_of_two_kinds_are_asked_about(tmp_path):
    names = [f"c{place}" for place in range(80)]
    suite = read_suite(
        packed(tmp_path / "s.zip", {"data.yaml": f"names: {json.dumps(names)}", "labels/7.txt": "0 0.5 0.5 1 1"})
    )
    path = write(tmp_path, "m.json", [{"image_id": 7, "category_id": 80, "bbox": [0.1, 0.1, 0.5, 0.5], "score": 0.5}])
    assert "expected an answer, class_numbers=from_1 or class_numbers=coco_ids" in read_refusal(
        read_outputs, path, suite=suite
    )


def test_images_without_names_are_asked_for(tmp_path, suite):
    records = [columns(rows_of(PREDICTIONS, name)) for name in SIZES]
    path = write(tmp_path, "m.json", records)
    expected = "m.json: found 2 images without names; expected an answer, images=in_order. The file does not say which images its records are of."
    assert list_problems(read_outputs, path, suite=suite) == [expected]
    ordered = Reading(answers={"images": "in_order"})
    assert boxes(read_outputs(path, suite=suite, readings={path: ordered}), {"1": "a", "2": "b"}) == PREDICTIONS
    write(tmp_path, "m.json", [*records, records[0]])
    refused = read_refusal(read_outputs, path, suite=suite, readings={path: ordered})
    assert "found 3 images without names; expected 2, as the suite has" in refused
    assert "objects without the name of their image" in read_refusal(read_suite, path)


FORMED = {
    "corners": ("xyxy", [10, 10, 30, 40], (10, 10, 20, 30)), "corner and size": ("xywh", [10, 10, 20, 30], (10, 10, 20, 30)),
    "centre and size": ("cxcywh", [20, 25, 20, 30], (10, 10, 20, 30)),
}  # fmt: skip


@pytest.mark.parametrize(("form", "box", "expected"), FORMED.values(), ids=FORMED.keys())
def test_four_numbers_without_a_name_are_asked_about(tmp_path, suite, form, box, expected):
    path = write(tmp_path, "m.json", {"a.png": [{"label": "cat", "confidence": 0.9, "bbox": box}], "b.png": []})
    columnar = write(
        tmp_path, "c.json", [{"image": "a.png", "objects": {"bbox": [box], "category": ["cat"], "score": [0.9]}}]
    )
    given = Reading(answers={"box_form": form})
    assert len(read_suite(columnar, reading=given).annotations) == 1
    asked = read_refusal(read_outputs, path, suite=suite)
    assert f"found boxes of four numbers, such as {box}; expected an answer, box_form=xyxy or" in asked
    outputs = read_outputs(path, suite=suite, readings={path: Reading(answers={"box_form": form})})
    [row] = outputs.predictions.to_pylist()
    assert tuple(row[side] for side in ("x", "y", "width", "height")) == expected


def test_crowds_and_sizes_in_ground_truth_of_azure(tmp_path):
    box = {"topX": 0.1, "topY": 0.25, "bottomX": 0.3, "bottomY": 0.5}
    items = [{"label": "cat", **box, "isCrowd": crowd} for crowd in ("false", "true")]
    record = {
        "image_url": "AmlDatastore://d/a.jpg",
        "image_details": {"format": "jpg", "width": "100px", "height": "80px"},
        "label": items,
    }
    suite = read_suite(write(tmp_path, "t.jsonl", [record]))
    rows = suite.annotations.select(["case_id", "x", "y", "width", "height", "is_crowd"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [("a", 10, 20, 20, 20, False), ("a", 10, 20, 20, 20, True)]


def test_the_name_of_the_image_may_stand_in_each_object(tmp_path, suite):
    record = roboflow(rows_of(PREDICTIONS, "a"))
    record["predictions"] = [{**item, "image_path": "a.png"} for item in record["predictions"]]
    outputs = read_outputs(write(tmp_path, "m.json", record), suite=suite)
    assert boxes(outputs, {"1": "a"}) == rows_of(PREDICTIONS, "a")


WRONG = {
    "swapped corners": ({"boxes": [[9, 9, 1, 1]], "labels": ["cat"], "scores": [1]}, "found 9, 9, 1, 1; expected left, top, right, bottom"),
    "three numbers": ({"boxes": [[9, 9, 1]], "labels": ["cat"], "scores": [1]}, "expected a box of four numbers"),
    "no score": ({"boxes": [[1, 1, 9, 9]], "labels": ["cat"]}, "found objects without scores"),
    "no label": ({"boxes": [[1, 1, 9, 9]], "labels": [None], "scores": [1]}, "found nothing; expected the class of the object"),
}  # fmt: skip


@pytest.mark.parametrize(("record", "text"), WRONG.values(), ids=WRONG.keys())
def test_problems(tmp_path, suite, record, text):
    assert text in read_refusal(read_outputs, write(tmp_path, "m.json", [{"image_id": 1, **record}]), suite=suite)


def test_pickles_are_refused_with_words(tmp_path, suite):
    torch = packed(
        tmp_path / "instances_predictions.pth", {"archive/data.pkl": b"\x80\x02}q\x00.", "archive/version": "3"}
    )
    found = "instances_predictions.pth: found a file of PyTorch (a pickle, which is never read: it can run code); expected its results as JSON"
    assert found in read_refusal(read_outputs, torch, suite=suite)
    pickle = write(tmp_path, "results.pkl", b"\x80\x04]q\x00.")
    assert "results.pkl: found a Python pickle (never read: it can run code)" in read_refusal(
        read_outputs, pickle, suite=suite
    )


def test_a_table_of_automl_is_refused_by_name(tmp_path, suite):
    table = write(
        tmp_path, "a.csv", "TEST,gs://b/a.png,cat,0.1,0.1,,,0.2,0.2,,\nTEST,gs://b/b.png,dog,0.1,0.1,,,0.2,0.2,,\n"
    )
    assert "a.csv: found Google's AutoML table of boxes, which has no header" in read_refusal(read_suite, table)


def test_records_nested_without_end_are_no_images(tmp_path, suite):
    deep: Any = {"boxes": [[0, 0, 1, 1]], "labels": ["cat"], "scores": [1]}
    for _ in range(900):
        deep = {"predictions": deep}
    assert "m.json" in read_refusal(read_outputs, write(tmp_path, "m.json", deep), suite=suite)


def test_what_is_not_used_is_said(tmp_path, suite):
    named = {
        "a.png": {"predictions": [{**item, "detection_id": "u"} for item in hugging_face(rows_of(PREDICTIONS, "a"))]}
    }
    outputs = read_outputs(write(tmp_path, "n.json", named), suite=suite)
    assert [(line.place, line.count) for line in outputs.receipt if line.use == "unused"] == [("detection_id", 3)]
    truth = read_suite(tmp_path / "n.json")
    assert "n.json: scores (3) is not used: ground truth has none, such as '0.9'" in map(str, truth.receipt)
    record = {"image_id": 1, **columns(rows_of(PREDICTIONS, "a")), "masks": [1], "inference_ms": 3.5}
    outputs = read_outputs(write(tmp_path, "m.json", [record]), suite=suite)
    assert [(line.place, line.count) for line in outputs.receipt if line.use == "unused"] == [
        ("masks", 1),
        ("inference_ms", 1),
    ]


def test_the_images_of_a_zip_of_predictions_are_said(tmp_path, suite):
    files = {f"preds/{name}.json": mmdetection(rows_of(PREDICTIONS, name)) for name in SIZES} | {
        "vis/a.jpg": picture(kind="JPEG")
    }
    [line] = [
        line for line in read_outputs(packed(tmp_path / "m.zip", files), suite=suite).receipt if line.use == "unused"
    ]
    assert (line.place, line.meaning) == ("*.jpg", "the images are the suite's")
