"""One HTTP request and its response: bounded in time and bytes, no redirect followed."""

import asyncio
import errno
import socket
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from metrics.judge.completion import CallFailed
from metrics.judge.keys import redact

if TYPE_CHECKING:
    import aiohttp

THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
METADATA = ("fd00:ec2::254", "100.100.100.200")  # of clouds that do not use a link-local address
SHOWN = 300


def is_this_machine(address: str) -> bool:
    """Return whether an address is one of this machine."""
    return urlsplit(address).hostname in THIS_MACHINE


def connector(limit: int) -> "aiohttp.TCPConnector":
    """Return what makes up to `limit` connections at once; to a cloud's metadata service, it makes none.

    That service gives the credentials of the machine to whoever asks from it, and a page lets a visitor name addresses.
    """
    import aiohttp

    return aiohttp.TCPConnector(limit=limit, socket_factory=_socket)


def _socket(found: tuple[Any, ...]) -> socket.socket:
    """Return the socket for an address as getaddrinfo gives it: of a name, the one that it has now."""
    family, kind, protocol, _, (host, *_) = found
    refuse_metadata_address(host)
    return socket.socket(family, kind, protocol)


def refuse_metadata_address(host: str) -> None:
    """Raise OSError where an IP address is link-local or one of a cloud's metadata service."""
    address = ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if (mapped or address).is_link_local or str(address) in METADATA:
        raise OSError(errno.EACCES, "an address of a cloud's metadata service, or link-local: it is not asked")


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
