"""Keeping deadlines on a cluster's worker, whose process nobody else here may end: it ends itself."""

import faulthandler
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait

from metrics.engine import deadlines
from metrics.engine.parts import UnitResult
from metrics.engine.schedulers import UnitLate
from metrics.engine.unit_work import Job

LOOK_EVERY = 0.5  # seconds between two looks at the unit
GRACE = 30.0  # seconds after a deadline in which no other thread may run before the process is ended for that
FAREWELL = 2.0  # seconds in which what is raised reaches the scheduler before the process ends
STDERR = 2


def in_time(function: Callable[[Job], UnitResult], job: Job) -> UnitResult:
    """Return what the function makes of a unit, or raise what it raises.

    Raises UnitLate where a step takes longer than it may; this process ends soon after, as the unit would go on in it.
    Where C code lets no thread run it ends without a word, and the scheduler gives the unit to another worker.
    """
    done: Future[UnitResult] = Future()
    step: list[tuple[float, int | None, float]] = [(math.inf, None, math.inf)]  # due, place, seconds

    def note(place: int | None, seconds: float) -> None:
        due = time.monotonic() + seconds
        step[0] = (due, place, seconds)
        _switch.set_deadline(id(done), due)

    def work() -> None:
        deadlines.watched_by(note)
        try:
            done.set_result(function(job))
        except BaseException as failure:
            done.set_exception(failure)

    threading.Thread(target=work, name="unit", daemon=True).start()
    while not wait([done], LOOK_EVERY).done:
        due, place, seconds = step[0]
        if due < time.monotonic():
            threading.Timer(FAREWELL, os._exit, (1,)).start()
            raise UnitLate(place, seconds)
    _switch.set_deadline(id(done), math.inf)
    return done.result()


class _Switch:
    """Ends this process some time after the first deadline of its units, from C code that needs no turn to run."""

    def __init__(self) -> None:
        self._dues: dict[int, float] = {}
        self._armed = (math.inf, -math.inf)  # for which deadline, and when
        self._lock = threading.Lock()

    def set_deadline(self, unit: int, due: float) -> None:
        """Set the deadline of a unit's step; infinity for one that is done. Costs little where it was set just now."""
        with self._lock:
            self._dues[unit] = due
            if due == math.inf:
                del self._dues[unit]
            now, first = time.monotonic(), min(self._dues.values(), default=math.inf)
            if first == math.inf:
                faulthandler.cancel_dump_traceback_later()
                self._armed = (math.inf, now)
            elif first < self._armed[0] or now > self._armed[1] + LOOK_EVERY:
                faulthandler.dump_traceback_later(max(first - now, 0) + GRACE, exit=True, file=STDERR)
                self._armed = (first, now)


_switch = _Switch()
