"""A real server and visitors who are slow: no connection waits for ever, and none of them keeps others out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from components.server import connections
from components.server.connections import Connections, Wait, limit_time

HEAD = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
LARGE = 30 << 20
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with many bytes at /large, and else when the body is there."""
    if scope["type"] == "http":
        size = LARGE if scope["path"] == "/large" else 2
        if scope["method"] == "PUT":
            receive = limit_time(receive, 0.3)
            try:
                while (await receive()).get("more_body"):
                    pass
            except Exception as failure:  # the gate answers it
                await PlainTextResponse(str(failure), 408)(scope, receive, send)
                return
        await PlainTextResponse("x" * size)(scope, receive, send)
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass


@contextlib.asynccontextmanager
async def served() -> AsyncIterator[tuple[int, Connections]]:
    """The port of a server, and its connections."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, lifespan="off", log_level="error", timeout_keep_alive=10**6, ws="websockets-sansio")
    )
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1], Connections(server)
    finally:
        server.should_exit = server.force_exit = True
        await task


async def drip(writer: asyncio.StreamWriter, begin: bytes, byte: bytes = b"x") -> None:
    """Send a beginning, and a byte now and then without end."""
    writer.write(begin)
    with contextlib.suppress(OSError):
        while True:
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.write(byte)


async def send_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(10**6)


async def send_a_head_that_never_ends(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"GET / HTTP/1.1\r\nhost: x\r\nx: ")


async def open_a_socket_that_never_ends(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nx: ")


async def ask_once_and_stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    await reader.readuntil(b"xx")
    await drip(writer, b"GET")


async def read_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
    await asyncio.sleep(10**6)


async def send_a_body_that_nobody_wants(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n")


SLOW = (
    send_nothing, send_a_head_that_never_ends, open_a_socket_that_never_ends, ask_once_and_stay, read_nothing,
    send_a_body_that_nobody_wants,
)  # fmt: skip


async def ends(port: int, own: Connections, talk: Talk) -> None:
    """Talk to a server until it ends the connection, by a clock that is a second further at every look."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 10)
    task = asyncio.create_task(talk(reader, writer))
    while not own._all:
        await asyncio.sleep(0.01)
    second = 0.0
    while own._all:
        await asyncio.sleep(0.02)
        own.end_slow(second := second + 1)
    assert second > connections.PATIENCE
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, OSError):
        await task
    writer.close()


@pytest.mark.attack(
    "network", "a connection that says nothing, never ends a request, or reads no answer", "it is ended"
)
@pytest.mark.parametrize("talk", SLOW)
def test_a_slow_connection_is_ended(talk: Talk) -> None:
    async def scene() -> None:
        async with served() as (port, own):
            await ends(port, own, talk)

    asyncio.run(scene())


@pytest.mark.attack("network", "a thousand idle connections", "the oldest of those that wait are ended at once")
def test_idle_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_WAITING", 20)

    async def scene() -> None:
        async with served() as (port, own):
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
            while len(own._all) < 100:
                await asyncio.sleep(0.01)
            own.end_slow(0)
            while len(own._all) > 20:
                await asyncio.sleep(0.01)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD)
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            for _, other in (*idle, (reader, writer)):
                other.close()

    asyncio.run(scene())


@pytest.mark.attack("network", "a body that comes byte by byte", "it is ended below a kilobyte a second")
def test_a_slow_body_is_refused() -> None:
    async def scene() -> None:
        async with served() as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            task = asyncio.create_task(drip(writer, b"PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"))
            assert (await reader.readline()).startswith(b"HTTP/1.1 408")
            task.cancel()
            writer.close()

    asyncio.run(scene())


def test_what_is_at_work_is_not_ended() -> None:
    """A socket that is open, and requests that follow one another on a connection."""
    opening = (
        b"GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
        b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )

    async def scene() -> None:
        async with served() as (port, own):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(opening)
            await reader.readuntil(b"\r\n\r\n")
            other, asks = await asyncio.open_connection("127.0.0.1", port)
            for second in range(0, connections.PATIENCE * 4, connections.PATIENCE - 1):
                asks.write(HEAD)
                await other.readuntil(b"xx")
                own.end_slow(second)
            assert len(own._all) == 2
            writer.close()
            asks.close()

    asyncio.run(scene())


def test_an_answer_in_parts_may_take_its_time() -> None:
    """It waits for the end of the connection meanwhile."""

    async def scene() -> None:
        left = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Any:
            if not left:
                await asyncio.sleep(0.05)
                return {"type": "http.disconnect"}
            return left.pop()

        limited = limit_time(receive, patience=0.01)
        assert (await limited())["type"] == "http.request"
        assert (await limited())["type"] == "http.disconnect"

    asyncio.run(scene())


@pytest.mark.parametrize(("before", "now", "longer"), [
    pytest.param(Wait(0, 1, 0), Wait(9, 1, 0), 0, id="nothing-moves"),
    pytest.param(Wait(0, 1, 0), Wait(9, 2, 0), 9, id="another-request"),
    pytest.param(Wait(0, 1, 50_000), Wait(9, 1, 49_999), 0, id="byte-by-byte"),
    pytest.param(Wait(0, 1, 50_000), Wait(9, 1, 20_000), 9, id="a-fair-speed"),
    pytest.param(Wait(0, 1, 100), Wait(9, 1, 0), 9, id="all-is-read"),
    pytest.param(Wait(0, 1, 100), Wait(9, 1, 200), 9, id="more-to-read"),
    pytest.param(None, Wait(9, 1, 0), 9, id="new"),
])  # fmt: skip
def test_a_wait_goes_on_until_something_moves(before: Any, now: Wait, longer: float) -> None:
    assert connections._longer_wait(before, now).since == longer
