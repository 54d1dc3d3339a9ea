"""Runs that tests share and only read."""

import pytest

from metrics.store import Run, Workspace
from tests.pages.page_scenes import objects_run


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace for the runs that the tests of a module share."""
    return Workspace(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four pictures: `keen` finds a cat (.9) and a dog (.6) in each and makes up a dog (.3); `shy` the cat alone."""
    return objects_run(tmp_path_factory.mktemp("pictures"))
