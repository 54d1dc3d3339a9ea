"""A worker that computes with models leaves no semaphore behind: Python would warn of it after the results."""

import subprocess
import sys

from metrics.engine.worker_pool import WorkerPool
from metrics.models.model_files import settle_torch


def draw_bar() -> int:
    """What an embedding model does in a worker: a bar over its batches, not drawn."""
    settle_torch()
    from tqdm.auto import trange

    return sum(trange(3, disable=False))


def main() -> None:
    pool = WorkerPool()
    assert pool.submit(draw_bar).result() == 3
    pool.shutdown()


def test_no_semaphore_outlives_a_worker() -> None:
    code = f"from {__name__} import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert "leaked semaphore" not in ended.stderr
