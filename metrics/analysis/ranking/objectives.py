"""What models are weighed by: metrics of the leaderboard, and what their answers took."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.analysis.comparison.case_values import values_by_model
from metrics.analysis.leaderboard.distributions import metrics_by_case
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.analysis.leaderboard.ranks import Ranks
from metrics.analysis.leaderboard.resources import QUANTITIES, resource_values, resources
from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.sampling_design import SamplingDesign
from metrics.store import Run, cache_by_run

TITLES = {"cost_usd": "Cost", "duration_s": "Latency", "tokens": "Tokens"}  # of QUANTITIES, the keys of their columns


@dataclass(frozen=True, slots=True)
class Number:
    """A model's number of one criterion with its 95 % interval, and the cases that it rests on."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Objective:
    """Something with a better end that models are weighed by.

    column: of the leaderboard; of a quantity of QUANTITIES one of its own, whose key is the quantity and whose
    evaluator is empty. numbers: by model, of those that have one; ranks: by paired tests, None where there are none.
    by_case: its values are known case by case.
    """

    column: Column
    numbers: Mapping[str, Number]
    ranks: Ranks | None
    by_case: bool

    @property
    def is_resource(self) -> bool:
        """Whether it is what the answers took."""
        return not self.column.evaluator


@cache_by_run(maxsize=32)
def objectives(run: Run, tag: str | None = None) -> Mapping[str, Objective]:
    """Return what the models of a run can be weighed by, by key: the metrics with a better end, then the quantities.

    Of an evaluator that is not done there is none.
    """
    board, by_case = leaderboard(run, tag), metrics_by_case(run)
    found, heads = {}, set()
    for column in board.columns:
        name = (column.evaluator, column.metric)
        # of several columns of one metric the scores per case are the first one's
        own = name in by_case and name not in heads and column.label_key is None
        heads.add(name)
        if column.direction == "none" or column.partly is not None:
            continue
        cells = {model: cell for model in run.models if (cell := board.cells.get((model, column.key))) is not None}
        numbers = {
            model: Number(cell.value, cell.low, cell.high, cell.n)
            for model, cell in cells.items()
            if cell.value is not None
        }
        found[column.key] = Objective(column, numbers, board.ranks.get(column.key), own)
    for quantity in TITLES:
        own_numbers = {
            one.model: Number(one.median.value, one.median.low, one.median.high, one.n)
            for one in resources(run, tag)
            if one.quantity == quantity
        }
        if own_numbers:
            found[quantity] = Objective(_column(quantity), own_numbers, board.spent.get(quantity), True)
    return found


def chosen_objectives(run: Run, keys: Sequence[str], tag: str | None = None) -> list[Objective]:
    """Return the criteria with these keys; InputError with each key that is none, and where there is no key."""
    there = objectives(run, tag)
    unknown = [InputProblem("metric", repr(key), one_of(key, list(there))) for key in keys if key not in there]
    if unknown or not keys:
        raise InputError(unknown or [InputProblem("metrics", "none", "at least one with a better end")])
    return [there[key] for key in dict.fromkeys(keys)]


def objective_key(run: Run, name: str, where: str = "metric") -> str:
    """Return the key of METRIC, EVALUATOR.METRIC or a quantity; of several columns of a metric the first one's.

    InputError, which names `where`, on a name that means nothing or metrics of several evaluators.
    """
    there = objectives(run)
    named: dict[str, str] = {}
    for key, one in there.items():
        if name in (key, one.column.metric, f"{one.column.evaluator}.{one.column.metric}"):
            named.setdefault(one.column.evaluator, key)
    if len(named) != 1:
        listed = [f"{one.column.evaluator}.{one.column.metric}".lstrip(".") for one in there.values()]
        expected = f"EVALUATOR.METRIC, as {' and '.join(named)} have it" if named else one_of(name, listed)
        raise InputError([InputProblem(where, repr(name), expected)])
    return next(iter(named.values()))


def objective_values(run: Run, chosen: Sequence[Objective], design: SamplingDesign) -> tuple[Floats, list[bool]]:
    """Return the values [criteria, cases inside, models] of criteria with values per case, repeats averaged, NaN for
    none; and of which criteria no case is repeated.
    """
    found = np.full((len(chosen), len(design), len(run.models)), np.nan)
    single = [False] * len(chosen)
    keys = [(one.column.evaluator, one.column.metric) for one in chosen if not one.is_resource]
    read = [of for _, of in values_by_model(run, run.models if keys else (), design, keys)]
    taken = resource_values(run, [one.column.key for one in chosen if one.is_resource])
    for place, one in enumerate(chosen):
        if one.is_resource:
            found[place] = taken[one.column.key][design.inside]
            continue
        own = [of.get((one.column.evaluator, one.column.metric)) for of in read]
        for model, values in enumerate(own):
            if values is not None:
                found[place, :, model] = values.values
        single[place] = all(values is None or values.single for values in own)
    return found, single


def _column(quantity: str) -> Column:
    return Column(
        key=quantity,
        evaluator="",
        evaluator_title=TITLES[quantity],
        family="",
        metric=quantity,
        title=TITLES[quantity],
        description=f"{TITLES[quantity]} of a case, median.",
        direction="lower",
        low=0.0,
        high=math.inf,
        threshold=None,
        unit=QUANTITIES[quantity],
        primary=False,
        minor=False,
    )
