"""Processor time of an action, measured so that other work on the machine matters little."""

import gc
import time
from collections.abc import Callable
from dataclasses import replace

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


def unseen(suite: Suite, turn: int) -> Suite:
    """Return the suite with another fingerprint for each turn, so that nothing of an earlier one serves it again."""
    return replace(suite, classes={**suite.classes, f"of no object {turn}": ClassFacts(images=1)})
