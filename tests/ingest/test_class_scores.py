"""Classification: long and wide score files, answers alone, and combined files."""
# ruff: noqa: E501 - a table reads better with one line a case

import re

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import load_outputs, read_combined, read_outputs, read_suite
from metrics.ingest.source import Reading
from tests.ingest.files import list_problems, write

SUITE = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}])
LONG = [("1", "m", "cat", 0.9), ("1", "m", "dog", 0.1), ("2", "m", "dog", 1.0)]
FORMS = {
    "long": ("case_id,model,label,score\n1,m,cat,0.9\n1,m,dog,0.1\n2,m,dog,1\n", LONG),
    "wide": ("case_id,model,dog,cat\n1,m,0.1,0.9\n2,m,1,\n", LONG),
    "wide with a prefix, and a class the suite lacks": ("case_id,model,score_cat,score_dog,score_eel\n1,m,0.9,0.1,0\n2,m,,1,\n", [*LONG[:2], ("1", "m", "eel", 0.0), LONG[2]]),
    "label alone": ("case_id,model,label\n1,m,cat\n2,m,eel\n", [("1", "m", "cat", None), ("2", "m", "eel", None)]),
    "prediction alone": ("case_id,model,prediction\n1,m,cat\n2,m,\n", [("1", "m", "cat", None)]),
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


TIED = [("1", "m", "dog", 0.5), ("1", "m", "cat", 0.5)]
NAMES = {
    "prefix": "p_dog,p_cat", "word": "prob_dog,prob_cat", "dot": "scores.dog,scores.cat", "suffix": "dog_score,cat_score",
    "brackets": "score[dog],score[cat]", "parentheses": "P(dog),P(cat)", "plain": "dog,cat", "case": "Dog,Cat", "case of one": "dog,Cat",
    "camel": "dogProb,catProb", "suffix with blanks": "dog probability,cat probability",
}  # fmt: skip


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_names_of_score_columns_and_the_order_of_ties(tmp_path, names):
    outputs = read_outputs(write(tmp_path, "o.csv", f"case_id,model,{names}\n1,m,.5,.5\n"), suite=SUITE)
    rows = [(row["case_id"], row["model"], row["label"], row["score"]) for row in outputs.predictions.to_pylist()]
    assert rows == TIED


def test_records_keep_the_order_of_their_classes(tmp_path):
    text = '[{"case_id": "1", "model": "m", "scores": {"dog": 0.5, "cat": 0.5}}]'
    rows = read_outputs(write(tmp_path, "o.json", text), suite=SUITE).predictions.to_pylist()
    assert [(row["case_id"], row["model"], row["label"], row["score"]) for row in rows] == TIED


FLAGS = Suite.from_rows("s", "classification", [{"case_id": str(n), "label": str(n % 2)} for n in range(1, 13)])
SHARES = [0.9 if n % 2 else 0.2 for n in range(1, 13)]


def table(columns, *rows):
    return "\n".join([columns, *(",".join(map(str, row)) for row in rows)])


def of_class_1(n, score, other=1.0):
    """The rows that a score of class 1 is read as."""
    return {(str(n), "1", score), (str(n), "0", round(other - score, 6))}


ALONE = [(n, s) for n, s in enumerate(SHARES, 1)]
WITH = [(n, n % 2, s) for n, s in ALONE]
SCORE_OF = {
    "score of class 1 by custom": ("case_id,score", ALONE, {}, of_class_1(2, 0.2)),
    "the same by another name": ("case_id,y_prob", ALONE, {}, of_class_1(1, 0.9)),
    "answered": ("case_id,score", ALONE, {"score_of": "0"}, {("1", "0", 0.9), ("1", "1", 0.1)}),
    "beside classes that show it": ("case_id,prediction,score", WITH, {}, of_class_1(2, 0.2)),
    "spelled otherwise": ("case_id,prediction,score", [(n, f"{c}.0", s) for n, c, s in WITH], {}, of_class_1(2, 0.2)),
    "of the predicted class": ("case_id,prediction,score", [(n, c, max(s, 1 - s)) for n, c, s in WITH], {}, {("1", "1", 0.9), ("2", "0", 0.8)}),
    "of the predicted class, as answered": ("case_id,prediction,score", WITH, {"score_of": "predicted"}, {("1", "1", 0.9), ("2", "0", 0.2)}),
    "margins by their name": ("case_id,y_pred,decision_function", [(n, c, 3 if c else -4) for n, c, _ in WITH], {}, of_class_1(2, -4.0, 0)),
    "margins": ("case_id,prediction,score", [(n, c, 3 if c else -4) for n, c, _ in WITH], {}, of_class_1(2, -4.0, 0)),
    "another threshold, scores decide": ("case_id,prediction,score", [(n, c, 0.4 if c else 0.05) for n, c, _ in WITH], {"decided_by": "score"}, of_class_1(2, 0.05)),
    "columns of 0 and 1": ("case_id,prob_0,prob_1", [(n, round(1 - s, 6), s) for n, s in ALONE], {}, of_class_1(2, 0.2)),
    "columns of false and true": ("case_id,p_False,p_True", [(n, round(1 - s, 6), s) for n, s in ALONE], {}, of_class_1(2, 0.2)),
    "a column of one class": ("case_id,p_1", ALONE, {}, of_class_1(2, 0.2)),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "rows", "answers", "some"), SCORE_OF.values(), ids=SCORE_OF.keys())
def test_what_class_a_single_score_is_of(tmp_path, columns, rows, answers, some):
    reading = Reading(answers=answers)
    path = write(tmp_path, "o.csv", table(columns, *rows))
    outputs = load_outputs(path, suite=FLAGS, readings={path: reading}).value
    found = {(row["case_id"], row["label"], round(row["score"], 6)) for row in outputs.predictions.to_pylist()}
    assert some <= found


def test_the_score_of_the_likelier_of_two_classes_is_that_of_both(tmp_path):
    rows = [(n, c, max(s, 1 - s)) for n, c, s in WITH]
    outputs = read_outputs(write(tmp_path, "o.csv", table("case_id,prediction,score", *rows)), suite=FLAGS)
    found = {(row["case_id"], row["label"], round(row["score"], 6)) for row in outputs.predictions.to_pylist()}
    assert found == {pair for n, s in ALONE for pair in of_class_1(n, s)}
    assert any("score is of the predicted class of two" in str(line) for line in outputs.receipt)


ASKED = {
    "classes without an order": (SUITE, "case_id,score\n1,.9\n2,.2\n", "score_of=cat or score_of=dog"),
    "low scores of the predicted class": (FLAGS, table("case_id,prediction,score", *((n, 1, s) for n, s in ALONE)), "score_of=0 or score_of=1 or score_of=predicted"),
    "few rows": (SUITE, "case_id,label,score\n1,cat,.9\n2,dog,.2\n", "score_of=cat or score_of=dog or score_of=predicted"),
    "another class than the scores": (SUITE, "case_id,prediction,cat,dog\n1,dog,.9,.1\n2,dog,.1,.9\n", "decided_by=score or decided_by=prediction"),
    "two sets of columns": (SUITE, "case_id,p_cat,p_dog,logit_cat,logit_dog\n1,.5,.5,2,3\n", "scores=p_CLASS or scores=logit_CLASS"),
    "a column that may be a class": (SUITE, "case_id,cat,dog,eel\n1,.5,.1,.3\n2,.2,.9,.8\n", "other_scores=classes or other_scores=metadata"),
}  # fmt: skip


@pytest.mark.parametrize(("suite", "content", "answers"), ASKED.values(), ids=ASKED.keys())
def test_what_would_change_a_number_is_asked(tmp_path, suite, content, answers):
    with pytest.raises(InputError, match="an answer, " + re.escape(answers)):
        read_outputs(write(tmp_path, "o.csv", content), suite=suite)


SPELLED = {  # columns, rows
    "a column for each class": ("id,pred,score_CAT,score_DOG", "1,CAT,.9,.1\n2,DOG,.2,.8\n"),
    "a column of one class": ("id,pred,p_dog", "1,CAT,.1\n2,DOG,.8\n"),
    "a score of one class": (
        "id,pred,score",
        "\n".join(f"{n},{'dog ' if n % 2 == 0 else 'Cat'},{0.9 if n % 2 == 0 else 0.1}" for n in (1, 2)),
    ),
}


@pytest.mark.parametrize(("columns", "rows"), SPELLED.values(), ids=SPELLED.keys())
def test_predicted_classes_that_are_spelled_otherwise_are_said(tmp_path, columns, rows):
    path = write(tmp_path, "o.csv", f"{columns}\n{rows}")
    answers = {"score_of": "dog"}
    loaded = load_outputs(path, suite=SUITE, readings={path: Reading(answers=answers)})
    assert set(loaded.value.predictions["label"].to_pylist()) == {"cat", "dog"}
    said = [line for line in loaded.value.receipt if line.question == "class_spelling"]
    assert [(line.place, line.answers) for line in said] == [("pred", ("same", "other"))]
    assert "in 2 of 2 rows: class_spelling=same, as it seems; else class_spelling=other" in said[0].meaning


def test_a_person_says_that_classes_of_another_spelling_are_others(tmp_path):
    path = write(tmp_path, "o.csv", "id,pred,p_cat,p_dog\n1,CAT,.4,.6\n2,DOG,.2,.8\n")
    reading = Reading(answers={"class_spelling": "other"})
    outputs = load_outputs(path, suite=SUITE, readings={path: reading}).value
    assert outputs.predictions["score"].to_pylist() == [0.4, 0.6, 0.2, 0.8]  # which of them decides is not asked


def test_scores_and_truth_in_one_file(tmp_path):
    path = write(
        tmp_path, "o.csv", table("id,label,p_cat,p_dog,note", (1, "cat", 0.9, 0.1, "x"), (2, "dog", 0.5, 0.5, "y"))
    )
    suite, outputs = read_combined(path, task="classification")
    assert [row["score"] for row in outputs.predictions.to_pylist()] == [0.9, 0.1, 0.5, 0.5]
    assert [name for name in (*suite.cases.column_names, *outputs.outputs.column_names) if "metadata" in name] == [
        "metadata.note"
    ]


PROBLEMS = {
    "score that is no number": ("case_id,label,score\n1,cat,inf\n", "o.csv, row 2, column score: found 'inf'; expected a finite number"),
    "no score": ("case_id,label,score\n1,cat,\n", "o.csv, row 2, column score: found nothing; expected a number"),
    "no label": ("case_id,label,score\n1,,0.5\n", "o.csv, row 2, column label: found nothing; expected a class"),
    "class twice": ("case_id,label,score\n1,cat,0.5\n1,cat,0.6\n", "o.csv, row 3: found the class of row 2 again; expected each class once per case and model"),
    "unknown case": ("case_id,label,score\n9,cat,0.5\n", "o.csv, row 2, column case_id: found '9'; expected the id of a case of the suite"),
    "wide, nothing": ("case_id,cat,dog\n1,,\n", "o.csv, row 2, column cat: found no score in any class column; expected a score for each class"),
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
