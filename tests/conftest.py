"""What the tests share: the optional data beside the project, a scratch workspace, a browser."""

import importlib
import os
import re
import site
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import chromium as browsers
from tests.judge.server import JudgeServer

if TYPE_CHECKING:
    from metrics.store import Run
    from metrics.store.threshold_profiles import Calibrations


def own_home() -> "tempfile.TemporaryDirectory[str] | None":
    """Give the tests a home of their own; what the user has installed, chosen or cached must not decide a test.

    None in a process that a test process started: it has the home of that one. What the tests themselves need of the
    user's home (packages of `pip install --user`, Playwright's browsers, what uv has downloaded, compiled loops) stays
    where it is.
    """
    if os.environ.get("HOME") and os.environ.get("HOME") == os.environ.get("ASSAY_TEST_HOME"):
        return None
    caches = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(caches / "ms-playwright"))
    os.environ.setdefault("UV_CACHE_DIR", str(caches / "uv"))
    os.environ.setdefault("NUMBA_CACHE_DIR", str(caches / "assay" / "compiled"))
    os.environ.setdefault("PYTHONUSERBASE", site.getuserbase())
    for name in [*os.environ]:
        if re.match(r"ASSAY_(?!CHROMIUM)|XDG_(?!RUNTIME_DIR)|HF_|STREAMLIT_|LITELLM_|MPLCONFIGDIR", name) or re.search(
            r"_API_KEY$|_API_BASE$|_BASE_URL$", name
        ):
            del os.environ[name]
    home = tempfile.TemporaryDirectory(prefix="assay-tests-")
    workspace = str(Path(home.name) / "workspace")
    os.environ.update(HOME=home.name, USERPROFILE=home.name, ASSAY_TEST_HOME=home.name, ASSAY_WORKSPACE=workspace)
    return home


HOME = own_home()  # before any test module reads the environment; removed when this process ends
# several test processes share the cores: torch's threads would spin against each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
# a busy machine is no defect; `make test-long` tries more examples
settings.register_profile("short", deadline=None, max_examples=15)
settings.register_profile("long", deadline=None, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))
PROJECT = Path(__file__).resolve().parents[1]
MAIN = sys.modules["__main__"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", metavar="DIR", help="keep screenshots of the walks of the browser tests in DIR")


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """A page run by AppTest leaves itself behind as __main__, which the next test's worker processes would import.

    It is the same main for all: a fixture of a module may open a page before this one is set up.
    """
    sys.modules["__main__"] = MAIN
    yield
    sys.modules["__main__"] = MAIN


@pytest.fixture(autouse=True)
def own_plugins() -> Iterator[None]:
    """What a test registers as a plugin, or reads about one that is missing, is unknown to the next one."""
    from metrics.core import registry

    tables = [registry._added, registry._stand_ins, registry._refused]
    kept = [dict(table) for table in tables]
    yield
    for table, before in zip(tables, kept, strict=True):
        table.clear()
        table.update(before)


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root folder."""
    return PROJECT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data beside the project that is never a part of it; the test is skipped where it is absent."""
    folder = PROJECT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("needs the data in ../shared, which is not here")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace folder, which $ASSAY_WORKSPACE names during the test."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    return folder


@pytest.fixture
def units_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are worked on in this process, for tests that are about something else: others take a second to start."""
    from metrics import engine
    from tests.engine.engine_scenes import AtOnce

    def start(run: "Run") -> SimpleNamespace:
        engine.execute(run, AtOnce)
        return SimpleNamespace(wait=lambda: 0)

    monkeypatch.setattr(importlib.import_module("metrics.engine.execute"), "WorkerPool", lambda *_: AtOnce())
    monkeypatch.setattr(engine, "start", start)


@pytest.fixture
def kept_calibrations(workspace: Path) -> "Calibrations":
    """The calibrations of the test's workspace, where labels set them."""
    from metrics.store.threshold_profiles import Calibrations

    return Calibrations(workspace)


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the calibrations that come with Assay, none is in force."""
    from metrics.calibrations import calibrated_thresholds

    monkeypatch.setattr(calibrated_thresholds, "shipped", tuple)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium that starts; the test is skipped without one (`make chromium` gets one)."""
    path = browsers.find()
    if path is None:
        pytest.skip("no Chromium: run `make chromium`, or name one in ASSAY_CHROMIUM")
    return path


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[object]:
    """A headless Playwright browser, one a module: its event loop would be in the way of asyncio.run elsewhere."""
    with browsers.running(chromium) as running:
        yield running


@pytest.fixture
def judge_server() -> Iterator[JudgeServer]:
    """A scripted judge behind an OpenAI-compatible address; see tests/judge/server.py."""
    with JudgeServer() as server:
        yield server
