"""Arrays, dictionaries of models and objects of other libraries, as scripts give them to evaluate()."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn import metrics as sk

from metrics.core.errors import InputError
from metrics.library.evaluate import as_evaluation, evaluate
from metrics.library.input_data import read_data

CLASSES = ["bird", "cat", "dog"]
TRUE = ["cat", "dog", "cat", "bird", "dog", "bird", "cat", "dog"]
A = ["cat", "dog", "dog", "bird", "dog", "cat", "cat", "bird"]
NUMBERS = [CLASSES.index(name) for name in TRUE]
SCORES = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.1, 0.4, 0.5], [0.6, 0.3, 0.1]] * 2)
FLAGS, MARGINS = [0, 1, 1, 0, 1, 0, 1, 0], [0.2, 0.9, 0.4, 0.1, 0.7, 0.6, 0.8, 0.3]
FLOATS, ESTIMATES = [1.5, 2.0, 3.25, 4.0], [1.25, 2.5, 3.0, 4.5]
SUITE = pd.DataFrame({"id": ["x", "y"], "question": ["a?", "b?"], "expected_answer": ["yes", "no"]})
ANSWERS = pd.DataFrame({"id": ["y", "x"], "answer": ["no", "no"]})
RAG = [
    {"question": "a?", "answer": "yes", "contexts": ["It is."], "ground_truth": "yes"},
    {"question": "b?", "answer": "yes", "contexts": ["It is not."], "ground_truth": "no"},
]
COCO = {
    "images": [{"id": 7, "width": 100, "height": 100}, {"id": 9, "width": 100, "height": 100}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 1, "bbox": [10, 10, 30, 30], "area": 900, "iscrowd": 0},
        {"id": 2, "image_id": 9, "category_id": 2, "bbox": [5, 5, 15, 15], "area": 225, "iscrowd": 0},
    ],
}
RESULTS = [
    {"image_id": 7, "category_id": 1, "bbox": [11, 10, 29, 31], "score": 0.9},
    {"image_id": 9, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.3},
    {"image_id": 9, "category_id": 2, "bbox": [5, 5, 15, 12], "score": 0.6},
]
NOTHING = {"boxes": np.zeros((0, 4)), "labels": np.zeros(0, int), "scores": np.zeros(0)}
CORNERS = {"x": 0, "y": 1}


def corners(records, scored):
    """COCO's records as a dictionary of torchvision for each image."""
    found = []
    for image in (7, 9):
        own = [one for one in records if one["image_id"] == image]
        box = np.array([one["bbox"] for one in own], float)
        one = {"boxes": box + np.pad(box[:, :2], ((0, 0), (2, 0))), "labels": np.array([r["category_id"] for r in own])}
        found.append(one | ({"scores": np.array([r["score"] for r in own])} if scored else {}))
    return found


TARGETS, DETECTIONS = corners(COCO["annotations"], False), corners(RESULTS, True)


def read(*given, classes=None, **settings):
    told = []
    asked = as_evaluation(*given, *[None] * (3 - len(given)), settings, classes, lambda _, *lines: told.extend(lines))
    return read_data(asked, "python"), told


CALLS = {  # what is given, and the task, cases and models that it is
    "lists of classes": ((TRUE, A), "classification", 8, "model"),
    "tuples": ((tuple(TRUE), tuple(A)), "classification", 8, "model"),
    "arrays": ((np.array(TRUE), np.array(A)), "classification", 8, "model"),
    "tensors": ((torch.tensor(NUMBERS), list(torch.tensor(NUMBERS))), "classification", 8, "model"),
    "series": ((pd.Series(TRUE), pd.Series(A)), "classification", 8, "model"),
    "categories": ((pd.Series(TRUE, dtype="category"), A), "classification", 8, "model"),
    "truth values": (([True, False], np.array([True, True])), "classification", 2, "model"),
    "columns of scores": ((TRUE, SCORES), "classification", 8, "model"),
    "a frame of scores": ((TRUE, pd.DataFrame(SCORES, columns=CLASSES)), "classification", 8, "model"),
    "rows of scores": ((TRUE, SCORES.tolist()), "classification", 8, "model"),
    "scores of one class": ((FLAGS, MARGINS), "classification", 8, "model"),
    "a column of an array": ((np.array([[1], [0]]), [[1], [1]]), "classification", 2, "model"),
    "a frame of one column": ((pd.DataFrame({"t": FLOATS}), pd.DataFrame({"p": ESTIMATES})), "regression", 4, "model"),
    "classes by id": (({"x": "cat", 7: "dog"}, {7: "cat", "x": "cat"}), "classification", 2, "model"),
    "several models": ((TRUE, {"a": A, "b": SCORES}), "classification", 8, "a b"),
    "lists of classes each": (([["a", "b"], ["a"]], [["a"], []]), "classification", 2, "model"),
    "rows of 0 and 1": ((np.array([[1, 1], [1, 0]]), np.array([[1, 0], [0, 1]])), "classification", 2, "model"),
    "numbers": ((FLOATS, ESTIMATES), "regression", 4, "model"),
    "whole truth, broken predictions": (([3, 5, 9], [3.5, 4.5, 9.5]), "regression", 3, "model"),
    "numbers of models": ((FLOATS, {"a": ESTIMATES, "b": np.float32(ESTIMATES)}), "regression", 4, "a b"),
    "a dictionary": (({"y_true": TRUE, "y_pred": A},), "classification", 8, "model"),
    "a frame": ((pd.DataFrame({"y_true": TRUE, "y_pred": A}),), "classification", 8, "model"),
    "a frame of models": (
        (pd.DataFrame({"y_true": TRUE, "y_pred_a": A, "y_pred_b": TRUE, "city": A}),), "classification", 8, "a b",
    ),
    "a frame with scores of models": (
        (pd.DataFrame({"y_true": FLAGS, "y_score_a": MARGINS, "y_score_b": MARGINS}),), "classification", 8, "a b",
    ),
    "a column of scores a class": (
        (pd.DataFrame({"y_true": TRUE} | {f"y_prob_{n}": SCORES[:, k] for k, n in enumerate(CLASSES)}),),
        "classification", 8, "model",
    ),
    "frames of models": ((SUITE, {"a": ANSWERS, "b": ANSWERS}), "text", 2, "a b"),
    "answers of models": ((SUITE, {"a": ["yes", "no"], "b": ("no", "no")}), "text", 2, "a b"),
    "answers by id": ((SUITE, {"m": {"y": "no", "x": "yes"}}), "text", 2, "m"),
    "sentences": ((["It is.", "It is not."], ["It is.", "It is not."]), "text", 2, "model"),
    "answers": ((SUITE, ["yes", "no"]), "text", 2, "model"),
    "a series by id": ((SUITE, pd.Series({"y": "no", "x": "yes"})), "text", 2, "model"),
    "an index as id": ((SUITE.set_index("id"), ANSWERS.set_index("id")), "text", 2, "model"),
    "an index of texts": (
        (SUITE, pd.DataFrame({"answer": ["no", "no"]}, index=["y", "x"])), "text", 2, "model",
    ),
    "models of cases with answers": (({"a": pd.DataFrame(RAG), "b": RAG},), "text", 2, "a b"),
    "columns of texts": (
        ({"question": ["a?", "b?"], "answer": ["yes", "no"], "expected": ["yes", "yes"]},), "text", 2, "model",
    ),
    "records": (([{"input": "a?", "output": "yes", "expected": "yes"}],), "text", 1, "model"),
    "records of RAG": ((RAG,), "text", 2, "model"),
    "torchvision": ((TARGETS, DETECTIONS), "detection", 2, "model"),
    "torchvision, predictions first": ((DETECTIONS, TARGETS), "detection", 2, "model"),
    "torchvision, nothing found": ((TARGETS, {"a": DETECTIONS, "b": [NOTHING, NOTHING]}), "detection", 2, "a b"),
    "torchvision, by image": (
        ({7: TARGETS[0], 9: TARGETS[1]}, {9: DETECTIONS[1], 7: DETECTIONS[0]}), "detection", 2, "model",
    ),
    "COCO and torchvision": ((COCO, {"a": DETECTIONS, "b": {9: DETECTIONS[1]}}), "detection", 2, "a b"),
    "COCO": ((COCO, RESULTS), "detection", 2, "model"),
    "COCO of models": ((COCO, {"a": RESULTS, "b": []}), "detection", 2, "a b"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "task", "cases", "models"), CALLS.values(), ids=CALLS)
def test_what_scripts_have_at_hand_is_understood(given, task, cases, models):
    data, _ = read(*given)
    assert (data.suite.task, len(data.suite), " ".join(data.outputs.models)) == (task, cases, models)
    assert data.missing == 0


REFUSED = {
    "lengths": ((TRUE, {"a": A[1:], "b": A[2:]}), "a: found 7 values; expected 8, as many as y_true\nb: found 6"),
    "missing": (
        ([1.5, None, 2.5], [1.0, 2.0, float("nan")]),
        "y_true, row 2: found no value; expected a value in each place\ny_pred, row 3: found no value",
    ),
    "length and missing": (
        ([1.5, None], [1.0]), "y_pred: found 1 values; expected 2, as many as y_true\ny_true, row 2: found no value",
    ),
    "kinds": ((["a", 1], ["a", "b"]), "y_true: found values of several kinds: str, int"),
    "texts for numbers": ((FLOATS, ["a"] * 4), "y_pred: found texts; expected numbers"),
    "many whole numbers": ((list(range(30)), list(range(30))), "30 different whole numbers.*task='regression'"),
    "columns": ((TRUE, SCORES[:, :2]), r"2 columns of scores; expected .* the 3 classes \(bird, cat, dog\)"),
    "of which class": ((["in", "out"] * 4, MARGINS), r"expected classes=\['in', 'out'\], of which .* the second"),
    "orders": (
        (pd.Series(FLOATS, index=[2, 0, 1, 3]), pd.Series(ESTIMATES)),
        r"the rows of y_true in another order, by its index; expected .*to_numpy\(\)",
    ),
    "other ids": ((pd.Series([1.5], index=["a"]), pd.Series([1.5], index=["b"])), "an index without 1 of the 1 ids"),
    "no predictions": ((TRUE,), r"two: evaluate\(y_true, y_pred\)"),
    "frames in a list": ((SUITE, [ANSWERS, ANSWERS]), "outputs: found a list; expected a data frame"),
    "no model": ((SUITE, {}), "outputs: found no model; expected the answers of at least one"),
    "a file for values": ((TRUE, {"m": "x.csv"}), "m: found a str; expected a list, array or series, as y_true is one"),
    "columns of other lengths": (({"question": ["a?"], "answer": []},), "1 question, 0 answer; expected a value"),
    "answers too many": ((SUITE, {"a": ["yes"]}), "a: found 1 values; expected 2, as many as the cases of the suite"),
    "boxes": (
        (TARGETS, [{"boxes": [[9, 9, 1, 1]], "labels": [1], "scores": [0.5]}, NOTHING | {"labels": [1]}]),
        "row 1, column boxes: found NaN, or x2 below x1.*\n.*row 2, column boxes: found 0×4 numbers; expected 1×4",
    ),
    "images": ((TARGETS, DETECTIONS[:1]), "1 dictionaries; expected 2, one for each target"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "text"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_one_message_of_every_problem(given, text):
    with pytest.raises(InputError, match=f"(?s){text}"):
        read(*given)


@pytest.mark.parametrize(
    ("given", "settings", "task", "labels"),
    [
        ((NUMBERS, NUMBERS), {"task": "regression"}, "regression", ()),
        ((list(range(30)), list(range(30))), {"task": "classification"}, "classification", tuple(map(str, range(30)))),
        ((NUMBERS, SCORES), {"classes": CLASSES}, "classification", ("bird", "cat", "dog")),
        ((NUMBERS, NUMBERS), {"classes": {0: "bird", 1: "cat", 2: "dog"}}, "classification", ("bird", "cat", "dog")),
        ((["yes", "no"] * 4, MARGINS), {"classes": ["yes", "no"]}, "classification", ("yes", "no")),
        ((TARGETS, DETECTIONS), {"classes": {1: "cat", 2: "dog"}}, "detection", ("cat", "dog")),
        ((["What is it?"], ["It is."]), {"task": "text"}, "text", ()),
    ],
)
def test_task_and_classes_decide(given, settings, task, labels):
    data, told = read(*given, **settings)
    assert (data.suite.task, data.suite.labels, told) == (task, labels, [])


def test_what_was_assumed_is_told():
    assert read(NUMBERS, NUMBERS)[1] == ["y_true was read as 3 classes (task='regression' for numbers)"]
    assert read(FLAGS, MARGINS)[1] == []
    assert "scores of class 5 against 2" in read([2, 5, 5], [0.5, 1.5, 2.5])[1][0]
    with pytest.raises(InputError, match="classes: found names of classes for a table"):
        read(SUITE, ANSWERS, classes=CLASSES)


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("units_here")
def test_a_class_that_only_a_model_has_is_false_unless_it_is_named(workspace):
    true, predicted = ["a", "b", "a", "b"], ["a", "b", "z", "a"]
    with pytest.warns(UserWarning, match="that y_true does not have count as false: z"):
        run = evaluate(true, predicted, evaluators=["classification"])
    assert value(run, "accuracy") == sk.accuracy_score(true, predicted)
    wanted = sk.f1_score(true, predicted, average="macro", zero_division=0)
    assert value(run, "f1", query="average == 'macro'") == pytest.approx(wanted)
    run = evaluate(true, predicted, evaluators=["classification"], classes=["a", "b", "z"])
    assert value(run, "accuracy") == sk.accuracy_score(true, predicted)
    with pytest.raises(InputError, match="respell"):
        evaluate(true, ["A", "b", "a", "b"])


def test_rows_without_a_value_can_be_left_out():
    data, _ = read([1.5, None, 2.5], [1.0, 2.0, None], keep_good_rows=True)
    assert data.suite.cases["true_value"].to_pylist() == [1.5, 2.5]
    assert data.outputs.outputs["predicted_value"].to_pylist() == [1.0]
    assert data.suite.left_out == 1


def test_series_are_joined_by_an_index_that_names_rows():
    true = pd.Series(FLOATS, index=["a", "b", "c", "d"])
    data, _ = read(true, true[::-1])
    rows = data.outputs.outputs.select(["case_id", "predicted_value"]).to_pylist()
    assert {row["case_id"]: row["predicted_value"] for row in rows} == true.to_dict()


@pytest.mark.parametrize(
    ("suite_index", "index", "column"),
    [
        ([9, 4], [4, 9], {}),
        (["x", "y"], ["y", "x"], {}),
        (None, [5, 7], {"question": ["b?", "a?"]}),
        ([9, 4], [0, 1], {"question": ["b?", "a?"]}),
        (pd.Index(["x", "y"], name="id"), pd.Index(["y", "x"], name="id"), {}),
    ],
    ids=["numbers", "texts", "an index that says nothing", "other numbers", "with a name"],
)
def test_frames_are_joined_by_an_index_that_tells_cases_apart(suite_index, index, column):
    suite = pd.DataFrame({"question": ["a?", "b?"], "expected": ["yes", "no"]}, index=suite_index)
    data, _ = read(suite, pd.DataFrame({"answer": ["no", "yes"], **column}, index=index))
    answers = {row["case_id"]: row["answer"] for row in data.outputs.outputs.to_pylist()}
    assert [answers[id] for id in data.suite.cases["case_id"].to_pylist()] == ["yes", "no"]


def value(run, metric, model="model", query="label.isna()"):
    rows = run.aggregates.query(f"metric == @metric and model == @model and {query}")
    return rows["value"].tolist()[0]


@pytest.mark.usefixtures("units_here")
def test_numbers_are_those_of_scikit_learn(workspace):
    run = evaluate(TRUE, {"a": A, "b": SCORES}, evaluators=["classification", "roc_auc"])
    predicted = np.array(CLASSES)[SCORES.argmax(axis=1)]
    for model, own in (("a", A), ("b", predicted)):
        assert value(run, "accuracy", model) == pytest.approx(sk.accuracy_score(TRUE, own))
        assert value(run, "f1", model, "average == 'macro'") == pytest.approx(sk.f1_score(TRUE, own, average="macro"))
    run = evaluate(FLAGS, MARGINS, evaluators=["classification", "roc_auc"])
    assert value(run, "accuracy") == pytest.approx(sk.accuracy_score(FLAGS, np.array(MARGINS) > 0.5))
    run = evaluate(y_true=FLOATS, y_pred=ESTIMATES, evaluators=["regression"])
    assert value(run, "mae") == pytest.approx(sk.mean_absolute_error(FLOATS, ESTIMATES))
    assert run.headline.startswith("model has values in 1 metric")
    assert value(run, "r2") == pytest.approx(sk.r2_score(FLOATS, ESTIMATES))


@pytest.mark.usefixtures("units_here")
def test_numbers_of_boxes_are_those_of_pycocotools(workspace, capsys):
    from pycocotools import coco
    from pycocotools.cocoeval import COCOeval

    truth = coco.COCO()
    truth.dataset = COCO
    truth.createIndex()
    results = truth.loadRes([dict(one) for one in RESULTS])
    oracle = COCOeval(truth, results, "bbox")
    oracle.evaluate()
    oracle.accumulate()
    oracle.summarize()
    capsys.readouterr()
    by_image = {9: DETECTIONS[1], 7: DETECTIONS[0]}
    tensors = [{name: torch.tensor(values) for name, values in one.items()} for one in DETECTIONS]
    calls = {
        "by image": ({7: TARGETS[0], 9: TARGETS[1]}, {"m": by_image}),
        "mixed": (COCO, {"m": by_image}),
        "tensors": (TARGETS, {"m": tensors}),
        "dictionaries": (COCO, {"m": RESULTS}),
        "objects": (truth, {"m": results}),
        "corners": (TARGETS, {"m": DETECTIONS}),
    }
    for given in calls.values():
        run = evaluate(*given, evaluators=["coco_summary"])
        assert [value(run, name, "m") for name in ("AP", "AP50", "AR_100")] == pytest.approx(oracle.stats[[0, 1, 8]])


def test_masks_of_torchvision_become_run_lengths():
    from pycocotools import mask as oracle

    rng = np.random.default_rng(0)
    masks = rng.random((2, 1, 6, 5)).astype(np.float32)
    given = {"boxes": [[0, 0, 5, 6]] * 2, "labels": [1, 1]}
    data, _ = read([given | {"masks": masks[:, 0] >= 0.5}], [given | {"masks": masks, "scores": [0.9, 0.8]}])
    wanted = [oracle.encode(np.asfortranarray(mask[0] >= 0.5))["counts"].decode() for mask in masks]
    assert data.suite.annotations["rle"].to_pylist() == wanted == data.outputs.predictions["rle"].to_pylist()
    assert data.suite.cases.select(["image_height", "image_width"]).to_pylist() == [
        {"image_height": 6, "image_width": 5}
    ]


@pytest.mark.parametrize(("evaluators", "task"), [
    (["classification"], "classification"), ("classification,roc_auc", "classification"), (["exact_match"], "text"),
    (["latency"], "text"), (None, "text"),
], ids=["of one task", "of one task, by a text", "of texts", "of every task", "none"])  # fmt: skip
def test_the_evaluators_asked_for_settle_the_task_of_lists(evaluators, task):
    truth, predicted = ["ham", "spam", "ham"], ["HAM", "SPAM", "HAM"]
    assert as_evaluation(truth, {"m": predicted}, evaluators, {}).suite.task == task
