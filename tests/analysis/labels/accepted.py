"""Simulated judges at whose scores no answer may be accepted without a person."""

from dataclasses import replace

import numpy as np

from metrics.analysis.labels.pass_rates import acceptance
from tests.analysis.labels.queued_labels import labelled


def simulated(models: int, levels: int, draws: int) -> float:
    """Return how often a guarantee is false, of a judge at whose every score just over 5 % of the answers are wrong.

    80 cases; the answers of several models to a case are right or wrong together. levels: of the scores, 0 for any.
    """
    rng, false = np.random.default_rng(1), 0
    for _ in range(draws):
        cases = np.repeat(np.arange(80), models)
        score = rng.random(len(cases)) if not levels else np.round(rng.random(len(cases)) * levels) / levels
        both = replace(labelled(score, (rng.random(80) >= 0.0501)[cases]), clusters=cases)
        false += acceptance(both, score).threshold is not None
    return false / draws
