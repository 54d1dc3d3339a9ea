"""lvis_summary: against LVIS's definition, numbers of the lvis package, and what a user sees of it."""

from dataclasses import replace

import pytest

from metrics.evaluators.detection.lvis_summary import NO_FREQUENCY
from tests.evaluators.detected import outputs_of, pick, run, suite_of
from tests.evaluators.federated import (
    federated_masks,
    federated_scene,
    federated_suite,
    lvis_numbers,
    mask_scene,
    with_lists,
)
from tests.evaluators.test_detection_masks import tables
from tests.random_seeds import seeds

# the numbers of lvis 0.5.3 with 9 predictions per image: for federated_scene(21)
LVIS_BOXES = {
    "AP": 0.571782178218, "AP50": 0.72896039604, "AP75": 0.647277227723, "APs": 0.8, "APm": 0.579702970297,
    "APl": 0.566666666667, "APr": 0.434653465347, "APc": 0.513613861386, "APf": 0.825247524752, "AR": 0.633333333333,
    "ARs": 0.8, "ARm": 0.594444444444, "ARl": 0.566666666667,
}  # fmt: skip
# for federated_masks(55)
LVIS_MASKS = {
    "AP": 0.324092409241, "AP50": 0.395159515952, "AP75": 0.301650165017, "APs": 0.318481848185, "APm": 0.337871287129,
    "APl": 1.0, "APr": 0.433663366337, "APc": 0.50495049505, "APf": 0.033663366337, "AR": 0.533333333333, "ARs": 0.5,
    "ARm": 0.575, "ARl": 1.0,
}  # fmt: skip


def federated_mask_suite(seed):
    truth, results, checked = federated_masks(seed)
    suite, outputs = tables(truth, results)
    return with_lists(suite, checked), outputs


@pytest.mark.parametrize(("data", "known"), [
    (federated_suite(*federated_scene(21)), LVIS_BOXES), (federated_mask_suite(55), LVIS_MASKS),
], ids=["boxes", "masks"])  # fmt: skip
def test_lvis_gives_the_same_numbers(data, known):
    findings = run("lvis_summary", *data, max_dets=9)
    assert {name: pick(findings, name).value for name in known} == pytest.approx(known, abs=1e-11)


def test_numbers_equal_the_definition():
    """Of boxes and of masks in turn, with few and with many predictions of an image."""
    for seed in seeds(12, 320):
        most = (5, 300)[seed // 2 % 2]
        if seed % 2:
            truth, results, checked = federated_masks(seed)
            scene, data = mask_scene(truth, results), federated_mask_suite(seed)
        else:
            scene, checked = federated_scene(seed)
            data = federated_suite(scene, checked)
        findings, expected = run("lvis_summary", *data, max_dets=most), lvis_numbers(scene, checked, most)
        assert {name: pick(findings, name).value for name in expected} == pytest.approx(expected, abs=1e-9), seed


def test_matches_say_what_was_ignored():
    cat = ("a", "cat", 0, 0, 100, 100)
    away = ("a", "cat", 200, 0, 50, 50)
    dog, fox = ("a", "dog", 200, 0, 50, 50), ("a", "fox", 200, 0, 50, 50)
    suite, outputs = (
        suite_of(cat, cases="a"),
        outputs_of((*cat, 0.9), (*away, 0.8), (*dog, 0.7), (*fox, 0.6), cases="a"),
    )
    checked = suite.cases.set_column(
        suite.cases.schema.get_field_index("negative_labels"), suite.cases.schema.field("negative_labels"), [[["dog"]]]
    )
    kinds = run("lvis_summary", replace(suite, cases=checked), outputs).matches["kind"].to_pylist()
    assert kinds == ["tp", "fp_hallucination", "fp_hallucination", "ignored"]


def test_without_frequencies_there_is_no_number_by_frequency():
    suite, outputs = federated_suite(*federated_scene(4))
    findings = run("lvis_summary", replace(suite, classes={}), outputs)
    assert pick(findings, "AP").value is not None
    assert [pick(findings, name).reason for name in ("APr", "APc", "APf")] == [NO_FREQUENCY] * 3


def test_a_prediction_without_area_is_ignored():
    dog = ("a", "dog", 200, 0, 50, 50)
    suite, outputs = suite_of(dog, cases="a"), outputs_of(("a", "dog", 200, 0, 0, 50, 0.9), (*dog, 0.8), cases="a")
    findings = run("lvis_summary", with_lists(suite, [([], [])]), outputs)
    assert findings.matches["kind"].to_pylist() == ["ignored", "tp"]
    assert pick(findings, "AP").value == pytest.approx(1)
