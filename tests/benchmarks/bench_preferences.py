"""Preferences of a judge that is swayed by position, simulated: python -m tests.benchmarks.bench_preferences

Coverage of the share that the first answer wins and of the models' scores when both orders are asked; and how often
equal models are called different then, beside one order only in which one model always stands first.
"""

from itertools import combinations

import numpy as np

from metrics.analysis.comparison.head_to_head import HeadToHead, ranked_by_matches
from metrics.analysis.preferences.matches import side
from metrics.analysis.preferences.preferred import first_share
from metrics.core.array_types import Floats
from metrics.core.sampling_design import SamplingDesign
from tests.benchmarks.table import Row, report

TRIALS, LARGE = 1_000, 40_000  # data sets, and the cases of the one that stands for the truth
MODELS = ("a", "b", "c")
BETTER = (0.6, 0.2, 0.0)  # by how many standard deviations of an answer's quality
SIDES = np.vectorize(side, otypes=[np.float64])


def judged(
    rng: np.random.Generator, cases: int, sway: float, better: tuple[float, ...]
) -> dict[tuple[str, str], Floats]:
    """Each pair's outcomes [2, cases] for its first model, with it first and with it second.

    The judge names the first answer with the chance `sway`, else the better one as far as it sees, else a tie.
    """
    quality = rng.normal(0, 1, (len(better), cases)) + np.array(better)[:, None]
    found = {}
    for one, other in combinations(range(len(better)), 2):
        seen = quality[one] - quality[other] + rng.normal(0, 0.7, (2, cases))
        outcome = np.where(np.abs(seen) < 0.3, 0.5, seen > 0)
        found[MODELS[one], MODELS[other]] = np.where(rng.random((2, cases)) < sway, [[1.0], [0.0]], outcome)
    return found


def ranked(met: dict[tuple[str, str], Floats]) -> HeadToHead:
    """The models by these outcomes [cases]."""
    cases = len(next(iter(met.values())))
    found = ranked_by_matches(MODELS, met, SamplingDesign(cases, np.arange(cases), None, None))
    assert found is not None
    return found


def both(found: dict[tuple[str, str], Floats]) -> dict[tuple[str, str], Floats]:
    """The side of the mean of both orders."""
    return {pair: SIDES(own.mean(axis=0)) for pair, own in found.items()}


def firsts(found: dict[tuple[str, str], Floats]) -> tuple[Floats, Floats]:
    """How far each match prefers the first, and its case."""
    own = np.array([(forth + 1 - back) / 2 for forth, back in found.values()])
    return own.ravel(), np.tile(np.arange(own.shape[1]), len(own))


def coverage(cases: int, sway: float) -> tuple[float, float]:
    """How often the intervals of the first one's share and of the scores hold the truth."""
    large = judged(np.random.default_rng(1), LARGE, sway, BETTER)
    share = firsts(large)[0].mean()
    scores = {one.model: one.score for one in ranked(both(large)).standings}
    rng, shares, inside = np.random.default_rng(cases), 0.0, 0.0
    for _ in range(TRIALS):
        found = judged(rng, cases, sway, BETTER)
        hits, codes = firsts(found)
        stat, _ = first_share(hits, codes)
        assert stat.low is not None
        assert stat.high is not None
        shares += stat.low <= share <= stat.high
        inside += np.mean([one.low <= scores[one.model] <= one.high for one in ranked(both(found)).standings])
    return shares / TRIALS, inside / TRIALS


def false_rankings(cases: int, sway: float) -> tuple[float, float]:
    """How often equal models have different ranks: by both orders, and by one in which the same model stands first."""
    rng, wrong = np.random.default_rng(cases), np.zeros(2)
    for _ in range(TRIALS):
        found = judged(rng, cases, sway, (0.0, 0.0, 0.0))
        for place, met in enumerate((both(found), {pair: own[0] for pair, own in found.items()})):
            wrong[place] += any(one.best_rank > 1 for one in ranked(met).standings)
    return float(wrong[0] / TRIALS), float(wrong[1] / TRIALS)


def main() -> None:
    """Simulate all of them."""
    rows = []
    for cases in (20, 60):
        for sway in (0.0, 0.3):
            share, scores = coverage(cases, sway)
            title = f"a judge that names the first {sway:.0%} of the time, {cases} cases"
            rows.append(Row(f"{title}: coverage of its position bias", share, "", least=0.93))
            rows.append(Row(f"{title}: coverage of the scores", scores, "", least=0.93))
    averaged, alone = false_rankings(60, 0.3)
    rows.append(Row("equal models ranked apart by both orders, 60 cases", averaged, "", most=0.06))
    rows.append(Row("equal models ranked apart by one order", alone, ""))
    report(rows)


if __name__ == "__main__":
    main()
