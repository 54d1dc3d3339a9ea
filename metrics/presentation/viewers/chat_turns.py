"""What chat.js draws: the turns of a conversation as a chat, with the verdicts on each turn beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.presentation.format import plural
from metrics.presentation.palette import MARKS, MUTED
from metrics.presentation.verdict_rows import HOLDS_GLYPHS, VerdictGroup, VerdictRow
from metrics.text.agents.dialogue import conversation_steps, cut, dialogue, instructions
from metrics.text.agents.traces import TraceError

TURNS = "turns"  # what a verdict on a turn rests on
ITEMS = "replies"  # the group whose verdicts are on the turn itself: its text need not be told again
MOST_TURNS = 200  # drawn
MOST_CHARACTERS = 4_000  # of a turn
COLOURS = {"yes": MARKS["tp"].colour, "no": MARKS["fp"].colour, "unknown": MUTED[False]}


def chat(
    trace: str | None,
    question: str | None,
    answer: str | None,
    judged: Sequence[tuple[str, Sequence[VerdictGroup]]] = (),
) -> dict[str, Any] | None:
    """Return what chat.js draws of a case's conversation; None where there is none with a turn of both sides.

    `judged`: the title of each evaluator with the groups of its verdicts; those that rest on a turn are shown beside
    the last turn that they rest on.
    """
    try:
        steps = conversation_steps(trace, question, answer)
    except TraceError:
        return None
    turns = dialogue(steps)
    if len({turn.side for turn in turns}) < 2:
        return None
    beside = _beside(judged)
    shown = [
        {
            "number": number, "side": turn.side, "text": cut(turn.text, MOST_CHARACTERS),
            "calls": ", ".join(steps[place].tool for place in turn.steps if steps[place].kind == "call")[:200],
            "verdicts": beside.get(number, []),
        }
        for number, turn in enumerate(turns[:MOST_TURNS], 1)
    ]  # fmt: skip
    return {
        "turns": shown,
        "instructions": cut(instructions(steps), MOST_CHARACTERS),
        "note": f"the first {MOST_TURNS} of {plural(len(turns), 'turn')}" if len(turns) > MOST_TURNS else "",
    }


def summary(view: Mapping[str, Any]) -> str:
    """Return a conversation in one line: `6 turns · ✓ 2 · ✗ 1`."""
    every = [verdict["glyph"] for turn in view["turns"] for verdict in turn["verdicts"]]
    parts = [plural(len(view["turns"]), "turn")]
    return " · ".join(parts + [f"{glyph} {every.count(glyph)}" for glyph in ("✓", "✗") if glyph in every])


def is_judged(view: Mapping[str, Any]) -> bool:
    """Return whether a turn of a conversation has a verdict."""
    return any(turn["verdicts"] for turn in view["turns"])


def tells_more(view: Mapping[str, Any]) -> bool:
    """Return whether a conversation is more than a question and its answer, which are shown already."""
    return is_judged(view) or len(view["turns"]) > 2


def _beside(judged: Sequence[tuple[str, Sequence[VerdictGroup]]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for title, groups in judged:
        for group in groups:
            for row in group.rows:
                if places := [place for name, place in row.rests_on if name == TURNS]:
                    found.setdefault(places[-1], []).append(_verdict(title, row, group.name))
    return found


def _verdict(title: str, row: VerdictRow, group: str) -> dict[str, Any]:
    return {
        "evaluator": title, "glyph": HOLDS_GLYPHS[row.holds], "label": row.label, "colour": COLOURS[row.holds],
        "lines": [text for text in ("" if group == ITEMS else row.text, row.reason) if text],
    }  # fmt: skip
