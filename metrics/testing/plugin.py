"""The pytest plugin: fixtures that load a suite and evaluate outputs on it, each content once a session.

Everything heavy is imported inside the fixtures: pytest loads the plugin in every project where Assay is installed.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from metrics.core.suite import Suite, Task
    from metrics.library.run import Run

MARKER = "assay_suite"
Evaluate = Callable[..., "Run"]
_SUITES = pytest.StashKey[dict[tuple[str, str | None], "Suite"]]()
_RUNS = pytest.StashKey[dict[str, "Run"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --assay-suite and --assay-workspace, and the settings of the same names."""
    group = parser.getgroup("assay", "evaluation of models with Assay")
    group.addoption("--assay-suite", metavar="FILE", help="the suite of the fixture assay_suite")
    group.addoption("--assay-workspace", metavar="DIR", help="the folder that keeps the runs of assay_evaluate")
    parser.addini("assay_suite", "the suite of the fixture assay_suite, relative to this file", type="string")
    parser.addini("assay_workspace", "the folder that keeps the runs of assay_evaluate", type="string")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", f"{MARKER}(file, task=None): the suite of the fixture assay_suite, beside the test"
    )
    config.stash[_SUITES], config.stash[_RUNS] = {}, {}


@pytest.fixture
def assay_suite(request: pytest.FixtureRequest) -> "Suite":
    """The suite: of the marker `assay_suite(file)`, else of --assay-suite, else of the setting `assay_suite`.

    The marker's file is relative to the test's folder, the option's to the current one, the setting's to the
    project's. A file is read once a session.
    """
    from metrics.core.files import sha256_of
    from metrics.ingest import read_suite

    file, task = _suite_file(request)
    if file.is_dir():
        return read_suite(file, task=task)
    suites = request.config.stash[_SUITES]
    key = f"{file}:{sha256_of(file)}" if file.is_file() else str(file), task
    if key not in suites:
        suites[key] = read_suite(file, task=task)
    return suites[key]


@pytest.fixture
def assay_evaluate(request: pytest.FixtureRequest) -> Evaluate:
    """A function `(outputs, evaluators=None, *, suite=None, **settings)` that returns the finished run.

    suite: a Suite or a file; None: that of the fixture assay_suite. The rest is as for metrics.evaluate. Equal inputs
    and settings give the same run within a session; targets and settings that cannot be written as JSON are evaluated
    each time.
    """

    def assay_evaluate(outputs: Any = None, evaluators: Any = None, *, suite: Any = None, **settings: Any) -> "Run":
        from metrics.library.evaluate import evaluate

        suite = request.getfixturevalue("assay_suite") if suite is None else suite
        settings.setdefault("workspace", _setting(request, "assay_workspace"))
        runs = request.config.stash[_RUNS]
        key = _content(suite, outputs, evaluators, settings)
        if key is None or key not in runs:
            run = evaluate(suite, outputs, evaluators, **settings)
            if key is None:
                return run
            runs[key] = run
        return runs[key]

    return assay_evaluate


def _suite_file(request: pytest.FixtureRequest) -> "tuple[Path, Task | None]":
    from metrics.core.errors import one_of
    from metrics.core.suite import TASKS

    marker = request.node.get_closest_marker(MARKER)
    if marker is not None:
        if len(marker.args) != 1 or set(marker.kwargs) - {"task"}:
            raise pytest.UsageError(f"@pytest.mark.{MARKER} takes one file, and task=… where columns do not show it")
        task = marker.kwargs.get("task")
        if task is not None and task not in TASKS:
            raise pytest.UsageError(f"@pytest.mark.{MARKER}: found task {task!r}; expected {one_of(str(task), TASKS)}")
        return request.path.parent / marker.args[0], task
    found = _setting(request, MARKER)
    if found is None:
        raise pytest.UsageError(
            f"no suite for {request.node.nodeid}: mark the test with @pytest.mark.{MARKER}('suite.csv'), give "
            "--assay-suite FILE, or set assay_suite in the configuration of pytest"
        )
    return found, None


def _setting(request: pytest.FixtureRequest, name: str) -> Path | None:
    """Return the path that an option or the setting of the same name gives; None without either."""
    config = request.config
    if option := config.getoption(name):
        return config.invocation_params.dir / str(option)
    folder = config.rootpath if config.inipath is None else config.inipath.parent
    value = str(config.getini(name))
    return folder / value if value else None


def _content(suite: Any, outputs: Any, evaluators: Any, settings: dict[str, Any]) -> str | None:
    """Return what tells equal evaluations; None where that cannot be told."""
    from metrics.core.files import sha256_of
    from metrics.core.suite import Outputs, Suite

    def told(value: Any) -> Any:
        if isinstance(value, Suite | Outputs):
            return value.fingerprint
        if isinstance(value, str | Path) and Path(value).is_file():
            return str(value), sha256_of(Path(value))
        if isinstance(value, list | tuple):
            return [told(each) for each in value]
        raise TypeError

    try:
        own = {name: str(value) if isinstance(value, Path) else value for name, value in settings.items()}
        return json.dumps([told(suite), told(outputs), evaluators, own], sort_keys=True)
    except TypeError:
        return None
