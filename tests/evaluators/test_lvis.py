"""lvis_summary: against LVIS's definition, the lvis package's numbers, and what a user sees of it."""

from dataclasses import replace

import pytest

from metrics.core.evaluator import MATCHES
from metrics.evaluators.detection._federated import UNVERIFIED
from metrics.evaluators.detection.lvis_summary import NO_FREQUENCY
from tests.evaluators.detected import outputs_of, pick, run, suite_and_outputs, suite_of
from tests.evaluators.federated import federated_scene, federated_suite, lvis_numbers

# the numbers of lvis 0.5.3 for federated_scene(18) with 9 predictions per image
LVIS_18 = {
    "AP": 0.25876784107, "AP50": 0.348431271699, "AP75": 0.284653465347, "APs": 0.153465346535, "APm": 0.406329561528,
    "APl": 0.408745874587, "APr": 0.25876784107, "APc": None, "APf": None, "AR": 0.325, "ARs": 0.15,
    "ARm": 0.483333333333, "ARl": 0.425,
}  # fmt: skip


def test_lvis_gives_the_same_numbers():
    findings = run("lvis_summary", *federated_suite(*federated_scene(18)), max_dets=9)
    assert {name: pick(findings, name).value for name in LVIS_18} == pytest.approx(LVIS_18, abs=1e-11)


@pytest.mark.parametrize("most", [7, 300])
def test_numbers_equal_the_definition(most):
    for seed in range(100):
        scene, checked = federated_scene(seed + most)
        findings = run("lvis_summary", *federated_suite(scene, checked), max_dets=most)
        expected = lvis_numbers(scene, checked, most)
        assert {name: pick(findings, name).value for name in expected} == pytest.approx(expected, abs=1e-9), seed


@pytest.mark.parametrize("seed", [1, 2])
def test_findings_are_well_formed(seed):
    suite, outputs = federated_suite(*federated_scene(seed))
    findings = run("lvis_summary", suite, outputs, resamples=30)
    assert findings.matches.schema == MATCHES
    assert len(findings.matches) >= len(outputs.predictions)
    keys = [(entry.metric, entry.label) for entry in findings.aggregates]
    assert len(set(keys)) == len(keys)
    for entry in findings.aggregates:
        assert (entry.low is None) == (entry.reason is not None)
        assert entry.low is None or 0 <= entry.low <= entry.value <= entry.high <= 1


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


def test_without_lists_there_is_no_number():
    scene, _ = federated_scene(3)
    findings = run("lvis_summary", *suite_and_outputs(scene))
    assert {entry.value for entry in findings.aggregates} == {None}
    assert {entry.reason for entry in findings.aggregates} == {UNVERIFIED}


def test_without_frequencies_there_is_no_number_by_frequency():
    suite, outputs = federated_suite(*federated_scene(4))
    findings = run("lvis_summary", replace(suite, classes={}), outputs)
    assert pick(findings, "AP").value is not None
    assert [pick(findings, name).reason for name in ("APr", "APc", "APf")] == [NO_FREQUENCY] * 3
