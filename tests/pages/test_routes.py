"""Every endpoint of the server: who reaches it, by role, method and size; and what sockets and uploads may hold."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from components.data import visitors
from components.server import sockets, uploads
from components.server.routes import ROWS, SOCKET, row_of
from components.server.sockets import Sockets
from components.server.uploads import Uploads
from metrics.store.team import AuditLog
from metrics.store.team_file import Team
from tests.pages.gate_scenes import HOST, LOCKED, OPEN, access, ask_gate

SECRET = "q8Zp3vKxLw5mRd7tYb2NcHf9sGjUeAkX"
TEAM = Team(roles={"readers": "viewer", "makers": "editor", "owners": "admin"})
VISITORS = {"guest": None, "stranger": "elsewhere", "viewer": "readers", "editor": "makers", "admin": "owners"}
RISING = [*VISITORS]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", SOCKET)
OFF = "off"
# Streamlit's paths: an address of each, and the least visitor that each method lets in; all others let nobody in
EXPECTED: dict[str, tuple[str, dict[str, str]]] = {
    "/_stcore/health": ("/_stcore/health", {"GET": "guest", "HEAD": "guest"}),
    "/_stcore/metrics": ("/_stcore/metrics", {"GET": "admin", "HEAD": "admin"}),
    "/_stcore/host-config": ("/_stcore/host-config", {"GET": "guest", "HEAD": "guest"}),
    "/media/{file_id:path}": ("/media/3f/x.png", {"GET": "viewer", "HEAD": "viewer"}),
    "/_stcore/upload_file/{session_id}/{file_id}": ("/_stcore/upload_file/s/f", {"PUT": "editor", "DELETE": "editor"}),
    "/component/{path:path}": ("/component/x/index.html", {"GET": "guest", "HEAD": "guest"}),
    "/_stcore/bidi-components/{path:path}": ("/_stcore/bidi-components/x/y.js", {"GET": "guest", "HEAD": "guest"}),
    "/_stcore/stream": ("/_stcore/stream", {SOCKET: "guest"}),
    "/auth/login": ("/auth/login", {"GET": "guest", "HEAD": "guest"}),
    "/auth/logout": ("/auth/logout", {"GET": "guest", "HEAD": "guest"}),
    "/oauth2callback": ("/oauth2callback", {"GET": "guest", "HEAD": "guest"}),
    "/_stcore/agent/interact": ("/_stcore/agent/interact", {}),
    "/_stcore/agent/openapi.json": ("/_stcore/agent/openapi.json", {}),
    "/_stcore/agent/mcp": ("/_stcore/agent/mcp", {}),
    "/app/static/{path:path}": ("/app/static/x", {}),
    "/_stcore/script-health-check": ("/_stcore/script-health-check", {}),
    "": ("/runs", {"GET": "guest", "HEAD": "guest"}),
}
NONE_OF_STREAMLIT = ("/_stcore/x", "/_stcore/", "/_stcore/upload_file/s", "/_stcore/upload_file/s/f/g", "/app/static/")
ODD = (
    "//media/x",
    "/media//x",
    "/_stcore//metrics",
    "/./_stcore/metrics",
    "/runs/_stcore/metrics",
    "/%5fstcore/metrics",
)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    visitors._note_once.clear()  # type: ignore[attr-defined]
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: SECRET)


def signed(text: str, secret: str = SECRET) -> str:
    """Return what the cookie of a sign-in says, as Streamlit signs it."""
    return create_signed_value(secret, USER_COOKIE_NAME, text).decode()


def cookie_of(group: str | None, signed_with: str = SECRET, **claims: Any) -> dict[str, str]:
    """Return the cookie of somebody who has signed in as a member of a group; none for a guest."""
    if group is None:
        return {}
    said = {"is_logged_in": True, "iat": time.time(), "sub": group, "groups": [group]} | claims
    return {
        "cookie": f"{USER_COOKIE_NAME}={create_signed_value(signed_with, USER_COOKIE_NAME, json.dumps(said)).decode()}"
    }


def lets_in(visitor: str, method: str, path: str, **headers: str) -> bool:
    """Return whether the gate of a team hands a visitor's request on."""
    ws = "WS" if method == SOCKET else method
    return ask_gate(OPEN, path, ws, team=TEAM, **cookie_of(VISITORS[visitor]) | headers).status == "in"


def test_every_route_of_streamlit_is_expected_and_has_a_row() -> None:
    """Also those that a setting switches on: a new version's endpoint is closed until somebody has a row for it."""
    switches = ("server.enableStaticServing", "server.enableAgentApi", "server.scriptHealthCheckEnabled")
    before = {name: st.get_option(name) for name in switches}
    try:
        for name in switches:
            st.config.set_option(name, True)
        routes = {route.path for route in create_streamlit_routes(MagicMock())}  # type: ignore[attr-defined]
    finally:
        for name, value in before.items():
            st.config.set_option(name, value)
    assert routes == set(EXPECTED)
    rows = {row.path for row in ROWS}
    assert rows - routes == {"/_stcore/{path:path}", "/{path:path}"}, "what Streamlit does not have"
    for path, (address, methods) in EXPECTED.items():
        for method in methods:
            row = row_of(address, method)
            assert row is not None
            assert row.path == (path or "/{path:path}")


@pytest.mark.attack(
    "browser", "somebody who has not signed in, or may only read, asks an endpoint past the pages", "each has its role"
)
@pytest.mark.parametrize("visitor", RISING)
@pytest.mark.parametrize("path", EXPECTED)
def test_who_reaches_an_endpoint(path: str, visitor: str) -> None:
    address, least = EXPECTED[path]
    for method in METHODS:
        allowed = method in least and RISING.index(visitor) >= RISING.index(least[method])
        assert lets_in(visitor, method, address) is allowed, method


@pytest.mark.parametrize("path", NONE_OF_STREAMLIT)
def test_what_streamlit_does_not_have_is_not_asked_for(path: str) -> None:
    assert not any(lets_in("admin", method, path) for method in METHODS)


@pytest.mark.parametrize("path", ODD)
def test_an_odd_spelling_reaches_nothing_but_the_page(path: str) -> None:
    """Streamlit looks for a path as it stands: it has these neither."""
    assert not any(lets_in("admin", method, path) for method in METHODS if method not in ("GET", "HEAD"))
    assert (row := row_of(path, "GET")) is None or row.path in ("/{path:path}", "/media/{file_id:path}")


def test_a_base_path_is_part_of_every_address() -> None:
    before = st.get_option("server.baseUrlPath")
    try:
        st.config.set_option("server.baseUrlPath", "lab/assay")
        assert not lets_in("viewer", "GET", "/lab/assay/_stcore/metrics")
        assert lets_in("admin", "GET", "/lab/assay/_stcore/metrics")
        assert not lets_in("guest", "GET", "/lab/assay/media/x")
        assert lets_in("guest", SOCKET, "/lab/assay/_stcore/stream")
    finally:
        st.config.set_option("server.baseUrlPath", before)


@pytest.mark.attack("browser", "a cookie that is forged, too old, or of another studio", "it is no sign-in")
@pytest.mark.parametrize("cookie", [
    pytest.param(cookie_of("owners", signed_with="another secret"), id="another secret"),
    pytest.param(cookie_of("owners", iat=0), id="too old"), pytest.param(cookie_of("owners", iat="now"), id="no time"),
    pytest.param(cookie_of("owners", is_logged_in=False), id="signed out"),
    pytest.param(cookie_of("owners", is_logged_in="yes"), id="no flag"),
    pytest.param(cookie_of("owners", groups={"owners": 1}), id="no list"),
    pytest.param({"cookie": f"{USER_COOKIE_NAME}={signed('[]')}"}, id="list"),
    pytest.param({"cookie": f"{USER_COOKIE_NAME}=chunks-2"}, id="no chunks"),
    pytest.param({"cookie": f"{USER_COOKIE_NAME}="}, id="empty"),
])  # fmt: skip
def test_a_cookie_that_is_no_sign_in(cookie: dict[str, str]) -> None:
    assert ask_gate(OPEN, "/media/x", team=TEAM, **cookie_of("owners")).status == "in"
    assert ask_gate(OPEN, "/media/x", team=TEAM, **cookie).status == 403


def test_the_answer_says_which_role_it_takes() -> None:
    assert ask_gate(OPEN, "/_stcore/metrics", team=TEAM).text == "This takes the role admin: sign in first\n"
    told = ask_gate(OPEN, "/_stcore/metrics", team=TEAM, **cookie_of("readers")).text
    assert told == "This takes the role admin: yours is viewer\n"


def test_without_a_team_the_token_lets_in_everywhere_but_where_nobody_is() -> None:
    own = {"cookie": f"assay-8501={LOCKED.pass_}"}
    for address, methods in EXPECTED.values():
        for method in METHODS:
            ws = "WS" if method == SOCKET else method
            assert (ask_gate(LOCKED, address, ws, **own).status == "in") is (method in methods)
            assert (ask_gate(LOCKED, address, ws).status == "in") is (
                address == "/_stcore/health" and method in methods
            )


UPLOAD = "/_stcore/upload_file/s/f"
SIZE = st.get_option("server.maxUploadSize") << 20


@pytest.mark.attack(
    "browser", "content without end, or without a length, is sent", "an upload says its length, no other has any"
)
@pytest.mark.parametrize(("method", "path", "headers", "status"), [
    ("PUT", UPLOAD, {"content_length": "5"}, "in"),
    ("PUT", UPLOAD, {"content_length": str(SIZE + (2 << 20))}, 413),
    ("PUT", UPLOAD, {"content_length": "-5"}, 411), ("PUT", UPLOAD, {"content_length": "5x"}, 411),
    ("PUT", UPLOAD, {"transfer_encoding": "chunked"}, 411),
    ("DELETE", UPLOAD, {"content_length": "5"}, 413), ("GET", "/", {"content_length": "5"}, 413),
    ("GET", "/", {"transfer_encoding": "chunked"}, 411), ("GET", "/media/x", {"content_length": "9" * 15}, 413),
    ("PUT", UPLOAD, {"content_length": "9" * 5_000}, 411),
    ("GET", "/", {"content_length": "0"}, "in"),
])  # fmt: skip
def test_what_content_a_request_may_have(method: str, path: str, headers: dict[str, str], status: int | str) -> None:
    assert ask_gate(OPEN, path, method, **headers).status == status
    assert ask_gate(OPEN, path, method, team=TEAM, **cookie_of("makers") | headers).status == status


class Server:
    """What Streamlit keeps of uploads, and which sessions are connected."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/x")
        self.live = {"a", "b"}

    def is_active_session(self, session: str) -> bool:
        return session in self.live

    def add(self, session: str, file: str, size: int) -> None:
        self.uploaded_file_mgr.add_file(session, UploadedFileRec(file, "x.csv", "text/csv", b"x" * size))

    def list_kept(self) -> set[tuple[str, str]]:
        return {(session, file) for session, files in self.uploaded_file_mgr.file_storage.items() for file in files}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose uploads may hold 100 bytes of a visitor and 150 in all."""
    found = Server()
    monkeypatch.setattr(uploads.runtime, "exists", lambda: True)
    monkeypatch.setattr(uploads.runtime, "get_instance", lambda: found)
    monkeypatch.setattr(uploads, "MOST_OF_ONE", 100)
    monkeypatch.setattr(uploads, "MOST_IN_ALL", 150)
    monkeypatch.setattr(uploads, "MOST_FILES", 3)
    return found


@pytest.mark.attack("browser", "uploads fill the memory", "they are bounded by file, by visitor and in all")
def test_uploads_are_bounded_by_visitor_and_in_all(server: Server) -> None:
    own = Uploads()
    with own.count_arriving("vera", "a", 60):
        assert "one person's" in own.refusal("vera", 41)
        assert own.refusal("vera", 40) == own.refusal("edith", 90) == ""
        assert "of all" in own.refusal("edith", 91)
    assert own.refusal("vera", 100) == ""
    with own.count_arriving("vera", "a", 60):
        server.add("a", "1", 60)
    assert "one person's" in own.refusal("vera", 41)
    assert "of all" in own.refusal("edith", 91)
    server.add("a", "2", 0)
    server.add("a", "3", 0)
    assert "one person's" in own.refusal("vera", 1)
    assert own.refusal("edith", 1) == ""


@pytest.mark.attack(
    "browser", "uploads stay in memory after their session", "they are dropped with it, and after minutes"
)
def test_uploads_are_dropped(server: Server) -> None:
    own = Uploads()
    for session in ("a", "b", "gone"):
        with own.count_arriving(session, session, 1):
            server.add(session, "1", 1)
    own.drop_stale(1_000.0)
    assert server.list_kept() == {("a", "1"), ("b", "1")}
    server.add("b", "2", 1)
    own.drop_stale(1_001.0)
    server.live.remove("a")
    own.drop_stale(1_000.0 + uploads.KEPT)
    assert server.list_kept() == {("b", "2")}
    own.drop_stale(1_001.0 + uploads.KEPT)
    assert server.list_kept() == set()
    assert server.uploaded_file_mgr._total_bytes == 0


class Line:
    """A socket's way to its browser."""

    def __init__(self) -> None:
        self.codes: list[int] = []

    async def send(self, message: Any) -> None:
        self.codes += [message["code"]] if "code" in message else []


async def open_sockets(
    own: Sockets, who: str | None, number: int, stop: asyncio.Event
) -> tuple[list[Line], list[bool]]:
    """Open sockets one after another, which stay open until `stop`; return their lines, and which found room."""
    lines, room = [Line() for _ in range(number)], list[bool]()

    async def hold(line: Line) -> None:
        async with own.hold_open(who, line.send) as socket:
            room.append(socket is not None)
            if socket is not None:
                await stop.wait()
                await socket.send({"type": "websocket.send"})

    tasks = [asyncio.create_task(hold(line)) for line in lines]
    stop.tasks = [*getattr(stop, "tasks", []), *tasks]  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return lines, room


@pytest.mark.attack(
    "browser", "sockets without end are opened, each with a session", "they are counted by visitor and in all"
)
def test_sockets_are_bounded_by_visitor_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_OF_ONE", 3)
    monkeypatch.setattr(sockets, "MOST_IN_ALL", 5)

    async def scene() -> None:
        own, stop = Sockets(), asyncio.Event()
        guests, room = await open_sockets(own, None, 4, stop)
        assert room == [True] * 4, "a guest keeps no other out"
        assert [line.codes for line in guests] == [[1013], [], [], []], "the oldest makes room"
        _, room = await open_sockets(own, "vera", 4, stop)
        assert room == [True, True, True, False]
        assert [line.codes for line in guests] == [[1013], [1013], [], []]
        _, room = await open_sockets(own, "edith", 3, stop)
        assert room == [True, True, False], "no guest is left to make room"
        stop.set()
        await asyncio.gather(*stop.tasks)  # type: ignore[attr-defined]
        _, room = await open_sockets(own, "vera", 3, stop)
        assert room == [True] * 3, "what is closed counts no longer"
        await asyncio.gather(*stop.tasks)  # type: ignore[attr-defined]

    asyncio.run(scene())


def test_the_gate_refuses_a_socket_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask_gate(access(token=""), "/_stcore/stream", "WS", host=HOST).status == "in"
    monkeypatch.setattr(sockets, "MOST_OF_ONE", 0)
    assert ask_gate(access(token=""), "/_stcore/stream", "WS", host=HOST).status == "websocket.close"


@pytest.mark.attack(
    "browser", "a viewer tries endpoints of admins, again and again", "the audit log has it once a minute"
)
def test_a_refusal_to_somebody_who_is_signed_in_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = time.time()
    monkeypatch.setattr("components.data.visitors.time.time", lambda: now)
    for _ in range(3):
        assert ask_gate(OPEN, "/_stcore/metrics", team=TEAM, **cookie_of("readers")).status == 403
    for file in "ab":
        assert ask_gate(OPEN, f"/_stcore/upload_file/s/{file}", "PUT", team=TEAM, **cookie_of("readers")).status == 403
    assert ask_gate(OPEN, "/_stcore/metrics", team=TEAM).status == 403, "a guest, of whom there can be any number"
    assert ask_gate(OPEN, "/_stcore/metrics", team=TEAM, **cookie_of("owners")).status == "in"
    assert [line[2:] for line in reversed(AuditLog(tmp_path).last(9))] == [
        ("viewer", "", "GET /_stcore/metrics", "takes the role admin", "refused"),
        ("viewer", "", "PUT /_stcore/upload_file/{session_id}/{file_id}", "takes the role editor", "refused"),
    ]
