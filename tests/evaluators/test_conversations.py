"""Conversations: what the judge is shown of long ones, and the verdicts on each turn."""

import asyncio
import json
import re
from typing import Any

import pytest

from metrics.core.evaluator import CaseScore
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.scripted import ScriptedJudge
from tests.judge.server import Request

NUMBER = re.compile(r"turn (\d+), (user|assistant)")


def trace(turns: int, words: str = "x") -> str:
    return json.dumps([{"role": ("user", "assistant")[n % 2], "text": f"{words} {n + 1}"} for n in range(turns)])


def score(name: str, case: Case, judge: ScriptedJudge) -> CaseScore:
    entry = evaluators()[name]
    return asyncio.run(entry(case, entry.parameters.model_validate({}), judge=judge))


def numbers(block: str) -> list[int]:
    return [int(number) for number, _ in NUMBER.findall(block)]


def relevant(request: Request) -> Any:
    """Every tenth turn is beside the point."""
    return [{"reason": f"turn {n}", "verdict": "no" if n % 10 == 0 else "yes"} for n in numbers(request.data["TURNS"])]


def test_a_long_conversation_is_asked_about_in_batches() -> None:
    """100 turns: 50 of the assistant, of which the 10th, 20th … do not fit; none is judged by what comes later."""
    judge = ScriptedJudge(relevant)
    found = score("turn_relevance", Case(trace=trace(100)), judge)
    assert found.values == {"turn_relevance": 0.8, "all_relevant": 0.0}
    shown = [(numbers(call.data["TURNS"]), numbers(call.data["CONVERSATION"])) for call in judge.calls]
    assert sorted(n for asked, _ in shown for n in asked) == list(range(2, 101, 2))
    for asked, seen in shown:
        assert seen == list(range(max(1, asked[0] - 10), asked[-1] + 1))
        assert len(asked) <= 20
    bad = [verdict for verdict in found.evidence.verdicts["replies"] if verdict.holds == "no"]
    assert [(verdict.rests_on, verdict.reason) for verdict in bad] == [
        ((("turns", n),), f"turn {n}") for n in range(10, 101, 10)
    ]


@pytest.mark.parametrize("room", [300, 2_000])
def test_long_turns_fit_into_the_judges_room(room: int) -> None:
    judge = ScriptedJudge(relevant, room)
    found = score("turn_relevance", Case(trace=trace(40, "word " * 2_000)), judge)
    assert found.values["turn_relevance"] == 0.8
    assert max(sum(map(len, call.data.values())) for call in judge.calls) < max(room * 3, 12 * 320)


def test_a_turn_forgets_only_what_was_told_before_it() -> None:
    """Facts in turns 1 and 3; the judge says of every turn that it forgets both, and one that does not exist."""

    def reply(request: Request) -> Any:
        if request.step.endswith("told"):
            return [{"facts": [f"fact {n}"]} for n in numbers(request.data["TURNS"])]
        return [{"reason": "", "forgotten": [1, 2, 9]} for _ in numbers(request.data["TURNS"])]

    found = score("knowledge_retention", Case(trace=trace(4)), ScriptedJudge(reply))
    assert found.values == {"knowledge_retention": 0.0, "all_retained": 0.0}
    assert [verdict.rests_on for verdict in found.evidence.verdicts["replies"]] == [
        (("turns", 2), ("facts", 1)), (("turns", 4), ("facts", 1), ("facts", 2)),
    ]  # fmt: skip
    assert [verdict.rests_on for verdict in found.evidence.verdicts["facts"]] == [(("turns", 1),), (("turns", 3),)]


def test_a_goal_names_the_turns_that_bring_and_decide_it() -> None:
    def reply(request: Request) -> Any:
        if request.step.endswith("goals"):
            return [{"goals": [f"goal {n}"]} for n in numbers(request.data["TURNS"])]
        return [{"reason": "", "verdict": "yes", "turn": turn} for turn in (2, 3)]

    found = score("conversation_goal", Case(trace=trace(4)), ScriptedJudge(reply))
    assert [verdict.rests_on for verdict in found.evidence.verdicts["goals"]] == [
        (("turns", 1), ("turns", 2)), (("turns", 3),),
    ]  # fmt: skip
