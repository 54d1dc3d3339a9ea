"""Servers of language models that run on this machine: their usual ports are asked, on explicit request only."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metrics.core.errors import MissingResource
from metrics.core.installation import missing_extra
from metrics.judge.completion import CallFailed
from metrics.judge.exchange import exchange
from metrics.judge.local.gguf_files import NO_CHAT
from metrics.judge.redact import redact
from metrics.judge.wire import decoded

if TYPE_CHECKING:
    import aiohttp

USUAL = {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
PATIENCE = 2.0  # seconds
LONGEST_BODY = 1 << 20  # bytes
MOST_MODELS = 50  # of a server
LONGEST_NAME = 200  # characters
WANTS_KEY = (401, 403)


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that answers: whose port it is, its address for `base_url`, its models; `locked`: it asks for a key."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()
    locked: bool = False


def running_servers(ports: Mapping[str, int] | None = None) -> list[ModelServer]:
    """Return the OpenAI-compatible servers on the usual ports of this machine, or on `ports`, by name.

    Each is asked once for its models; no key is sent, no other machine is asked. What answers anything else is no such
    server. Models whose names say that they embed or rank are left out. Raises MissingResource without assay[judge].
    """
    if reason := missing_extra("a search for servers", "judge", "aiohttp"):
        raise MissingResource(reason)
    return asyncio.run(_ask_servers(USUAL if ports is None else ports))


async def _ask_servers(ports: Mapping[str, int]) -> list[ModelServer]:
    import aiohttp

    async with aiohttp.ClientSession(trust_env=False) as session:
        found = await asyncio.gather(*(_ask_server(session, name, port) for name, port in ports.items()))
    return [server for server in found if server is not None]


async def _ask_server(session: "aiohttp.ClientSession", name: str, port: int) -> ModelServer | None:
    address = f"http://127.0.0.1:{port}/v1"
    try:
        status, _, body = await exchange(session, "GET", f"{address}/models", None, PATIENCE, LONGEST_BODY)
        if status in WANTS_KEY:
            return ModelServer(name, address, locked=True)
        models = _models(decoded(body)) if status == 200 else None
    except (CallFailed, ValueError):
        return None
    return None if models is None else ModelServer(name, address, models)


def _models(reply: Any) -> tuple[str, ...] | None:
    """Return the names in a list of models that can be shown and asked for; None where the reply is no such list."""
    if not isinstance(reply, dict) or not isinstance(reply.get("data"), list):
        return None
    names = (entry.get("id") for entry in reply["data"] if isinstance(entry, dict))
    usable = (name for name in names if isinstance(name, str) and _usable(name))
    return tuple(dict.fromkeys(usable))[:MOST_MODELS]


def _usable(name: str) -> bool:
    shown = 0 < len(name.strip()) == len(name) <= LONGEST_NAME and name.isprintable()
    return shown and not NO_CHAT.search(name) and redact(name) == name
