"""A GGUF language model: replies that fit a JSON schema, and the likelihood of labels."""

import json
import math
import threading
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.judge.completion import Completion, Messages
from metrics.judge.local.model_process import ModelEnded, ModelProcess

ALTERNATIVES = 20  # most likely first tokens that are searched for the labels
STOPPED = ContextVar("STOPPED", default=threading.Event())  # noqa: B039 - set where nobody waits for the answer any more


class LocalModel:
    """A GGUF file, loaded on first use. One question at a time: questions would share the cores anyway."""

    def __init__(self, path: Path):
        self.path = path
        self._lock = threading.Lock()
        self._process: ModelProcess | None = None

    def complete(self, messages: Messages, schema: Mapping[str, Any], options: Mapping[str, Any]) -> Completion:
        """Return a JSON reply that fits `schema`, or any text without one.

        It is sampled by `options` (max_tokens, temperature, seed …).
        """
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
        reply = self._ask({"messages": messages, **({"response_format": form} if schema else {}), **options})
        choice = reply["choices"][0]
        return _completion(choice["message"]["content"] or "", reply, cut=choice["finish_reason"] == "length")

    def likelihood(self, messages: Messages, labels: Sequence[str]) -> tuple[dict[str, float], Completion]:
        """Return the probability of each label as the first word of the reply, normalised over the labels.

        Labels must begin with different tokens. All are 0 where no label is among the likeliest words.
        """
        body = {"messages": messages, "max_tokens": 1, "logprobs": True, "top_logprobs": ALTERNATIVES}
        reply = self._ask(body)
        found = dict.fromkeys(labels, 0.0)
        for token in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            word = token["token"].strip().lower()
            for label in labels:
                if word and label.lower().startswith(word):
                    found[label] += math.exp(token["logprob"])
        total = sum(found.values())
        shares = {label: share / total for label, share in found.items()} if total else found
        return shares, _completion(json.dumps(shares), reply)

    def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        stopped = STOPPED.get()
        with self._lock:
            if stopped.is_set():
                raise ModelEnded("the question was stopped")
            self._process = self._process or self._started(stopped)
            try:
                reply = self._process.ask({"temperature": 0, "cache_prompt": True, **body}, stopped)
            except ModelEnded:
                self._process = None  # the next question starts another
                raise
        if "choices" not in reply:
            raise ValueError(f"the local model cannot answer: {reply.get('error', {}).get('message', reply)}")
        return dict(reply)

    def _started(self, stopped: threading.Event) -> ModelProcess:
        try:
            return ModelProcess(self.path, stopped)
        except (ValueError, OSError) as failure:
            raise MissingResource(
                f"{self.path} cannot be loaded as a GGUF model ({failure}); "
                "install it again by `python -m metrics judge install`"
            ) from failure


def _completion(text: str, reply: Mapping[str, Any], *, cut: bool = False) -> Completion:
    usage = reply.get("usage") or {}
    return Completion(text, int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)), 0.0, cut)
