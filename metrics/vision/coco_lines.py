"""The lines of COCO's summary: which precision or recall, at which IoU, area range and maxDets, each of them is."""

from collections.abc import Sequence
from dataclasses import dataclass

from metrics.core.array_types import Floats
from metrics.stats.float_tolerance import mean_over
from metrics.vision.matching import AREAS, threshold_index
from metrics.vision.precision_recall import MAX_DETS


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the summary: precision or recall, at one IoU or over all, for an area range and maxDets."""

    metric: str
    precision: bool
    area: str
    max_dets: int
    iou: float | None = None

    def of(self, estimates: tuple[Floats, Floats], thresholds: Floats) -> Floats:
        """Return its estimates [1 + B, K] from AP and recall [1 + B, K, T]; KeyError where the grid lacks its IoU."""
        values = estimates[0 if self.precision else 1]
        return mean_over(values, 2) if self.iou is None else values[:, :, threshold_index(thresholds, self.iou)]


def summary_lines(limits: Sequence[int]) -> list[Line]:
    """Return the twelve lines, and one named AR for each of `limits` (maxDets, ascending) that is not 1, 10 or 100.

    Every AP and the recalls by area take the largest limit.
    """
    most = limits[-1]
    sizes = [name for name in AREAS if name != "all"]
    return [
        Line("AP", True, "all", most),
        Line("AP50", True, "all", most, 0.5),
        Line("AP75", True, "all", most, 0.75),
        *(Line(f"AP_{size}", True, size, most) for size in sizes),
        *(Line(f"AR_{limit}", False, "all", limit) for limit in MAX_DETS),
        *(Line(f"AR_{size}", False, size, most) for size in sizes),
        *(Line("AR", False, "all", limit) for limit in limits if limit not in MAX_DETS),
    ]
