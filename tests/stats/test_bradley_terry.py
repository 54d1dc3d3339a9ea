"""Strengths from matches: published numbers, choix, a log-linear model of statsmodels, and coverage by simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize

from metrics.core.array_types import Floats, Ints
from metrics.stats.bradley_terry import Strengths, bradley_terry, misfit_p, styled_strengths

WON = np.array(  # of the row's team against the column's: American League 1987, Agresti, Categorical Data Analysis 1990
    [
        [0, 7, 9, 7, 7, 9, 11], [6, 0, 7, 5, 11, 9, 9], [4, 6, 0, 7, 7, 8, 12], [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12], [4, 4, 5, 6, 6, 0, 6], [2, 4, 1, 3, 1, 7, 0],
    ]
)  # fmt: skip
PUBLISHED = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)  # of the R package BradleyTerry2, Baltimore as 0
CHOIX = (0.53115334, 0.3862059, 0.24428259, 0.19741531, 0.05749517, -0.36634977, -1.05020254)  # choix 0.4.1, ilsr


def matches(won: Ints, tied: Ints | None = None) -> tuple[Ints, Ints, Floats]:
    """First, second and outcome of every match of two tables; `tied` has those of i < j."""
    parts = []
    for table, outcome in ((won, 1.0), (np.triu(tied) if tied is not None else np.zeros_like(won), 0.5)):
        first, second = (np.repeat(ends, table.ravel()) for ends in np.indices(table.shape).reshape(2, -1))
        parts.append((first, second, np.full(len(first), outcome)))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]


def fitted(*given: Ints, **more: float) -> Strengths:
    found = bradley_terry(*matches(*given), len(given[0]), **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_published_strengths_and_those_of_choix() -> None:
    found = fitted(WON)
    assert found.log - found.log[-1] == pytest.approx(PUBLISHED, abs=5e-5)
    assert (found.log, found.ties) == (pytest.approx(CHOIX, abs=1e-7), 0)
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 1, 1, 1, 1, 6], [6, 6, 6, 6, 6, 7, 7])


def test_ties_like_a_log_linear_model_of_statsmodels() -> None:
    """Davidson's model is a Poisson regression of the counts with a mean of each pair's own (Fienberg 1979).

    Of the two tables below by GLM of statsmodels 0.14.6, the first model as 0: the others, ln ν, and standard errors.
    """
    won = np.array([[0, 6, 9, 11, 1], [2, 0, 11, 3, 4], [10, 5, 0, 10, 3], [5, 8, 7, 0, 1], [10, 9, 10, 6, 0]])
    tied = np.array([[0, 4, 7, 1, 2], [0, 0, 8, 1, 3], [0, 0, 0, 4, 2], [0, 0, 0, 0, 4], [0, 0, 0, 0, 0]])
    found = fitted(won, tied)
    assert found.log[1:] - found.log[0] == pytest.approx([-0.213392, -0.2308, -0.323562, 1.154824], abs=2e-6)
    assert np.log(found.ties) == pytest.approx(-0.528552, abs=2e-6)
    # with every match its own cluster the sandwich is near the errors of the regression, which trusts the model
    variance = np.diag(found.covariance)
    errors = np.sqrt(variance[1:] + variance[0] - 2 * found.covariance[0, 1:])
    assert errors == pytest.approx([0.37419, 0.32641, 0.36566, 0.41825], rel=0.2)


def test_a_score_counts_a_tie_half() -> None:
    """Of two models with 6 wins, 3 losses and 1 tie: the first is by exp(λ1 − λ2) = 2 stronger."""
    found = fitted(np.array([[0, 6], [3, 0]]), np.array([[0, 1], [0, 0]]))
    assert (np.exp(found.log[0] - found.log[1]), found.ties) == (pytest.approx(2.0), pytest.approx(1 / np.sqrt(18)))
    ends = np.exp(found.log[0] / 2), np.exp(-found.log[0] / 2)
    assert found.score[0] == pytest.approx((ends[0] + found.ties / 2) / (sum(ends) + found.ties))
    assert found.score.sum() == pytest.approx(1.0)


def test_who_never_loses_has_no_finite_strength_without_a_match_that_is_added() -> None:
    won = np.array([[0, 5, 5], [0, 0, 3], [0, 2, 0]])
    assert bradley_terry(*matches(won), 3) is None
    found = fitted(won, prior=1.0)
    assert found.log.argmax() == 0
    assert np.isfinite(found.log).all()
    assert fitted(10 * won, prior=1.0).score[0] > found.score[0]
    perfect = fitted(np.array([[0, 20], [0, 0]]), prior=1.0)
    assert perfect.low[0] < 0.75 < perfect.score[0], "20 of 20 is not certainty: equal slopes would say so"
    tied = np.array([[0, 1], [0, 0]]), np.array([[0, 3], [0, 0]])
    assert bradley_terry(*matches(*tied), 2) is None, "ties alone do not bound it"
    apart = np.kron(np.eye(2, dtype=np.int64), [[0, 3], [2, 0]])
    assert bradley_terry(*matches(apart), 4, prior=1.0) is None, "two pairs that never met"
    assert bradley_terry(np.array([0]), np.array([1]), np.array([1.0]), 2, prior=1.0) is None, "a single unit"


def test_weights_count_like_repeated_matches() -> None:
    first, second, outcome = matches(WON)
    weights = np.random.default_rng(2).integers(1, 4, len(first))
    repeated = bradley_terry(np.repeat(first, weights), np.repeat(second, weights), np.repeat(outcome, weights), 7)
    weighted = bradley_terry(first, second, outcome, 7, weights=weights.astype(float))
    assert weighted.log == pytest.approx(repeated.log, abs=1e-8)
    assert weighted.covariance.trace() > repeated.covariance.trace(), "what is repeated is not independent"


def test_intervals_cover_where_the_matches_of_a_case_belong_together() -> None:
    """Scores of 6 models on 60 cases, ties within 0.3: 95 % intervals of the differences; without clusters far fewer.

    The truth is that of 20,000 cases.
    """
    rng, models = np.random.default_rng(3), 6
    skill = np.linspace(0, 0.8, models)
    one, other = np.triu_indices(models, 1)

    def drawn(cases: int) -> tuple[Ints, Ints, Floats, Ints]:
        scores = skill + rng.normal(0, 1, (cases, models)) * rng.choice([0.3, 2.0], (cases, 1))
        scores[:, 0] += rng.normal(0, 1.5, cases)
        apart = scores[:, one] - scores[:, other]
        outcome = np.where(np.abs(apart) <= 0.3, 0.5, apart > 0)
        return np.tile(one, cases), np.tile(other, cases), outcome.ravel(), np.repeat(np.arange(cases), len(one))

    first, second, outcome, _ = drawn(20_000)
    truth = bradley_terry(first, second, outcome, models)
    covered = np.zeros(2)
    for _ in range(150):
        first, second, outcome, cases = drawn(60)
        for kind, clusters in enumerate((cases, None)):
            found = bradley_terry(first, second, outcome, models, clusters=clusters)
            variance = np.diag(found.covariance)
            error = np.sqrt(variance[one] + variance[other] - 2 * found.covariance[one, other])
            apart = (found.log - truth.log)[one] - (found.log - truth.log)[other]
            covered[kind] += (np.abs(apart) <= 2.0 * error).mean() / 150
    assert covered[0] == pytest.approx(0.95, abs=0.02)
    assert covered[1] < 0.93


def played(rng: np.random.Generator, cases: int, models: int, of_style: float = 0.0, cycle: float = 0.0) -> tuple:
    """Three matches a case, whose answers are good or bad in all of them: first, second, outcome, case, style."""
    one, other = np.triu_indices(models, 1)
    pair = np.concatenate([rng.choice(len(one), 3, replace=False) for _ in range(cases)])
    case, first, second = np.repeat(np.arange(cases), 3), one[pair], other[pair]
    strength, style, quality = np.linspace(-0.6, 0.6, models), rng.normal(size=(cases, models, 2)), 0.8
    worth = strength + quality * rng.normal(size=(cases, models))
    style = style[case, first] - style[case, second]
    odds = worth[case, first] - worth[case, second] + of_style * style[:, 0]
    odds += cycle * np.where((second - first) % 2 == 1, 1, -1)
    chances = np.exp(odds / 2), np.full(len(odds), 0.3), np.exp(-odds / 2)
    drawn = rng.random(len(odds)) * sum(chances)
    outcome = np.where(drawn < chances[0], 1.0, np.where(drawn < chances[0] + chances[1], 0.5, 0.0))
    return first, second, outcome, case, style


def test_style_beside_strengths_is_the_maximum_of_the_likelihood() -> None:
    """Davidson's log-odds λi − λj + style·β, by scipy's optimiser."""
    first, second, outcome, case, style = played(np.random.default_rng(0), 150, 4, 0.4)
    scaled = style / np.sqrt((style**2).mean(axis=0))

    def unlikely(of: Floats) -> float:
        log = np.append(of[:3], -of[:3].sum())
        odds = log[first] - log[second] + scaled @ of[3:5]
        chances = np.exp(odds / 2), np.exp(of[5]) * np.ones(len(odds)), np.exp(-odds / 2)
        met = np.where(outcome == 1, chances[0], np.where(outcome == 0, chances[2], chances[1]))
        return -float(np.log(met / sum(chances)).sum())

    best = minimize(unlikely, np.zeros(6)).x
    found = styled_strengths(first, second, outcome, style, 4, clusters=case)
    assert found.strengths.log[:3] == pytest.approx(best[:3], abs=1e-4)
    assert found.value == pytest.approx(best[3:5], abs=1e-4)
    assert np.log(found.strengths.ties) == pytest.approx(best[5], abs=1e-4)
    assert (found.low[0] > 0, found.p_value[0] < 0.01 < found.p_value[1]) == (True, True)
    assert styled_strengths(first[:40], second[:40], outcome[:40], style[:40], 4, clusters=case[:40]) is None


def test_intransitive_matches_do_not_fit_and_those_of_strengths_do() -> None:
    """At 5 %, of 80 data sets each: some 5 % of those that strengths describe, and most of those with cycles."""
    rng, small = np.random.default_rng(4), []
    for cycle in (0.0, 0.5):
        p = []
        for _ in range(80):
            first, second, outcome, case, _ = played(rng, 80, 4, cycle=cycle)
            p.append(misfit_p(first, second, outcome, 4, bradley_terry(first, second, outcome, 4), clusters=case))
        small.append(np.mean(np.array(p) <= 0.05))
    assert small[0] <= 0.11
    assert small[1] >= 0.5
    two = matches(np.array([[0, 6], [3, 0]]))
    assert misfit_p(*two, 2, bradley_terry(*two, 2)) is None, "two models always fit"
