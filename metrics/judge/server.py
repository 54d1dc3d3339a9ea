"""Judges at an OpenAI-compatible address (vLLM, Ollama, llama.cpp …), called directly, without litellm."""

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metrics.judge import wire
from metrics.judge.completion import LONGEST_BODY, CallFailed, Completion, Messages
from metrics.judge.exchange import connector, exchange, is_this_machine
from metrics.judge.keys import KEY, how_to_allow, kept_back, redact_start
from metrics.judge.label_probabilities import shares_of, tokens_of
from metrics.judge.settings import JudgeSettings

if TYPE_CHECKING:
    import aiohttp

NO_KEY = "none"  # sent to a server that needs no key
PREFIXES = ("openai/", "hosted_vllm/")  # of such servers' models in litellm
NO_ENTRY = (401, 403)
VERSIONED = re.compile(r"/v\d|/openai")  # what the path of an address has
NO_PATH = re.compile(r"not found|no such (?:path|route|endpoint)|unexpected endpoint|cannot post", re.IGNORECASE)
MOST_TOKENS = 1_000_000_000  # that a reply may state: no budget is filled, emptied or overflown by one
MAX_ERROR_SHOWN = 300


class Server:
    """A model at an address; see Completer. Its price is unknown."""

    def __init__(self, settings: JudgeSettings):
        self._settings = settings
        self._wire = wire.Wire(settings)
        named = (settings.model.removeprefix(prefix) for prefix in PREFIXES if settings.model.startswith(prefix))
        self._model = next(named, settings.model)
        self._base = str(settings.base_url).rstrip("/")
        self._address = self._base + "/chat/completions"
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        """Return the model's reply. A refused schema moves into the prompt, a refused temperature is left out."""
        while True:
            request = self._wire.request(messages, schema, name)
            status, headers, body = await self._post({"model": self._model, **request})
            message = _message(body)
            if status == 200:
                if (error := _error_in(body)) is None:
                    return _read_response(body, self._wire.left_out, schema)
                status = _status_of(error)
            if refused := self._wire.option_refused(status or 400, message):
                raise CallFailed(refused, "unusable")
            if not self._wire.learn(status or 400, message, request):
                text = f"HTTP {status}: {message}" if status else f"HTTP 200 with an error: {message}"
                if (status in (404, 405) or NO_PATH.search(message)) and not VERSIONED.search(self._address):
                    text += f" (the address has no /v1; servers of this kind are at {self._base}/v1)"
                if status in NO_ENTRY and kept_back(self._settings):
                    text += f" ({how_to_allow(KEY, self._address)})"
                limited = status == wire.OVER_THE_LIMIT
                raise CallFailed(text, wire.trouble_of(status), wire.wait_asked_for(headers), limited)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _post(self, request: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body of the reply. Raises CallFailed without one."""
        content = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        return await exchange(self._connected(), "POST", self._address, content, self._settings.timeout, LONGEST_BODY)

    def _connected(self) -> "aiohttp.ClientSession":
        """Return the session with its connections, created within the event loop that uses it."""
        if self._session is None:
            import aiohttp

            key = NO_KEY if kept_back(self._settings) else os.environ.get(KEY) or NO_KEY
            self._session = aiohttp.ClientSession(
                connector=connector(self._settings.concurrency),
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=not is_this_machine(self._address),  # no proxy in between
            )
        return self._session


def _error_in(body: bytes) -> Any:
    """Return the error that a body states, of the whole or of its choice; None for one without."""
    try:
        reply = wire.decoded(body)
        choices = reply.get("choices") or [{}]
        told = [reply.get(name) for name in ("detail", "message") if "choices" not in reply]
        if text := next((text for text in told if isinstance(text, str) and text), None):
            return reply.get("error") or reply | {"message": text}
        return reply.get("error") or choices[0].get("error") or (reply if reply.get("object") == "error" else None)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _status_of(error: Any) -> int:
    """Return the HTTP status that an error in a body of status 200 states; 0 where it states none."""
    code = (error.get("status") or error.get("code")) if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 0


def _read_response(body: bytes, left_out: tuple[str, ...], schema: Mapping[str, Any]) -> Completion:
    try:
        reply = wire.decoded(body)
        choice = reply["choices"][0]
        if stopped := wire.content_filter_in(choice):
            raise CallFailed(redact_start(stopped, MAX_ERROR_SHOWN), "refused")
        text = wire.said_in(choice["message"])
        usage = reply.get("usage") or {}
        counts = [usage.get(name) or None for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise CallFailed(f"the response is not a chat completion: {_message(body)}") from None
    if not all(isinstance(count, int | None) for count in counts):
        raise CallFailed("the response is not a chat completion of text")
    counts = [count if count is None or 0 < count <= MOST_TOKENS else None for count in counts]
    cut = choice.get("finish_reason") == "length"
    shares = shares_of(text, tokens_of(choice.get("logprobs")), schema)
    return Completion(text, counts[0], counts[1], None, cut, left_out, shares, wire.thoughts_in(choice["message"]))


def _message(body: bytes) -> str:
    """Return the message in an error's body, or the beginning of the body, without keys."""
    error = _error_in(body)
    text = body.decode("utf-8", "replace")
    if error is not None:
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    return redact_start(text, MAX_ERROR_SHOWN)
