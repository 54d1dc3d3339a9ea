"""How long scoring may take: a case, a unit; and how a process says what it is at to whoever can end it.

A worker says before each step how long that step may take. Whoever watches it ends the process when the time is over,
whatever it does, so that one case can never hold a run.
"""

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Evaluator, Parameters
from metrics.store.run_spec import CASE_TIMEOUT

ENVIRONMENT = "ASSAY_CASE_TIMEOUT"
MODEL = 10  # times as long where a local model is asked
MAX_TIMES_LIMIT = 288  # times the limit of a case that anything may take: a day by default
SHARE = 100  # so many cases of a batch or a data set get the time of one case more
LIMIT_FORM = "seconds, 0 or more; 0 or none: no limit"
ADVICE = "--case-timeout sets the limit"

Watcher = Callable[[int | None, float], None]
_here = threading.local()


@dataclass(frozen=True, slots=True)
class Limits:
    """The seconds that the work on a unit may take: `case` for a case, `whole` for all at once, `longest` for the rest.

    The rest is loading models and inputs, and making tables.
    """

    case: float = math.inf
    whole: float = math.inf
    longest: float = math.inf

    @classmethod
    def of(cls, entry: Evaluator, parameters: Parameters, rows: int, timeout: float) -> "Limits":
        """Return the limits for a unit of `rows` rows, where a case may take `timeout` seconds; 0 is no limit.

        An evaluator with a local model gets ten times as long. A batch or a data set gets the time of a case, and a
        hundredth of that for each of its rows, at most that of 288 cases.
        """
        if not timeout:
            return cls()
        case = timeout * (MODEL if entry.local_models(parameters) else 1)
        return cls(case, case * min(1 + rows / SHARE, MAX_TIMES_LIMIT), longest(timeout))


def longest(timeout: float) -> float:
    """Return the seconds that any step may take where a case may take `timeout` seconds."""
    return timeout * MAX_TIMES_LIMIT or math.inf


def too_long(seconds: float, scoring: str = "scoring this case") -> str:
    """Return the reason of a case whose `scoring` took longer than that many seconds."""
    return f"{scoring} took longer than {seconds:,.6g} s; {ADVICE}"


def not_tried(late: int) -> str:
    """Return the reason of cases that are not tried, as `late` others of their unit took too long."""
    return f"not scored, as {late} other cases of its unit took too long; {ADVICE}"


def checked_timeout(text: str) -> float:
    """Return the seconds that a text names, 0 for no limit. Raises InputError for anything else."""
    try:
        seconds = 0.0 if text.strip().lower() == "none" else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise InputError([InputProblem("case timeout", repr(text), LIMIT_FORM)])
    return seconds


def default_timeout() -> float:
    """Return the seconds that a case may take where nobody says: $ASSAY_CASE_TIMEOUT, else 300. Raises InputError."""
    return checked_timeout(os.environ.get(ENVIRONMENT) or str(CASE_TIMEOUT))


def watched_by(watcher: Watcher | None) -> None:
    """Let this thread tell `watcher` what it begins: the place of a case or None for its unit, and the seconds."""
    _here.watcher = watcher


def begin(place: int | None, seconds: float) -> None:
    """Start the deadline of a step of this thread, which may take `seconds`; without a watcher nothing happens."""
    watcher: Watcher | None = getattr(_here, "watcher", None)
    if watcher is not None:
        watcher(place, seconds)
