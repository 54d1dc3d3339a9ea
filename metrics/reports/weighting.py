"""Weights of metrics as a person writes them for a command, and what a run says by them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.analysis import pareto_front, weighted_scores
from metrics.analysis.leaderboard.resources import QUANTITIES
from metrics.analysis.ranking.objectives import objective_key
from metrics.core.errors import InputError, InputProblem
from metrics.presentation.ranking_words import front_sentence, robustness_lines, weighted_sentence
from metrics.reports.baseline import require_metrics
from metrics.store import Run

WEIGHT, SCALE = "weight", "scale"
WEIGHTS = f"METRIC=WEIGHT, METRIC being METRIC, EVALUATOR.METRIC, {', '.join(QUANTITIES)}, WEIGHT a number above 0"
SCALES = "METRIC=WORST:BEST of a metric with a --weight: two different numbers"


@dataclass(frozen=True, slots=True)
class Weighting:
    """Weights and scales (worst, best) by METRIC, EVALUATOR.METRIC or a quantity of the answers, such as cost_usd."""

    weights: Mapping[str, float]
    scales: Mapping[str, tuple[float, float]]

    @classmethod
    def parse(cls, weights: Sequence[str], scales: Sequence[str]) -> Weighting | None:
        """Return what METRIC=WEIGHT and METRIC=WORST:BEST say, None without weights; InputError with all wrong ones."""
        found: dict[str, float] = {}
        ends: dict[str, tuple[float, float]] = {}
        problems = []
        for text in weights:
            name, values = _split(text, 1)
            if not name or values is None or values[0] <= 0:
                problems.append(InputProblem(f"--{WEIGHT}", repr(text), WEIGHTS))
            else:
                found[name] = values[0]
        for text in scales:
            name, values = _split(text, 2)
            if name not in found or values is None or values[0] == values[1]:
                problems.append(InputProblem(f"--{SCALE}", repr(text), SCALES))
            else:
                ends[name] = values[0], values[1]
        if problems:
            raise InputError(problems)
        return cls(found, ends) if found else None

    def require_metrics(self, chosen: Sequence[str], parameters: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise InputError with each metric that no chosen evaluator has with a better end."""
        require_metrics([name for name in self.weights if name not in QUANTITIES], chosen, parameters, WEIGHT)

    def lines(self, run: Run) -> Iterator[str]:
        """Yield who leads with these weights, how robust that is, and who is dominated in these metrics, in sentences.

        InputError where the run cannot be weighed so.
        """
        keys = {name: objective_key(run, name, f"--{WEIGHT}") for name in self.weights}
        weights = {keys[name]: weight for name, weight in self.weights.items()}
        found = weighted_scores(run, weights, {keys[name]: ends for name, ends in self.scales.items()})
        yield weighted_sentence(found)
        yield from robustness_lines(found)
        if len(weights) > 1 and len(run.models) > 1:
            yield front_sentence(pareto_front(run, list(weights)))


def _split(text: str, count: int) -> tuple[str, list[float] | None]:
    """Return the name and the finite numbers of NAME=NUMBER:…; None in place of numbers that are not `count`."""
    name, _, numbers = text.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(":")]
    except ValueError:
        return name.strip(), None
    return name.strip(), values if len(values) == count and all(map(math.isfinite, values)) else None
