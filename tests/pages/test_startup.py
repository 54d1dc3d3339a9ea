"""What a fresh server loads for its first visitor; `tests.benchmarks.bench_startup` measures the time."""

import fcntl
import json
import subprocess
import sys

import pytest

from metrics import engine
from metrics.store import Workspace
from metrics.suites.samples import create, samples
from tests.pages.conftest import PROJECT, place_samples
from tests.pages.page_scenes import objects_run

HEAVY = """
    torch litellm sentence_transformers transformers sklearn scipy numba matplotlib pandas duckdb shapely typst
    metrics.engine
""".split()
VISIT = """
import json, resource, sys
from streamlit.testing.v1 import AppTest
page = AppTest.from_file("app.py", default_timeout=300).run()
if sys.platform == "darwin":
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
else:  # there, ru_maxrss of a process that was just started is that of the process which started it
    peak = int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
print(json.dumps({
    "title": page.title[0].value, "exceptions": len(page.exception), "bytes": peak,
    "texts": [*(text.value for text in page.text), *(button.label for button in page.button)],
    "modules": sorted(sys.modules),
}))
"""


@pytest.fixture(scope="module", params=["labels", "judged", "objects", "empty"])
def visit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The first visit to the start page, in a process of its own, on a workspace that no other test adds runs to.

    The newest run there is of labels, of objects or with a judge; or there is none, and the samples wait.
    """
    folder = tmp_path_factory.mktemp(request.param)
    if request.param != "empty":
        place_samples(folder)
    if request.param == "objects":
        objects_run(folder)
    if request.param == "judged":
        judged = next(sample for sample in samples() if sample.id == "rag-judged")
        engine.execute(create(Workspace(folder), judged))
    environment = {"ASSAY_WORKSPACE": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    with (folder / "samples.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as if another process were at the samples
        # the first after an installation also compiles the libraries, which takes memory of its own
        for _ in range(2 if request.param == "labels" else 1):
            done = subprocess.run(
                [sys.executable, "-c", VISIT], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
            )
    return json.loads(done.stdout.splitlines()[-1]) | {"kind": request.param}


def test_it_shows_the_leaderboard(visit: dict) -> None:
    assert (visit["title"], visit["exceptions"]) == ("Overview", 0)
    line = {
        "labels": "With 120 cases", "objects": "See the objects", "judged": "Judged by hand-written",
        "empty": "Its leaderboard opens here",
    }  # fmt: skip
    assert any(text.startswith(line[visit["kind"]]) for text in visit["texts"])


def test_it_takes_200_mb_at_most(visit: dict) -> None:
    assert visit["bytes"] <= 200 * 2**20


def test_it_leaves_the_heavy_libraries_alone(visit: dict) -> None:
    assert set(HEAVY) & set(visit["modules"]) == set()
