"""Carrying out a plan: units go to an executor, their tables to parts on disk, and in the end to the sealed run."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from functools import partial

from metrics.core.errors import AssayError, RunCorrupt, StorageError, describe_failure
from metrics.core.files import write_text
from metrics.core.registry import choose
from metrics.engine.deadlines import not_tried, too_long
from metrics.engine.judge_worker import JudgeWorker
from metrics.engine.parts import Parts, UnitResult
from metrics.engine.plan import SHARD, Unit, judged, own_units, plan
from metrics.engine.progress import EVERY, Tracker
from metrics.engine.reuse import reuse
from metrics.engine.run_control import claim_start, clear_stop
from metrics.engine.run_plugins import load_plugins
from metrics.engine.schedulers import SchedulerLost, UnitLate, UnitLost, scheduler_of
from metrics.engine.score_cases import RUN_WIDE
from metrics.engine.seal import seal
from metrics.engine.snapshots import clear
from metrics.engine.unit_work import Job, failed_unit, perform
from metrics.engine.worker_pool import WINDOW, RunSlot, WorkerPool
from metrics.judge.keys import redact
from metrics.store import Progress, Run
from metrics.store.origin import check_origin

SLICES_ASKED = 2  # slices of cases with the judge at once: the second while the first waits for its last replies
MOST_LATE = 10  # cases of a unit that may take too long before the rest is not tried
TRIES = 3  # how often a unit may take its worker process down before the case that did, or all, are errors
DIED = "the worker process died while scoring this case (out of memory?)"


def execute(
    run: Run, make_executor: Callable[[], Executor] | None = None, listen: Callable[[Progress], None] | None = None
) -> Run:
    """Do what is left of a run, seal it and return it; a cancelled run stops early and stays resumable.

    A shard of a run is not sealed: see merge.

    `make_executor` returns any concurrent.futures executor (default: the workers of the run's scheduler, else a process
    pool, one process per core); it is called again if the executor breaks. `listen` is called with the progress.
    Raises RunBusy where another process works on the run, InputError where it came from elsewhere, see store.origin.
    """
    with run.locked():
        waited = claim_start(run)
        if why := run.damage:
            raise RunCorrupt(why, run.home.name)
        if waited is None:  # nobody started it beside us, who might have cancelled it since
            clear_stop(run)
        parts = Parts(run.folder)
        if run.state == "finished":
            clear(run)
            return run
        check_origin(run)
        try:
            load_plugins(run)
            units = own_units(run, plan(run))
            tracker = Tracker(run, units, listen, waited or 0.0)
            tracker.give(reuse(run, units, parts))
            todo = []
            for unit in units:
                failed = parts.failed(unit.name)
                if failed is None:
                    todo.append(unit)
                else:
                    tracker.count_done(unit, failed)
            tracker.say("starting")  # not before: a resumed run has not lost what it had done
            with JudgeWorker(run) as judge:
                try:
                    for made in _work(run, todo, make_executor or _executor_maker(run, waited is not None), judge):
                        judge.write_spend()  # before the part: a kill in between must not lose what was paid
                        if isinstance(made, tuple):
                            unit, result = made
                            parts.write(unit.name, result)
                            tracker.done(unit, result)
                            del result  # a table of a million rows must not wait for the sealing
                        waits = made if isinstance(made, str) else None
                        made = None
                        tracker.tick(judge.progress, judge.calls, judge.asked, waits)
                        if (run.folder / "cancel").exists():
                            break
                except RUN_WIDE:
                    tracker.say("stopped")
                    raise
            if (run.folder / "cancel").exists():
                tracker.say("cancelled")
                return run
            if (run.folder / SHARD).exists():
                tracker.say("shard done")
                return run
            tracker.say("sealing")
            seal(run, units, parts, tracker.spent())
            tracker.say("finished")
            clear(run)
        except Exception as failure:
            with suppress(StorageError):  # the disk is full: the exit and the log tell who started this process
                write_text(run.folder / "failure.txt", redact(describe_failure(failure)))
            raise
    return run


def _executor_maker(run: Run, in_turn: bool) -> Callable[[], Executor]:
    scheduler = scheduler_of(run)
    if scheduler is None:
        return partial(WorkerPool, RunSlot(run.workspace.path)) if in_turn else WorkerPool
    from metrics.engine.cluster import ClusterExecutor

    return lambda: ClusterExecutor(run, scheduler)


def _work(
    run: Run, units: list[Unit], make_executor: Callable[[], Executor], judge: JudgeWorker
) -> Iterator[tuple[Unit, UnitResult] | str | None]:
    """Yield each unit with its result, as they come; every half second without one None, or what is waited for.

    Units that follow the scores of others begin when those are done. Closing the generator drops what is left. A judge
    that is down stops only its own units and those that follow them; its error is raised when the others are done.
    """
    chosen = choose(list(run.evaluators), run.evaluators)
    asking = {name for name, one in chosen.items() if judged(*one)}
    last = {name for name, (entry, _) in chosen.items() if entry.follows}
    slow = {name for name, (entry, own) in chosen.items() if entry.local_models(own)}
    # formulas take seconds where models take minutes: whoever watches the run has their numbers meanwhile
    scored = sorted((one for one in units if one.evaluator not in asking | last), key=lambda one: one.evaluator in slow)
    pool = _PoolQueue(run, scored, make_executor)
    following = [unit for unit in units if unit.evaluator in last]
    # slice by slice, so that evaluators which share questions about a case ask them at about the same time
    questions = sorted((unit for unit in units if unit.evaluator in asking), key=lambda unit: unit.start)
    judging = _JudgeQueue(run, questions, judge, SLICES_ASKED * len(asking))
    try:
        while pool.busy or judging.busy or (following and judging.stopped is None):
            if not (pool.busy or judging.busy):  # every score that they read is stored
                pool.add(following)
                following = []
            pool.submit()
            judging.submit()
            flying = [*pool.flying, *judging.flying]
            ready, _ = wait(flying, timeout=EVERY, return_when=FIRST_COMPLETED)
            if not flying:
                time.sleep(EVERY)
            if not ready:
                yield pool.waits
            for future in [one for one in flying if one in ready]:  # a set has no order
                if future in judging.flying:
                    yield from judging.results(future)
                elif future in pool.flying:  # else its worker died, with the others
                    yield from pool.results(future)
            if judging.busy and not pool.busy:  # that may take hours: others can have the memory, and the turn
                pool.shut_down()
    finally:
        pool.shut_down()
    if judging.stopped is not None:
        raise judging.stopped


class _Queue:
    """Units that wait, and those in flight."""

    def __init__(self, run: Run, units: Iterable[Unit]):
        self.flying: dict[Future[UnitResult], Unit] = {}
        self._run = run
        self._waiting = deque(units)

    def add(self, units: Iterable[Unit]) -> None:
        """Queue further units."""
        self._waiting.extend(units)

    @property
    def busy(self) -> bool:
        """Whether any unit is left."""
        return bool(self._waiting or self.flying)


class _PoolQueue(_Queue):
    """The units for an executor, which says what unit was lost with its worker (UnitLost), and goes on.

    A unit that was lost is tried again, from then on with no other beside it; at TRIES deaths it fails. Where the
    worker was too long at one case (UnitLate), that case is an error and the others are tried again. An executor that
    does not know the unit is replaced: any unit in flight may have been the cause. So is a cluster with its scheduler.
    """

    def __init__(self, run: Run, units: Iterable[Unit], make_executor: Callable[[], Executor]):
        super().__init__(run, units)
        self._deaths: Counter[str] = Counter()  # of workers while the unit was in flight
        self._late: defaultdict[str, dict[int, str]] = defaultdict(dict)  # by unit: cases to blame, and why
        self._alone: set[str] = set()  # units that are scored case by case, as a whole they failed
        self._make_executor = make_executor
        self._executor: Executor | None = None

    def submit(self) -> None:
        """Submit units as far as the window allows."""
        while self._waiting:
            self._executor = self._executor or self._make_executor()
            if len(self.flying) >= self._room(self._waiting[0]):
                return
            unit = self._waiting.popleft()
            try:
                future = self._executor.submit(perform, self._job(unit))
            except BrokenExecutor as failure:  # a worker has died since
                future = Future()
                future.set_exception(failure)
            self.flying[future] = unit

    def results(self, future: "Future[UnitResult]") -> Iterator[tuple[Unit, UnitResult]]:
        """Yield the unit of a future that is done; where the executor broke, the units that have failed for good."""
        try:
            result = future.result()
        except UnitLate as failure:
            of_all = too_long(failure.seconds, "scoring the cases of its unit")
            yield from self._without(self.flying.pop(future), failure.place, too_long(failure.seconds), of_all)
        except UnitLost as failure:
            yield from self._again([self.flying.pop(future)], failure.place)
        except SchedulerLost:
            self._waiting.extendleft(reversed(self._dropped()))
        except BrokenExecutor:
            yield from self._again(self._dropped())
        else:
            yield self.flying.pop(future), result

    @property
    def waits(self) -> str | None:
        """What the executor waits for, in words; None where it works."""
        return getattr(self._executor, "waits", None) if self.busy else None

    def _room(self, unit: Unit) -> int:
        """Return how many units may be in flight with this one."""
        window = getattr(self._executor, "window", WINDOW)
        return min(1, window) if self._deaths[unit.name] else window

    def _dropped(self) -> list[Unit]:
        """Return the units in flight after dropping them with their executor."""
        units = list(self.flying.values())
        self.flying.clear()
        self.shut_down()
        return units

    def _again(self, units: Sequence[Unit], place: int | None = None) -> Iterator[tuple[Unit, UnitResult]]:
        """Requeue the units in flight when a worker died, behind the others; those that have failed too often without
        the case at `place`.
        """
        self._deaths.update(unit.name for unit in units)
        self._waiting.extend(unit for unit in units if self._deaths[unit.name] < TRIES)
        for unit in units:
            if self._deaths[unit.name] >= TRIES:
                self._deaths[unit.name] -= 1
                yield from self._without(unit, place, DIED, DIED)

    def _without(self, unit: Unit, place: int | None, reason: str, of_all: str) -> Iterator[tuple[Unit, UnitResult]]:
        """Queue a unit again without the case that is to blame, behind the others; a batch of which none is, case by
        case. Yield it where neither helps, and where many are to blame: each costs its whole time.
        """
        late = self._late[unit.name]
        if place is not None:
            late[place] = reason
        elif unit.name in self._alone or self._job(unit).evaluator()[0].shape != "batch":
            yield unit, failed_unit(self._job(unit), of_all)
            return
        else:
            self._alone.add(unit.name)
        if len(late) < MOST_LATE:
            self._waiting.append(unit)
        else:
            yield unit, failed_unit(self._job(unit), not_tried(len(late)))

    def _job(self, unit: Unit) -> Job:
        return Job.of(self._run, unit, self._late[unit.name], unit.name in self._alone)

    def shut_down(self) -> None:
        """Cancel all remaining units, begun or not."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None


class _JudgeQueue(_Queue):
    """The units that ask a judge, up to `window` at once; the first RUN_WIDE error stops them all."""

    def __init__(self, run: Run, units: Iterable[Unit], judge: JudgeWorker, window: int):
        super().__init__(run, units)
        self.stopped: AssayError | None = None
        self._judge = judge
        self._window = window

    def submit(self) -> None:
        """Submit units as far as the window allows."""
        while self._waiting and len(self.flying) < self._window:
            unit = self._waiting.popleft()
            self.flying[self._judge.submit(Job.of(self._run, unit))] = unit

    def results(self, future: "Future[UnitResult]") -> Iterator[tuple[Unit, UnitResult]]:
        """Yield the unit of a future that is done."""
        unit = self.flying.pop(future)
        try:
            yield unit, future.result()
        except RUN_WIDE as failure:
            self.stopped = failure
            self._waiting.clear()
            self.flying.clear()
