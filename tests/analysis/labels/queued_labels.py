"""Simulated judges whose outputs people label through the queue: what they would say of all outputs is known."""

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from metrics.analysis.labels.judge_agreement import Agreement, agreement
from metrics.analysis.labels.label_queue import _interleaved
from metrics.analysis.labels.labelled_scores import LabelledScores
from metrics.stats import rater_agreement
from metrics.stats.rater_agreement import kappas

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
OUTPUTS, LABELS, CUT = 400, 120, 0.5
STATISTICS = ("kappa", "accuracy", "sensitivity", "specificity")
MANY = 200_000
FEW_DRAWS = 30  # κ and the rates do not rest on resamples


@dataclass(frozen=True)
class Population:
    """How outputs are drawn: scores of beta(*score), and the chance that people pass one, by its score."""

    name: str
    score: tuple[float, float]
    steep: float = 0.0
    shift: float = 0.0
    level: float = 0.0
    binary: bool = False
    away: bool = False

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Floats, Bools]:
        score = rng.beta(*self.score, size)
        chance = 1 / (1 + np.exp(-self.steep * (score - CUT - self.shift) - self.level))
        if self.away:  # right near the threshold, often wrong far from it
            right = np.where(np.abs(score - CUT) < 0.15, 0.98, 0.75)
            chance = np.where(score >= CUT, right, 1 - right)
        return np.round(score) if self.binary else score, rng.random(size) < chance

    def truth(self) -> dict[str, float]:
        return statistics(*self.draw(np.random.default_rng(0), MANY))


POPULATIONS = (
    Population("wrong near the threshold", (2, 2), steep=12), Population("wrong far from it", (1, 1), away=True),
    Population("too kind", (4, 1.5), steep=6, shift=0.2), Population("yes or no", (0.8, 0.8), steep=5, binary=True),
    Population("knows nothing", (1, 1), level=0.4), Population("rarely wrong", (0.6, 0.4), steep=14),
)  # fmt: skip


def pass_rates(tables: Floats) -> dict[str, Floats]:
    """Return accuracy, sensitivity and specificity, each [B], of tables [B, 2, 2]: people × judge, fail before pass.

    sensitivity: the share of what people pass that the judge passes; specificity: of what they fail that it fails.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "accuracy": (tables[:, 0, 0] + tables[:, 1, 1]) / tables.sum(axis=(1, 2)),
            "sensitivity": tables[:, 1, 1] / tables[:, 1].sum(axis=1),
            "specificity": tables[:, 0, 0] / tables[:, 0].sum(axis=1),
        }


def statistics(score: Floats, passed: Bools) -> dict[str, float]:
    table = np.bincount(2 * passed + (score >= CUT), minlength=4).reshape(1, 2, 2).astype(float)
    return {"kappa": float(kappas(table)[0])} | {name: float(rate[0]) for name, rate in pass_rates(table).items()}


def queued(score: Floats, passed: Bools, rng: np.random.Generator, labels: int = LABELS) -> LabelledScores:
    """Return the outputs that the queue asks for first, a draw and a pick in turn, with their labels."""
    ranks = rng.permutation(len(score))  # of the random order
    near = np.lexsort((-ranks, np.abs(score - CUT)))
    asked = _interleaved(np.argsort(ranks), near, True, labels)
    place = np.array([one for one, _ in asked])
    reached = max(ranks[one] for one, how in asked if how == "drawn")
    found = labelled(score[place], passed[place])
    return replace(found, random=ranks[place] <= reached, place=place)


def labelled(score: Floats, passed: Bools, threshold: float | None = CUT) -> LabelledScores:
    column: Any = SimpleNamespace(direction="higher", threshold=threshold, calibration=None)
    n, places = len(score), np.arange(len(score))
    return LabelledScores(
        column, 1, 1, score, passed.astype(float), passed, places, np.zeros(n, np.int64), places, np.ones(n, bool),
        np.ones(n),
    )  # fmt: skip


def of_queue(both: LabelledScores, draws: int = FEW_DRAWS) -> Agreement:
    """Return the agreement, of few resamples: their number changes no κ and no rate at a threshold that is given."""
    with patch.object(rater_agreement, "draws_of", partial(rater_agreement.draws_of, resamples=draws)):
        return agreement(both)


@dataclass(frozen=True)
class Outcome:
    """Many data sets: bias of a statistic against its value over all outputs, and how often intervals hold the truth.

    covered: that of the outputs which could be drawn; covered_own: that of the outputs of the data set.
    """

    bias: float
    noise: float
    covered: float
    covered_own: float


def simulate(population: Population, repeats: int, mixed: bool = False) -> dict[str, Outcome]:
    """Label `repeats` data sets of OUTPUTS through the queue; `mixed`: with picked labels counted like random ones."""
    rng, truth = np.random.default_rng(1), population.truth()
    found: dict[str, list[tuple[float, bool, bool]]] = {name: [] for name in STATISTICS}
    for _ in range(repeats):
        score, passed = population.draw(rng, OUTPUTS)
        both = queued(score, passed, rng)
        both = replace(both, random=np.ones(len(both.score), bool)) if mixed else both
        stats, own = of_queue(both), statistics(score, passed)
        for name in STATISTICS:
            one = getattr(stats, name)
            if one.value is not None:
                inside = (one.low <= value <= one.high for value in (truth[name], own[name]))
                found[name].append((one.value - own[name], *inside))
    return {
        name: Outcome(
            float(np.mean([row[0] for row in rows])), float(np.std([row[0] for row in rows]) / np.sqrt(len(rows))),
            float(np.mean([row[1] for row in rows])), float(np.mean([row[2] for row in rows])),
        )
        for name, rows in found.items()
    }  # fmt: skip
