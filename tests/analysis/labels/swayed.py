"""Simulated judges, fair and swayed by length, and what their checks say of them."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from metrics.analysis.labels.manipulations import LENGTHENED, MANIPULATIONS, Check, _check, _judged
from metrics.core.array_types import Floats
from metrics.stats.correlation import clustered_coefficient

COLUMN: Any = SimpleNamespace(low=0.0, high=1.0, direction="higher")
MODELS = 2


@dataclass(frozen=True)
class Judge:
    """A judge of answers whose quality rises with their length; people's labels have few `levels`, and `noise`.

    sway: how much higher it scores an answer of twice the words that says the same; spread: of its own noise.
    """

    name: str
    levels: int
    noise: float
    sway: float = 0.0
    spread: float = 0.1


@dataclass(frozen=True)
class Accused:
    """How often a judge is called swayed: by what goes with its scores, and by variants of the same answers."""

    observed: float
    varied: float


JUDGES = (
    Judge("fair, labels of 2 levels", 2, 0.0), Judge("fair, labels of 4 levels", 4, 0.0),
    Judge("fair, labels of 4 levels with noise", 4, 0.2), Judge("fair, no noise of its own", 4, 0.0, spread=0.0),
    Judge("swayed by .05", 4, 0.1, 0.05), Judge("swayed by .1", 4, 0.1, 0.1),
)  # fmt: skip


def simulate(judge: Judge, cases: int, draws: int, seed: int = 0) -> Accused:
    """Draw labelled answers of two models to `cases` questions, and a longer variant of each, again and again."""
    rng = np.random.default_rng(seed)
    observed = varied = 0
    for _ in range(draws):
        shape = (cases, MODELS)
        doublings = rng.normal(0.0, 1.0, shape)
        quality = 0.5 + 0.08 * doublings + 0.12 * rng.normal(size=(cases, 1)) + 0.08 * rng.normal(size=shape)
        seen = quality + judge.noise * rng.normal(size=shape)
        labels = np.clip(np.floor(seen * judge.levels), 0, judge.levels - 1)
        score, longer = (_scored(judge, quality, doublings + more, rng) for more in (0.0, 1.0))
        observed += _hinted(doublings, labels, score)
        varied += _checked(longer - score, score).verdict == "swayed"
    return Accused(observed / draws, varied / draws)


def _scored(judge: Judge, quality: Floats, doublings: Floats, rng: np.random.Generator) -> Floats:
    return np.clip(quality + judge.sway * doublings + judge.spread * rng.normal(size=quality.shape), 0.0, 1.0)


def _hinted(doublings: Floats, labels: Floats, score: Floats) -> bool:
    kinds = np.unique(labels)[1:]
    levels = np.asarray(labels.ravel()[:, None] == kinds, np.float64)
    clusters = np.repeat(np.arange(len(score)), MODELS)
    found = clustered_coefficient(doublings.ravel(), levels, score.ravel(), clusters)
    return found is not None and (found.low > 0 or found.high < 0)


def _checked(apart: Floats, score: Floats) -> Check:
    units = np.repeat(np.arange(len(apart)), MODELS)
    row = _check(LENGTHENED, MANIPULATIONS[LENGTHENED], apart.ravel(), units, COLUMN, score)
    return _judged(replace(row, adjusted=row.p), COLUMN)
