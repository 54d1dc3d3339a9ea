"""open_images_ap: against the challenge's definition, and what users see of it."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS
from tests.evaluators.challenge import PARENTS, challenge_ap, challenge_scene
from tests.evaluators.detected import outputs_of, pick, run, suite_and_outputs, suite_of
from tests.random_seeds import seeds

FACTS = {label: ClassFacts(parent=parent) for label, parent in PARENTS.items()}
GROUP = ("a", "cat", 200, 0, 200, 100, {"is_crowd": True})


def with_lists(suite, lists):
    place = suite.cases.schema.get_field_index("negative_labels")
    return replace(suite, cases=suite.cases.set_column(place, "negative_labels", pa.array(lists, STRINGS)))


def challenge_suite(scene, lacking):
    suite, outputs = suite_and_outputs(scene)
    return with_lists(replace(suite, classes=FACTS), lacking), outputs


def test_numbers_equal_the_challenge():
    for seed in seeds(20, 200):
        iou = (0.5, 0.3)[seed % 2]
        scene, lacking = challenge_scene(seed)
        findings = run("open_images_ap", *challenge_suite(scene, lacking), iou_threshold=iou)
        expected = challenge_ap(scene, lacking, iou)
        values = {entry.label: entry.value for entry in findings.aggregates if entry.metric == "ap"}
        assert {label: value for label, value in values.items() if value is not None} == pytest.approx(expected), seed
        mean = np.mean(list(expected.values())) if expected else None
        assert pick(findings, "map").value == pytest.approx(mean)


def test_the_best_box_in_a_group_finds_it():
    outputs = outputs_of(
        ("a", "cat", 220, 0, 20, 50, 0.9), ("a", "cat", 300, 0, 20, 50, 0.8), ("a", "cat", 0, 0, 9, 9, 0.7), cases="a"
    )
    findings = run("open_images_ap", suite_of(GROUP, cases="a"), outputs)
    assert findings.matches["kind"].to_pylist() == ["tp", "ignored", "fp_hallucination"]
    assert pick(findings, "ap", "cat").value == pytest.approx(1)
    assert run("open_images_ap", suite_of(GROUP, cases="a"), outputs_of()).matches["kind"][0].as_py().startswith("fn")


def test_without_hierarchy_or_lists_objects_count_for_their_own_label():
    scene, _ = challenge_scene(4)
    suite, outputs = suite_and_outputs(scene)
    plain = run("open_images_ap", replace(suite, classes=FACTS), outputs, expand_hierarchy=False)
    assert plain.aggregates == run("open_images_ap", suite, outputs).aggregates
    assert dict(pick(plain, "map").columns)["checked"] == "all labels"
    assert pick(plain, "ap", "9").value is None


def test_an_object_counts_for_the_labels_above_it():
    truth = ("a", "1", 0, 0, 100, 100)
    outputs = outputs_of((*truth, 0.9), ("a", "9", 0, 0, 100, 100, 0.8), cases="a")
    findings = run("open_images_ap", replace(suite_of(truth, cases="a"), classes=FACTS), outputs)
    assert {label: pick(findings, "ap", label).value for label in ("1", "0", "9")} == pytest.approx(
        {"1": 1, "0": 0, "9": 1}
    )
    missed = findings.matches.to_pylist()[-1]
    assert (missed["label"], missed["annotation_id"], missed["kind"]) == ("0", 1, "fn_misclassification")
