"""What a tested difference of two models comes to, after correction for the tests shown with it."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, TypeVar

import numpy as np

from metrics.analysis.leaderboard.family import MetricTests, adjust_together, main_columns
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Floats
from metrics.stats.corrections import benjamini_hochberg, holm, is_significant
from metrics.stats.rare_losses import UNKNOWN, Side

Significance = Literal["better", "worse", "higher", "lower", "leaning", "open", "equal", "none"]
Correction = Literal["holm", "benjamini_hochberg", "none"]
WORDS: dict[Significance, str] = {
    "better": "B is better",
    "worse": "A is better",
    "higher": "B is higher",
    "lower": "A is higher",
    "open": "no significant difference",
    "none": "no case has values of both",
}
ADJUST: dict[Correction, Callable[[Floats], Floats]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "none": np.array,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A paired test of one metric of two models.

    difference: b − a with its 95 % interval low … high, None where there is no pair; error: its standard error, NaN
    where it is not known; clusters: independent units that it rests on (cases, or groups of them); p: None where
    nothing differed; adjusted: p corrected for the tests it is shown with. significance: better, worse (higher, lower
    where neither end of the metric is better) where the adjusted p is at most LEVEL, leaning where only p is, open
    where neither is; equal: nothing differs; none: there is no pair. below, above: the units that lie on either side of
    no difference, see metrics.stats.rare_losses.
    """

    equal: ClassVar[str]  # "equal" in words

    column: Column
    difference: float | None
    low: float | None = None
    high: float | None = None
    error: float = math.nan
    clusters: int
    p: float | None = None
    adjusted: float | None = None
    significance: Significance = "none"
    below: Side = UNKNOWN
    above: Side = UNKNOWN

    @property
    def better(self) -> float | None:
        """The difference with the sign that makes b better above 0; None where neither end is better."""
        if self.difference is None or self.column.direction == "none":
            return None
        return -self.difference if self.column.direction == "lower" else self.difference

    @property
    def tendency(self) -> Significance:
        """The significance that this difference has where it is significant."""
        if self.better is not None:
            return "better" if self.better > 0 else "worse"
        return "higher" if (self.difference or 0.0) > 0 else "lower"

    @property
    def words(self) -> str:
        """The significance in words."""
        if self.significance == "equal":
            return self.equal
        if self.significance == "leaning":
            return f"{WORDS[self.tendency].replace(' is ', ' may be ')} (uncorrected)"
        return WORDS[self.significance]

    def with_adjusted(self, adjusted: float | None) -> Self:
        """Return the test with an adjusted p and the significance that follows; without a p nothing was tested."""
        found: Significance
        if self.difference is None:
            found = "none"
        elif self.p is None or adjusted is None:
            found = "equal"
        elif is_significant(adjusted):
            found = self.tendency
        else:
            found = "leaning" if is_significant(self.p) else "open"
        return replace(self, adjusted=None if self.p is None else adjusted, significance=found)

    def is_twin(self, keys: Collection[str]) -> bool:
        """Return whether it is of a number that another one of these columns shows as well."""
        return self.column.twin is not None and self.column.twin in keys


def largest_difference(column: Column, a: float) -> float:
    """Return by how much one case can differ: by the metric's range or, where that is open, by the mean of `a`."""
    widest = column.high - column.low
    return widest if math.isfinite(widest) else abs(a)


Tested = TypeVar("Tested", bound=PairedTest)


def corrected(rows: Sequence[Tested], correction: Correction, pairs: int = 0) -> list[Tested]:
    """Return the tests of one pair of models (or of one metric) with adjusted p and the significance that follows.

    The family: every test that has a p, but twins whose original is among the rows; they take over the original's p.
    pairs: of the models of a run that the pair is one of; with it the family is that of the run, see
    metrics.analysis.leaderboard.family, in which the other pairs count with p = 1.
    """
    keys = {row.column.key for row in rows}
    family = [place for place, row in enumerate(rows) if row.p is not None and not row.is_twin(keys)]
    p = np.array([rows[place].p for place in family], np.float64)
    if pairs:
        main = {column.key for column in main_columns(row.column for row in rows)}
        own = [MetricTests(p[[k]], pairs - 1, rows[place].column.key in main) for k, place in enumerate(family)]
        p = np.concatenate([np.zeros(0), *adjust_together(own)])
    else:
        p = ADJUST[correction](p)
    adjusted = dict(zip(family, p.tolist(), strict=True))
    of_key = {row.column.key: adjusted.get(place) for place, row in enumerate(rows)}
    return [
        row.with_adjusted(of_key[row.column.twin or ""] if row.is_twin(keys) else adjusted.get(place))
        for place, row in enumerate(rows)
    ]
