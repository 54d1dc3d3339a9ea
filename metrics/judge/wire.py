"""The requests that every chat provider is sent, without the parts that it has refused before."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from metrics.judge.completion import Messages, Trouble
from metrics.judge.label_probabilities import ALTERNATIVES
from metrics.judge.settings import JudgeSettings
from metrics.text.agents.dialects import message_of
from metrics.text.agents.traces import TraceError

SCHEMA_LINE = "The JSON object must fit this JSON schema: "
SCHEMA = "response_format"
# what the message of a provider that refuses a schema mentions
ABOUT_SCHEMA = re.compile(r"response_format|json_schema|json schema|structured|guided|grammar", re.IGNORECASE)
LOGPROBS = "logprobs"
SAMPLING = ("temperature", LOGPROBS)  # what is left out where a provider refuses it
LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"  # newer models take the one in place of the other
NO_SUCH_PARAMETER = re.compile(
    rf"{NEWER_LIMIT}|unsupported|not (?:be )?(?:supported|permitted|allowed)|un(?:known|recognized|expected)|extra"
    rf"|not support \D{{0,20}}{LIMIT}",
    re.I,
)
REFUSALS = (400, 422)
FILTERED = ("content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii")
MAY_PASS = (408, 409, 425, 429)
HOPELESS = (401, 402, 403, 404, 405)
OVER_THE_LIMIT = 429


class Wire:
    """Builds the requests to one judge; it remembers what the judge has refused."""

    def __init__(self, settings: JudgeSettings, *, takes_schemas: bool = True):
        self._settings = settings
        self._refused: set[str] = set() if takes_schemas else {SCHEMA}

    def request(self, messages: Messages, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return messages, sampling and the form of the reply: as a schema, or as a line of the prompt.

        Without a schema any text is a reply.
        """
        sent = [dict(message) for message in messages]
        request = {
            "messages": sent, "temperature": self._settings.temperature, "max_tokens": self._settings.max_tokens,
            **self._settings.options,
        }  # fmt: skip
        if schema and self._settings.asks_probabilities and LOGPROBS not in self._refused:
            request |= {LOGPROBS: True, "top_logprobs": ALTERNATIVES}
        if not schema:
            pass
        elif SCHEMA in self._refused:
            sent[0]["content"] += f"\n{SCHEMA_LINE}{json.dumps(schema, ensure_ascii=False)}"
        else:
            form = {"name": name.replace(".", "_"), "schema": schema, "strict": True}
            request[SCHEMA] = {"type": "json_schema", "json_schema": form}
        if LIMIT in self._refused:
            request.setdefault(NEWER_LIMIT, request[LIMIT])
        return {key: value for key, value in request.items() if key not in self._refused}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parameters that are not sent because the provider refuses them."""
        return tuple(name for name in SAMPLING if name in self._refused)

    def option_refused(self, status: int | None, message: str) -> str | None:
        """Return in words that the provider refuses an option that was set; None where it is about something else."""
        names = [name for name in self._settings.options if name in message] if status in REFUSALS else []
        if not names:
            return None
        settings = ", ".join(f"{name} = {self._settings.options[name]}" for name in names)
        return f"the provider refuses {settings}; change or remove it in the judge's settings. It says: {message}"

    def learn(self, status: int | None, message: str, request: Mapping[str, Any]) -> bool:
        """Remember what the provider has just refused; return whether the request is worth another try without it."""
        if status not in REFUSALS and not (status in (500, 501) and NO_SUCH_PARAMETER.search(message)):
            return False
        if self.option_refused(status, message):
            return False
        refusable = (*SAMPLING, LIMIT) if NO_SUCH_PARAMETER.search(message) else SAMPLING
        places = {name: message.find(name) for name in refusable if name in message and name in request}
        named = min(places, key=places.__getitem__, default="")
        about = SCHEMA if ABOUT_SCHEMA.search(message) and named != LOGPROBS else named
        if about not in request:
            return False
        self._refused.add(about)
        return True


def decoded(body: bytes) -> Any:
    """Return the JSON value of a response's body; of one that is streamed, what its chunks make. Raises ValueError."""
    try:
        return _join_chunks(body) if body.lstrip()[:5] == b"data:" else json.loads(body)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _join_chunks(body: bytes) -> Any:
    """Return the chat completion that the events of a stream make, or the error among them."""
    events = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    chunks = [json.loads(event) for event in events if event != b"[DONE]"]
    choices = [choice for chunk in chunks for choice in chunk.get("choices") or () if not choice.get("index")]
    end = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), None)
    if failed := next((chunk for chunk in chunks if chunk.get("error")), None):
        return failed
    if end is None and events[-1] != b"[DONE]":
        raise ValueError("a stream without an end")
    message: dict[str, str] = {}
    for name, text in (part for choice in choices for part in (choice.get("delta") or {}).items()):
        if isinstance(text, str):
            message[name] = text if name == "role" else message.get(name, "") + text
    usage = next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None)
    return {"choices": [{"message": message, "finish_reason": end}], "usage": usage}


def content_filter_in(choice: Mapping[str, Any]) -> str | None:
    """Return in words that a provider's content filter stopped a reply, and what it says of it; None where not."""
    if str(choice.get("finish_reason")).lower() not in FILTERED:
        return None
    details = choice.get("content_filter_results") or (choice.get("message") or {}).get("refusal")
    return "the provider's content filter stopped the reply" + (f": {json.dumps(details)}" if details else "")


def thoughts_in(message: Mapping[str, Any]) -> str:
    """Return what a model thought, where the message of a chat completion tells it beside the text; "" if nothing."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str):
            return str(message[name])
    try:
        parts = message_of({"role": "assistant", "content": message.get("content")}).parts
    except TraceError:
        return ""
    return "\n".join(part.text for part in parts if part.kind == "reasoning" and part.text)


def said_in(message: Mapping[str, Any]) -> str:
    """Return what the message of a chat completion says, as text, a tool call or a refusal; "" if nothing.

    Raises LookupError, TypeError or AttributeError where it is no such message.
    """
    content = message.get("content")
    if isinstance(content, list):  # in parts, some of which may be thoughts
        content = "".join(part.get("text") or "" for part in content if part.get("type") in ("text", "output_text"))
    if not content and message.get("tool_calls"):
        content = message["tool_calls"][0]["function"]["arguments"]
    # litellm puts what is not OpenAI's own, as it thinks, into provider_specific_fields
    found = content or message.get("refusal") or (message.get("provider_specific_fields") or {}).get("refusal") or ""
    if not isinstance(found, str):
        raise TypeError("no text")
    return found


def trouble_of(status: int | None) -> Trouble:
    """Return what an HTTP status means for other tries and requests; None: there was no response."""
    if status in HOPELESS or (status is not None and 300 <= status < 400):
        return "unusable"
    if status is not None and 400 <= status < 500 and status not in MAY_PASS:
        return "refused"
    return "busy"


def wait_asked_for(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which a response's headers ask for another try; None where they do not say.

    Of milliseconds, seconds and an HTTP date, which may be any number from 0 to infinity: what is too long is the
    caller's to say. When a rate limit is reset is not read: that is when all of it is free again.
    """
    own = {name.lower(): text for name, text in headers.items()}
    for name, unit in (("retry-after-ms", 1000), ("x-ms-retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(own[name]) / unit)
        except (KeyError, ValueError):
            pass
    try:
        return max(0.0, (parsedate_to_datetime(own["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
