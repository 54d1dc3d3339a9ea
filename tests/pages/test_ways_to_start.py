"""The gate holds however the studio is started: by its command, by Streamlit's, or as a file of Python."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.pages.conftest import PROJECT
from tests.pages.team_scenes import team_file

PROVIDER = "http://127.0.0.1:9"  # nobody signs in here
WAYS = {
    "studio": ["-m", "metrics", "studio", "--port", "{port}", "--team", "{file}"],
    "streamlit": ["-m", "streamlit", "run", "app.py", "--server.port", "{port}", "--secrets.files", "{file}"],
    "file": ["app.py"],
}
ODD = ("//evil.example/", "/%5Cevil.example/", "/%09/evil.example/", "/%2F%2Fevil.example/", "/runs//evil.example/")
FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\na\r\n--x--\r\n'


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(way: str, port: int, file: Path) -> tuple[list[str], dict[str, str]]:
    """Return how a studio with a team is started, and its environment."""
    words = [word.format(port=port, file=file) for word in WAYS[way]]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "STREAMLIT_"))}
    if way == "file":  # takes no options
        home = file.parent / ".streamlit"
        home.mkdir()
        (home / "config.toml").write_text(f"[server]\nport = {port}\n")
        (home / "secrets.toml").write_text(file.read_text())
        own["HOME"] = own["USERPROFILE"] = str(file.parent)
    return [sys.executable, *words], own | {"ASSAY_WORKSPACE": str(file.parent / "workspace")}


@contextlib.contextmanager
def started(words: Sequence[str], environment: dict[str, str], port: int, folder: Path = PROJECT) -> Iterator[str]:
    """The address of a studio while it runs."""
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=9):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def open_session(address: str) -> Iterator[tuple[ClientConnection, str, dict[str, str]]]:
    """A guest's socket, as a browser opens it, with its session, and the headers that an upload has."""
    with urllib.request.urlopen(f"{address}/_stcore/health") as reply:
        cookie = reply.headers["set-cookie"].split(";")[0]
    token = cookie.split("=", 1)[1]
    place = address.replace("http", "ws") + "/_stcore/stream"
    protocols = ["streamlit", token]
    with connect(
        place, origin=address, subprotocols=protocols, additional_headers={"cookie": cookie}, max_size=None
    ) as line:  # fmt: skip
        ask = BackMsg()
        ask.rerun_script.query_string = ""
        line.send(ask.SerializeToString())
        said = ForwardMsg()
        while said.WhichOneof("type") != "new_session":
            said.ParseFromString(line.recv())
        yield line, said.new_session.initialize.session_id, {"cookie": cookie, "x-xsrftoken": token, "origin": address}


def status(address: str, method: str = "GET", data: bytes | None = None, **headers: str) -> int:
    """Return the status of an answer."""
    asked = urllib.request.Request(address, data, headers, method=method)
    try:
        with urllib.request.urlopen(asked) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: object) -> None:
        return None


def redirect(address: str) -> str:
    """Return where an answer leads a browser, which drops tabs and reads a backslash as a slash; "" for nowhere."""
    try:
        with urllib.request.build_opener(Stay).open(address):
            return ""
    except urllib.error.HTTPError as answer:
        return (answer.headers["location"] or "").replace("\\", "/").replace("\t", "")


@pytest.mark.attack(
    "network",
    "a studio with a team is started without its command, and a stranger uploads",
    "the gate holds there, too",
)
@pytest.mark.parametrize("way", WAYS)
def test_a_guest_gets_nothing_kept_and_no_connection_for_ever(way: str, tmp_path: Path) -> None:
    file, port = team_file(tmp_path, PROVIDER), free_port()
    with started(*command(way, port, file), port) as address:
        place = urlsplit(address)
        idle = socket.create_connection((place.hostname, place.port))
        idle.sendall(b"GET / HTTP/1.1\r\nhost: ")
        with open_session(address) as (line, session, headers):
            upload = f"{address}/_stcore/upload_file/{session}/f"
            form = {"content-type": "multipart/form-data; boundary=x"}
            assert status(upload, "PUT", FORM, **headers | form) == 403
            assert status(upload, "DELETE", **headers) == 403
            assert status(f"{address}/_stcore/metrics") == status(f"{address}/media/x") == 403
            assert status(f"{address}/_stcore/agent/openapi.json") == 405
            assert status(address) == 200
            for path in ODD:
                assert "evil" not in urlsplit(redirect(f"{address}{path}")).netloc
            with pytest.raises(ConnectionClosed):
                line.send(b"x" * (26 << 20))
                while True:
                    line.recv()
        assert idle.recv(1) == b"", "it is ended"
        idle.close()


@pytest.mark.attack(
    "package",
    "a cloned folder has Streamlit's settings, or secrets that become variables",
    "`studio` reads none of the folder that it is started in",
)
@pytest.mark.parametrize("settings", [
    "[server]\nenableXsrfProtection = false\nenableStaticServing = true\n", "[global]\ndevelopmentMode = true\n",
])  # fmt: skip
def test_settings_in_the_folder_are_not_the_studios(settings: str, tmp_path: Path) -> None:
    home, port = tmp_path / ".streamlit", free_port()
    home.mkdir()
    (home / "config.toml").write_text(settings)
    (home / "secrets.toml").write_text('ASSAY_TOKEN = "a token of the author"\n')
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "STREAMLIT_"))}
    words = [sys.executable, "-P", "-m", "metrics", "studio", "--port", str(port)]
    with started(words, own | {"PYTHONPATH": str(PROJECT)}, port, tmp_path) as address:
        assert status(f"{address}/?token=a%20token%20of%20the%20author") == 403
    with started([*words, "--no-token"], own | {"PYTHONPATH": str(PROJECT)}, port, tmp_path) as address:
        form = {"content-type": "multipart/form-data; boundary=x", "origin": address}
        assert status(f"{address}/_stcore/upload_file/s/f", "PUT", FORM, **form) == 403, "Streamlit asks for its token"


@pytest.mark.attack("network", "a studio is started with a secret that everybody knows", "it does not start")
@pytest.mark.parametrize("way", WAYS)
def test_no_studio_starts_with_a_secret_that_could_be_guessed(way: str, tmp_path: Path) -> None:
    file, port = team_file(tmp_path, PROVIDER, cookie_secret="c" * 40), free_port()
    words, environment = command(way, port, file)
    ended = subprocess.run(words, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode != 0
    assert "only 1 different characters" in ended.stderr + ended.stdout
    assert "openssl rand -hex 32" in ended.stderr + ended.stdout
    assert "cccc" not in ended.stderr + ended.stdout
