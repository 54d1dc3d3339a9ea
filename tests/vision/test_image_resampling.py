"""The bootstrap without re-matching equals the bootstrap that builds each resampled data set and evaluates it."""

from typing import Any

import numpy as np
import pytest

from metrics.vision.image_resampling import draw_halves, draw_weights, paired_difference, resample
from metrics.vision.matching import match
from metrics.vision.objects import Objects
from metrics.vision.precision_recall import Ranking, accumulate
from tests.vision.coco_oracle import objects, random_scene


def repeated(scene: Any, weights: Any) -> Objects:
    """The data set in which each image stands as often as its weight says, copies beside each other."""
    _, classes, truths, predictions = scene
    first = np.concatenate([[0], np.cumsum(weights)])

    def copies(rows: Any) -> list[dict[str, Any]]:
        return [
            row | {"image": int(first[row["image"]] + copy)} for row in rows for copy in range(weights[row["image"]])
        ]

    return objects(int(first[-1]), classes, copies(truths), copies(predictions))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(("area", "limit"), [(0, 100), (2, 100), (0, 1), (0, 2)])
def test_equals_rebuilding_the_data_sets(seed, area, limit):
    scene = random_scene(seed)
    rng = np.random.default_rng(seed)
    for row in scene[3]:
        row["score"] = float(rng.random())  # copies of tied predictions interleave; without ties there is one order
    columns = objects(*scene)
    found = match(columns)
    weights = draw_weights(np.arange(scene[0], dtype=np.int32), 8, seed)
    average, recall = resample(columns, found, Ranking.of(columns, found), weights, area=area, max_dets=limit)
    for b, weight in enumerate(weights):
        again = repeated(scene, weight)
        expected = accumulate(again, match(again), (limit,), areas=(area,))
        precision = expected.precision[..., 0, 0]
        known = precision[0, 0] > -1
        assert np.array_equal(known, ~np.isnan(average[b, :, 0]))
        assert average[b, known] == pytest.approx(precision.mean(axis=1).T[known], abs=1e-12)
        assert recall[b, known] == pytest.approx(expected.recall[:, known, 0, 0].T, abs=1e-12)
    _, alone = resample(columns, found, Ranking.of(columns, found), weights, area=area, max_dets=limit, precision=False)
    assert np.array_equal(alone, recall, equal_nan=True)


def test_one_of_each_image_gives_the_numbers_themselves():
    scene = random_scene(11)
    columns = objects(*scene)
    found = match(columns)
    average, recall = resample(columns, found, Ranking.of(columns, found), np.ones((1, scene[0]), np.uint8))
    expected = accumulate(columns, found, (100,), areas=(0,))
    known = expected.truths[:, 0] > 0
    assert average[0, known] == pytest.approx(expected.precision.mean(axis=1)[:, known, 0, 0].T, abs=1e-12)
    assert np.array_equal(recall[0, known], expected.recall[:, known, 0, 0].T)


def test_a_score_threshold_leaves_predictions_out():
    scene = random_scene(11)
    columns = objects(*scene)
    found = match(columns)
    _, recall = resample(columns, found, Ranking.of(columns, found), np.ones((1, scene[0]), np.uint8), lowest=0.5)
    fewer = objects(*scene[:3], [row for row in scene[3] if row["score"] >= 0.5])
    expected = accumulate(fewer, match(fewer), (100,), areas=(0,))
    known = expected.truths[:, 0] > 0
    assert np.array_equal(recall[0, known], expected.recall[:, known, 0, 0].T)


def test_clusters_are_drawn_whole_and_the_seed_decides():
    clusters = np.array([0, 0, 1, 2, 2, 2], np.int32)
    weights = draw_weights(clusters, 200, 4)
    assert np.array_equal(weights, draw_weights(clusters, 200, 4))
    assert not np.array_equal(weights, draw_weights(clusters, 200, 5))
    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert np.array_equal(weights[:, 3], weights[:, 5])
    assert np.array_equal(weights[:, [0, 2, 3]].sum(axis=1), np.full(200, 3))
    assert draw_weights(clusters[:0], 3).shape == (3, 0)


@pytest.mark.parametrize("count", [1, 4, 7])
def test_half_samples_hold_half_of_the_clusters_and_then_the_rest(count):
    clusters = np.array([0, 0, 1, 2, 2, 3, 4, 5, 6], np.int32)
    halves = draw_halves(clusters, count, 4)
    assert halves.shape == (count, 9)
    assert set(np.unique(halves)) == {0, 1}
    assert np.array_equal(halves[:, 0], halves[:, 1])
    assert np.array_equal(halves[:, 3], halves[:, 4])
    assert set(halves[::2][:, [0, 2, 3, 5, 6, 7, 8]].sum(axis=1)) == {3}
    assert np.array_equal(halves[1::2], 1 - halves[0:-1:2])
    assert np.array_equal(halves, draw_halves(clusters, count, 4))
    assert draw_halves(clusters[:0], 3).shape == (3, 0)


def test_half_samples_spread_as_the_mean_does():
    values = np.random.default_rng(0).random(101)
    halves = draw_halves(np.arange(101, dtype=np.int32), 4_000)
    spread = (halves @ values / halves.sum(axis=1)).std()
    assert spread == pytest.approx(values.std(ddof=1) / np.sqrt(101), rel=0.05)


class TestPairedDifference:
    @pytest.mark.parametrize(
        ("apart", "samples", "expected"),
        [
            pytest.param(0.0, [0.0] * 9, (0.0, 0.0, None), id="equal"),
            pytest.param(0.5, [0.5] * 99, (0.5, 0.5, 0.01), id="the same in every resample"),
            pytest.param(-0.5, [-0.5] * 99, (-0.5, -0.5, 0.01), id="the same, turned"),
            pytest.param(0.1, [0.0, 0.2] * 10 + [0.1] * 19, (0.0, 0.2, 21 / 40), id="as far as to 0 in 20 of 39"),
            pytest.param(0.0, [-0.1, 0.1], (-0.095, 0.095, 1.0), id="no difference but in resamples"),
            pytest.param(0.4, [0.3, 0.5] * 50, (0.3, 0.5, 6.334248e-5), id="the normal tail at four deviations"),
        ],
    )
    def test_by_hand(self, apart, samples, expected):
        low, high, p = paired_difference(apart, np.array(samples))
        assert (low, high, p) == pytest.approx(expected)

    def test_it_keeps_its_level(self):
        """Of 300 pairs of models without a difference about one in twenty has p ≤ .05, and an interval without 0."""
        rng = np.random.default_rng(3)
        called = outside = 0
        for _ in range(300):
            apart = rng.normal(size=80)
            samples = rng.choice(apart, (400, 80)).mean(axis=1)
            low, high, p = paired_difference(float(apart.mean()), samples)
            called += p <= 0.05
            outside += not low <= 0 <= high
        assert 5 <= called <= 28
        assert 5 <= outside <= 28
