"""A real scheduler and real workers, each a process on loopback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from distributed import Client

from tests.conftest import PROJECT


class Cluster:
    """A scheduler with its workers, which end with it; a context manager."""

    def __init__(self, folder: Path, **settings: str):
        self.folder = folder
        self._settings = {f"DASK_DISTRIBUTED__{name.upper()}": value for name, value in settings.items()}
        self.workers: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        self.address = str(self._read(file)["address"])
        self.client = Client(self.address, set_as_default=False)

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        for process in [*self.workers, self.scheduler]:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def add(self, number: int = 1, environment: Mapping[str, str] | None = None) -> None:
        """Start workers and wait until the scheduler knows them."""
        self.workers += [
            self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--worker-port", "0", "--name",
                        f"w{len(self.workers) + each}", environment=environment)
            for each in range(number)
        ]  # fmt: skip
        self.client.wait_for_workers(sum(process.poll() is None for process in self.workers), timeout=120)

    def process_of(self, worker: str) -> "subprocess.Popen[bytes]":
        """The process of the worker with that address."""
        name = self.client.scheduler_info(n_workers=-1)["workers"][worker]["name"]
        return self.workers[int(name[1:])]

    def kill(self, *processes: "subprocess.Popen[bytes]") -> None:
        """End processes by -9."""
        for process in processes:
            process.kill()
            process.wait()

    def wait_for_unit(self, worker: str) -> None:
        """Wait until the worker has been given a unit."""
        while not any("perform_there" in str(key) for key in self.client.processing().get(worker, ())):
            time.sleep(0.02)

    def _start(
        self, module: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        named = len(list(self.folder.glob("*.log")))
        with (self.folder / f"{module}{named}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--host", "127.0.0.1", "--no-dashboard",
                 *arguments],
                stdout=log, stderr=log, cwd=self.folder,
                env=os.environ | {"PYTHONPATH": str(PROJECT), "XDG_CACHE_HOME": str(self.folder / "caches")}
                | self._settings | dict(environment or {}),
            )  # fmt: skip

    def _read(self, file: Path) -> dict[str, object]:
        while True:
            try:
                return dict(json.loads(file.read_text()))
            except (FileNotFoundError, ValueError):
                if self.scheduler.poll() is not None:
                    raise RuntimeError("the scheduler did not start") from None
                time.sleep(0.05)
