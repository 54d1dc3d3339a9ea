"""Label maps against scikit-learn and scipy, boundary IoU worked out by hand, and laws of counting."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from metrics.vision import masks, segmentation
from metrics.vision.compiled import label_map_counts as loops

SIDES = st.tuples(st.integers(1, 14), st.integers(1, 14))


@st.composite
def map_pairs(draw, labels=3, ignored=True):
    """Two bitmaps [height, width] of one size: codes 0 … labels−1, −1 in the truth, `labels` in the prediction."""
    shape = draw(SIDES)
    truth = draw(arrays(np.int32, shape, elements=st.integers(-1 if ignored else 0, labels - 1)))
    prediction = draw(arrays(np.int32, shape, elements=st.integers(0, labels)))
    blocks = draw(st.integers(1, 4))  # larger than a pixel, so that bands have an inside
    grow = np.ones((blocks, blocks), np.int32)
    return np.kron(truth, grow), np.kron(prediction, grow)


def flat(bitmap):
    """A bitmap column after column."""
    return np.ascontiguousarray(bitmap.T).ravel().astype(np.int32)


def count(truth, prediction, labels=3, distance=1):
    return segmentation.tally(flat(truth), flat(prediction), len(truth), labels, distance)


@given(map_pairs())
def test_the_confusion_is_scikit_learns(pair):
    from sklearn.metrics import confusion_matrix

    truth, prediction = pair
    kept = truth >= 0
    expected = np.zeros((4, 4), int)
    if kept.any():
        expected = confusion_matrix(truth[kept], prediction[kept], labels=range(4))
    found = count(truth, prediction)
    assert np.array_equal(found.confusion, expected[:3])
    assert np.array_equal(found.areas, [np.diag(expected)[:3], expected[:3].sum(1), expected[:3, :3].sum(0)])


@given(map_pairs(ignored=False))
def test_the_iou_is_scikit_learns(pair):
    from sklearn.metrics import jaccard_score

    truth, prediction = pair
    there = [label for label in range(3) if (truth == label).any() or (prediction == label).any()]
    expected = np.full(3, np.nan)
    if there:
        expected[there] = jaccard_score(truth.ravel(), prediction.ravel(), labels=there, average=None)
    assert segmentation.iou(count(truth, prediction).areas) == pytest.approx(expected, nan_ok=True)


@given(map_pairs(), st.integers(1, 5))
def test_a_band_is_what_erosion_takes_away(pair, distance):
    from scipy.ndimage import binary_erosion

    truth, prediction = pair
    prediction = np.where(truth < 0, -1, prediction)
    bands = []
    for bitmap in (truth, prediction):
        band = np.zeros(bitmap.shape, bool)
        for label in np.unique(bitmap):
            region = bitmap == label
            band |= region & ~binary_erosion(region, np.ones((3, 3)), distance)
        bands.append(band)
        found = loops.band(flat(bitmap), len(bitmap), distance).reshape(bitmap.T.shape).T
        assert np.array_equal(found, band)
    both = bands[0] & bands[1] & (truth == prediction)
    expected = [
        [(both & (truth == label)).sum() for label in range(3)],
        [(bands[0] & (truth == label)).sum() for label in range(3)],
        [(bands[1] & (prediction == label)).sum() for label in range(3)],
    ]
    assert np.array_equal(count(truth, prediction, distance=distance).bands, expected)


@given(map_pairs(), map_pairs())
def test_counts_of_images_add_up(one, two):
    """Two images side by side hold the pixels of both; their confusion is the sum."""
    parts = [count(*pair).confusion for pair in (one, two)]
    long = [np.concatenate([flat(a), flat(b)]) for a, b in zip(one, two, strict=True)]
    whole = segmentation.tally(long[0], long[1], 1, 3, 1)
    assert np.array_equal(whole.confusion, parts[0] + parts[1])


@given(map_pairs(ignored=False))
def test_a_perfect_map_scores_one(pair):
    found = count(pair[0], pair[0])
    for counts in (found.areas, found.bands):
        ratios = segmentation.iou(counts)
        assert set(ratios[~np.isnan(ratios)]) <= {1.0}


def test_boundary_iou_by_hand():
    """A square of 6 × 6 in 10 × 10 pixels, predicted one column to the right, bands one pixel wide.

    Each square's band has 36 − 16 = 20 pixels. Shifted by one, the rings share the upper and the lower edge (5 + 5
    pixels) and nothing of the sides, which lie inside the other or outside of it.
    """
    truth, prediction = np.zeros((10, 10), int), np.zeros((10, 10), int)
    truth[2:8, 2:8] = prediction[2:8, 3:9] = 1
    found = count(truth, prediction, 2)
    assert found.areas[:, 1].tolist() == [30, 36, 36]
    assert found.bands[:, 1].tolist() == [10, 20, 20]
    assert segmentation.iou(found.bands)[1] == 10 / 30


@pytest.mark.parametrize(
    ("height", "width", "ratio", "expected"),
    [(10, 10, 0.02, 1), (512, 512, 0.02, 14), (300, 400, 0.02, 10), (300, 400, 0.0, 1), (3, 4, 0.5, 2)],
    ids=["tiny", "square", "exact", "none", "half to even"],
)
def test_a_band_is_a_share_of_the_diagonal(height, width, ratio, expected):
    assert masks.band_distance(height, width, ratio) == expected


@given(map_pairs(ignored=False))
def test_regions_paint_the_map_they_come_from(pair):
    codes = flat(pair[0])
    found, drawn = segmentation.regions(codes, len(pair[0]))
    assert found.tolist() == sorted(set(codes.tolist()))
    assert drawn.area.tolist() == [int((codes == code).sum()) for code in found]
    painted = segmentation.label_map(drawn, 0, len(drawn), found, len(codes), -7)
    assert np.array_equal(painted, codes)
    again = masks.draw(masks.Shapes.of(rle=masks.encode(drawn)), len(pair[0]), pair[0].shape[1])
    assert not again.faulty.any()
    assert np.array_equal(again.box, drawn.box)


def test_the_later_mask_wins():
    drawn = masks.draw(masks.Shapes.of(box=[[0, 0, 2, 2], [1, 0, 2, 2]]), 2, 4)
    painted = segmentation.label_map(drawn, 0, 2, np.array([5, 6], np.int32), 8, 9)
    assert painted.reshape(4, 2).T.tolist() == [[5, 6, 6, 9]] * 2
    painted = segmentation.label_map(drawn, 0, 1, np.array([5, 6], np.int32), 8, 9)
    assert painted.reshape(4, 2).T.tolist() == [[5, 5, 9, 9]] * 2


def test_a_map_of_too_many_runs_is_refused(monkeypatch):
    monkeypatch.setattr(segmentation, "MOST_RUNS", 3)
    with pytest.raises(ValueError, match="4 runs of pixels, more than 3"):
        segmentation.regions(np.array([0, 1, 0, 1], np.int32), 2)
