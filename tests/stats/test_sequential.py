"""Looks at every time: against the mixture by quadrature, and by simulation under 20 looks."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import integrate, stats

from metrics.stats.paired_intervals import decide_noninferiority, newcombe_paired
from metrics.stats.paired_tests import paired_tests
from metrics.stats.power import detectable, units_needed
from metrics.stats.sequential import FEWEST, SHARPNESS, anytime_interval, anytime_p, anytime_stretch
from tests.benchmarks.bench_decisions import balanced, found_at_every_look
from tests.random_seeds import seeds

LOOKS = np.unique(np.geomspace(10, 1_000, 20).astype(int))


@pytest.mark.parametrize(("p", "units"), [(0.03, 40), (0.001, 100), (1e-6, 3_000)])
def test_p_is_the_inverse_of_a_mixture_of_likelihood_ratios(p: float, units: int) -> None:
    """Of normal differences of spread 1 to none, over N(0, ρ²) of the difference, by numerical integration."""
    total = float(stats.norm.isf(p / 2)) * math.sqrt(units)

    def ratio(difference: float) -> float:
        density = float(stats.norm.pdf(difference, scale=math.sqrt(SHARPNESS)))
        return math.exp(difference * total - difference**2 * units / 2) * density

    peak = total / (units + 1 / SHARPNESS)
    reach = 12 / math.sqrt(units)
    mixture, _ = integrate.quad(ratio, peak - reach, peak + reach, epsabs=0, epsrel=1e-10)
    assert anytime_p(p, units) == pytest.approx(min(1.0, 1 / mixture), rel=1e-6)


@pytest.mark.parametrize("units", [FEWEST, 100, 5_000])
def test_interval_and_p_agree(units: int) -> None:
    z = 1.959963984540054 * anytime_stretch(units)
    assert anytime_p(2 * float(stats.norm.sf(z)), units) == pytest.approx(0.05)
    low, high = anytime_interval(z, z - 1.959963984540054, z + 1.959963984540054, units)
    assert (low, high) == pytest.approx((0.0, 2 * z))


def test_nothing_is_said_of_few_units() -> None:
    assert anytime_p(1e-9, FEWEST - 1) == 1.0
    assert anytime_interval(0.5, 0.5, 0.5, FEWEST - 1) == (-math.inf, math.inf)


def test_units_that_every_look_needs() -> None:
    needed = units_needed(0.02, 100, 0.05, anytime_stretch)
    errors = {units: 0.2 / math.sqrt(units) for units in (needed - 1, needed)}
    enough = {units: detectable(error, units, anytime_stretch) <= 0.05 for units, error in errors.items()}
    assert enough == {needed - 1: False, needed: True}
    assert needed > 1.5 * units_needed(0.02, 100, 0.05)
    assert units_needed(0.001, 100, 5.0, anytime_stretch) == FEWEST


@pytest.mark.parametrize(
    ("name", "binary"), [("normal", False), ("right or wrong", True), ("rarely different", False), ("skewed", False)]
)
def test_twenty_looks_find_nothing_in_95_percent_of_series(name: str, binary: bool) -> None:
    """Where there is no difference; the test of a single look finds one in 15 to 40 % of the same series."""
    rng, shape = np.random.default_rng(5), (int(LOOKS[-1]), 800)
    signs = np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    drawn = {
        "normal": lambda: rng.normal(0, 1, shape),
        "right or wrong": lambda: np.where(rng.random(shape) < 0.2, signs, 0.0),
        "rarely different": lambda: np.where(rng.random(shape) < 0.03, signs, 0.0),
        "skewed": lambda: rng.exponential(1, shape) - 1,
    }[name]()
    p = [paired_tests(drawn[:n], binary=binary).p for n in LOOKS]
    once = np.any([of <= 0.05 for of in p], axis=0).mean()
    always = np.any([[anytime_p(one, int(n)) <= 0.05 for one in of] for n, of in zip(LOOKS, p, strict=True)], axis=0)
    assert once > 0.13
    assert always.mean() <= 0.05


@pytest.mark.parametrize("chance", [0.005, 0.02, 0.05])
def test_twenty_looks_do_not_overlook_rare_losses(chance: float) -> None:
    """Cases that are a little better but for rare losses of all, so that there is no difference."""
    drawn = balanced(np.random.default_rng(7), (int(LOOKS[-1]), 100), chance)
    found, alone = np.zeros((2, 100), bool)
    for n in LOOKS:
        tested = paired_tests(drawn[:n])
        alone |= np.array([anytime_p(p, int(n)) <= 0.05 for p in tested.p])
        found |= found_at_every_look(drawn[:n], tested)
    assert alone.mean() > 0.15
    assert found.mean() <= 0.04


def test_twenty_looks_do_not_let_a_worse_model_pass() -> None:
    """Shares that differ by the margin: one of 20 single looks passes in over 10 % of series, of these in < 2.5 %."""
    margin, n, series = 0.05, int(LOOKS[-1]), len(seeds(300, 600))
    draws = np.random.default_rng(6).choice(4, (series, n), p=[0.7, 0.05, 0.10, 0.15])  # both, b, a, neither
    counts = np.stack([(draws == kind).cumsum(axis=1) for kind in range(4)], axis=2)

    @cache
    def passes(both: int, only_b: int, only_a: int, neither: int) -> list[bool]:
        units, apart = both + only_b + only_a + neither, (only_b - only_a) / (both + only_b + only_a + neither)
        ends = newcombe_paired(both, only_b, only_a, neither)
        every = [ends, anytime_interval(apart, *ends, units)]
        return [decide_noninferiority(apart, one, margin, units, 0.1).low > -margin for one in every]

    passed = np.any([[passes(*row) for row in counts[:, look - 1].tolist()] for look in LOOKS], axis=0).T
    assert passed[0].mean() > 0.1
    assert passed[1].mean() <= 0.025
