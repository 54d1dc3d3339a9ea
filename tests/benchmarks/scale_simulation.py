"""A run on a cluster as discrete events: one driver, one scheduler, many workers, each with measured costs.

The driver prepares a unit (reads and packs its rows) and stores what comes back; the scheduler passes a unit on and its
result back; a worker computes. Driver and scheduler do one thing at a time, in the order in which it comes up, and
the driver keeps at most two units a worker on their way, as metrics.engine.cluster does.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Costs:
    """Seconds a unit costs each part; `computing` are measured ones that units are drawn from."""

    preparing: float
    dispatching: float
    storing: float
    computing: Sequence[float]


@dataclass(frozen=True)
class Simulated:
    """The seconds that a run took, and the share of them in which driver, scheduler and workers were busy."""

    seconds: float
    driver: float
    scheduler: float
    workers: float


def simulate(units: int, workers: int, costs: Costs, seed: int = 0) -> Simulated:
    """Return how a run of so many units goes with so many workers."""
    durations = np.random.default_rng(seed).choice(np.asarray(costs.computing), units)
    driver = scheduler = now = 0.0  # when each is free
    free = [0.0] * workers  # when each worker is
    heapq.heapify(free)
    stored: list[float] = []  # arrivals of results that the driver has not stored yet
    flying = 0
    for unit in range(units):
        while flying >= 2 * workers or (stored and stored[0] <= driver):
            driver = max(driver, heapq.heappop(stored)) + costs.storing
            flying -= 1
        driver += costs.preparing
        scheduler = max(scheduler, driver) + costs.dispatching
        begun = max(scheduler, heapq.heappop(free))
        ended = begun + float(durations[unit])
        heapq.heappush(free, ended)
        heapq.heappush(stored, ended)
        flying += 1
    while stored:
        driver = max(driver, heapq.heappop(stored)) + costs.storing
    now = max(driver, scheduler)
    busy = (units * (costs.preparing + costs.storing), units * costs.dispatching, float(durations.sum()) / workers)
    return Simulated(now, *(part / now for part in busy))
