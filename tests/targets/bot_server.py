"""A scripted bot behind real HTTP: what a question says decides what goes wrong with it.

with BotServer() as bot:
    bot.trouble["q7"] = "500"       error | busy | garbage | flood | hang | moved | drop
    … a client posts {"question": "q1"} to bot.url and gets {"answer": "A q1"} …
    assert bot.asked["q1"] == 1
"""

import asyncio
import threading
from collections import Counter

from aiohttp import web

ONCE = ("busy", "drop-once")


class BotServer:
    """The server, in a thread of its own; a context manager. After `allowed` answers every request hangs."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[object] = []
        self.headers: list[dict[str, str]] = []
        self.trouble: dict[str, str] = {}
        self.allowed: int | None = None
        self.reply: object = None
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "BotServer":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/ask"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else dict(request.query)
        question = str(body.get("question", ""))
        self.asked[question] += 1
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        trouble = self.trouble.get(question, "")
        if trouble in ONCE:
            del self.trouble[question]
        if trouble == "busy":
            return web.Response(status=429, headers={"Retry-After": "0.01"}, text="later")
        if trouble == "drop-once":
            assert request.transport is not None
            request.transport.abort()
        if trouble == "hang" or (self.allowed is not None and self.answered.total() >= self.allowed):
            await asyncio.sleep(3600)
        if trouble == "moved":
            raise web.HTTPFound("http://example.invalid/steal")
        if trouble.isdigit():
            return web.Response(status=int(trouble), text="scripted " + request.headers.get("Authorization", ""))
        if trouble == "garbage":
            return web.Response(text="{never closed", content_type="application/json")
        if trouble == "flood":
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b"x" * 65536)
        self.answered[question] += 1
        return web.json_response(self.reply if self.reply is not None else {"answer": f"A {question}"})
