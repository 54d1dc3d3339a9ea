"""A Python function as a target, plain or async."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

from metrics.core.errors import describe_failure
from metrics.judge.completion import CallFailed
from metrics.targets.answers import Answer, answer_of, clean
from metrics.targets.description import FunctionTarget, takes_text
from metrics.targets.templates import Fields


class FunctionAsker:
    """Calls the function with the case as a dict, or with the question alone where its argument is a `str`."""

    def __init__(self, target: FunctionTarget):
        self._function = target.called()
        self._timeout = target.timeout
        self._question_only = takes_text(self._function)

    def request(self, fields: Fields, run: int) -> Any:
        """Return the function's argument, and the number of the repeat."""
        return {"question": fields["question"], "run": run} if self._question_only else {**fields, "run": run}

    async def send(self, request: Mapping[str, Any]) -> Answer:
        """Return the answer that the function returns. Raises CallFailed."""
        given = request["question"] if self._question_only else dict(request)
        try:
            async with asyncio.timeout(self._timeout) as limit:
                reply = await self._called(given)
        except CallFailed:
            raise
        except Exception as failure:
            if limit.expired():
                raise CallFailed(f"no answer in {self._timeout:g} s") from None
            passing = isinstance(failure, OSError)  # of the network, time-outs included
            reason = clean(describe_failure(failure))[:300]
            raise CallFailed(reason, "busy" if passing else "refused") from failure
        return answer_of(reply)

    async def close(self) -> None:
        """Do nothing: a call that hangs has a thread that ends with this process."""

    async def _called(self, given: Any) -> Any:
        call = getattr(self._function, "__call__", None)  # noqa: B004 - an object with an async __call__
        if inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(call):
            return await self._function(given)
        reply = await _in_thread(self._function, given)
        return await reply if inspect.isawaitable(reply) else reply


async def _in_thread(function: Callable[..., Any], given: Any) -> Any:
    """Return what a plain function returns, from a thread that does not keep this process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, failure: BaseException | None) -> None:
        if not future.done():
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

    def work() -> None:
        result, failure = None, None
        try:
            result = function(given)
        except BaseException as raised:  # SystemExit too is only this case's failure
            fits = isinstance(raised, Exception) and not isinstance(raised, StopIteration)  # which a future refuses
            failure = raised if fits else RuntimeError(repr(raised))
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:  # the loop has ended meanwhile
            return

    threading.Thread(target=work, daemon=True).start()
    return await future
