"""Replies are bounded in bytes once they are unpacked, whatever they were sent as."""

import asyncio
import gzip
import zlib

import aiohttp
import pytest
from aiohttp import web

from metrics.judge.completion import CallFailed
from metrics.judge.exchange import exchange

LONGEST = 1 << 20
REPLIES = {"gzip": gzip.compress(bytes(32 << 20)), "deflate": zlib.compress(bytes(32 << 20))}


async def _asked(coding: str) -> None:
    async def reply(_: web.Request) -> web.Response:
        return web.Response(body=REPLIES[coding], headers={"Content-Encoding": coding})

    app = web.Application()
    app.router.add_get("/", reply)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        async with aiohttp.ClientSession(trust_env=False) as session:
            await exchange(session, "GET", address, None, 60, LONGEST)
    finally:
        await runner.cleanup()


@pytest.mark.attack(
    "judge", "a compressed reply of kilobytes unpacks to gigabytes",
    "bytes are counted while a reply is unpacked, and it is given up at the limit",
)  # fmt: skip
@pytest.mark.parametrize("coding", REPLIES)
def test_a_compressed_reply_is_given_up_at_the_limit(coding: str) -> None:
    assert len(REPLIES[coding]) < LONGEST / 20
    with pytest.raises(CallFailed, match="a reply of more than 1,048,576 bytes"):
        asyncio.run(_asked(coding))
