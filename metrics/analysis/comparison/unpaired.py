"""A metric of two models that cannot be tested: which number is the better one, and why nothing more is claimed."""

from dataclasses import dataclass
from typing import Literal

from metrics.analysis.leaderboard.cells import Cell, Column

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
