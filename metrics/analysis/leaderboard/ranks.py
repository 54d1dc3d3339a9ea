"""Ranks of the models in each metric, by the same paired tests as a comparison; and what the suite could detect.

Two models differ where the paired test of metrics.stats is significant: here with Holm's correction over all pairs of
models of the metric; a leaderboard corrects over all metrics as well, see metrics.analysis.leaderboard.family. Values
per case are paired on cases, numbers of the whole data set on its resamples.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from metrics.analysis.leaderboard.case_sums import case_sums, open_scores
from metrics.analysis.leaderboard.replicates import replicates
from metrics.core.array_types import Bools, Floats
from metrics.core.arrow import row_groups
from metrics.core.evaluator import Direction, Metric
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import SamplingDesign
from metrics.stats import power
from metrics.stats.corrections import is_significant
from metrics.stats.float_tolerance import ratio
from metrics.stats.model_ranking import Pairs, compare_pairs, compare_resamples
from metrics.store import Run, keep_by_run
from metrics.store.run_tables import OpenFile

Key = tuple[str, str]  # evaluator, metric
Pair = tuple[str, str]  # models
MAX_VALUES = 40_000_000  # values held at once; models are not ranked by a metric that has more


@dataclass(frozen=True, slots=True)
class Ranks:
    """One metric's ranks: best and worst rank that each model may have, 1 the best; the ranges hold at once in 95 %.

    adjusted: p of each tested pair (the better model first) between which anything differs, corrected; p: before that;
    gaps: by how much the better one is ahead, on what both have; untested: further pairs that count in the correction,
    as there are too many to test all; cases, units: what a typical pair of models shares, in cases and independent
    units (groups of cases); error: the standard error of its difference (medians over the pairs), None where no two
    models differ or resamples are paired; worth: how many units of one size the units are worth, 0 for as many as there
    are.
    """

    ranges: Mapping[str, tuple[int, int]]
    adjusted: Mapping[Pair, float]
    cases: int = 0
    units: int = 0
    error: float | None = None
    worth: float = 0.0
    p: Mapping[Pair, float] = field(default_factory=dict)
    untested: int = 0
    gaps: Mapping[Pair, float] = field(default_factory=dict)

    def with_adjusted(self, adjusted: Mapping[Pair, float]) -> "Ranks":
        """Return the ranks that follow from these adjusted p."""
        return replace(self, ranges=_ranges(list(self.ranges), adjusted), adjusted=adjusted)

    @property
    def significant(self) -> list[Pair]:
        """The pairs of models that differ significantly, the better one first."""
        return [pair for pair, p in self.adjusted.items() if is_significant(p)]

    @property
    def leaning(self) -> list[Pair]:
        """The pairs that differ before correction only, the model that may be better first."""
        adjusted = {pair: self.adjusted.get(pair, 1.0) for pair, p in self.p.items() if is_significant(p)}
        return [pair for pair, p in adjusted.items() if not is_significant(p)]

    @property
    def detectable(self) -> float | None:
        """The true difference of two models that such cases detect with 80 % power, by a test at 5 %."""
        return None if self.error is None else power.detectable(self.error, self.worth or self.units)

    def cases_needed(self, difference: float) -> int:
        """Return how many such cases detect a true `difference` > 0 with 80 % power, by a test at 5 %."""
        assert self.error is not None
        worth = self.worth or self.units
        return math.ceil(power.units_needed(self.error, worth, difference) * self.cases / worth)


@keep_by_run(maxsize=16)
def ranks(run: Run, tag: str | None = None) -> Mapping[Key, Ranks]:
    """Return the ranks in every metric that has values per case, a better end, and two models with values to pair."""
    if run.stored("scores") is None or len(run.models) < 2:
        return {}
    design = run.sampling_design(tag)
    found: dict[Key, Ranks] = {}
    with open_scores(run) as files:
        for name in run.evaluators:
            entry = run.evaluator(name)
            if entry is None:
                continue
            metrics = [metric for metric in entry.metrics if metric.direction is not Direction.NONE]
            for metric, values, single in _values(files, run.models, name, metrics, design):
                own = case_ranks(metric, values, single, run.models, design)
                if own is not None:
                    found[name, metric.name] = own
    return found


def resample_ranks(run: Run, columns: Mapping[str, Metric], tag: str | None = None) -> Mapping[str, Ranks]:
    """Return the ranks in those of `columns` (keys) whose replicates are stored for two models at least."""
    stored = replicates(run, tag) or {}
    found: dict[str, Ranks] = {}
    for key, metric in columns.items():
        own = {model: stored[model, key] for model in run.models if (model, key) in stored}
        if len(own) < 2 or metric.direction is Direction.NONE or len({len(one.samples) for one in own.values()}) > 1:
            continue
        values, samples = (np.array([one[place] for one in own.values()]) for place in (0, 2))
        found[key] = ranks_of_resamples(metric, values, samples, list(own))
    return found


def ranks_of_resamples(metric: Metric, values: Floats, samples: Floats, models: Sequence[str]) -> Ranks:
    """Return the ranks in one metric from the models' `values` [m] and their values in the same resamples [m, B]."""
    sign = _sign(metric)
    return _ranks_of(compare_resamples(sign * values, sign * samples), models)


def _sign(metric: Metric) -> float:
    return -1.0 if metric.direction is Direction.LOWER else 1.0


def _ranks_of(pairs: Pairs, models: Sequence[str]) -> Ranks:
    better, worse = ([models[place] for place in places[pairs.differs]] for places in (pairs.better, pairs.worse))
    p, adjusted, gaps = (
        dict(zip(zip(better, worse, strict=True), own[pairs.differs].tolist(), strict=True))
        for own in (pairs.p, pairs.adjusted, pairs.gap)
    )
    untested = math.comb(len(models), 2) - len(pairs.p)
    return Ranks(_ranges(models, adjusted), adjusted, p=p, untested=untested, gaps=gaps)


def _ranges(models: Sequence[str], adjusted: Mapping[Pair, float]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that each model may have, by the adjusted p of pairs (the better model first).

    1 + how many models are significantly better than it, and m − how many it is significantly better than: all hold at
    once in 95 %. Models with the same better ones share the best rank.
    Source: Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91:476, 2024.
    """
    significant = [pair for pair, p in adjusted.items() if is_significant(p)]
    wins, losses = (Counter(pair[place] for pair in significant) for place in (0, 1))
    return {model: (1 + losses[model], len(models) - wins[model]) for model in models}


def case_ranks(
    metric: Metric, values: Floats, single: Bools, models: Sequence[str], design: SamplingDesign
) -> Ranks | None:
    """Return the ranks in one metric from values [n, m]; None where fewer than two models have any."""
    held = np.flatnonzero((~np.isnan(values)).any(axis=0))
    if len(held) < 2:
        return None
    binary = single[held] & metric.binary
    pairs = compare_pairs(_sign(metric) * values[:, held], design.weights, design.clusters, binary)
    found = _ranks_of(pairs, [models[place] for place in held.tolist()])
    known = pairs.error > EQUAL
    if not known.any():
        return found
    units, cases = (int(np.median(counts[known])) for counts in (pairs.units, pairs.cases))
    error, worth = float(np.median(pairs.error[known])), min(units, 1 + float(np.median(pairs.freedom[known])))
    return replace(found, cases=cases, units=units, error=error, worth=worth)


def _values(
    files: Sequence[OpenFile], models: Sequence[str], evaluator: str, metrics: Sequence[Metric], design: SamplingDesign
) -> Iterator[tuple[Metric, Floats, Bools]]:
    """Yield each of an evaluator's metrics that has any value, its values [cases inside, models] with repeats averaged,
    NaN for none, and which models [m] have no repeats.
    """
    size = design.cases * len(models)
    if size > MAX_VALUES or not any(row_groups(file, "evaluator", evaluator) for file, _ in files):
        return
    step = max(1, MAX_VALUES // max(1, size))
    for start in range(0, len(metrics), step):
        part = metrics[start : start + step]
        found = case_sums(files, evaluator, [metric.name for metric in part], models, design.cases)
        inside = slice(None) if len(design) == design.cases else design.inside
        for metric, total, count in zip(part, found.sums, found.counts, strict=True):
            own = count[inside]
            if own.any():
                yield metric, ratio(total[inside], own), count.max(axis=0, initial=0) <= 1
