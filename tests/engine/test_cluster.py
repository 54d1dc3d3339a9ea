"""Runs on a real scheduler with real workers: the bytes of one process, whatever happens to them on the way."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from metrics import engine
from metrics.core.errors import InputError, RunError
from metrics.core.suite import Outputs, Suite
from metrics.engine import cluster as clusters
from metrics.engine.schedulers import checked_scheduler, scheduler_of, use_scheduler
from metrics.store import Progress, Run, Workspace
from tests.engine.clusters import Cluster
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite
from tests.processes import alive

SIZE = 4_100  # three slices of each model
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


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tables of the text run, made in one process."""
    workspace = Workspace(tmp_path_factory.mktemp("expected"))
    return tables(finished(workspace, text_suite(SIZE), text_outputs(SIZE, repeats=2), *TEXT))


def text_run(workspace: Path, cluster: Cluster) -> Run:
    run = engine.create(Workspace(workspace), text_suite(SIZE), text_outputs(SIZE, repeats=2), TEXT)
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
        self, tmp_path: Path, cluster: Cluster, expected: dict[str, str]
    ) -> None:
        run = engine.execute(text_run(tmp_path / "workspace", cluster))
        assert tables(run) == expected
        run.verify()
        assert not (run.folder / clusters.PROBE).exists()

    def test_text_where_they_do_not(self, home: Path, cluster: Cluster, expected: dict[str, str]) -> None:
        run = engine.execute(text_run(home, cluster))
        assert tables(run) == expected
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
        engine.execute(run)
        assert run.state == "finished"
        left = [process for process in psutil.Process().children(recursive=True) if process not in before]
        assert not [process for process in left if "spawn_main" in " ".join(process.cmdline())]


class TestDeaths:
    def test_of_one_worker_in_mid_unit(self, home: Path, cluster: Cluster, expected: dict[str, str]) -> None:
        run = text_run(home, cluster)
        with stopped_workers(cluster) as stopped, in_thread(lambda: engine.execute(run)) as work:
            stopped(1, before=run)
            cluster.kill(cluster.process_of(cluster.given_work_of_stopped()))
            work.join()
        assert tables(run) == expected
