"""TIDE: drawn scenes, an oracle of plain loops, and laws of what repairs gain."""

import numpy as np
import pytest

from metrics.vision.boxes import box_iou
from metrics.vision.error_breakdown import (
    ERRORS,
    count_errors,
    find_errors,
    repair,
    repaired_ap,
    without_false_negatives,
    without_false_positives,
)
from metrics.vision.matching import match
from metrics.vision.outcomes import (
    BACKGROUND,
    BOTH,
    DUPLICATE,
    FN_LOCALISATION,
    FN_MISCLASSIFIED,
    FN_MISSED,
    IGNORED,
    LOCALISATION,
    MISCLASSIFIED,
    TP,
    image_pairs,
)
from tests.vision.coco_oracle import arrays, objects, random_scene
from tests.vision.test_outcomes import predicted, truth

CAT, DOG = 0, 1
NAMES = {code: name for name, code in ERRORS.items()} | {TP: "correct", IGNORED: "left out"}
SIX = tuple(ERRORS.values())
TRUTHS = [
    truth(CAT, 0, 0, 100, 100), truth(DOG, 200, 0, 100, 100), truth(CAT, 400, 0, 100, 100),
    truth(CAT, 600, 0, 100, 100), truth(CAT, 0, 400, 300, 300, crowd=True),
]  # fmt: skip
PREDICTIONS = [
    (predicted(CAT, 0.95, 0, 0, 100, 100), "correct", 0, False),
    (predicted(CAT, 0.9, 0, 10, 100, 100), "duplicate", 0, False),
    (predicted(CAT, 0.85, 200, 0, 100, 90), "classification", 1, True),
    (predicted(CAT, 0.8, 200, 0, 100, 80), "classification", 1, False),
    (predicted(CAT, 0.7, 450, 0, 100, 100), "localisation", 2, True),
    (predicted(DOG, 0.65, 450, 0, 100, 100), "both", 2, False),
    (predicted(CAT, 0.6, 900, 0, 50, 50), "background", -1, False),
    (predicted(CAT, 0.5, 10, 410, 50, 50), "left out", 4, False),
    (predicted(CAT, 0.4, 50, 0, 100, 100), "localisation", 0, False),
]


def found_in(*scene, iou=0.5, background=0.1, max_dets=100):
    columns = objects(*scene)
    pairs = image_pairs(columns, background)
    return columns, find_errors(columns, match(columns, (iou,)), pairs, iou, background, max_dets)


def ap(columns, errors, repaired):
    """AP by class of the data set itself."""
    return repaired_ap(columns, errors, repaired, np.ones((1, columns.images), np.uint8))[0]


def test_the_errors():
    columns, errors = found_in(1, 2, TRUTHS, [row for row, *_ in PREDICTIONS])
    assert [NAMES[code] for code in errors.prediction] == [name for _, name, *_ in PREDICTIONS]
    assert errors.truth.tolist() == [partner for *_, partner, _ in PREDICTIONS]
    assert errors.fixable.tolist() == [fixable for *_, fixable in PREDICTIONS]
    assert errors.ground_truth.tolist() == [TP, FN_MISCLASSIFIED, FN_LOCALISATION, FN_MISSED, IGNORED]
    counts = {name: count.tolist() for name, count in count_errors(columns, errors).items()}
    assert counts == {
        "classification": [2, 0], "localisation": [2, 0], "both": [0, 1], "duplicate": [1, 0], "background": [1, 0],
        "missed": [1, 0], "false_positives": [6, 1], "false_negatives": [2, 1], "truths": [3, 1],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        pytest.param((0, 0, 100, 30), (0, 0, 100, 90), LOCALISATION, id="localisation before classification"),
        pytest.param(None, (0, 0, 100, 50), MISCLASSIFIED, id="exactly at the foreground"),
        pytest.param(None, (0, 0, 100, 49), BOTH, id="just below the foreground"),
        pytest.param((0, 0, 100, 10), None, LOCALISATION, id="exactly at the background"),
        pytest.param((0, 0, 100, 9), (0, 0, 100, 9), BACKGROUND, id="just below the background"),
        pytest.param((0, 0, 100, 9), (0, 0, 100, 10), BOTH, id="another label at the background"),
    ],
)
def test_which_error_it_is(own, other, expected):
    truths = [truth(label, *box) for label, box in ((CAT, own), (DOG, other)) if box]
    _, errors = found_in(1, 2, truths, [predicted(CAT, 0.5, 0, 0, 100, 100)])
    assert errors.prediction.tolist() == [expected]


def test_predictions_past_max_dets_are_left_out():
    boxes = [(200 * index, 0, 100, 100) for index in range(3)]
    scene = (1, 1, [truth(CAT, *box) for box in boxes], [predicted(CAT, 0.5, *box) for box in boxes])
    columns, errors = found_in(*scene, max_dets=2)
    assert errors.prediction.tolist() == [TP, TP, IGNORED]
    assert errors.ground_truth.tolist() == [TP, TP, FN_MISSED]
    assert ap(columns, errors, repair(columns, errors, [FN_MISSED])).tolist() == [pytest.approx(1)]


@pytest.mark.parametrize(
    ("truths", "predictions", "kinds", "gain"),
    [
        pytest.param(
            [truth(CAT, 0, 0, 100, 100)], [predicted(CAT, 0.9, 300, 0, 9, 9), predicted(CAT, 0.8, 0, 0, 100, 100)],
            {BACKGROUND}, 0.5, id="a false alarm before the only cat halves AP",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 100, 100)], [predicted(CAT, 0.9, 0, 0, 100, 40)], {LOCALISATION}, 1.0,
            id="a box that fits too poorly is moved",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 100, 100), truth(DOG, 300, 0, 100, 100)],
            [predicted(DOG, 0.9, 0, 0, 100, 100), predicted(DOG, 0.8, 300, 0, 100, 100)],
            {MISCLASSIFIED}, 0.75, id="a cat called dog: cats from 0 to 1, dogs from 1/2 to 1",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 100, 100), truth(CAT, 300, 0, 100, 100)], [predicted(CAT, 0.9, 0, 0, 100, 100)],
            {FN_MISSED}, 50 / 101, id="recall .5 becomes 1",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 100, 100), truth(DOG, 300, 0, 100, 100)], [predicted(CAT, 0.9, 0, 0, 100, 100)],
            {FN_MISSED}, 0.5, id="a label of which nothing is left to find",
        ),
        pytest.param(
            [truth(DOG, 300, 0, 100, 100)], [predicted(DOG, 0.9, 0, 0, 9, 9)], {FN_MISSED}, 0.0,
            id="but not if it has false positives",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 100, 100)],
            [predicted(CAT, 0.9, 0, 0, 100, 60), predicted(CAT, 0.8, 0, 0, 100, 100)], {DUPLICATE}, 0.0,
            id="a duplicate after the only cat was found costs nothing",
        ),
    ],
)  # fmt: skip
def test_what_repairs_gain(truths, predictions, kinds, gain):
    columns, errors = found_in(1, 2, truths, predictions)
    assert set(errors.prediction) | set(errors.ground_truth) >= kinds
    before, after = (np.nanmean(ap(columns, errors, repair(columns, errors, chosen))) for chosen in ((), kinds))
    assert after - before == pytest.approx(gain)


def by_loops(truths, predictions, iou=0.5, background=0.1):
    """TIDE's errors by plain loops over one image after the other: error by prediction, fixable ones, missed truths."""
    error, taken, candidates = {}, {}, {}
    order = sorted(range(len(predictions)), key=lambda row: -predictions[row]["score"])

    def overlap(row, index):
        crowd = np.array([truths[index]["crowd"]])
        value = box_iou(np.array([predictions[row]["box"]]), np.array([truths[index]["box"]]), crowd)
        return value[0, 0] if truths[index]["image"] == predictions[row]["image"] else 0.0

    def same(row, index):
        return truths[index]["label"] == predictions[row]["label"]

    everything = range(len(truths))
    plain = [index for index in everything if not truths[index]["crowd"]]
    for row in order:
        fits = [index for index in plain if same(row, index) and index not in taken and overlap(row, index) >= iou]
        if fits:
            best = max(fits, key=lambda index: (overlap(row, index), index))
            taken[best], error[row] = row, TP
        elif any(truths[i]["crowd"] and same(row, i) and overlap(row, i) >= iou for i in everything):
            error[row] = IGNORED
    for row in order:
        if row in error:
            continue
        own = max(((overlap(row, index), index) for index in plain if same(row, index)), default=(0.0, -1))
        other = max(((overlap(row, index), index) for index in plain if not same(row, index)), default=(0.0, -1))
        if background <= own[0] < iou:
            error[row], about = LOCALISATION, own[1]
        elif other[0] >= iou:
            error[row], about = MISCLASSIFIED, other[1]
        else:
            error[row] = DUPLICATE if own[0] >= iou else BOTH if other[0] >= background else BACKGROUND
            continue
        if about not in taken:
            candidates.setdefault(about, row)
    missed = [index for index in plain if index not in taken and index not in candidates]
    return [error[row] for row in range(len(predictions))], sorted(candidates.values()), missed


def jittered(seed):
    """A random scene without exact ties of IoU, about which the loops have no opinion."""
    images, classes, truths, predictions = random_scene(seed)
    rng = np.random.default_rng(seed)
    moved = [row | {"box": [*(np.array(row["box"]) + rng.random(4) / 100)]} for row in truths]
    return images, classes, moved, predictions


@pytest.mark.parametrize("seed", range(40))
def test_it_equals_plain_loops(seed):
    scene = jittered(seed)
    _, errors = found_in(*scene)
    kinds, fixable, missed = by_loops(*scene[2:])
    assert errors.prediction.tolist() == kinds
    assert np.flatnonzero(errors.fixable).tolist() == fixable
    assert np.flatnonzero(errors.ground_truth == FN_MISSED).tolist() == missed


@pytest.mark.parametrize("seed", range(60))
def test_laws(seed):
    """AP before is COCO's; no repair loses AP; all of it gives 1; without errors there is nothing to gain."""
    columns, errors = found_in(*random_scene(seed))
    known = np.bincount(columns.truth_class[~columns.crowd], minlength=columns.classes) > 0
    before = ap(columns, errors, repair(columns, errors, ()))
    coco = arrays(columns, match(columns, (0.5,)), (100,))["precision"][0, :, :, 0, 0].mean(axis=0)
    assert before[known] == pytest.approx(coco[known], abs=1e-12)
    assert np.isnan(before[~known]).all()
    counts = count_errors(columns, errors)
    after = {name: ap(columns, errors, repair(columns, errors, (code,))) for name, code in ERRORS.items()}
    after["false_positives"] = ap(columns, errors, without_false_positives(columns, errors))
    after["false_negatives"] = ap(columns, errors, without_false_negatives(columns, errors))
    for name, values in after.items():
        assert (values[known] >= before[known] - 1e-12).all(), name
        assert np.isnan(values[~known]).all()
        if not counts[name].any():
            assert values[known] == pytest.approx(before[known])
    for name in ("both", "duplicate", "background"):
        assert (after["false_positives"][known] >= after[name][known] - 1e-12).all()
    assert ap(columns, errors, repair(columns, errors, SIX))[known] == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_weights_equal_the_data_set_they_stand_for(seed):
    """Images drawn 0, 1, 2 … times against a data set that holds them so often, for all six repaired and each alone."""
    images, classes, truths, predictions = random_scene(seed)
    scores = np.random.default_rng(seed).permutation(len(predictions))  # no ties, whose order repetition would change
    predictions = [row | {"score": float(score)} for row, score in zip(predictions, scores, strict=True)]
    columns, errors = found_in(images, classes, truths, predictions)
    times = np.random.default_rng(seed).integers(0, 3, images)
    place = [image for image in range(images) for _ in range(times[image])]

    def repeated(rows):
        return [row | {"image": new} for new, image in enumerate(place) for row in rows if row["image"] == image]

    drawn, drawn_errors = found_in(max(1, len(place)), classes, repeated(truths), repeated(predictions))
    for kinds in ((), *((code,) for code in SIX), SIX):
        weighted = repaired_ap(columns, errors, repair(columns, errors, kinds), times[None].astype(np.uint8))[0]
        assert weighted == pytest.approx(ap(drawn, drawn_errors, repair(drawn, drawn_errors, kinds)), nan_ok=True)
