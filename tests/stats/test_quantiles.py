"""Quantiles and their intervals: against numpy, the binomial distribution, and simulated data sets."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.bootstrap import Draws
from metrics.stats.quantiles import (
    describe_missing_end,
    least_size,
    order_ranks,
    quantile_interval,
    quantile_size,
    resampled_quantiles,
    varied_quantiles,
    weighted_quantile,
)
from tests.random_seeds import least_covered, seeds

SHARES = (0.5, 0.95)


def test_quantiles_are_numpys_averaged_ones() -> None:
    for seed in seeds(40, 200):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 9, int(rng.integers(1, 80))).astype(float)
        for share in (0.05, *SHARES):
            expected = np.quantile(values, share, method="averaged_inverted_cdf")
            assert weighted_quantile(values, share) == pytest.approx(expected), (seed, share)
            times = rng.integers(1, 4, len(values))
            expected = np.quantile(np.repeat(values, times), share, method="averaged_inverted_cdf")
            assert weighted_quantile(values, share, times.astype(float)) == pytest.approx(expected), (seed, share)


def test_resamples_are_quantiles_of_the_cases_as_often_as_drawn() -> None:
    values = np.random.default_rng(1).lognormal(size=30)
    draws = Draws.of(np.arange(30), 20, 3)
    for times, found in zip(draws.times, resampled_quantiles(values, 0.95, draws), strict=True):
        assert found == weighted_quantile(values, 0.95, times.astype(float))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("n", [1, 2, 5, 6, 20, 58, 59, 71, 72, 100, 1_000])
def test_ranks_enclose_a_quantile_as_the_binomial_distribution_says(n: int, share: float) -> None:
    low, high = order_ranks(n, share)
    below = 0.0 if low is None else float(stats.binom.cdf(low - 1, n, share))
    above = 0.0 if high is None else float(stats.binom.sf(high - 1, n, share))
    assert below + above <= 0.05 + 1e-9
    if low is not None and high is not None:
        nearer = stats.binom.cdf(low, n, share), stats.binom.sf(high - 2, n, share)
        assert min(nearer) > 0.025 or sum((nearer[0], above)) > 0.05
    assert (low is not None and high is not None) == (n >= least_size(share))


def test_no_upper_end_of_p95_with_fewer_than_59_cases() -> None:
    values = np.arange(58.0)
    ends = quantile_interval(values, 0.95)
    assert ends[1] is None
    assert describe_missing_end(ends, values, 0.95) == "no upper end with fewer than 59 cases"
    more = np.arange(59.0)
    assert quantile_interval(more, 0.95)[1] == 58.0
    assert describe_missing_end(quantile_interval(more, 0.95), more, 0.95) is None
    assert describe_missing_end(quantile_interval(more[:5], 0.5), more[:5], 0.5) == (
        "no interval with fewer than 6 cases"
    )


def test_copies_in_a_group_add_nothing_and_weights_take_away() -> None:
    values, groups = np.repeat(np.arange(100.0), 3), np.repeat(np.arange(100), 3)
    assert quantile_size(values, 0.5, None, groups) == pytest.approx(100, abs=3)
    low, high = quantile_interval(values, 0.5, None, groups)
    assert (low, high) == pytest.approx(quantile_interval(np.arange(100.0), 0.5), abs=2)
    uneven = np.where(np.arange(100) % 2, 1.0, 9.0)
    assert quantile_size(np.arange(100.0), 0.5, uneven) < 70
    few = np.repeat(np.arange(20.0), 10)
    ends = quantile_interval(few, 0.95, None, np.repeat(np.arange(20), 10))
    assert ends[1] is None
    assert "independent cases: these 200 are worth" in str(
        describe_missing_end(ends, few, 0.95, None, np.repeat(np.arange(20), 10))
    )


@pytest.mark.parametrize(("share", "groups"), [(0.5, 0), (0.95, 0), (0.5, 20), (0.95, 20)])
def test_intervals_of_heavy_tails_hold(share: float, groups: int) -> None:
    held, draws = 0, seeds(200, 800)
    truth = float(np.exp(stats.norm.ppf(share)))
    clusters = np.repeat(np.arange(20), 6) if groups else None
    for seed in draws:
        rng = np.random.default_rng(seed)
        own = rng.normal(size=120)
        common = rng.normal(size=20)[clusters] if clusters is not None else own
        values = np.exp(np.sqrt(0.3) * common + np.sqrt(0.7) * own if groups else own)
        low, high = quantile_interval(values, share, None, clusters)
        held += (low is None or low <= truth) and (high is None or truth <= high)
    assert held >= least_covered(len(draws))


def test_medians_of_many_cases_vary_like_their_resamples() -> None:
    rng = np.random.default_rng(5)
    units, weights = np.repeat(np.arange(500), 4), rng.integers(1, 4, 2_000).astype(float)
    values = np.exp(rng.normal(size=(2_000, 2)) + rng.normal(size=(500, 1))[units])
    values[::9, 1] = np.nan
    drawn = varied_quantiles(values, 0.5, units, weights, 4_000)
    draws, said = Draws.of(units, 1_000, weights=weights), ~np.isnan(values)
    resampled = [
        resampled_quantiles(values[own, place], 0.5, draws.of_cases(np.flatnonzero(own)))
        for place, own in enumerate(said.T)
    ]
    assert drawn[:, 0].tolist() == [own[0] for own in resampled]
    assert np.cov(drawn[:, 1:]) == pytest.approx(np.cov(np.array(resampled)[:, 1:]), rel=0.15)
