"""Labels with keys: each key is evaluated as if it stood alone; against scikit-learn and pycocotools key by key."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support, roc_auc_score

from metrics.core.evaluator import Aggregate, Findings
from metrics.core.label_keys import find, keys_of, labels_of, part_of_key, split_label
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from tests.evaluators.detected import suite_and_outputs
from tests.vision.coco_oracle import coco_eval, random_scene

KEYS = {"breed": ("husky", "poodle", "pug"), "colour": ("black", "red")}
LABELS = tuple(f"{key}={value}" for key, values in KEYS.items() for value in values)
CASES = 60


def test_a_label_splits_at_its_first_sign_and_all_have_keys_or_none():
    assert split_label("colour=red") == ("colour", "red")
    assert split_label(" colour=dark red ") == ("colour", "dark red")
    assert split_label("formula=a=b") == ("formula", "a=b")
    for plain in ("red", "=red", "colour=", ";=red", ""):
        assert split_label(plain) == ("", plain)
    assert labels_of("breed=pug; colour=red") == ("breed=pug", "colour=red")
    assert labels_of("breed=pug; red") == ("breed=pug; red",)
    assert keys_of(LABELS) == ("breed", "colour")
    assert keys_of([*LABELS, "red"]) == ()
    assert keys_of([]) == ()


def dogs(seed: int = 0) -> tuple[Suite, Outputs, dict[str, Any]]:
    """A suite of dogs, one model's scores of every label, and both as arrays; every seventh has no colour."""
    draw = np.random.default_rng(seed)
    truths = {key: draw.integers(len(values), size=CASES) for key, values in KEYS.items()}
    scores = {key: draw.dirichlet(np.ones(len(values)), CASES).round(3) for key, values in KEYS.items()}
    cases, rows = [], []
    for case in range(CASES):
        own = [key for key in KEYS if key == "breed" or case % 7]
        text = "; ".join(f"{key}={KEYS[key][truths[key][case]]}" for key in own)
        cases.append({"case_id": str(case), "label": text})
        rows += [
            {"case_id": str(case), "model": "m", "label": f"{key}={value}", "score": float(scores[key][case, place])}
            for key, values in KEYS.items()
            for place, value in enumerate(values)
        ]
    suite = replace(Suite.from_rows("dogs", "classification", cases, labels=LABELS), label_keys=tuple(KEYS))
    outputs = Outputs.from_rows([{"case_id": str(case), "model": "m"} for case in range(CASES)], rows)
    return suite, outputs, {"truths": truths, "scores": scores}


def found(evaluator: str, suite: Suite, outputs: Outputs, **parameters: Any) -> Findings:
    entry = evaluators()[evaluator]
    return find(entry, suite, outputs, entry.parameters.model_validate({"resamples": 0, **parameters}), {})


def number(findings: Findings, metric: str, label: str | None = None, **columns: Any) -> float | None:
    (row,) = (
        row
        for row in findings.aggregates
        if (row.metric, row.label) == (metric, label) and columns.items() <= dict(row.columns).items()
    )
    return row.value


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("seed", range(5))
def test_classification_equals_scikit_learn_key_by_key(key, seed):
    suite, outputs, arrays = dogs(seed)
    there = np.array([key == "breed" or case % 7 != 0 for case in range(CASES)])
    truth, scores = arrays["truths"][key][there], arrays["scores"][key][there]
    guess, size = scores.argmax(axis=1), len(KEYS[key])
    rates = found("classification", suite, outputs)
    assert number(rates, "accuracy", key=key) == pytest.approx(accuracy_score(truth, guess))
    expected = precision_recall_fscore_support(truth, guess, labels=range(size), zero_division=np.nan)
    for place, value in enumerate(KEYS[key]):
        for metric, values in zip(("precision", "recall", "f1"), expected, strict=False):
            own = number(rates, metric, f"{key}={value}", key=key)
            assert np.nan_to_num(np.nan if own is None else own, nan=-1) == pytest.approx(
                np.nan_to_num(values[place], nan=-1)
            )
    areas = [roc_auc_score(truth == place, scores[:, place]) for place in range(size)]
    auc = found("roc_auc", suite, outputs)
    assert [number(auc, "roc_auc", f"{key}={value}", key=key) for value in KEYS[key]] == pytest.approx(areas)
    assert number(auc, "roc_auc", None, key=key) == pytest.approx(np.mean(areas))


def test_a_case_has_the_mean_of_its_keys():
    suite, outputs, arrays = dogs()
    right = {key: arrays["scores"][key].argmax(axis=1) == arrays["truths"][key] for key in KEYS}
    scores = found("classification", suite, outputs).cases
    assert scores["1"].values["accuracy"] == (right["breed"][1] + right["colour"][1]) / 2
    assert scores["7"].values["accuracy"] == right["breed"][7], "it has no colour"
    assert len(scores) == CASES


@pytest.mark.parametrize("seed", range(6))
def test_detection_equals_pycocotools_key_by_key(seed):
    """Of a random scene the labels are dealt to two keys; pycocotools gets each key's objects alone."""
    images, classes, truths, predictions = random_scene(seed)
    names = [f"{'class' if label % 2 else 'colour'}={label}" for label in range(classes)]
    plain, made = suite_and_outputs((images, classes, truths, predictions))
    suite, outputs = (
        replace(plain, annotations=renamed(plain.annotations, names), labels=tuple(names), label_keys=keys_of(names)),
        replace(made, predictions=renamed(made.predictions, names)),
    )
    summary, recall = (found(name, suite, outputs) for name in ("coco_summary", "average_recall"))
    for key in suite.label_keys:
        codes = [label for label in range(classes) if names[label].startswith(key + "=")]
        own = [
            [row | {"label": codes.index(row["label"])} for row in rows if row["label"] in codes]
            for rows in (truths, predictions)
        ]
        expected = coco_eval(images, len(codes), *own, np.arange(0.5, 1, 0.05), [(0, 1e10)], [1, 10, 100]).eval
        for metric, values, findings in (
            ("AP", expected["precision"][:, :, :, 0, 2], summary),
            ("mar", expected["recall"][:, :, 0, 2], recall),
        ):
            known = values[values > -1]
            value = number(findings, metric, None, key=key)
            assert value == (pytest.approx(known.mean(), abs=1e-9) if known.size else None)


def renamed(table: Any, names: list[str]) -> Any:
    """The table with the labels "0", "1", … called `names`."""
    labels = [names[int(label)] for label in table["label"].to_pylist()]
    return table.set_column(table.column_names.index("label"), "label", pa.array(labels, pa.string()))


@pytest.mark.parametrize(
    "evaluator",
    [entry.id for entry in evaluators().values() if entry.shape == "dataset" and "classification" in entry.tasks],
)
def test_every_evaluator_of_labels_finds_in_a_key_what_it_finds_in_the_key_alone(evaluator):
    suite, outputs, _ = dogs()
    joined = found(evaluator, suite, outputs, resamples=20)
    assert joined.aggregates
    for key in KEYS:
        alone = found(evaluator, *part_of_key(suite, outputs, key), resamples=20)
        own = [row for row in joined.aggregates if row.columns["key"] == key]
        assert [replace(row, columns=without(row)) for row in own] == list(alone.aggregates)
        if alone.curves is not None:
            assert joined.curves is not None
            rows = [row for row in joined.curves.to_pylist() if row.pop("key") == key]
            assert rows == alone.curves.to_pylist()


def without(row: Aggregate) -> dict[str, Any]:
    return {name: value for name, value in row.columns.items() if name != "key"}


def test_without_keys_nothing_changes():
    """The same labels in a suite that does not declare keys are classes like any other."""
    suite, outputs, _ = dogs()
    plain = replace(suite, label_keys=())
    assert plain.fingerprint != suite.fingerprint
    findings = found("roc_auc", plain, outputs)
    assert not any("key" in row.columns for row in findings.aggregates)
    assert findings.curves is not None
    assert "key" not in findings.curves.column_names


def test_segmentation_maps_each_key_by_itself():
    """Truth: class a left, b right, all of it red. Predicted: class a and red everywhere."""
    left, right, whole = (
        {"x": x, "y": 0.0, "width": wide, "height": 2.0} for x, wide in ((0.0, 2.0), (2.0, 2.0), (0.0, 4.0))
    )
    truths = [("class=a", left), ("class=b", right), ("colour=red", whole)]
    annotations = [
        {"case_id": "i", "annotation_id": place, "label": name, **box} for place, (name, box) in enumerate(truths)
    ]
    suite = Suite.from_rows("s", "segmentation", [{"case_id": "i", "image_height": 2, "image_width": 4}], annotations)
    suite = replace(suite, label_keys=keys_of(suite.labels))
    made = [{"case_id": "i", "model": "m", "label": name, **whole} for name in ("class=a", "colour=red")]
    findings = found("segmentation_iou", suite, Outputs.from_rows([{"case_id": "i", "model": "m"}], made))
    assert number(findings, "iou", "class=a", key="class") == 0.5
    assert number(findings, "iou", "class=b", key="class") == 0.0
    assert number(findings, "miou", None, key="class") == 0.25
    assert number(findings, "miou", None, key="colour") == 1.0
    assert findings.cases["i"].values["image_miou"] == (0.25 + 1.0) / 2
