"""The process of the code: it loads the answer, and does what the tests' process asks of its objects.

Nothing that it says is believed: whatever it sends, honest or not, is a value that the code gave.
"""

import inspect
import io
import json
import os
import pickle
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from metrics.evaluators.code.jobs.failures import ANSWER, failure_facts
from metrics.evaluators.code.jobs.values import encode, plain_of


def main(given: Mapping[str, Any], report: Callable[..., None], pipes: Sequence[int]) -> None:
    """Load the code, and answer until nobody asks."""
    del report
    server = _Server(*pipes)
    if server.load(given["code"]):
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                server.answer(pickle.load(server.requests))  # noqa: S301 - of the tests' process, bytes in one piece


class _Server:
    """The objects of the code that the tests' process knows, by number; the first is the module."""

    def __init__(self, reading: int, writing: int) -> None:
        self.requests, self.replies = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
        self.sending = threading.Lock()
        self.module = types.ModuleType("answer")
        self.objects: list[Any] = [self.module]
        self.numbers = {id(self.module): 0}
        self.arguments: Mapping[int, int] = {}  # the places of what the request brought, by id

    def load(self, code: str) -> bool:
        """Run the code, and send what it has defined; return whether it could be run."""
        sys.modules["answer"] = self.module
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Printed(self)), "utf-8", "replace", write_through=False)
        try:
            exec(compile(code, ANSWER, "exec"), self.module.__dict__)  # noqa: S102 - what the sandbox is for
        except BaseException as failure:
            sys.stdout.flush()
            self.send({"failed": failure_facts(failure)})
            return False
        names = []
        for name, value in vars(self.module).copy().items():
            if not name.startswith("__"):
                names.append([name, self.encode(value)])
        sys.stdout.flush()
        self.send({"names": names})
        return True

    def answer(self, request: bytes) -> None:
        """Do what is asked; send the value or the error, and what became of the arguments."""
        self.arguments, brought, before = {}, [], []
        try:
            requests = pickle.Unpickler(io.BytesIO(request))  # noqa: S301 - of the tests' process
            requests.persistent_load = self.objects.__getitem__  # type: ignore[method-assign] # of what is a number
            function, args, kwargs, brought = requests.load()
            self.arguments = {id(one): place for place, one in enumerate(brought)}
            before = [contents(one) for one in brought]
            reply = {"value": self.encode(function(*args, **kwargs))}
        except BaseException as failure:
            reply = {"error": self.error(failure)}
        reply["changed"] = [
            [place, [self.encode(item) for item in now]]
            for place, (one, was) in enumerate(zip(brought, before, strict=False))
            if len(now := contents(one)) != len(was) or any(item is not old for item, old in zip(now, was, strict=True))
        ]
        sys.stdout.flush()
        self.send(reply)

    def error(self, failure: BaseException) -> dict[str, Any]:
        """Return what an exception is to the tests."""
        facts = failure_facts(failure)
        return {
            "class": self.encode(type(failure)),
            "args": [self.encode(one) for one in failure.args],
            "state": [[name, self.encode(value)] for name, value in vars(failure).items()],
            "text": facts["message"],
            "line": facts["line"] if facts["place"] == ANSWER else None,
        }

    def encode(self, value: Any) -> Any:
        """Return a value as the tests' process takes it."""
        return encode(value, self.name_argument, self.refer)

    def name_argument(self, value: Any) -> list[Any] | None:
        """Return what stands for an object that the request brought."""
        place = self.arguments.get(id(value))
        return None if place is None else ["argument", place]

    def refer(self, value: Any) -> list[Any]:
        """Return what stands for an object that is no data: its number, and what is told of it."""
        if isinstance(value, types.ModuleType) and value is not self.module:
            return ["module", value.__name__]
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        facts: dict[str, Any] = {"class": type(value).__name__}
        if isinstance(value, type) and issubclass(value, BaseException):
            facts["error"] = [value.__name__, [self.encode(base) for base in value.__bases__]]
        elif (plain := plain_of(value)) is not None:
            facts["plain"] = self.encode(plain)
        elif inspect.iscoroutine(value):
            facts["coroutine"] = True
        return ["ref", self.numbers[id(value)], facts]

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; only one at a time, as threads of the code print."""
        line = json.dumps(message).encode() + b"\n"
        with self.sending:
            self.replies.write(line)
            self.replies.flush()


class _Printed(io.RawIOBase):
    """Where the code prints: the tests' process prints it, who may have redirected it."""

    def __init__(self, server: _Server) -> None:
        self.server = server

    def writable(self) -> bool:
        return True

    def write(self, portion: Any) -> int:
        self.server.send({"printed": bytes(portion).decode("latin-1")})
        return len(portion)


def contents(value: Any) -> list[Any]:
    """Return what is in a list, dict, set or object of the tests, in one row; nothing of a function or class."""
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, list | set | bytearray):
        return list(value)
    if isinstance(value, type | types.FunctionType):
        return []
    return [part for pair in vars(value).items() for part in pair] if hasattr(value, "__dict__") else []
