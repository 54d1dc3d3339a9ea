"""Units on a Dask cluster: an executor that makes each worker ready before it is given any.

A worker is ready when it has the versions of this process, sees the workspace or has copies of what the run reads, and
has opened the run's models. Workers may come and go; a unit is given to all that are ready at that moment.
"""

import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError

from metrics.core.errors import RunError, describe_failure
from metrics.core.files import sha256_of, write_text
from metrics.core.registry import choose
from metrics.core.source_version import LIBRARIES, source_version
from metrics.core.terminal_escapes import one_line
from metrics.engine import cluster_worker as there
from metrics.engine.cluster_worker import Sent
from metrics.engine.parts import UnitResult
from metrics.engine.plan import judged
from metrics.engine.run_plugins import shipped
from metrics.engine.schedulers import LOCAL, SchedulerLost, UnitLost
from metrics.engine.unit_work import Job
from metrics.store import Run
from metrics.store.stored_inputs import FILES

PIECE = 8 * 2**20  # bytes of a message
SUITE = ("suite.json", "cases.parquet", "annotations.parquet")
OUTPUTS = ("outputs.parquet", "predictions.parquet")  # read by evaluators of the whole data set
Ask = Callable[..., dict[str, Any]]
LOOK_EVERY = 0.5  # seconds between two looks at which workers there are
ANSWER_WITHIN = 15.0  # seconds in which a scheduler has to answer
UNWATCHED = {  # nobody looks at the statistics of a run's own workers and scheduler
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
PROBE = "probe"  # in the run's folder, while a cluster works on it
ADVICE = "`resume {run} --scheduler …` continues it there, `--scheduler none` on this machine"


def files_of(run: Run, evaluators: Mapping[str, Mapping[str, Any]]) -> list[Sent]:
    """Return the files of suite and outputs that these evaluators read; the rows of single cases travel with jobs."""
    chosen = [entry for entry, _ in choose(list(evaluators), evaluators).values()]
    suite, outputs = run.suite_folder, run.outputs_folder
    found = [suite / name for name in SUITE] + [outputs / "outputs.json"]
    if any(entry.shape == "dataset" for entry in chosen):
        found += [outputs / name for name in OUTPUTS]
    if any("artifacts" in entry.inputs for entry in chosen):
        found += sorted(path for path in (outputs / FILES).rglob("*") if path.is_file())
    home = run.workspace.path
    return [Sent(one.relative_to(home).as_posix(), one.stat().st_size, sha256_of(one)) for one in found if one.exists()]


def send(ask: Ask, files: Sequence[Sent], home: Path, workers: Iterable[str]) -> list[str]:
    """Send the files that workers lack, and return the workers that have them all.

    Workers of a machine share their copies, so one of each gets them. `ask` asks workers, see ClusterExecutor.
    """
    known = ask(there.lacking, files, workers=list(workers))
    machines = {(host, folder): (worker, set(lacks)) for worker, (host, folder, lacks) in known.items()}
    for file in files:
        receivers = [worker for worker, lacks in machines.values() if file.path in lacks]
        if not receivers:
            continue
        with (home / file.path).open("rb") as stream:
            for offset in range(0, max(file.size, 1), PIECE):
                ask(there.receive, file, offset, stream.read(PIECE), workers=receivers)
    return [worker for worker, (_, _, lacks) in ask(there.lacking, files, workers=list(known)).items() if not lacks]


@dataclass
class _Flight:
    """A unit on its way: the future of Dask's, and the workers that it was given to."""

    inner: "Future[UnitResult]"
    workers: frozenset[str]
    function: Callable[[Job], UnitResult]
    job: Job


class ClusterExecutor(Executor):
    """An executor of units on the workers of a scheduler, for one run.

    Futures fail with UnitLost where every worker that was tried died, with SchedulerLost where the scheduler is gone.
    Raises RunError where no scheduler answers.
    """

    def __init__(self, run: Run, scheduler: str):
        self._run, self._scheduler = run, scheduler
        local = LOCAL.fullmatch(scheduler)
        self._cluster = _local_cluster(int(local[1])) if local else None
        try:
            self._client: Any = Client(self._cluster or scheduler, timeout=ANSWER_WITHIN, set_as_default=False)
        except (OSError, TimeoutError) as failure:
            reason = f"no Dask scheduler answers at {scheduler} ({failure}); is it running, and reachable from here?"
            raise RunError(f"{reason} {ADVICE.format(run=run.id)}") from None
        self._probe = there.Probe(run.folder / PROBE, secrets.token_hex(16))
        write_text(self._probe.path, self._probe.text)
        self._threads: dict[str, int] = {}  # of the workers that are ready
        self._refused: dict[str, str] = {}  # workers that are not used, and why
        self._blind: set[str] = set()  # workers that do not see the workspace
        self._flights: dict[Future[UnitResult], _Flight] = {}
        self._failure: Exception | None = None
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._keep_watch, name="cluster", daemon=True)
        self._watch.start()

    @property
    def window(self) -> int:
        """How many units keep the workers busy that are ready now; a failure is met by the next unit that is given."""
        return 1 if self._failure else 2 * sum(self._threads.values())

    @property
    def waits(self) -> str | None:
        """What it waits for, in words; None while any worker is ready."""
        if self._threads:
            return None
        refused = f" ({len(self._refused)} refused)" if self._refused else ""
        return f"waiting for workers at {self._scheduler}{refused}"

    def submit(  # type: ignore[override]
        self, function: Callable[[Job], UnitResult], job: Job, /
    ) -> "Future[UnitResult]":
        """Give a unit to the workers that are ready. Raises what has gone wrong with the cluster since."""
        if self._failure:
            raise self._failure
        outer: Future[UnitResult] = Future()
        with self._lock:
            self._give(outer, function, job)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel queued units; units that a worker has begun finish, unless the workers belong to this run alone."""
        del wait, cancel_futures  # always the same: nothing is shut down before everything is done or dropped
        self._ended.set()
        with self._lock:
            flights = list(self._flights.values())
            self._flights.clear()
        for flight in flights:
            flight.inner.cancel()
        with suppress(OSError, TimeoutError):
            self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close()
        self._watch.join(timeout=30)
        self._probe.path.unlink(missing_ok=True)

    def _give(self, outer: "Future[UnitResult]", function: Callable[[Job], UnitResult], job: Job) -> None:
        workers = frozenset(self._threads)
        if workers & self._blind:
            job = job.carry()
        pool = self._client.get_executor(workers=sorted(workers), allow_other_workers=False, pure=False)
        inner = pool.submit(there.perform_there, self._probe, function, job)
        self._flights[outer] = _Flight(inner, workers, function, job)
        inner.add_done_callback(lambda done: self._settle(outer, done))

    def _settle(self, outer: "Future[UnitResult]", inner: "Future[UnitResult]") -> None:
        with self._lock:
            flight = self._flights.get(outer)
            if flight is None or flight.inner is not inner:  # dropped, or given again meanwhile
                return
            del self._flights[outer]
        if inner.cancelled():
            outer.set_exception(SchedulerLost(f"the scheduler {self._scheduler} dropped the unit"))
            return
        failure = inner.exception()
        if isinstance(failure, KilledWorker):
            outer.set_exception(UnitLost(str(failure)))
        elif isinstance(failure, CommClosedError):
            outer.set_exception(SchedulerLost(str(failure)))
        elif failure is not None:
            outer.set_exception(failure)
        else:
            outer.set_result(inner.result())

    def _keep_watch(self) -> None:
        """Watch the workers until shutdown: prepare new ones, and resubmit the units of those that died."""
        first = True
        while not self._ended.is_set():
            try:
                alive = self._client.nthreads()
                self._follow(alive)
                new = [worker for worker in alive if worker not in self._threads and worker not in self._refused]
                if new:
                    self._make_ready({worker: alive[worker] for worker in new}, first)
                    first = False
            except (OSError, TimeoutError, ClosedClientError) as failure:
                self._failure = SchedulerLost(describe_failure(failure))
                return
            except Exception as failure:  # met by the next unit, in the thread of the run
                self._failure = failure
                return
            self._ended.wait(LOOK_EVERY)

    def _follow(self, alive: Mapping[str, int]) -> None:
        with self._lock:
            for known in (self._threads, self._refused):
                for worker in [worker for worker in known if worker not in alive]:
                    del known[worker]
            if not self._threads:
                return
            stranded = [(outer, one) for outer, one in self._flights.items() if not one.workers & self._threads.keys()]
            for outer, flight in stranded:
                self._give(outer, flight.function, flight.job)
        for _, flight in stranded:  # not under the lock, which the client's own thread may wait for
            flight.inner.cancel()

    def _make_ready(self, new: Mapping[str, int], first: bool) -> None:
        """Make workers ready, and leave out those that cannot be. Raises RunError for one of the `first` ones."""
        refused = dict(self._other_versions(new))
        left = [worker for worker in new if worker not in refused]
        seen = self._ask(there.sees, self._probe, workers=left)
        blind = [worker for worker, found in seen.items() if found is False]
        ids = {id: own for id, own in self._run.evaluators.items() if not judged(*choose([id], {id: own})[id])}
        left = [worker for worker in seen if worker not in blind]
        left += send(self._ask, files_of(self._run, ids), self._run.workspace.path, blind)
        resources = self._run.spec.resources
        weights = there.model_weights(ids, resources, *ids)
        plugins = shipped(self._run)
        lacks = self._ask(there.make_ready, self._probe, plugins, ids, resources, weights, workers=left)
        refused |= {
            worker: f"worker {worker} cannot do this run: {found}; install it there, or leave out the evaluator"
            for worker, found in lacks.items()
            if isinstance(found, str)
        }
        if refused and first:
            raise RunError(*refused.values())
        for text in refused.values():  # into the run's log, or the terminal
            sys.stderr.write(one_line(text) + "\n")
        self._refused |= refused
        with self._lock:
            self._blind.update(blind)
            self._threads |= {worker: new[worker] for worker, found in lacks.items() if found is None}

    def _other_versions(self, workers: Iterable[str]) -> Iterable[tuple[str, str]]:
        """Yield each worker with other versions than this process, with what to do about it in words."""
        names = [*LIBRARIES]
        found = self._client.get_versions(packages=names)
        ours = _python(found["client"]) | {name: found["client"]["packages"][name] for name in names}
        same: list[str] = []
        for worker in workers:
            if worker not in found["workers"]:  # gone
                continue
            host = found["workers"][worker]
            theirs = _python(host) | {name: host["packages"][name] for name in names}
            if theirs == ours:
                same.append(worker)
            else:
                yield worker, _refusal(worker, theirs, ours)
        ours = source_version()
        for worker, own in self._ask(_assay_asked(), workers=same).items():
            theirs = own if isinstance(own, dict) else {"Assay": "none"}
            if theirs != ours:
                yield worker, _refusal(worker, theirs, ours)

    def _ask(self, function: Callable[..., Any], *arguments: Any, workers: list[str]) -> dict[str, Any]:
        """Return what each worker answers, without those that died meanwhile. Raises what was raised there."""
        if not workers:
            return {}
        found = self._client.run(function, *arguments, workers=workers, on_error="return")
        for one in found.values():
            if isinstance(one, Exception) and not isinstance(one, CommClosedError | ConnectionError):
                raise one
        return {worker: one for worker, one in found.items() if not isinstance(one, Exception)}


def _local_cluster(workers: int) -> LocalCluster:
    """Return a cluster of processes on this machine that listens on loopback alone, without a limit of memory."""
    with dask.config.set(UNWATCHED):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            memory_limit=0,
            scheduler_kwargs={"dashboard": False},
        )


def _python(versions: Mapping[str, Any]) -> dict[str, str]:
    return {"Python": ".".join(versions["host"]["python"].split(".")[:2])}


def _assay_asked() -> Callable[[], dict[str, str]]:
    """Return the question for a worker's Assay; a nested function travels whole, as other versions do not have it."""

    def asked() -> dict[str, str]:
        import metrics

        try:
            from metrics.core import source_version
        except ImportError:
            return {"Assay": getattr(metrics, "__version__", "unknown")}
        return dict(source_version.source_version())

    return asked


def _refusal(worker: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    other = [name for name in ours if theirs.get(name) != ours[name]]
    texts = ", ".join(f"{name} {theirs.get(name) or 'unknown'} (here {ours[name]})" for name in other)
    return (
        f"worker {worker} has {texts}: numbers of different versions must not be mixed. "
        "Install the same versions there and start the worker again, or evaluate without --scheduler"
    )
