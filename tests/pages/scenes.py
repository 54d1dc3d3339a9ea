"""Runs for the pages of curves, examples and reports: pictures with objects, and texts."""

from pathlib import Path

from PIL import Image

from metrics.store import Run, Workspace
from metrics.suite import Outputs, Suite
from tests.engine.scenes import finished

HOSTILE = "![x](http://127.0.0.1:9/x.png) <img src=x onerror=alert(1)>"


def objects_run(folder: Path, *more: str) -> Run:
    """Four pictures of a cat at (10, 10) and a dog at (60, 40); `keen` finds both and a false dog, `shy` the cat."""
    media = folder / "pictures"
    media.mkdir()
    cases, annotations, outputs, predictions = [], [], [], []
    for index in range(4):
        name = f"picture{index}.png"
        Image.new("RGB", (120, 90), (40 * index, 90, 120)).save(media / name)
        case = f"p{index}"
        cases.append({"case_id": case, "image": name, "image_width": 120, "image_height": 90})
        cat = {"case_id": case, "x": 10.0, "y": 10.0, "width": 30.0, "height": 20.0, "area": 600.0, "label": "cat"}
        dog = {"case_id": case, "x": 60.0, "y": 40.0, "width": 40.0, "height": 30.0, "area": 1200.0, "label": "dog"}
        annotations += [cat | {"annotation_id": 2 * index + 1}, dog | {"annotation_id": 2 * index + 2}]
        outputs += [{"case_id": case, "model": model} for model in ("keen", "shy")]
        ghost = {"case_id": case, "x": 80.0, "y": 5.0, "width": 10.0, "height": 10.0, "area": 100.0, "label": "dog"}
        predictions += [cat | {"model": "keen", "score": 0.9}, dog | {"model": "keen", "score": 0.6}]
        predictions += [ghost | {"model": "keen", "score": 0.3}, cat | {"model": "shy", "score": 0.8}]
    suite = Suite.from_rows("pictures", "detection", cases, annotations)
    suite = Suite(suite.name, suite.task, suite.cases, suite.annotations, suite.labels, media)
    chosen = ("detection_pr_curve", "average_precision", *more)
    return finished(Workspace(folder), suite, Outputs.from_rows(outputs, predictions), *chosen, name="Pictures")


def texts_run(folder: Path) -> Run:
    """Three questions with expected answers and contexts; `exact` repeats them, `hostile` answers in HTML."""
    cases = [
        {
            "case_id": f"t{index}", "question": f"What is {index} + 1?", "reference_contexts": [HOSTILE],
            "expected_answers": [f"It is {index + 1} indeed"],
        }
        for index in range(3)
    ]  # fmt: skip
    outputs = [
        {"case_id": f"t{index}", "model": model, "answer": answer, "retrieved_contexts": ["counting", HOSTILE]}
        for index in range(3)
        for model, answer in (("exact", f"It is {index + 1} indeed"), ("hostile", HOSTILE))
    ]
    chosen = ("rouge", "bleu")
    return finished(
        Workspace(folder), Suite.from_rows("sums", "text", cases), Outputs.from_rows(outputs), *chosen, name="Sums"
    )
