"""Runs on a real scheduler with real workers: the bytes of one process, whatever happens to them on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import psutil
import pytest

from metrics import engine
from metrics.core.errors import InputError, RunError
from metrics.core.suite import Outputs, Suite
from metrics.engine import cluster as clusters
from metrics.engine import deadlines
from metrics.engine.cluster import ClusterExecutor
from metrics.engine.execute import TRIES
from metrics.engine.parts import UnitResult
from metrics.engine.plan import plan
from metrics.engine.schedulers import checked_scheduler, scheduler_of, use_scheduler
from metrics.engine.unit_work import Job, perform
from metrics.store import Progress, Run, Workspace
from tests.conftest import PROJECT
from tests.engine.clusters import Cluster
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite

FEW, MANY = 20, 2_050  # cases, of two repeats: one slice of each model, or three
MODELS = ("good", "poor", "other", "another")
TEXT = ("rouge", "bleu", "consistency_statistics")
DETECTION = ("coco_summary", "detection_confusion")


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """The cluster of this module, with three workers."""
    missing = 3 - len(shared_cluster.client.nthreads())
    if missing:
        shared_cluster.add(missing)
    return shared_cluster


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace under a path that leads elsewhere in every process with another working folder, and on no worker."""
    monkeypatch.chdir(tmp_path)
    return Path("/proc/self/cwd/workspace")


Expected = dict[int, dict[str, str]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """The tables of the text runs, made in one process, by the number of cases."""
    workspace = Workspace(tmp_path_factory.mktemp("expected"))
    return {size: tables(finished(workspace, *text_data(size), *TEXT)) for size in (FEW, MANY)}


def text_data(size: int) -> tuple[Suite, Outputs]:
    return text_suite(size), text_outputs(size, MODELS if size == FEW else MODELS[:2], repeats=2)


def text_run(workspace: Path, cluster: Cluster, size: int = FEW) -> Run:
    run = engine.create(Workspace(workspace), *text_data(size), TEXT)
    use_scheduler(run, cluster.address)
    return run


def tables(run: Run) -> dict[str, str]:
    return {name: facts["sha256"] for name, facts in (run.manifest or {})["tables"].items()}


def boxes(images: int = 40) -> tuple[Suite, Outputs]:
    cases = [
        {"case_id": f"i{image}", "image": f"{image}.jpg", "image_width": 100, "image_height": 100,
         "tags": ["night"] if image % 3 == 0 else []}
        for image in range(images)
    ]  # fmt: skip
    truth = [
        {"case_id": f"i{image}", "annotation_id": image * 3 + each, "label": "cat" if each else "dog",
         "x": 7.0 * each, "y": float(image % 9), "width": 20.0 + each, "height": 30.0, "area": 600.0 + 30 * each,
         "is_crowd": False}
        for image in range(images) for each in range(3)
    ]  # fmt: skip
    found = [
        {"case_id": one["case_id"], "model": model, "label": one["label"], "score": (place * 7919 % 1000) / 1000,
         "x": one["x"] + shift * (place % 4), "y": one["y"], "width": one["width"], "height": 30.0, "area": one["area"]}
        for model, shift in (("near", 1.0), ("far", 4.0)) for place, one in enumerate(truth)
    ]  # fmt: skip
    outputs = [{"case_id": case["case_id"], "model": model} for model in ("near", "far") for case in cases]
    return Suite.from_rows("boxes", "detection", cases, truth, ("cat", "dog")), Outputs.from_rows(outputs, found)


class TestBytes:
    def test_text_where_the_workers_see_the_workspace(
        self, tmp_path: Path, cluster: Cluster, expected: Expected
    ) -> None:
        run = engine.execute(text_run(tmp_path / "workspace", cluster))
        assert tables(run) == expected[FEW]
        run.verify()
        assert not (run.folder / clusters.PROBE).exists()

    def test_text_where_they_do_not(self, home: Path, cluster: Cluster, expected: Expected) -> None:
        run = engine.execute(text_run(home, cluster, MANY))
        assert tables(run) == expected[MANY]
        copies = cluster.folder / "caches/assay/worker"
        assert (copies / "suites" / run.spec["suite"]["fingerprint"] / "cases.parquet").exists()
        assert copies.stat().st_mode & 0o777 == 0o700

    def test_boxes_where_they_do_not(self, home: Path, cluster: Cluster) -> None:
        suite, outputs = boxes()
        run = engine.create(Workspace(home), suite, outputs, DETECTION)
        use_scheduler(run, cluster.address)
        assert tables(engine.execute(run)) == tables(finished(Workspace(home), suite, outputs, *DETECTION))

    def test_workers_of_this_machine_alone(self, tmp_path: Path) -> None:
        run = engine.create(Workspace(tmp_path), text_suite(), text_outputs(), ["rouge"])
        use_scheduler(run, "local:1")
        before = set(psutil.Process().children(recursive=True))
        addresses: set[str] = set()

        def look(_: Progress) -> None:
            for process in {psutil.Process(), *psutil.Process().children(recursive=True)} - before:
                addresses.update(one.laddr.ip for one in process.net_connections() if one.status == "LISTEN")

        engine.execute(run, listen=look)
        assert run.state == "finished"
        assert addresses == {"127.0.0.1"}
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
    def test_of_one_worker_in_mid_unit(self, home: Path, cluster: Cluster, expected: Expected) -> None:
        run = text_run(home, cluster)
        execute_until(run, cluster, 1, lambda pool: cluster.kill(*pool.victims.values()))
        assert tables(run) == expected[FEW]

    def test_of_all_workers_and_others_come(self, home: Path, cluster: Cluster, expected: Expected) -> None:
        def replace(pool: Stopping) -> None:
            cluster.kill(*pool.victims.values())
            cluster.add(2)

        assert tables(execute_until(text_run(home, cluster), cluster, 3, replace)) == expected[FEW]

    @pytest.mark.parametrize("back", ["with", "without"])
    def test_of_the_scheduler(
        self, back: str, tmp_path: Path, cluster: Cluster, expected: Expected, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(clusters, "ANSWER_WITHIN", 2.0)
        with Cluster(tmp_path) as dying:
            dying.add(1)
            run = text_run(tmp_path / "workspace", dying)
            with pytest.raises(RunError, match="no Dask scheduler answers at tcp://"):
                execute_until(run, dying, 1, lambda _: dying.kill(dying.scheduler))
        assert run.state == "failed"
        assert f"`resume {run.id} --scheduler" in (run.failure or "")
        use_scheduler(run, cluster.address if back == "with" else "none")
        assert tables(engine.execute(run, None if back == "with" else one_thread)) == expected[FEW]

    def test_of_the_process_that_drives_the_run(
        self, tmp_path: Path, project: Path, cluster: Cluster, expected: Expected
    ) -> None:
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
        assert run.state == "interrupted"
        assert scheduler_of(run) == cluster.address
        assert tables(engine.execute(run)) == expected[MANY]

    @pytest.mark.attack(
        "worker", "a unit that kills every worker that gets it", "after three deaths its cases are errors"
    )
    def test_of_every_worker_that_is_given_a_unit(self, tmp_path: Path) -> None:
        with Cluster(tmp_path, scheduler__allowed_failures="0") as cluster:
            cluster.add(TRIES + 1)
            run = engine.create(Workspace(tmp_path / "workspace"), text_suite(), text_outputs(), ["rouge", "bleu"])
            victim = plan(run)[1]

            class Lethal(ClusterExecutor):
                def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
                    return super().submit(die if job.unit == victim else function, job)

            engine.execute(run, lambda: Lethal(run, cluster.address))
            assert len(cluster.client.nthreads()) == 1
        lost = run.scores[run.scores.status == "error"]
        assert set(zip(lost.evaluator, lost.model, strict=True)) == {(victim.evaluator, victim.model)}
        assert lost["reason"].str.contains("worker process died").all()


@pytest.mark.attack("suite author", "a case keeps a cluster's worker busy for ever", "the worker ends itself")
def test_a_late_case_is_an_error_and_its_worker_ends(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.add(2)
        run = engine.create(Workspace(tmp_path / "workspace"), text_suite(), text_outputs(), ["rouge", "bleu"])
        victim = plan(run)[1]

        class Late(ClusterExecutor):
            def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
                return super().submit(late_at_two if job.unit == victim else function, job)

        engine.execute(run, lambda: Late(run, cluster.address))
        while len(cluster.client.nthreads()) > 1:
            time.sleep(0.1)
    lost = run.scores[run.scores.status == "error"]
    assert set(zip(lost.evaluator, lost.model, lost.case_id, strict=True)) == {("rouge", "poor", "c2")}
    assert set(lost["reason"]) == {"scoring this case took longer than 0.2 s; --case-timeout sets the limit"}


def late_at_two(job: Job) -> UnitResult:
    if 2 not in job.late:
        deadlines.begin(2, 0.2)
        threading.Event().wait()
    return perform(job)


HELD = """
from metrics.engine import cluster_deadline, deadlines
cluster_deadline.GRACE = 1.0

def held(_):
    deadlines.begin(None, 600.0)
    deadlines.begin(0, 0.0)
    7 ** 10 ** 10

cluster_deadline.in_time(held, None)
"""


@pytest.mark.attack("suite author", "C code on a cluster's worker lets no other thread run", "the worker ends itself")
def test_a_worker_ends_itself_amid_c_code(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELD], env=os.environ | {"PYTHONPATH": str(project)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr


def die(_: Job) -> UnitResult:
    os._exit(1)


def fail(_: Job) -> UnitResult:
    raise ZeroDivisionError("as locally")


def test_an_exception_arrives_as_it_was_raised(tmp_path: Path, cluster: Cluster) -> None:
    run = text_run(tmp_path, cluster)

    class Failing(ClusterExecutor):
        def submit(self, function, job: Job, /) -> "Future[UnitResult]":  # type: ignore[no-untyped-def,override]
            return super().submit(fail, job)

    with pytest.raises(ZeroDivisionError, match="as locally"):
        engine.execute(run, lambda: Failing(run, cluster.address))
    assert run.failure == "ZeroDivisionError: as locally"


def test_a_cancelled_run_leaves_nothing_on_the_cluster_and_goes_on_later(
    tmp_path: Path, cluster: Cluster, expected: Expected
) -> None:
    run = text_run(tmp_path, cluster)

    def cancel(pool: Stopping) -> None:
        engine.cancel(run)
        stopped.extend(pool.victims.values())

    stopped: list[subprocess.Popen[bytes]] = []
    execute_until(run, cluster, 2, cancel)
    for process in stopped:
        process.send_signal(signal.SIGCONT)
    assert run.state == "cancelled"
    while any(cluster.client.processing().values()):
        time.sleep(0.02)
    (run.folder / "cancel").unlink()
    assert tables(engine.execute(run)) == expected[FEW]


class TestOtherVersions:
    @pytest.fixture
    def older(self, tmp_path: Path) -> dict[str, str]:
        """The environment of a worker with an older Assay, which could do a unit all the same."""
        package = tmp_path / "older" / "metrics"
        package.mkdir(parents=True)
        text = f'__version__ = "0.0.9"\n__path__.append({str(PROJECT / "metrics")!r})\n'
        (package / "__init__.py").write_text(text)
        return {"PYTHONPATH": str(package.parent)}

    @pytest.mark.attack("worker", "a worker with other versions of the libraries", "it is refused by name")
    def test_are_refused_by_name_where_they_are_first(self, tmp_path: Path, older: dict[str, str]) -> None:
        with Cluster(tmp_path) as cluster:
            cluster.add(1, older)
            run = engine.create(Workspace(tmp_path / "workspace"), text_suite(), text_outputs(), ["rouge"])
            use_scheduler(run, cluster.address)
            worker = next(iter(cluster.client.nthreads()))
            with pytest.raises(RunError, match=rf"worker {worker} has Assay 0\.0\.9 \(here .*must not be mixed"):
                engine.execute(run)

    def test_get_no_unit_where_they_join_later(
        self, tmp_path: Path, older: dict[str, str], expected: Expected, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """A run waits for its first worker; an older one joins when the first unit has been given, and is refused."""
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
            if not cluster.workers and progress.message.startswith("waiting for workers at"):
                cluster.add(1)

        with Cluster(tmp_path) as cluster:
            run = text_run(tmp_path / "workspace", cluster)
            done = engine.execute(run, lambda: Joined(run, cluster.address), start_worker)
            assert tables(done) == expected[FEW]
            worked = cluster.client.run(lambda: "metrics.engine.unit_work" in sys.modules)
            names = {address: info["name"] for address, info in cluster.client.scheduler_info()["workers"].items()}
        assert {names[address]: found for address, found in worked.items()} == {"w0": True, "w1": False}
        assert f"waiting for workers at {cluster.address}" in said


@pytest.mark.parametrize(
    "text", ["", "tcp://", "host:8786", "http://host:80", "local:0", "local:", "tcp://host", "tcp://ho st:1"]
)
def test_what_is_no_scheduler_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="tcp://HOST:PORT or tls://HOST:PORT"):
        checked_scheduler(text)


def test_the_command_passes_the_scheduler_on(tmp_path: Path, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "metrics", "evaluate", "none.csv", "--scheduler", "somewhere"],
        cwd=project, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "scheduler: found 'somewhere'; expected tcp://HOST:PORT" in done.stderr
