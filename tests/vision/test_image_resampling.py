"""The bootstrap without re-matching equals the bootstrap that builds each resampled data set and evaluates it."""

from typing import Any

import numpy as np
import pytest

from metrics.stats.draws import draw_halves, draw_weights
from metrics.vision.image_resampling import half_sample_interval, resample
from metrics.vision.matching import match
from metrics.vision.objects import Objects, prepare
from metrics.vision.precision_recall import Ranking, accumulate
from tests.benchmarks.coco_scene import coco_scene
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


@pytest.mark.parametrize("missing", [0, 3, 39, 40])
def test_interval_is_around_the_corrected_value_and_leaves_nan_out(missing):
    samples = np.random.default_rng(0).uniform(0.3, 0.7, (40, 2))
    samples[:missing, 1] = np.nan
    value = np.array([0.45, 0.5])
    low, high = half_sample_interval(value, samples)
    for column in range(2):
        known = samples[missing if column else 0 :, column]
        if not len(known):
            assert np.isnan([low[1], high[1]]).all()
            continue
        corrected = value[column] - 4 / 3 * (known.mean() - value[column])
        phi = known.var() / (corrected * (1 - corrected))
        for end in (low[column], high[column]):
            if end != value[column]:
                assert (corrected - end) ** 2 == pytest.approx(1.959964**2 * phi * end * (1 - end), rel=1e-5)
        assert low[column] <= value[column] <= high[column]


def test_interval_stays_in_range_and_needs_samples():
    low, high = half_sample_interval(np.array(0.95), np.array([0.5, 0.9, 1.0]))
    assert 0 <= low < 0.95 < high <= 1.0
    assert np.isnan(half_sample_interval(np.array(0.5), np.zeros((0,)))).all()


def test_intervals_hold_the_true_map_about_as_often_as_promised():
    """80 data sets of 100 images: the interval of mAP holds that of 6,000 more in at least 68 of them."""

    def estimates(images, seed, weights):
        columns = prepare(**coco_scene(images=images, classes=3, per_image=3, detections=8, seed=seed))
        found = match(columns, (0.5, 0.75))
        return resample(columns, found, Ranking.of(columns, found), weights)[0].mean(axis=(1, 2))

    true = estimates(6_000, 1, np.ones((1, 6_000), np.uint8))[0]
    held = 0
    for seed in range(80):
        halves = draw_halves(np.arange(100, dtype=np.int32), 60, seed)
        means = estimates(100, 10 + seed, np.concatenate([np.ones((1, 100), np.uint8), halves]))
        low, high = half_sample_interval(means[0], means[1:])
        held += bool(low <= true <= high)
    assert held >= 68
