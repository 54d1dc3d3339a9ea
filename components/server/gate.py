"""The gate before the studio: what it refuses reaches nothing of Streamlit, and every answer has its headers."""

import json
import re
import time
from base64 import b64encode
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from components.data.visitors import note_refusal
from components.server.access import Access, cookie_of, name_of
from components.server.connections import limit_time
from components.server.routes import READING, SOCKET, Row, row_of
from components.server.sockets import Sockets
from components.server.uploads import Uploads
from metrics.store.team import ROLES, NotAllowed, Visitor, visitor_of
from metrics.store.team_file import Team

FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # not no-referrer: forms would name no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Streamlit styles by elements that its scripts write, and loads the scripts of components from blobs that it has made
POLICY = (
    "default-src 'none'; script-src 'self' blob: {scripts}; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
    "img-src 'self' data: blob:; media-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "connect-src 'self' ws://{host} wss://{host}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FORM = "application/x-www-form-urlencoded"
COLOURS = b'<head><meta name="color-scheme" content="light dark" />'  # else a dark page begins with a white flash
LONGEST = 4096  # bytes of the form with the token
DIGITS = 15  # of the length of what a request holds
POLICY_VIOLATION = 1008
SHOWN = 80  # characters of what a request says
WHERE = (
    "The terminal in which the studio was started shows an address that ends in <code>?token=…</code>. Open that "
    "address, or paste it here. In a container it is in the log, or the token is what <code>ASSAY_TOKEN</code> was "
    "set to."
)
WRONG = '<p role="alert" id="why">Not the token of this studio. Each start makes a new one.</p>'
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{again}<title>Assay</title>
<style>
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#ffffff, #14181d);
  color: light-dark(#0b131b, #e8edf2); font: 14px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
main {{ width: min(32rem, 100vw - 4rem); border: 1px solid light-dark(#dfe4e9, #2b333c); border-radius: 6px;
  padding: 1.25rem 1.5rem 1.5rem; }}
h1 {{ font-size: 1.3rem; font-weight: 600; margin: 0 0 .5rem; }}
p {{ margin: 0 0 1rem; }}
code {{ font: .83rem ui-monospace, "SF Mono", Menlo, Consolas, monospace; }}
form {{ display: flex; gap: .5rem; }}
input, button {{ font: inherit; padding: .4rem .7rem; border: 1px solid light-dark(#7d8893, #6b7681);
  border-radius: 6px; background: light-dark(#ffffff, #1d232a); color: inherit; }}
::placeholder {{ color: inherit; opacity: .75; }}
input {{ flex: 1; min-width: 0; }}
button {{ border-color: transparent; background: light-dark(#0f6b78, #4fb9c5); color: light-dark(#ffffff, #0d1a1d);
  font-weight: 600; cursor: pointer; }}
:focus-visible {{ outline: 2px solid light-dark(#0f6b78, #4fb9c5); outline-offset: 2px; }}
[role=alert] {{ color: light-dark(#a3261f, #f2a19b); font-weight: 600; }}
</style>
</head>
<body>
<main>
<h1>This studio asks for its token</h1>
<p>{where}</p>
{wrong}<form method="post">
<input type="password" name="token" aria-label="Token or address" placeholder="Token or address" required autofocus
  autocomplete="off"{described}>
<button>Open the studio</button>
</form>
</main>
</body>
</html>
"""


def headers(host: str) -> dict[str, str]:
    """Return the headers of an answer of the server that the browser calls `host`."""
    return FIXED | {"content-security-policy": POLICY.format(host=host, scripts=_own_scripts())}


@cache
def _own_scripts() -> str:
    """Return the hashes of the scripts that stand in Streamlit's page itself."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)


class Gate:
    """Lets requests in by host, origin, token, and the row of what they ask for, which says what role that takes."""

    def __init__(self, app: ASGIApp, access: Access, team: Team | None = None, uploads: Uploads | None = None):
        Access.in_force = True
        self._app = app
        self._access = access
        self._team = team
        self._uploads = uploads or Uploads()
        self._sockets = Sockets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on to Streamlit."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        hosts = asked.headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        send = _with_headers(send, host)
        if scope["type"] == "http":
            receive = limit_time(receive)
        try:
            answer = self._stranger(asked, host) or await self._entry(asked, receive, host) or self._answer_of(asked)
        except HTTPException as refusal:
            answer = _refused(refusal.detail, refusal.status_code)
        if "text/html" in asked.headers.get("accept", ""):  # a page comes as text, see _with_headers
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]}
        await answer(scope, receive, send)

    def _stranger(self, asked: HTTPConnection, host: str) -> ASGIApp | None:
        """Return the answer to a request to another server, or from a page of another one; else None."""
        local = (asked.scope.get("server") or ("",))[0]
        if not self._access.knows(host, local):
            wanted = (name_of(host) or "NAME")[:SHOWN]
            return _refused(f"This studio is not {host[:SHOWN]}. If it is, start it with --allow-host {wanted}")
        origin = asked.headers.get("origin")
        if origin is None or asked.scope.get("method") in READING or self._access.trusts(origin, host):
            return None
        whose = (name_of(urlsplit(origin).netloc) or "NAME")[:SHOWN]
        return _refused(f"A page of {origin[:SHOWN]} changes nothing here. If it is the studio's: --allow-host {whose}")

    async def _entry(self, asked: HTTPConnection, receive: Receive, host: str) -> ASGIApp | None:
        """Return the answer to a visitor who gives the token, or has to; None where one comes in."""
        known = self._access.admits(asked.cookies, host)
        given = await _given(asked, receive) if self._access.token else None
        if given is not None and (known or self._access.is_token(given)):
            inside = RedirectResponse(_address(asked), 303)
            if not known:
                secure = asked.url.scheme == "https"
                name = cookie_of(host)
                inside.set_cookie(name, self._access.pass_, secure=secure, httponly=True, samesite="strict")
            return inside
        row = self._row(asked)
        if known or (row is not None and row.who == "passer-by"):
            return None
        if asked.scope["type"] == "websocket" or "text/html" not in asked.headers.get("accept", ""):
            return _refused("This takes the studio's token: open the address that the studio printed at its start")
        # a link on another site is followed without the cookie; the page itself asks again, with it
        from_outside = given is None and asked.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        return HTMLResponse(token_page(wrong=given is not None, again=from_outside), 403)

    def _row(self, asked: HTTPConnection) -> Row | None:
        base = str(st.get_option("server.baseUrlPath") or "").strip("/")
        path = asked.scope["path"].removeprefix(f"/{base}") if base else asked.scope["path"]
        return row_of(path, asked.scope.get("method", SOCKET))

    def _answer_of(self, asked: HTTPConnection) -> ASGIApp:
        """Return what answers a request that came in: Streamlit, within bounds, or a refusal."""
        row = self._row(asked)
        if row is None:
            return _refused("The studio has nothing here that takes this", 405)
        visitor = self._visitor(asked)
        role = visitor.role if visitor else "admin" if self._team is None else None
        if row.who in ROLES and (role is None or ROLES.index(role) < ROLES.index(row.who)):
            if visitor:
                what = f"{asked.scope.get('method', SOCKET)} {row.path}"
                with suppress(OSError):  # it is refused all the same
                    note_refusal(visitor, what, f"takes the role {row.who}")
            return _refused(f"This takes the role {row.who}: " + (f"yours is {role}" if role else "sign in first"))
        who = visitor.name if visitor else asked.client.host if self._team is None and asked.client else None
        if asked.scope["type"] == "websocket":
            return partial(self._open_socket, who)
        length = asked.headers.get("content-length", "0")
        if "transfer-encoding" in asked.headers or not length.isdecimal() or len(length) > DIGITS:
            return _refused("A request says how long it is", 411)
        if not row.takes_body:
            return self._app if int(length) == 0 else _refused("This takes no content", 413)
        if refusal := self._uploads.refusal(who or "", int(length)):
            return _refused(refusal, 413)
        return partial(self._take_upload, who or "", asked.scope["path"].split("/")[-2], int(length))

    def _visitor(self, asked: HTTPConnection) -> Visitor | None:
        """Return who has signed in, by the cookie that Streamlit has signed; None for a guest, and without a team."""
        if self._team is None:
            return None
        try:
            said = _get_signed_cookie_with_chunks(asked.cookies, USER_COOKIE_NAME)
            claims = json.loads(said) if said else {}
            return visitor_of(claims, self._team, time.time()) if claims.get("is_logged_in") is True else None
        except (ValueError, AttributeError, NotAllowed):
            return None

    async def _open_socket(self, who: str | None, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._sockets.hold_open(who, send) as socket:
            await (self._app(scope, receive, socket.send) if socket else _refused("")(scope, receive, send))

    async def _take_upload(self, who: str, session: str, size: int, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect), self._uploads.count_arriving(who, session, size):  # who closes a tab amid one
            await self._app(scope, receive, send)


async def _given(asked: HTTPConnection, receive: Receive) -> str | None:
    """Return the token in a page's address, or in the form of the token's page; None where there is none."""
    if asked.scope.get("method") in READING:
        return asked.query_params.get("token")
    if asked.headers.get("content-type") == FORM:
        body = b""
        async for part in Request(asked.scope, receive).stream():
            if len(body := body + part) > LONGEST:
                break
        return parse_qs(body[:LONGEST].decode("latin-1")).get("token", [""])[0]
    return None


def _address(asked: HTTPConnection) -> str:
    """Return the path and the query of a request, without the token."""
    query = [(name, value) for name, value in parse_qsl(asked.url.query, True) if name != "token"]
    path = "/" + quote(asked.scope["path"].lstrip("/\\"))  # two slashes would begin the name of another server
    return f"{path}?{urlencode(query)}" if query else path


def _refused(why: str, status: int = 403) -> ASGIApp:
    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})  # which the server answers with 403
        else:
            await PlainTextResponse(f"{why}\n", status, {"connection": "close"})(scope, receive, send)

    return refused


def _with_headers(send: Send, host: str) -> Send:
    """Return `send` with our headers, and with COLOURS in the page that Streamlit begins with."""
    held: Message | None = None  # the start of a page, whose length changes

    async def sent(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            own = MutableHeaders(scope=message)
            own.update(headers(host))
            if message["status"] == 200 and own.get("content-type", "").startswith("text/html"):
                held = message
                return
        elif held is not None:
            body = message.get("body", b"")
            page, own, start = body.replace(b"<head>", COLOURS, 1), MutableHeaders(scope=held), held
            if "content-length" in own:
                own["content-length"] = str(int(own["content-length"]) + len(page) - len(body))
            held, message = None, {**message, "body": page}
            await send(start)
        await send(message)

    return sent


def token_page(*, wrong: bool, again: bool) -> str:
    """Return the page; `wrong`: the token that was given is not the studio's, `again`: it first asks once more."""
    return PAGE.format(
        where=WHERE,
        again='<meta http-equiv="refresh" content="0">\n' if again else "",
        wrong=f"{WRONG}\n" if wrong else "",
        described=' aria-describedby="why"' if wrong else "",
    )
