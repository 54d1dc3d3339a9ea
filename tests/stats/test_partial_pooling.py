"""Partial pooling: τ² of statsmodels, the published baseball averages, and error and coverage by simulation."""

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from metrics.stats.intervals import wilson
from metrics.stats.slice_means import paule_mandel, pooled, sampling_variances

EFFECTS = np.array([0.61, 0.18, 0.32, 0.45, 0.08, 0.72])
VARIANCES = np.array([0.02, 0.05, 0.03, 0.01, 0.04, 0.06])


def test_the_variance_between_is_that_of_statsmodels() -> None:
    for scale in (1.0, 0.5, 0.1):
        expected = combine_effects(EFFECTS, scale * VARIANCES, method_re="iterated")
        assert paule_mandel(EFFECTS, scale * VARIANCES) == pytest.approx(expected.tau2, abs=1e-6)
        assert pooled(EFFECTS, scale * VARIANCES).centre == pytest.approx(expected.mean_effect_re, abs=1e-6)
    assert (paule_mandel(EFFECTS, 100 * VARIANCES), paule_mandel(EFFECTS[:1], VARIANCES[:1])) == (0.0, 0.0)


def test_batting_averages_of_efron_and_morris() -> None:
    """18 players after 45 times at bat in 1970, the estimates of Scientific American 236:119, 1977 (their c = .212)."""
    hits = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
    published = (
        0.294, 0.289, 0.284, 0.279, 0.275, 0.275, 0.270, 0.265, 0.261, 0.261, *[0.256] * 5, 0.251, 0.247, 0.242,
    )  # fmt: skip
    share = hits.mean() / 45
    made = pooled(hits / 45, np.full(18, share * (1 - share) / 45))
    assert made.means == pytest.approx(published, abs=0.0012)
    assert 1 - made.shrunk[0] == pytest.approx(0.212, abs=0.005)


def test_morris_variance_on_a_worked_example() -> None:
    """Four means of variance 1: S = 20, τ² = 20/3 − 1, B = 1/3 · 1 / (20/3) = .05."""
    made = pooled(np.array([-3.0, -1.0, 1.0, 3.0]), np.ones(4))
    assert (made.between, made.shrunk) == (pytest.approx(20 / 3 - 1), pytest.approx([0.05] * 4))
    assert made.means == pytest.approx([-2.85, -0.95, 0.95, 2.85])
    assert made.high[3] - made.means[3] == pytest.approx(1.959964 * np.sqrt(1 - 0.75 * 0.05 + 2 * 0.05**2 * 9))


def test_few_groups_are_not_pooled_and_missing_ones_stay_missing() -> None:
    assert pooled(np.array([1.0, 2.0, 3.0]), np.ones(3)) is None
    assert pooled(np.ones(5), np.zeros(5)) is None, "nothing varies"
    made = pooled(np.array([0.1, np.nan, 0.2, 0.3, 0.9]), np.full(5, 0.04), (0.0, 1.0))
    assert (np.isnan(made.means).tolist(), made.low.tolist()[0]) == ([False, True, False, False, False], 0.0)


def test_none_of_five_right_is_not_certain() -> None:
    """Its own answers have no variance; that within all groups counts for 20 units."""
    values = np.array([0.0] * 5 + [1.0, 0.0] * 10)
    masks = np.array([np.arange(25) < 5, np.arange(25) >= 5])
    common = 5.0 * 1 / (4 + 19)
    expected = [20 * common / 24 / 5, (19 * 5 / 19 + 20 * common) / 39 / 20]
    assert sampling_variances(values, masks) == pytest.approx(expected)
    assert sampling_variances(values, masks, np.ones(25), np.arange(25)) == pytest.approx(expected)
    assert np.isnan(sampling_variances(values, np.zeros((1, 25), bool))).all()


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_pooled_shares_are_closer_to_the_truth_and_their_intervals_hold_it(spread: float) -> None:
    """Eight slices of 5 to 50 cases, 80 % right, the slices' true shares apart by `spread`."""
    rng, raw, drawn, held, wide, narrow = np.random.default_rng(0), [], [], [], [], []
    for _ in range(150):
        sizes = rng.choice([5, 10, 20, 50], 8)
        scale = 0.16 / spread**2 - 1 if spread else 1e9
        truth = rng.beta(0.8 * scale, 0.2 * scale, 8)
        owner = np.repeat(np.arange(8), sizes)
        values = (rng.random(len(owner)) < truth[owner]).astype(float)
        masks = owner == np.arange(8)[:, None]
        means = np.array([values[mask].mean() for mask in masks])
        made = pooled(means, sampling_variances(values, masks), (0.0, 1.0))
        raw.append((means - truth) ** 2)
        drawn.append((made.means - truth) ** 2)
        held.append((made.low <= truth) & (truth <= made.high))
        ends = [wilson(share * n, n) for share, n in zip(means.tolist(), sizes.tolist(), strict=True)]
        wide.append(np.mean([high - low for low, high in ends if low is not None and high is not None]))
        narrow.append((made.high - made.low).mean())
    assert np.mean(drawn) < 0.6 * np.mean(raw)
    assert 0.92 <= np.mean(held) <= 1
    assert np.mean(narrow) < np.mean(wide)
