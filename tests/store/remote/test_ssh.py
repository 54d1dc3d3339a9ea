"""Runs on another machine by SSH: a real SSH server on loopback, whose key must be known."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.core.errors import MissingResource
from metrics.store import Workspace
from metrics.store.run_check import verify
from tests.store.remote.conftest import command, rival

SERVER = """
import asyncio, sys, asyncssh
async def listen(home):
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    user.write_private_key(home + "/.ssh/id_ed25519")
    user.write_public_key(home + "/authorized")
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_host_keys=[host], authorized_client_keys=home + "/authorized", sftp_factory=True
    )
    print(server.get_port(), host.export_public_key().decode(), flush=True)
    await asyncio.Event().wait()
asyncio.run(listen(sys.argv[1]))
"""


@pytest.fixture
def ssh(tmp_path):
    """A URL on an SSH server, and the line that makes its key known."""
    pytest.importorskip("sshfs", reason="needs the package sshfs")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(tmp_path / "home")], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port, key = server.stdout.readline().split(maxsplit=1)
    yield f"ssh://me@127.0.0.1:{port}{tmp_path}/remote", f"[127.0.0.1]:{port} {key}"
    server.kill()
    server.communicate()


def test_a_run_goes_to_another_machine_and_back(ssh, copied_run, tmp_path):
    url, known = ssh

    def done(*arguments: str, workspace: Path) -> tuple[int, str, str]:
        process = command(*arguments, workspace=workspace, HOME=str(tmp_path / "home"))
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    code, _, err = done("push", copied_run.id, url, workspace=copied_run.workspace.path)
    assert (code, err) == (2, f"{url}: the server's key is not in ~/.ssh/known_hosts; connect by `ssh` once\n")
    (tmp_path / "home" / ".ssh" / "known_hosts").write_text(known)
    assert done("push", copied_run.id, url, workspace=copied_run.workspace.path)[0] == 0
    other = rival(copied_run, tmp_path / "rival")
    code, _, err = done("push", other.id, url, workspace=tmp_path / "rival")
    assert (code, "has another run" in err) == (2, True)
    assert done("pull", url, workspace=tmp_path / "other") == (0, f"{copied_run.id}\n", "")
    verify(Workspace(tmp_path / "other").run(copied_run.id))


def test_without_the_package_it_is_named(copied_run, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        MissingResource, match=re.escape("ssh://host/x needs assay[remote]: pip install 'assay[remote]'")
    ):
        Workspace().push(copied_run, "ssh://host/x")
