"""Whether neighbours of a stream resemble each other: against scipy, by hand, and by simulation at every look."""

import numpy as np
import pytest
from scipy import special

from metrics.stats.sequential import NEEDED, dependence_evidence, lag_correlation
from tests.benchmarks.bench_monitor_evidence import correlated, dependence_found


def test_evidence_is_a_mixture_of_chains_against_the_likeliest_share() -> None:
    passed = np.random.default_rng(1).random(300) < 0.8
    before, after = passed[:-1], passed[1:]
    chain = sum(
        special.betaln((~after[before == state]).sum() + 0.5, after[before == state].sum() + 0.5)
        - special.betaln(0.5, 0.5)
        for state in (False, True)
    )
    share = after.mean()
    alone = after.sum() * np.log(share) + (~after).sum() * np.log(1 - share)
    assert dependence_evidence(passed) == pytest.approx(chain - alone)


def test_correlation_with_the_one_before() -> None:
    passed = np.random.default_rng(2).random(5_000) < 0.7
    assert lag_correlation(passed) == pytest.approx(np.corrcoef(passed[1:], passed[:-1])[0, 1], abs=1e-3)
    assert lag_correlation(np.tile([True, False], 50)) == pytest.approx(-0.99)
    for equal in (np.ones(10, bool), np.zeros(0, bool), np.ones(1, bool)):
        assert lag_correlation(equal) == 0.0
        assert dependence_evidence(equal) < NEEDED


@pytest.mark.parametrize("rate", [0.5, 0.88, 0.98])
def test_independent_results_are_not_found_to_depend_at_any_look(rate: float) -> None:
    rng = np.random.default_rng(3)
    found = [dependence_found(correlated(rng, rate, 1_000, None)) for _ in range(60)]
    assert sum(one is not None for one in found) <= 60 * 0.05 + 3


def test_sessions_without_a_name_are_found() -> None:
    """Sessions of five lines that half resemble each other, of which lines as units make too narrow intervals."""
    rng = np.random.default_rng(4)
    found = [dependence_found(correlated(rng, 0.88, 1_000, 0.5)) for _ in range(20)]
    assert all(one is not None for one in found)
