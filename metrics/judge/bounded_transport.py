"""What litellm sends its requests with, bounded as our own are: in bytes, and without following redirects."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from metrics.judge.completion import LONGEST_BODY

if TYPE_CHECKING:
    import httpx

# of the length and the form that the body had on its way, and of the address that it would lead to
DROPPED = ("content-encoding", "content-length", "transfer-encoding", "location")

_OURS = ContextVar("_OURS", default=False)  # the user's own code may call litellm beside us


class TooLong(Exception):
    """A reply has too many bytes."""


def bound(transport: Any) -> None:
    """Let transports of this class read replies to what is asked `within_bounds` here, counted while they unpack."""
    import httpx

    send = transport.handle_async_request

    async def handle_async_request(self: Any, request: "httpx.Request") -> "httpx.Response":
        response: httpx.Response = await send(self, request)
        if not _OURS.get():
            return response
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LONGEST_BODY:
                    raise TooLong(f"a reply of more than {LONGEST_BODY:,} bytes")
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in DROPPED]
        return httpx.Response(response.status_code, headers=headers, content=bytes(body), request=request)

    transport.handle_async_request = handle_async_request


@contextmanager
def within_bounds() -> Iterator[None]:
    """Ask so that replies are bounded."""
    before = _OURS.set(True)
    try:
        yield
    finally:
        _OURS.reset(before)


def too_long(failure: BaseException | None) -> str | None:
    """Return that a failure, or what it came from, is a reply of too many bytes; None where it is not."""
    while failure is not None and not isinstance(failure, TooLong):
        failure = failure.__cause__ or failure.__context__
    return None if failure is None else str(failure)
