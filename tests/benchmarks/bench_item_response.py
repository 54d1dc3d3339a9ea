"""Which cases tell models apart, simulated: python -m tests.benchmarks.bench_item_response

200 cases with log a ~ N(0, 0.5²), b ~ N(0, 1), and models θ ~ N(0, 1) unless it says otherwise. Recovery: Spearman's ρ
of estimates and truth, and how many 95 % intervals hold it. Suspects: of cases whose label is reversed how many are
found, and how many suspects are clean (the aim is 5 %). Short suites: Kendall's τ of 30 cases on pairs of models that
did not choose them. Families: of suites without a wrong label the share with a suspect, beside what it would be if all
models counted as independent. Full scores: estimates of the score over 200 cases from 30 that 20 or 8 earlier models
chose, for ten new models; how many 95 % intervals hold it, and the error (RMSE) beside that of 30 random cases. Eight
minutes.
"""

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.corrections import benjamini_hochberg
from metrics.stats.item_response import reversed_patterns, two_parameter
from metrics.stats.model_families import check_labels
from metrics.stats.short_suite import by_information, cross_fitted, full_scores
from tests.benchmarks.table import Row, report
from tests.stats.test_model_families import drawn_families

CASES, TIMES, FEWER = 200, 40, 6
FAMILIES = (  # models, families, correlation of residuals
    (8, 2, 0.7), (12, 3, 0.3), (12, 3, 0.9), (12, 6, 0.6), (20, 2, 0.3), (20, 2, 0.6), (20, 4, 0.3), (20, 4, 0.7),
    (20, 6, 0.5), (20, 6, 0.9), (20, 10, 0.7),
)  # fmt: skip
Drawn = tuple[Floats, Floats, Floats, Floats]


def draw(
    rng: np.random.Generator, models: int, spread: float = 0.5, guess: float = 0.0, siblings: float = 0.0,
    far: float = 1.0,
) -> Drawn:  # fmt: skip
    """Answers, discriminations, difficulties and abilities.

    siblings: what two models at a time share on a case; far: standard deviation of the abilities.
    """
    steep, hard = np.exp(rng.normal(0, spread, CASES)), rng.normal(0, 1, CASES)
    ability = rng.normal(0, far, models)
    logit = steep[:, None] * (ability - hard[:, None])
    logit += siblings * np.repeat(rng.normal(0, 1, (CASES, models // 2)), 2, axis=1)
    right = rng.random((CASES, models)) < guess + (1 - guess) / (1 + np.exp(-logit))
    return right.astype(np.float64), steep, hard, ability


def ranks(one: Floats, other: Floats) -> float:
    """Spearman's ρ."""
    return float(np.corrcoef(one.argsort().argsort(), other.argsort().argsort())[0, 1])


def recovery(models: int) -> Floats:
    """ρ of difficulties, discriminations and abilities, and the shares of the first two's intervals that hold."""
    rng, found = np.random.default_rng([1, models]), []
    for _ in range(TIMES):
        right, steep, hard, ability = draw(rng, models)
        fitted = two_parameter(right)
        held = [
            ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
            for ends, truth in ((fitted.difficulty_ends, hard), (fitted.discrimination_ends, steep))
        ]
        rho = ranks(fitted.difficulty, hard), ranks(fitted.discrimination, steep), ranks(fitted.ability, ability)
        found.append([*rho, *held])
    return np.mean(found, axis=0)


def suspects(models: int, wrong: int, **of: float) -> tuple[float, float, float]:
    """Share of the reversed labels that are found, of the suspects that are clean, of clean cases with p ≤ .01."""
    rng, found = np.random.default_rng([2, models]), []
    for _ in range(TIMES):
        right = draw(rng, models, **of)[0]
        right[:wrong] = 1 - right[:wrong]
        checked = check_labels(right).p
        p = np.ones(CASES) if checked is None else checked
        named = benjamini_hochberg(p) <= 0.05
        false = named[wrong:].sum() / max(1, named.sum())
        found.append([named[:wrong].mean() if wrong else 0.0, false, (p[wrong:] <= 0.01).mean()])
    power, false, unusual = np.mean(found, axis=0).tolist()
    return power, false, unusual


def accused(models: int, groups: int, shared: float) -> tuple[float, float, float]:
    """Shares of clean suites with a suspect, with families and as if all were independent, and of suites judged."""
    found = []
    for seed in range(1_000, 1_000 + TIMES):
        right = drawn_families(seed, models, groups, shared)[0]
        fitted, checked = two_parameter(right), check_labels(right).p
        naive = reversed_patterns(right, fitted.ability, fitted.difficulty).p
        named = [p is not None and (benjamini_hochberg(p) <= 0.05).any() for p in (checked, naive)]
        found.append([*named, checked is not None])
    after, before, judged = np.mean(found, axis=0).tolist()
    return after, before, judged


def short(models: int) -> tuple[float, float]:
    """τ of the 30 cases that are chosen, and of 30 at random."""
    rng, found = np.random.default_rng([3, models]), []
    for _ in range(FEWER):
        right = draw(rng, models)[0]
        size = next(one for one in cross_fitted(right, right, None, two_parameter(right)) if one.cases == 30)
        found.append([size.tau, size.random])
    tau, random = np.mean(found, axis=0).tolist()
    return tau, random


def whole(models: int, of: dict[str, float], second: float = 0.0, kept: int = 30) -> tuple[float, float, float]:
    """Share of intervals of the full score that hold it, and the RMSE of its estimate and of random cases.

    second: how far cases differ in a second ability, in logits.
    """
    rng, new, found = np.random.default_rng([4, models]), 10, []
    for _ in range(TIMES):
        right, steep, hard, ability = draw(rng, models + new, **of)
        if second:
            logit = steep[:, None] * (ability - hard[:, None])
            logit += second * np.outer(rng.normal(0, 1, CASES), rng.normal(0, 1, models + new))
            right = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(np.float64)
        right = right[:, rng.permutation(models + new)]
        earlier, later = right[:, :models], right[:, models:]
        chosen, truth = by_information(two_parameter(earlier), kept), later.mean(axis=0)
        for place, one in enumerate(full_scores(earlier, chosen, later[chosen])):
            random = later[rng.permutation(CASES)[:kept], place].mean()
            held = one.low <= truth[place] <= one.high
            found.append([held, (one.value - truth[place]) ** 2, (random - truth[place]) ** 2])
    held, own, random = np.mean(found, axis=0).tolist()
    return held, own**0.5, random**0.5


def main() -> None:
    rows = []
    for models in (8, 20):
        names = ("ρ of difficulty", "ρ of discrimination", "ρ of ability", "difficulty held", "discrimination held")
        for name, value in zip(names, recovery(models).tolist(), strict=True):
            rows.append(Row(f"{models} models: {name}", value, "", least=0.92 if "held" in name else None))
    designs: dict[str, tuple[int, dict[str, float]]] = {
        "no label is wrong": (0, {}), "6 labels are wrong": (6, {}), "20 labels are wrong": (20, {}),
        "6 labels are wrong, models twice as far apart": (6, {"far": 2.0}),
        "6 labels are wrong, models three times as far apart": (6, {"far": 3.0}),
        "none, discriminations vary more (0.8)": (0, {"spread": 0.8}),
        "none, a quarter is guessed": (0, {"guess": 0.25}),
        "none, models in pairs that share mistakes": (0, {"siblings": 1.0}),
    }  # fmt: skip
    for models in (8, 20):
        for name, (wrong, of) in designs.items():
            power, false, unusual = suspects(models, wrong, **of)
            if wrong:
                rows.append(Row(f"{models} models, {name}: found", power, ""))
            rows.append(Row(f"{models} models, {name}: suspects that are clean", false, ""))
            rows.append(Row(f"{models} models, {name}: clean cases that look unusual", unusual, "", most=0.02))
    for models, groups, shared in FAMILIES:
        after, before, judged = accused(models, groups, shared)
        name = f"{models} models in {groups} families, {shared:g}"
        rows.append(Row(f"{name}: clean suites with a suspect", after, "", before, "as if independent"))
        rows.append(Row(f"{name}: suites whose labels are checked", judged, ""))
    for models in (8, 20):
        tau, random = short(models)
        rows.append(Row(f"{models} models, 30 of 200 cases keep the ranking: τ", tau, "", random, "30 at random"))
    scenes: dict[str, tuple[int, dict[str, float], float]] = {
        "20 models": (20, {}, 0.0), "8 models": (8, {}, 0.0),
        "20 models, a quarter is guessed": (20, {"guess": 0.25}, 0.0),
        "20 models, twice as far apart": (20, {"far": 2.0}, 0.0), "20 models, alike": (20, {"far": 0.3}, 0.0),
        "20 models in pairs that share mistakes": (20, {"siblings": 1.0}, 0.0),
        "20 models, a second ability": (20, {}, 1.0),
    }  # fmt: skip
    for name, (models, of, second) in scenes.items():
        held, own, random = whole(models, of, second)
        rows.append(Row(f"{name}: full scores held by their intervals", held, "", least=0.93))
        rows.append(Row(f"{name}: error of the full score by 30 of 200 cases", own, "", random, "30 at random"))
    held, own, random = whole(20, {"guess": 0.25}, kept=60)
    rows.append(Row("20 models, a quarter is guessed: held, 60 cases", held, "", least=0.93))
    rows.append(Row("20 models, a quarter is guessed: error by 60 of 200 cases", own, "", random, "60 at random"))
    report(rows)


if __name__ == "__main__":
    main()
