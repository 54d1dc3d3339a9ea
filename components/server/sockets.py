"""How many sockets are open, each with a session of Streamlit: of a visitor, and in all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.types import Message, Send

MOST_OF_ONE = 100  # of a visitor, and of all guests of a team together
MOST_IN_ALL = 300
TRY_AGAIN = 1013  # the code of a closed socket


class Socket:
    """An open socket of a visitor, None for a guest who has yet to sign in; nothing is sent once it is closed."""

    def __init__(self, who: str | None, send: Send):
        self.who = who
        self._send = send
        self._closed = False

    async def send(self, message: Message) -> None:
        """Send a message of Streamlit's."""
        if not self._closed:
            await self._send(message)

    async def close(self) -> None:
        """Close the socket, for Streamlit as well."""
        self._closed = True
        with suppress(OSError, RuntimeError):  # the browser has closed it
            await self._send({"type": "websocket.close", "code": TRY_AGAIN})


class Sockets:
    """The open sockets of a server, the oldest first."""

    def __init__(self) -> None:
        self._open: list[Socket] = []

    @asynccontextmanager
    async def hold_open(self, who: str | None, send: Send) -> AsyncIterator[Socket | None]:
        """Count a socket of a visitor while it is open; None where there is no room for it.

        It may take the place of the oldest guest's: those who have yet to sign in keep nobody out who comes after them.
        """
        own = sum(one.who == who for one in self._open)
        full = own >= MOST_OF_ONE or len(self._open) >= MOST_IN_ALL
        oldest = next((one for one in self._open if one.who is None), None) if full else None
        if full and (oldest is None or (who is not None and own >= MOST_OF_ONE)):
            yield None
            return
        socket = Socket(who, send)
        self._open.append(socket)
        try:
            if oldest is not None:
                self._open.remove(oldest)
                await oldest.close()
            yield socket
        finally:
            if socket in self._open:
                self._open.remove(socket)
