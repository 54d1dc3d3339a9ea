"""What objects say about a detector: boxes shifted to one side, and pairs of classes that are confused."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import insights
from metrics.analysis.findings.object_insights import costliest_pair, shifts
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished

IMAGES, SIDE = 24, 100.0
LABELS = ["cow", "horse", "dog"]


def evaluated(
    shift: dict[str, float], swap: dict[str, list[str]] | None = None, noise: float = 0.02, seed: int = 3,
    evaluators: Sequence[str] = ("coco_summary",), silent: str = "",
) -> Run:  # fmt: skip
    """One box of 100 × 100 an image; each model's lies `shift` of its width to the right, of classes in `swap`.

    The model `silent` has none in the first image.
    """
    rng = np.random.default_rng(seed)
    ids = [f"i{place}" for place in range(IMAGES)]
    truth = [LABELS[place % 3] for place in range(IMAGES)]
    cases = [{"case_id": id, "image_width": 400, "image_height": 400} for id in ids]
    box = {"x": 100.0, "y": 100.0, "width": SIDE, "height": SIDE}
    annotations = [
        {"case_id": id, "annotation_id": place, "label": label, **box}
        for place, (id, label) in enumerate(zip(ids, truth, strict=True))
    ]
    answers, predictions = [], []
    for model, off in shift.items():
        swapped = (swap or {}).get(model, [])
        for id, label in zip(ids, truth, strict=True):
            answers.append({"case_id": id, "model": model})
            if (model, id) == (silent, "i0"):
                continue
            said = swapped[1 - swapped.index(label)] if label in swapped else label
            x = 100.0 + SIDE * (off + rng.normal(0, noise))
            predictions.append(
                answers[-1]
                | box
                | {"prediction_id": len(predictions), "x": x, "label": said, "score": float(rng.uniform(0.5, 1))}
            )
    suite = Suite.from_rows("barn", "detection", cases, annotations, labels=LABELS)
    return finished(Workspace(), suite, Outputs.from_rows(answers, predictions), *evaluators)


def test_a_shift_of_all_boxes_is_measured_and_said_of_the_model_that_has_it(workspace: Path) -> None:
    run = evaluated({"even": 0.0, "off": 0.2})
    right, *others = shifts(run, "coco_summary", "off")
    assert (right.words, right.boxes, right.images) == ("to the right", IMAGES, IMAGES)
    assert right.low < 0.2 < right.high
    assert right.value == pytest.approx(0.2, abs=0.02)
    assert all(abs(one.value) < 1e-9 for one in others)
    (said,) = insights(run).query("kind == 'shifted_boxes'").to_dict("records")
    assert said["model"] == "off"
    assert said["message"].startswith("off: AP50 1.00, AP75 0.00: boxes lie 20 % to the right")
    assert len(said["case_ids"]) == said["affected"] == IMAGES


def test_images_without_predictions_are_said(workspace: Path) -> None:
    """A detector may find nothing in an image, so it is a sentence, whatever the share of them."""
    found = insights(evaluated({"whole": 0.0, "part": 0.0}, silent="part"))
    (said,) = found.query("kind == 'silent_images'").to_dict("records")
    assert said["message"] == f"part has no predictions on 1 of {IMAGES} images"


def test_random_errors_of_boxes_are_no_shift(workspace: Path) -> None:
    said = insights(evaluated({"one": 0.0, "two": 0.0}, noise=0.08))
    assert not (said["kind"] == "shifted_boxes").any()


def test_the_pair_that_costs_most_is_computed_again(workspace: Path) -> None:
    """Cow and horse are exchanged: with AP50 of 1 in dogs alone two thirds are gained."""
    run = evaluated({"even": 0.0, "mixed": 0.0}, {"mixed": ["cow", "horse"]})
    assert costliest_pair(run, "coco_summary", "even") is None
    pair = costliest_pair(run, "coco_summary", "mixed")
    assert pair is not None
    assert (pair.classes, pair.boxes, len(pair.positions)) == (("cow", "horse"), 16, 16)
    assert (pair.gain, pair.gain_of_all) == pytest.approx((2 / 3, 2 / 3))
    (said,) = insights(run).query("kind == 'confused_classes'").to_dict("records")
    assert said["message"] == "mixed: +0.667 AP50 if cow/horse were right: open these 16"
    assert len(said["case_ids"]) == 16


def test_the_confused_classes_of_a_classifier(workspace: Path) -> None:
    labels = ["ham", "spam", "news"] * 10
    cases = [{"case_id": f"c{place:02}", "label": label} for place, label in enumerate(labels)]
    answers = [{"case_id": case["case_id"], "model": "m"} for case in cases]
    said = ["spam" if label == "ham" and place < 12 else label for place, label in enumerate(labels)]
    predictions = [row | {"label": label, "score": 1.0} for row, label in zip(answers, said, strict=True)]
    suite = Suite.from_rows("mail", "classification", cases, labels=["ham", "spam", "news"])
    run = finished(Workspace(), suite, Outputs.from_rows(answers, predictions), "classification")
    (found,) = insights(run).query("kind == 'confused_classes'").to_dict("records")
    assert found["message"] == "m: +0.133 accuracy if ham/spam were right: open these 4"
    assert found["case_ids"] == ["c00", "c03", "c06", "c09"]


def test_text_has_no_objects(workspace: Path) -> None:
    kinds = set(insights(scored_run({"faithfulness": {"a": [0.5] * 10}}))["kind"])
    assert not kinds & {"shifted_boxes", "confused_classes"}
