"""Where a run's number-crunching units are done: the choice of a scheduler, kept beside the run, not in its numbers."""

import re
from concurrent.futures import BrokenExecutor

from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.core.files import read_json, write_json
from metrics.core.installation import missing_extra
from metrics.store import Run

STATE = "scheduler.json"  # in the run's folder
NONE = "none"  # the processes of this machine
LOCAL = re.compile(r"local:([1-9]\d{0,3})")  # so many workers on this machine, for the time of the run
REMOTE = re.compile(r"(tcp|tls)://[^\s/:]+(:[^\s/:]+)*:\d{1,5}")
SCHEDULER_FORMS = (
    "tcp://HOST:PORT or tls://HOST:PORT of a Dask scheduler, local:N for N workers on this machine, or none"
)


class UnitLost(BrokenExecutor):
    """The workers that a unit was given to have died; the executor goes on.

    `place`: of the case that it was at, among those of the unit; None where it was at the unit as a whole.
    """

    def __init__(self, *told: object, place: int | None = None):
        super().__init__(*told)
        self.place = place


class UnitLate(UnitLost):
    """The worker that did a unit has taken longer than `seconds` for one step, and was ended."""

    def __init__(self, place: int | None, seconds: float):
        super().__init__(place, seconds, place=place)
        self.seconds = seconds


class SchedulerLost(BrokenExecutor):
    """The scheduler is gone, or the connection to it; no unit is to blame."""


def checked_scheduler(text: str) -> str:
    """Return the choice as it was given.

    Raises InputError where it is none of SCHEDULER_FORMS, MissingResource where Dask is not installed.
    """
    if text != NONE and not LOCAL.fullmatch(text) and not REMOTE.fullmatch(text):
        raise InputError([InputProblem("scheduler", repr(text), SCHEDULER_FORMS)])
    if text != NONE and (reason := missing_extra("a scheduler", "cluster", "distributed")):
        raise MissingResource(reason)
    return text


def use_scheduler(run: Run, text: str | None) -> None:
    """Choose where the units of a run are done, now and when it is resumed; None leaves the choice as it is.

    Raises as `checked_scheduler` does.
    """
    if text is not None:
        write_json(run.folder / STATE, {"scheduler": checked_scheduler(text)})


def scheduler_of(run: Run) -> str | None:
    """Return the scheduler that a run uses; None where it uses the processes of this machine."""
    text = (read_json(run.folder / STATE) or {}).get("scheduler", NONE)
    return None if text == NONE else str(text)
