"""The share that people would pass, from a judge's: by hand, its ends, and how often its interval holds."""

import math

import numpy as np
import pytest

from metrics.stats.judge_correction import true_share


def coverage(
    share: float, sensitivity: float, specificity: float, labels: int, draws: int, other: bool = False
) -> tuple[float, float]:
    """Return how often the interval holds the true share, of data sets with a number, and the share of those.

    400 outputs, of which `labels` are labelled and show the judge's errors; `other`: labels of other outputs do.
    """
    rng = np.random.default_rng(3)
    held, numbers = 0, 0
    for _ in range(draws):
        good = rng.random(800) < share
        passed = rng.random(800) < np.where(good, sensitivity, 1 - specificity)
        labelled = slice(400, 400 + labels) if other else slice(labels)
        own, hits, passed = good[labelled], passed[labelled], passed[:400]
        found, (low, high) = true_share(
            passed.mean(), 400, hits[own].mean(), own.sum(), (~hits[~own]).mean(), (~own).sum()
        )
        if not math.isnan(found):
            numbers += 1
            held += low <= share <= high
    return held / numbers, numbers / draws


def test_by_hand() -> None:
    """Seven of ten pass by a judge with Se .9 and Sp .8: (.7 + .8 − 1) / .7."""
    share, (low, high) = true_share(0.7, 400, 0.9, 60, 0.8, 40)
    assert share == pytest.approx(5 / 7)
    n, z = 400 + 1.959964**2, 1.959964
    p, se, sp = (280 + z * z / 2) / n, 55 / 62, 33 / 42
    v, w, skill = se * (1 - se) / 62, sp * (1 - sp) / 42, se + sp - 1
    middle = (p + sp - 1) / skill
    half = z * math.sqrt(p * (1 - p) / n + middle**2 * v + (1 - middle) ** 2 * w) / skill
    shift = 2 * z * z * (middle * v - (1 - middle) * w)
    assert (low, high) == (pytest.approx(middle + shift - half), pytest.approx(middle + shift + half))


@pytest.mark.parametrize(("se", "sp", "labels"), [(0.5, 0.5, 100), (0.4, 0.4, 100), (0.7, 0.5, 20), (1.0, 1.0, 0)])
def test_a_judge_near_chance_says_nothing(se: float, sp: float, labels: int) -> None:
    share, ends = true_share(0.6, 400, se, labels, sp, labels)
    assert math.isnan(share)
    assert ends == (None, None)


def test_a_share_stays_within_its_ends() -> None:
    assert true_share(0.05, 400, 0.9, 50, 0.9, 50)[0] == 0.0
    assert true_share(0.99, 400, 0.9, 50, 0.9, 50)[0] == 1.0
    for passed in (0.0, 0.05, 0.5, 0.99, 1.0):
        share, (low, high) = true_share(passed, 400, 0.9, 50, 0.9, 50)
        assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("other", [False, True], ids=["labels of these outputs", "of others"])
@pytest.mark.parametrize(("share", "se", "sp"), [(0.7, 0.9, 0.8), (0.9, 0.95, 0.7), (0.5, 0.8, 0.8)])
def test_the_interval_holds(share: float, se: float, sp: float, other: bool) -> None:
    held, numbers = coverage(share, se, sp, 100, 800, other)
    assert held >= 0.93
    assert numbers > 0.95
