"""Columns and cells of the leaderboard: a metric, and its number of one model."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from metrics.core.calibration import Calibration
from metrics.core.conventions import limit, threshold_words
from metrics.core.evaluator import MAX_MISSING, MISSING
from metrics.core.rounding import verdict


@dataclass(frozen=True, slots=True)
class Column:
    """One metric on the leaderboard; `key` is evaluator/metric, and ?name=value for a metric's own columns.

    `twin` is the key of another column that shows the same number under its original name; `binary`: each case's value
    is 0 or 1; `wording`: the prompts of the user's own that the number rests on, `claims 1a2b3c4d5e6f, …`; `label_key`
    is the key of the labels that it counts, where labels have keys; `by_model`: the number rests on local weights, so
    that it has no threshold unless one was given or calibrated, and no system as which the run is made leaves it out;
    `calibration`: what is known about it with the models; `partly`: rows done of all where the evaluator of an
    unfinished run is not done; `quantile`: it is a quantile of the cases' values; `first`: people choose a model by its
    evaluator; `threshold_of`: whose the threshold is, see core.conventions.
    """

    key: str
    evaluator: str
    evaluator_title: str
    family: str
    metric: str
    title: str
    description: str
    direction: str
    low: float
    high: float
    threshold: float | None
    unit: str
    primary: bool
    minor: bool
    twin: str | None = None
    binary: bool = False
    wording: str = ""
    label_key: str | None = None
    by_model: bool = False
    calibration: Calibration | None = field(default=None, hash=False)  # it has a mapping
    partly: tuple[int, int] | None = None
    quantile: bool = False
    first: bool = False
    threshold_of: str = ""

    def verdict(self, value: float | None) -> bool | None:
        """Return whether a value passes the threshold; None where nothing says."""
        return verdict(value, self.threshold, self.direction)

    @property
    def limit(self) -> str:
        """The threshold with its sign, `≥ 0.5`, and whose it is, see core.conventions.limit; empty without one."""
        return limit(self.threshold, self.direction, self.threshold_of)

    @property
    def mark(self) -> str:
        """The same without the sign."""
        return "" if self.threshold is None else threshold_words(self.threshold, self.threshold_of)


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of one model.

    `goodness` is 0 (worst) … 1 (best) of the metric's range, or of the models shown where the range is open; `problem`:
    on the wrong side of the threshold. `counts`: the unscored cases by status. `if_worst`, `if_best`: the value if
    every unscored case were the worst or the best of the metric's range, None where none is or the range is open.

    `rank` is one more than the number of significantly better models; `last_rank` is the worst rank that the model may
    have among the `ranked`; `best`: no other model is significantly better. `paired`: ranked by paired tests, see
    metrics.analysis.leaderboard.ranks; `untested`: why several models with values are not ranked; `caution`: why its
    interval and rank are not to be relied on, see few_groups.
    """

    value: float | None
    low: float | None
    high: float | None
    interval: str | None
    n: int
    unscored: int
    counts: Mapping[str, int]
    goodness: float | None
    rank: int | None
    best: bool
    problem: bool
    reason: str | None
    last_rank: int | None = None
    ranked: int = 0
    paired: bool = False
    untested: str | None = None
    if_worst: float | None = None
    if_best: float | None = None
    caution: str | None = None

    @property
    def missing(self) -> int:
        """How many cases should have a value and have none; unscored ones of unknown status (earlier runs) count."""
        known = sum(self.counts.values())
        return sum(self.counts.get(status.value, 0) for status in MISSING) + max(0, self.unscored - known)

    @property
    def missing_share(self) -> float:
        """The same as a share of all cases that should have a value."""
        return self.missing / (self.n + self.missing) if self.n + self.missing else 0.0

    @property
    def is_partial(self) -> bool:
        """Whether so many cases are missing that its value is not taken for that of all cases."""
        return self.value is not None and self.missing_share > MAX_MISSING

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the largest value that the missing cases allow; None without any, or if nothing bounds it."""
        if self.if_worst is None or self.if_best is None:
            return None
        return min(self.if_worst, self.if_best), max(self.if_worst, self.if_best)


def misses_surely(column: Column, cell: Cell) -> bool:
    """Return whether a cell's whole 95 % interval is on the wrong side of its column's threshold."""
    nearest = cell.low if column.direction == "lower" else cell.high
    if nearest is None or column.threshold is None:
        return False
    return nearest > column.threshold if column.direction == "lower" else nearest < column.threshold


NOT_EVALUATED = Cell(None, None, None, None, 0, 0, {}, None, None, False, False, "not evaluated")
