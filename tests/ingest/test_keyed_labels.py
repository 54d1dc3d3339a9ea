"""Labels with keys in every form that a file may give them, and what is wrong with those it may not."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.suite import Suite
from metrics.ingest import inspect, read_combined, read_outputs, read_suite
from metrics.store import Workspace
from tests.ingest.files import list_problems, read_refusal, write

TRUTHS = ["breed=pug; colour=red", "breed=husky; colour=black", "colour=red"]
SUITES = {
    "a column a key": ("s.csv", "case_id,label.breed,label.colour\n1,pug,red\n2,husky,black\n3,,red\n"),
    "a row a label": ("s.csv", "case_id,label_key,label_value\n1,breed,pug\n1,colour,red\n2,breed,husky\n2,colour,black\n3,colour,red\n"),
    "nested objects": ("s.jsonl", '{"case_id": 1, "label": {"breed": "pug", "colour": "red"}}\n' '{"case_id": 2, "label": {"breed": "husky", "colour": "black"}}\n{"case_id": 3, "label": {"colour": "red"}}\n'),
    "objects in cells": ("s.csv", 'case_id,label\n1,"{""breed"": ""pug"", ""colour"": ""red""}"\n' '2,"{""breed"": ""husky"", ""colour"": ""black""}"\n3,"{""colour"": ""red""}"\n'),
    "lists": ("s.jsonl", '{"case_id": 1, "label": ["breed=pug", "colour=red"]}\n{"case_id": 2, "label": ["breed=husky", "colour=black"]}\n' '{"case_id": 3, "label": ["colour=red"]}\n'),
    "text": ("s.csv", "case_id,label\n1,breed=pug; colour=red\n2,breed=husky; colour=black\n3,colour=red\n"),
}  # fmt: skip
SCORES = [("1", "breed=pug", 0.9), ("1", "colour=red", 0.6), ("2", "breed=pug", 0.7), ("2", "colour=black", 0.8)]
CERTAIN = [(case, label, None) for case, label, _ in SCORES]
OUTPUTS = {
    "a row a label": ("m.csv", "case_id,label_key,label,score\n1,breed,pug,.9\n1,colour,red,.6\n2,breed,pug,.7\n2,colour,black,.8\n", SCORES),
    "nested scores": ("m.jsonl", '{"case_id": 1, "score": {"breed": {"pug": 0.9}, "colour": {"red": 0.6}}}\n' '{"case_id": 2, "score": {"breed": {"pug": 0.7}, "colour": {"black": 0.8}}}\n', SCORES),
    "a column a label": ("m.csv", "case_id,breed=pug,colour=red,colour=black\n1,.9,.6,\n2,.7,,.8\n", SCORES),
    "labels without scores": ("m.csv", "case_id,prediction.breed,prediction.colour\n1,pug,red\n2,pug,black\n", CERTAIN),
    "text without scores": ("m.csv", "case_id,prediction\n1,breed=pug; colour=red\n2,breed=pug; colour=black\n", CERTAIN),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), SUITES.values(), ids=SUITES.keys())
def test_a_suite_in_every_form(tmp_path, name, content):
    file = write(tmp_path, name, content)
    suite = read_suite(file, task="classification")
    assert suite.cases["label"].to_pylist() == TRUTHS
    assert suite.label_keys == ("breed", "colour")
    assert suite.labels == ("breed=husky", "breed=pug", "colour=black", "colour=red")
    assert "Labels have the keys breed, colour: each is evaluated by itself." in inspect(file).notes
    workspace = Workspace(tmp_path / "w")
    stored = workspace.suite(workspace.save_suite(suite))
    assert (stored.label_keys, stored.fingerprint) == (suite.label_keys, suite.fingerprint)


@pytest.mark.parametrize(("name", "content", "rows"), OUTPUTS.values(), ids=OUTPUTS.keys())
def test_outputs_in_every_form(tmp_path, name, content, rows):
    suite = read_suite(write(tmp_path, *SUITES["text"]), task="classification")
    outputs = read_outputs(write(tmp_path, name, content), suite=suite)
    found = [(row["case_id"], row["label"], row["score"]) for row in outputs.predictions.to_pylist()]
    assert (sorted(found), outputs.outputs["case_id"].to_pylist()) == (sorted(rows), ["1", "2"])


def test_truth_and_prediction_in_one_file_and_objects_with_several_labels(tmp_path):
    content = "case_id,label.breed,label.colour,predicted_label.breed,predicted_label.colour\n1,pug,red,pug,black\n"
    suite, outputs = read_combined(write(tmp_path, "c.csv", content), task="classification")
    assert suite.label_keys == ("breed", "colour")
    assert outputs.predictions["label"].to_pylist() == ["breed=pug", "colour=black"]
    content = "image,label.class,label.colour,x,y,width,height\na.png,car,red,1,1,5,5\na.png,bus,,9,9,5,5\n"
    suite = read_suite(write(tmp_path, "s.csv", content))
    assert suite.task == "detection"
    assert suite.label_keys == ("class", "colour")
    rows = [(row["label"], row["x"]) for row in suite.annotations.to_pylist()]
    assert rows == [("class=car", 1.0), ("colour=red", 1.0), ("class=bus", 9.0)]
    assert suite.annotations["annotation_id"].to_pylist() == [1, 2, 3]


WRONG = {
    "a key twice": ("case_id,label\n1,colour=red; colour=black\n", "found 'colour=red; colour=black'; expected one label of each key"),
    "a semicolon in a value": ("case_id,label.colour\n1,red; black\n", "the key 'colour' with the value 'red; black'"),
    "a value without a key": ("case_id,label_key,label_value\n1,,red\n", "expected the key of the label"),
    "other values that differ": ("case_id,tags,label_key,label_value\n1,day,breed,pug\n1,night,colour,red\n", "expected the same value in all rows of one case"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "problem"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_with_a_suite(tmp_path, content, problem):
    assert problem in read_refusal(read_suite, write(tmp_path, "s.csv", content), task="classification")


def test_a_prediction_needs_a_key_of_the_suite(tmp_path):
    suite = read_suite(write(tmp_path, *SUITES["text"]), task="classification")
    content = "case_id,label,score\n1,red,.9\n2,size=big,.4\n"
    expected = "expected a label with one of the suite's keys, breed, colour, such as breed=husky"
    assert list_problems(read_outputs, write(tmp_path, "o.csv", content), suite=suite) == [
        f"o.csv, row 2: found 'red'; {expected}", f"o.csv, row 3: found 'size=big'; {expected}",
    ]  # fmt: skip


@pytest.mark.parametrize("labels", [("red", "black"), ("colour=red", "black"), ("a;b", "c")])
def test_labels_without_keys_stay_as_they_are(tmp_path, labels):
    content = f'case_id,label\n1,"{labels[0]}"\n2,"{labels[1]}"\n'
    suite = read_suite(write(tmp_path, "s.csv", content), task="classification")
    rows = [{"case_id": str(n), "label": name} for n, name in enumerate(labels, 1)]
    same = Suite.from_rows("s", "classification", rows)
    assert suite.fingerprint == same.fingerprint
    assert suite.label_keys == ()
