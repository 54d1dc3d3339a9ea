"""The bootstrap without re-matching equals the bootstrap that builds each resampled data set and evaluates it."""

from typing import Any

import numpy as np
import pytest

from metrics.stats.bootstrap import draw_weights
from metrics.vision.image_resampling import LANES, resample
from metrics.vision.matching import match
from metrics.vision.objects import Objects
from metrics.vision.precision_recall import Ranking
from tests.vision.coco_oracle import arrays, objects, random_scene


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
    average, recall = resample(Ranking.of(columns, found), weights, area=area, max_dets=limit)
    for b, weight in enumerate(weights):
        again = repeated(scene, weight)
        expected = arrays(again, match(again), (limit,), areas=(area,))
        precision = expected["precision"][..., 0, 0]
        known = precision[0, 0] > -1
        assert np.array_equal(known, ~np.isnan(average[b, :, 0]))
        assert average[b, known] == pytest.approx(precision.mean(axis=1).T[known], abs=1e-12)
        assert recall[b, known] == pytest.approx(expected["recall"][:, known, 0, 0].T, abs=1e-12)
    _, alone = resample(Ranking.of(columns, found), weights, area=area, max_dets=limit, precision=False)
    assert np.array_equal(alone, recall, equal_nan=True)


@pytest.mark.parametrize("area", [0, 2])
def test_how_many_resamples_are_taken_at_once_changes_no_bit(area):
    scene = random_scene(3)
    columns = objects(*scene)
    ranking = Ranking.of(columns, match(columns))
    rng = np.random.default_rng(0)
    weights = rng.choice(np.array([0, 1, 2, 255], np.uint8), (2 * LANES + 5, scene[0]), p=[0.4, 0.4, 0.15, 0.05])
    together = resample(ranking, weights, area=area)
    alone = [resample(ranking, weights[b : b + 1], area=area) for b in range(len(weights))]
    for part, parts in zip(together, zip(*alone, strict=True), strict=True):
        assert part.tobytes() == np.concatenate(parts).tobytes()


@pytest.mark.parametrize("lowest", [-np.inf, 0.5])
@pytest.mark.parametrize(("area", "limit"), [(0, 100), (1, 100), (2, 2), (0, 1)])
def test_the_loop_for_the_data_set_itself_changes_no_bit(area, limit, lowest):
    for seed in range(10):
        scene = random_scene(seed)
        columns = objects(*scene)
        ranking = Ranking.of(columns, match(columns))
        twice, once = (
            resample(ranking, np.ones((count, scene[0]), np.uint8), area=area, max_dets=limit, lowest=lowest)
            for count in (2, 1)
        )
        for of_two, of_one in zip(twice, once, strict=True):
            assert of_two[:1].tobytes() == of_two[1:].tobytes() == of_one.tobytes(), seed


def test_one_of_each_image_gives_the_numbers_themselves():
    scene = random_scene(11)
    columns = objects(*scene)
    found = match(columns)
    average, recall = resample(Ranking.of(columns, found), np.ones((1, scene[0]), np.uint8))
    expected = arrays(columns, found, (100,), areas=(0,))
    known = Ranking.of(columns, found).truths(0) > 0
    assert average[0, known] == pytest.approx(expected["precision"].mean(axis=1)[:, known, 0, 0].T, abs=1e-12)
    assert np.array_equal(recall[0, known], expected["recall"][:, known, 0, 0].T)


def test_a_score_threshold_leaves_predictions_out():
    scene = random_scene(11)
    columns = objects(*scene)
    found = match(columns)
    _, recall = resample(Ranking.of(columns, found), np.ones((1, scene[0]), np.uint8), lowest=0.5)
    fewer = objects(*scene[:3], [row for row in scene[3] if row["score"] >= 0.5])
    expected = arrays(fewer, match(fewer), (100,), areas=(0,))
    known = Ranking.of(columns, found).truths(0) > 0
    assert np.array_equal(recall[0, known], expected["recall"][:, known, 0, 0].T)
