"""The operating point of a run: its default, and what it counts, beside pycocotools and the stored confusion matrix."""

import sys
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import (
    ObjectFilter,
    OperatingPoint,
    best_point,
    confusion_at,
    object_counts,
    operating_point,
)
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.store.reviews import Review
from tests.engine.engine_scenes import finished
from tests.evaluators.detected import numbered, suite_and_outputs
from tests.vision.coco_oracle import coco_eval, random_scene

SEEDS = (2, 3, 8, 11)
CURVE = "detection_pr_curve"
INDEX = sys.modules["metrics.analysis.objects.object_index"]  # metrics.analysis.objects is also a function


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Run]:
    """Random scenes with crowds, ties and labels without ground truth."""
    folder = tmp_path_factory.mktemp("points")
    made = {}
    for seed in SEEDS:
        suite, outputs = suite_and_outputs(random_scene(seed))
        made[seed] = finished(
            Workspace(folder), numbered(suite), outputs, CURVE, "detection_confusion", "error_breakdown",
            parameters={"detection_confusion": {"score_threshold": 0.3, "iou_threshold": 0.6}},
        )  # fmt: skip
    return made


def counts_of(run: Run, model: str, score: float, iou: float = 0.5) -> tuple[int, ...]:
    """Return true positives, false positives and misses, as the gallery counts them."""
    kinds = object_counts(run, CURVE, ObjectFilter(model, score_low=score, iou=iou))["kind"]
    return tuple(sum(n for kind, n in kinds.items() if kind.startswith(family)) for family in ("tp", "fp", "fn"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("point", [(0.0, 0.5), (0.4, 0.5), (0.3, 0.75), (0.6, 0.35), (0.2, 0.95)])
def test_counts_are_those_of_pycocotools(runs: dict[int, Run], seed: int, point: tuple[float, float]) -> None:
    score, iou = point
    images, classes, truths, predictions = random_scene(seed)
    kept = [row for row in predictions if row["score"] >= score]
    found = coco_eval(images, classes, truths, kept, [iou], [(0.0, 1e10)], [len(predictions) + 1])
    tp = fp = fn = 0
    for each in found.evalImgs:
        if each is not None:
            counted = ~np.asarray(each["dtIgnore"], bool)
            hit = np.asarray(each["dtMatches"]) > 0
            tp, fp = tp + int((hit & counted).sum()), fp + int((~hit & counted).sum())
            there = ~np.asarray(each["gtIgnore"], bool)
            fn += int((there & (np.asarray(each["gtMatches"])[0] == 0)).sum())
    assert counts_of(runs[seed], "m", score, iou) == (tp, fp, fn)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_confusion_at_the_evaluators_own_point_is_the_stored_one(runs: dict[int, Run], seed: int) -> None:
    stored = runs[seed].curves("detection_confusion")
    found = confusion_at(runs[seed], "m", OperatingPoint(0.3, 0.6))
    columns = ["label", "predicted", "count"]
    assert sorted(found[columns].to_numpy().tolist()) == sorted(stored[columns].to_numpy().tolist())


@pytest.mark.parametrize("evaluator", [CURVE, "error_breakdown"])
@pytest.mark.parametrize("seed", SEEDS)
def test_matching_again_at_the_same_iou_gives_the_stored_matches(runs, seed, evaluator, monkeypatch) -> None:
    stored = object_counts(runs[seed], evaluator, ObjectFilter("m"))
    monkeypatch.setattr(INDEX, "FOLDER", f"again-{evaluator}-{seed}")
    monkeypatch.setattr(INDEX, "stored_at", lambda *_: False)
    assert object_counts(runs[seed], evaluator, ObjectFilter("m", iou=0.5)) == stored


def test_the_default_is_the_best_f1_of_each_model(pictures: Run) -> None:
    # of keen F1 is .80 up to .30, then 1 up to .60; of shy .67 throughout
    assert [best_point(pictures, model) for model in ("keen", "shy")] == [(0.31, 0.5), (0.0, 0.5)]
    assert [operating_point(pictures, model).score for model in ("keen", "shy")] == [0.31, 0.0]
    assert counts_of(pictures, "keen", 0.31) == (8, 0, 0)


@pytest.mark.parametrize(
    ("false", "best"), [pytest.param(7, 0.41, id="16/25 below 10/15"), pytest.param(5, 0.0, id="16/23 above 10/15")]
)
def test_false_positives_lower_the_f1_but_are_no_ground_truths(tmp_path: Path, false: int, best: float) -> None:
    """Of ten cats five are found at .9, three more at .4, where some that are none are found too."""
    cat = {"label": "cat", "y": 0.0, "width": 9.0, "height": 9.0}
    cases = [{"case_id": f"c{place}", "image_width": 50, "image_height": 20} for place in range(10)]
    truths = [cat | {"case_id": f"c{place}", "x": 0.0, "annotation_id": place + 1} for place in range(10)]
    found = [(place, 0.0, 0.9 if place < 5 else 0.4) for place in range(8)]
    found += [(place, 30.0, 0.4) for place in range(false)]
    rows = [cat | {"case_id": f"c{place}", "x": x, "model": "m", "score": score} for place, x, score in found]
    outputs = Outputs.from_rows([{"case_id": case["case_id"], "model": "m"} for case in cases], rows)
    run = finished(Workspace(tmp_path), Suite.from_rows("s", "detection", cases, truths), outputs, CURVE)
    assert best_point(run, "m") == (best, 0.5)
    assert [counts_of(run, "m", score) for score in (0.4, 0.41)] == [(8, false, 2), (5, 0, 5)]


def test_a_model_that_finds_nothing_has_no_true_positive(tmp_path: Path) -> None:
    cat = {"case_id": "c", "label": "cat", "x": 0.0, "y": 0.0, "width": 9.0, "height": 9.0}
    suite = Suite.from_rows(
        "s", "detection", [{"case_id": "c", "image_width": 50, "image_height": 20}], [cat | {"annotation_id": 1}]
    )
    made = [cat | {"model": "blind", "x": 30.0, "score": 0.8}, cat | {"model": "sees", "score": 0.8}]
    outputs = Outputs.from_rows([{"case_id": "c", "model": model} for model in ("blind", "sees")], made)
    run = finished(Workspace(tmp_path), suite, outputs, CURVE)
    assert counts_of(run, "blind", 0.5) == (0, 1, 1)
    assert (counts_of(run, "sees", 0.5), best_point(run, "sees")) == ((1, 0, 0), (0.0, 0.5))
    kinds = [object_counts(run, CURVE, ObjectFilter(*pair, right_in=other))["kind"] for pair, other in (
        (("blind",), "sees"), (("sees",), "blind"),
    )]  # fmt: skip
    assert kinds == [{"fn_no_prediction": 1}, {}]
    later = Suite.from_rows(
        "s", "detection", [suite.cases.to_pylist()[0], {"case_id": "d"}], [cat | {"annotation_id": 1}]
    )
    both = Outputs.from_rows(
        [{"case_id": case, "model": "m"} for case in "cd"], [cat | {"case_id": "d", "model": "m", "score": 0.8}]
    )
    assert counts_of(finished(Workspace(tmp_path / "later"), later, both, CURVE), "m", 0.5) == (
        0, 1, 1,
    )  # fmt: skip
    empty = Suite.from_rows("s", "detection", suite.cases.to_pylist(), [], labels=("cat",))
    of_nothing = finished(Workspace(tmp_path / "empty"), empty, outputs, CURVE)
    assert counts_of(of_nothing, "sees", 0.5) == (0, 1, 0)
    assert object_counts(of_nothing, CURVE, ObjectFilter("sees", right_in="blind"))["kind"] == {}


def test_a_chosen_point_is_kept_until_it_is_taken_back(pictures: Run) -> None:
    Review(pictures).choose_point(0.7, 0.8)
    try:
        again = Workspace(pictures.workspace.path).run(pictures.id)
        assert [operating_point(again, model) for model in ("keen", "shy")] == [(0.7, 0.8)] * 2
        Review(pictures).choose_point(None, 0.8)
        assert operating_point(again, "keen") == best_point(again, "keen", 0.8)
    finally:
        Review(pictures).choose_point(None, 0.5)
    assert operating_point(pictures, "keen") == best_point(pictures, "keen")


def test_all_is_missed_where_nothing_is_predicted(pictures: Run) -> None:
    assert counts_of(pictures, "shy", 0.95) == (0, 0, 8)
