"""The intervals of detection metrics: the formula, small data, and how often they hold the truth."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metrics.evaluators.detection._matched import match_objects
from metrics.stats.bootstrap import draw_halves, draw_weights
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import BIAS, DOUBT, resample_interval
from metrics.vision.image_resampling import resample
from tests.benchmarks.detection_draws import counts, draw, estimates
from tests.evaluators.detected import outputs_of, pick, read_voc100, run, suite_of

MANY = 10**7  # objects and clusters: no correction for small samples


@pytest.mark.parametrize("missing", [0, 3, 39, 40])
def test_interval_is_around_the_corrected_value_and_leaves_nan_out(missing):
    samples = np.random.default_rng(0).uniform(0.3, 0.7, (40, 2))
    samples[:missing, 1] = np.nan
    value = np.array([0.45, 0.5])
    low, high = resample_interval(value, samples, MANY, MANY)
    for column in range(2):
        known = samples[missing if column else 0 :, column]
        if not len(known):
            assert np.isnan([low[1], high[1]]).all()
            continue
        apart = known.mean() - value[column]
        corrected = value[column] - BIAS * apart
        phi = (known.var() + DOUBT * apart**2) / max(corrected * (1 - corrected), value[column] * (1 - value[column]))
        for end in (low[column], high[column]):
            if end != value[column]:
                assert (corrected - end) ** 2 == pytest.approx(1.959964**2 * phi * end * (1 - end), rel=1e-4)
        assert low[column] <= value[column] <= high[column]


def test_a_bias_as_large_as_the_value_leaves_a_narrow_interval():
    """Twice the value in half of the data: the corrected value is 0, where any variance would be infinitely much."""
    low, high = resample_interval(np.array(0.02), np.random.default_rng(0).gamma(9, 0.04 / 9, 500), 273, 100)
    assert low == 0.0
    assert 0.02 < high < 0.12


class TestSmallData:
    def test_one_image_says_why_there_is_no_interval(self):
        suite, outputs = (
            suite_of(("a", "cat", 0, 0, 9, 9), cases="a"),
            outputs_of(("a", "cat", 0, 0, 9, 9, 0.5), cases="a"),
        )
        row = pick(run("coco_summary", suite, outputs, resamples=50), "AR_100")
        assert (row.value, row.low, row.high, row.interval) == (1.0, None, None, None)
        assert row.reason == "No 95 % interval: it needs at least two images, or two groups of images."

    def test_few_ground_truths_say_why_a_mean_ap_has_no_interval(self):
        boxes = [(case, f"label {k}", 20 * k, 0, 9, 9) for case in "abcde" for k in range(6)]
        suite, outputs = suite_of(*boxes, cases="abcde"), outputs_of(*((*box, 0.5) for box in boxes), cases="abcde")
        found = run("coco_summary", suite, outputs, resamples=50)
        row = pick(found, "AP")
        assert (row.value, row.low, row.interval) == (1.0, None, None)
        assert row.reason.startswith("No 95 % interval: there are fewer than")
        assert pick(found, "AP", "label 3").reason is None
        assert 0.3 < pick(found, "AP", "label 3").low < 0.6  # five of five
        assert 0.75 < pick(found, "AR_100").low < 0.95  # thirty of thirty, on five images

    def test_none_asked_for_needs_no_reason(self):
        suite, outputs = suite_of(("a", "cat", 0, 0, 9, 9)), outputs_of(("a", "cat", 0, 0, 9, 9, 0.5))
        assert pick(run("coco_summary", suite, outputs), "AR_100").reason is None


@pytest.mark.parametrize("moved", [0.0, 0.1, 0.15, 0.175])
def test_poorly_placed_boxes_of_voc100_do_not_widen_it(shared: Path, moved):
    """AP75 of .35 … .01 of 273 ground truths: half to twice as wide as what resampled images give."""
    suite, outputs = read_voc100(shared)
    predictions = outputs.predictions
    left = predictions["x"].to_numpy() + moved * predictions["width"].to_numpy()
    place = predictions.schema.get_field_index("x")
    worse = replace(outputs, predictions=predictions.set_column(place, "x", pa.array(left)))
    row = pick(run("coco_summary", suite, worse, resamples=300), "AP75")
    found = match_objects(suite, worse, (0.75,))
    weights = draw_weights(found.scene.clusters, 300)
    low, high = np.quantile(mean_over(resample(found.ranking, weights)[0], 1, 2), [0.025, 0.975])
    assert 0.5 < (row.high - row.low) / (high - low) < 2
    assert row.low < low
    assert row.low <= row.value <= row.high


@pytest.mark.parametrize("quality", ["poor", "fair", "good"])
@pytest.mark.parametrize(("labels", "truths", "images"), [(1, 40, 50), (5, 15, 50), (20, 15, 100), (20, 40, 200)])
def test_it_is_about_as_wide_as_what_resampled_images_give(labels, truths, images, quality):
    """Half to twice the width, the median over five data sets and all metrics that vary at all."""
    ratios = []
    for seed in range(5):
        data = draw(labels, truths, images, quality, seed)
        clusters = np.arange(images, dtype=np.int32)
        itself = np.ones((1, images), np.uint8)
        halves = estimates(data, np.concatenate([itself, draw_halves(clusters, 100, seed)]))
        again = estimates(data, draw_weights(clusters, 200, seed))
        for name, values in halves.items():
            objects = counts(data, name)
            sizes = objects if values.ndim > 1 else objects.sum()
            low, high = resample_interval(values[0], values[1:], sizes, images)
            resampled = np.nanquantile(again[name], [0.025, 0.975], axis=0)
            width, own = (np.atleast_1d(ends[1] - ends[0]) for ends in (resampled, (low, high)))
            varies = width > 0.05
            ratios += (own[varies] / width[varies]).tolist()
    assert 0.9 < np.median(ratios) < 1.8
    assert np.quantile(ratios, 0.05) > 0.5


@pytest.mark.parametrize("quality", ["poor", "fair", "good"])
def test_intervals_hold_the_truth_about_as_often_as_promised(quality):
    """60 data sets of 100 images with 15 ground truths for each of 5 labels: every metric in at least 51 of them."""
    truth = estimates(draw(5, 15 * 60, 6_000, quality, 1), np.ones((1, 6_000), np.uint8))
    held: dict[str, list[bool]] = {}
    for seed in range(60):
        data = draw(5, 15, 100, quality, 10 + seed)
        weights = np.concatenate([np.ones((1, 100), np.uint8), draw_halves(np.arange(100, dtype=np.int32), 60, seed)])
        for name, values in estimates(data, weights).items():
            objects = counts(data, name)
            sizes = objects if values.ndim > 1 else objects.sum()
            low, high = resample_interval(values[0], values[1:], sizes, 100)
            known = ~np.isnan(values[0])
            held.setdefault(name, []).extend(np.atleast_1d((low <= truth[name][0]) & (truth[name][0] <= high))[known])
    assert {name: np.mean(shares) for name, shares in held.items() if np.mean(shares) < 0.85} == {}
