"""Runs that the tests of reports share: they only read them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite


@pytest.fixture(scope="module")
def module_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace that $ASSAY_WORKSPACE names during a module's tests, unless a test has one of its own."""
    folder = tmp_path_factory.mktemp("workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def marked_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Twelve cases, three more left out, of two models: `poor` misses the threshold of ROUGE."""
    suite, names = replace(text_suite(12), left_out=3), ("rouge", "looping_detection")
    return finished(Workspace(tmp_path_factory.mktemp("marked")), suite, text_outputs(12), *names, parameters=MARKED)
