"""Whether neighbours in a stream of passes and failures resemble each other, however often one looks."""

import math

import numpy as np

from metrics.core.array_types import Bools
from metrics.stats.confidence_sequences import LEVEL
from metrics.stats.ratios import ratio

NEEDED = -math.log(LEVEL)  # evidence that a stream of independent results ever shows with a chance of at most LEVEL


def lag_correlation(passed: Bools) -> float:
    """Return the correlation of each of `passed` [n] with the one before, −1 … 1; 0 where all are equal.

    Σ (x_t − x̄)(x_t−1 − x̄) / Σ (x_t − x̄)².

    >>> round(lag_correlation(np.repeat([True, False, True, False], 5)), 2)
    0.65
    """
    apart = passed - passed.mean() if len(passed) else np.zeros(0)
    return float(ratio(apart[1:] @ apart[:-1], np.asarray(apart @ apart), 0.0))


def dependence_evidence(passed: Bools) -> float:
    """Return how strongly `passed` [n] say that each depends on the one before: log of a likelihood ratio.

    The predictions of a Markov chain whose chances are learnt on the way (a Beta(½, ½) mixture for what follows a pass,
    another for what follows a failure), against the best constant chance, from the second result on:

        Σ_s log B(n_s0 + ½, n_s1 + ½) / B(½, ½) − n_0·log(n_0 / n) − n_1·log(n_1 / n)

    If results are independent with a constant chance, it is at or above −log α at any of all looks with a chance of at
    most α (Ville). Sources: Krichevsky & Trofimov, IEEE Transactions on Information Theory 27:199, 1981; Wasserman,
    Ramdas & Balakrishnan, PNAS 117:16880, 2020 (universal inference).

    >>> round(dependence_evidence(np.repeat([True, False, True, False], 5)), 2)
    2.21
    """
    if len(passed) < 2:
        return 0.0
    counts = np.bincount(2 * passed[:-1] + passed[1:].astype(np.int64), minlength=4).reshape(2, 2)
    chain = sum(_log_beta(*row) - _log_beta(0, 0) for row in counts.tolist())
    totals = counts.sum(axis=0)
    totals = totals[totals > 0]
    return float(chain - (totals * np.log(totals / totals.sum())).sum())


def _log_beta(failures: int, passes: int) -> float:
    return math.lgamma(failures + 0.5) + math.lgamma(passes + 0.5) - math.lgamma(failures + passes + 1)
