"""Models by several metrics and over several suites, simulated: python -m tests.benchmarks.bench_rankings

The 95 % interval of a weighted score of a share, a skewed mean and clipped seconds; and of models over suites of which
every second one lacks a model, beside the interval that takes their differences for one in all suites. How often
three models that are equal over all suites are ranked apart. How often a run finds any difference, where there is none
and where a model is better, beside each metric corrected by itself. Matches: the test of their fit, and intervals of
style.
"""

from unittest.mock import patch

import numpy as np

from metrics.analysis.leaderboard.family import correct_family
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.analysis.leaderboard.ranks import case_ranks
from metrics.core.evaluator import Metric
from metrics.core.sampling_design import SamplingDesign
from metrics.stats import meta_analysis
from metrics.stats.bradley_terry import bradley_terry, misfit_p, styled_strengths
from metrics.stats.meta_analysis import Study, pooled_means
from metrics.stats.model_ranking import weighted_intervals
from tests.benchmarks.table import Row, report
from tests.stats.test_bradley_terry import played

TRIALS, SUITES, MATCHES = 3_000, 600, 300  # data sets of one suite, of several, and of matches
CASES, RUNS = 60, 500
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


def family(metrics: int, models: int, gap: float) -> tuple[float, float, float]:
    """In what share of runs any difference is found, by the family and metric by metric; and the first model leads.

    Sixty cases that are as hard for all models; the metrics of a model share a third of their noise. The first model is
    better by `gap` of the standard deviation of its noise.
    """
    rng = np.random.default_rng([metrics, models, round(100 * gap)])
    metric, names = Metric("score", "", -np.inf, np.inf), [f"m{place}" for place in range(models)]
    design, single = SamplingDesign(CASES, np.arange(CASES), None, None), np.zeros(models, bool)
    columns = [
        Column(f"{one}/score", str(one), "", "", "score", "", "", "higher", -np.inf, np.inf, None, "", True, False)
        for one in range(metrics)
    ]
    counts = np.zeros(3)
    for _ in range(RUNS):
        alone = {}
        common = rng.normal(0, np.sqrt(1 / 3), (CASES, models)) + gap * (np.arange(models) == 0)
        for column in columns:
            found = case_ranks(metric, common + rng.normal(0, np.sqrt(2 / 3), common.shape), single, names, design)
            assert found is not None
            alone[column.key] = found
        together = correct_family(columns, alone)
        first = [pair for ranks in together.values() for pair in ranks.significant]
        itself = any(ranks.significant for ranks in alone.values())
        counts += [bool(first), itself, all((names[0], other) in first for other in names[1:])]
    any_, by_itself, leads = (counts / RUNS).tolist()
    return any_, by_itself, leads


def by_matches(cases: int, models: int) -> tuple[float, float, float]:
    """How often rankings are doubted that strengths describe, and those with a cycle; how often effects of style hold.

    Three matches a case, whose answers are good or bad in all of them; the truth of style is that of 20,000 cases.
    """
    rng, found = np.random.default_rng([16, cases, models]), []
    *large, case, style = played(rng, 20_000, models, 0.3)
    truth = styled_strengths(*large, style, models, clusters=case)
    for _ in range(MATCHES):
        small = []
        for cycle in (0.0, 0.5):
            *of, case, _ = played(rng, cases, models, cycle=cycle)
            strengths = bradley_terry(*of, models, clusters=case)
            p = None if strengths is None else misfit_p(*of, models, strengths, clusters=case)
            small.append(p is not None and p <= 0.05)
        *of, case, style = played(rng, cases, models, 0.3)
        styled = styled_strengths(*of, style, models, clusters=case)
        if styled is not None:
            found.append([*small, ((styled.low <= truth.value) & (truth.value <= styled.high)).mean()])
    null, power, held = np.mean(found, axis=0).tolist()
    return null, power, held


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
    for models in (2, 3, 5):
        for metrics in (1, 3, 5, 8):
            for gap in (0.0, 0.5):
                any_, alone, leads = family(metrics, models, gap)
                title = f"{metrics} metrics, {models} models, {f'one better by {gap:g} SD' if gap else 'all alike'}"
                most = None if gap else 0.05 + 3 * float(np.sqrt(0.05 * 0.95 / RUNS))
                rows.append(Row(f"{title}: finds a difference", any_, "", most=most))
                rows.append(Row(f"{title}: finds one, each metric corrected by itself", alone, ""))
                if gap:
                    rows.append(Row(f"{title}: better than every other one", leads, ""))
    for cases, models in ((40, 3), (100, 4), (300, 5)):
        null, power, held = by_matches(cases, models)
        title = f"matches of {models} models on {cases} cases"
        rows.append(Row(f"{title}: doubted although strengths describe them", null, "", most=0.09))
        rows.append(Row(f"{title}: doubted with a cycle", power, ""))
        rows.append(Row(f"{title}: coverage of the effect of style", held, "", least=0.92))
    report(rows)


if __name__ == "__main__":
    main()
