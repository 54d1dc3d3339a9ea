"""Images that a test takes in without naming a folder for them go under pytest's own temporary folder."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _temporary_media(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("media"))
    yield
    tempfile.tempdir = before
