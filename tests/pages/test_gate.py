"""The gate: which requests reach the studio, by host, origin and token."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from components.server import gate
from components.server.access import Access, access_of, address_of
from tests.pages.gate_scenes import COOKIE, HOST, LOCKED, OPEN, QUOTED, TOKEN, access, ask_gate

ROUTES = ("/", "/runs", "/static/js/index.js", "/media/x", "/component/x", "/_stcore/host-config", "/_stcore/metrics")
UPLOAD = "/_stcore/upload_file/a/b"
STREAM = "/_stcore/stream"


@pytest.mark.attack(
    "network", "a page's name is pointed at this machine (DNS rebinding)", "only own host names are answered"
)
@pytest.mark.parametrize("path", [*ROUTES, UPLOAD, STREAM, "/_stcore/health"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "WS"])
def test_no_route_answers_under_a_foreign_name(method: str, path: str) -> None:
    told = {"host": "evil.example:8501", "origin": "http://evil.example:8501", "cookie": COOKIE}
    for locked in (OPEN, LOCKED):
        answer = ask_gate(locked, path, method, **told)
        assert answer.status == ("websocket.close" if method == "WS" else 403)
        if method != "WS":
            assert answer.text == (
                "This studio is not evil.example:8501. If it is, start it with --allow-host evil.example\n"
            )


@pytest.mark.parametrize(
    ("host", "let_in"),
    [
        pytest.param("127.0.0.1:8501", True, id="loopback"),
        pytest.param("localhost", True, id="localhost, no port"),
        pytest.param("LOCALHOST.:80", True, id="case and final dot"),
        pytest.param("[::1]:8501", True, id="IPv6"),
        pytest.param("lab.example", True, id="allowed"),
        pytest.param("lab.example:443", True, id="allowed, with a port"),
        pytest.param("10.0.0.7:8501", True, id="the address that the connection came in on"),
        pytest.param("assay.example.com", True, id="where the team signs in"),
        pytest.param("10.0.0.8:8501", False, id="another address"),
        pytest.param("a.lab.example", False, id="below an allowed one"),
        pytest.param("lab.example.evil.example", False, id="begins as an allowed one"),
        pytest.param("evil.example#@localhost", False, id="fragment"),
        pytest.param("evil@localhost", False, id="user"),
        pytest.param("localhost/evil.example", False, id="path"),
        pytest.param("localhost:evil", False, id="port that is none"),
        pytest.param("0.0.0.0:8501", False, id="every address"),
        pytest.param("", False, id="none"),
        pytest.param("[::1", False, id="broken"),
    ],
)
def test_the_names_of_a_studio(host: str, let_in: bool) -> None:
    own = access("0.0.0.0", "lab.example, LAB2.example", redirect_uri="https://assay.example.com:{port}/oauth2callback")
    assert (ask_gate(own, server="10.0.0.7", host=host).status == "in") is let_in


@pytest.mark.parametrize("hosts", [(), (HOST, "evil.example"), ("evil.example", HOST)], ids=["none", "last", "first"])
def test_there_is_one_host(hosts: tuple[str, ...]) -> None:
    assert ask_gate(OPEN, hosts=hosts).status == 403


@pytest.mark.attack(
    "browser", "a page of another server on this machine opens the socket", "the origin has to be the studio"
)
@pytest.mark.parametrize(
    ("origin", "let_in"),
    [
        pytest.param(None, True, id="no browser"),
        pytest.param("http://127.0.0.1:8501", True, id="own"),
        pytest.param("https://lab.example", True, id="allowed name behind a proxy that renames"),
        pytest.param("http://127.0.0.1:9999", False, id="another port"),
        pytest.param("http://localhost:8501", False, id="another own name"),
        pytest.param("http://evil.example", False, id="another site"),
        pytest.param("null", False, id="sandboxed"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("WS", STREAM), ("PUT", UPLOAD), ("DELETE", UPLOAD)])
def test_the_origin_of_what_changes_something(method: str, path: str, origin: str | None, let_in: bool) -> None:
    headers = {} if origin is None else {"origin": origin}
    assert (ask_gate(access(token="", hosts="lab.example"), path, method, **headers).status == "in") is let_in


@pytest.mark.attack("network", "another user of the machine opens the studio", "nothing is answered without the token")
@pytest.mark.parametrize("path", [*ROUTES, UPLOAD])
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_nothing_is_answered_without_the_token(method: str, path: str) -> None:
    takes = ("PUT", "DELETE") if path == UPLOAD else ("GET", "HEAD")
    for cookie in ("", "assay-8501=", "assay-8501=x", f"assay-8501={TOKEN}", f"assay-9999={LOCKED.pass_}"):
        assert ask_gate(LOCKED, path, method, cookie=cookie).status == 403
    assert ask_gate(LOCKED, path, method, cookie=COOKIE).status == ("in" if method in takes else 405)


@pytest.mark.attack("browser", "a WebSocket is opened without the token", "the handshake is refused")
def test_no_socket_without_the_token() -> None:
    assert ask_gate(LOCKED, STREAM, "WS").status == "websocket.close"
    assert ask_gate(LOCKED, STREAM, "WS", query=f"token={QUOTED}").status == "websocket.close"
    assert ask_gate(LOCKED, STREAM, "WS", cookie=COOKIE).status == "in"


def test_health_is_told_without_a_token() -> None:
    assert ask_gate(LOCKED, "/_stcore/health").status == "in"
    assert ask_gate(LOCKED, "/_stcore/health/").status == 403


@pytest.mark.parametrize(
    ("path", "query", "clean"),
    [
        pytest.param("/", "", "/", id="start"),
        pytest.param("/cases", "run=a&model=b%20c&empty=", "/cases?run=a&model=b+c&empty=", id="deep link"),
        pytest.param("//evil.example/x", "", "/evil.example/x", id="no other server"),
        pytest.param("/\\evil.example", "", "/evil.example", id="nor by a backslash"),
    ],
)
def test_the_token_becomes_a_cookie_and_leaves_the_address(path: str, query: str, clean: str) -> None:
    answer = ask_gate(LOCKED, path, query="&".join(filter(None, [query, f"token={QUOTED}"])))
    assert (answer.status, answer.headers["location"]) == (303, clean)
    name, *flags = answer.headers["set-cookie"].split("; ")
    assert name == f"assay-8501={LOCKED.pass_}"
    assert set(flags) == {"HttpOnly", "Path=/", "SameSite=strict"}
    assert TOKEN not in str(answer)


@pytest.mark.parametrize(
    ("token", "status"),
    [
        pytest.param(TOKEN, 303, id="token"),
        pytest.param(f" {TOKEN}\n", 303, id="white space around it"),
        pytest.param(f"http://127.0.0.1:8501/?token={TOKEN}", 303, id="the whole address"),
        pytest.param("", 403, id="empty"),
        pytest.param("x", 403, id="wrong"),
        pytest.param(TOKEN[:-1], 403, id="a part of it"),
        pytest.param(TOKEN * 200, 403, id="too long"),
    ],
)
def test_the_form_takes_the_token(token: str, status: int) -> None:
    body = f"token={quote(token, safe='')}".encode()
    form = {"content_type": "application/x-www-form-urlencoded", "origin": f"http://{HOST}"}
    answer = ask_gate(LOCKED, "/runs", "POST", body=body, **form)
    assert answer.status == status
    assert ("Not the token of this studio" in answer.text) == (status == 403)
    assert ask_gate(LOCKED, "/runs", "POST", body=body, **form | {"origin": "http://evil.example"}).status == 403


def test_a_visitor_with_the_cookie_may_come_by_an_old_address() -> None:
    answer = ask_gate(LOCKED, "/runs", query="token=old", cookie=COOKIE)
    assert (answer.status, answer.headers["location"]) == (303, "/runs")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(("accept", "site", "page", "again"), [
    ("text/html,*/*", "none", True, False), ("text/html", "same-origin", True, False),
    ("text/html", "cross-site", True, True), ("*/*", "same-origin", False, False),
], ids=["typed", "reloaded", "a link on another site, which brings no cookie", "no page"])  # fmt: skip
def test_who_is_asked_for_the_token(accept: str, site: str, page: bool, again: bool) -> None:
    answer = ask_gate(LOCKED, accept=accept, sec_fetch_site=site)
    assert answer.status == 403
    assert ("<form" in answer.text) is page
    assert ('http-equiv="refresh"' in answer.text) is again
    assert page or answer.text.startswith("This takes the studio's token")


@pytest.mark.attack("browser", "the studio is drawn in a frame of another page", "frame-ancestors 'none'")
@pytest.mark.parametrize("access", [OPEN, LOCKED], ids=["page", "token's page"])
def test_the_headers_of_every_answer(access: Access) -> None:
    found = ask_gate(access).headers
    policy = {line.split()[0]: line.split()[1:] for line in found["content-security-policy"].split("; ")}
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["default-src"] == ["'none'"]
    assert policy["connect-src"] == ["'self'", f"ws://{HOST}", f"wss://{HOST}"]
    assert {"'unsafe-eval'", "'unsafe-inline'", "*", "http:", "https:", "data:"}.isdisjoint(policy["script-src"])
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "same-origin"
    assert found["cross-origin-resource-policy"] == "same-origin"


def test_each_start_makes_a_token_of_256_bits_and_prints_it() -> None:
    one, two = (access_of({}, "127.0.0.1", {}) for _ in range(2))
    assert one.token != two.token
    assert len(one.token) >= 43  # in base64
    assert address_of(one, "127.0.0.1", 8501) == f"http://127.0.0.1:8501/?token={one.token}"
    assert address_of(one, "::1", 8501).startswith("http://[::1]:8501/?token=")
    assert address_of(one, "0.0.0.0", 8501).startswith("http://127.0.0.1:8501/?token=")


def test_a_chosen_token_is_neither_printed_nor_handed_on() -> None:
    environment = {"ASSAY_TOKEN": TOKEN, "HOME": "/"}
    chosen = access_of(environment, "127.0.0.1", {})
    assert chosen.token == TOKEN
    assert environment == {"HOME": "/"}
    assert TOKEN not in address_of(chosen, "127.0.0.1", 8501)


@pytest.mark.parametrize("token", ["short", "a" * 40, "secret-of-our-lab", "my token of the lab", "1234567890123456"])
def test_a_chosen_token_that_could_be_guessed_is_refused(token: str) -> None:
    with pytest.raises(SystemExit, match=r"could be guessed .*openssl rand -hex 32") as refusal:
        access_of({"ASSAY_TOKEN": token}, "127.0.0.1", {})
    assert token not in str(refusal.value)


def test_a_team_signs_in_instead() -> None:
    team = access_of({}, "0.0.0.0", {"redirect_uri": "https://assay.example.com/oauth2callback"})
    assert team.token == ""
    assert ask_gate(team, host="assay.example.com").status == "in"


@pytest.mark.parametrize(
    ("status", "kind", "grows"),
    [
        pytest.param(200, "text/html; charset=utf-8", True, id="the-page"),
        pytest.param(206, "text/html", False, id="a-part"),
        pytest.param(200, "text/css", False, id="another-file"),
    ],
)
def test_the_page_that_streamlit_begins_with_is_dark_where_the_browser_is(status: int, kind: str, grows: bool) -> None:
    said: list[dict[str, Any]] = []
    page = b"<html><head><title>x</title></head></html>"

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    async def give() -> None:
        sent = gate._with_headers(send, HOST)
        length = (b"content-length", str(len(page)).encode())
        head = [(b"content-type", kind.encode()), length]
        await sent({"type": "http.response.start", "status": status, "headers": head})
        await sent({"type": "http.response.body", "body": page})

    asyncio.run(give())
    start, body = said
    assert (b"color-scheme" in body["body"]) == grows
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
