"""Runs on a real scheduler with real workers: the bytes of one process, whatever happens to them on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest

from metrics import engine
from metrics.cli.main import main
from metrics.core.errors import InputError, RunError
from metrics.core.suite import Outputs, Suite
from metrics.engine import cluster as clusters, deadlines
from metrics.engine.cluster import ClusterExecutor
from metrics.engine.execute import TRIES
from metrics.engine.parts import UnitResult
from metrics.engine.plan import Unit, plan
from metrics.engine.schedulers import checked_scheduler, scheduler_of, use_scheduler
from metrics.engine.unit_work import Job, perform
from metrics.store import Progress, Run, Workspace
from metrics.store.run_check import verify
from tests.conftest import PROJECT
from tests.engine.clusters import Cluster
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite
from tests.pages.page_scenes import objects_run

FEW, MANY = 20, 200  # cases, of two repeats
MODELS = ("good", "poor", "other", "another")
TEXT = ("rouge", "bleu", "consistency_statistics")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A busy machine is no defect: schedulers have time to answer."""
    monkeypatch.setattr(clusters, "ANSWER_WITHIN", 120.0)


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster):
    """The cluster of this module, with two workers."""
    missing = 2 - len(shared_cluster.client.nthreads())
    if missing > 0:
        shared_cluster.add(missing)
    return shared_cluster


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A workspace under a path that leads elsewhere in every process with another working folder, and on no worker."""
    monkeypatch.chdir(tmp_path)
    return Path("/proc/self/cwd/workspace")


Expected = dict[int, dict[str, str]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The tables of the text runs, made in one process, by the number of cases."""
    workspace = Workspace(tmp_path_factory.mktemp("expected"))
    return {size: tables(finished(workspace, *text_data(size), *TEXT)) for size in (FEW, MANY)}


def text_data(size: int) -> tuple[Suite, Outputs]:
    return text_suite(size), text_outputs(size, MODELS, repeats=2)


def text_run(workspace: Path, cluster: Cluster, size: int = FEW) -> Run:
    run = engine.create(Workspace(workspace), *text_data(size), TEXT)
    use_scheduler(run, cluster.address)
    return run


def tables(run: Run) -> dict[str, str]:
    return {name: facts["sha256"] for name, facts in (run.manifest or {})["tables"].items()}


class TestBytes:
    def test_text_where_the_workers_see_the_workspace(self, tmp_path, cluster, expected):
        run = engine.execute(text_run(tmp_path / "workspace", cluster))
        assert tables(run) == expected[FEW]
        verify(run)
        assert not (run.folder / clusters.PROBE).exists()

    def test_text_where_they_do_not(self, home, cluster, expected, monkeypatch):
        monkeypatch.setattr("metrics.engine.plan.SLICE", 7)  # several slices of each model
        run = engine.execute(text_run(home, cluster))
        assert tables(run) == expected[FEW]
        copies = cluster.folder / "caches/assay/worker"
        assert (copies / "suites" / run.spec.suite.fingerprint / "cases.parquet").exists()
        assert copies.stat().st_mode & 0o777 == 0o700

    def test_boxes_where_they_do_not(self, home, tmp_path, cluster):
        expected = objects_run(tmp_path)
        run = engine.create(Workspace(home), expected.suite, expected.outputs, tuple(expected.evaluators))
        use_scheduler(run, cluster.address)
        assert tables(engine.execute(run)) == tables(expected)

    def test_workers_of_this_machine_alone(self, tmp_path):
        run = engine.create(Workspace(tmp_path), text_suite(), text_outputs(), ["rouge"])
        use_scheduler(run, "local:1")
        before = set(psutil.Process().children(recursive=True))
        addresses: set[str] = set()

        def look(_: Progress) -> None:
            for process in {psutil.Process(), *psutil.Process().children(recursive=True)} - before:
                addresses.update(one.laddr.ip for one in process.net_connections() if one.status == "LISTEN")

        engine.execute(run, listen=look)
        assert (run.state, addresses) == ("finished", {"127.0.0.1"})
        left = set(psutil.Process().children(recursive=True)) - before
        assert not [process for process in left if "spawn_main" in " ".join(process.cmdline())]


class Stopping(ClusterExecutor):
    """Stops the processes of some workers before it gives the first unit, so that they hold what they are given."""

    def __init__(self, run: Run, cluster: Cluster, number: int):
        self.victims: dict[str, subprocess.Popen[bytes]] = {}
        self._cluster_here, self._number = cluster, number
        super().__init__(run, cluster.address)

    def submit(self, function: Callable[[Job], UnitResult], job: Job, /) -> "Future[UnitResult]":  # type: ignore[override]
        if not self.victims:
            for worker in sorted(self._cluster_here.client.nthreads())[: self._number]:
                self.victims[worker] = self._cluster_here.process_of(worker)
                self.victims[worker].send_signal(signal.SIGSTOP)
        return super().submit(function, job)


class Once:
    """A listener that acts once, when its executor has stopped its victims and each has been given a unit."""

    def __init__(self, cluster: Cluster, made: list[Stopping], act: Callable[[Stopping], None]):
        self._cluster, self._made, self._act, self._done = cluster, made, act, False

    def __call__(self, _: Progress) -> None:
        if self._made and self._made[0].victims and not self._done:
            self._done = True
            for worker in self._made[0].victims:
                self._cluster.wait_for_unit(worker)
            self._act(self._made[0])


def execute_until(run: Run, cluster: Cluster, number: int, act: Callable[[Stopping], None]) -> Run:
    """Execute a run with `number` stopped workers, and do `act` when all of them are in the middle of a unit."""
    made: list[Stopping] = []

    def make() -> ClusterExecutor:
        if made:
            return ClusterExecutor(run, cluster.address)
        made.append(Stopping(run, cluster, number))
        return made[0]

    return engine.execute(run, make, Once(cluster, made, act))


class TestDeaths:
    @pytest.mark.attack("worker", "a worker of a cluster dies", "its unit is done again elsewhere")
    def test_of_one_worker_in_mid_unit(self, home, cluster, expected):
        run = text_run(home, cluster)
        execute_until(run, cluster, 1, lambda pool: cluster.kill(*pool.victims.values()))
        assert tables(run) == expected[FEW]

    def test_of_all_workers_and_others_come(self, home, cluster, expected):
        def replace(pool: Stopping) -> None:
            cluster.kill(*pool.victims.values())
            cluster.add(2)

        assert tables(execute_until(text_run(home, cluster), cluster, 2, replace)) == expected[FEW]

    def test_of_the_scheduler(self, tmp_path, cluster, expected, monkeypatch):
        """Its runs go on with another one, or without any."""
        monkeypatch.setattr(clusters, "ANSWER_WITHIN", 2.0)
        with Cluster(tmp_path) as dying:
            dying.add(1)
            amid, later = text_run(tmp_path / "workspace", dying), text_run(tmp_path / "workspace", dying)
            with pytest.raises(RunError, match="no Dask scheduler answers at tcp://"):
                execute_until(amid, dying, 1, lambda _: dying.kill(dying.scheduler))
            with pytest.raises(RunError, match="no Dask scheduler answers at tcp://"):
                engine.execute(later)
        for run, scheduler in ((amid, cluster.address), (later, "none")):
            assert run.state == "failed"
            assert f"`resume {run.id} --scheduler" in (run.failure or "")
            use_scheduler(run, scheduler)
            assert tables(engine.execute(run, one_thread if scheduler == "none" else None)) == expected[FEW]

    def test_of_the_process_that_drives_the_run(self, tmp_path, cluster, expected):
        run = text_run(tmp_path / "workspace", cluster, MANY)
        process = engine.start(run)
        while not list((run.folder / "parts").glob("*.unit")):
            assert process.poll() is None, (run.folder / "log.txt").read_text()
            time.sleep(0.02)
        workers = [worker for worker in cluster.workers if worker.poll() is None]
        for worker in workers:
            worker.send_signal(signal.SIGSTOP)
        process.kill()
        process.wait()
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
        assert run.state in ("interrupted", "finished"), "finished where this process did not come in time"
        assert (scheduler_of(run), tables(engine.execute(run))) == (cluster.address, expected[MANY])

    @pytest.mark.attack(
        "worker", "a unit that kills every worker that gets it", "after three deaths its cases are errors"
    )
    def test_of_every_worker_that_is_given_a_unit(self, tmp_path, cluster):
        """The scheduler gives the unit to no second worker, the run to one after the other, and last case by case."""
        cluster.add(TRIES + 2 - len(cluster.client.nthreads()))
        cluster.client.run_on_scheduler(allow_failures, 0)
        lost, victim = lost_to(tmp_path, cluster, die)
        cluster.client.run_on_scheduler(allow_failures, 3)
        assert len(cluster.client.nthreads()) == 1
        assert set(zip(lost.evaluator, lost.model, strict=True)) == {(victim.evaluator, victim.model)}
        assert lost["reason"].str.contains("worker process died").all()


def allow_failures(number: int, dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = number


def lost_to(folder: Path, cluster: Cluster, hostile: Callable[[Job], UnitResult]) -> tuple[Any, Unit]:
    """Execute a run whose second unit is replaced; return its rows that are errors, and that unit."""
    run = engine.create(Workspace(folder / "workspace"), text_suite(), text_outputs(), ["rouge", "bleu"])
    victim = plan(run)[1]

    class Hostile(ClusterExecutor):
        def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
            return super().submit(hostile if job.unit == victim else function, job)

    engine.execute(run, lambda: Hostile(run, cluster.address))
    return run.scores[run.scores.status == "error"], victim


@pytest.mark.attack("suite author", "a case keeps a cluster's worker busy for ever", "the worker ends itself")
def test_a_late_case_is_an_error_and_its_worker_ends(tmp_path, cluster):
    before = len(cluster.client.nthreads())
    lost, _ = lost_to(tmp_path, cluster, late_at_two)
    while len(cluster.client.nthreads()) >= before:
        time.sleep(0.1)
    assert set(zip(lost.evaluator, lost.model, lost.case_id, strict=True)) == {("rouge", "poor", "c2")}
    assert set(lost["reason"]) == {"scoring this case took longer than 0.2 s; --case-timeout sets the limit"}


def late_at_two(job: Job) -> UnitResult:
    if 2 not in job.late:
        deadlines.begin(2, 0.2)
        threading.Event().wait()
    return perform(job)


HELD = """
from metrics.engine import cluster_worker, deadlines
from metrics.store.run_check import verify
cluster_worker.GRACE = 1.0

def held(_):
    deadlines.begin(None, 600.0)
    deadlines.begin(0, 0.0)
    7 ** 10 ** 10

cluster_worker.in_time(held, None)
"""


@pytest.mark.attack("suite author", "C code on a cluster's worker lets no other thread run", "the worker ends itself")
def test_a_worker_ends_itself_amid_c_code(project):
    done = subprocess.run(
        [sys.executable, "-c", HELD], env=os.environ | {"PYTHONPATH": str(project)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr


def die(_: Job) -> UnitResult:
    os._exit(1)


def fail(_: Job) -> UnitResult:
    raise ZeroDivisionError("as locally")


def test_an_exception_arrives_as_it_was_raised(tmp_path, cluster):
    run = text_run(tmp_path, cluster)

    class Failing(ClusterExecutor):
        def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
            return super().submit(fail, job)

    with pytest.raises(ZeroDivisionError, match="as locally"):
        engine.execute(run, lambda: Failing(run, cluster.address))
    assert run.failure == "ZeroDivisionError: as locally"


def test_a_cancelled_run_leaves_nothing_on_the_cluster_and_goes_on_later(tmp_path, cluster, expected):
    run = text_run(tmp_path, cluster)

    def cancel(pool: Stopping) -> None:
        engine.cancel(run)
        stopped.extend(pool.victims.values())

    stopped: list[subprocess.Popen[bytes]] = []
    execute_until(run, cluster, 1, cancel)
    for process in stopped:
        process.send_signal(signal.SIGCONT)
    assert run.state == "cancelled"
    while any(cluster.client.processing().values()):
        time.sleep(0.02)
    (run.folder / "cancel").unlink()
    assert tables(engine.execute(run)) == expected[FEW]


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """The environment of a worker with an older Assay, which could do a unit all the same."""
    package = tmp_path_factory.mktemp("older") / "metrics"
    package.mkdir()
    text = f'__version__ = "0.0.9"\n__path__.append({str(PROJECT / "metrics")!r})\n'
    (package / "__init__.py").write_text(text)
    return {"PYTHONPATH": str(package.parent)}


@pytest.mark.attack("worker", "a worker with other versions of the libraries", "it is refused by name")
def test_a_worker_with_other_versions_is_refused_by_name_and_gets_no_unit(tmp_path, older, expected, capfd):
    """Where it is the first, the run fails; where it joins later, the others do the run, which waited for them."""
    told: list[str] = []
    said: list[str] = []
    given: list[Job] = []

    class Joined(ClusterExecutor):
        def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
            if len(given) == 1:
                cluster.add(1, older)
                while not any("has Assay 0.0.9" in text for text in told):
                    told.append(capfd.readouterr().err)
                    time.sleep(0.02)
            given.append(job)
            return super().submit(function, job)

    def start_worker(progress: Progress) -> None:
        said.append(progress.message)
        if len(cluster.workers) == 1 and progress.message.startswith("waiting for workers at"):
            cluster.add(1)

    with Cluster(tmp_path) as cluster:
        cluster.add(1, older)
        run = text_run(tmp_path / "workspace", cluster)
        worker = next(iter(cluster.client.nthreads()))
        with pytest.raises(RunError, match=rf"worker {worker} has Assay 0\.0\.9 \(here .*must not be mixed"):
            engine.execute(run)
        cluster.kill(*cluster.workers)
        while cluster.client.nthreads():
            time.sleep(0.02)
        done = engine.execute(run, lambda: Joined(run, cluster.address), start_worker)
        assert tables(done) == expected[FEW]
        worked = cluster.client.run(lambda: "metrics.engine.unit_work" in sys.modules)
        names = {address: info["name"] for address, info in cluster.client.scheduler_info()["workers"].items()}
    assert {names[address]: found for address, found in worked.items()} == {"w1": True, "w2": False}
    assert f"waiting for workers at {cluster.address}" in said


@pytest.mark.parametrize("text",
    ["", "tcp://", "host:8786", "http://host:80", "local:0", "local:", "tcp://host", "tcp://ho st:1"])  # fmt: skip
def test_what_is_no_scheduler_is_refused(text):
    with pytest.raises(InputError, match="tcp://HOST:PORT or tls://HOST:PORT"):
        checked_scheduler(text)


def test_the_command_passes_the_scheduler_on(capsys):
    assert main(["evaluate", "none.csv", "--scheduler", "somewhere"]) == 2
    assert "scheduler: found 'somewhere'; expected tcp://HOST:PORT" in capsys.readouterr().err
