"""Clustered least squares, against the sandwich written out as matrices."""

import numpy as np
import pytest

from metrics.stats.correlation import clustered_coefficient
from metrics.stats.student_t import student

RNG = np.random.default_rng(2)
N, CLUSTERS = 80, 20
GROUPS = np.arange(N) % CLUSTERS
OTHERS = RNG.normal(size=(N, 2))
X = RNG.normal(size=N) + OTHERS[:, 0]
Y = 0.5 * X + OTHERS @ np.array([1.0, -2.0]) + RNG.normal(size=CLUSTERS)[GROUPS] + RNG.normal(size=N)


def test_it_equals_the_sandwich() -> None:
    design = np.column_stack([X, np.ones(N), OTHERS])
    bread = np.linalg.inv(design.T @ design)
    beta = bread @ design.T @ Y
    left = Y - design @ beta
    scores = np.stack([(design * left[:, None])[group == GROUPS].sum(axis=0) for group in range(CLUSTERS)])
    factor = CLUSTERS / (CLUSTERS - 1) * (N - 1) / (N - design.shape[1])
    half = student(CLUSTERS - 1) * np.sqrt(factor * (bread @ scores.T @ scores @ bread)[0, 0])
    found = clustered_coefficient(X, OTHERS, Y, GROUPS)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((beta[0], beta[0] - half, beta[0] + half))


@pytest.mark.parametrize(("x", "clusters"), [
    (np.ones(N), GROUPS), (OTHERS[:, 1], GROUPS), (X, np.zeros(N, np.int64)),
], ids=["constant", "said by the others", "one cluster"])  # fmt: skip
def test_what_cannot_be_known_is_none(x: np.ndarray, clusters: np.ndarray) -> None:
    assert clustered_coefficient(x, OTHERS, Y, clusters) is None
