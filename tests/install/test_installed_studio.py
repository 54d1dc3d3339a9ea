"""The studio of an installed wheel: its server, every page, its runs in processes of their own, and a PDF."""

import contextlib
import fcntl
import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.install.conftest import PROJECT, Installed

PAGES = sorted(path.stem for path in (PROJECT / "pages").glob("*.py") if path.stem != "__init__")
# starts a run as the page Evaluate does, in a process of its own, and waits for its end
RUN = """
from metrics import Workspace, engine
from metrics.suites.samples import create, samples

by_id = {sample.id: sample for sample in samples()}
run = create(Workspace(), by_id["classification"])
process = engine.start(run)
print(process.wait(), run.state, sorted(by_id))
"""
# runs every page's script as `assay studio` has it run: for this machine, the folder of app.py before all others
VISIT = """
import json, sys
from streamlit import config
from streamlit.testing.v1 import AppTest
from metrics.core.places import STUDIO

config.set_option("server.address", "127.0.0.1")
sys.path.insert(0, str(STUDIO))
seen = {}
for name in sys.argv[1:]:
    page = AppTest.from_file(str(STUDIO / "pages" / f"{name}.py"), default_timeout=120).run()
    seen[name] = [page.title[0].value if page.title else "", *(one.value for one in page.exception)]
print(json.dumps({"pages": seen, "homes": [sys.modules[name].__file__ for name in ("metrics", "components")]}))
"""


@pytest.fixture(scope="module")
def studio(whole: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The environment with a run of a sample in the workspace of its folder; nobody computes the other samples."""
    workspace = whole.elsewhere / "workspace"
    made = whole.run("python", "-P", "-c", RUN)
    every = [path.parent.name for path in sorted((PROJECT / "data" / "samples").glob("*/sample.json"))]
    assert made.stdout == f"0 finished {every}\n", made.stderr
    with (workspace / "samples.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield whole


@pytest.fixture(scope="module")
def address(studio: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `assay studio`, started in the folder of the workspace."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("log") / "studio.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [studio.folder / "bin" / "assay", "studio", "--no-token", "--port", str(port)],
            cwd=studio.elsewhere, env=studio.environment, stdout=output, stderr=output,
        )  # fmt: skip
    found = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{found}/_stcore/health", timeout=5) as health:
                assert health.read() == b"ok"
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(120)
    assert "Traceback" not in log.read_text(), log.read_text()


def test_every_page_runs(studio: Installed, tmp_path: Path) -> None:
    script = tmp_path / "visit.py"
    script.write_text(VISIT)
    done = studio.run("python", "-P", script, *PAGES)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert all(str(studio.folder) in home for home in found["homes"]), "nothing comes from the clone"
    assert {name: seen[1:] for name, seen in found["pages"].items()} == {name: [] for name in PAGES}
    assert all(seen[0] for seen in found["pages"].values()), found["pages"]


@pytest.mark.browser
def test_it_shows_the_leaderboard_in_its_own_theme(address: str, browser: Browser) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(address)
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(20, 24, 29)")  # .streamlit/config.toml
    page.close()


def test_a_pdf(studio: Installed, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    done = studio.run("assay", "report", "latest", "-o", file)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes().startswith(b"%PDF-1.7")
