"""A language model as a target: its prompt filled in, its reply as the answer."""

from collections.abc import Mapping
from typing import Any

from metrics.judge.completion import Completer
from metrics.judge.open_judges import open_completer
from metrics.targets.answers import Answer, answer_from, clean
from metrics.targets.description import ModelTarget
from metrics.targets.templates import PLACEHOLDER, Fields, fill


class ModelAsker:
    """Asks through the clients of the judge, without a form for the reply."""

    def __init__(self, target: ModelTarget):
        self._target = target
        self._opened: dict[int | None, Completer] = {}  # by seed
        names = {name for text in target.texts() for _, name in PLACEHOLDER.findall(text)}
        self._given_contexts = "contexts" in names

    def request(self, fields: Fields, run: int) -> Any:
        """Return the messages, and the passages in them; repeats differ by their number."""
        system, prompt = self._target.system, self._target.prompt
        messages = [{"role": "system", "content": fill(system, fields)}] if system else []
        messages.append({"role": "user", "content": fill(prompt, fields)})
        contexts = {"contexts": fields["contexts"]} if self._given_contexts else {}
        return {"messages": messages, "repeat": run, **contexts}

    async def send(self, request: Mapping[str, Any]) -> Answer:
        """Return the reply; the passages of the prompt are what it retrieved."""
        made = await self._completer(request["repeat"]).complete(request["messages"], {}, "answer")
        tokens = None if made.prompt_tokens is None else made.prompt_tokens + (made.completion_tokens or 0)
        contexts = request.get("contexts")
        given = {"answer": made.text, "retrieved_contexts": contexts, "cost_usd": made.cost_usd, "tokens": tokens}
        more = {"cut": f"at {self._target.max_tokens:,} tokens"} if made.cut else {}
        if made.reasoning:
            more["reasoning"] = clean(made.reasoning)
        if made.left_out:
            more["left_out"] = f"{', '.join(made.left_out)}: refused by the model"
        return answer_from(given, more)

    async def close(self) -> None:
        """Close the connections."""
        for completer in self._opened.values():
            await completer.close()

    def _completer(self, repeat: int) -> Completer:
        """Return the model with the seed of a repeat, opened on use."""
        settings = self._target.settings()
        if settings.seed is not None:
            settings = settings.model_copy(update={"seed": settings.seed + repeat - 1})
        if settings.seed not in self._opened:
            self._opened[settings.seed] = open_completer(settings, "target")
        return self._opened[settings.seed]
