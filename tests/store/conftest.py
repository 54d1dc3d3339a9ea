"""A sealed run that the tests of stored files share: each test has a copy that it may damage."""

import shutil
from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite


@pytest.fixture(scope="session")
def sealed_run(tmp_path_factory):
    """Two models on six texts by ROUGE, which has a threshold, and BLEU."""
    workspace = Workspace(tmp_path_factory.mktemp("sealed"))
    return finished(workspace, text_suite(), text_outputs(), "rouge", "bleu", parameters=MARKED)


def copy_of(run: Run, folder: Path) -> Run:
    """Return a copy of a run, with all that its workspace has."""
    shutil.copytree(run.workspace.path, folder, dirs_exist_ok=True)
    return Workspace(folder).run(run.id)


@pytest.fixture
def run(sealed_run, workspace):
    """A copy of the sealed run, alone in the test's workspace."""
    return copy_of(sealed_run, workspace)
