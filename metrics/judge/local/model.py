"""A GGUF language model in this process: replies that obey a JSON schema, and how likely it finds each label."""

import json
import math
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.judge.completion import Messages

WINDOW = 8_192  # tokens of prompt and reply together: 230 MB of memory
ALTERNATIVES = 20  # most likely first tokens that are looked at for the labels


@dataclass(frozen=True, slots=True)
class Said:
    """What the model said: the text, whether it was cut by the token limit, and what it cost in tokens."""

    text: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int


class LocalModel:
    """A GGUF file, loaded when it is first asked. One question at a time: the cores are shared anyway."""

    def __init__(self, path: Path):
        self.path = path
        self._lock = threading.Lock()

    def complete(self, messages: Messages, schema: Mapping[str, Any], max_tokens: int) -> Said:
        """Return a JSON reply of the form of `schema`, decoded greedily."""
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
        said = self._asked({"messages": messages, "max_tokens": max_tokens, "response_format": form})
        choice = said["choices"][0]
        return Said(choice["message"]["content"] or "", choice["finish_reason"] == "length", *_tokens(said))

    def likelihood(self, messages: Messages, labels: Sequence[str]) -> tuple[dict[str, float], Said]:
        """Return how likely each label is as the first word of the reply: the shares of the labels among themselves.

        Labels begin with different tokens. Nothing but other words among the likeliest: every share is 0.
        """
        body = {"messages": messages, "max_tokens": 1, "logprobs": True, "top_logprobs": ALTERNATIVES}
        said = self._asked(body)
        found = dict.fromkeys(labels, 0.0)
        for token in said["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            word = token["token"].strip().lower()
            for label in labels:
                if word and label.lower().startswith(word):
                    found[label] += math.exp(token["logprob"])
        total = sum(found.values())
        shares = {label: share / total for label, share in found.items()} if total else found
        return shares, Said(json.dumps(shares), False, *_tokens(said))

    def _asked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            said = self._server.handle_chat_completions({"temperature": 0, "cache_prompt": True, **body})
        reply: dict[str, Any] = json.loads(said) if isinstance(said, str | bytes) else said
        if "choices" not in reply:
            raise ValueError(f"the local model cannot answer: {reply.get('error', {}).get('message', reply)}")
        return reply

    @cached_property
    def _server(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise MissingResource("the local judge needs xllamacpp; get it by `pip install xllamacpp`") from None
        asked = xllamacpp.CommonParams()
        asked.model.path = str(self.path)
        asked.n_ctx = WINDOW
        asked.n_parallel = 1
        asked.warmup = False
        asked.verbosity = -1
        asked.offline = True
        asked.api_keys = [secrets.token_urlsafe()]  # its port on the loopback is for nobody else on this machine
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = allowed
        try:
            return xllamacpp.Server(asked)
        except Exception as failure:
            raise MissingResource(
                f"{self.path} cannot be loaded as a GGUF model ({type(failure).__name__}: {failure}); "
                "install it again by `python -m metrics judge install`"
            ) from failure


def _tokens(said: Mapping[str, Any]) -> tuple[int, int]:
    usage = said.get("usage") or {}
    return int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
