"""How long something takes, told so that a busy machine is no defect."""

import gc
import time
from collections.abc import Callable


def quickest(action: Callable[[], object], limit: float, tries: int = 5) -> float:
    """Processor seconds of this thread that `action` takes: the least of up to `tries`, which end within `limit`.

    Garbage is not collected meanwhile: a test process holds millions of objects of other tests.
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
