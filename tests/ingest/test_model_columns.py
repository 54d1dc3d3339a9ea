"""A column for each model: asked about, and read as a row for each answer."""

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import combined_from_frame, inspect, outputs_from_frame, read_combined, read_outputs
from metrics.ingest.source import Reading
from tests.ingest.files import read_refusal, write

CASES = [{"case_id": "1", "question": "who", "expected_answers": ["a"]}, {"case_id": "2", "question": "why"}]
TEXT = Suite.from_rows("s", "text", CASES)
CLASSES = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}])
NUMBERS = Suite.from_rows("s", "regression", [{"case_id": "1", "true_value": 1}, {"case_id": "2", "true_value": 2}])
FORMS = {
    "answers": (
        TEXT, "id,question,gpt-4,llama 3.1,year\n1,who,a,b,1999\n2,why,,d,2001\n", "answer",
        [("1", "gpt-4", "a"), ("1", "llama 3.1", "b"), ("2", "gpt-4", None), ("2", "llama 3.1", "d")],
    ),
    "predicted numbers": (
        NUMBERS, "id,gpt-4,llama 3.1\n1,1,2\n2,3,4\n", "predicted_value",
        [("1", "gpt-4", 1.0), ("1", "llama 3.1", 2.0), ("2", "gpt-4", 3.0), ("2", "llama 3.1", 4.0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("suite", "text", "field", "rows"), FORMS.values(), ids=FORMS.keys())
def test_a_column_for_each_model(tmp_path, suite, text, field, rows):
    path = write(tmp_path, "o.csv", text)
    outputs = read_outputs(path, suite=suite)  # as the names are those of language models
    assert "models=gpt-4,llama 3.1, as it seems; else models=none" in "".join(map(str, outputs.receipt))
    assert [(row["case_id"], row["model"], row[field]) for row in outputs.outputs.to_pylist()] == rows
    with pytest.raises(InputError, match=r"found no column with the (model's answers|predicted value)"):
        read_outputs(path, suite=suite, readings={path: Reading(answers={"models": "none"})})


BESIDE = {  # a header with two columns of answers, and what is asked or refused
    "contexts that serve every model": ("id,question,expected,contexts,big,small", "models=big,small"),
    "names like answers": ("id,question,expected,our_answer,old_answer", "models=our_answer,old_answer"),
    "a typing error": ("id,question,expected,answr,kind", "Perhaps answer=answr"),
}


@pytest.mark.parametrize(("header", "said"), BESIDE.values(), ids=BESIDE.keys())
def test_what_stands_beside_columns_of_models(tmp_path, header, said):
    path = write(tmp_path, "o.csv", f"{header}\n" + ",".join("abcdef"[: header.count(",") + 1]) + "\n")
    assert said in read_refusal(read_combined, path)


def test_contexts_alone_are_a_retrievers(tmp_path):
    """Where the file names it, or has what is relevant: else they may serve whoever answers."""
    for more in ("model", "reference_contexts"):
        path = write(tmp_path, "o.csv", f"id,question,contexts,source,{more}\n1,who,a,b,c\n")
        assert read_combined(path)[1].outputs["retrieved_contexts"].to_pylist() == [["a"]]
    path = write(tmp_path, "o.csv", "id,question,contexts,source,author\n1,who,a,b,c\n")
    assert "or a file of outputs beside this one" in read_refusal(read_combined, path)


def test_some_of_the_columns(tmp_path):
    records = [
        {"id": "1", "gpt-4": "a", "kind": "x", "llama": "b"},
        {"id": "2", "gpt-4": "c", "kind": "y", "llama": "d"},
    ]
    outputs = outputs_from_frame(records, suite=TEXT, answers={"models": "llama,gpt-4"})
    assert outputs.outputs["answer"].to_pylist() == ["b", "a", "d", "c"]
    assert outputs.outputs["metadata.kind"].to_pylist() == ["x", "x", "y", "y"]


def test_classes_in_a_column_for_each_model(tmp_path):
    path = write(tmp_path, "o.csv", "id,big,small,note\n1,cat,dog,x\n2,dog,dog,y\n")
    with pytest.raises(InputError, match="an answer, models=big,small"):
        read_outputs(path, suite=CLASSES)
    outputs = read_outputs(path, suite=CLASSES, readings={path: Reading(answers={"models": "big,small"})})
    found = [(row["model"], row["case_id"], row["label"]) for row in outputs.predictions.to_pylist()]
    assert sorted(found) == [("big", "1", "cat"), ("big", "2", "dog"), ("small", "1", "dog"), ("small", "2", "dog")]


@pytest.mark.parametrize("task", [None, "classification"])
def test_truth_and_models_in_one_file(tmp_path, task):
    path = write(tmp_path, "o.csv", "id,label,big,small\n1,cat,cat,dog\n2,dog,dog,dog\n")
    reading = Reading(answers={"models": "big,small"})
    suite, outputs = read_combined(path, task=task, reading=reading)
    assert (suite.task, len(suite), outputs.models) == ("classification", 2, ("big", "small"))
    assert outputs.predictions["label"].to_pylist() == ["cat", "dog", "dog", "dog"]


def test_fields_in_objects_are_no_models(tmp_path):
    """Answers and conversations in `outputs` and `inputs` are what their names say, whatever stands beside them."""
    said = [{"role": "user", "content": "Which sea?"}]
    row = {"id": "r", "inputs": {"messages": said}, "outputs": {"messages": [{"role": "assistant", "content": "Red"}]}}
    suite, outputs = read_combined(write(tmp_path, "a.jsonl", [row]))
    assert suite.cases["question"].to_pylist() == ["Which sea?"]
    assert outputs.outputs["answer"].to_pylist() == ["Red"]
    row = {
        "id": "r",
        "inputs": {"question": "Which sea?"},
        "outputs": {"answer": "Red"},
        "note": "some",
        "more": "text",
    }
    assert "answer=outputs.answer" in (refusal := read_refusal(read_combined, write(tmp_path, "b.jsonl", [row])))
    assert "models=" not in refusal


def test_columns_that_say_metadata_are_no_models(tmp_path):
    row = {"case_id": "1", "question": "Which sea?", "metadata.branch": "North", "metadata.kind": "ferry"}
    assert "models=" not in read_refusal(read_combined, write(tmp_path, "a.jsonl", [row]))


def test_an_expected_answer_is_no_answer_that_was_mistyped(tmp_path):
    table = write(tmp_path, "w.csv", "id,question,expected_answer,big,small\n1,who,a,a,b\n2,why,c,c,d\n")
    with pytest.raises(InputError, match="an answer, models=big,small or models=none"):
        read_combined(table)


def test_numbers_of_each_model_are_asked_about_and_a_topic_is_not_proposed(tmp_path):
    path = write(tmp_path, "n.csv", "id,y_true,ridge,tree\n1,1.5,1,2\n2,3,4,5.5\n")
    assert "an answer, models=ridge,tree or models=none" in read_refusal(read_combined, path)
    rows = "".join(f"q{row},yes,b{row},c{row},x\n" for row in range(9))
    path = write(tmp_path, "t.csv", "question,expected,big,small,topic\n" + rows)
    assert "models=big,small or models=none" in read_refusal(read_combined, path)
    assert read_combined(path, reading=Reading(answers={"models": "big,topic"}))[1].models == ("big", "topic")


WIDE = {  # columns beside the truth, and the models that are asked about; "": their names say that they are models
    "classes": ("id,y_true,logreg,tree,note", ["a,cat,cat,dog,x", "b,dog,dog,dog,y"], "logreg,tree"),
    "numbers of classes": ("id,y_true,logreg,tree", ["1,0,1,0", "2,1,1,0"], "logreg,tree"),
    "numbers": ("id,y_true,ridge,forest", ["1,.5,2,3", "2,7,9.5,1"], "ridge,forest"),
    "numbers below an index": (",target,ridge,forest", ["0,.5,2,3", "1,7,9.5,1"], "ridge,forest"),
    "many whole numbers": ("y_true,ridge,forest", [f"{n},{n}.5,{n * n}.5" for n in range(30)], "ridge,forest"),
    "named classes": ("id,y_true,y_pred_logreg,y_pred_tree", ["1,cat,cat,dog", "2,dog,dog,dog"], ""),
    "numbers after a word": ("actual,predicted_ridge,predicted_gbm", ["1.5,2,3", "7,9.5,1"], ""),
    "classes after a word": ("actual,pred_ridge,pred_gbm", ["cat,cat,dog", "dog,dog,dog"], ""),
    "texts after a word": ("reference,prediction_big,prediction_small", ["a b,a,b c", "c d,x,y z"], ""),
    "measured numbers": ("actual,ridge,gbm", ["1.5,2,3", "7,9.5,1"], "ridge,gbm"),
    "named numbers": ("y_true,y_pred_ridge,y_pred_tree,city", ["1.5,2,3,x", "7,9.5,1,y"], ""),
}  # fmt: skip


@pytest.mark.parametrize(("header", "rows", "asked"), WIDE.values(), ids=WIDE.keys())
def test_predictions_of_ordinary_models_beside_the_truth(tmp_path, header, rows, asked):
    """By file and by frame: the question names these columns alone, and its answer reads them."""
    path = write(tmp_path, "w.csv", "\n".join([header, *rows]) + "\n")
    models, mapping = asked or header, {"true_value": "y_true"} if len(rows) > 2 else None
    if asked:
        assert inspect(path).candidates == tuple(asked.split(","))
        for read, given in ((read_combined, path), (combined_from_frame, pd.read_csv(path))):
            assert f"an answer, models={asked} or models=none" in read_refusal(read, given)
    for suite, outputs in (
        read_combined(path, mapping=mapping, reading=Reading(answers={"models": models} if asked else {})),
        combined_from_frame(pd.read_csv(path), mapping=mapping, answers={"models": models} if asked else {}).value,
    ):
        assert (len(suite), len(outputs.outputs)) == (len(rows), 2 * len(rows))
        named = asked.split(",") if asked else [part.rpartition("_")[2] for part in header.split(",") if "pred" in part]
        assert list(outputs.models) == named


def test_scores_and_predictions_of_a_model_are_of_its_rows(tmp_path):
    text = "id,y_true,y_pred_a,y_score_a,y_pred_b,y_score_b\n1,0,0,.2,1,.7\n2,1,1,.9,1,.6\n"
    assert read_combined(write(tmp_path, "w.csv", text))[1].models == ("a", "b")
    outputs = read_outputs(write(tmp_path, "o.csv", "id,y_pred_a,y_pred_b\n1,1,2\n2,3,4\n"), suite=NUMBERS)
    assert [(row["model"], row["predicted_value"]) for row in outputs.outputs.to_pylist()] == [
        ("a", 1), ("b", 2), ("a", 3), ("b", 4)
    ]  # fmt: skip


NAMES = {  # a header, and the columns that are proposed as models with the names that these get
    "a reference": ("article,highlights,summary_pegasus,summary_lead",
                    {"summary_pegasus": "pegasus", "summary_lead": "lead"}),
    "a word at the end": ("question,expected,big answer,small answer", {"big answer": "big", "small answer": "small"}),
    "a word at the beginning": ("question,expected,answer_a,answer_b,gold", {"answer_a": "a", "answer_b": "b"}),
    "numbers before the word": ("question,expected,5_output,10_output",
                                {"5_output": "5_output", "10_output": "10_output"}),
    "numbers, which name none": ("question,expected,output_1,output_2",
                                 {"output_1": "output_1", "output_2": "output_2"}),
    "no word": ("question,expected,big,small", {"big": "big", "small": "small"}),
}  # fmt: skip


@pytest.mark.parametrize(("header", "models"), NAMES.values(), ids=NAMES.keys())
def test_references_are_no_models_and_a_common_word_names_none(tmp_path, header, models):
    rows = [
        ",".join(f"{name} {row % 3 if name == 'summary_lead' else row}" for name in header.split(","))
        for row in range(9)
    ]
    path = write(tmp_path, "w.csv", "\n".join([header, *rows]) + "\n")
    assert f"an answer, models={','.join(models)} or models=none" in read_refusal(read_combined, path)
    assert inspect(path).candidates == tuple(models)
    _, outputs = read_combined(path, reading=Reading(answers={"models": ",".join(models)}))
    assert set(outputs.models) == {*models.values()}


@pytest.mark.parametrize("header", ["actual,predicted_ridge,predicted_gbm", "true_value,ridge,gbm", "y_true,a,b"])
def test_the_columns_of_models_alone_are_enough(tmp_path, header):
    path = write(tmp_path, "w.csv", f"{header}\n1.5,2,3\n7,9.5,1\n")
    models = header.partition(",")[2]
    suite, outputs = read_combined(path, reading=Reading(answers={"models": models}))
    assert (suite.task, len(suite), len(outputs.models)) == ("regression", 2, 2)
    assert (
        read_combined(path, reading=Reading(answers={"models": models.partition(",")[0]}))[1].models != outputs.models
    )
