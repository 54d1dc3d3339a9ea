"""Simulated outputs that several raters label and do not always see alike: what a person would say of all is known."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.analysis.labels.human_labels import Criterion, HumanLabels
from metrics.analysis.labels.pass_rates import acceptance
from metrics.stats.judge_correction import corrected_mean
from tests.analysis.labels.queued_labels import labelled, of_queue

Floats = NDArray[np.float64]
BETA = (2.3, 0.8)  # of the share of raters who pass an output: on average .742
OUTPUTS, MOST_WRONG = 400, 0.1


class Told(NamedTuple):
    """What labels of outputs say (mean, accuracy, and the wrong share promised), and what holds of a rater's label."""

    mean: float
    held: bool
    accuracy: float
    accuracy_held: bool
    promised: bool
    broken: bool


def people(ratings: Floats, rng: np.random.Generator) -> HumanLabels:
    """Return ratings [outputs, raters] as labels of a random sample."""
    known = ~np.isnan(ratings)
    criterion = Criterion("good", int(known.sum()), 0, ratings.shape[1], False, 0.0, 1.0)
    turns = np.where(known, rng.integers(1 << 60, size=ratings.shape), -1)
    return HumanLabels(
        criterion,
        ("ann", "bo"),
        ratings,
        turns,
        ratings,
        known.any(axis=1),
        np.where(known.any(axis=1), 0.5, np.nan),
        {},
    )


def simulate(repeats: int, seed: int, labels: int = 200, agreed: bool = False) -> list[Told]:
    """Two raters label a random sample of OUTPUTS; the judge's score is the share of raters who pass an output.

    agreed: only outputs on which they agree count, as up to 0.3.0.
    """
    rng = np.random.default_rng(seed)
    found = []
    shares = rng.beta(*BETA, 200_000)
    for _ in range(repeats):
        share = rng.beta(*BETA, OUTPUTS)
        ratings = (rng.random((OUTPUTS, 2)) < share[:, None]).astype(float)
        ratings[labels:] = np.nan
        if agreed:
            ratings[ratings[:, 0] != ratings[:, 1]] = np.nan
        known = people(ratings, rng)
        mean, drawn = corrected_mean(share, known.means), known.draw_labels()
        both = labelled(share, drawn == 1).part(known.label_counts > 0)
        accuracy, promise = of_queue(both).accuracy, acceptance(both, share, most=MOST_WRONG)
        wrong = promise.threshold is not None and (1 - shares[shares >= promise.threshold]).mean() > MOST_WRONG
        assert mean is not None
        found.append(
            Told(
                mean.value, holds(mean, shares.mean()),
                accuracy.value, holds(accuracy, np.maximum(shares, 1 - shares).mean()),
                promise.threshold is not None, bool(wrong),
            )
        )  # fmt: skip
    return found


def holds(found: Any, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    return bool(found.low <= truth <= found.high)
