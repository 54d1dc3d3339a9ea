"""What a judge sends beside its text: endless or packed replies, redirects, cookies, times and counts that are none."""

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat

import aiohttp
import pytest

from metrics.core.errors import BudgetSpent, JudgeError
from metrics.judge.client import CaseJudge
from metrics.judge.completion import CallFailed
from metrics.judge.exchange import connector, exchange
from metrics.judge.provider import Provider
from metrics.judge.settings import JudgeSettings
from tests.judge.bench import GRADE, Verdict
from tests.judge.server import Fault
from tests.judge.test_client import completion

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LONGEST = 1 << 20
BOMB = gzip.compress(bytes(1 << 25))


def packed(coding: bytes, body: bytes) -> list[bytes]:
    return [OK + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body]


REPLIES = {
    "gzip in gzip": (packed(b"gzip", gzip.compress(BOMB)), "gives the inner one"),
    "brotli": (packed(b"br", b"\x8b\x02\x80"), "no connection: 400"),
    "zstd": (packed(b"zstd", b"\x28\xb5\x2f\xfd"), "no connection: 400"),
    "gzip that is none": (packed(b"gzip", b"\x1f\x8bxx"), "no connection: 400"),
    "gzip": (packed(b"gzip", BOMB), "more than 1,048,576 bytes"),
    "deflate": (packed(b"deflate", zlib.compress(bytes(1 << 25))), "more than 1,048,576 bytes"),
    "endless chunks": (chain([CHUNKED], repeat(b"10000\r\n" + bytes(1 << 16) + b"\r\n")), "more than 1,048,576 bytes"),
    "an endless name of a chunk": (chain([CHUNKED + b"1;"], repeat(b"x" * (1 << 16))), "no reply in 1 s"),
    "endless trailers": (chain([CHUNKED + b"0\r\n"], repeat(b"X: y\r\n" * 1_000)), "Too many headers"),
    "endless headers": (chain([OK], repeat(b"X: y\r\n" * 1_000)), "Too many headers"),
    "an endless header": (chain([OK + b"X: "], repeat(b"x" * 65_536)), "more than 8190 bytes"),
    "endless preliminary replies": (repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100), "no reply in 1 s"),
    "two lengths": ([OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}"], "Duplicate Content-Length"),
    "a length below zero": ([OK + b"Content-Length: -1\r\n\r\n{}"], "Content-Length"),
    "a length of 20 digits": ([OK + b"Content-Length: 99999999999999999999\r\n\r\n{}"], "Content-Length overflow"),
}


@asynccontextmanager
async def sending(pieces: Iterator[bytes] | list[bytes], pause: float = 0) -> AsyncIterator[str]:
    """The address of a server that sends these bytes to whoever asks, and nothing else."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.attack(
    "judge",
    "a compressed reply of kilobytes unpacks to gigabytes",
    "bytes are counted while a reply is unpacked, and it is given up at the limit",
)
@pytest.mark.attack("judge", "a reply has endless chunks, headers, trailers or preliminary replies, codings nobody asked for, or lengths that contradict", "it is given up within its bounds of bytes and time, and nothing more is kept of it")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize(("pieces", "why"), REPLIES.values(), ids=REPLIES)
def test_a_reply_without_end_or_form(pieces, why):
    seconds = 1 if why.startswith("no reply") else 60

    async def ask() -> bytes:
        async with sending(pieces) as address, aiohttp.ClientSession(connector=connector(1)) as session:
            return (await exchange(session, "POST", address, b"{}", seconds, LONGEST))[2]

    if why == "gives the inner one":
        assert asyncio.run(ask()) == BOMB
    else:
        with pytest.raises(CallFailed, match=why):
            asyncio.run(ask())


@pytest.mark.attack("judge", "a reply comes byte by byte for ever", "its time is limited as a whole")
def test_a_slow_reply():
    async def ask() -> None:
        slow = chain([CHUNKED], repeat(b"1\r\nx\r\n"))
        async with sending(slow, 0.1) as address, aiohttp.ClientSession(connector=connector(1)) as session:
            await exchange(session, "POST", address, b"{}", 1, LONGEST)

    with pytest.raises(CallFailed, match="no reply in 1 s"):
        asyncio.run(ask())


@pytest.mark.attack("judge", "a hosted provider's reply of kilobytes unpacks to gigabytes, or never ends", "litellm reads it within the same bounds of bytes")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("pieces",
    [packed(b"gzip", BOMB), chain([CHUNKED], repeat(b"10000\r\n" + b" " * (1 << 16) + b"\r\n"))],
    ids=["packed", "endless"])  # fmt: skip
def test_a_providers_reply_is_bounded(pieces, monkeypatch):
    with pytest.raises(CallFailed, match="a reply of more than 16,777,216 bytes") as told:
        asyncio.run(_provider(pieces, monkeypatch))
    assert told.value.trouble == "refused"


@pytest.mark.attack("judge", "a hosted provider's reply leads to another host, or to a file", "litellm does not follow it: nobody else gets the prompt")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("where", ["a server", "file:///etc/passwd", "http://169.254.169.254/"])
def test_a_providers_redirect_is_not_followed(where, judge_server, monkeypatch):
    place = (judge_server.url if where == "a server" else where).encode()
    reply = b"HTTP/1.1 307 Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % place
    with pytest.raises(CallFailed, match="307") as told:
        asyncio.run(_provider([reply], monkeypatch))
    assert (told.value.trouble, judge_server.calls) == ("unusable", [])


async def _provider(pieces: Iterator[bytes] | list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    async with sending(pieces) as address:
        for name, value in {"KEY": "none-is-needed", "BASE": address}.items():
            monkeypatch.setenv(f"OPENAI_API_{name}", value)
        provider = Provider(JudgeSettings(model="openai/gpt-4o-mini"))
        try:
            await provider.complete([{"role": "user", "content": "x"}], {}, "test")
        finally:
            await provider.close()


@pytest.mark.attack("judge", "a reply states a number of tokens below zero, to empty the budget, or one that no table holds", "such a count is unknown: what was reserved is spent")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("count", [-(10**9), 10**30, 0], ids=["below zero", "beyond any table", "none"])
def test_counts_of_tokens_that_are_none(bench, count):
    body = completion({"content": '{"verdict": "yes"}'}) | {
        "usage": {"prompt_tokens": count, "completion_tokens": count}
    }
    bench.server.fail_by(lambda _: Fault(body=json.dumps(body)))

    async def ask_on(judge: CaseJudge) -> None:
        for repeated in range(9):
            await judge.ask(GRADE, Verdict, {"TEXT": "Thank you."}, repeat=repeated)

    with pytest.raises((BudgetSpent, JudgeError), match="left, too few for a call"):
        bench.with_judge(ask_on, budget={"tokens": 10_000})
    assert 1 <= len(bench.server.calls) <= 3
    assert (bench.client.ledger.spend.prompt_tokens, bench.client.ledger.spend.completion_tokens) == (0, 0)


@pytest.mark.attack("judge", "a reply sets cookies, to know who asks again, or to grow every request", "cookies are not kept")  # fmt: skip  # noqa: E501
def test_cookies_are_not_kept(bench):
    bench.server.fail(Fault(headers={"Set-Cookie": "who=you"}))

    async def ask_twice(judge: CaseJudge) -> None:
        for text in ("Thank you.", "Go away."):
            await judge.ask(GRADE, Verdict, {"TEXT": text})

    bench.with_judge(ask_twice)
    assert ["cookie" in request.headers for request in bench.server.calls] == [False, False]
