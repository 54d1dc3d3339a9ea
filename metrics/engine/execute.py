"""Carrying out a plan: units go to an executor, their tables to parts on disk, and in the end to the sealed run."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

from metrics.core.errors import AssayError
from metrics.core.registry import choose
from metrics.engine.judge_worker import RUN_WIDE, JudgeWorker
from metrics.engine.parts import Parts
from metrics.engine.plan import Unit, judged, plan
from metrics.engine.progress import EVERY, Tracker
from metrics.engine.seal import seal
from metrics.engine.unit_work import Done, Job, lost, perform
from metrics.store import Progress, Run
from metrics.store.files import write_text

SLICES_ASKED = 2  # slices of cases before the judge at once: of the second while the first waits for stragglers
TRIES = 3  # how often a unit may take its worker process down before its cases are errors

Submit = Callable[[Job], "Future[Done]"]


def execute(
    run: Run, make_executor: Callable[[], Executor] | None = None, listen: Callable[[Progress], None] | None = None
) -> Run:
    """Do what is left of a run and seal it; a cancelled run stops early and stays resumable.

    `make_executor` gives any concurrent.futures executor (default: a process pool, one process a core); it is called
    again if the executor breaks. `listen` is told of progress. RunBusy where another process works on the run.
    """
    with run.locked():
        (run.folder / "cancel").unlink(missing_ok=True)
        (run.folder / "failure.txt").unlink(missing_ok=True)
        parts = Parts(run.folder)
        if run.state == "finished":
            parts.clear()
            return run
        try:
            units = plan(run)
            tracker = Tracker(run, units, listen)
            todo = []
            for unit in units:
                failed = parts.failed(unit.name)
                if failed is None:
                    todo.append(unit)
                else:
                    tracker.found(unit, failed)
            with JudgeWorker(run) as judge:
                try:
                    for made in _work(run, todo, make_executor or process_pool, judge):
                        if made is not None:
                            unit, done = made
                            parts.write(unit.name, done)
                            tracker.done(unit, done)
                        tracker.tick(judge.progress)
                        judge.write_spend()
                        if (run.folder / "cancel").exists():
                            break
                except RUN_WIDE:
                    tracker.say("stopped")
                    raise
            if (run.folder / "cancel").exists():
                tracker.say("cancelled")
                return run
            tracker.say("sealing")
            seal(run, units, parts, tracker.seconds())
            tracker.say("finished")
            parts.clear()
        except Exception as failure:
            write_text(run.folder / "failure.txt", f"{type(failure).__name__}: {failure}")
            raise
    return run


def process_pool() -> Executor:
    """One worker process a core; the workers leave when this process does, however it dies."""
    return ProcessPoolExecutor(
        os.cpu_count() or 1, mp_context=get_context("spawn"), initializer=_follow_parent, initargs=(os.getpid(),)
    )


def _follow_parent(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(
    run: Run, units: list[Unit], make_executor: Callable[[], Executor], judge: JudgeWorker
) -> Iterator[tuple[Unit, Done] | None]:
    """Yield the units and what they made, as they come, and None every half second that brings none.

    Closing the generator drops what has not begun. A judge that is down stops its own units alone; its error comes
    when the others are done.
    """
    spec, parameters = run.spec, run.evaluators

    def job(unit: Unit) -> Job:
        return Job(
            run.workspace.path,
            spec["suite"]["fingerprint"],
            spec["outputs"]["fingerprint"],
            parameters[unit.evaluator],
            unit,
            spec.get("resources", {}),
        )

    asking = {name for name, chosen in choose(list(parameters), parameters).items() if judged(*chosen)}
    # slice by slice, so that evaluators which share questions about a case ask them at about the same time
    questions = deque(sorted((unit for unit in units if unit.evaluator in asking), key=lambda unit: unit.start))
    queue = deque(unit for unit in units if unit.evaluator not in asking)
    tries = dict.fromkeys((unit.name for unit in queue), 0)
    window = 2 * (os.cpu_count() or 1)  # enough to keep the workers busy, little enough to stop soon
    asked: dict[Future[Done], Unit] = {}
    stopped: AssayError | None = None
    while queue or questions or asked:
        executor = make_executor() if queue else None
        flying: dict[Future[Done], Unit] = {}
        try:
            while queue or flying or questions or asked:
                suspicious = bool(queue) and tries[queue[0].name] > 0
                while executor and queue and len(flying) < (1 if suspicious else window):
                    unit = queue.popleft()
                    flying[executor.submit(perform, job(unit))] = unit
                while questions and len(asked) < SLICES_ASKED * len(asking):
                    unit = questions.popleft()
                    asked[judge.submit(job(unit))] = unit
                ready, _ = wait([*flying, *asked], timeout=EVERY, return_when=FIRST_COMPLETED)
                if not ready:
                    yield None
                for future in ready:
                    if future in asked:
                        unit = asked.pop(future)
                        try:
                            done = future.result()
                        except RUN_WIDE as failure:
                            stopped = failure
                            questions.clear()
                            asked.clear()
                            break
                    else:
                        unit = flying[future]
                        done = future.result()
                        del flying[future]
                    yield unit, done
        except BrokenExecutor:  # a worker died (out of memory, a crash in a library): one of those in flight did it
            for unit in flying.values():
                tries[unit.name] += 1
            again = [unit for unit in flying.values() if tries[unit.name] < TRIES]
            for unit in flying.values():
                if unit not in again:
                    yield unit, lost(job(unit), "the worker process died while scoring this case (out of memory?)")
            queue.extendleft(reversed(again))
        finally:
            if executor is not None:
                executor.shutdown(wait=False, cancel_futures=True)
    if stopped is not None:
        raise stopped
