"""The progress of a run: progress.json for readers, a callback for the command line, the time that is left."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from metrics.core.files import read_json, write_json
from metrics.core.registry import choose, title_of
from metrics.engine.parts import UnitResult
from metrics.engine.plan import Unit, judged
from metrics.store import Progress, Run
from metrics.store.run_progress import EvaluatorProgress

ENOUGH = 3  # cases that took a request, after which their speed is known
EVERY = 0.5  # seconds between two writes


class JudgePace:
    """Measures how fast cases are judged.

    Cases that the cache answers say nothing of the time that the others take, and they often come first. So what is
    done before the first case that took a request does not count, and time counts from the first request on. Until
    ENOUGH cases took one, the time left is unknown. Where no request is sent, all cases count.
    """

    def __init__(self) -> None:
        self._now = self._done = self._asked = self._calls = 0.0
        self._begun = 0.0  # seconds at which the first request was sent, at the latest
        self._before = 0.0  # cases done until the first that took a request

    def note(self, now: float, done: int, calls: int, asked: int) -> None:
        """Note what is done at `now`, in seconds of this session.

        `done`: cases that are judged, `asked`: those of them that took a request, `calls`: requests sent.
        """
        if not calls:
            self._begun = now
        if not asked:
            self._before = done
        self._now, self._done, self._calls, self._asked = now, done, calls, asked

    def seconds_left(self, cases: int) -> float | None:
        """Return the seconds that so many further cases take; None while unknown."""
        if not cases:
            return 0.0
        if not self._calls:
            return self._now / self._done * cases if self._done else None
        if self._asked < ENOUGH:
            return None
        return (self._now - self._begun) / max(1, self._done - self._before) * cases


class Tracker:
    """Counts the rows done per evaluator and writes them to progress.json, at most every half second.

    The time left is the longer of two, as both go on at once: that of the judged cases, by their pace, and that of the
    other units, as if those with a local model all took the same time, and the others none. `waited`: seconds that this
    session took to start.
    """

    def __init__(self, run: Run, units: Iterable[Unit], listen: Callable[[Progress], None] | None, waited: float = 0.0):
        self._path = run.folder / "progress.json"
        self._before = waited + float((read_json(self._path) or {}).get("seconds_spent", 0.0))
        self._listen = listen
        self._begun = time.monotonic()
        self._written = 0.0
        self._in_progress: Mapping[str, int] = {}
        self._given: Mapping[str, int] = {}  # rows that earlier runs give units, by name: done at once
        self._reused: Counter[str] = Counter()
        self._total = dict.fromkeys(run.evaluators, 0)
        self._done = dict.fromkeys(run.evaluators, 0)
        self._failed = dict.fromkeys(run.evaluators, 0)
        self._units = {unit.name: unit for unit in units}  # that are left
        chosen = choose(list(run.evaluators), run.evaluators)
        self._judged = {name for name, one in chosen.items() if judged(*one)}
        self._modelled = {name for name, (entry, own) in chosen.items() if entry.local_models(own)} - self._judged
        self._pace = JudgePace()
        self._calls = self._asked = 0
        self._done_now: Counter[str] = Counter()  # units without a judge that this session has done, per evaluator
        self._cases_done = 0  # in this session, of units with a judge
        for unit in self._units.values():
            self._total[unit.evaluator] += unit.rows

    def give(self, given: Mapping[str, int]) -> None:
        """Count the rows that earlier runs give units, by name."""
        self._given = given
        for name, rows in given.items():
            self._reused[self._units[name].evaluator] += rows

    def count_done(self, unit: Unit, failed: int) -> None:
        """Count a unit that an earlier session of the run has done."""
        self._done[unit.evaluator] += unit.rows
        self._failed[unit.evaluator] += failed
        del self._units[unit.name]

    def done(self, unit: Unit, result: UnitResult) -> None:
        """Count a unit that is done now."""
        self.count_done(unit, result.failed)
        if unit.evaluator in self._judged:
            self._cases_done += unit.rows - self._given.get(unit.name, 0)
        else:
            self._done_now[unit.evaluator] += 1

    def tick(self, in_progress: Mapping[str, int], calls: int, asked: int, waits: str | None = None) -> None:
        """Write the progress if it is time.

        `in_progress`: cases judged by name of the unit, of which counted units are ignored; `calls`: requests sent in
        this session; `asked`: cases that took one; `waits`: what the workers wait for, in words.
        """
        self._in_progress = dict(in_progress)
        self._calls, self._asked = calls, asked
        if time.monotonic() - self._written >= EVERY:
            begun = self._cases_done or self._done_now or any(in_progress.values())
            self.say(waits or ("evaluating" if begun else "starting"))  # workers and models load first

    def seconds(self) -> float:
        """Return the seconds since this session of the run began."""
        return time.monotonic() - self._begun

    def spent(self) -> float:
        """Return the seconds of all sessions of the run, with what the start of this one took."""
        return self._before + self.seconds()

    def say(self, message: str) -> None:
        """Write the progress now, with `message`."""
        partly = Counter(self._done)
        for name, unit in self._units.items():
            partly[unit.evaluator] += self._in_progress.get(name, 0) + self._given.get(name, 0)
        rows = tuple(
            EvaluatorProgress(name, title_of(name), partly[name], total, self._failed[name], self._reused[name])
            for name, total in self._total.items()
        )
        progress = Progress(rows, self.spent(), self._seconds_left(), message)
        write_json(self._path, asdict(progress))
        self._written = time.monotonic()
        if self._listen is not None:
            self._listen(progress)

    def _seconds_left(self) -> float | None:
        judged = [unit for unit in self._units.values() if unit.evaluator in self._judged]
        begun = sum(self._in_progress.get(unit.name, 0) for unit in judged)
        self._pace.note(self.seconds(), self._cases_done + begun, self._calls, self._asked)
        left = sum(unit.rows - self._given.get(unit.name, 0) for unit in judged) - begun
        judging = self._pace.seconds_left(left)
        computing = self._computing()
        if judging is None or (computing is None and not judging):
            return None
        return max(judging, computing or 0.0)

    def _computing(self) -> float | None:
        """Return the seconds that are left for the units without a judge; None while unknown."""
        left = Counter(unit.evaluator for unit in self._units.values() if unit.evaluator not in self._judged)
        counts = self._modelled if self._modelled.intersection(left) else self._total.keys()
        done, others = (sum(units[name] for name in counts) for units in (self._done_now, left))
        return self.seconds() / done * others if done else None if others else 0.0
