"""A run in Valor's JSON: by hand on a small scene, and value by value against the run's own tables."""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metrics.cli.main import main
from metrics.core.label_keys import keys_of
from metrics.core.suite import Outputs, Suite
from metrics.reports.renderers.bitmap_archive import bitmap_archive
from metrics.reports.renderers.valor_json import valor_json, valor_records
from metrics.store import Run, Workspace
from metrics.vision import rle
from tests.engine.engine_scenes import finished

CASES = {"case-1": "pet=cat", "case-2": "pet=cat", "case-3": "pet=dog"}
SCORES = {
    "case-1": {"pet=cat": 0.91, "pet=dog": 0.9}, "case-2": {"pet=cat": 0.3, "pet=dog": 0.7}, "case-3": {"pet=dog": 0.5},
}  # fmt: skip
AT_90 = "[10.0,90.0],[30.0,90.0],[30.0,110.0],[10.0,110.0],[10.0,90.0]"
SQUARE = {"x": 10.0, "y": 10.0, "width": 20.0, "height": 20.0}

NOT_VALORS = {"coco_ar", "mcc", "balanced_accuracy", "specificity", "npv", "roc_auc_ovo"}


def labels_run(workspace: Workspace, keyed: bool = True) -> Run:
    """Three pets, one model; where the labels are not keyed, `pet=cat` is a class like any other."""
    suite = Suite.from_rows(
        "pets", "classification", [{"case_id": case, "label": name} for case, name in CASES.items()]
    )
    suite = replace(suite, label_keys=keys_of(suite.labels) if keyed else ())
    outputs = Outputs.from_rows(
        [{"case_id": case, "model": "m"} for case in CASES],
        [
            {"case_id": case, "model": "m", "label": label, "score": score}
            for case, own in SCORES.items()
            for label, score in own.items()
        ],
    )
    parameters = {"classification_pr_curve_detailed": {"pr_curve_max_examples": 2}}
    names = ("classification", "roc_auc", "classification_pr_curve", "classification_pr_curve_detailed")
    return finished(workspace, suite, outputs, *names, parameters=parameters)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labels_run(Workspace(tmp_path_factory.mktemp("labels")))


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One image: a cat that is found, a dog that is taken for a cat, a fox that is missed; a dog where nothing is."""
    boxes = [("cat", SQUARE), ("dog", SQUARE | {"x": 50.0}), ("fox", SQUARE | {"x": 90.0})]
    truths = [{"case_id": "i", "annotation_id": place, "label": name, **box} for place, (name, box) in enumerate(boxes)]
    made = [("cat", boxes[0][1], 0.9), ("cat", boxes[1][1], 0.8), ("dog", SQUARE | {"y": 90.0}, 0.6)]
    suite = Suite.from_rows("zoo", "detection", [{"case_id": "i"}], truths)
    predictions = [{"case_id": "i", "model": "m", "label": name, "score": score, **box} for name, box, score in made]
    outputs = Outputs.from_rows([{"case_id": "i", "model": "m"}], predictions)
    names = (
        "average_precision", "average_recall", "detection_pr_curve", "detection_pr_curve_detailed",
        "detection_confusion",
    )  # fmt: skip
    parameters = {"detection_pr_curve": {"score_thresholds": [0.3 + 0.4000000000000001, 0.5]}}
    return finished(Workspace(tmp_path_factory.mktemp("objects")), suite, outputs, *names, parameters=parameters)


def the(records: list[dict[str, Any]], kind: str, label: str | None = None, **parameters: Any) -> Any:
    """The value of the only record of that type, label and parameters."""
    (found,) = (
        record["value"]
        for record in records
        if record["type"] == kind
        and record.get("label", {}).get("value") == label
        and parameters.items() <= record["parameters"].items()
    )
    return found


def test_numbers_of_labels_by_hand(labels: Run) -> None:
    found = valor_records(labels)
    assert (the(found, "Accuracy", label_key="pet"), the(found, "Precision", "dog")) == (pytest.approx(2 / 3), 0.5)
    assert the(found, "Recall", "cat") == 0.5
    assert the(found, "F1", label_key="pet", average="macro") == pytest.approx(2 / 3)
    assert the(found, "ROCAUC", "dog") == 0.0
    assert {record["label"]["key"] for record in found if "label" in record} == {"pet"}
    confusion = the(found, "ConfusionMatrix", label_key="pet")
    assert confusion == {"confusion_matrix": {"cat": {"cat": 1, "dog": 1}, "dog": {"dog": 1}}}


def test_curves_of_labels_have_true_negatives(labels: Run) -> None:
    curve = the(valor_records(labels), "PrecisionRecallCurve", label_key="pet", pr_curve_iou_threshold=None)
    assert (set(curve), len(curve["cat"])) == ({"cat", "dog"}, 19)
    assert curve["cat"]["0.5"] == {
        "tp": 1, "fp": 0, "fn": 1, "tn": 1, "precision": 1.0, "recall": 0.5, "f1_score": pytest.approx(2 / 3),
    }  # fmt: skip
    assert curve["dog"]["0.95"]["precision"] is None, "nothing is predicted there"
    detailed = the(valor_records(labels), "DetailedPrecisionRecallCurve", label_key="pet", pr_curve_max_examples=2)
    assert detailed["cat"]["0.5"] == {
        "tp": {"total": 1, "observations": {"all": {"count": 1, "examples": [["pets", "case-1"]]}}},
        "fp": {"total": 0, "observations": {"misclassifications": {"count": 0, "examples": []}}},
        "fn": {
            "total": 1,
            "observations": {
                "misclassifications": {"count": 1, "examples": [["pets", "case-2"]]},
                "no_predictions": {"count": 0, "examples": []},
            },
        },
        "tn": {"total": 1, "observations": {"all": {"count": 1, "examples": [["pets", "case-3"]]}}},
    }
    both = detailed["dog"]["0.7"]["fp"]["observations"]["misclassifications"]
    assert both == {"count": 2, "examples": [["pets", "case-1"], ["pets", "case-2"]]}


def test_numbers_and_curves_of_objects_by_hand(objects: Run) -> None:
    found = valor_records(objects)
    assert the(found, "AP", "cat", iou=0.5) == pytest.approx(1)
    assert the(found, "mAP", label_key="label", iou=0.5) == pytest.approx(1 / 3)
    assert the(found, "mAPAveragedOverIOUs", label_key="label") == pytest.approx(1 / 3)
    assert the(found, "AR", "fox", recall_score_threshold=0.0) == 0.0
    assert the(found, "mAR", label_key="label") == pytest.approx(1 / 3)
    curve = the(found, "PrecisionRecallCurve", pr_curve_iou_threshold=0.5)
    assert curve["cat"] == {
        "0.5": {"tp": 1, "fp": 1, "fn": 0, "precision": 0.5, "recall": 1.0, "f1_score": pytest.approx(2 / 3)},
        "0.7": {"tp": 1, "fp": 1, "fn": 0, "precision": 0.5, "recall": 1.0, "f1_score": pytest.approx(2 / 3)},
    }
    detailed = the(found, "DetailedPrecisionRecallCurve")
    kinds = detailed["cat"]["0.05"]["fp"]["observations"]
    assert {name: one["count"] for name, one in kinds.items()} == {"misclassifications": 1, "hallucinations": 0}
    assert detailed["dog"]["0.05"]["fp"]["observations"]["hallucinations"]["examples"] == [
        ["zoo", "i", f'{{"type":"Polygon","coordinates":[[{AT_90}]]}}']
    ]
    assert detailed["fox"]["0.05"]["fn"]["observations"]["no_predictions"]["count"] == 1
    assert detailed["dog"]["0.05"]["fn"]["observations"]["misclassifications"]["count"] == 1
    assert "tn" not in detailed["cat"]["0.05"]
    assert the(found, "ConfusionMatrix", iou_threshold=0.5) == {
        "confusion_matrix": {"cat": {"cat": 1}, "dog": {"cat": 1}},
        "hallucinations": {"dog": 1},
        "missing_predictions": {"fox": 1},
    }


@pytest.mark.parametrize("geometry", ["auto", "box", "mask", "polygon"])
def test_an_example_has_the_outline_of_its_mask(tmp_path: Path, geometry: str) -> None:
    """The same GeoJSON as the archive of bitmaps has of the object, whatever is compared."""
    rows, columns = np.indices((6, 8))
    stairs = [rle.encode(mask_runs(mask)) for mask in (rows + columns <= 5, rows + columns >= 5)]
    box = {"x": 0.0, "y": 0.0, "width": 6.0, "height": 6.0}
    shapes = [{"label": "lower", "rle": stairs[0]} | box, {"label": "upper", "rle": stairs[1]}]
    cases = [{"case_id": "j"}, {"case_id": "i", "image_height": 6, "image_width": 8}]
    truths = [{"case_id": "i", "annotation_id": place, **shape} for place, shape in enumerate(shapes)]
    suite = Suite.from_rows("stairs", "detection", cases, truths)
    made = [{"case_id": "i", "model": "m", "score": 0.5, **shape} for shape in shapes]
    outputs = Outputs.from_rows([{"case_id": case, "model": "m"} for case in "ij"], made)
    name = "detection_pr_curve_detailed"
    run = finished(Workspace(tmp_path), suite, outputs, name, parameters={name: {"geometry": geometry}})
    with zipfile.ZipFile(io.BytesIO(bitmap_archive(run))) as archive:
        lines = [json.loads(line) for line in archive.read("objects.jsonl").splitlines()]
    detailed = the(valor_records(run), "DetailedPrecisionRecallCurve")
    for about in lines:
        ((*place, shape),) = detailed[about["label"]]["0.05"]["tp"]["observations"]["all"]["examples"]
        assert (place, json.loads(shape)) == (["stairs", "i"], about["geojson"])
        assert shape.count("[") > 12, "a staircase, no box"


def mask_runs(mask: Any) -> list[int]:
    edges = np.flatnonzero(np.diff(mask.T.ravel().astype(int), prepend=0))
    return np.diff(edges, prepend=0, append=mask.size).tolist()


def numbers(value: Any) -> Iterator[float]:
    """Every number in a nested value, null as −1, without counts of examples."""
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers(one)
    elif value is None or isinstance(value, int | float):
        yield -1.0 if value is None else float(value)


@pytest.mark.parametrize("which", ["labels", "objects"])
def test_every_number_is_one_of_the_runs_tables(which: str, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(which)
    found = valor_records(run)
    rows = run.table("aggregates")
    rows = rows[rows["run"].isna() & rows["slice"].isna()]
    known = [
        name for name in ("classification", "roc_auc", "average_precision", "average_recall") if name in run.evaluators
    ]
    own = rows[rows["evaluator"].isin(known) & ~rows["metric"].isin(NOT_VALORS)]["value"].fillna(-1)
    flat = [record for record in found if not isinstance(record["value"], dict)]
    assert sorted(-1.0 if record["value"] is None else record["value"] for record in flat) == sorted(own)
    for name in run.curve_names():
        frame = run.curves(name)
        if "precision" in frame and "threshold" in frame:
            (curve,) = (record["value"] for record in found if record["type"] == "PrecisionRecallCurve")
            columns = [
                name for name in ("tp", "fp", "fn", "tn", "precision", "recall", "f1") if frame[name].notna().any()
            ]
            stored = pd.concat([frame[column] for column in columns]).astype(float).fillna(-1)
            assert sorted(numbers(curve)) == pytest.approx(sorted(stored))
        if "examples" in frame:
            (curve,) = (record["value"] for record in found if record["type"] == "DetailedPrecisionRecallCurve")
            counts = [
                one["count"]
                for points in curve.values()
                for at in points.values()
                for entry in at.values()
                for one in entry["observations"].values()
            ]
            assert sorted(counts) == sorted(frame["count"])
            totals = sum(entry["total"] for points in curve.values() for at in points.values() for entry in at.values())
            assert totals == frame["count"].sum()


def test_labels_that_only_look_keyed_stay_whole(tmp_path: Path) -> None:
    found = valor_records(labels_run(Workspace(tmp_path), keyed=False))
    assert the(found, "Precision", "pet=dog") == 0.5
    assert the(found, "Accuracy", label_key="label") == pytest.approx(2 / 3)


def test_texts_have_a_record_for_each_answer(tmp_path: Path) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "expected_answers": ["the cat sat on the mat"]}])
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m", "answer": "the cat sat on the hat"}])
    run = finished(Workspace(tmp_path), suite, outputs, "rouge", "bleu", parameters={"bleu": {"weights": [0.5, 0.5]}})
    found = valor_records(run)
    at = {"model": "m", "dataset": "s", "datum_uid": "1", "run": 1}
    assert the(found, "ROUGE", use_stemmer=False, **at)["rouge1"] == pytest.approx(5 / 6)
    assert the(found, "BLEU", weights=[0.5, 0.5], **at) == pytest.approx((5 / 6 * 4 / 5) ** 0.5)


def test_the_command_writes_it_as_json_alone(objects: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "valor.json"
    place = ["--workspace", str(objects.workspace.path)]
    assert main(["export", objects.id, "--what", "valor", "-o", str(file), *place]) == 0
    assert json.loads(file.read_bytes()) == json.loads(valor_json(objects))
    assert main(["export", objects.id, "--what", "valor", "--format", "csv", *place]) == 2
    assert "format of valor: found csv; expected none: it is always json" in capsys.readouterr().err
