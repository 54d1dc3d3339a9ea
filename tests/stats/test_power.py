"""Power of paired comparisons: by simulation and against statsmodels."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.intervals import wilson
from metrics.stats.power import Aim, aim, design_effect, detectable, kappa_deviation, units_needed


def test_the_detectable_difference_is_found_with_80_percent_power() -> None:
    n, rng = 50, np.random.default_rng(9)
    found = stats.ttest_1samp(rng.normal(detectable(1 / np.sqrt(n), n), 1.0, (n, 3_000)), 0).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("n", [10, 20, 50, 300, 5_000])
def test_power_like_statsmodels(n: int) -> None:
    from statsmodels.stats.power import TTestPower

    found = detectable(1 / np.sqrt(n), n)
    assert found == pytest.approx(TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8), rel=0.015)


@pytest.mark.parametrize("effect", [0.03, 0.1, 0.2, 0.5, 1.0])
def test_units_needed_like_statsmodels(effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert units_needed(1 / np.sqrt(80), 80, effect) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("wanted", [1e-4, 0.01, 0.3, 5.0])
def test_units_needed_are_the_least_that_do(wanted: float) -> None:
    needed = units_needed(0.02, 100, wanted)
    error = 0.02 * np.sqrt(100 / np.arange(max(2, needed - 1), needed + 1))
    reached = [
        detectable(one, n) <= wanted for one, n in zip(error, range(max(2, needed - 1), needed + 1), strict=True)
    ]
    assert reached[-1]
    assert needed == 2 or not reached[0]


@pytest.mark.parametrize(("kappa", "share"), [(0.0, 0.5), (0.4, 0.7), (0.6, 0.9), (0.8, 0.5), (0.9, 0.2)])
def test_the_error_of_kappa_like_statsmodels(kappa: float, share: float) -> None:
    """cohens_kappa of the expected table, whose standard error is Fleiss, Cohen & Everitt's."""
    from statsmodels.stats.inter_rater import cohens_kappa

    mixed = share * (1 - share)
    table = np.array([[share**2 + kappa * mixed, mixed * (1 - kappa)], [0, (1 - share) ** 2 + kappa * mixed]])
    table[1, 0] = table[0, 1]
    found = cohens_kappa(table * 10_000)
    assert found.kappa == pytest.approx(kappa)
    assert kappa_deviation(kappa, share) == pytest.approx(100 * found.std_kappa)


@pytest.mark.parametrize(("share", "n"), [(0.8, 50), (0.5, 200), (0.95, 400)])
def test_the_width_of_a_share_is_that_of_its_intervals(share: float, n: int) -> None:
    hits = np.random.default_rng(11).binomial(n, share, 2_000)
    ends = [wilson(int(one), n) for one in hits]
    simulated = np.mean([(high - low) / 2 for low, high in ends if low is not None and high is not None])
    assert Aim((share * (1 - share)) ** 0.5, share).half_width(n) == pytest.approx(simulated, rel=0.02)


def test_cases_for_the_width_of_a_share_like_statsmodels() -> None:
    from statsmodels.stats.proportion import samplesize_confint_proportion

    expected = samplesize_confint_proportion(0.8, 0.05)
    assert Aim(0.4, 0.8).cases_for_width(0.05) == pytest.approx(expected, rel=0.02)
    assert Aim(0.4).cases_for_width(0.05) == pytest.approx(expected, rel=0.02), "by Student's t"


@pytest.mark.parametrize("own", [Aim(0.4, 0.8), Aim(0.3), Aim(0.8, effect=3.0)])
def test_needed_cases_are_the_least_that_do(own: Aim) -> None:
    for needed, precision in ((own.cases_for_width(0.04), own.half_width), (own.cases_to_detect(0.04), own.detectable)):
        assert precision(needed) <= 0.04 + 1e-9
        assert precision(needed - 1) > 0.04


def test_two_models_that_are_right_or_wrong_by_mcnemars_test() -> None:
    """The detectable difference of 400 cases, of which 20 % differ, is found in 80 % of data sets."""
    rng, n, differ = np.random.default_rng(12), 400, 0.2
    truth = Aim(differ**0.5).detectable(n)
    wins, losses, _ = rng.multinomial(n, [(differ + truth) / 2, (differ - truth) / 2, 1 - differ], 4_000).T
    exact = 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    mid = exact - stats.binom.pmf(np.minimum(wins, losses), wins + losses, 0.5)
    assert (mid <= 0.05).mean() == pytest.approx(0.8, abs=0.03)


def test_groups_and_repeats_change_the_variance_as_said() -> None:
    """Means of 60 cases in groups of 4 with ICC .3, each answered 3 times with 40 % of the noise between repeats."""
    rng, cases = np.random.default_rng(13), 60
    means = []
    for _ in range(3_000):
        level = rng.normal(0, 0.3**0.5, 15).repeat(4) + rng.normal(0, 0.7**0.5, cases)
        means.append(level.mean())
    assert np.std(means) ** 2 * cases == pytest.approx(design_effect(4, 0.3), rel=0.1)
    noise = rng.normal(0, 0.6**0.5, (3_000, cases)) + rng.normal(0, 0.4**0.5, (3_000, cases, 3)).mean(axis=2)
    assert noise.mean(axis=1).std() ** 2 * cases == pytest.approx(design_effect(repeats=3, repeat_share=0.4), rel=0.1)


def test_an_aim_of_each_kind() -> None:
    assert aim("share", 0.8) == Aim(pytest.approx(0.4), 0.8)
    assert aim("mean", 0.3, effect=2.0) == aim("difference", 0.3, effect=2.0) == Aim(0.3, effect=2.0)
    assert (aim("wins", 0.25).deviation, aim("kappa", 0.6, 0.7).deviation) == (0.5, kappa_deviation(0.6, 0.7))
    for wrong in (("share", 1.2), ("mean", -1.0), ("kappa", 1.0), ("kappa", 0.5, 1.0)):
        with pytest.raises(ValueError, match="expected shares and κ between 0 and 1"):
            aim(*wrong)  # type: ignore[arg-type]
