"""Classes that are spread over columns of 0 and 1, or packed in lists with their scores."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import load_suite, outputs_from_frame, read_combined, read_outputs, read_suite
from metrics.ingest.source import Reading
from tests.ingest.files import write

SUITE = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}])
ONE_HOT = {
    "numbers": "image,MEL,NV,BCC\na,1.0,0.0,0.0\nb,0.0,0.0,1.0\n",
    "words": "id,MEL,NV,BCC\na,true,false,false\nb,False,False,True\n",
    "with a lead": "id,label_MEL,label_NV,label_BCC,site\na,1,0,0,x\nb,0,0,1,y\n",
}


@pytest.mark.parametrize("text", ONE_HOT.values(), ids=ONE_HOT.keys())
@pytest.mark.parametrize("task", [None, "classification"])
def test_a_true_class_in_a_column_each(tmp_path, text, task):
    loaded = load_suite(write(tmp_path, "s.csv", text), task=task).value
    assert (loaded.task, loaded.cases["label"].to_pylist()) == ("classification", ["MEL", "BCC"])
    assert loaded.cases["case_id"].to_pylist() == ["a", "b"]
    assert "one_hot=label" in next(line.meaning for line in loaded.receipt if line.use == "asked")


def test_several_classes_in_a_column_each_are_asked_about(tmp_path):
    path = write(tmp_path, "s.csv", "id,toxic,insult\na,1,1\nb,0,0\nc,0,1\n")
    with pytest.raises(InputError, match="up to 2 are 1 in a row; expected an answer, one_hot=labels"):
        read_suite(path)
    suite = read_suite(path, reading=Reading(answers={"one_hot": "labels"}))
    assert suite.cases["labels"].to_pylist() == [["toxic", "insult"], [], ["insult"]]


def test_flags_beside_a_question_are_metadata(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "id,question,expected_answer,hard,new\na,x,y,1,0\nb,x,y,0,1\n"))
    assert (suite.task, suite.cases["metadata.hard"].to_pylist()) == ("text", ["1", "0"])


SCORES = [("1", "dog", 0.25), ("1", "cat", 0.75), ("2", "dog", 0.5), ("2", "cat", 0.5)]
PAIRS = [{"dog": 0.25, "cat": 0.75}, {"dog": 0.5, "cat": 0.5}]
LISTS = {
    "objects": [{"predictions": [{"label": name, "score": score} for name, score in own.items()]} for own in PAIRS],
    "objects in a prediction": [
        {"prediction": [{"class": k, "probability": v} for k, v in own.items()]} for own in PAIRS
    ],
    "two lists": [{"labels": list(own), "scores": list(own.values())} for own in PAIRS],
    "a nested object": [{"prediction": own} for own in PAIRS],
}


@pytest.mark.parametrize("records", LISTS.values(), ids=LISTS.keys())
@pytest.mark.parametrize("frame", [False, True], ids=["JSON", "records"])
def test_classes_with_their_scores(tmp_path, records, frame):
    records = [{"id": str(number), **record} for number, record in enumerate(records, 1)]
    if frame:
        outputs = outputs_from_frame(records, suite=SUITE)
    else:
        outputs = read_outputs(write(tmp_path, "o.json", json.dumps(records)), suite=SUITE)
    assert [(row["case_id"], row["label"], row["score"]) for row in outputs.predictions.to_pylist()] == SCORES


def test_a_nested_class_and_its_score(tmp_path):
    records = [{"id": str(n), "output": {"label": name, "score": 0.75}} for n, name in ((1, "cat"), (2, "dog"))]
    found = read_outputs(write(tmp_path, "o.json", json.dumps(records)), suite=SUITE).predictions.to_pylist()
    likelier = [(row["label"], row["score"]) for row in found if row["score"] > 0.5]  # the other one has the rest
    assert likelier == [("cat", 0.75), ("dog", 0.75)]


def test_a_predicted_class_in_a_column_each_has_no_score(tmp_path):
    outputs = read_outputs(write(tmp_path, "o.csv", "id,dog,cat\n1,0,1\n2,1,0\n"), suite=SUITE)
    assert [(row["label"], row["score"]) for row in outputs.predictions.to_pylist()] == [("cat", None), ("dog", None)]


def test_a_file_of_truth_and_prediction_needs_no_ids(tmp_path):
    suite, outputs = read_combined(write(tmp_path, "o.csv", "text,label,prediction\nx,cat,cat\ny,dog,cat\n"))
    assert (suite.task, suite.labels) == ("classification", ("cat", "dog"))
    assert outputs.predictions["label"].to_pylist() == ["cat", "cat"]
    with pytest.raises(InputError, match="no column with the case ids"):
        read_combined(write(tmp_path, "p.csv", "text,label,prediction,model\nx,cat,cat,m\nx,cat,cat,n\n"))
