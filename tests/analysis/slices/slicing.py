"""A run with a planted bad slice, and one of noise alone, for the tests and benchmarks of slices."""

from pathlib import Path

import numpy as np

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

TAGS = ("table", "list", "text", "code")
KINDS = ("factual", "causal", "numeric", "when", "who")
PLANTED, USUAL, BAD = 60, 0.78, 0.41  # cases of the planted slice, share right elsewhere, share right in it


def answered(size: int, seed: int, bad: float | None = BAD) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Cases of four tags and five kinds, answers with 1 to 5 contexts, right USUAL of the time, and in PLANTED cases
    tagged `table` with more than 3 contexts `bad` of the time (None: as elsewhere).
    """
    rng = np.random.default_rng(seed)
    tag, contexts = rng.integers(0, len(TAGS), size), rng.integers(1, 6, size)
    kind, words = rng.integers(0, len(KINDS), size), rng.integers(3, 30, size)
    # exactly PLANTED cases are both
    both = np.flatnonzero((tag == 0) & (contexts > 3))
    if len(both) > PLANTED:
        contexts[both[PLANTED:]] = rng.integers(1, 4, len(both) - PLANTED)
    hit = np.zeros(size, bool)
    hit[both[:PLANTED]] = True
    share = np.where(hit & (bad is not None), bad if bad is not None else USUAL, USUAL)
    right = rng.random(size) < share
    cases, outputs = [], []
    for place in range(size):
        case = {
            "case_id": f"c{place}", "question": "word " * int(words[place]), "expected_answers": ["yes"],
            "tags": [TAGS[tag[place]]], "metadata.kind": KINDS[kind[place]],
        }  # fmt: skip
        cases.append(case)
        output = {"case_id": f"c{place}", "model": "m", "answer": "yes" if right[place] else "nay"}
        outputs.append(output | {"retrieved_contexts": ["a b"] * int(contexts[place])})
    return cases, outputs


def sliced_run(folder: Path, size: int = 2_000, seed: int = 0, bad: float | None = BAD) -> Run:
    """A sealed run of such cases, evaluated by the accuracy of classification_text."""
    cases, outputs = answered(size, seed, bad)
    suite = Suite.from_rows("planted", "text", cases)
    return finished(Workspace(folder), suite, Outputs.from_rows(outputs), "classification_text", name="Planted")


def pair_run(folder: Path, size: int = 800) -> Run:
    """A run of such a model and of `base`, which answers as it does but is right in the planted slice."""
    cases, outputs = answered(size, seed=0)
    rows, base = zip(cases, outputs, strict=True), []
    for case, own in rows:
        is_planted = case["tags"] == ["table"] and own["retrieved_contexts"][3:]
        base.append({**own, "model": "base", "answer": "yes" if is_planted else own["answer"]})
    suite = Suite.from_rows("pair", "text", cases)
    return finished(Workspace(folder), suite, Outputs.from_rows([*outputs, *base]), "classification_text", name="Pair")


def pictures_run(folder: Path, size: int = 150, seed: int = 0) -> Run:
    """Images with a cat, a dog and an owl each, small or large; `m` finds nine of ten, but one of four small dogs."""
    rng = np.random.default_rng(seed)
    cases, annotations, outputs, predictions = [], [], [], []
    for place in range(size):
        case = f"p{place}"
        night = ["night"] if place % 3 == 0 else ["day"]
        cases.append({"case_id": case, "image_width": 640, "image_height": 480, "tags": night})
        outputs.append({"case_id": case, "model": "m"})
        for column, label in enumerate(("cat", "dog", "owl")):
            side = 20.0 if rng.random() < 0.5 else 100.0
            box = {"case_id": case, "label": label, "x": 150.0 * column, "y": 10.0, "width": side, "height": side}
            annotations.append(box | {"area": side**2, "annotation_id": 3 * place + column + 1})
            if rng.random() < (0.25 if label == "dog" and side < 50 else 0.9):
                predictions.append(box | {"area": side**2, "model": "m", "score": 0.9})
    suite = Suite.from_rows("pictures", "detection", cases, annotations)
    return finished(
        Workspace(folder), suite, Outputs.from_rows(outputs, predictions), "detection_pr_curve", name="Pictures"
    )
