"""boundary_ap: against pycocotools with the overlap of boundary-iou-api's definition."""

import numpy as np
import pytest
from pycocotools import cocoeval, mask

from metrics.vision.masks import band_distance
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.evaluators.boundaries import band
from tests.evaluators.detected import pick, run
from tests.evaluators.test_detection_masks import tables
from tests.random_seeds import seeds
from tests.vision.mask_oracle import random_masks, segm_eval

MASK_IOU = mask.iou


def boundary_overlap(predictions, truths, crowd):
    """The lesser of the IoU of masks and of their bands."""
    found = MASK_IOU(predictions, truths, crowd)
    if not predictions or not truths:
        return found

    def bands(codes):
        pixels = [mask.decode(code).astype(bool) for code in codes]
        return [
            mask.encode(np.asfortranarray(band(each, band_distance(*each.shape, 0.02)), np.uint8)) for each in pixels
        ]

    return np.minimum(found, MASK_IOU(bands(predictions), bands(truths), crowd))


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_numbers_equal_the_definition(monkeypatch):
    monkeypatch.setattr(cocoeval.maskUtils, "iou", boundary_overlap)
    for seed in seeds(15, 200):
        truth, results = random_masks(seed)
        expected = segm_eval(truth, results, IOU_THRESHOLDS, tuple(AREAS.values()), [100]).eval["precision"]
        findings = run("boundary_ap", *tables(truth, results))
        for name, part in {
            "AP": expected[:, :, :, 0], "AP50": expected[0, :, :, 0], "AP75": expected[5, :, :, 0],
            **{f"AP_{area}": expected[:, :, :, place] for place, area in enumerate(AREAS) if place},
        }.items():  # fmt: skip
            known = part[part > -1]
            assert pick(findings, name).value == (pytest.approx(known.mean(), abs=1e-9) if known.size else None), seed


def test_a_wider_band_is_a_mask_again():
    scene = tables(*random_masks(3))
    wide, masks = run("boundary_ap", *scene, dilation_ratio=0.5), run("coco_summary", *scene, geometry="mask")
    assert pick(wide, "AP").value == pytest.approx(pick(masks, "AP").value, abs=1e-12)
    assert pick(run("boundary_ap", *scene), "AP").value < pick(masks, "AP").value
