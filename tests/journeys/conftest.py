"""One studio and one browser for all journeys of a process; each journey begins at an empty workspace."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from metrics.suites.samples import samples
from tests.journeys.studio_walk import StudioWalk
from tests.pages.conftest import no_traceback, serving

__all__ = ["no_traceback"]


@pytest.fixture(scope="session")
def workspace_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the workspace that the studio serves."""
    return tmp_path_factory.mktemp("journeys")


@pytest.fixture(scope="session")
def studio_address(workspace_folder: Path) -> Iterator[str]:
    """Yield the address of the studio."""
    with serving(workspace_folder) as address:
        yield address


@pytest.fixture(scope="module")
def tabs(browser: Browser) -> Iterator[dict[str, Page]]:
    """Yield a tab of a light and of a dark browser, which keep what they have loaded."""
    contexts = {
        scheme: browser.new_context(
            viewport={"width": 1280, "height": 720}, color_scheme=scheme, reduced_motion="reduce"
        )
        for scheme in ("light", "dark")
    }
    for context in contexts.values():
        context.set_default_timeout(240_000)  # a busy machine is no defect
    yield {scheme: context.new_page() for scheme, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.fixture
def walk(
    request: pytest.FixtureRequest, tabs: dict[str, Page], studio_address: str, workspace_folder: Path, tmp_path: Path
) -> Iterator[StudioWalk]:
    """Yield a walk through the studio, whose workspace is empty; dark where the test is marked or parametrised so."""
    for path in workspace_folder.iterdir():
        if path.name != "samples.lock":  # held, so that no sample is computed
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (workspace_folder / "bin").mkdir()  # the samples are deleted ones, else each leaderboard looks for them again
    (workspace_folder / "bin" / "samples.json").write_text(json.dumps([sample.id for sample in samples()]))
    pictures = request.config.getoption("--pictures")
    name = request.node.name.removeprefix("test_")
    scheme = "dark" if getattr(request, "param", False) else "light"
    walked = StudioWalk(tabs[scheme], studio_address, tmp_path, Path(pictures) / name if pictures else None)
    yield walked
    walked.keep_picture("end")
    walked.page.goto("about:blank")  # ends the session, and what it polls
