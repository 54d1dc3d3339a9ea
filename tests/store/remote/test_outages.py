"""Servers, networks and writers that end in mid-push: the run is there whole or not at all; a second push ends it."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from metrics.core.errors import RemoteError
from metrics.store import Workspace
from metrics.store.remote.cloud import PIECE, CloudObjects
from metrics.store.remote.objects import opened
from metrics.store.remote.push import listing_of
from metrics.store.remote.transfer import AT_ONCE
from metrics.store.run_check import verify
from tests.store.remote.conftest import command, rival
from tests.store.remote.proxy import Proxy
from tests.store.remote.s3_server import S3Server

IMAGES = 2 * AT_ONCE  # so that some wait while others are sent


@pytest.fixture
def large(copied_run):
    """A run with images, one of them sent in parts."""
    for index in range(IMAGES):
        content = os.urandom(PIECE + 1 if index == 0 else 100_000)
        (copied_run.suite_folder / "media" / f"{index}.png").write_bytes(content)
    return copied_run


@pytest.fixture
def own_server(tmp_path_factory, running_server, monkeypatch):
    """A server that the test may kill."""
    server = S3Server(tmp_path_factory.mktemp("own"))
    server.start()
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    yield server
    server.kill()


def test_a_server_killed_in_mid_push(large, own_server, tmp_path, monkeypatch):
    url, told = "s3://team/x", []

    def kill(done: int, total: int) -> None:
        told.append(done)
        if len(told) == 1:
            own_server.kill()

    with pytest.raises(RemoteError, match=r"s3://team/x: team cannot be reached at 127\.0\.0\.1:"):
        Workspace().push(large, url, kill)
    own_server.start()
    other = Workspace(tmp_path / "other")
    assert other.pull(url) == []  # nobody sees a part of it
    sent: list[str] = []
    send = CloudObjects.send
    monkeypatch.setattr(CloudObjects, "send", lambda self, name, path: (sent.append(name), send(self, name, path))[1])
    assert Workspace().push(large, url)
    every = {file.object for file in listing_of(large)[0].files.values()}
    assert len(told) <= len(every) - len(sent)  # what was told as done is not sent again
    assert set(sent) < every
    assert other.pull(url) == [large.id]


def test_a_writer_killed_in_mid_push(large, server, s3, tmp_path):
    with Proxy(server.ports[0], bytes=PIECE // 2, holds=True) as proxy:
        pushing = command("push", large.id, s3, workspace=large.workspace.path, AWS_ENDPOINT_URL=proxy.endpoint)
        assert proxy.held.wait(120)
        pushing.kill()
        pushing.communicate()
    other = Workspace(tmp_path / "other")
    assert other.pull(s3) == []
    assert Workspace().push(large, s3)
    assert other.pull(s3) == [large.id]


def test_connections_that_break_off(large, server, s3, tmp_path, monkeypatch):
    with Proxy(server.ports[0], bytes=150_000, cuts=4) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        assert Workspace().push(large, s3)
        assert proxy.cuts == 0  # they were cut
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    assert Workspace(tmp_path / "other").pull(s3) == [large.id]


@pytest.mark.parametrize("place", ["s3", "file"])
def test_of_two_writers_with_different_runs_of_one_id_one_wins(place, copied_run, tmp_path, request):
    url = str(request.getfixturevalue("s3")) if place == "s3" else f"file://{tmp_path}/remote"
    runs = [copied_run, rival(copied_run, tmp_path / "rival")]
    writers = [command("push", run.id, url, workspace=run.workspace.path) for run in runs]
    ends = [writer.communicate(timeout=300) for writer in writers]
    codes = [writer.returncode for writer in writers]
    assert sorted(codes) == [0, 2], ends
    winner, loser = codes.index(0), codes.index(2)
    assert f"has another run {copied_run.id}, which was pushed first" in ends[loser][1]
    assert "Traceback" not in ends[loser][1]
    other = Workspace(tmp_path / "other")
    assert (other.pull(url), other.run(copied_run.id).name) == ([copied_run.id], runs[winner].name)
    verify(other.run(copied_run.id))
    assert runs[loser].name == ("rival" if loser else "first")  # the loser keeps its own


def test_two_writers_of_the_same_run_both_succeed(copied_run, s3, tmp_path, server):
    writers = [command("push", copied_run.id, s3, workspace=copied_run.workspace.path) for _ in range(2)]
    ends = [writer.communicate(timeout=300) for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], ends
    assert Workspace(tmp_path / "other").pull(s3) == [copied_run.id]


@pytest.mark.parametrize("place", ["s3", "file"])
def test_of_many_creations_at_once_one_succeeds(place, tmp_path, request):
    url = str(request.getfixturevalue("s3")) if place == "s3" else f"file://{tmp_path}/remote"
    writers, start = 8, Barrier(8)

    def create(index: int) -> bool:
        with opened(url) as objects:
            start.wait()
            return objects.create("runs/x.json", f"{index}".encode())

    with ThreadPoolExecutor(writers) as pool:
        copied_run = list(pool.map(create, range(writers)))
    assert copied_run.count(True) == 1
    with opened(url) as objects:
        assert objects.read("runs/x.json") == f"{copied_run.index(True)}".encode()
