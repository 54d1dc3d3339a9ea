"""The gate without a server: what it says to a request."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from components.server.access import NO_TOKEN, Access, access_of
from components.server.gate import Gate
from metrics.store.team_file import Team

TOKEN = "q8Zp+3vKx/Lw5mRd=7tYb2NcHf9sGjUe"
HOST = "127.0.0.1:8501"


class Answer(NamedTuple):
    """What the gate said: "in" where it handed the request on."""

    status: int | str
    headers: Mapping[str, str]
    text: str


def ask_gate(
    access: Access,
    path: str = "/",
    method: str = "GET",
    query: str = "",
    body: bytes = b"",
    server: str = "127.0.0.1",
    hosts: Sequence[str] | None = None,
    team: Team | None = None,
    **headers: str,
) -> Answer:
    """Ask the gate for a path; the method WS opens a socket, headers are by name with _ for -."""
    given = {"accept": "text/html"} | {name.replace("_", "-"): text for name, text in headers.items()}
    named = hosts if hosts is not None else (given.pop("host", HOST),)
    fields = [*given.items(), *(("host", one) for one in named)]
    scope = {
        "type": "websocket" if method == "WS" else "http", "path": path, "query_string": query.encode(),
        "headers": [(name.encode(), text.encode()) for name, text in fields], "scheme": "http",
        "server": (server, 8501), "client": ("127.0.0.1", 50_000),
    } | ({} if method == "WS" else {"method": method})  # fmt: skip
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    async def studio(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": "in", "headers": []})

    asyncio.run(Gate(studio, access, team)(scope, receive, send))
    first, *rest = said
    found = {name.decode(): text.decode() for name, text in first.get("headers", [])}
    return Answer(first.get("status", first["type"]), found, b"".join(part.get("body", b"") for part in rest).decode())


def access(address: str = "127.0.0.1", hosts: str = "", token: str = TOKEN, **auth: str) -> Access:
    """Whom a server on an address answers."""
    environment = {"ASSAY_ALLOW_HOST": hosts} | ({"ASSAY_TOKEN": token} if token else {NO_TOKEN: "1"})
    return access_of(environment, address, auth)


OPEN = access(token="")
LOCKED = access()
QUOTED = quote(TOKEN, safe="")
COOKIE = f"other=1; assay-8501={LOCKED.pass_}"
