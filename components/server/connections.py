"""Connections that do nothing: uvicorn waits for ever for a request that does not end, or is not read."""

import asyncio
from typing import Any, NamedTuple

import uvicorn
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

PATIENCE = 15  # seconds for the head of a request, for the next one, and for a visitor who reads nothing
SLOWEST = 1 << 10  # bytes a second of a body, and of an answer
MOST_WAITING = 256  # connections without a request, or whose answer is not read


class Wait(NamedTuple):
    """Since when a connection waits, for a request (by the one before it) or with so many bytes that nobody reads."""

    since: float
    request: int
    unread: int


class Connections:
    """The connections of a server that wait for the other side."""

    def __init__(self, server: uvicorn.Server):
        self._all = server.server_state.connections
        self._waits: dict[Any, Wait] = {}

    def end_slow(self, now: float) -> None:
        """End the connections that have waited for PATIENCE, and of those beyond MOST_WAITING the oldest."""
        waits = {one: wait for one in list(self._all) if (wait := _wait_of(one, now)) is not None}
        self._waits = {one: _longer_wait(self._waits.get(one), wait) for one, wait in waits.items()}
        oldest = sorted(self._waits, key=lambda one: self._waits[one].since)
        late = sum(now - wait.since > PATIENCE for wait in self._waits.values())
        for one in oldest[: max(late, len(oldest) - MOST_WAITING)]:
            one.transport.abort()


def _wait_of(connection: Any, now: float) -> Wait | None:
    """Return what one of uvicorn's connections waits for; None while the studio works for it, or reads from it."""
    unread = connection.transport.get_write_buffer_size()
    if hasattr(connection, "handshake_complete"):  # a socket; uvicorn pings it
        return Wait(now, 0, unread) if unread or not connection.handshake_complete else None
    cycle = connection.cycle
    return Wait(now, id(cycle), unread) if unread or cycle is None or cycle.response_complete else None


def _longer_wait(before: Wait | None, now: Wait) -> Wait:
    """Return the wait that goes on, or the one that begins as something has moved at a fair speed."""
    if before is None or before.request != now.request or before.unread < now.unread:
        return now
    moved = before.unread - now.unread
    return now if moved and (not now.unread or moved >= SLOWEST * PATIENCE) else before


def limit_time(receive: Receive, patience: float = PATIENCE) -> Receive:
    """Return `receive` for a request, which raises HTTPException where its body comes too slowly."""
    began, read, more = asyncio.get_running_loop().time(), 0, True

    async def receive_in_time() -> Message:
        nonlocal read, more
        try:
            # after the body comes nothing but the end of the connection, for which an answer in parts waits
            async with asyncio.timeout_at(began + patience + read / SLOWEST if more else None):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The request comes too slowly") from None
        read += len(message.get("body", b""))
        more = message.get("more_body", False)
        return message

    return receive_in_time
