"""Descriptions of targets. They are stored with the outputs, so keys are never part of them."""

import inspect
import json
import os
import re
import sys
from abc import abstractmethod
from collections.abc import Callable
from functools import reduce
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from metrics.core.errors import InputError, InputProblem, describe_failure
from metrics.core.files import sha256_of
from metrics.core.plugins import file_module
from metrics.judge.keys import redact
from metrics.judge.local.install import gguf_file, weights_of
from metrics.judge.settings import OPTIONS, JudgeSettings
from metrics.targets.json_path import parse_path
from metrics.targets.templates import PLACEHOLDER

VARIABLE = re.compile(r"\{([A-Za-z_]\w*)\}")  # in the value of a header
LONGEST_CODE = 1 << 26  # bytes of a file of a command that are hashed
SPEED = ("concurrency", "timeout", "tries", "backoff", "requests_per_minute", "tokens_per_minute")


def imported(name: str) -> Callable[..., Any]:
    """Return the function `module:function` or `file.py:function`. Raises InputError where there is none."""
    place, _, path = name.rpartition(":")
    try:
        is_file = place.endswith(".py")
        folder = str(Path(place).absolute().parent) if is_file else os.getcwd()
        if folder not in sys.path:
            sys.path.insert(0, folder)
        found: Any = reduce(getattr, path.split("."), file_module(Path(place)) if is_file else import_module(place))
    except Exception as failure:  # whatever its import raises
        reason = describe_failure(failure)
        raise InputError([InputProblem("target", f"{name} ({reason})", "a function that can be imported")]) from failure
    if not callable(found):
        raise InputError([InputProblem("target", f"{name}, a {type(found).__name__}", "a function")])
    function: Callable[..., Any] = found
    return function


def takes_text(function: Callable[..., Any]) -> bool:
    """Return whether the first argument of a function is annotated as a text."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return False
    return first is not None and first.annotation in (str, "str")


class Description(BaseModel):
    """What every target has. `SPEED` and the name do not change answers; everything else does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    name: str = Field("", description="Name of the model in the outputs; empty: made of the rest.")
    version: str = Field("", description="Any text; with another one every case is asked again.")
    reveal_expected: bool = Field(
        False, description="Let the target see expected answers, labels and conditions. Only to test a test."
    )
    concurrency: int = Field(4, ge=1, le=1024, description="Requests in flight at once.")
    timeout: float = Field(120.0, gt=0, description="Seconds a call may take.")
    tries: int = Field(3, ge=1, le=100, description="How often a case is asked before it counts as failed.")
    backoff: float = Field(0.5, ge=0, description="Seconds before the second try; doubled each time.")
    requests_per_minute: float | None = Field(None, gt=0, description="Most requests a minute.")
    tokens_per_minute: float | None = Field(None, gt=0, description="Most tokens a minute.")

    _fingerprint: str | None = PrivateAttr(None)  # of weights it takes seconds

    @model_validator(mode="after")
    def _without_keys(self) -> Self:
        text = self.model_dump_json()
        if redact(text) != text:
            raise ValueError("it holds what looks like a key: put that into the environment")
        return self

    @property
    def title(self) -> str:
        """The name of the model in the outputs."""
        return self.name or self.made_name()

    @abstractmethod
    def made_name(self) -> str:
        """Return a name made of what is asked."""

    def texts(self) -> tuple[str, ...]:
        """Return the texts with placeholders."""
        return ()

    def code(self) -> dict[str, str]:
        """Return the sha256 of the files that answer, by name."""
        return {}

    def stored(self) -> dict[str, Any]:
        """Return the description as it is stored: all that may change an answer, and other settings that were made."""
        own = self.model_dump(mode="json", exclude=set(SPEED))
        made = self.model_dump(mode="json", exclude_defaults=True, include=set(SPEED))
        return {name: value for name, value in own.items() if value not in ("", None, {}, False)} | made

    def fingerprint(self) -> str:
        """Return the sha256 of all that may change an answer: settings, and the code or weights behind them."""
        if self._fingerprint is None:
            own = self.model_dump(mode="json", exclude={"name", *SPEED})
            content = json.dumps([own, self.code()], sort_keys=True)
            self._fingerprint = sha256(content.encode("utf-8", "replace")).hexdigest()
        return self._fingerprint


class ModelTarget(Description):
    """A language model by litellm's name, at an OpenAI-compatible address, or a GGUF file in this process."""

    kind: Literal["model"] = "model"
    model: str = Field(min_length=1, description='Name as litellm knows it ("gpt-4o-mini"), "local", "local:FILE".')
    base_url: str | None = Field(None, description="Address of an OpenAI-compatible server (vLLM, Ollama, llama.cpp).")
    system: str = Field("", description="System message; placeholders as in the prompt.")
    prompt: str = Field(
        "{question}", min_length=1, description="User message: text with placeholders such as {question}."
    )
    temperature: float = Field(0.0, ge=0, le=2, description="Sampling temperature; 0: the likeliest answer.")
    max_tokens: int = Field(1024, ge=16, description="Most tokens of an answer; a longer one is cut.")
    top_p: float | None = Field(None, gt=0, le=1, description="Share of the likeliest tokens to sample from.")
    seed: int | None = Field(None, description="Seed, where the model takes one; repeat n is asked with seed + n - 1.")
    presence_penalty: float | None = Field(None, ge=-2, le=2, description="Penalty on tokens that were there already.")
    frequency_penalty: float | None = Field(None, ge=-2, le=2, description="Penalty on tokens by how often they were.")
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = Field(
        None, description="How long a reasoning model may think, within max_tokens."
    )

    @model_validator(mode="after")
    def _usable(self) -> Self:
        self.settings()
        return self

    def made_name(self) -> str:
        """Return the model's name, and its server where it has one."""
        return self.settings().name

    def texts(self) -> tuple[str, ...]:
        """Return system message and prompt."""
        return self.system, self.prompt

    def settings(self) -> JudgeSettings:
        """Return the settings by which the judge's clients ask this model."""
        own = {"model", "base_url", "temperature", "max_tokens", "concurrency", "timeout", *OPTIONS}
        return JudgeSettings.model_validate(self.model_dump(include=own))

    def code(self) -> dict[str, str]:
        """Return the sha256 of local weights."""
        if not self.settings().is_local:
            return {}
        weights = weights_of(gguf_file(self.model))
        return {} if weights is None else {"weights": weights}


class HttpTarget(Description):
    """An HTTP endpoint: one request a case, the answer somewhere in its JSON reply."""

    kind: Literal["http"] = "http"
    url: str = Field(min_length=1, description="Address; placeholders may stand in its path and query.")
    method: Literal["POST", "GET", "PUT"] = Field("POST", description="HTTP method; GET has no body.")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description='Headers whose values are environment variables: {"Authorization": "Bearer {BOT_KEY}"}.',
    )
    body: Any = Field(
        default_factory=lambda: {"question": "{question}"}, description="JSON body; placeholders stand in its texts."
    )
    answer: str = Field(
        "", description="Path of the answer in the reply (choices[0].message.content); empty: as named."
    )
    contexts: str = Field("", description="Path of the retrieved passages (docs[*].text).")
    context_ids: str = Field("", description="Path of the ids of the passages (docs[*].id).")
    citations: str = Field("", description="Path of the citations.")
    trace: str = Field("", description="Path of the agent's trace.")
    cost_usd: str = Field("", description="Path of the cost in dollars.")
    tokens: str = Field("", description="Path of the number of tokens; several are added.")

    @field_validator("answer", "contexts", "context_ids", "citations", "trace", "cost_usd", "tokens")
    @classmethod
    def _path(cls, text: str) -> str:
        parse_path(text)
        return text

    @field_validator("headers")
    @classmethod
    def _from_environment(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
                raise ValueError(f"{name!r} is no name of a header")
            if not VARIABLE.search(value) or not (value.isascii() and value.isprintable()):
                raise ValueError(f"the header {name} needs a value from the environment, such as Bearer {{BOT_KEY}}")
        return headers

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url must be an address like https://bot.example/ask")
        if parts.username or parts.password:
            raise ValueError("url must not hold a password; name a header with a value from the environment")
        if PLACEHOLDER.search(parts.netloc):
            raise ValueError("placeholders may stand in the path and the query of a url, not in its host")
        return url

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that are sent."""
        return tuple(dict.fromkeys(name for value in self.headers.values() for name in VARIABLE.findall(value)))

    def made_name(self) -> str:
        """Return host and path."""
        parts = urlsplit(self.url)
        return parts.netloc + parts.path.rstrip("/")

    def texts(self) -> tuple[str, ...]:
        """Return every text of address and body."""
        return self.url, *_texts_in(self.body)


class CommandTarget(Description):
    """A program that reads a case as JSON from its input and writes the answer, as text or JSON, to its output."""

    kind: Literal["command"] = "command"
    argv: tuple[str, ...] = Field(min_length=1, description="Program and arguments, as they are: no shell.")

    def made_name(self) -> str:
        """Return the command."""
        return " ".join(self.argv)

    def code(self) -> dict[str, str]:
        """Return the sha256 of the files among the arguments, so that an edited script is asked again."""
        files = [text for text in self.argv if Path(text).is_file() and Path(text).stat().st_size <= LONGEST_CODE]
        return {text: sha256_of(Path(text)) for text in files}


class FunctionTarget(Description):
    """A Python function, plain or async, of a case: `module:function` or `file.py:function`."""

    kind: Literal["function"] = "function"
    function: str = Field(pattern=r"^.+:[\w.<>]+$", description="module:function or file.py:function.")
    _given: Callable[..., Any] | None = PrivateAttr(None)

    @classmethod
    def around(cls, function: Callable[..., Any], **values: Any) -> "FunctionTarget":
        """Return a target that calls this very function."""
        name = getattr(function, "__qualname__", type(function).__qualname__)
        module = getattr(function, "__module__", None) or type(function).__module__
        target = cls(function=f"{module}:{name}", **{"name": name.rpartition(".")[2].strip("<>"), **values})
        target._given = function
        return target

    def made_name(self) -> str:
        """Return the function's name."""
        return self.function.rpartition(":")[2]

    def called(self) -> Callable[..., Any]:
        """Return the function. Raises InputError where there is none of that name."""
        return self._given or imported(self.function)

    def code(self) -> dict[str, str]:
        """Return the sha256 of the function's file, so that an edited one is asked again."""
        function = inspect.unwrap(self.called())
        own = function if inspect.isroutine(function) else type(function)
        try:
            file = inspect.getsourcefile(own)
            if file and Path(file).is_file():
                return {"file": sha256_of(Path(file))}
            return {"source": sha256(inspect.getsource(own).encode("utf-8", "replace")).hexdigest()}  # of a notebook
        except (TypeError, OSError):  # built in, or typed into a console
            return {}


Target = Annotated[ModelTarget | HttpTarget | CommandTarget | FunctionTarget, Field(discriminator="kind")]


def _texts_in(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return tuple(text for part in parts for text in _texts_in(part))
