"""Classes taken for others: Valor's examples, and that it is the same as files in which they have the other names."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import metrics
from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.library.case_choice import merge_labels
from metrics.store import Run

Rows = list[dict[str, Any]]
TRUE = ("bird", "dog", "bird", "bird", "cat", "dog")
SCORES = (
    {"bird": 0.6, "dog": 0.2, "cat": 0.2}, {"cat": 0.9, "dog": 0.1, "bird": 0.0},
    {"cat": 0.8, "dog": 0.05, "bird": 0.15}, {"dog": 0.75, "cat": 0.1, "bird": 0.15},
    {"cat": 1.0, "dog": 0.0, "bird": 0.0}, {"cat": 0.4, "dog": 0.4, "bird": 0.2},
)  # fmt: skip
MAMMALS = {"dog": "mammal", "cat": "mammal", "bird": "avian"}


def animals() -> tuple[Suite, Outputs]:
    """Valor's functional test of classification, `classification_functional_test_data`, the key "animal"."""
    cases = [{"case_id": str(i), "label": of} for i, of in enumerate(TRUE)]
    suite = Suite.from_rows("animals", "classification", cases)
    made = [{"case_id": str(i), "model": "m"} for i in range(len(TRUE))]
    scored = [
        {"case_id": str(i), "model": "m", "label": label, "score": score}
        for i, scores in enumerate(SCORES)
        for label, score in scores.items()
    ]
    return suite, Outputs.from_rows(made, scored)


def evaluated(tmp_path: Path, suite: Any, outputs: Any, names: list[str], **asked: Any) -> Run:
    run: Run = metrics.evaluate(suite, outputs, names, workspace=tmp_path, **asked)
    return run


def numbers(run: Run, evaluator: str) -> pd.DataFrame:
    return run.aggregates[run.aggregates["evaluator"] == evaluator].dropna(axis=1, how="all").reset_index(drop=True)


def test_valors_mammals(tmp_path: Path) -> None:
    """`test_compute_confusion_matrix_at_label_key_using_label_map` and `test_rocauc_with_label_map`."""
    run = evaluated(tmp_path, *animals(), ["classification", "roc_auc"], label_map=MAMMALS)
    counts = run.curves("classification").set_index(["label", "predicted"])["count"]
    assert counts[counts > 0].to_dict() == {("avian", "avian"): 1, ("avian", "mammal"): 2, ("mammal", "mammal"): 3}
    found = numbers(run, "roc_auc").query("metric == 'roc_auc'")["value"]
    assert found.tolist() == pytest.approx([7 / 9] * len(found))
    assert run.suite.labels == ("avian", "mammal")
    assert run.spec.suite.label_map == MAMMALS
    said = "dog, cat taken for mammal; bird taken for avian"
    assert str(run.spec.receipt[-1]) == f"animals: classes (2) was decided: {said}"
    assert metrics.analysis.insights(run).query("kind == 'label_map'")["message"].tolist() == [said]


def test_a_merged_class_has_the_highest_of_its_scores(tmp_path: Path) -> None:
    run = evaluated(tmp_path, *animals(), ["classification_pr_curve"], label_map=MAMMALS)
    curve = run.curves("classification_pr_curve").query("label == 'mammal'").set_index("threshold")[["tp", "fp"]]
    # the sums of cases 1 and 4 are 1; .9 and .1 are those of case 1
    assert {at: tuple(curve.loc[at]) for at in (0.9, 0.95)} == {0.9: (2, 0), 0.95: (1, 0)}


def test_valors_cats_have_labels_of_other_keys(tmp_path: Path) -> None:
    """`test_evaluate_classification_with_label_maps`: three breeds and two spellings of a key are one class."""
    truths = (("k4=v4", "class=siamese cat"), ("k4=v4", "class=british shorthair"), ("k4=v8", "class=tabby cat"))
    seen = (("k4=v8", "class=cat"), ("k4=v4", "class_name=cat"), ("k4=v1", "class=cat"))
    suite = Suite.from_rows(
        "cats", "classification", [{"case_id": str(i), "label": "; ".join(own)} for i, own in enumerate(truths)],
        labels=sorted({label for own in truths for label in own}),
    )  # fmt: skip
    suite = replace(suite, label_keys=("class", "k4"))
    made = [{"case_id": str(i), "model": "m"} for i in range(3)]
    scored = [made[i] | {"label": label, "score": 1.0} for i, own in enumerate(seen) for label in own]
    cats = ("class=siamese cat", "class=british shorthair", "class=tabby cat", "class=cat", "class_name=cat")
    given = [f"{name}=special_class=cat_type1" for name in cats]
    asked = {"label_map": given, "unknown_classes": ["false"]}
    run = evaluated(tmp_path, suite, Outputs.from_rows(made, scored), ["classification"], **asked)
    assert run.suite.label_keys == ("k4", "special_class")
    found = numbers(run, "classification").query("metric == 'accuracy'").set_index("key")["value"]
    assert found.to_dict() == {"k4": pytest.approx(1 / 3), "special_class": 1.0}


def test_it_is_the_same_for_every_evaluator_of_classes_as_other_files(tmp_path: Path) -> None:
    """Law: numbers are those of the same suite and outputs in which the classes had the other name from the start."""
    asked = 0
    for task in ("classification", "detection", "segmentation"):
        suite, outputs = of_task(task)
        taken = {suite.labels[1]: suite.labels[0], suite.labels[2]: "new"}
        ids = [id for id, entry in evaluators().items() if task in entry.tasks and "predictions" in str(entry.inputs)]
        mapped = evaluated(tmp_path, suite, outputs, ids, label_map=taken, accept_findings=True)
        plain = evaluated(tmp_path, *renamed(suite, outputs, taken), ids, accept_findings=True)
        for id in ids:
            asked += 1
            pd.testing.assert_frame_equal(numbers(mapped, id), numbers(plain, id))
    assert asked > 15


def of_task(task: str) -> tuple[Suite, Outputs]:
    """Ten cases of a task with the classes a, b, c, d, and a model that often takes one for the next."""
    classes = ("a", "b", "c", "d")
    cases: Rows = [{"case_id": str(i), "image_width": 40, "image_height": 40} for i in range(10)]
    boxes: Rows = [
        {"case_id": str(i), "annotation_id": 2 * i + k, "label": classes[(i + k) % 4], "x": 2.0 + 15 * k,
         "y": 3.0, "width": 12.0, "height": 10.0}
        for i in range(10) for k in (0, 1)
    ]  # fmt: skip
    made = [{"case_id": str(i), "model": "m"} for i in range(10)]
    if task == "classification":
        cases = [case | {"label": classes[i % 4]} for i, case in enumerate(cases)]
        cases = [{name: case[name] for name in ("case_id", "label")} for case in cases]
        scored = [
            row | {"label": label, "score": ((i + 3 * k) % 7 + 1) / 10}
            for i, row in enumerate(made) for k, label in enumerate(classes)
        ]  # fmt: skip
        return Suite.from_rows("s", "classification", cases, labels=classes), Outputs.from_rows(made, scored)
    scored = [
        {name: box[name] for name in ("case_id", "x", "y", "width", "height")}
        | {"model": "m", "label": classes[(place + place // 3) % 4], "score": (place % 9 + 1) / 10}
        for place, box in enumerate(boxes)
    ]
    if task == "segmentation":
        scored = [{name: value for name, value in row.items() if name != "score"} for row in scored]
    return Suite.from_rows("s", task, cases, boxes, classes), Outputs.from_rows(made, scored)  # type: ignore[arg-type]


def renamed(suite: Suite, outputs: Outputs, taken: dict[str, str]) -> tuple[Suite, Outputs]:
    """The same as files would have it in which the classes had the other names."""

    def rows(table: Any) -> Rows:
        found: Rows = table.to_pylist()
        return [row | {"label": taken.get(row["label"], row["label"])} for row in found]

    geometry = None if suite.annotations is None else rows(suite.annotations)
    labels = list(dict.fromkeys(taken.get(label, label) for label in suite.labels))
    own = Suite.from_rows(suite.name, suite.task, rows(suite.cases), geometry, labels)
    return own, Outputs.from_rows(outputs.outputs.to_pylist(), rows(outputs.predictions))


def test_what_images_lack_and_what_classes_are_goes_with_them() -> None:
    cases = [
        {"case_id": "1", "negative_labels": ["tabby"], "not_exhaustive_labels": ["tabby"]},
        {"case_id": "2", "negative_labels": ["tabby", "siamese", "dog"], "labels": ["tabby", "siamese"]},
    ]
    suite = Suite.from_rows("s", "detection", cases, [], ("siamese", "tabby", "dog", "pet"))
    facts = {"tabby": ClassFacts(parent="pet", is_thing=True), "dog": ClassFacts(parent="pet"), "pet": ClassFacts()}
    suite = replace(suite, classes=facts, category_ids=(7, 3, 9, 1))
    own, _, _ = merge_labels(["tabby=cat", "siamese=cat", "pet=animal"], suite, Outputs.from_rows([], []), "python")
    assert own.labels == ("cat", "dog", "animal")
    assert own.category_ids == (7, 9, 1)
    assert own.classes == {
        "cat": ClassFacts(parent="animal", is_thing=True), "dog": ClassFacts(parent="animal"), "animal": ClassFacts(),
    }  # fmt: skip
    assert own.cases["negative_labels"].to_pylist() == [[], ["cat", "dog"]]  # of the first nobody looked for siamese
    assert own.cases["not_exhaustive_labels"].to_pylist() == [["cat"], None]
    assert own.cases["labels"].to_pylist() == [None, ["cat"]]


def test_texts_are_classes_of_the_evaluators_that_read_them_as_such(tmp_path: Path) -> None:
    cases = [{"case_id": str(i), "question": "?", "expected_answers": [of]} for i, of in enumerate(("great", "bad"))]
    made = [{"case_id": str(i), "model": "m", "answer": of} for i, of in enumerate(("Good ", "awful"))]
    taken = {"great": "positive", "good": "positive", "bad": "negative", "awful": "negative"}
    names = ["classification_text", "exact_match"]
    asked: dict[str, Any] = {"label_map": taken, "parameters": {"classification_text": {"casefold": True}}}
    run = evaluated(tmp_path, cases, made, names, **asked)
    board = {id: numbers(run, id).query("model == 'm'")["value"].iloc[0] for id in names}
    assert board == {"classification_text": 1.0, "exact_match": 0.0}
    with pytest.raises(InputError, match="label_map: found exact_match; expected an evaluator of classes"):
        evaluated(tmp_path, cases, made, ["exact_match"], label_map=taken)


@pytest.mark.parametrize(("given", "told"), [
    ("wolf=dog", "label_map: found 'wolf'; expected one of bird, cat, dog"),
    ("dog", "label_map: found 'dog'; expected NAME=CLASS, or a .json or .csv file"),
    ("dog=", "label_map: found 'dog='; expected NAME=CLASS, or a .json or .csv file"),
    ("none.json", "none.json: found .* No such file"),
])  # fmt: skip
def test_what_is_no_label_map(tmp_path: Path, given: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        evaluated(tmp_path, *animals(), ["classification"], label_map=[given])


def test_a_file_of_names_is_read_but_not_for_a_visitor_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text(json.dumps(MAMMALS))
    suite, outputs = animals()
    assert merge_labels([str(file)], suite, outputs, "command")[0].labels == ("avian", "mammal")
    with pytest.raises(InputError, match=r"^Classes taken for another: found .*; expected NAME=CLASS$"):
        merge_labels([str(file)], suite, outputs, "page")
