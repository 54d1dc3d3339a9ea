"""Risk over coverage by hand and by brute force; the guarantee by simulation and beside scipy's binomial."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from metrics.stats.bootstrap import Draws
from metrics.stats.classification.selective import Guarantee, cases_missing, guaranteed, risk_areas, risk_coverage
from metrics.stats.intervals import binomial_tail
from tests.stats.classification.selecting import SCENES, Scene, simulate


def area(score: list[float], wrong: list[bool]) -> float:
    return float(risk_areas(np.array(score), np.array(wrong), Draws.of(np.arange(len(score)), 0))[0])


def test_the_curve_by_hand() -> None:
    found = risk_coverage(np.array([0.5, 0.9, 0.5, 0.1]), np.array([True, False, False, True]))
    assert (found.threshold.tolist(), found.answered.tolist()) == ([0.9, 0.5, 0.1], [1, 3, 4])
    assert (found.wrong.tolist(), found.coverage.tolist()) == ([0, 1, 2], [0.25, 0.75, 1.0])
    assert found.risk.tolist() == pytest.approx([0.0, 1 / 3, 0.5])


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_the_area_is_the_limit_of_the_mean_risk_of_the_surest(cases: list[tuple[int, bool]]) -> None:
    """Every case a thousand times, those of equal scores mixed evenly: the mean of risk(k) over all k."""
    times = 1_000
    wrong: list[float] = []
    for score in sorted({score for score, _ in cases}, reverse=True):
        own = [mistake for one, mistake in cases if one == score]
        wrong += [sum(own) / len(own)] * (len(own) * times)
    risks = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    found = area([float(score) for score, _ in cases], [mistake for _, mistake in cases])
    assert found == pytest.approx(risks.mean(), abs=5e-3)


def test_resamples_are_the_areas_of_the_data_that_they_hold() -> None:
    rng = np.random.default_rng(1)
    score, wrong = np.round(rng.random(60), 1), rng.random(60) < 0.3
    draws = Draws.of(np.arange(60), 20)
    found = risk_areas(score, wrong, draws)
    for place, times in enumerate(draws.times.astype(int)):
        again = np.repeat(np.arange(60), times)
        assert found[place] == pytest.approx(area(score[again].tolist(), wrong[again].tolist()))


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.001, 0.999))
def test_the_binomial_tail_is_scipys(wrong: int, right: int, share: float) -> None:
    found = binomial_tail(np.array([wrong]), np.array([wrong + right]), share)
    assert found[0] == pytest.approx(binom.cdf(wrong, wrong + right, share), rel=1e-8, abs=1e-12)


def test_binomial_tails_of_many_counts_are_scipys_however_few_are_summed_at_once(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    trials = rng.integers(1, 400, 200)
    hits = rng.integers(0, trials + 1)
    for terms in (1, 1_000, 1_000_000):
        monkeypatch.setattr("metrics.stats.intervals.TERMS", terms)
        np.testing.assert_allclose(binomial_tail(hits, trials, 0.3), binom.cdf(hits, trials, 0.3), rtol=1e-11)
    assert binomial_tail(hits[:0], trials[:0], 0.3).shape == (0,)


@pytest.mark.parametrize(("right", "shown"), [(58, False), (59, True)], ids=["58", "59"])
def test_fifty_nine_right_answers_show_that_at_most_one_in_twenty_is_wrong(right: int, shown: bool) -> None:
    """ln(.05) / ln(.95) = 58.4."""
    found = guaranteed(risk_coverage(np.full(right, 0.7), np.zeros(right, bool)))
    assert found == (Guarantee(0.7, right, 0, right) if shown else None)


@pytest.mark.parametrize(
    ("n", "wrong", "missing"), [(40, 0, 19), (40, 40, 19), (200, 4, 195), (200, 7, 1_631), (200, 100, None)],
    ids=["too few", "too few, all wrong", "nearly", "hardly", "never"],
)  # fmt: skip
def test_how_many_cases_are_missing(n: int, wrong: int, missing: int | None) -> None:
    """With 4.5 of 201 wrong, 395 cases have 9: P(X ≤ 9) = .0049; 359, a tenth less, have 9 too: .0139 is above .01."""
    curve = risk_coverage(np.full(n, 0.7), np.arange(n) < wrong)
    assert (guaranteed(curve), cases_missing(curve)) == (None, missing)


def test_thresholds_beside_mapie() -> None:
    """A thousand cases of which each score from i/1000 on has wrong ones as .3·(1 − score)² says.

    MAPIE 1.6.0, BinaryClassificationController of the precision, target .95 at confidence .95, fixed sequence testing
    from 5 starts over thresholds .9005, .8505 … .0005: the lowest valid one .5005, .4505 from one start. Its p-values
    are the binomial tail, or a larger one where n·(1 − precision) is rounded up to the next whole number; it takes the
    thresholds from the user. Ours are the scores at 100 coverages, so one between these two is found.
    """
    score = np.arange(1, 1_001) / 1_000
    wrong = np.diff(np.floor(np.cumsum(0.3 * (1 - score) ** 2) + 1e-9), prepend=0) > 0
    assert guaranteed(risk_coverage(score, wrong)) == Guarantee(0.461, 540, 15, 1_000)
    theirs = {0.9005: 0.005920529220334001, 0.8005: 3.505266624882874e-05, 0.4505: 0.011137475636175571}
    for threshold, p in theirs.items():
        beyond = wrong[score >= threshold]
        ours = binomial_tail(np.array([beyond.sum()]), np.array([len(beyond)]), 0.05)
        assert ours[0] == pytest.approx(p, rel=1e-9)


def test_the_lowest_threshold_that_holds_is_given() -> None:
    """800 right answers, then 200 of which every second is wrong."""
    score = np.concatenate([np.linspace(0.6, 1.0, 800), np.linspace(0.1, 0.5, 200)])
    wrong = np.concatenate([np.zeros(800, bool), np.arange(200) % 2 == 0])
    sorted_wrong = wrong[np.argsort(-score)]
    shown = [k for k in range(100, 1_001, 10) if binom.cdf(sorted_wrong[:k].sum(), k, 0.05) <= 0.01]
    assert guaranteed(risk_coverage(score, wrong)).answered == max(shown) == 850


@pytest.mark.parametrize("cases", [60, 600])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_guarantee_is_false_in_one_of_twenty_data_sets_at_most(scene: Scene, cases: int) -> None:
    false, _ = simulate(scene, cases, 120)
    assert false <= 0.05 + 3 * (0.05 * 0.95 / 120) ** 0.5
