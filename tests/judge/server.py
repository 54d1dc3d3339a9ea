"""A scripted OpenAI-compatible server: real HTTP, replies that fit any JSON schema it is sent, faults on request.

    with JudgeServer() as server:
        server.say("claims", {"claims": ["The tower is 330 m high."]})          by prompt id
        server.say("entailment", [{"supported_by": [1]}, {"supported_by": []}])  numbered items: a list, ids added
        server.say(lambda request: "Paris" in request.text, {"verdict": "yes"})  by anything
        server.fail(Fault(429, headers={"Retry-After": "0"}))                     the next request fails
        … a client asks server.url …
        assert [request.step for request in server.calls] == ["claims", "entailment"]

What is said last counts first. Without anything said the reply is the plainest that fits the schema.
"""

import asyncio
import json
import math
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from metrics.judge.typical_reply import blocks, count_numbered, typical_reply

Reply = Any  # a JSON value, a str that is sent as it is, or a function of the request that gives one of them
Predicate = Callable[["Request"], bool]


@dataclass(frozen=True)
class Request:
    """What a client asked."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema sent along, as the form of the reply or of the one tool's call; None without."""
        form: dict[str, Any] = self.body.get("response_format") or {}
        if self.tool is not None:
            return dict(self.tool["parameters"])
        return dict(form["json_schema"]["schema"]) if "json_schema" in form else None

    @property
    def tool(self) -> dict[str, Any] | None:
        """The function that is to be called in place of a reply; None without."""
        return dict(self.body["tools"][0]["function"]) if self.body.get("tools") else None

    @property
    def step(self) -> str:
        """The prompt's id, as the schema is named ("umbrela_grade"); empty without a schema."""
        return str((self.body.get("response_format") or {}).get("json_schema", {}).get("name", ""))

    @property
    def text(self) -> str:
        """The whole of the first user message: instructions and data."""
        return next(message["content"] for message in self.messages if message["role"] == "user")

    @cached_property
    def data(self) -> dict[str, str]:
        """The data blocks by name."""
        return blocks(self.messages)

    @property
    def characters(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: an HTTP error, a stalled reply, a dropped connection, a body of our own."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    text: str | None = None  # the judge's text, in a reply that is otherwise whole
    cut: bool = False  # finish_reason "length"
    delay: float = 0.0
    drop: bool = False


class JudgeServer:
    """The server, in a thread of its own; a context manager. `latency` in seconds."""

    def __init__(self, latency: float = 0.0):
        self.latency = latency
        self.calls: list[Request] = []
        self.accepts_schema = True  # False: a server that refuses response_format with 400
        self.shares: dict[str, dict[str, float]] = {}  # of the labels of a field, where log-probabilities are asked for
        self.answered = 0  # replies with status 200
        self.busiest = 0  # most requests at once
        self._busy = 0
        self._script: list[tuple[Predicate, Reply]] = []
        self._faults: deque[Fault | None] = deque()
        self._fault_of: Callable[[Request], Fault | None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[_Connection] = set()
        self.url = ""

    def __enter__(self) -> "JudgeServer":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _leave(self) -> None:
        self._server.close()
        for connection in list(self._connections):
            connection.close()
        await self._server.wait_closed()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def say(self, when: str | Predicate, reply: Reply) -> None:
        """Reply so from now on to the prompt of that id, or to requests that `when` holds for."""
        if isinstance(when, str):
            name = when.replace(".", "_")
            self._script.insert(0, (lambda request: request.step == name, reply))
        else:
            self._script.insert(0, (when, reply))

    def fail(self, *faults: Fault | None) -> None:
        """Let the next requests go wrong, one fault each (None: that one goes well)."""
        self._faults.extend(faults)

    def fail_by(self, fault_of: Callable[[Request], Fault | None] | None) -> None:
        """Let every request go wrong as `fault_of` says; None ends it."""
        self._fault_of = fault_of

    @property
    def steps(self) -> list[str]:
        """The steps asked for, in order."""
        return [request.step for request in self.calls]

    @property
    def characters(self) -> int:
        """Prompt characters of all requests."""
        return sum(request.characters for request in self.calls)

    def clear(self) -> None:
        """Forget the calls, not the script."""
        self.calls.clear()
        self.answered = self.busiest = 0

    def said(self, request: Request) -> str:
        """The judge's text."""
        for holds, reply in self._script:
            if holds(request):
                value = reply(request) if callable(reply) else reply
                break
        else:
            value = typical_reply(request.schema or {}, request.messages)
        if isinstance(value, str):
            return value
        return json.dumps(_framed(value, request), ensure_ascii=False)

    async def answer(self, request: Request) -> tuple[int, Mapping[str, str], bytes] | None:
        """Status, headers and body; None drops the connection."""
        self.calls.append(request)
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        try:
            fault = self._faults.popleft() if self._faults else None
            fault = fault or (self._fault_of(request) if self._fault_of else None) or Fault()
            if self.latency + fault.delay:
                await asyncio.sleep(self.latency + fault.delay)
        finally:
            self._busy -= 1
        if fault.drop:
            return None
        if fault.status == 200 and not self.accepts_schema and "response_format" in request.body:
            fault = Fault(400, body='{"error": {"message": "response_format json_schema is not supported"}}')
        if fault.status != 200 or fault.body is not None:
            text = fault.body or json.dumps({"error": {"message": f"scripted {fault.status}", "type": "scripted"}})
            return fault.status, fault.headers, text.encode()
        self.answered += 1
        text = self.said(request) if fault.text is None else fault.text
        body = _completion(request, text, fault.cut)
        if request.body.get("logprobs"):
            body["choices"][0]["logprobs"] = {"content": list(tokens_of(text, self.shares))}
        return 200, fault.headers, json.dumps(body).encode()


def _framed(value: Any, request: Request) -> Any:
    """A list of replies to numbered items as the object that the schema asks for, ids added where they are missing."""
    if not isinstance(value, list) or request.schema is None:
        return value
    rows = [{"id": number, **entry} for number, entry in enumerate(value, 1)]
    (name,) = request.schema["properties"]
    return {name: rows}


def _completion(request: Request, text: str, cut: bool) -> dict[str, Any]:
    prompt, reply = max(1, request.characters // 4), max(1, len(text) // 4)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if request.tool is not None:
        call = {"name": request.tool["name"], "arguments": text}
        message = {"role": "assistant", "tool_calls": [{"id": "call-1", "type": "function", "function": call}]}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if cut else "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }  # fmt: skip


class _Connection(asyncio.Protocol):
    """One keep-alive connection; requests on it are answered one after the other."""

    def __init__(self, server: JudgeServer):
        self._judge = server
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._judge._connections.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._judge._connections.discard(self)

    def close(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        if len(rest) >= length:
            self._buffer = rest[length:]
            request = Request(json.loads(rest[:length] or b"{}"), headers)
            self._task = asyncio.get_running_loop().create_task(self._reply(request))

    async def _reply(self, request: Request) -> None:
        answer = await self._judge.answer(request)
        if answer is None:
            self._transport.abort()
            return
        status, headers, body = answer
        lines = [f"HTTP/1.1 {status} Scripted", "Content-Type: application/json", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._transport.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def tokens_of(text: str, shares: Mapping[str, Mapping[str, float]]) -> Iterator[dict[str, Any]]:
    """The tokens of a text as providers send them: words, with the other labels where a field of `shares` stands."""
    said = ""
    for piece in re.findall(r"\w+|\W", text):
        field = re.search(r'"(\w+)":\s*["\[]?\Z', said)
        own = shares.get(field[1], {}) if field else {}
        others = {label: math.log(share) if share else -100.0 for label, share in own.items()} if piece in own else {}
        said += piece
        listed = [{"token": label, "logprob": logprob} for label, logprob in (others or {piece: 0.0}).items()]
        yield {"token": piece, "logprob": others.get(piece, 0.0), "top_logprobs": listed}


def items_of(request: Request, name: str) -> int:
    """How many numbered items a request shows under `name`."""
    return count_numbered(request.data[name])


def in_turn(replies: Iterable[Reply]) -> Callable[[Request], Reply]:
    """A reply that is another one each time."""
    left = iter(replies)
    return lambda _: next(left)
