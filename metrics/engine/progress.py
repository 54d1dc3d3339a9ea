"""Reporting the progress of a run: progress.json for readers, a callback for the command line."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from metrics.core.files import write_json
from metrics.core.registry import title_of
from metrics.engine.parts import UnitResult
from metrics.engine.plan import Unit
from metrics.store import Progress, Run
from metrics.store.run import EvaluatorProgress

EVERY = 0.5  # seconds between two writes


class Tracker:
    """Counts the rows done per evaluator and writes them to progress.json, at most every half second."""

    def __init__(self, run: Run, units: Iterable[Unit], listen: Callable[[Progress], None] | None):
        self._path = run.folder / "progress.json"
        self._listen = listen
        self._begun = time.monotonic()
        self._written = 0.0
        self._in_progress: Mapping[str, int] = {}
        self._total = dict.fromkeys(run.evaluators, 0)
        self._done = dict.fromkeys(run.evaluators, 0)
        self._failed = dict.fromkeys(run.evaluators, 0)
        self._units = {unit.name: unit for unit in units}  # that are left
        self._units_done = 0
        for unit in self._units.values():
            self._total[unit.evaluator] += unit.rows
        self.say("starting")

    def found(self, unit: Unit, failed: int) -> None:
        """Count a unit that an earlier session of the run has done."""
        self._done[unit.evaluator] += unit.rows
        self._failed[unit.evaluator] += failed
        del self._units[unit.name]

    def done(self, unit: Unit, result: UnitResult) -> None:
        """Count a unit that is done now."""
        self.found(unit, result.failed)
        self._units_done += 1

    def tick(self, in_progress: Mapping[str, int]) -> None:
        """Write the progress if it is time; `in_progress`: cases done by name of the unit; of counted units ignored."""
        self._in_progress = dict(in_progress)
        if time.monotonic() - self._written >= EVERY:
            self.say("evaluating")

    def seconds(self) -> float:
        """Return the seconds since this session of the run began."""
        return time.monotonic() - self._begun

    def say(self, message: str) -> None:
        """Write the progress now, with `message`."""
        partly, begun = Counter(self._done), 0.0
        for name, unit in self._units.items():
            cases = self._in_progress.get(name, 0)
            partly[unit.evaluator] += cases
            begun += cases / max(1, unit.rows)
        units_done = self._units_done + begun
        left = self.seconds() / units_done * (len(self._units) - begun) if units_done else None
        rows = tuple(
            EvaluatorProgress(name, title_of(name), partly[name], total, self._failed[name])
            for name, total in self._total.items()
        )
        progress = Progress(rows, self.seconds(), left, message)
        write_json(self._path, asdict(progress))
        self._written = time.monotonic()
        if self._listen is not None:
            self._listen(progress)
