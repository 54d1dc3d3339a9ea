"""Several metrics in one number: a score by weights that the user sets, with interval, ranks and how robust it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.leaderboard.leaderboard import few_groups
from metrics.analysis.leaderboard.ranks import Ranks, case_ranks, ranks_of_resamples
from metrics.analysis.leaderboard.replicates import replicates
from metrics.analysis.ranking.objectives import Objective, chosen_objectives, objective_values
from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Metric
from metrics.core.rounding import NEAR, exact_sum, none_if_nan
from metrics.stats.float_tolerance import falling_order, ratio
from metrics.stats.intervals import mean_intervals
from metrics.stats.model_ranking import first_shares, turning_point, weighted_intervals
from metrics.stats.paired_intervals import resample_interval
from metrics.store import Run

SCORE = Metric("weighted_score", "Weighted mean of the scaled metrics.")
OPEN = "a range without end cannot be scaled to 0 … 1"
SCALE = "the worst and the best value to scale it by, two different numbers"
WEIGHT = "a finite number of 0 or more, one of them above 0"
OUTSIDE, HOLDS = "a model's number lies outside", "a scale that holds the numbers of all models"
MIXED = "a number of the whole data set"
ALIKE = "metrics with values per case, or only those of one evaluator with stored resamples"


@dataclass(frozen=True, slots=True)
class Part:
    """One criterion: its weight (all sum to 1), the values that are scaled to 0 (worst) and to 1 (best), and how many
    values lie outside and count as the nearer end.
    """

    objective: Objective
    weight: float
    worst: float
    best: float
    clipped: int


@dataclass(frozen=True, slots=True)
class WeightedScore:
    """One model: its score 0 … 1 with the 95 % interval, over the n cases that have a value of every criterion.

    lacking: cases with some of them only, which are left out; best_rank … worst_rank: as on the leaderboard; parts: the
    scaled mean of each criterion over the n cases; first: the share of all weightings in which the model is first.
    """

    model: str
    value: float
    low: float | None
    high: float | None
    n: int
    lacking: int
    best_rank: int
    worst_rank: int
    parts: tuple[float, ...]
    first: float


@dataclass(frozen=True, slots=True)
class TurningPoint:
    """The least change of one weight, the others keeping their ratios, that makes another model lead."""

    part: Part
    weight: float
    model: str


@dataclass(frozen=True, slots=True)
class WeightedScores:
    """The models by their weighted score, the best first.

    unscored: models that lack a criterion altogether; turn: None where no change of one weight changes the leader;
    resampled: of numbers of the whole data set, whose n is not known; caution: why intervals and ranks are not to be
    relied on, see few_groups.
    """

    parts: tuple[Part, ...]
    scores: tuple[WeightedScore, ...]
    unscored: tuple[str, ...]
    turn: TurningPoint | None
    resampled: bool
    caution: str | None

    @property
    def leaders(self) -> tuple[str, ...]:
        """The models than which none is significantly better."""
        return tuple(one.model for one in self.scores if one.best_rank == 1)


def weighted_scores(
    run: Run,
    weights: Mapping[str, float],
    scales: Mapping[str, tuple[float, float]] | None = None,
    tag: str | None = None,
    models: Sequence[str] = (),
) -> WeightedScores:
    """Return the models of a run by a weighted mean of several criteria, over all its cases or those with a tag.

    A case's score is Σ wᵢ·sᵢ with Σ w = 1 and s = (value − worst) / (best − worst), within 0 … 1: the metric's declared
    range, ↓ metrics inverted. A model's score is the (weighted) mean over the cases with a value of every criterion,
    repeats averaged; its interval that of a mean (metrics.stats.intervals), ranks by the paired test of the
    leaderboard on these scores, Holm over the pairs. Numbers of a whole data set are taken where all are of one
    evaluator that stored resamples: the same resamples then carry the sum.

    Args:
        weights: by key of a criterion, see `objectives`; only their ratios count, 0 leaves a criterion out.
        scales: (worst, best) by key, in the metric's unit: for a criterion without a finite range, or to use another.
        tag: only the cases with it.
        models: only these, default all.

    Raises:
        InputError: Every weight, scale and key that cannot be used, with the reason.
    """
    chosen = _weighted_objectives(run, weights, tag)
    total = exact_sum(weights[one.column.key] for one in chosen)
    scaled = [_scale(one, (scales or {}).get(one.column.key)) for one in chosen]
    share = np.array([weights[one.column.key] / total for one in chosen])
    asked = [model for model in run.models if not models or model in models]
    resampled = not all(one.by_case for one in chosen)
    make = _of_resamples if resampled else _of_cases
    made = make(run, chosen, scaled, share, asked, tag)
    means = made.parts
    known = np.flatnonzero(~np.isnan(made.value))
    first = np.zeros(len(asked))
    turn = None
    parts = tuple(
        Part(one, float(weight), *ends, clipped)
        for one, weight, ends, clipped in zip(chosen, share, scaled, made.clipped, strict=True)
    )
    if len(known):
        first[known] = first_shares(means[:, known])
        found = turning_point(means[:, known], share)
        if found is not None:
            turn = TurningPoint(parts[found.part], found.weight, asked[known[found.model]])
    scores = [
        WeightedScore(
            asked[at],
            float(made.value[at]),
            none_if_nan(made.low[at]),
            none_if_nan(made.high[at]),
            int(made.n[at]),
            int(made.lacking[at]),
            *_ranked(made.ranks, asked[at], len(known)),
            tuple(means[:, at].tolist()),
            float(first[at]),
        )
        for at in known.tolist()
    ]
    ranked = tuple(scores[place] for place in falling_order([one.value for one in scores]))
    lacking = tuple(model for place, model in enumerate(asked) if np.isnan(made.value[place]))
    return WeightedScores(parts, ranked, lacking, turn, resampled, few_groups(run, tag))


@dataclass(frozen=True, eq=False, slots=True)
class _Made:
    """Numbers of m models [m] by k criteria: `parts` [k, m] the scaled means, `clipped` [k]; NaN for no value."""

    value: Floats
    low: Floats
    high: Floats
    n: Floats
    lacking: Floats
    parts: Floats
    clipped: list[int]
    ranks: Ranks | None


def _weighted_objectives(run: Run, weights: Mapping[str, float], tag: str | None) -> list[Objective]:
    wrong = [
        InputProblem("weight", f"{key}: {weight:g}", WEIGHT)
        for key, weight in weights.items()
        if not 0 <= weight < math.inf
    ]
    if not wrong and not any(weights.values()):
        wrong = [InputProblem("weights", "none above 0", WEIGHT)]
    if wrong:
        raise InputError(wrong)
    return chosen_objectives(run, [key for key, weight in weights.items() if weight], tag)


def _scale(one: Objective, given: tuple[float, float] | None) -> tuple[float, float]:
    """Return the worst and the best value of a criterion; InputError where there is none."""
    column, lower = one.column, one.column.direction == "lower"
    worst, best = given or ((column.high, column.low) if lower else (column.low, column.high))
    if given is None and not math.isfinite(best - worst):
        raise InputError([InputProblem(f"scale of {column.key}", OPEN, SCALE)])
    if not math.isfinite(best - worst) or best == worst or (best > worst) == lower:
        which = "the best below the worst" if lower else "the best above the worst"
        raise InputError(
            [InputProblem(f"scale of {column.key}", f"worst {worst:g}, best {best:g}", f"{SCALE}: {which}")]
        )
    return worst, best


def _of_cases(
    run: Run,
    chosen: Sequence[Objective],
    scaled: Sequence[tuple[float, float]],
    share: Floats,
    models: Sequence[str],
    tag: str | None,
) -> _Made:
    design = run.sampling_design(tag)
    read, single = objective_values(run, chosen, design)
    values = read[:, :, [run.models.index(model) for model in models]]
    parts, clipped = _scaled(values, scaled)
    score = np.tensordot(share, parts, 1)  # NaN where a criterion has no value
    there = ~np.isnan(score)
    lacking = ((~np.isnan(parts)).any(axis=0) & ~there).sum(axis=0)
    mass = np.ones((len(design), 1)) if design.weights is None else design.weights[:, None]
    weight = there * mass
    means = np.stack([ratio((np.where(there, part, 0.0) * weight).sum(axis=0), weight.sum(axis=0)) for part in parts])
    seed = int(run.spec.seed)
    # a single share keeps the interval and the test of a share
    shares = len(chosen) == 1 and single[0] and chosen[0].column.binary and set(scaled[0]) == {0, 1} and design.plain
    if shares:
        low, high, _ = mean_intervals(score, design.weights, design.clusters, seed, 0.0, 1.0, shares)
    else:
        _, low, high = weighted_intervals(parts, share, design.weights, design.clusters, seed)
    ranked = case_ranks(replace(SCORE, binary=shares), score, np.full(len(models), shares), models, design)
    return _Made(share @ means, low, high, there.sum(axis=0), lacking, means, clipped, ranked)


def _of_resamples(
    run: Run,
    chosen: Sequence[Objective],
    scaled: Sequence[tuple[float, float]],
    share: Floats,
    models: Sequence[str],
    tag: str | None,
) -> _Made:
    """Return what the same resamples carry; InputError where the criteria have none in common."""
    stored = replicates(run, tag) or {}
    keys = [one.column.key for one in chosen]
    wrong = [one for one in chosen if not any((model, one.column.key) in stored for model in models)]
    if not wrong and len({one.column.evaluator for one in chosen}) > 1:
        wrong = [one for one in chosen if not one.by_case]
    if wrong:
        raise InputError([InputProblem(one.column.key, MIXED, ALIKE) for one in wrong])
    held = [place for place, model in enumerate(models) if all((model, key) in stored for key in keys)]
    value, low, high = np.full((3, len(models)), np.nan)
    n, lacking = np.zeros((2, len(models)))
    made = _Made(value, low, high, n, lacking, np.full((len(keys), len(models)), np.nan), [0] * len(keys), None)
    sums = []
    for place in held:
        own = [stored[models[place], key] for key in keys]
        parts, outside = _scaled(np.array([[one.value] for one in own]), scaled)
        if any(outside):
            raise InputError([InputProblem(f"scale of {keys[int(np.argmax(outside))]}", OUTSIDE, HOLDS)])
        made.parts[:, place], made.value[place], made.n[place] = parts[:, 0], share @ parts[:, 0], min(o.n for o in own)
        sums.append(share @ _scaled(np.array([one.samples for one in own]), scaled, clip=False)[0])
        known = sums[-1][~np.isnan(sums[-1])]
        if len(known):
            made.low[place], made.high[place] = np.clip(resample_interval(float(made.value[place]), known), 0.0, 1.0)
    if len(held) < 2 or len({len(one) for one in sums}) > 1:
        return made
    ranked = ranks_of_resamples(SCORE, made.value[held], np.array(sums), [models[place] for place in held])
    return replace(made, ranks=ranked)


def _scaled(values: Floats, scaled: Sequence[tuple[float, float]], clip: bool = True) -> tuple[Floats, list[int]]:
    """Return values [k, …] as 0 (worst) … 1 (best), and how many [k] lay outside and were moved to the nearer end."""
    worst, best = (np.array(ends).reshape(-1, *[1] * (values.ndim - 1)) for ends in zip(*scaled, strict=True))
    found = (values - worst) / (best - worst)
    outside = [int(((part < -NEAR) | (part > 1 + NEAR)).sum()) for part in found]
    return (np.clip(found, 0.0, 1.0) if clip else found), outside


def _ranked(found: Ranks | None, model: str, many: int) -> tuple[int, int]:
    return (1, many) if found is None else found.ranges.get(model, (1, many))
