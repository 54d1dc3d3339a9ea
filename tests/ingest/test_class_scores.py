"""Classification: long and wide score files, answers alone, and combined files."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import read_outputs, read_suite
from tests.ingest.files import list_problems, write

SUITE = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}])
LONG = [("1", "m", "cat", 0.9), ("1", "m", "dog", 0.1), ("2", "m", "dog", 1.0)]
FORMS = {
    "long": ("case_id,model,label,score\n1,m,cat,0.9\n1,m,dog,0.1\n2,m,dog,1\n", LONG),
    "wide": ("case_id,model,dog,cat\n1,m,0.1,0.9\n2,m,1,\n", LONG),
    "wide with a prefix, and a class the suite lacks": ("case_id,model,score_cat,score_dog,score_eel\n1,m,0.9,0.1,0\n2,m,,1,\n", [*LONG[:2], ("1", "m", "eel", 0.0), LONG[2]]),
    "label alone": ("case_id,model,label\n1,m,cat\n2,m,eel\n", [("1", "m", "cat", 1.0), ("2", "m", "eel", 1.0)]),
    "prediction alone": ("case_id,model,prediction\n1,m,cat\n2,m,\n", [("1", "m", "cat", 1.0)]),
    "predicted beside the true label": ("case_id,model,label,predicted_label,score\n1,m,dog,cat,0.5\n", [("1", "m", "cat", 0.5)]),
    "a model a file": ("case_id,label,score\n1,cat,0.5\n", [("1", "o", "cat", 0.5)]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "rows"), FORMS.values(), ids=FORMS.keys())
def test_forms(tmp_path, content, rows):
    outputs = read_outputs(write(tmp_path, "o.csv", content), suite=SUITE)
    found = [(row["case_id"], row["model"], row["label"], row["score"]) for row in outputs.predictions.to_pylist()]
    assert sorted(found) == sorted(rows)
    assert outputs.predictions["prediction_id"].to_pylist() == list(range(len(rows)))
    keys = outputs.outputs.select(["case_id", "model", "run"]).to_pylist()
    assert len({tuple(key.values()) for key in keys}) == len(keys)


def test_class_names_that_are_aliases_elsewhere(tmp_path):
    suite = Suite.from_rows(
        "s", "classification", [{"case_id": "1", "label": "cost"}, {"case_id": "2", "label": "response"}]
    )
    outputs = read_outputs(write(tmp_path, "o.csv", "case_id,cost,response\n1,0.75,0.25\n"), suite=suite)
    assert outputs.predictions["label"].to_pylist() == ["cost", "response"]


PROBLEMS = {
    "score above 1": ("case_id,label,score\n1,cat,1.5\n", "o.csv, row 2, column score: found '1.5'; expected a number from 0 to 1"),
    "no score": ("case_id,label,score\n1,cat,\n", "o.csv, row 2, column score: found nothing; expected a number"),
    "no label": ("case_id,label,score\n1,,0.5\n", "o.csv, row 2, column label: found nothing; expected a class"),
    "class twice": ("case_id,label,score\n1,cat,0.5\n1,cat,0.6\n", "o.csv, row 3: found the class of row 2 again; expected each class once per case and model"),
    "unknown case": ("case_id,label,score\n9,cat,0.5\n", "o.csv, row 2, column case_id: found '9'; expected the id of a case of the suite"),
    "wide, nothing": ("case_id,cat,dog\n1,,\n", "o.csv, row 2, column cat: found no score in any class column; expected a score from 0 to 1 for each class"),
    "neither": ("case_id,model\n1,m\n", "o.csv, row 1: found no column with the predicted class; expected columns label and score, or prediction, or one score column for each class of the suite"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "text"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path, content, text):
    assert list_problems(read_outputs, write(tmp_path, "o.csv", content), suite=SUITE) == [text]


def test_suite(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,label,tags\n1,NA,a;b\n2,007,\n"))
    assert (suite.task, suite.labels) == ("classification", ("007", "NA"))
    with pytest.raises(InputError, match="row 3, column label: found nothing; expected the true class of the case"):
        read_suite(write(tmp_path, "t.csv", "case_id,label\n1,a\n2,\n"))


@pytest.mark.parametrize(
    "more", [(), ("temperature",), ("temperature", "top_p")], ids=["alone", "beside one", "beside two"]
)
def test_a_class_that_the_suite_lacks_is_one_with_and_without_a_prefix(tmp_path, more):
    """Plain columns are read as prefixed ones where the scores of a row sum to 1 only with the unknown class."""
    made = {}
    for prefix in ("", "p_"):
        names = [*(prefix + name for name in ("cat", "dog", "eel")), *more]
        text = f"case_id,{','.join(names)}\n1,.5,.25,.25{',.7' * len(more)}\n2,.125,.125,.75{',.3' * len(more)}\n"
        made[prefix] = read_outputs(write(tmp_path, "o.csv", text), suite=SUITE)
    assert made[""].fingerprint == made["p_"].fingerprint
    assert set(made[""].predictions["label"].to_pylist()) == {"cat", "dog", "eel"}
    assert "metadata.eel" not in made[""].outputs.column_names


def test_a_number_beside_all_classes_is_no_class(tmp_path):
    outputs = read_outputs(write(tmp_path, "o.csv", "case_id,cat,dog,eel\n1,.5,.5,.25\n2,.25,.75,.5\n"), suite=SUITE)
    assert set(outputs.predictions["label"].to_pylist()) == {"cat", "dog"}
    assert outputs.outputs["metadata.eel"].to_pylist() == [".25", ".5"]
