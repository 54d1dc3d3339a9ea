"""Objects matched regardless of their label: a drawn scene, ties, and the diagonal against matching within labels."""

import numpy as np
import pytest

from metrics.vision.boxes import box_iou
from metrics.vision.matching import match
from metrics.vision.object_confusion import cells, match_any_label
from metrics.vision.outcomes import BACKGROUND, KINDS, LOCALISED, MISCLASSIFIED, TP, image_pairs, outcomes
from tests.vision.coco_oracle import objects, random_scene
from tests.vision.test_outcomes import predicted, truth

CAT, DOG = 0, 1
LEFT, RIGHT, FAR = (0, 0, 100, 100), (200, 0, 100, 100), (900, 0, 50, 50)


def names(found):
    return [KINDS[code] for code in found.prediction], [KINDS[code] for code in found.ground_truth]


@pytest.mark.parametrize(
    ("truths", "predictions", "kinds", "truth_kinds", "partners"),
    [
        pytest.param(
            [truth(DOG, *LEFT)], [predicted(CAT, 0.9, *LEFT)], ["fp_misclassification"], ["tp"], [0],
            id="a dog predicted as a cat on the same box is dog → cat",
        ),
        pytest.param(
            [truth(DOG, *LEFT)], [predicted(CAT, 0.9, *LEFT), predicted(DOG, 0.8, *LEFT)],
            ["fp_misclassification", "fp_hallucination"], ["tp"], [0, -1],
            id="labels compete: the better score has the dog, whatever its label",
        ),
        pytest.param(
            [truth(CAT, *LEFT), truth(DOG, 10, 0, 100, 100)], [predicted(CAT, 0.9, 8, 0, 100, 100)],
            ["fp_misclassification"], ["fn_no_prediction", "tp"], [1],
            id="geometry first: the dog overlaps more than the cat",
        ),
        pytest.param(
            [truth(DOG, *LEFT), truth(CAT, *LEFT), truth(DOG, *LEFT)], [predicted(CAT, 0.9, *LEFT)],
            ["tp"], ["fn_no_prediction", "tp", "fn_no_prediction"], [1],
            id="of equal overlaps one of the own label",
        ),
        pytest.param(
            [truth(CAT, *LEFT), truth(CAT, *LEFT)], [predicted(CAT, 0.9, *LEFT)],
            ["tp"], ["fn_no_prediction", "tp"], [1], id="then the last",
        ),
        pytest.param(
            [truth(CAT, *LEFT), truth(DOG, *LEFT)],
            [predicted(CAT, 0.5, *LEFT), predicted(DOG, 0.5, *LEFT), predicted(DOG, 0.5, *LEFT)],
            ["tp", "tp", "fp_hallucination"], ["tp", "tp"], [0, 1, -1], id="ties in score keep file order",
        ),
        pytest.param(
            [truth(CAT, 0, 0, 400, 400, crowd=True)],
            [predicted(CAT, 0.9, *LEFT), predicted(CAT, 0.8, *RIGHT), predicted(DOG, 0.7, *LEFT)],
            ["ignored", "ignored", "fp_hallucination"], ["ignored"], [0, 0, -1],
            id="a crowd absorbs predictions of its label alone",
        ),
        pytest.param(
            [truth(CAT, *LEFT)], [predicted(CAT, 0.2, *LEFT), predicted(CAT, 0.3, 0, 0, 100, 50)],
            ["below_score", "tp"], ["tp"], [-1, 0], id="IoU and score at the threshold count",
        ),
        pytest.param([truth(CAT, *LEFT)], [], [], ["fn_no_prediction"], [], id="no predictions"),
        pytest.param([], [predicted(CAT, 0.9, *FAR)], ["fp_hallucination"], [], [-1], id="no ground truth"),
    ],
)  # fmt: skip
def test_what_becomes_of_each(truths, predictions, kinds, truth_kinds, partners):
    columns = objects(1, 2, truths, predictions)
    found = match_any_label(columns, image_pairs(columns, 0.5), 0.5, 0.3)
    assert names(found) == (kinds, truth_kinds)
    assert found.truth.tolist() == partners


def test_the_cells():
    truths = [truth(DOG, *LEFT), truth(CAT, *RIGHT), truth(CAT, 400, 0, 100, 100)]
    predictions = [predicted(CAT, 0.9, *LEFT), predicted(CAT, 0.8, *RIGHT), predicted(DOG, 0.7, *FAR)]
    columns = objects(1, 2, truths, [*predictions, predicted(DOG, 0.1, *FAR)])
    placed = cells(columns, match_any_label(columns, image_pairs(columns, 0.5), 0.5, 0.5))
    assert placed.truth.tolist() == [DOG, CAT, 2, -1, CAT]
    assert placed.predicted.tolist() == [CAT, CAT, DOG, -1, 2]
    assert placed.count(2).tolist() == [[1, 0, 1], [1, 0, 0], [0, 1, 0]]


def one_by_one(images, truths, predictions, iou, score):
    """Match each image by plain loops: the truth's row for each prediction, −1 none, None where it does not count."""
    taken, found = set(), [None] * len(predictions)
    for row in sorted(range(len(predictions)), key=lambda row: -predictions[row]["score"]):
        box = predictions[row]
        if box["score"] < score:
            continue
        fits = []
        for index, other in enumerate(truths):
            if other["image"] != box["image"]:
                continue
            crowd = np.array([other["crowd"]])
            overlap = box_iou(np.array([box["box"]]), np.array([other["box"]]), crowd)[0, 0]
            own = other["label"] == box["label"]
            if overlap >= iou and (own if other["crowd"] else index not in taken):
                fits.append((not other["crowd"], overlap, own, index))
        if not fits:
            found[row] = -1
        elif max(fits)[0]:
            found[row] = max(fits)[3]
            taken.add(found[row])
    return found


@pytest.mark.parametrize("seed", range(60))
def test_it_equals_plain_loops(seed):
    scene = random_scene(seed)
    columns = objects(*scene)
    for iou, score in ((0.5, 0.0), (0.75, 0.5)):
        found = match_any_label(columns, image_pairs(columns, iou), iou, score)
        counts = np.isin(found.prediction, (TP, MISCLASSIFIED, BACKGROUND))
        ours = [int(row) if count else None for row, count in zip(found.truth, counts, strict=True)]
        assert ours == one_by_one(scene[0], scene[2], scene[3], iou, score)


def labels_compete(columns, iou, score):
    """Whether a prediction or a ground truth overlaps both its own label and another one."""
    close = box_iou(columns.prediction_box, columns.truth_box) >= iou
    close &= columns.prediction_image[:, None] == columns.truth_image[None, :]
    close &= (columns.score >= score)[:, None] & ~columns.crowd[None, :]
    own = columns.prediction_class[:, None] == columns.truth_class[None, :]
    return any(((close & own).any(axis) & (close & ~own).any(axis)).any() for axis in (0, 1))


@pytest.mark.parametrize(("iou", "score"), [(0.5, 0.4), (0.75, 0.0), (0.5, 0.8)])
def test_the_diagonal_is_tp_where_no_labels_compete(iou, score):
    checked = 0
    for seed in range(60):
        images, classes, truths, predictions = random_scene(seed)
        columns = objects(images, classes, truths, predictions)
        if labels_compete(columns, iou, score):
            continue
        checked += 1
        pairs = image_pairs(columns, LOCALISED)
        placed = cells(columns, match_any_label(columns, pairs, iou, score))
        diagonal = placed.count(classes)[:classes, :classes].diagonal()
        right = outcomes(columns, match(columns, (iou,)), pairs, iou).prediction == TP
        right &= columns.score >= score
        assert diagonal.tolist() == np.bincount(columns.prediction_class[right], minlength=classes).tolist(), seed
    assert checked > 12
