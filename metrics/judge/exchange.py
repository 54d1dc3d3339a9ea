"""One HTTP request and its response: bounded in time and bytes, no redirect followed."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from metrics.judge.completion import CallFailed
from metrics.judge.redact import redact

if TYPE_CHECKING:
    import aiohttp

THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
SHOWN = 300


def is_this_machine(address: str) -> bool:
    """Return whether an address is one of this machine."""
    return urlsplit(address).hostname in THIS_MACHINE


async def exchange(
    session: "aiohttp.ClientSession", method: str, address: str, content: bytes | None, timeout: float, longest: int
) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers and body of the response.

    Raises CallFailed without one in `timeout` seconds, and where the body has more than `longest` bytes.
    """
    import aiohttp

    try:
        async with asyncio.timeout(timeout):
            async with session.request(method, address, data=content, allow_redirects=False) as response:
                body = bytearray()
                async for piece in response.content.iter_any():
                    body += piece
                    if len(body) > longest:
                        raise CallFailed(f"a reply of more than {longest:,} bytes", "refused")
                return response.status, response.headers, bytes(body)
    except TimeoutError:
        raise CallFailed(f"no reply in {timeout:g} s") from None
    except (aiohttp.ClientError, OSError) as failure:
        raise CallFailed(redact(f"no connection: {failure or type(failure).__name__}")[:SHOWN]) from None
