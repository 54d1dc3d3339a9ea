"""Agreement of a few labels, drawn from tables whose κ and rates are known, and judges that know nothing."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from metrics.analysis.labels.judge_agreement import Agreement
from metrics.stats.bootstrap import counted
from metrics.stats.intervals import percentiles
from metrics.stats.rater_agreement import best_thresholds, draws_of, kappas
from tests.analysis.labels.queued_labels import CUT, STATISTICS, labelled, of_queue, pass_rates, statistics

Floats = NDArray[np.float64]
KAPPAS = (0.0, 0.3, 0.5, 0.7, 0.9)
MARGINS = ((0.5, 0.5), (0.7, 0.7), (0.85, 0.85), (0.6, 0.75), (0.9, 0.8))  # shares that people and judge pass
SHARE = 0.6


def tables() -> list[Floats]:
    """Return the tables of shares, people × judge, that some κ and margins make possible."""
    found = []
    for kappa, (people, judge) in product(KAPPAS, MARGINS):
        chance = people * judge + (1 - people) * (1 - judge)
        both = (kappa * (1 - chance) + chance - 1 + people + judge) / 2
        table = np.array([[1 - people - judge + both, judge - both], [people - both, both]])
        if (table >= 0).all():
            found.append(table)
    return found


def coverages(n: int, repeats: int) -> dict[str, tuple[Floats, Floats]]:
    """Return how often intervals of `n` labels hold each table's truth: ours, then percentiles of 200 resamples."""
    rng = np.random.default_rng(n)
    held: dict[str, list[tuple[float, float]]] = {name: [] for name in STATISTICS}
    for table in tables():
        truth = {"kappa": kappas(table[None])[0]} | {name: rate[0] for name, rate in pass_rates(table[None]).items()}
        inside: dict[str, list[tuple[bool, bool]]] = {name: [] for name in STATISTICS}
        for _ in range(repeats):
            codes = rng.choice(4, n, p=table.ravel())
            ours = of_queue(labelled((codes % 2).astype(float), codes >= 2))
            drawn = counted(draws_of(np.arange(n), resamples=200), codes, 4).reshape(-1, 2, 2)
            before = {"kappa": kappas(drawn)} | pass_rates(drawn)
            for name in STATISTICS:
                one = getattr(ours, name)
                if one.value is not None:
                    low, high = percentiles(before[name][1:])
                    of_resamples = low is not None and high is not None and low <= truth[name] <= high
                    inside[name].append((one.low <= truth[name] <= one.high, of_resamples))
        for name in STATISTICS:
            if len(inside[name]) > repeats / 2:  # of the others most data sets are said to be too few
                held[name].append(tuple(np.mean(inside[name], axis=0)))
    return {name: (np.array(pairs)[:, 0], np.array(pairs)[:, 1]) for name, pairs in held.items()}


def suggested(n: int, repeats: int, skill: float = 0.0) -> tuple[float, float, float, float]:
    """Return the mean κ at thresholds that n labels suggest, and their coverage.

    In order: on the labels that chose them, as shown, of all outputs, how often the interval holds the latter. `skill`:
    by how many standard deviations scores of what people pass are higher.
    """
    rng, rows = np.random.default_rng(n), []
    for _ in range(repeats):
        passed = rng.random(n) < SHARE
        if passed.all() or not passed.any():
            continue
        score = rng.standard_normal(n) + skill * passed
        found: Agreement = of_queue(labelled(score, passed, threshold=None), draws=200)
        cut = best_thresholds(score, passed, np.ones((1, n)))[0][0]
        others = rng.random(4_000) < SHARE
        truth = statistics(rng.standard_normal(4_000) + skill * others - cut + CUT, others)["kappa"]
        one = found.kappa
        if one.value is None or one.low is None or one.high is None:  # one label alone is of its kind
            continue
        own = statistics(score - cut + CUT, passed)["kappa"]
        rows.append((own, one.value, truth, one.low <= truth <= one.high))
    own, shown, truth, covered = np.mean(rows, axis=0)
    return float(own), float(shown), float(truth), float(covered)
