"""Turns of a conversation in a trace, and its steps as lines."""

import pytest

from metrics.text.agents.dialogue import Said, conversation_steps, cut, dialogue, instructions, step_lines
from metrics.text.agents.traces import Step, TraceError

SYSTEM, USER, DONE = (
    Step("message", role=role, text=text)
    for role, text in (("system", "Be brief."), ("user", "Go."), ("assistant", "Ok."))
)
CALL = Step("call", tool="add", arguments={"a": 1}, result={"sum": 2})
FAILED = Step("call", tool="add", arguments='{"a": 1}', error="timeout")
THOUGHT = Step("reasoning", role="assistant", text="Hm.")


@pytest.mark.parametrize(("steps", "expected"), [
    ([], []),
    ([SYSTEM, CALL, THOUGHT], []),
    ([SYSTEM, USER, CALL, DONE], [Said("user", "Go.", (1,)), Said("assistant", "Ok.", (2, 3))]),
    ([USER, USER, DONE, CALL, DONE], [Said("user", "Go.\nGo.", (0, 1)), Said("assistant", "Ok.\nOk.", (2, 3, 4))]),
    ([DONE, USER, CALL], [Said("assistant", "Ok.", (0,)), Said("user", "Go.", (1,))]),
    ([Step("message", role="Human", text="Hi"), Step("message", text="x"), Step("message", role="tool", text="y")],
        [Said("user", "Hi", (0,)), Said("assistant", "x", (1,))]),
    ([USER, Step("message", role="assistant", text=" ")], [Said("user", "Go.", (0,))]),
])  # fmt: skip
def test_turns(steps: list[Step], expected: list[Said]) -> None:
    assert dialogue(steps) == expected


def test_where_the_conversation_of_a_case_is() -> None:
    asked = "user: Hi\nassistant: Hello\nuser: Where?"
    sides = ["user", "assistant", "user", "assistant"]
    assert [turn.side for turn in dialogue(conversation_steps(None, asked, "There."))] == sides
    assert [turn.side for turn in dialogue(conversation_steps(" ", asked, " "))] == sides[:3]
    assert dialogue(conversation_steps('[{"role": "user", "text": "Go."}]', asked, "x")) == [Said("user", "Go.", (0,))]
    assert list(conversation_steps(None, "Where?", "There.")) == []
    with pytest.raises(TraceError, match="no list"):
        conversation_steps("3", asked, "x")


def test_what_the_system_says() -> None:
    assert instructions([SYSTEM, USER, Step("message", role="developer", text="Be kind.")]) == "Be brief.\nBe kind."
    assert instructions([USER]) == ""


def test_steps_as_lines() -> None:
    assert step_lines([SYSTEM, USER, THOUGHT, CALL, FAILED, DONE], 20) == [
        "user: Go.", "reasoning: Hm.", 'call add(a=1) → {"sum": 2}', "call add(a=1) → failed: timeout",
        "assistant: Ok.",
    ]  # fmt: skip
    assert cut("abcdef", 4) == "abc…"
