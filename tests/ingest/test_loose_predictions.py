"""Predictions that tools write a little off the common forms are read as the plain ones, and the receipt says so."""

import json

import pytest

from metrics.ingest import Reading, read_outputs, read_suite
from tests.ingest.files import read_refusal, write
from tests.ingest.one_scene import PREDICTIONS, TRUTHS, coco

RESULTS = [
    {"image_id": "ab".index(image) + 1, "category_id": ["cat", "dog"].index(label) + 1, "bbox": box, "score": score}
    for image, label, *box, score in PREDICTIONS
]


def table(header, row_of):
    return "\n".join([f"image,label,score,{header}", *(row_of(*row[:2], row[6], *row[2:6]) for row in PREDICTIONS)])


def boxed(image, label, score, x, y, w, h):
    return f'{image}.png,{label},{score},"[{x}, {y}, {w}, {h}]"'


def plain(image, label, score, *box):
    return ",".join(map(str, (image, label, score, *box)))


FORMS = {  # name of the file, content, what the receipt says
    "lines of results": ("p.jsonl", RESULTS, ""),
    "results under annotations": ("p.json", {"annotations": RESULTS}, ""),
    "results under predictions": ("p.json", {"predictions": RESULTS, "info": {"made": "by us"}}, "info"),
    "left, top, width, height": ("p.csv", table("left,top,width,height", plain), ""),
    "a column of boxes": ("p.csv", table("bbox", boxed), "box_form=xywh"),
    "a column named after its form": ("p.csv", table("xywh", boxed), "the box, as xywh"),
    "lines with boxes": (
        "p.jsonl", [{"image": a, "label": b, "score": s, "bbox": box} for a, b, *box, s in PREDICTIONS],
        "box_form=xywh",
    ),
    "stems in capitals": (
        "p.csv", table("x,y,width,height", lambda image, *rest: plain(image.upper(), *rest)), "another letter case",
    ),
    "results by stems in capitals": (
        "p.json", [{**r, "image_id": "AB"[r["image_id"] - 1]} for r in RESULTS], "another letter case",
    ),
}  # fmt: skip


def boxes(outputs):
    names = ("case_id", "label", "score", "x", "y", "width", "height")
    return outputs.predictions.select(names).to_pylist()


@pytest.mark.parametrize("form", FORMS)
def test_form(tmp_path, form):
    name, content, said = FORMS[form]
    suite = read_suite(write(tmp_path, "s.json", coco(TRUTHS)))
    outputs = read_outputs(write(tmp_path, name, content), suite=suite)
    assert boxes(outputs) == boxes(read_outputs(write(tmp_path, "plain.json", RESULTS), suite=suite))
    assert said in " ".join(f"{line.place} {line.meaning}" for line in outputs.receipt)


def test_lines_that_are_no_json_are_said(tmp_path):
    suite = read_suite(write(tmp_path, "s.json", coco(TRUTHS)))
    lines = "\n".join([json.dumps(RESULTS[0]), "{oops", json.dumps(RESULTS[1])])
    assert "row 2" in read_refusal(read_outputs, write(tmp_path, "p.jsonl", lines), suite=suite)


@pytest.mark.parametrize(("form", "width"), [("xyxy", 2), ("xywh", 12), ("cxcywh", 12)])
def test_four_numbers_that_may_be_corners_are_asked_about(tmp_path, form, width):
    suite = read_suite(write(tmp_path, "s.json", coco(TRUTHS)))
    path = write(tmp_path, "p.csv", "image,label,score,bbox\na,cat,0.5,10 10 12 12\nb,dog,0.5,10 20 12 40")
    assert "box_form" in read_refusal(read_outputs, path, suite=suite)
    outputs = read_outputs(path, suite=suite, readings={path: Reading(answers={"box_form": form})})
    assert outputs.predictions["width"].to_pylist() == [width, width]
