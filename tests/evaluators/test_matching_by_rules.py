"""Confusion and errors by the rules of another evaluator: they find what that evaluator finds."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.core.evaluator import Findings
from metrics.core.suite import Outputs, Suite
from tests.evaluators import test_keypoints
from tests.evaluators.challenge import challenge_scene
from tests.evaluators.detected import outputs_of, pick, run, suite_and_outputs, suite_of
from tests.evaluators.federated import federated_scene, federated_suite
from tests.random_seeds import seeds
from tests.vision.keypoint_oracle import random_poses


def families(findings: Findings) -> Counter[str]:
    """How many objects there are of each family: tp, fp, fn, ignored."""
    return Counter(kind.partition("_")[0] for kind in findings.matches["kind"].to_pylist())


def poses(seed: int) -> tuple[Suite, Outputs]:
    suite, outputs = test_keypoints.suite_and_outputs(random_poses(np.random.default_rng(seed), images=6))
    return replace(suite, classes={"person": ClassFacts()}), outputs


def test_poses_are_confused_and_mistaken_as_they_match() -> None:
    """By OKS, the truths without labelled key points and crowds left aside; of one class, so that all must agree."""
    found = Counter[str]()
    for seed in seeds(12, 30):
        suite, outputs = poses(seed)
        summary = run("keypoint_summary", suite, outputs, max_dets=100)
        confusion = run("detection_confusion", suite, outputs, matching="keypoint_summary", score_threshold=0.0)
        errors = run("error_breakdown", suite, outputs, matching="keypoint_summary")
        assert families(confusion) == families(errors) == families(summary)
        assert pick(errors, "ap").value == pytest.approx(pick(summary, "AP50").value)
        found += families(summary)
    assert min(found[family] for family in ("tp", "fp", "fn", "ignored")) > 2 / 3 * (seed + 1)


def test_what_has_key_points_alone_has_the_box_around_them() -> None:
    suite, outputs = poses(1)
    boxed = run("detection_confusion", suite, outputs, score_threshold=0.0)
    assert families(boxed)["tp"] > 0
    rows = [row | {"keypoints": (row["keypoints"] or [])[:-1]} for row in outputs.predictions.to_pylist()]
    broken = Outputs.from_rows([{"case_id": "1", "model": "m"}], rows)
    with pytest.raises(InputError, match="expected a finite number of pixels"):
        run("detection_confusion", suite, broken)


def test_lvis_errors_are_those_of_its_matching() -> None:
    """What an image was not checked for is no error, and no hallucination."""
    spared = 0
    for seed in seeds(12, 30):
        suite, outputs = federated_suite(*federated_scene(seed))
        summary = run("lvis_summary", suite, outputs)
        errors = run("error_breakdown", suite, outputs, matching="lvis_summary", max_dets=300)
        assert pick(errors, "ap").value == pytest.approx(pick(summary, "AP50").value)
        assert families(errors) == families(summary)
        plain = families(run("detection_confusion", suite, outputs, score_threshold=0.0))
        own = families(run("detection_confusion", suite, outputs, matching="lvis_summary", score_threshold=0.0))
        assert (own["tp"], own["fn"]) == (plain["tp"], plain["fn"])
        assert own["fp"] + own["ignored"] == plain["fp"] + plain["ignored"]
        spared += own["ignored"] - plain["ignored"]
    assert spared > 5 / 3 * (seed + 1)


def test_difficult_objects_are_neither_found_nor_missed() -> None:
    cat, hard = ("a", "cat", 0, 0, 50, 50), ("a", "cat", 100, 0, 50, 50)
    suite = suite_of(cat, hard, cases="a")
    place = suite.annotations.schema.get_field_index("difficult")
    field = suite.annotations.schema.field("difficult")
    suite = replace(suite, annotations=suite.annotations.set_column(place, field, [[False, True]]))
    outputs = outputs_of((*cat, 0.9), (*hard, 0.8), cases="a")
    for evaluator in ("detection_confusion", "error_breakdown"):
        assert families(run(evaluator, suite, outputs)) == {"tp": 2}
        assert families(run(evaluator, suite, outputs, matching="voc_ap")) == {"tp": 1, "ignored": 1}


def test_open_images_errors_are_of_each_class_for_itself() -> None:
    """Groups are found by one box inside them, the others are ignored; nothing is expanded to the classes above."""
    for seed in seeds(10, 20):
        scene, lacking = challenge_scene(seed)
        suite, outputs = suite_and_outputs(scene)
        del lacking
        challenge = run("open_images_ap", suite, outputs, expand_hierarchy=False)
        errors = run("error_breakdown", suite, outputs, matching="open_images_ap", max_dets=10_000)
        assert families(errors) == families(challenge)
