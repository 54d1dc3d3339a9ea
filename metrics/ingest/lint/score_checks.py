"""Are the scores what a ranking needs, and what thresholds from 0 to 1 need?"""

from collections.abc import Iterator

import numpy as np

from metrics.core.array_types import Floats
from metrics.ingest.lint.findings import Finding, per_cent

PER_CENT = 100.0
MOSTLY = 0.5  # of the scores over 1: a few may be rounding
FEWEST = 10  # predictions from which on one score for all is no coincidence


def score_findings(model: str, score: Floats) -> Iterator[Finding]:
    """Yield what is wrong with the scores [N] of a model; those that are NaN are not looked at."""
    known = score[~np.isnan(score)]
    count = len(known)
    if not count:
        return
    low, high, over = float(known.min()), float(known.max()), int((known > 1).sum())
    span = f"Scores go from {low:.3g} to {high:.3g}"
    if low < 0:
        text = f"{span}: logits? AP uses only their order, but score thresholds go from 0 to 1."
        yield Finding("negative_scores", model, text, False, int((known < 0).sum()), count, fix="sigmoid")
    elif over and high <= PER_CENT and over >= MOSTLY * count:
        text = f"{span}: per cent? Score thresholds go from 0 to 1."
        yield Finding("scores_over_1", model, text, False, over, count, fix="percent")
    elif over:
        text = f"{span}, {per_cent(over, count)} over 1. Score thresholds go from 0 to 1."
        yield Finding("scores_over_1", model, text, False, over, count)
    if count >= FEWEST and low == high:
        text = f"All {count:,} scores are {low:.3g}: AP needs scores that rank the predictions."
        yield Finding("equal_scores", model, text, False, count, count)


def sigmoid(score: Floats) -> Floats:
    """Return 1 / (1 + e^−score), computed without overflow."""
    small = np.exp(-np.abs(score))
    result: Floats = np.where(score >= 0, 1 / (1 + small), small / (1 + small))
    return result
