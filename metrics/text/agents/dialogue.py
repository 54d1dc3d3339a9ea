"""The turns of a conversation in an agent's trace, and its steps as lines that a judge reads."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from metrics.text.agents.call_matching import Call, call_text, named_arguments
from metrics.text.agents.traces import Step, steps_of, text_of
from metrics.text.conversation import USERS, turns

Side = Literal["user", "assistant"]
INSTRUCTING = ("system", "developer")  # roles whose messages tell the assistant what to be
SILENT = (*INSTRUCTING, "tool", "function")  # roles whose messages are no turn
CUT = "…"


class Said(NamedTuple):
    """A turn of a conversation: who speaks, the text, and the places of its steps in the trace, from 0."""

    side: Side
    text: str
    steps: tuple[int, ...] = ()


def dialogue(steps: Sequence[Step]) -> list[Said]:
    """Return the turns of a trace in order: messages of one side that follow one another are one turn.

    Messages of system and tools are none; calls and reasoning are no words, but belong to the turn in which they are.

    >>> [turn.text for turn in dialogue([Step("message", role="user", text="Hi"), Step("message", text="Hello!")])]
    ['Hi', 'Hello!']
    """
    found: list[Said] = []
    ahead: tuple[int, ...] = ()  # calls and reasoning before the assistant's next words
    for place, step in enumerate(steps):
        if step.kind != "message":
            ahead += (place,)
            continue
        role = step.role.casefold()
        if role in SILENT or not step.text.strip():
            continue
        side: Side = "user" if role in USERS else "assistant"
        own = (place,) if side == "user" else (*ahead, place)
        ahead = () if side == "assistant" else ahead
        if found and found[-1].side == side:
            found[-1] = Said(side, f"{found[-1].text}\n{step.text}", found[-1].steps + own)
        else:
            found.append(Said(side, step.text, own))
    return found


def conversation_steps(trace: str | None, question: str | None, answer: str | None) -> Sequence[Step]:
    """Return the steps of a case's conversation: those of the trace, else the turns in the question and the answer.

    Empty where there is neither. Raises TraceError for a trace that cannot be read.
    """
    if trace and trace.strip():
        return steps_of(trace)
    asked = [Step("message", role=turn.role, text=turn.text) for turn in turns(question or "")]
    return [*asked, Step("message", role="assistant", text=answer)] if asked and answer and answer.strip() else asked


def instructions(steps: Sequence[Step]) -> str:
    """Return what the system's messages tell the assistant; "" where there are none."""
    told = (step.text for step in steps if step.kind == "message" and step.role.casefold() in INSTRUCTING)
    return "\n".join(told).strip()


def step_lines(steps: Sequence[Step], most: int) -> list[str]:
    """Return each step as a line: `user: …`, `call add(a=1) → 3`, `reasoning: …`; texts of at most `most` characters.

    Messages of the system are left out.
    """
    return [_line(step, most) for step in steps if step.kind != "message" or step.role.casefold() not in INSTRUCTING]


def _line(step: Step, most: int) -> str:
    if step.kind == "call":
        made = call_text(Call(step.tool, named_arguments(step.arguments)))
        came = f"failed: {step.error}" if step.error is not None else text_of(step.result)
        return f"call {made} → {cut(came, most)}"
    who = "reasoning" if step.kind == "reasoning" else step.role or "assistant"
    return f"{who}: {cut(step.text, most)}"


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters: its beginning, and … where something is left out."""
    return text if len(text) <= most else text[: most - 1] + CUT
