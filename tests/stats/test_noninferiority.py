"""Non-inferiority and equivalence: against statsmodels' TOST and Tango's test, and by simulation at the margin."""

import math

import numpy as np
import pytest
from scipy import stats

from metrics.stats.paired_intervals import decide_noninferiority, difference_intervals, newcombe_paired
from metrics.stats.power import detectable
from metrics.stats.rare_losses import Side
from tests.benchmarks.bench_decisions import differing, passed, rare_losses, tango
from tests.random_seeds import seeds

WITHIN = ("equivalent", "not_worse")


@pytest.mark.parametrize(("difference", "interval", "significant", "verdict"), [
    (0.03, (0.01, 0.05), 1, "better"),
    (0.00, (-0.01, 0.01), 0, "equivalent"),
    (0.01, (-0.01, 0.03), 0, "not_worse"),
    (-0.01, (-0.015, -0.005), -1, "equivalent"),
    (-0.05, (-0.08, -0.03), -1, "worse"),
    (-0.03, (-0.05, -0.01), -1, "worse"),
    (-0.01, (-0.03, 0.01), 0, "open"),
    (0.01, (-0.03, 0.05), 0, "open"),
])  # fmt: skip
def test_verdicts(difference: float, interval: tuple[float, float], significant: int, verdict: str) -> None:
    """With a margin of .02; significantly worse by less than the margin is still within it."""
    made = decide_noninferiority(difference, interval, 0.02, 100, (interval[1] - interval[0]) / 3.97, significant)
    assert (made.verdict, made.more is None) == (verdict, verdict != "open")


def unseen(n: int) -> tuple[Side, Side]:
    """Return the sides of n equal cases, of which one may differ by all."""
    return differing(0, n), differing(0, n)


def test_what_is_better_must_not_be_worse_by_the_margin_through_rare_losses() -> None:
    """30 cases that are each better by .05 leave 11.6 % open that lose all; if not significant, so is equality."""
    made = decide_noninferiority(0.05, (0.05, 0.05), 0.01, 30, 0.0, 1, *unseen(30))
    assert (made.verdict, round(made.low, 3), made.more) == ("open", -0.066, 60 - 30)
    made = decide_noninferiority(0.05, (0.05, 0.05), 0.07, 30, 0.0, 1, *unseen(30))
    assert (made.verdict, made.low, made.high) == ("better", 0.05, 0.05)
    made = decide_noninferiority(-0.05, (-0.05, -0.05), 0.01, 30, 0.0, -1, *unseen(30))
    assert (made.verdict, made.low, made.high) == ("worse", -0.05, -0.05)


def test_equivalence_is_two_one_sided_tests_at_2_5_percent() -> None:
    """TOST of statsmodels, from the same 95 % interval of t."""
    from statsmodels.stats.weightstats import ttost_paired

    rng, seen = np.random.default_rng(3), set()
    for _ in range(200):
        n, margin = int(rng.integers(5, 60)), float(rng.uniform(0.05, 0.6))
        apart = rng.normal(rng.uniform(-0.2, 0.2), 0.4, n)
        error = float(apart.std(ddof=1) / math.sqrt(n))
        half = float(stats.t.ppf(0.975, n - 1)) * error
        mean = float(apart.mean())
        made = decide_noninferiority(mean, (mean - half, mean + half), margin, n, error)
        tost, lower, _ = ttost_paired(apart, np.zeros(n), -margin, margin)
        assert (made.verdict == "equivalent", made.verdict in WITHIN) == (tost < 0.025, lower[1] < 0.025)
        seen.add(made.verdict)
    assert seen == {"equivalent", "not_worse", "open"}


def test_tangos_published_numbers() -> None:
    """Statistics in Medicine 17:891, 1998: two disinfections of lenses, 43 of 44 both effective, 1 only the old one.

    Z = 1.709 at a margin of .10, p = .044: not worse at 5 %, and not at the 2.5 % that decides here.
    """
    z = tango(0, 1, 44, 0.1)
    assert (round(z, 3), round(float(stats.norm.sf(z)), 3)) == (1.709, 0.044)
    assert decide_noninferiority(-1 / 44, interval_of(43, 0, 1, 0), 0.1, 44, 0.0227).verdict == "open"
    assert decide_noninferiority(-1 / 44, interval_of(43, 0, 1, 0), 0.12, 44, 0.0227).verdict == "equivalent"


def interval_of(*counts: int) -> tuple[float, float]:
    low, high = newcombe_paired(*counts)
    assert low is not None
    assert high is not None
    return low, high


@pytest.mark.parametrize(
    ("n", "share", "margin", "discordant"),
    [(50, 0.8, 0.1, 0.2), (100, 0.8, 0.05, 0.1), (400, 0.95, 0.02, 0.03), (400, 0.5, 0.05, 0.3)],
)
def test_a_share_that_is_worse_by_the_margin_passes_in_2_5_percent(n, share, margin, discordant) -> None:
    """As often as by Tango's test, the standard one of paired shares, and mostly on the same tables."""
    only_a, only_b = (discordant + margin) / 2, (discordant - margin) / 2
    chances = [share - only_a, only_b, only_a, 1 - share - only_b]
    draws = len(seeds(1_500, 4_000))
    tables, times = np.unique(np.random.default_rng(1).multinomial(n, chances, draws), axis=0, return_counts=True)
    ours = [
        decide_noninferiority(
            (b - a) / n, interval_of(c, b, a, d), margin, n, 0.1, 0, differing(a, n), differing(b, n)
        ).verdict
        in WITHIN
        for c, b, a, d in tables.tolist()
    ]
    theirs = [tango(int(b), int(a), n, margin) > stats.norm.ppf(0.975) for _, b, a, _ in tables]
    assert times[ours].sum() / draws == pytest.approx(0.025, abs=0.011)
    assert times[np.not_equal(ours, theirs)].sum() / draws <= 0.01


RARE = [(10, 0.04), (50, 0.04), (20, 0.2), (50, 0.1), (100, 0.04), (200, 0.02)]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("n", "loses"), RARE)
def test_losses_that_were_not_seen_are_counted_with(n: int, loses: float, whole: bool) -> None:
    """Cases lose with a small chance, all or a part drawn evenly, else nothing differs: few such cases say little."""
    rng = np.random.default_rng(2)
    apart = -1.0 * (rng.random((n, 400)) < loses) * (np.ones((n, 400)) if whole else rng.random((n, 400)))
    margin = loses if whole else loses / 2
    assert passed(apart, margin).mean() <= 0.025 + 2 * 0.0078


def test_the_interval_alone_would_pass_too_often() -> None:
    apart = rare_losses(np.random.default_rng(2), (20, 400), 0.001, 0.05, 1.0)
    low, _ = difference_intervals(apart, widest=1.0)
    assert (low > -0.05).mean() > 0.3


@pytest.mark.parametrize(("n", "wins", "both"), [(100, 0, 80), (100, 0, 50), (20, 1, 10), (100, 2, 80)])
def test_shares_without_a_loss_are_as_open_as_by_tangos_interval(n: int, wins: int, both: int) -> None:
    """Newcombe's interval alone reaches half as far where half of the cases are right."""
    ends = interval_of(both, wins, 0, n - both - wins)
    made = decide_noninferiority(wins / n, ends, 0.001, n, 0.1, 0, differing(0, n), differing(wins, n))
    margin = next(
        step / 10_000 for step in range(1, 10_000) if tango(wins, 0, n, step / 10_000) > stats.norm.ppf(0.975)
    )
    assert made.low == pytest.approx(-margin, abs=0.01)
    assert made.low <= ends[0]


def test_cases_without_a_loss_that_are_needed() -> None:
    """The rule of three: 0 of n leaves 1 − .025^(1/n), so 1 point needs 368 cases without a loss."""
    made = decide_noninferiority(0.0, (0.0, 0.0), 0.01, 20, 0.0, 0, *unseen(20))
    assert (made.verdict, made.more) == ("open", 368 - 20)
    assert decide_noninferiority(0.0, (0.0, 0.0), 0.01, 368, 0.0, 0, *unseen(368)).verdict == "equivalent"
    assert decide_noninferiority(0.0, (0.0, 0.0), 0.01, 367, 0.0, 0, *unseen(367)).verdict == "open"


@pytest.mark.parametrize("truth", [-0.06, -0.02, 0.0, 0.05])
def test_with_more_cases_the_answer_comes_in_80_percent(truth: float) -> None:
    """If the difference that was found is the true one: the answer that comes sooner, or where there are two either."""
    n, margin, spread = 40, 0.1, 0.5
    error = spread / math.sqrt(n)
    made = decide_noninferiority(truth, (truth - 2.02 * error, truth + 2.02 * error), margin, n, error)
    assert made.more is not None
    whole = n + made.more
    assert detectable(spread / math.sqrt(whole), whole) == pytest.approx(max(margin + truth, -truth), rel=0.01)
    draws = np.random.default_rng(4).normal(truth, spread, (whole, 2_000))
    mean, half = draws.mean(axis=0), stats.t.ppf(0.975, whole - 1) * stats.sem(draws)
    sooner = mean - half > -margin if margin + truth >= -truth else mean + half < 0
    assert sooner.mean() == pytest.approx(0.8, abs=0.035)
