"""True and predicted numbers of a suite's cases as arrays, for the evaluators of regression."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Aggregate
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate
from metrics.evaluators._spread_scores import spread_scores
from metrics.stats.bootstrap import Draws
from metrics.stats.prediction_errors import resampled_means

HUGE = 1e75  # beyond it, and below 1 / HUGE in a denominator, the fourth powers in a variance overflow
NOTHING_SCORED = "no case has both a true value and a prediction"
NO_TRUTH = "the case has no true value"
UNANSWERED = "the model gave no {}"
CROSSED = "the low end of the interval is above its high end"


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """The n scored cases of a suite of N: `truth` and the `given` columns of the model's outputs, each [n] and finite.

    place: [n] their row in the suite; `whole` and `reasons` [N] are the same numbers of every case, NaN where there is
    none, and why it is not scored.
    """

    truth: Floats
    given: Mapping[str, Floats]
    place: NDArray[np.intp]
    draws: Draws
    case_ids: pa.Array
    whole: Mapping[str, Floats]
    reasons: pa.Array

    @property
    def unscored(self) -> int:
        """How many cases are not scored."""
        return len(self.case_ids) - len(self.place)

    def case_scores(self, metrics: Mapping[str, Floats], why: str | None = None, **facts: Floats) -> ScoreColumns:
        """Return the scores of every case from the values and facts of the scored ones [n], NaN for none.

        why: why a scored case lacks a metric, where one does.
        """
        reasons = self.reasons
        lacking = self.place[np.any([np.isnan(values) for values in metrics.values()], axis=0)]
        if len(lacking):
            of_all = np.full(len(reasons), False)
            of_all[lacking] = True
            reasons = pc.if_else(pa.array(of_all), pa.scalar(why, pa.string()), reasons)
        known = {name: self.whole[name] for name in ("truth", *self.given)}
        return spread_scores(
            self.case_ids, self.place, reasons, metrics,
            **{name: pa.array(values) for name, values in (known | facts).items()},
        )  # fmt: skip

    def mean(
        self, metric: str, values: Floats, low: float = 0.0, high: float = math.inf, left_out: str = ""
    ) -> Aggregate:
        """Return the mean of `values` over the scored cases [n] and its interval; `low`, `high`: their range.

        NaN values are left out, and the reason says how many and why, `left_out`.
        """
        known = np.flatnonzero(~np.isnan(values))
        n, out = len(known), len(values) - len(known)
        reason = f"{out} of {len(values)} cases left out: {left_out}" if out else None
        if not n:
            reason = reason or NOTHING_SCORED
            return aggregate(metric, np.nan, n=0, unscored=len(self.case_ids), reason=reason)
        column, draws = values[known, None], self.draws.of_cases(known)
        ends, why = draws.mean_interval(column[:, 0], low, high)
        samples = resampled_means(column, draws)[:, 0]
        return aggregate(
            metric, samples[0], ends, "bootstrap", n=n, unscored=len(self.case_ids) - n,
            reason="; ".join(filter(None, [reason, why])) or None, samples=samples[1:],
        )  # fmt: skip


def read_values(suite: Suite, outputs: Outputs, parameters: ResamplingParameters, given: Mapping[str, str]) -> Values:
    """Return the numbers of a model that has one repeat; `given`: column of the outputs → what it is, in words.

    A case is scored where it has a true value and every given one, and an interval's ends are in order; a number that
    is not finite, or beyond ± 1e75, is none.
    """
    case_ids, answered = suite.cases["case_id"].combine_chunks(), outputs.outputs["case_id"].combine_chunks()
    # most often every case has one output: there is nothing to look up
    rows = None if answered.equals(case_ids) else pc.index_in(case_ids, value_set=answered)
    whole = {"truth": _numbers(suite.cases["true_value"])}
    short = {name: name.removeprefix("predicted_") if len(given) > 1 else "predicted" for name in given}
    for name in given:
        column = outputs.outputs[name].combine_chunks()
        whole[short[name]] = _numbers(column if rows is None else column.take(rows))
    reasons = np.full(len(case_ids), None, object)
    for name, words in reversed(list(given.items())):
        reasons[np.isnan(whole[short[name]])] = UNANSWERED.format(words)
    if {"low", "high"} <= whole.keys():
        crossed = whole["low"] > whole["high"]
        reasons[crossed] = CROSSED
        whole["low"] = np.where(crossed, np.nan, whole["low"])
    reasons[np.isnan(whole["truth"])] = NO_TRUTH
    known: Bools = ~np.any([np.isnan(values) for values in whole.values()], axis=0)
    place = np.flatnonzero(known)
    kept, draws = {name: whole[name][place] for name in short.values()}, parameters.draws(suite).of_cases(place)
    return Values(whole["truth"][place], kept, place, draws, case_ids, whole, pa.array(reasons, pa.string()))


def number_cases(*rows: tuple[float | None, ...], columns: Sequence[str] = ("predicted_value",)) -> dict[str, Any]:
    """Return the cases 1, 2, … of a worked example: of each its true value, then the given columns."""
    return {
        "cases": [{"case_id": str(number), "true_value": row[0]} for number, row in enumerate(rows, 1)],
        "outputs": [
            {"case_id": str(number), **dict(zip(columns, row[1:], strict=True))} for number, row in enumerate(rows, 1)
        ],
    }


def _numbers(column: pa.ChunkedArray | pa.Array) -> Floats:
    values: Floats = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    return np.where(np.abs(values) <= HUGE, values, np.nan)
