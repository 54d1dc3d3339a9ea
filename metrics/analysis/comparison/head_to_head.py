"""Models ranked by matches: on each case every two models meet, and the better score wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues, case_values
from metrics.core.array_types import Floats, Ints
from metrics.core.evaluator import Direction
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.bradley_terry import Strengths, bradley_terry
from metrics.store import Run, cache_by_run

MOST = 4_000_000  # matches


@dataclass(frozen=True, slots=True)
class Standing:
    """One model: what it scores on average against the average model, a tie counting half, with its 95 % interval.

    best_rank, worst_rank: the ranks that it may have, 1 the strongest; wins, ties, losses: of all its matches.
    """

    model: str
    score: float
    low: float
    high: float
    best_rank: int
    worst_rank: int
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """The models of a run by the matches of one metric, the strongest first.

    outcomes: wins, ties and losses of the first model of each pair; cases: those with a match; clusters: independent
    units among them; added: a model never loses or never wins, so one match of each with an average model was added.
    """

    standings: tuple[Standing, ...]
    outcomes: Mapping[tuple[str, str], tuple[int, int, int]]
    cases: int
    clusters: int
    added: bool


@cache_by_run(maxsize=16)
def head_to_head(
    run: Run, evaluator: str, metric: str, tag: str | None = None, tie: float = 0.0
) -> HeadToHead | None:  # fmt: skip
    """Return the models ranked by matches on the cases, or those with a tag; the repeats of a case are averaged.

    tie: the largest difference of two scores that is a tie (equal but for rounding by default). Strengths, intervals
    and ranks: see metrics.stats.bradley_terry, cases (or the suite's groups) as clusters. None where there is nothing
    to rank: fewer than two models or cases with values, no better end, or more than MOST matches.
    """
    entry = run.evaluator(evaluator)
    direction = None if entry is None else entry.metric(metric).direction
    design, key = run.sampling_design(tag), (evaluator, metric)
    if direction in (None, Direction.NONE) or len(design) * len(run.models) ** 2 / 2 > MOST:
        return None
    read = {model: case_values(run, model, design, [key]).get(key) for model in run.models}
    values = {model: found for model, found in read.items() if found is not None and found.present.any()}
    if len(values) < 2:
        return None
    models = list(values)
    pairs = [(one, other) for one in range(len(models)) for other in range(one + 1, len(models))]
    met = [_outcomes(values[models[one]], values[models[other]], tie, direction) for one, other in pairs]
    cases = [np.flatnonzero(~np.isnan(outcome)) for outcome in met]
    found, added = _strengths(pairs, met, cases, design, len(models))
    if found is None:
        return None
    counts = {
        (models[one], models[other]): _counts(outcome) for (one, other), outcome in zip(pairs, met, strict=True)
    }  # fmt: skip
    counts |= {(other, one): tally[::-1] for (one, other), tally in counts.items()}
    return HeadToHead(
        tuple(_standing(models, found, place, counts) for place in np.argsort(-found.log, kind="stable").tolist()),
        counts, len(np.unique(np.concatenate(cases))), found.clusters, added,
    )  # fmt: skip


def _outcomes(one: CaseValues, other: CaseValues, tie: float, direction: Direction | None) -> Floats:
    """Return the outcome [n] of each case for the first: 1, 0.5 or 0, NaN without a match."""
    apart = -one.minus(other) if direction is Direction.LOWER else one.minus(other)
    return np.where(np.isnan(apart), np.nan, np.where(np.abs(apart) <= tie, 0.5, apart > 0))


def _strengths(
    pairs: list[tuple[int, int]], met: list[Floats], cases: list[Ints], design: SamplingDesign, models: int
) -> tuple[Strengths | None, bool]:
    """Return the strengths, and whether a match with an average model had to be added for each model."""
    sizes = [len(own) for own in cases]
    first, second = (np.repeat([pair[end] for pair in pairs], sizes) for end in (0, 1))
    outcome = np.concatenate([of[own] for of, own in zip(met, cases, strict=True)])
    places = np.concatenate(cases)
    weights = None if design.weights is None else design.weights[places]
    for prior in (0.0, 1.0):
        found = bradley_terry(first, second, outcome, models, weights, design.units[places], prior)
        if found is not None:
            return found, prior > 0
    return None, False


def _counts(outcome: Floats) -> tuple[int, int, int]:
    wins, ties, losses = ((outcome == kind).sum() for kind in (1.0, 0.5, 0.0))
    return int(wins), int(ties), int(losses)


def _standing(
    models: list[str], found: Strengths, place: int, counts: Mapping[tuple[str, str], tuple[int, int, int]]
) -> Standing:
    own = [tally for (model, _), tally in counts.items() if model == models[place]]
    wins, ties, losses = (sum(tally[kind] for tally in own) for kind in range(3))
    return Standing(
        models[place], float(found.score[place]), float(found.low[place]), float(found.high[place]),
        int(found.best[place]), int(found.worst[place]), wins, ties, losses,
    )  # fmt: skip
