"""Can b replace a? Each metric that has a margin, decided by the paired difference, and the answer over all of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from metrics.analysis.comparison.compare import Comparison, Difference
from metrics.analysis.comparison.paired_bootstrap import Resampled
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.metric_names import column_name
from metrics.core.number_text import exact
from metrics.stats.paired_intervals import CaseShare, Verdict, decide_noninferiority

ALLOWING = ("better", "equivalent", "not_worse")
VERDICTS: dict[Verdict | Literal["none"], str] = {
    "better": "better",
    "equivalent": "equivalent within the margin",
    "not_worse": "not worse than the margin",
    "worse": "worse",
    "open": "not enough cases",
    "none": "no case has values of both",
}
SIGNS = {"better": 1, "worse": -1}  # of a significance
POINTS = 100.0  # of a metric from 0 to 1, in a sentence


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether b may replace a by one metric, if it may be worse by at most `margin` (in the metric's unit).

    verdict: see metrics.stats.paired_intervals; none: there is no pair. worst, best: the ends of the 95 % interval of
    b − a that decides, with the sign that makes b better above 0; more: how many further cases would answer, where the
    verdict is open. within: the share of cases on which b is at most the margin worse, where it was asked for; it is
    shown beside the verdict and decides nothing.
    """

    row: Difference | Resampled
    margin: float
    verdict: Verdict | Literal["none"]
    worst: float | None = None
    best: float | None = None
    more: int | None = None
    within: CaseShare | None = None

    @property
    def allows(self) -> bool:
        """Whether b may replace a by this metric."""
        return self.verdict in ALLOWING

    @property
    def words(self) -> str:
        """The verdict in words: `not enough cases: 120 more`."""
        return VERDICTS[self.verdict] + ("" if self.more is None else f": {rough(self.more)} more")

    def sentence(self, a: str = "A", b: str = "B") -> str:
        """Return the answer for whoever decides, with the names of the models."""
        name, better, worst, best = _name(self.row.column), self.row.better, self.worst, self.best
        if better is None or worst is None or best is None:
            return f"No answer: no case has a value of {name} of both models."
        allowed = f"the {self._size(self.margin)} that you allow"
        found = f"{self._side(better)} (95 %: {self._between(worst, best)})"
        if self.verdict == "better":
            return f"{b} may replace {a}: {name} is better, {found}."
        if self.verdict == "equivalent":
            return f"{b} may replace {a}: {name} is equivalent, {self._between(worst, best)} (95 %), within {allowed}."
        if self.verdict == "not_worse":
            return f"{b} may replace {a}: {name} is at worst {self._side(worst)} (95 %), within {allowed}."
        if self.verdict == "worse":
            sure = "more than" if best < -self.margin else "perhaps more than"
            return f"{b} may not replace {a}: {name} is worse, {found}, {sure} {allowed}."
        may = f"{self._side(worst)} (95 %), more than {allowed}" if math.isfinite(worst) else "worse by any amount"
        needed = f"; about {rough(self.more)} more cases needed" if self.more else ""
        return f"Not enough cases to let {b} replace {a}: {name} may be {may}{needed}."

    def _size(self, value: float) -> str:
        """Return the size of a difference: `0.4 points` of a metric from 0 to 1, else in the metric's unit."""
        shares = (self.row.column.low, self.row.column.high) == (0.0, 1.0)
        text = exact(float(f"{abs(value) * (POINTS if shares else 1.0):.3g}"))
        return f"{text} point{'' if text == '1' else 's'}" if shares else text

    def _between(self, worst: float, best: float) -> str:
        """Return the ends of an interval: `0.2 to 0.4 points lower`, `0.4 points lower to 0.6 points higher`."""
        if worst * best <= 0:
            return f"{self._side(worst)} to {self._side(best)}"
        near, far = sorted((worst, best), key=abs)
        return f"{self._size(near).removesuffix(' points').removesuffix(' point')} to {self._side(far)}"

    def _side(self, value: float) -> str:
        """Return a difference, above 0 where b is better, as `0.4 points lower`."""
        if value == 0:
            return "the same"
        return f"{self._size(value)} {'higher' if (value > 0) == (self.row.column.direction == 'higher') else 'lower'}"


def decisions(
    comparison: Comparison, margins: Mapping[str, float], within: Mapping[str, CaseShare] | None = None
) -> tuple[Decision, ...]:
    """Return the decision on every paired metric of a comparison that has a margin: `margins` by column key, > 0.

    within: what shares_within says of them. Metrics without a better end are left out. That b is not worse in *all*
    metrics needs no correction for their number (each must pass its own test: an intersection–union test); that it is
    better or worse in any of them does, so these two verdicts follow the comparison's adjusted p.
    """
    both: tuple[Difference | Resampled, ...] = (*comparison.rows, *comparison.resampled)
    rows = [row for row in both if row.column.key in margins and row.column.direction != "none"]
    found = []
    for row in rows:
        margin = margins[row.column.key]
        if row.better is None:
            found.append(Decision(row, margin, "none"))
            continue
        lower = row.column.direction == "lower"
        sides, sign = (row.above, row.below) if lower else (row.below, row.above), SIGNS.get(row.significance, 0)
        made = decide_noninferiority(
            row.better, _ends(row), margin, row.clusters, row.error, sign, *sides, anytime=comparison.anytime
        )
        cases = row.n if isinstance(row, Difference) else comparison.cases
        more = None if made.more is None else math.ceil(made.more * cases / row.clusters)
        near = (within or {}).get(row.column.key)
        found.append(Decision(row, margin, made.verdict, made.low, made.high, more, near))
    return tuple(found)


def answer(found: Sequence[Decision], a: str = "A", b: str = "B") -> str:
    """Return whether b may replace a by all of the decided metrics, in one sentence; "" without any."""
    if not found:
        return ""
    count = len(found)
    metrics = f"{count} metric{'' if count == 1 else 's'}"
    if all(each.allows for each in found):
        every = "this metric" if count == 1 else f"all {metrics}"
        return f"{b} may replace {a}: not worse than you allow in {every}"
    if worse := sum(each.verdict == "worse" for each in found):
        return f"{b} may not replace {a}: worse in {worse} of {metrics}"
    if absent := sum(each.verdict == "none" for each in found):
        return f"No answer whether {b} may replace {a}: no case has values of both in {absent} of {metrics}"
    unknown = [each for each in found if not each.allows]
    more = max(each.more or 0 for each in unknown)
    needed = f": about {rough(more)} more needed" if more else ""
    return f"Not enough cases to let {b} replace {a} in {len(unknown)} of {metrics}{needed}"


def rough(count: int) -> str:
    """Return an estimated number of cases to two digits: `1,200`."""
    return f"{int(float(f'{count:.2g}')):,}"


def _name(column: Column) -> str:
    """Return `Passes of Text matching`; the metric alone where that names its evaluator, too."""
    name = column_name(column)
    return name if name.startswith(column.evaluator_title) else f"{name} of {column.evaluator_title}"


def _ends(row: Difference | Resampled) -> tuple[float, float]:
    """Return the interval with the sign that makes b better above 0; without ends where a single unit gives none.

    Where all cases differ by the same, in a metric without a range, it is that difference, without what was not seen.
    """
    if row.low is None or row.high is None:
        if row.better is not None and row.error == 0 and row.clusters > 1:
            return row.better, row.better
        return -math.inf, math.inf
    return (-row.high, -row.low) if row.column.direction == "lower" else (row.low, row.high)
