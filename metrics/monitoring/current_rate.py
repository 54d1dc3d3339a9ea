"""The current pass rate: how far back it has been the same, its interval, and the status that follows from it.

The stream is cut into blocks. Every block begins a stretch that ends now, and all stretches have their confidence
sequence (metrics.stats.sequential). The longest is shown. Where a later one excludes what the longest has
ever said, or the status, the pass rate has changed: what is older than that stretch is dropped. So a drop is found
after any healthy time, and the status changes only where an interval excludes it.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from metrics.monitoring.health import Health, Limits, next_health, unrefuted
from metrics.stats.sequential import Bounds, bounds, evidence_above, evidence_below, roundest, thresholds

BLOCK = 10  # samples: the rate is looked at whenever so many were taken
PARTS = 240  # of a unit's value: exact for the shares of up to 6, and of 8, 10, 12, … lines
KEPT_BLOCKS = 16  # blocks for which a start is kept, times the largest power of two that divides its number
NOTHING = Bounds(0.0, 1.0)


class Segment:
    """Units between two starts of stretches: how many have which value, in PARTS, and the sample where they begin."""

    __slots__ = ("counts", "number", "start")

    def __init__(self, start: int, number: int, counts: Mapping[int, int] | None = None):
        self.start, self.number, self.counts = start, number, Counter(counts)


class CurrentRate:
    """The pass rate of one metric, or of all together, since it last changed."""

    def __init__(self, limits: Limits, kept: Mapping[str, Any] | None = None):
        self._limits = limits
        kept = kept or {}
        self.health = Health(kept.get("health", Health.INSUFFICIENT_DATA))
        self.units: int = kept.get("units", 0)  # since the monitor was created
        self._block: int = kept.get("block", -1)  # of the latest unit
        self.bounds = Bounds(*kept.get("bounds", NOTHING))  # of the longest stretch
        self._common = Bounds(*kept.get("common", NOTHING))  # what all its bounds so far had in common
        self._segments = [Segment(start, number, dict(counts)) for start, number, counts in kept.get("segments", ())]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, from which it continues."""
        return {
            "health": self.health.value,
            "units": self.units,
            "block": self._block,
            "bounds": list(self.bounds),
            "common": list(self._common),
            "segments": [[one.start, one.number, sorted(one.counts.items())] for one in self._segments],
        }

    @property
    def since(self) -> int | None:
        """The number of the sample with which the stretch begins; None before the first unit."""
        return self._segments[0].number if self._segments else None

    @property
    def stretch(self) -> tuple[float | None, int]:
        """The mean and the number of the units since then."""
        total = sum((one.counts for one in self._segments), Counter[int]())
        n = total.total()
        return (sum(code * times for code, times in total.items()) / n / PARTS if n else None), n

    def add(self, value: float, number: int) -> None:
        """Add a unit that was counted at the sample of that number: the share of its lines that pass."""
        block = number // BLOCK
        if block > self._block:  # a stretch from any block in between is the same
            start = roundest(self._block + 1, block) if self.units else 0
            self._segments.append(Segment(start, number))
            self._block = block
        self._segments[-1].counts[round(value * PARTS)] += 1
        self.units += 1

    def look(self) -> None:
        """Update the current segment, its interval and the status; called at the end of each block."""
        if not self._segments:
            return
        while True:
            codes = sorted(set().union(*(one.counts for one in self._segments)))
            values, needed = np.array(codes) / PARTS, thresholds(np.array([one.start for one in self._segments]))
            own = np.array([[one.counts[code] for code in codes] for one in self._segments], np.int64)
            counts = own[::-1].cumsum(axis=0)[::-1]  # [stretches, values]: units from its start on
            self.bounds = bounds(counts[0], values, needed[0])
            self._common = Bounds(max(self._common.low, self.bounds.low), min(self._common.high, self.bounds.high))
            if self.units >= self._limits.minimum:
                self.health = next_health(self.health, self.bounds, self._limits)
            floor, ceiling = unrefuted(self.health, self._limits)
            below = evidence_below(counts[1:], values, max(floor, self._common.low))
            above = evidence_above(counts[1:], values, min(ceiling, self._common.high))
            beyond = np.maximum(below, above) - needed[1:]
            if not len(beyond) or beyond.max() < 0:
                break
            del self._segments[: 1 + int(beyond.argmax())]
            self._common = NOTHING
        self._thin()

    def _thin(self) -> None:
        """Give up starts, but not the first: a stretch of n blocks has others at every n/16th of it, or closer."""
        kept = self._segments[:1]
        for one in self._segments[1:]:
            power = one.start & -one.start
            if self._block - one.start < KEPT_BLOCKS * power:
                kept.append(one)
            else:
                kept[-1].counts += one.counts
        self._segments = kept
