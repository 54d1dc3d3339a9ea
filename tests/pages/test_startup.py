"""What a fresh server loads for its first visitor; `tests.benchmarks.bench_startup` measures the time."""

import json
import subprocess
import sys

import pytest

from tests.pages.conftest import PROJECT, place_samples

HEAVY = "torch litellm sentence_transformers transformers sklearn scipy numba matplotlib duckdb shapely typst".split()
VISIT = """
import json, resource, sys
from streamlit.testing.v1 import AppTest
page = AppTest.from_file("app.py", default_timeout=60).run()
if sys.platform == "darwin":
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
else:  # there, ru_maxrss of a process that was just started is that of the process which started it
    peak = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
print(json.dumps({
    "title": page.title[0].value, "exceptions": len(page.exception), "bytes": peak,
    "modules": sorted(name for name in sys.modules if "." not in name),
}))
"""


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The first visit to the start page, in a process of its own, on a workspace that no other test adds runs to."""
    folder = place_samples(tmp_path_factory.mktemp("startup"))
    environment = {"ASSAY_WORKSPACE": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    for _ in range(2):  # the first after an installation also compiles the libraries, which takes memory of its own
        done = subprocess.run(
            [sys.executable, "-c", VISIT], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])


def test_it_shows_the_leaderboard(visit: dict) -> None:
    assert (visit["title"], visit["exceptions"]) == ("Leaderboard", 0)


def test_it_takes_200_mb_at_most(visit: dict) -> None:
    assert visit["bytes"] <= 200 * 2**20


def test_it_leaves_the_heavy_libraries_alone(visit: dict) -> None:
    assert set(HEAVY) & set(visit["modules"]) == set()
