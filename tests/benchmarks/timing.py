"""Processor time of an action, measured so that other work on the machine matters little."""

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from metrics.core.classes import ClassFacts
from metrics.core.suite import Suite


def quickest(action: Callable[[], object], limit: float = 0.0, tries: int = 5) -> float:
    """Return the processor seconds of this thread that `action` takes: the least of up to `tries`.

    A try that ends within `limit` seconds is the last. Garbage is not collected meanwhile.
    """
    least = float("inf")
    for _ in range(tries):
        gc.disable()
        begun = time.thread_time()
        action()
        least = min(least, time.thread_time() - begun)
        gc.enable()
        if least < limit:
            break
    return least


def timed(
    work: Callable[[], Any], rounds: int = 1, clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Return the median seconds of some calls, of processor time unless by a clock, and what the last returns."""
    times, result = [], None
    for _ in range(rounds):
        start = clock()
        result = work()
        times.append(clock() - start)
    return statistics.median(times), result


def largest_difference(own: Mapping[str, float | None], expected: Mapping[str, float | None]) -> float:
    """Return the largest difference of what is expected; infinite where one side alone has a value."""
    pairs = [(own[name], value) for name, value in expected.items()]
    return max(
        0.0 if one == other else float("inf") if one is None or other is None else abs(one - other)
        for one, other in pairs
    )


def children_seconds() -> float:
    """Return the processor seconds of the children that were waited for, and of theirs."""
    times = os.times()
    return times.children_user + times.children_system


def unseen(suite: Suite, turn: int) -> Suite:
    """Return the suite with another fingerprint for each turn, so that nothing of an earlier one serves it again."""
    return replace(suite, classes={**suite.classes, f"of no object {turn}": ClassFacts(images=1)})
