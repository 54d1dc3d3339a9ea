"""The kinds at every score threshold at once, against matching one image at one threshold."""

from collections import Counter

import numpy as np
import pytest

from metrics.stats.classification.roc import THRESHOLDS
from metrics.vision.matching import match
from metrics.vision.outcomes import image_pairs, outcomes
from metrics.vision.score_spans import score_spans
from tests.vision.coco_oracle import objects, random_scene
from tests.vision.test_outcomes import frame, matched_image, predicted, truth

VALOR = {"fp_duplicate": "fp_hallucination", "fp_localisation": "fp_hallucination"}


def spans_of(scene, iou=0.5):
    columns = objects(*scene)
    pairs = image_pairs(columns, min(iou, 0.1))
    return score_spans(columns, outcomes(columns, match(columns, (iou,)), pairs, iou), iou, pairs)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("iou", [0.5, 0.75])
def test_every_threshold_equals_matching_anew(seed, iou):
    scene = random_scene(seed)
    images, _, truths, predictions = scene
    spans = spans_of(scene, iou)
    for score in (0.0, *THRESHOLDS[::3], 1.0):
        expected = Counter()
        for image in range(images):
            kinds, truth_kinds = matched_image(frame(truths, image), frame(predictions, image), iou, score)
            expected.update(VALOR.get(kind, kind) for kind in kinds)
            expected.update(kind for kind in truth_kinds if kind.startswith("fn"))
        for entry in spans:
            assert entry.at(score).sum() == expected[entry.kind], (entry.kind, score)


def test_a_ground_truth_changes_its_kind_with_the_threshold():
    """A dog found at .4; a cat is predicted there at .8: up to .4 found, up to .8 mistaken, beyond missed."""
    box = (0, 0, 100, 100)
    scene = (1, 2, [truth(1, *box)], [predicted(0, 0.8, *box), predicted(1, 0.4, *box)])
    at = {
        score: {entry.kind: int(entry.at(score).sum()) for entry in spans_of(scene) if entry.at(score).any()}
        for score in (0.4, 0.6, 0.8, 0.9)
    }
    assert at == {
        0.4: {"tp": 1, "fp_misclassification": 1},
        0.6: {"fp_misclassification": 1, "fn_misclassification": 1},
        0.8: {"fp_misclassification": 1, "fn_misclassification": 1},
        0.9: {"fn_no_prediction": 1},
    }


def test_the_best_examples_come_first():
    boxes = [(200 * index, 0, 50 + index, 50) for index in range(3)]
    scene = (
        1, 1, [truth(0, *box) for box in boxes] + [truth(0, 0, 500, 10, 10), truth(0, 0, 600, 90, 90)],
        [predicted(0, score, *box) for score, box in zip((0.3, 0.9, 0.6), boxes, strict=True)],
    )  # fmt: skip
    spans = {entry.kind: entry for entry in spans_of(scene)}
    assert spans["tp"].row.tolist() == [1, 2, 0]
    assert spans["fn_no_prediction"].row[np.flatnonzero(spans["fn_no_prediction"].at(0.1))].tolist() == [4, 3]
