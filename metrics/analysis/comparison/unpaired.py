"""What of two models is not paired: metrics without values per case, and cases that only one has a score for."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues
from metrics.analysis.leaderboard.cells import Cell, Column
from metrics.analysis.leaderboard.unscored import missing_cases
from metrics.core.array_types import Bools
from metrics.core.evaluator import MAX_MISSING
from metrics.core.sampling_design import SamplingDesign
from metrics.store import Run

UNPAIRED = "neither values per case nor resamples are stored to pair the two on"


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A metric of the whole data set without resamples to pair: both numbers with their own intervals."""

    column: Column
    a: Cell
    b: Cell

    @property
    def better(self) -> Literal["a", "b"] | None:
        """Which number is the better one, tested or not; None where they are equal, or neither end is better."""
        if self.a.value is None or self.b.value is None or self.column.direction == "none":
            return None
        apart = (self.b.value - self.a.value) * (-1 if self.column.direction == "lower" else 1)
        return "b" if apart > 0 else "a" if apart < 0 else None

    def reason(self, a: str = "A", b: str = "B") -> str:
        """Return why it is not tested, with a and b for the models: what their numbers lack."""
        lacking = {name: cell.reason for name, cell in ((a, self.a), (b, self.b)) if cell.low is None and cell.reason}
        return "; ".join(f"{name}: {why.rstrip('.')}" for name, why in lacking.items()) or UNPAIRED


@dataclass(frozen=True, eq=False, slots=True)
class OneSided:
    """The cases [n] of a pair of models that only a, or only b, lacks a score of, where both should have one."""

    of_a: Bools
    of_b: Bools
    share: float  # of the cases that one or both have

    @property
    def is_many(self) -> bool:
        """Whether they are so many that the difference of the other cases is not taken for that of all."""
        return self.share > MAX_MISSING

    def completed(self, column: Column, a: CaseValues, b: CaseValues, worst: bool) -> tuple[CaseValues, CaseValues]:
        """Return the values of both with those at the ends of the metric's range: the worst for b, or the best."""
        ends = (column.low, column.high) if (column.direction == "lower") == worst else (column.high, column.low)
        return (
            replace(a, values=np.where(self.of_a, ends[0], a.values)),
            replace(b, values=np.where(self.of_b, ends[1], b.values)),
        )


def one_sided(
    runs: tuple[Run, Run],
    models: tuple[str, str],
    designs: tuple[SamplingDesign, SamplingDesign],
    column: Column,
    a: CaseValues,
    b: CaseValues,
) -> OneSided | None:
    """Return the cases that only one of two models lacks; None where there are none. Each of its run and its design."""
    if bool((a.present == b.present).all()):
        return None
    missing = [
        missing_cases(run, column.evaluator, column.metric)[model][design.inside]
        for run, model, design in zip(runs, models, designs, strict=True)
    ]
    of_a, of_b = missing[0] & b.present, missing[1] & a.present
    count = int(of_a.sum() + of_b.sum())
    return OneSided(of_a, of_b, count / (count + int((a.present & b.present).sum()))) if count else None


def has_ends(column: Column) -> bool:
    """Return whether the metric's range has both ends."""
    return math.isfinite(column.high - column.low)
