"""Records the replies of the judged conversations again, from the verdicts that conversations.json has by hand.

    python -m data.samples.record_conversations

No model is asked: the questions of the evaluators are answered by looking up the turns that they are about.
"""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from data.samples.make_conversations import MODELS, conversations
from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.judge import open_judges
from metrics.judge.cache import Cache
from metrics.judge.completion import Completion, Messages
from metrics.judge.typical_reply import blocks
from metrics.store import Workspace
from metrics.suites.samples import create, samples

TURN = re.compile(r"^\[(\d+)\] (turn \d+, \w+): (.*)$", re.MULTILINE)
ITEM = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


class ByHand:
    """A judge that says what conversations.json says."""

    def __init__(self) -> None:
        self.users: dict[str, Mapping[str, Any]] = {}
        self.replies: dict[tuple[str, str], Mapping[str, Any]] = {}  # by what the user said before, and the reply
        self.met: dict[tuple[str, str], tuple[str, int]] = {}  # by goal and last reply: the verdict, and its turn
        for each in conversations():
            self.users |= {user["say"]: user for user in each["user"]}
            for model in MODELS:
                says = each[model]["says"]
                for user, reply in zip(each["user"], says, strict=True):
                    self.replies[user["say"], reply["say"]] = reply
                goals = [(goal, place) for place, user in enumerate(each["user"]) for goal in user.get("goals", ())]
                for (goal, place), verdict in zip(goals, each[model]["met"], strict=True):
                    self.met[goal, says[-1]["say"]] = verdict, 2 * place + 2

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:  # noqa: ARG002
        """Return the verdicts on the turns, or goals, that are asked about."""
        found = blocks(messages)
        turns = [text for _, _, text in TURN.findall(found.get("TURNS", ""))]
        shown = [text for _, _, text in TURN.findall(found.get("CONVERSATION", ""))]
        made: list[Mapping[str, Any]]
        if name.endswith(("told", "goals")):
            field = "facts" if name.endswith("told") else "goals"
            made = [{field: self.users[text].get(field, [])} for text in turns]
        elif name.endswith("met"):
            made = [self._met(goal, shown[-1]) for _, goal in ITEM.findall(found["GOALS"])]
        else:
            said = [self.replies[shown[shown.index(text) - 1], text] for text in turns]
            made = [_verdict(reply, name) for reply in said]
        replies = [{"id": number, **reply} for number, reply in enumerate(made, 1)]
        return Completion(json.dumps({"replies": replies}))

    def _met(self, goal: str, last: str) -> Mapping[str, Any]:
        verdict, turn = self.met[goal, last]
        return {"reason": "", "verdict": verdict, "turn": turn}

    async def close(self) -> None:
        """There is nothing to close."""


def _verdict(reply: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if name.endswith("forgotten"):
        return {"reason": reply.get("why", ""), "forgotten": reply.get("forgets", [])}
    wrong = reply.get("role" if name.startswith("role") else "off", "")
    return {"reason": wrong, "verdict": "no" if wrong else "yes"}


def record(name: str, judge: Callable[[Suite, Outputs], Any]) -> None:
    """Evaluate a sample with a judge that says verdicts by hand, and write down the replies."""
    sample = next(one for one in samples() if one.id == name)
    asked = {name: value for name, value in sample.facts["judge"].items() if name != "replay"}
    with (
        tempfile.TemporaryDirectory() as scratch,
        patch.object(open_judges, "_missing_one", lambda *_: None),
        patch.object(open_judges, "_completers", lambda *_: (judge(*sample.read()),)),
    ):
        engine.execute(create(Workspace(Path(scratch)), sample, asked))
        Cache(Path(scratch) / "cache" / "judge").export(sample.folder / sample.facts["judge"]["replay"])


if __name__ == "__main__":
    record("conversations", lambda *_: ByHand())
