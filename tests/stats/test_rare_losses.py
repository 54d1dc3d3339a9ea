"""Rare losses among the units that were not seen: against Clopper and Pearson's interval, and by simulation."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.rare_losses import COUNTS, TAIL, UNKNOWN, Side, both_sides
from tests.benchmarks.bench_decisions import differing, passed, rare_losses


@pytest.mark.parametrize(("lost", "n"), [(0, 20), (1, 20), (4, 50), (16, 100)])
def test_losses_of_all_reach_as_far_as_clopper_and_pearsons_interval(lost: int, n: int) -> None:
    upper = float(stats.beta.ppf(1 - TAIL, lost + 1, n - lost))
    assert lost / n + differing(lost, n).reach() == pytest.approx(upper)


def test_small_losses_do_not_hide_that_large_ones_were_not_seen() -> None:
    """Noise is no evidence against a rare loss of all: the reach is that of no loss at all."""
    noise = np.random.default_rng(1).normal(0, 0.001, 30)
    below, above = both_sides(noise, 1.0)
    assert below.reach() == pytest.approx(1 - TAIL ** (1 / 30), abs=0.001)
    assert above.reach() == pytest.approx(below.reach(), abs=0.001)


def test_the_reach_is_the_largest_over_the_cut_offs() -> None:
    sizes, n = np.random.default_rng(2).random(40), 60
    side = Side.of(np.concatenate([sizes, np.zeros(n - 40)]), 1.0)
    falling = np.sort(sizes)[::-1]
    counts = [count for count in COUNTS if count <= 40]
    reaches = [(stats.beta.ppf(1 - TAIL, k + 1, n - k) - k / n) * (falling[:k].sum() + 1) / (k + 1) for k in counts]
    assert side.reach() == pytest.approx(max(reaches))


@pytest.mark.parametrize("lost", [0, 1, 4])
def test_at_every_look_p_and_reach_agree(lost: int) -> None:
    """Where the reach ends at 0, p is 5 %."""
    side = differing(lost, 200)
    assert side.reach(anytime=True) > 1.2 * side.reach()
    assert side.anytime_p(side.reach(anytime=True)) == pytest.approx(2 * TAIL, rel=1e-3)
    assert side.anytime_p(2 * side.reach(anytime=True)) < 0.001


def test_groups_and_weights() -> None:
    """Equal groups are units; unequal ones are worth fewer (Kish); weights scale a unit's part of the mean."""
    rng = np.random.default_rng(3)
    groups = rng.normal(0, 0.1, 20)
    plain = both_sides(groups, 1.0)
    of_groups = both_sides(np.repeat(groups, 3), 1.0, None, np.repeat(np.arange(20), 3))
    for one, other in zip(plain, of_groups, strict=True):
        assert (other.units, other.sums) == (one.units, pytest.approx(one.sums))
    weights = np.repeat([1.0, 3.0], 10)
    below, above = both_sides(groups, 1.0, weights)
    assert below.units == above.units == 16  # 40² / 100
    assert above.sums[1] == pytest.approx((groups * weights).max() / 2)
    assert both_sides(np.zeros(0), 1.0, np.zeros(0))[0].reach() == 0.0


def test_without_knowledge_nothing_is_added() -> None:
    assert (UNKNOWN.reach(), UNKNOWN.anytime_p(0.1), UNKNOWN.units_needed(0.1)) == (0.0, 0.0, 0)


@pytest.mark.parametrize(("n", "noise"), [(20, 0.001), (30, 0.001), (30, 0.05), (50, 0.01)])
@pytest.mark.parametrize(("chance", "size", "margin"), [(0.05, 1.0, 0.05), (0.1, 0.5, 0.05), (0.1, 1.0, 0.1)])
def test_rare_losses_in_noise_pass_in_2_5_percent(
    n: int, noise: float, chance: float, size: float, margin: float
) -> None:
    """Where the mean is worse by just the margin; counting tiny losses as seen ones let up to 36 % pass."""
    drawn = rare_losses(np.random.default_rng([n, 5]), (n, 200), noise, chance, size)
    assert passed(drawn, margin).mean() <= 0.025 + 2 * 0.011


def test_equal_models_pass_with_the_cases_that_the_rule_of_three_asks_for() -> None:
    drawn = np.random.default_rng(6).normal(0, 0.01, (100, 200))
    assert passed(drawn, 0.05).all()
    assert not passed(drawn, 0.03).any()


def test_in_groups_and_with_weights_rare_losses_do_not_pass_either() -> None:
    groups = rare_losses(np.random.default_rng(7), (30, 150), 0.001, 0.1, 1.0)
    assert passed(np.repeat(groups, 3, axis=0), 0.1, None, np.repeat(np.arange(30), 3)).mean() <= 0.05
    assert passed(groups, 0.1, np.random.default_rng(8).lognormal(0, 0.5, 30)).mean() <= 0.05
