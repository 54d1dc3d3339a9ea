"""COCO files as tools write them: ids that are texts, no sizes, wrong segmentations: read to the same numbers, and said."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pycocotools import mask

from metrics import coco_summary as summary_of_files
from metrics.core.errors import InputError
from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from metrics.ingest import load_outputs, load_suite
from metrics.ingest.source import Reading
from metrics.vision import rle
from metrics.vision.geometry import Geometry
from tests.ingest.files import packed, picture, write

Document = dict[str, Any]
AP = 0.8752475247524754  # of the scene below, by pycocotools 2.0


def truth() -> Document:
    return {
        "images": [
            {"id": 1, "file_name": "a.jpg", "width": 640, "height": 480},
            {"id": 2, "file_name": "b.jpg", "width": 640, "height": 480},
        ],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 100, 100], "area": 10000, "iscrowd": 0},
            {"id": 2, "image_id": 1, "category_id": 2, "bbox": [200, 50, 30, 30], "area": 900, "iscrowd": 0},
            {"id": 3, "image_id": 2, "category_id": 1, "bbox": [50, 50, 40, 40], "area": 1600, "iscrowd": 0},
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }


def results() -> list[Document]:
    return [
        {"image_id": 1, "category_id": 1, "bbox": [12, 10, 100, 100], "score": 0.9},
        {"image_id": 1, "category_id": 2, "bbox": [202, 50, 30, 30], "score": 0.8},
        {"image_id": 2, "category_id": 1, "bbox": [52, 50, 40, 40], "score": 0.7},
    ]


def each(records: list[Document], **changes: Any) -> None:
    """Change every record: a function of the record gives a key's value, ... takes the key away."""
    for record in records:
        for key, value in changes.items():
            made = value(record) if callable(value) else value
            if made is ...:
                record.pop(key, None)
            else:
                record[key] = made


def ring(record: Document) -> list[float]:
    x, y, width, height = record["bbox"]
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def renamed(
    names: dict[Any, Any], results_too: bool = True, of: str = "image"
) -> Callable[[Document, list[Document]], None]:
    """Give images or categories other ids, in the ground truth and, or not, in the results."""

    def change(gt: Document, found: list[Document]) -> None:
        each(gt["images" if of == "image" else "categories"], id=lambda record: names[record["id"]])
        for records in (gt["annotations"], found if results_too else []):
            each(records, **{f"{of}_id": lambda record: names[record[f"{of}_id"]]})

    return change


def in_truth(**changes: Any) -> Callable[[Document, list[Document]], None]:
    return lambda gt, _: each(gt["annotations"], **changes)


def in_images(**changes: Any) -> Callable[[Document, list[Document]], None]:
    return lambda gt, _: each(gt["images"], **changes)


def in_results(**changes: Any) -> Callable[[Document, list[Document]], None]:
    return lambda _, found: each(found, **changes)


def roots(gt: Document, _: list[Document]) -> None:
    gt["categories"] = [{"id": 0, "name": "cat", "supercategory": "none"}, *gt["categories"], {"id": 9, "name": "dog"}]


def numbered_files(gt: Document, found: list[Document]) -> None:
    """File names are numbers, which are no ids; results have them, as Ultralytics writes it."""
    each(gt["images"], file_name=lambda record: f"images/{record['id'] + 138:012}.jpg")
    each(found, image_id=lambda record: record["image_id"] + 138)


VARIANTS = {  # a change of ground truth and results → places in the receipt
    "image ids are texts": (renamed({1: "img1", 2: "img2"}), {}),
    "image ids are UUIDs": (renamed({1: "8a7f-0001", 2: "11c0-0002"}), {}),
    "image ids in quotes": (renamed({1: "1", 2: "2"}), {}),
    "image ids in quotes in the ground truth alone": (renamed({1: "1", 2: "2"}, results_too=False), {}),
    "image ids in quotes in the results alone": (in_results(image_id=lambda record: str(record["image_id"])), {}),
    "one image id is a number, one a text": (renamed({1: 1, 2: "b"}), {}),
    "image ids with leading zeros, numbers in the results": (renamed({1: "0001", 2: "0002"}, results_too=False), {}),
    "image ids are floats": (in_results(image_id=lambda record: float(record["image_id"])), {}),
    "image ids of results are file names": (in_results(image_id=lambda record: "ab"[record["image_id"] - 1] + ".jpg"), {}),
    "image ids of results are paths": (in_results(image_id=lambda record: "val/" + "ab"[record["image_id"] - 1] + ".jpg"), {}),
    "image ids of results are stems": (in_results(image_id=lambda record: "ab"[record["image_id"] - 1]), {}),
    "image ids of results are numbers of files": (numbered_files, {}),
    "file names beside the ids of results": (in_results(file_name=lambda record: "ab"[record["image_id"] - 1] + ".jpg"), {}),
    "category ids in quotes": (renamed({1: "1", 2: "2"}, of="category"), {}),
    "category ids in quotes in the results alone": (in_results(category_id=lambda record: str(record["category_id"])), {}),
    "category ids are UUIDs": (renamed({1: "c-77", 2: "c-12"}, of="category"), {}),
    "category ids of results are names": (in_results(category_id=lambda record: ["cat", "dog"][record["category_id"] - 1]), {}),
    "results name their classes": (in_results(category_name=lambda record: ["cat", "dog"][record["category_id"] - 1], category_id=...), {}),
    "results name their classes otherwise": (in_results(class_name=lambda record: ["cat", "dog"][record["category_id"] - 1], category_id=...), {}),
    "results have file names alone": (in_results(file_name=lambda record: "ab"[record["image_id"] - 1] + ".jpg", image_id=...), {}),
    "iscrowd in another spelling": (in_truth(iscrowd=..., isCrowd=False), {}),
    "names of classes beside their ids": (in_results(category=lambda record: ["cat", "dog"][record["category_id"] - 1]), {"[].category": "unused"}),
    "annotations without ids": (in_truth(id=...), {"annotations[].id": "unused"}),
    "annotation ids are UUIDs": (in_truth(id=lambda record: f"a1b2-{record['id']}"), {"annotations[].id": "unused"}),
    "annotation ids in quotes": (in_truth(id=lambda record: str(record["id"])), {}),
    "iscrowd false": (in_truth(iscrowd=False), {}),
    "iscrowd in quotes": (in_truth(iscrowd="0"), {}),
    "iscrowd a word": (in_truth(iscrowd="False"), {}),
    "iscrowd null": (in_truth(iscrowd=None), {}),
    "no iscrowd": (in_truth(iscrowd=...), {}),
    "no sizes": (in_images(width=..., height=...), {"sizes of images": "unused"}),
    "sizes of 0": (in_images(width=0, height=0), {"sizes of images": "unused"}),
    "sizes null": (in_images(width=None, height=None), {"sizes of images": "unused"}),
    "sizes in quotes": (in_images(width="640", height="480"), {}),
    "no file names": (in_images(file_name=...), {"names of images": "unused"}),
    "boxes in quotes": (in_truth(bbox=lambda record: list(map(str, record["bbox"]))), {}),
    "boxes as a text": (in_results(bbox=lambda record: json.dumps(record["bbox"])), {}),
    "scores in quotes": (in_results(score=lambda record: str(record["score"])), {}),
    "empty segmentations": (in_truth(segmentation=[[]]), {}),
    "no areas": (in_truth(area=...), {}),
    "flat polygons": (in_truth(segmentation=ring), {}),
    "a box as polygon": (in_truth(segmentation=lambda record: [record["bbox"]]), {"annotations[].segmentation": "unused"}),
    "a box as segmentation": (in_truth(segmentation=lambda record: record["bbox"]), {"annotations[].segmentation": "unused"}),
    "a flat polygon elsewhere": (in_truth(segmentation=[1, 1, 2, 1, 2, 2]), {"annotations[].segmentation": "unused"}),
    "an odd ring": (in_truth(segmentation=lambda record: [[*ring(record), 7]]), {"annotations[].segmentation": "unused"}),
    "a segmentation that is a text": (in_truth(segmentation="RLE"), {"annotations[].segmentation": "unused"}),
    "run lengths of another size": (in_truth(segmentation={"size": [5, 5], "counts": [25]}), {"annotations[].segmentation": "unused"}),
    "short rings beside whole ones": (in_truth(segmentation=lambda record: [[1, 1, 2, 2], ring(record), []]), {"annotations[].segmentation[]": "unused"}),
    "wrong segmentations of results": (in_results(segmentation=[[1, 2]]), {"[].segmentation": "unused"}),
    "a root of a class's name, and an unused double": (roots, {"categories[0]": "unused", "categories[3]": "unused"}),
}  # fmt: skip


def read(tmp_path, gt: Any, found: Any, reading: Reading = Reading(), **options: Any):  # noqa: B008 - frozen
    suite = load_suite(write(tmp_path, "t.json", gt), **options).value
    path = write(tmp_path, "m.json", found)
    return suite, load_outputs(path, suite=suite, readings={path: reading}).value


def ap(suite, outputs, geometry: Geometry = "auto") -> float | None:
    rows = coco_summary(suite, outputs, CocoSummaryParameters(resamples=0, geometry=geometry)).aggregates
    return next(row.value for row in rows if row.metric == "AP" and row.label is None)


@pytest.mark.parametrize(("change", "places"), VARIANTS.values(), ids=VARIANTS)
def test_is_read_to_the_same_numbers_and_said(tmp_path, change, places):
    gt, found = truth(), results()
    change(gt, found)
    suite, outputs = read(tmp_path, gt, found)
    assert (ap(suite, outputs), suite.labels) == (pytest.approx(AP), ("cat", "dog"))
    receipt = {(line.place, line.use) for line in (*suite.receipt, *outputs.receipt)}
    assert receipt >= set(places.items())
    assert not receipt & {(place, "used") for place in places}
    assert summary_of_files(tmp_path / "t.json", tmp_path / "m.json")["AP"] == pytest.approx(AP)
    assert summary_of_files(gt, found)["AP"] == pytest.approx(AP)


def test_sizes_come_from_the_images(tmp_path):
    gt = truth()
    each(gt["images"], width=..., height=...)
    images = packed(tmp_path / "i.zip", {"a.jpg": picture(640, 480), "b.jpg": picture(320, 200)})
    suite, _ = read(tmp_path, gt, results(), images=images, workspace_media=tmp_path / "media")
    assert suite.cases.select(["image_width", "image_height"]).to_pydict() == {
        "image_width": [640, 320], "image_height": [480, 200],
    }  # fmt: skip


REFUSED = {  # a change → what is said; with masks needed, or always
    "masks needed, flat polygon elsewhere": (in_truth(segmentation=[1, 1, 2, 1, 2, 2]), "segmentation", "column annotations.segmentation, 3 rows: found [1, 1, 2, 1, 2, 2]"),
    "masks needed, boxes as polygons": (in_truth(segmentation=lambda record: [record["bbox"]]), "segmentation", "found ring [10, 10, 100, 100]"),
    "iscrowd 2": (in_truth(iscrowd=2), None, "column annotations.iscrowd, 3 rows: found 2"),
    "no class": (in_results(category_id=...), None, "column category_id, 3 rows: found nothing"),
    "no score": (in_results(score=...), None, "column score, 3 rows: found nothing"),
    "a negative width": (in_images(width=-1), None, "column images.width, 2 rows: found -1"),
    "a UUID twice": (in_truth(id="a-1"), None, "found 'a-1' again, first in record 1"),
    "an unknown text": (in_results(category_id="eel"), None, "column category_id, 3 rows: found 'eel'"),
    "two classes of one name": (renamed({1: 1, 2: 2}), None, None),
    "names of other classes in the results": (in_results(category_name="cat"), None, "found 1 records whose category_name, such as 'cat', is another class than category_id 'dog'; expected an answer, class=category_id or class=name"),
    "names of other classes in the ground truth": (in_truth(category_name="dog"), None, "found 2 records whose category_name, such as 'dog', is another class than category_id 'cat'"),
    "an unknown image": (in_results(image_id="c.jpg"), None, "column image_id, 3 rows: found 'c.jpg'"),
    "file names of other images": (in_results(file_name="a.jpg"), None, "found 1 records whose file_name, such as 'a.jpg', is of another image than image_id; expected an answer, image=image_id or image=file_name"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "task", "text"), REFUSED.values(), ids=REFUSED)
def test_is_refused(tmp_path, change, task, text):
    gt, found = truth(), results()
    change(gt, found)
    if text is None:
        gt["categories"][1]["name"] = "cat"
        text = "found 'cat' again, first in record 1"
    with pytest.raises(InputError) as caught:
        read(tmp_path, gt, found, task=task)
    assert text in str(caught.value)


@pytest.mark.parametrize(("answer", "images"), [("image_id", ["1", "1", "2"]), ("file_name", ["1", "1", "1"])])
def test_a_question_of_images_is_answered(tmp_path, answer, images):
    found = results()
    each(found, file_name="a.jpg")
    _, outputs = read(tmp_path, truth(), found, Reading(answers={"image": answer}))
    assert outputs.predictions["case_id"].to_pylist() == images
    assert [line.use for line in outputs.receipt if line.place == "file_name"] == ["asked"]


@pytest.mark.parametrize(
    ("answer", "labels"), [("category_id", ["cat", "dog", "cat"]), ("name", ["cat", "cat", "cat"])]
)
def test_a_question_of_classes_is_answered(tmp_path, answer, labels):
    found = results()
    each(found, category_name="cat")
    _, outputs = read(tmp_path, truth(), found, Reading(answers={"class": answer}))
    assert outputs.predictions["label"].to_pylist() == labels


def test_crowds_are_known_by_every_spelling(tmp_path):
    for key in ("iscrowd", "is_crowd", "isCrowd"):
        gt = truth()
        each(gt["annotations"], iscrowd=...)
        gt["annotations"][2][key] = True
        assert read(tmp_path, gt, results())[0].annotations["is_crowd"].to_pylist() == [False, False, True]


@pytest.mark.parametrize(("answers", "images"), [({}, ["1", "1", "2"]), ({"image_id": "name"}, ["2", "2", "1"])])
def test_an_id_that_is_another_file_s_number_is_an_id_and_said(tmp_path, answers, images):
    gt = truth()
    each(gt["images"], file_name=lambda record: f"{3 - record['id']}.jpg")
    _, outputs = read(tmp_path, gt, results(), Reading(answers=answers))
    assert outputs.predictions["case_id"].to_pylist() == images
    assert [line.use for line in outputs.receipt if line.place == "image_id"] == ["asked"]


def encoded(spell: Callable[[dict[str, Any]], Any] = lambda code: code) -> Callable[[Document], Any]:
    """Return the segmentation of a record as run lengths, spelled by a tool."""

    def code(record: Document) -> Any:
        (made,) = mask.frPyObjects([ring(record)], 480, 640)
        return spell({"size": made["size"], "counts": made["counts"].decode()})

    return code


def counted(record: Document) -> list[int]:
    return rle.decode(encoded()(record)["counts"])


def pairs(record: Document) -> list[list[float]]:
    points = ring(record)
    return [points[at : at + 2] for at in range(0, len(points), 2)]


SPELLED = {  # segmentations that mean what COCO would write otherwise
    "compressed": encoded(),
    "uncompressed": lambda record: {"size": [480, 640], "counts": counted(record)},
    "counts with fractions": lambda record: {"size": [480, 640], "counts": list(map(float, counted(record)))},
    "counts as Python prints bytes": encoded(lambda code: code | {"counts": str(code["counts"].encode())}),
    "in a list": encoded(lambda code: [code]),
    "a text": encoded(json.dumps),
    "size in quotes": encoded(lambda code: code | {"size": ["480", "640"]}),
    "no size": encoded(lambda code: {"counts": code["counts"]}),
    "width before height": encoded(lambda code: code | {"size": [640, 480]}),
    "points as pairs": pairs,
    "rings of pairs": lambda record: [pairs(record)],
    "a ring in quotes": lambda record: json.dumps([ring(record)]),
    "numbers in quotes": lambda record: [list(map(str, ring(record)))],
}  # fmt: skip
NO_OUTLINES = {
    "a box": lambda record: [record["bbox"]],
    "corners": lambda record: ring(record)[:2] + ring(record)[4:6],
    "another size": encoded(lambda code: code | {"size": [5, 5]}),
    "width before height of another mask": lambda record: encoded(lambda code: code | {"size": [640, 480]})(
        record | {"bbox": [record["bbox"][at] for at in (1, 0, 3, 2)]}
    ),
    "a word": "RLE",
    "no list of lists": {"x": 1},
    "null": [None],
}  # fmt: skip


@pytest.mark.parametrize("geometry", ["auto", "mask"])
@pytest.mark.parametrize("segmentation", SPELLED.values(), ids=SPELLED)
def test_segmentations_in_other_spellings_are_masks(tmp_path, segmentation, geometry):
    gt, found = truth(), results()
    for records in (gt["annotations"], found):
        each(records, segmentation=segmentation)
    suite, outputs = read(tmp_path, gt, found, task="segmentation")
    assert "unused" not in {line.use for line in (*suite.receipt, *outputs.receipt)}
    assert ap(replace(suite, task="detection"), outputs, geometry) == pytest.approx(AP)


@pytest.mark.parametrize("segmentation", NO_OUTLINES.values(), ids=NO_OUTLINES)
def test_wrong_segmentations_leave_boxes_and_are_refused_where_masks_are_compared(tmp_path, segmentation):
    gt, found = truth(), results()
    for records in (gt["annotations"], found):
        each(records, segmentation=segmentation)
    suite, outputs = read(tmp_path, gt, found)
    assert [line.place for line in outputs.receipt if line.use == "unused"] == ["[].segmentation"]
    assert ap(suite, outputs) == pytest.approx(AP)
    with pytest.raises(InputError, match=r"column polygons.*expected rings of at least three points"):
        ap(suite, outputs, "mask")
