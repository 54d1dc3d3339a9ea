"""Models ranked by matches: on each case every two models meet, and the better score wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues, values_by_model
from metrics.core.array_types import Floats, Ints
from metrics.core.evaluator import Direction
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.bradley_terry import Strengths, bradley_terry, misfit_p
from metrics.stats.float_tolerance import difference_errors, distance_in_errors, falling_order
from metrics.stats.model_ranking import linked_groups
from metrics.store import Run, keep_by_run

MAX_MATCHES = 4_000_000  # matches
Tally = tuple[int, int, int]  # wins, ties, losses


@dataclass(frozen=True, slots=True)
class Standing:
    """One model: what it scores on average against the average model, a tie counting half, with its 95 % interval.

    best_rank, worst_rank: the ranks that it may have, 1 the strongest; None, like the score, where the models are not
    comparable. wins, ties, losses: of all its matches.
    """

    model: str
    score: float | None
    low: float | None
    high: float | None
    best_rank: int | None
    worst_rank: int | None
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """The models of a run by their matches, the strongest first.

    outcomes: wins, ties and losses of the first model of each pair; cases: those with a match; clusters: independent
    units among them; added: some models never lose to the others, so that their strengths have no finite value and one
    even match of each with an average model was added; apart: for each two neighbours in the standings |z|, by how
    many standard errors their strengths differ. groups: models linked by matches, the largest first; with several,
    nothing tells how strong those of one are beside those of another, and no model has a score or a rank. misfit_p: of
    matches that one strength a model describes, None where nothing tests it.
    """

    standings: tuple[Standing, ...]
    outcomes: Mapping[tuple[str, str], Tally]
    cases: int
    clusters: int
    added: bool
    apart: tuple[float, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    misfit_p: float | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether matches, or chains of them, link all models."""
        return len(self.groups) < 2


@keep_by_run(maxsize=16)
def head_to_head(run: Run, evaluator: str, metric: str, tag: str | None = None, tie: float = 0.0) -> HeadToHead | None:
    """Return the models ranked by matches on the cases, or those with a tag; the repeats of a case are averaged.

    tie: the largest difference of two scores that is a tie (equal but for rounding by default). None where there is
    nothing to rank: fewer than two models or cases with values, no better end, or more than MAX_MATCHES matches.
    """
    known = run.metric(evaluator, metric)
    direction = None if known is None else known.direction
    design, key = run.sampling_design(tag), (evaluator, metric)
    if direction in (None, Direction.NONE) or len(design) * len(run.models) ** 2 / 2 > MAX_MATCHES:
        return None
    read = ((model, of.get(key)) for model, of in values_by_model(run, run.models, design, [key]))
    values = {model: found for model, found in read if found is not None and found.present.any()}
    met = {
        (one, other): _outcomes(values[one], values[other], tie, direction) for one, other in combinations(values, 2)
    }
    return ranked_by_matches(list(values), met, design)


def ranked_by_matches(
    models: Sequence[str], met: Mapping[tuple[str, str], Floats], design: SamplingDesign
) -> HeadToHead | None:
    """Return models ranked by their matches, without scores and ranks where some never met; None without matches.

    met: by pair of models the outcome [n] of each case of the design for the first: 1, 0.5 or 0, NaN without a match.
    Strengths, intervals and ranks: see metrics.stats.bradley_terry, cases (or the suite's groups) as clusters.
    """
    cases = [np.flatnonzero(~np.isnan(outcome)) for outcome in met.values()]
    if len(models) < 2 or not any(map(len, cases)):
        return None
    counts = {pair: _counts(outcome) for pair, outcome in met.items()}
    counts |= {(other, one): tally[::-1] for (one, other), tally in counts.items()}
    groups = _linked(models, counts)
    found, added, misfit = _strengths(models, met, cases, design) if len(groups) < 2 else (None, False, None)
    if found is None and len(groups) < 2:
        return None
    order = [model for group in groups for model in group]
    apart: tuple[float, ...] = ()
    if found is not None:
        places = falling_order(found.log).tolist()
        order = [models[place] for place in places]
        apart = tuple(_apart(found, one, other) for one, other in pairwise(places))
    played = np.unique(np.concatenate(cases))
    units = len(np.unique(design.units[played]))
    standings = tuple(_standing(model, models.index(model), found, counts) for model in order)
    return HeadToHead(standings, counts, len(played), units, added, apart, groups, misfit)


def _linked(models: Sequence[str], counts: Mapping[tuple[str, str], Tally]) -> tuple[tuple[str, ...], ...]:
    """Return the models in groups that matches, or chains of them, link; the largest group first."""
    met = (np.array([models.index(model) for model in pair]) for pair, tally in counts.items() if any(tally))
    codes = linked_groups(met, len(models))
    groups = [
        tuple(models[place] for place in np.flatnonzero(codes == code).tolist()) for code in range(codes.max() + 1)
    ]
    return tuple(sorted(groups, key=len, reverse=True))


def _outcomes(one: CaseValues, other: CaseValues, tie: float, direction: Direction | None) -> Floats:
    """Return the outcome [n] of each case for the first: 1, 0.5 or 0, NaN without a match."""
    apart = -one.minus(other) if direction is Direction.LOWER else one.minus(other)
    return np.where(np.isnan(apart), np.nan, np.where(np.abs(apart) <= tie, 0.5, apart > 0))


def _strengths(
    models: Sequence[str], met: Mapping[tuple[str, str], Floats], cases: list[Ints], design: SamplingDesign
) -> tuple[Strengths | None, bool, float | None]:
    """Return the strengths, whether a match with an average model had to be added for each, and p of their fit."""
    sizes = [len(own) for own in cases]
    first, second = (np.repeat([models.index(pair[end]) for pair in met], sizes) for end in (0, 1))
    outcome = np.concatenate([of[own] for of, own in zip(met.values(), cases, strict=True)])
    places = np.concatenate(cases)
    weights = None if design.weights is None else design.weights[places]
    matches, units = (first, second, outcome, len(models)), design.units[places]
    found = bradley_terry(*matches, weights, units)
    if found is not None:
        return found, False, misfit_p(*matches, found, weights, units)
    found = bradley_terry(*matches, weights, units, prior=1.0)
    return found, found is not None, None


def _counts(outcome: Floats) -> Tally:
    wins, ties, losses = ((outcome == kind).sum() for kind in (1.0, 0.5, 0.0))
    return int(wins), int(ties), int(losses)


def _apart(found: Strengths, one: int, other: int) -> float:
    error = difference_errors(found.covariance, np.array([one]), np.array([other]))
    return float(distance_in_errors(found.log[[one]] - found.log[[other]], error)[0])


def _standing(model: str, place: int, found: Strengths | None, counts: Mapping[tuple[str, str], Tally]) -> Standing:
    own = [tally for (first, _), tally in counts.items() if first == model]
    wins, ties, losses = (sum(tally[kind] for tally in own) for kind in range(3))
    if found is None:
        return Standing(model, None, None, None, None, None, wins, ties, losses)
    score, low, high = (float(of[place]) for of in (found.score, found.low, found.high))
    return Standing(model, score, low, high, int(found.best[place]), int(found.worst[place]), wins, ties, losses)
