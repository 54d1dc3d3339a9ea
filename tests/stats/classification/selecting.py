"""Simulated models of which is known how often they are wrong from any score on."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.classification.selective import guaranteed, risk_coverage

GRID = np.linspace(0.0, 1.0, 20_001)


@dataclass(frozen=True)
class Scene:
    """Scores are uniform from 0 to 1, or of `steps` values; `risk` is the chance of a mistake at a score."""

    name: str
    risk: Callable[[Floats], Floats]
    steps: int = 0

    def beyond(self, threshold: float) -> float:
        """How often answers from a threshold on are wrong."""
        scores = np.round(GRID * self.steps) / self.steps if self.steps else GRID
        return float(self.risk(scores)[scores >= threshold - 1e-12].mean())

    @property
    def best(self) -> float:
        """The highest coverage at which at most 5 % of the answers are wrong."""
        return max((1 - at for at in GRID[::50].tolist() if self.beyond(at) <= 0.05), default=0.0)


SCENES = (
    Scene("useful scores", lambda score: 0.3 * (1 - score) ** 2),
    Scene("calibrated, two classes", lambda score: 0.5 * (1 - score)),
    Scene("over-confident: the surest 6 % wrong", lambda score: 0.06 + 0.44 * (1 - score)),
    Scene("useless scores, 6 % wrong", lambda score: np.full(len(score), 0.06)),
    Scene("useless scores, just over 5 %", lambda score: np.full(len(score), 0.0501)),
    Scene("the surer the worse", lambda score: 0.02 + 0.08 * score),
    Scene("a step over 5 % at the top", lambda score: np.where(score > 0.8, 0.051, 0.02)),
    Scene("ten scores", lambda score: 0.2 * (1 - score), steps=10),
    Scene("five levels, the top just over 5 %", lambda score: 0.0501 + 0.3 * (1 - score), steps=4),
    Scene("five levels", lambda score: 0.01 + 0.3 * (1 - score), steps=4),
)


def simulate(scene: Scene, cases: int, draws: int, seed: int = 0) -> tuple[float, float]:
    """Return how often a guarantee of at most 5 % is false, and the mean coverage; nothing guaranteed is 0."""
    rng = np.random.default_rng(seed)
    false, covered = 0, 0.0
    for _ in range(draws):
        score = rng.random(cases)
        if scene.steps:
            score = np.round(score * scene.steps) / scene.steps
        found = guaranteed(risk_coverage(score, rng.random(cases) < scene.risk(score)), 0.05, 0.95)
        if found is not None:
            false += scene.beyond(found.threshold) > 0.05
            covered += found.coverage
    return false / draws, covered / draws
