"""Whether a judge may replace a rater: by the definition item by item, by hand, and its rate of false findings."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.rater_agreement import SUFFICIENT, alternative_annotator
from tests.random_seeds import seeds

NONE = np.nan


def by_definition(passes: np.ndarray, ratings: np.ndarray, epsilon: float) -> list[tuple[float, float, int, float]]:
    """Per rater: share of items on which the judge, and the rater, is at least as close to the others, n and p."""
    found = []
    for rater in range(ratings.shape[1]):
        judge_ahead, rater_ahead = [], []
        for verdict, row in zip(passes, ratings, strict=True):
            others = [label for place, label in enumerate(row) if place != rater and not np.isnan(label)]
            if np.isnan(row[rater]) or not others:
                continue
            judge, own = (np.mean([label == one for label in others]) for one in (verdict, row[rater]))
            judge_ahead.append(float(judge >= own))
            rater_ahead.append(float(own >= judge))
        p = stats.ttest_1samp(np.subtract(rater_ahead, judge_ahead), epsilon, alternative="less").pvalue
        found.append((np.mean(judge_ahead), np.mean(rater_ahead), len(judge_ahead), p))
    return found


def random_labels(rng: np.random.Generator, n: int, raters: int, judge: float, people: float, missing: float = 0.0):
    truth = rng.random(n) < 0.7
    ratings = np.where(rng.random((n, raters)) < people, truth[:, None], ~truth[:, None]).astype(float)
    ratings[rng.random((n, raters)) < missing] = NONE
    return np.where(rng.random(n) < judge, truth, ~truth).astype(float), ratings


@pytest.mark.parametrize("seed", range(10))
def test_as_defined_item_by_item(seed: int) -> None:
    passes, ratings = random_labels(np.random.default_rng(seed), 80, 4, 0.8, 0.85, missing=0.3)
    found = alternative_annotator(passes, ratings, np.arange(80), 0.15)
    for one, (judge, rater, n, p) in zip(found, by_definition(passes, ratings, 0.15), strict=True):
        assert (one.judge, one.rater, one.n) == (pytest.approx(judge), pytest.approx(rater), n)
        assert one.p == pytest.approx(p, rel=0.03, abs=1e-4)
    expected = stats.false_discovery_control([one.p for one in found], method="by")
    assert [one.adjusted for one in found] == pytest.approx(expected)


def test_by_hand() -> None:
    """The judge says what two of three say; the third is alone on 4 of 40 items."""
    ratings = np.ones((40, 3))
    ratings[:4, 2] = 0
    first, second, third = alternative_annotator(np.ones(40), ratings, np.arange(40), 0.1)
    assert (first.judge, first.rater, second.judge, second.rater) == (1, 1, 1, 1)
    assert (third.judge, third.rater) == (1.0, 0.9)
    assert first.p == pytest.approx(0.9**40)
    assert all(one.wins for one in (first, second, third))


def test_an_item_that_some_thresholds_pass_counts_in_shares() -> None:
    rng = np.random.default_rng(1)
    passes, ratings = random_labels(rng, 60, 3, 0.8, 0.9)
    both = [alternative_annotator(np.full(60, end), ratings, np.arange(60), 0.1) for end in (0.0, 1.0)]
    mixed = alternative_annotator(np.full(60, 0.25), ratings, np.arange(60), 0.1)
    for zero, one, between in zip(*both, mixed, strict=True):
        assert between.judge == pytest.approx(0.75 * zero.judge + 0.25 * one.judge)
    left_out = alternative_annotator(np.where(np.arange(60) < 10, NONE, passes), ratings, np.arange(60), 0.1)
    assert {one.n for one in left_out} == {50}


def test_copies_of_an_item_add_no_evidence() -> None:
    passes, ratings = random_labels(np.random.default_rng(2), 40, 3, 0.85, 0.85)
    once = alternative_annotator(passes, ratings, np.arange(40), 0.2)
    twice = alternative_annotator(np.tile(passes, 2), np.tile(ratings, (2, 1)), np.tile(np.arange(40), 2), 0.2)
    assert [one.p for one in twice] == pytest.approx([one.p for one in once])


LEADING = [(3, 0.1, 0.7745), (5, 0.2, 0.6904)]  # raters, ε, how often a judge is right whom each leads by exactly ε


def share_passed(raters: int, epsilon: float, judge: float, draws: int) -> float:
    """Return how often a judge passes, right in a share `judge` of 60 items, beside raters who are right in 90 %."""
    rng, passed = np.random.default_rng(5), 0
    for _ in range(draws):
        found = alternative_annotator(*random_labels(rng, 60, raters, judge, 0.9), np.arange(60), epsilon)
        passed += np.mean([one.wins for one in found]) >= SUFFICIENT
    return passed / draws


@pytest.mark.parametrize(("raters", "epsilon", "judge"), LEADING)
def test_a_judge_that_may_not_passes_rarely(raters: int, epsilon: float, judge: float) -> None:
    many = random_labels(np.random.default_rng(5), 30_000, raters, judge, 0.9)
    (lead, *_) = alternative_annotator(*many, np.arange(30_000), epsilon)
    assert lead.rater - lead.judge == pytest.approx(epsilon, abs=0.015)
    assert share_passed(raters, epsilon, judge, len(seeds(200, 1_000))) <= 0.05
