"""Models by several metrics and over several suites, simulated: python -m tests.benchmarks.bench_rankings

The 95 % interval of a weighted score of a share, a skewed mean and clipped seconds; and of models over suites of which
every second one lacks a model, beside the interval that takes their differences for one in all suites. And how often
three models that are equal over all suites are ranked apart.
"""

from unittest.mock import patch

import numpy as np

from metrics.stats import meta_analysis
from metrics.stats.meta_analysis import Study, pooled_means
from metrics.stats.weightings import weighted_intervals
from tests.benchmarks.table import Row, report

TRIALS, SUITES = 3_000, 600  # data sets of one suite, and of several
SIZES = (10, 30, 100)
WORST = 10.0  # seconds
SHARES = np.array([0.5, 0.3, 0.2])
STRENGTH = np.array([0.6, 0.7, 0.65])


def weighted(n: int, right: float, groups: int | None = None) -> float:
    """How often the interval of 0.5·share + 0.3·mean + 0.2·(1 − seconds / WORST) holds the truth.

    right: the chance of a right answer; groups: of equal size, each as hard as its own level says.
    """
    rng = np.random.default_rng(n)
    codes = np.arange(n) if groups is None else np.arange(n) % groups
    spread = 0.1 if groups else 0.0
    level = rng.normal(0, spread, (n, TRIALS))[codes]
    share = rng.random((n, TRIALS)) < np.clip(right + level, 0, 1)
    seconds = np.minimum(rng.gamma(2, 1.5, (n, TRIALS)), WORST) / WORST
    many = np.random.default_rng(0)
    chance = np.clip(right + many.normal(0, spread, 1_000_000), 0, 1).mean()
    slow = np.minimum(many.gamma(2, 1.5, 1_000_000), WORST).mean() / WORST
    truth = SHARES @ np.array([chance, 2 / 7, 1 - slow])
    parts = np.array([share, rng.beta(2, 5, (n, TRIALS)), 1 - seconds])
    _, low, high = weighted_intervals(parts, SHARES, None, None if groups is None else codes)
    return float(((low <= truth) & (truth <= high)).mean())


def over_suites(suites: int, tau: float) -> tuple[float, float]:
    """How often the interval of a model over all suites holds the truth, and the one that ignores τ."""
    rng = np.random.default_rng([suites, round(1000 * tau)])
    held = common = 0.0
    for _ in range(SUITES):
        levels, studies = rng.normal(0, 0.1, suites), []
        for suite, level in enumerate(levels):
            models = np.delete(np.arange(3), suite // 2 % 3) if suite % 2 else np.arange(3)
            means = STRENGTH[models] + level + rng.normal(0, tau / np.sqrt(2), len(models))
            cases = means + rng.normal(0, 0.2, (80, 1)) + rng.normal(0, 0.25, (80, len(models)))
            studies.append(Study(models, cases.mean(axis=0), np.cov(cases.T) / 80, 79))
        found, truth = pooled_means(studies, 3), STRENGTH + levels.mean()
        held += float(((found.low <= truth) & (truth <= found.high)).mean()) / SUITES
        common += float(((found.common_low <= truth) & (truth <= found.common_high)).mean()) / SUITES
    return held, common


def ranked(suites: int, tau: float) -> tuple[float, bool]:
    """How often a rank says that one of three equal models is better than another, and whether ranks are shown."""
    rng = np.random.default_rng([13, suites, round(1000 * tau)])
    wrong, is_shown = 0, False
    for _ in range(SUITES):
        studies = []
        for _ in range(suites):
            means = rng.normal(0, tau / np.sqrt(2), 3)
            cases = means + rng.normal(0, 0.3, (80, 1)) + rng.normal(0, 0.3, (80, 3))
            studies.append(Study(np.arange(3), cases.mean(axis=0), np.cov(cases.T) / 80, 79))
        with patch.multiple(meta_analysis, FEWEST_SUITES=0, FEWEST_FREEDOM=0):
            found = pooled_means(studies, 3)
        wrong += bool((found.best > 1).any())
        is_shown = pooled_means(studies, 3).best is not None
    return wrong / SUITES, is_shown


def main() -> None:
    rows = [
        Row(f"weighted score, {n} cases, {right:.0%} right: coverage", weighted(n, right), "", least=0.93)
        for n in SIZES
        for right in (0.8, 0.95)
    ]
    rows.append(Row("weighted score, 100 cases in 10 groups: coverage", weighted(100, 0.8, 10), "", least=0.93))
    for suites in (3, 4, 8):
        for tau in (0.0, 0.05, 0.1):
            held, common = over_suites(suites, tau)
            title = f"{suites} suites, differences vary by {tau:g}: coverage"
            rows.append(Row(title, held, "", least=0.93))
            rows.append(Row(f"{title} where that is ignored", common, ""))
    for suites in (2, 3, 4):
        for tau in (0.0, 0.05, 0.1):
            wrong, is_shown = ranked(suites, tau)
            title = f"{suites} suites, differences vary by {tau:g}: equal models ranked apart"
            rows.append(Row(f"{title}, {'shown' if is_shown else 'not shown'}", wrong, ""))
    report(rows)


if __name__ == "__main__":
    main()
