"""Every file of ../shared/data/formats: read, with values compared by hand, or refused by name. None is forgotten."""
# ruff: noqa: E501 - a table reads better with one line a file

from fnmatch import fnmatch

import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, read_combined, read_suite
from tests.ingest.files import read_refusal

ANSWERED = {  # file → format, values of its first case, values of its first output
    "inspect/2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json": ("inspect_json", {"case_id": "1", "expected_answers": None, "metadata.inspect.model_graded_fact": "C"}, {"model": "openai/gpt-4o-mini", "tokens": 99}),
    "inspect/2024-11-05T13-32-37-05-00_input-task_hxs4q9azL3ySGkjJirypKZ.eval": ("inspect_eval", {"case_id": "1", "metadata.inspect.model_graded_fact": "C"}, {"model": "openai/gpt-4o-mini", "tokens": 113, "run": 1}),
    "inspect/log_formats.eval": ("inspect_eval", {"expected_answers": [" Yes"], "metadata.label_confidence": "0.8860552919198255"}, {"model": "ollama/llama3.1", "answer": "No", "tokens": 68}),
    "inspect/log_formats.json": ("inspect_json", {"expected_answers": [" Yes"], "metadata.inspect.match": "I"}, {"model": "ollama/llama3.1", "answer": "No", "tokens": 68}),
    "inspect/log_read_sample.json": ("inspect_json", {"metadata.inspect.match": "C", "metadata.inspect.match.answer": "Yes"}, {"model": "ollama/gemma3", "answer": "Yes\n", "duration_s": 1.9324548337608576, "tokens": 69}),
    "inspect/log_tool_call_error.json": ("inspect_json", {"question": "...", "expected_answers": ["..."]}, {"model": "...", "run": 4, "answer": None}),
    "open_rag_eval/csv_results.csv": ("csv", {"case_id": "query_1", "question": "What is a blackhole?"}, {"run": 1, "retrieved_contexts": ["Blackholes are big.", "Blackholes are dense.", "The earth is round."]}),
    "open_rag_eval/test_csv_connector.csv": ("csv", {"case_id": "query_1", "question": "What is a blackhole?"}, {"run": 1, "answer": "Black holes are dense [1] They are also big and round [2][3] My name is x[4]"}),
}  # fmt: skip
OBJECTS = {  # file or folder → format, its first objects: case, label, x, y, width, height in pixels
    "label_studio/boxes.json": ("label_studio", [("test_image1", "rectangle_label", 159.70961887, 13.16312057, 31.76043557, 31.77304965)]),
    "label_studio/polygons.json": ("label_studio", [("image2", "Airplane", 384, 63.37191977, 194.93577982, 293.38841081)]),
    "vision/coco_dataset/coco_person_keypoints/annotations/person_keypoints_train.json": ("coco_ground_truth", [("5", "b", 2, 2, 3, 1)]),
    "vision/coco_dataset/coco_person_keypoints/annotations/person_keypoints_val.json": ("coco_ground_truth", [("40", "a", 0, 0, 1, 2), ("40", "b", 0, 0, 1, 9)]),
    "vision/coco_dataset/coco_roboflow/train": ("coco_ground_truth", [("5", "b", 2, 2, 3, 1)]),
    "vision/coco_dataset/coco_roboflow/train/_annotations.coco.json": ("coco_ground_truth", [("5", "b", 2, 2, 3, 1)]),
    "vision/coco_dataset/coco_roboflow/val": ("coco_ground_truth", [("40", "a", 0, 0, 1, 2), ("40", "b", 0, 0, 1, 9)]),
    "vision/coco_dataset/coco_roboflow/val/_annotations.coco.json": ("coco_ground_truth", [("40", "a", 0, 0, 1, 2)]),
    "vision/cvat_dataset/for_images/export_project": ("cvat", [("Test/img0", "label1", 0, 2, 4, 2), ("Test/img1", "label1", 1, 2, 5, 3)]),
    "vision/cvat_dataset/for_images/export_project/annotations.xml": ("cvat", [("Test/img0", "label1", 0, 2, 4, 2)]),
    "vision/dota_dataset": ("dota", [("val_001", "label_0", 0, 0, 1, 1), ("val_001", "label_1", 1, 2, 9, 3)]),
    "vision/labelme_dataset": ("labelme_xml", [("img1", "window", 43, 34, 2, 3), ("img1", "license plate", 58, 66, 4, 2)]),
    "vision/labelme_dataset/Annotations/subset1/img1.xml": ("labelme_xml", [("img1", "window", 43, 34, 2, 3)]),
    "vision/open_images_dataset/v6/annotations/oidv6-train-annotations-bbox.csv": ("csv", [("b", "/m/0", 200, 300, 800, 200)]),
    "vision/open_images_dataset/v6/annotations/test-annotations-bbox.csv": ("csv", [("c", "/m/3", 700, 0, 100, 500)]),
    "vision/roboflow_dataset/coco/train": ("coco_ground_truth", [("1", "label_0", 2, 1, 3, 1), ("2", "label_1", 0, 0, 2, 4)]),
    "vision/roboflow_dataset/coco/train/_annotations.coco.json": ("coco_ground_truth", [("1", "label_0", 2, 1, 3, 1)]),
    "vision/roboflow_dataset/coco/val": ("coco_ground_truth", [("1", "label_0", 0, 0, 1, 2), ("1", "label_1", 0, 0, 9, 1)]),
    "vision/roboflow_dataset/coco/val/_annotations.coco.json": ("coco_ground_truth", [("1", "label_0", 0, 0, 1, 2)]),
    "vision/roboflow_dataset/createml": ("createml", [("val_001", "label_0", -0.5, -1, 1, 2), ("val_001", "label_1", -4.5, -0.5, 9, 1)]),
    "vision/roboflow_dataset/createml/train/_annotations.createml.json": ("createml", [("train_001", "label_0", 0.5, 0.5, 3, 1)]),
    "vision/roboflow_dataset/createml/val/_annotations.createml.json": ("createml", [("val_001", "label_0", -0.5, -1, 1, 2)]),
    "vision/roboflow_dataset/voc": ("pascal_voc", [("val_001", "label_0", 0, 0, 1, 2), ("val_001", "label_1", 0, 0, 9, 1)]),
    "vision/roboflow_dataset/yolo": ("yolo", [("val_001", "label_0", 0, 0, 1, 2), ("val_001", "label_1", 0, 0, 9, 1)]),
    "vision/roboflow_dataset/yolo_obb": ("dota", [("val_001", "label_0", 0, 0, 1, 1), ("val_001", "label_1", 1, 2, 9, 3)]),
    "vision/voc_dataset/voc_dataset1": ("pascal_voc", [("2007_000001", "cat", 1, 2, 2, 2), ("2007_000001", "person", 4, 5, 2, 2)]),
    "vision/yolo_dataset/strict": ("yolo", [("1", "label_2", 0, 2, 4, 2), ("1", "label_4", 3, 3, 2, 3)]),
}  # fmt: skip
REFUSED = {  # files and folders → what they are said to be
    "inspect/log_with_nan.txt": "an Inspect log without samples (status success); expected a log with its samples",
    "vision/coco_dataset/coco_panoptic/annotations/panoptic_*.json": "COCO panoptic segments; expected a folder or zip of this JSON",
    "vision/coco_dataset/coco_panoptic": "2 panoptic files: annotations/panoptic_train.json, annotations/panoptic_val.json; expected one, or each in a folder or zip of its own",
    "vision/coco_dataset/coco_person_keypoints": "2 tables: annotations/person_keypoints_train.json",
    "vision/cvat_dataset/for_images/export_task": "row 2, column label: found ''; expected the class of the object",
    "vision/cvat_dataset/for_images/export_task/train.xml": "row 2, column label: found ''; expected the class of the object",
    "vision/dota_dataset/*/labelTxt/*.txt": "DOTA labels of one image; expected a zip of all label files",
    "vision/open_images_dataset/v6": "2 tables: annotations/oidv6-train-annotations-bbox.csv",
    "vision/open_images_dataset/v6/annotations/bbox_labels_600_hierarchy.json": "Open Images' hierarchy of classes",
    "vision/open_images_dataset/v6/annotations/image_ids_and_rotation.csv": "Open Images' addresses of images",
    "vision/open_images_dataset/v6/annotations/images.meta": "sizes of images",
    "vision/open_images_dataset/v6/annotations/oidv6-class-descriptions.csv": "Open Images' names of classes",
    "vision/open_images_dataset/v6/annotations/*-human-imagelabels.csv": "Open Images' labels of whole images",
    "vision/open_images_dataset/v6/annotations/train-annotations-object-segmentation.csv": "Open Images' masks",
    "vision/roboflow_dataset/multiclass": "2 tables: train/_classes.csv, val/_classes.csv",
    "vision/roboflow_dataset/multiclass/*/_classes.csv": "Roboflow's multi-label classes of whole images; expected case_id in place of filename",
    "vision/roboflow_dataset/voc/*/*.xml": "one Pascal VOC annotation; expected Pascal VOC annotations as a zip",
    "vision/voc_dataset/voc_dataset1/Annotations/*.xml": "one Pascal VOC annotation; expected Pascal VOC annotations as a zip",
    "vision/roboflow_dataset/*/data.yaml": "YOLO's list of classes (data.yaml); expected a zip of all label files",
    "vision/roboflow_dataset/yolo/*/labels/*.txt": "YOLO labels of one image; expected a zip of all label files",
    "vision/roboflow_dataset/yolo_obb/*/labelTxt/*.txt": "DOTA labels of one image; expected a zip of all label files",
    "vision/voc_dataset/voc_dataset1/ImageSets/*.txt": "a list of names without columns; expected the annotations that it refers to",
    "vision/yolo_dataset/strict/obj.data": "Darknet's description of a YOLO data set (obj.data)",
    "vision/yolo_dataset/strict/obj.names": "a list of classes",
    "vision/yolo_dataset/strict/obj_train_data/1.txt": "YOLO labels of one image",
    "vision/yolo_dataset/strict/train.txt": "a list of names without columns",
}  # fmt: skip
PICTURES = (".jpg", ".png")  # looked at with the folder they are in


@pytest.fixture(scope="module")
def formats(shared):
    folder = shared / "data" / "formats"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/formats")
    return folder


def test_no_file_is_forgotten(formats):
    """Each file is in one of the tables; a picture is in a folder that is."""
    known = [*ANSWERED, *OBJECTS, *REFUSED]
    files = [path.relative_to(formats).as_posix() for path in formats.rglob("*") if path.is_file()]
    assert len(files) > 100
    for file in files:
        if file.endswith(PICTURES):
            assert any(file.startswith(name + "/") for name in known), file
        else:
            assert any(fnmatch(file, name) for name in known), file


@pytest.mark.parametrize(("name", "expected"), ANSWERED.items(), ids=ANSWERED)
def test_cases_and_answers(formats, name, expected):
    form, case, output = expected
    preview = inspect(formats / name)
    assert (preview.format, preview.role, preview.questions) == (form, "combined", ())
    suite, outputs = read_combined(formats / name)
    first = suite.cases.to_pylist()[0]
    assert {key: first[key] for key in case} == case
    first = outputs.outputs.to_pylist()[0]
    assert {key: first[key] for key in output} == output


@pytest.mark.parametrize(("name", "expected"), OBJECTS.items(), ids=OBJECTS)
def test_objects(formats, name, expected):
    form, objects = expected
    assert inspect(formats / name).format == form
    rows = read_suite(formats / name).annotations.to_pylist()[: len(objects)]
    assert [(row["case_id"], row["label"]) for row in rows] == [one[:2] for one in objects]
    for row, one in zip(rows, objects, strict=True):
        assert [row[side] for side in ("x", "y", "width", "height")] == pytest.approx(one[2:], abs=1e-4)


@pytest.mark.parametrize(("pattern", "text"), REFUSED.items(), ids=REFUSED)
def test_refusals(formats, pattern, text):
    every = (path for path in formats.rglob("*") if fnmatch(path.relative_to(formats).as_posix(), pattern))
    found = [path for path in every if path.suffix not in PICTURES]
    assert found
    for path in found:
        assert text in read_refusal(read_suite, path), path
        if "row 2" not in text:  # a fault of one row is no reason to refuse a preview
            with pytest.raises(InputError):
                inspect(path)
