"""calibration of detections: against a plain loop, over images, on scenes with crowds, ties and empty classes."""

import math
from typing import Any

import numpy as np
import pytest

from metrics.core.evaluator import Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from tests.evaluators.detected import outputs_of, pick, suite_and_outputs, suite_of
from tests.random_seeds import seeds
from tests.vision.coco_oracle import random_scene

CAT = ("a", "cat", 0, 0, 100, 100)
METRICS = ("expected_calibration_error", "maximum_calibration_error", "brier", "log_loss")
EPS = float(np.finfo(np.float64).eps)


def calibrated(suite: Suite, outputs: Outputs, **parameters: Any) -> Findings:
    entry = evaluators()["calibration"]
    return entry(suite, outputs, entry.parameters.model_validate(parameters))


def overlap(prediction: dict[str, Any], truth: dict[str, Any]) -> float:
    (x, y, w, h), (u, v, a, b) = prediction["box"], truth["box"]
    both = max(0.0, min(x + w, u + a) - max(x, u)) * max(0.0, min(y + h, v + b) - max(y, v))
    whole = w * h if truth["crowd"] else w * h + a * b - both
    return both / whole if whole else 0.0


def right_or_wrong(scene: Any, iou: float) -> list[tuple[float, bool]]:
    """(score, right) of every prediction that is not absorbed by a crowd, found one by one."""
    _, _, truths, predictions = scene
    taken, found = set[int](), []
    for row in sorted(predictions, key=lambda row: -row["score"]):
        alike = [(overlap(row, truth), index) for index, truth in enumerate(truths) if same(row, truth)]
        fits = [pair for pair in alike if pair[0] >= iou]
        free = [pair for pair in fits if pair[1] not in taken and not truths[pair[1]]["crowd"]]
        if free:
            taken.add(max(free)[1])
            found.append((row["score"], True))
        elif not any(truths[index]["crowd"] for _, index in fits):
            found.append((row["score"], False))
    return found


def same(row: dict[str, Any], truth: dict[str, Any]) -> bool:
    return bool((row["image"], row["label"]) == (truth["image"], truth["label"]))


def by_hand(pairs: list[tuple[float, bool]], bins: int) -> dict[str, float]:
    gaps, n = [], len(pairs)
    for place in range(bins):
        low, high = place / bins, (place + 1) / bins
        inside = [(p, r) for p, r in pairs if (low < p <= high) or (place == 0 and p == 0)]
        if inside:
            gap = abs(sum(r for _, r in inside) - sum(p for p, _ in inside)) / len(inside)
            gaps.append((len(inside), gap))
    log = [-math.log(min(1 - EPS, max(EPS, p if r else 1 - p))) for p, r in pairs]
    return {
        "expected_calibration_error": sum(many * gap for many, gap in gaps) / n,
        "maximum_calibration_error": max(gap for _, gap in gaps),
        "brier": sum((p - r) ** 2 for p, r in pairs) / n,
        "log_loss": sum(log) / n,
    }


@pytest.mark.parametrize("seed", seeds(24, 60))
def test_a_plain_loop_gives_the_same_numbers(seed: int) -> None:
    scene, iou, bins = random_scene(seed), (0.5, 0.35, 0.75)[seed % 3], (15, 4)[seed % 2]
    findings = calibrated(*suite_and_outputs(scene), iou_threshold=iou, bins=bins)
    pairs = right_or_wrong(scene, iou)
    if not pairs or all(truth["crowd"] for truth in scene[2]):
        assert all(pick(findings, name).value is None and pick(findings, name).reason for name in METRICS)
        return
    for name, value in by_hand(pairs, bins).items():
        row = pick(findings, name)
        assert row.value == pytest.approx(value, abs=1e-9), name
        assert (row.n, row.unscored) == (len(pairs), len(scene[3]) - len(pairs))
        assert row.columns == {"iou": iou}
    assert sum(findings.curves["n"].to_pylist()) == len(pairs)
    assert findings.matches["kind"].to_pylist().count("tp") == sum(right for _, right in pairs)


def test_a_bin_opens_exactly_its_predictions() -> None:
    scene = random_scene(3)
    findings = calibrated(*suite_and_outputs(scene))
    matches = findings.matches.to_pandas()
    matches = matches[matches["score"].notna() & (matches["kind"] != "ignored")]
    for row in findings.curves.to_pylist():
        inside = matches[(matches["score"] > row["bin_low"]) & (matches["score"] <= row["bin_high"])]
        inside = matches[matches["score"] <= row["bin_high"]] if row["bin_low"] == 0 else inside
        assert len(inside) == row["n"]
        if row["n"]:
            assert (inside["kind"] == "tp").mean() == pytest.approx(row["accuracy"])


def test_the_interval_draws_whole_images() -> None:
    """Eight predictions an image, all right or all wrong: as many clusters as images, not as predictions."""
    rng = np.random.default_rng(0)
    names = [chr(97 + image) for image in range(24)]
    right = {name: bool(rng.random() < 0.6) for name in names}
    truths = [(name, "cat", 200 * place, 0, 100, 100) for name in names for place in range(8)]
    shifted = [(*box[:3], 0 if right[box[0]] else 500, *box[4:]) for box in truths]
    scored = [(*box, float(rng.uniform(0.5, 0.9))) for box in shifted]
    findings = calibrated(suite_of(*truths, cases="".join(names)), outputs_of(*scored, cases="".join(names)))
    of_image = np.array([[(box[6] - right[name]) ** 2 for box in scored if box[0] == name] for name in names])
    draws = of_image.mean(axis=1)[rng.integers(0, len(names), (4_000, len(names)))].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    row = pick(findings, "brier")
    # 24 clusters: wider than plain percentiles
    assert (row.low, row.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))
    error = pick(findings, "expected_calibration_error")
    assert error.low <= error.value <= error.high
    as_one = calibrated(
        suite_of(*truths, cases="".join(names), groups="g" * len(names)), outputs_of(*scored, cases="".join(names))
    )
    assert all(pick(as_one, name).low is None for name in METRICS)


@pytest.mark.parametrize(("suite", "outputs", "reason"), [
    pytest.param(suite_of(), outputs_of((*CAT, 0.9)),
        "no ground truth counts: there is none, or only crowds or objects " "outside the area range",
        id="no ground truth"),
    pytest.param(suite_of(CAT), outputs_of(), "the model predicts nothing that counts", id="no predictions"),
    pytest.param(suite_of(CAT), outputs_of((*CAT, 3.5), (*CAT, 0.5)),
        "1 of 2 scores are not within 0 … 1: they are no probabilities", id="logits"),
])  # fmt: skip
def test_what_has_no_calibration_says_why(suite: Suite, outputs: Outputs, reason: str) -> None:
    findings = calibrated(suite, outputs)
    for name in METRICS:
        row = pick(findings, name)
        assert (row.value, row.low, row.n, row.reason) == (None, None, 0, reason)
