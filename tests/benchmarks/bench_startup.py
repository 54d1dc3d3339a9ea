"""Server time of the first visit to the start page, on a fresh server with finished samples.

    python -m tests.benchmarks.bench_startup

Processor time, the least and the median of seven visits, each in a process of its own.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from metrics.store import Workspace
from metrics.suites.samples import compute_missing
from tests.benchmarks.table import Row, report

VISITS, MOST = 7, 1.0
VISIT = """
import time
from streamlit.testing.v1 import AppTest
begun = time.process_time()
page = AppTest.from_file("app.py", default_timeout=60).run()
print(time.process_time() - begun)
assert not page.exception and page.title[0].value == "Leaderboard"
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        compute_missing(Workspace(folder))
        seconds = sorted(visit(folder) for _ in range(VISITS))
    title = "first visit to the start page on a fresh server, processor time"
    rows = [
        Row(title, seconds[0], "s", most=MOST, readme="the first page of a fresh server"),
        Row(f"{title}, median of {VISITS}", statistics.median(seconds), "s"),
    ]
    report(rows)


def visit(workspace: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=Path(__file__).parents[2], env=os.environ | {"ASSAY_WORKSPACE": workspace},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
