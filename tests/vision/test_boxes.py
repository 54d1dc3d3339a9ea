"""IoU of boxes equals pycocotools' bit for bit."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.vision.boxes import box_areas, box_iou

SIDE = st.integers(0, 200_000).map(lambda value: value / 1000)  # what underflows has no IoU in pycocotools
BOXES = st.lists(st.tuples(SIDE, SIDE, SIDE, SIDE), min_size=1, max_size=6)


@given(BOXES, BOXES, st.integers(0, 63))
def test_iou_equals_pycocotools(predictions, truths, crowds):
    from pycocotools.mask import iou

    crowd = np.array([bool(crowds >> index & 1) for index in range(len(truths))])
    expected = iou(np.array(predictions), np.array(truths), crowd.astype(np.uint8).tolist())
    assert np.array_equal(box_iou(np.array(predictions), np.array(truths), crowd), expected)


@pytest.mark.parametrize(
    ("prediction", "truth", "crowd", "expected"),
    [
        pytest.param([0, 0, 10, 10], [0, 0, 10, 10], False, 1.0, id="the same"),
        pytest.param([0, 0, 10, 10], [10, 0, 10, 10], False, 0.0, id="touching"),
        pytest.param([0, 0, 10, 10], [5, 0, 10, 10], False, 1 / 3, id="half over"),
        pytest.param([0, 0, 10, 10], [5, 0, 10, 10], True, 0.5, id="a crowd: intersection over the prediction's area"),
        pytest.param([0, 0, 0, 10], [0, 0, 0, 10], False, 0.0, id="no area"),
    ],
)
def test_iou(prediction, truth, crowd, expected):
    found = box_iou(np.array([prediction], float), np.array([truth], float), np.array([crowd]))
    assert found[0, 0] == pytest.approx(expected)


def test_no_boxes_have_no_overlaps():
    assert box_iou(np.zeros((0, 4)), np.zeros((3, 4))).shape == (0, 3)
    assert box_areas(np.zeros((0, 4))).shape == (0,)
