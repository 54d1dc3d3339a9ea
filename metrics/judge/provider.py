"""Judges of hosted providers, by the name that litellm gives them."""

import asyncio
import contextlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from metrics.core.errors import describe_failure
from metrics.core.rounding import exact_sum
from metrics.judge.completion import LONGEST_BODY, CallFailed, Completion, Messages
from metrics.judge.exchange import refuse_metadata_address
from metrics.judge.keys import redact_start
from metrics.judge.label_probabilities import shares_of, tokens_of
from metrics.judge.settings import JudgeSettings
from metrics.judge.wire import OVER_THE_LIMIT, Wire, content_filter_in, said_in, thoughts_in, trouble_of, wait_asked_for

if TYPE_CHECKING:
    import httpx

MAX_ERROR_SHOWN = 600
ASK_METADATA = "ASSAY_CLOUD_METADATA"  # "1": credentials may come from the metadata service of the cloud
WITHOUT_METADATA = {"AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}  # of boto3, of google-auth
NO_CREDENTIALS = re.compile(  # as boto3, litellm, google-auth and azure-identity say it
    "unable to locate cred|no usable AWS cred|default credentials were not found|failed to retrieve a token", re.I
)
NO_PROVIDER = "LLM Provider NOT provided"  # what litellm says of a model that it cannot place


@cache
def library() -> Any:
    """Return the module litellm, set up to use no network at import, no telemetry and no output."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise it fetches prices at import
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise it reads a .env file
    if os.environ.get(ASK_METADATA) != "1":
        os.environ |= WITHOUT_METADATA
        sys.addaudithook(_refuse_metadata)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pydantic, about litellm's own models, which are built on first use
        import litellm
        from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

        litellm.ModelResponse()
    bound(LiteLLMAiohttpTransport)
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # what a provider does not take is left out by us, who say so, or is an error
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


def _refuse_metadata(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a connection to a metadata service that litellm, or what a provider needs beside it, makes for us."""
    if event == "socket.connect" and _OURS.get() and isinstance(address := arguments[1], tuple):
        with contextlib.suppress(ValueError):  # of a host that is a name
            refuse_metadata_address(address[0])


def listed_price(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """Return the dollars by litellm's own price list; None for a model without a listed price."""
    try:
        sums = library().cost_per_token(model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    except Exception:  # it raises a plain Exception for a model it does not know
        return None
    return float(exact_sum(sums)) or None


def listed_window(model: str) -> int | None:
    """Return the tokens that a model takes by litellm's own list; None for a model that is not listed."""
    known: dict[str, dict[str, Any]] = library().model_cost
    names = (model, model.partition("/")[2])
    return next((int(size) for name in names if (size := known.get(name, {}).get("max_input_tokens"))), None)


class Provider:
    """A model reached through litellm; see Completer."""

    def __init__(self, settings: JudgeSettings):
        self._settings = settings
        self._litellm = library()
        self._wire = Wire(settings, takes_schemas=bool(self._litellm.supports_response_schema(settings.model)))

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        """Return the model's reply. A refused schema moves into the prompt, a refused temperature is left out."""
        limits = {"timeout": self._settings.timeout, "num_retries": 0, "max_retries": 0}
        while True:
            request = self._wire.request(messages, schema, name)
            try:
                async with asyncio.timeout(self._settings.timeout):
                    with within_bounds():
                        made = await self._litellm.acompletion(model=self._settings.model, **request, **limits)
                    return self._read_response(made, schema)
            except CallFailed:
                raise
            except TimeoutError:
                raise CallFailed(f"no reply in {self._settings.timeout:g} s") from None
            except Exception as failure:
                if long := too_long(failure):
                    raise CallFailed(long, "refused") from None
                status = getattr(failure, "status_code", None)
                if refused := self._wire.option_refused(status, str(failure)):
                    raise CallFailed(redact_start(refused, MAX_ERROR_SHOWN), "unusable") from None
                if not self._wire.learn(status, str(failure), request):
                    raise self._failed(failure) from None

    async def close(self) -> None:
        """Close the connections of this event loop."""
        with contextlib.suppress(Exception):
            await self._litellm.close_litellm_async_clients()

    def _read_response(self, response: Any, schema: Mapping[str, Any]) -> Completion:
        choice = response.choices[0] if response.choices else None
        usage = getattr(response, "usage", None)
        prompt, reply = (getattr(usage, name, None) or None for name in ("prompt_tokens", "completion_tokens"))
        message = choice.message.model_dump() if choice else {}
        told = getattr(choice, "provider_specific_fields", None) or {}
        if isinstance(error := told.get("error"), dict):
            raise CallFailed(redact_start(str(error.get("message", error)), MAX_ERROR_SHOWN))
        if choice and (stopped := content_filter_in({"finish_reason": choice.finish_reason, "message": message})):
            raise CallFailed(redact_start(stopped, MAX_ERROR_SHOWN), "refused")
        text = said_in(message)
        logprobs = getattr(choice, "logprobs", None)
        if logprobs is not None and hasattr(logprobs, "model_dump"):
            logprobs = logprobs.model_dump()
        return Completion(
            text,
            prompt,
            reply,
            None if prompt is None else listed_price(self._settings.model, prompt, reply or 0),
            choice is not None and choice.finish_reason == "length",
            self._wire.left_out,
            shares_of(text, tokens_of(logprobs), schema),
            thoughts_in(message),
        )

    def _failed(self, failure: Exception) -> CallFailed:
        text = redact_start(describe_failure(failure), MAX_ERROR_SHOWN)
        if NO_PROVIDER in text:
            text = f"litellm knows no model {self._settings.model!r}; name its provider too, as in openai/NAME, "
            text += "or give the address of a server"
        if NO_CREDENTIALS.search(text):
            text = f"no credentials for {self._settings.model}: set those of its provider in the environment, or "
            text += f"{ASK_METADATA}=1 to get them from the metadata service of the cloud that this machine is in"
            return CallFailed(text, "unusable")
        own = (self._litellm.ContextWindowExceededError, self._litellm.ContentPolicyViolationError)
        if isinstance(failure, own):  # some providers return them with a status that would stop the run
            return CallFailed(text, "refused")
        status = getattr(failure, "status_code", None)
        headers = getattr(failure, "litellm_response_headers", None) or {}
        return CallFailed(text, trouble_of(status), wait_asked_for(headers), status == OVER_THE_LIMIT)


# of the length and the form that the body had on its way, and of the address that it would lead to
DROPPED = ("content-encoding", "content-length", "transfer-encoding", "location")

_OURS = ContextVar("_OURS", default=False)  # the user's own code may call litellm beside us


class TooLong(Exception):
    """A reply has too many bytes."""


def bound(transport: Any) -> None:
    """Let transports of this class read replies to what is asked `within_bounds` here, counted while they unpack."""
    import httpx

    send = transport.handle_async_request

    async def handle_async_request(self: Any, request: "httpx.Request") -> "httpx.Response":
        response: httpx.Response = await send(self, request)
        if not _OURS.get():
            return response
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LONGEST_BODY:
                    raise TooLong(f"a reply of more than {LONGEST_BODY:,} bytes")
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in DROPPED]
        return httpx.Response(response.status_code, headers=headers, content=bytes(body), request=request)

    transport.handle_async_request = handle_async_request


@contextlib.contextmanager
def within_bounds() -> Iterator[None]:
    """Ask so that replies are bounded."""
    before = _OURS.set(True)
    try:
        yield
    finally:
        _OURS.reset(before)


def too_long(failure: BaseException | None) -> str | None:
    """Return that a failure, or what it came from, is a reply of too many bytes; None where it is not."""
    while failure is not None and not isinstance(failure, TooLong):
        failure = failure.__cause__ or failure.__context__
    return None if failure is None else str(failure)
