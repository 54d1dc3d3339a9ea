"""Asking a target one question, whatever its kind."""

from typing import Any, Protocol

from metrics.core.errors import MissingResource
from metrics.core.installation import missing_extra
from metrics.targets.answers import Answer
from metrics.targets.description import CommandTarget, FunctionTarget, HttpTarget, ModelTarget, Target
from metrics.targets.templates import Fields


class Asker(Protocol):
    """A target that can be asked, within one event loop."""

    def request(self, fields: Fields, run: int) -> Any:
        """Return what is sent for a case: plain data, without keys. Equal requests have equal answers."""

    async def send(self, request: Any) -> Answer:
        """Return the answer to a request. Raises CallFailed."""

    async def close(self) -> None:
        """Close the connections."""


def open_asker(target: Target) -> Asker:
    """Return what asks a target. Raises MissingResource or InputError where it is not there."""
    if isinstance(target, HttpTarget):
        if reason := missing_extra("a target behind an address", "judge", "aiohttp"):
            raise MissingResource(reason)
        from metrics.targets.ask_http import HttpAsker

        return HttpAsker(target)
    if isinstance(target, CommandTarget):
        from metrics.targets.ask_command import CommandAsker

        return CommandAsker(target)
    if isinstance(target, FunctionTarget):
        from metrics.targets.ask_function import FunctionAsker

        return FunctionAsker(target)
    assert isinstance(target, ModelTarget)
    from metrics.targets.ask_model import ModelAsker

    return ModelAsker(target)
