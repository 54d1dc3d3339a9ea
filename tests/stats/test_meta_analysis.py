"""Models over suites, against statsmodels' combine_effects, least squares and simulation."""

import numpy as np
import pytest

from metrics.stats.meta_analysis import Study, chi_square_p, mean_of_suites, pooled_means

EFFECTS = np.array([0.095, 0.277, 0.367, 0.664, 0.462, 0.185])  # Borenstein et al. 2009, table 14.1
VARIANCES = np.array([0.033, 0.031, 0.050, 0.011, 0.043, 0.023])


def pair(difference: float, variance: float) -> Study:
    """A suite of two models that differ by that much."""
    return Study(np.array([0, 1]), np.array([0.4, 0.4 + difference]), np.diag([variance / 2] * 2), 1e6)


def test_two_models_are_dersimonian_and_laird() -> None:
    """statsmodels 0.14, combine_effects(EFFECTS, VARIANCES, method_re="dl"), and its test of homogeneity."""
    found = pooled_means([pair(*both) for both in zip(EFFECTS, VARIANCES, strict=True)], 2)
    assert found.common[1] - found.common[0] == pytest.approx(0.40925823794776806)
    assert found.value[1] - found.value[0] == pytest.approx(0.3576683836925969)
    assert found.tau**2 == pytest.approx(0.0362824684267649)
    assert (found.q, found.freedom) == (pytest.approx(11.743340508574377), 5)
    assert (found.p, found.i2) == (pytest.approx(0.038478976911179005), pytest.approx(0.5742267716456608))
    assert (found.best.tolist(), found.worst.tolist()) == ([2, 1], [2, 1])


def test_without_heterogeneity_it_is_weighted_least_squares() -> None:
    """Three models, three suites, each of two of them; and a chain decides models that never met."""
    rng = np.random.default_rng(0)
    strength, level = np.array([0.5, 0.6, 0.8]), np.array([0.0, 0.1, -0.2])
    studies, rows = [], []
    for suite, models in enumerate(([0, 1], [1, 2], [0, 2])):
        own = np.array(models)
        means = strength[own] + level[suite] + rng.normal(0, 0.001, 2)
        studies.append(Study(own, means, np.diag([0.01, 0.02 + suite / 100]), 1e6))
        rows += [(model, suite, mean, variance) for model, mean, variance in
                 zip(models, means, (0.01, 0.02 + suite / 100), strict=True)]  # fmt: skip
    found = pooled_means(studies, 3)
    assert found.tau == 0
    design = np.zeros((6, 6))
    for row, (model, suite, _, variance) in enumerate(rows):
        design[row, [model, 3 + suite]] = 1 / np.sqrt(variance)
    scaled = np.array([mean / np.sqrt(variance) for _, _, mean, variance in rows])
    fitted = np.linalg.lstsq(design, scaled, rcond=None)[0]
    assert found.value == pytest.approx(fitted[:3] + fitted[3:].mean())
    assert found.value == pytest.approx(found.common)
    assert found.value == pytest.approx(strength + level.mean(), abs=0.005)


def test_suites_without_a_common_model_say_nothing_together() -> None:
    apart = [Study(np.array(models), np.zeros(2), np.eye(2), 9) for models in ([0, 1], [2, 3])]
    assert pooled_means(apart, 4) is None
    assert pooled_means([*apart, Study(np.array([1, 2]), np.zeros(2), np.eye(2), 9)], 4) is not None
    assert pooled_means([], 0) is None


def test_a_plain_mean_of_suites() -> None:
    """Two suites with the standard errors .03 and .04: error .025, 625 / (81/8 + 256/4) degrees of freedom."""
    value, low, high = mean_of_suites([0.6, 0.8], [0.03, 0.04], [1e6, 1e6])
    assert (value, low, high) == pytest.approx((0.7, 0.7 - 1.96 * 0.025, 0.7 + 1.96 * 0.025), abs=1e-4)
    few = mean_of_suites([0.6, 0.8], [0.03, 0.04], [8, 4])
    assert few[2] - few[0] == pytest.approx(2.286 * 0.025, abs=2e-5)  # t of 8.43 degrees
    assert mean_of_suites([0.6, 0.8], [0.0, 0.0], [8, 4])[1:] == (pytest.approx(0.7), pytest.approx(0.7))


@pytest.mark.parametrize(
    ("q", "freedom", "p"), [(3.841, 1, 0.05), (5.991, 2, 0.05), (16.919, 9, 0.05), (18.307, 10, 0.05), (0, 4, 1.0)]
)
def test_the_tail_of_chi_square(q: float, freedom: int, p: float) -> None:
    """Against the tables."""
    assert chi_square_p(q, freedom) == pytest.approx(p, abs=2e-5)


@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_intervals_cover_where_suites_differ(tau: float) -> None:
    """Four suites of 40 cases, two of three models in every second one: 93–98 %; that of one difference misses many."""
    rng = np.random.default_rng(1)
    strength, held, common, trials = np.array([0.6, 0.7, 0.65]), 0.0, 0.0, 250
    for _ in range(trials):
        levels, studies = rng.normal(0, 0.1, 4), []
        for suite, level in enumerate(levels):
            models = np.delete(np.arange(3), suite // 2) if suite % 2 else np.arange(3)
            means = strength[models] + level + rng.normal(0, tau / np.sqrt(2), len(models))
            cases = means + rng.normal(0, 0.2, 40)[:, None] + rng.normal(0, 0.25, (40, len(models)))
            studies.append(Study(models, cases.mean(axis=0), np.cov(cases.T) / 40, 39))
        found = pooled_means(studies, 3)
        truth = strength + levels.mean()
        held += ((found.low <= truth) & (truth <= found.high)).mean() / trials
        common += ((found.common_low <= truth) & (truth <= found.common_high)).mean() / trials
    assert 0.93 <= held <= 0.985
    assert common < 0.8 if tau else common > 0.92
