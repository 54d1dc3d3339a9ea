"""What evaluators of conversations share: the turns of a case, what the judge is shown of them, and the scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from metrics.core.evaluator import CaseScore, Metric, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import expected_share
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.long_texts import listed_size
from metrics.judge.steps import together
from metrics.text.agents.dialogue import Said, Side, conversation_steps, cut, dialogue, instructions
from metrics.text.agents.traces import TraceError

I = TypeVar("I", bound=ItemReply)  # noqa: E741 - an item
TURNS = "turns"  # what a verdict rests on: a turn of the conversation, by its number
VERDICT_CHARACTERS = 300  # characters of a turn in a verdict, and where it is asked about
TURN_CHARACTERS = 2_000  # characters of a turn that the judge is shown as what was said
FEWEST_CHARACTERS = 200  # … at least, where the turns are too many for a question
TURNS_AT_ONCE = 20  # turns asked about at once
TURNS_BEFORE = 10  # turns before the first of them that the judge is shown
NO_CONVERSATION = "neither trace nor question is a conversation"
SILENT = "the assistant says nothing"
UNASKED = "the assistant says nothing after the user"

conversation_evaluator = partial(evaluator, tasks=("agent", "text"), inputs=("trace",), instead={"trace": "question"})


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of a case in order, numbered from 1, and what the system's messages say."""

    turns: Sequence[Said]
    instructions: str

    def numbers(self, side: Side, after: Side | None = None) -> list[int]:
        """Return the numbers of a side's turns; `after`: only those that a turn of that side stands before."""
        sides = [turn.side for turn in self.turns]
        first = 0 if after is None else sides.index(after) + 1 if after in sides else len(sides)
        return [number for number, own in enumerate(sides, 1) if own == side and number > first]

    def turn_text(self, number: int, most: int = VERDICT_CHARACTERS) -> str:
        """Return a turn as the judge is shown it: `turn 2, assistant: …`."""
        turn = self.turns[number - 1]
        return f"turn {number}, {turn.side}: {cut(turn.text, most)}"


def whole_metric(name: str, what: str) -> Metric:
    """Return the metric of the whole conversation: whether every item holds."""
    return Metric(name, f"Share of conversations in which {what}.", binary=True, minor=True)


def conversation_of(case: Case, after: Side | None = None) -> Conversation | CaseScore:
    """Return the conversation of a case, or the score of one that has none, or no turn of the assistant `after` a side.

    It is the output's trace; without a trace, the turns in the question, and the answer after them. A trace that cannot
    be read, or has no turn, has failed.
    """
    try:
        steps = conversation_steps(case.trace, case.question, case.answer)
    except TraceError as failure:
        return output_failure(str(failure))
    turns = dialogue(steps)
    if not turns:
        return (not_applicable if case.trace is None else output_failure)(NO_CONVERSATION)
    found = Conversation(turns, instructions(steps))
    silent = after is not None and not found.numbers("assistant", after)
    return without_reply(found) if silent else found


def without_reply(conversation: Conversation, reason: str = UNASKED) -> CaseScore:
    """Return the score of a conversation in which the assistant says nothing: failed, where the user says something."""
    return (output_failure if conversation.numbers("user") else not_applicable)(reason)


async def ask_about_turns(
    judge: Judge,
    prompt: Prompt,
    form: type[I],
    conversation: Conversation,
    numbers: Sequence[int],
    data: Mapping[str, str | Sequence[str] | None],
) -> list[I]:
    """Return a reply about each of these turns, in their order.

    They are asked about as TURNS in batches; CONVERSATION shows the turns from WINDOW before the first of a batch up to
    its last one, so that no turn is judged by what was said later than the batch.
    """
    groups = _batches(conversation, numbers, judge.room * 2 // 3)
    found = await together(
        judge.each(
            prompt,
            form,
            [conversation.turn_text(number) for number in group],
            {**data, "CONVERSATION": shown_turns(conversation, max(1, group[0] - TURNS_BEFORE), group[-1], judge.room)},
            name="TURNS",
        )
        for group in groups
    )
    return [reply for replies in found for reply in replies]


def shown_turns(conversation: Conversation, first: int, last: int, room: int) -> list[str]:
    """Return these turns, each on a line: whole up to 2,000 characters, less where they would fill the room."""
    most = max(FEWEST_CHARACTERS, min(TURN_CHARACTERS, room * 3 // (2 * (last - first + 1))))
    return [conversation.turn_text(number, most) for number in range(first, last + 1)]


def turn_score(
    metric: str,
    whole: str,
    judged: Sequence[Verdict],
    group: str = "replies",
    facts: Mapping[str, object] | None = None,
    more: Mapping[str, Sequence[Verdict]] | None = None,
) -> CaseScore:
    """Return the share of verdicts that hold, and whether all do; `more` are further groups of the evidence."""
    share, weighted = expected_share(judged)
    holding = sum(verdict.holds == "yes" for verdict in judged)
    evidence = Evidence({group: judged, **(more or {})}, {"holding": holding, **weighted, **(facts or {})})
    return CaseScore({metric: share, whole: float(holding == len(judged))}, evidence=evidence)


def _batches(conversation: Conversation, numbers: Sequence[int], room: int) -> list[list[int]]:
    """Return the turns in batches of at most BATCH, fewer where what they are asked with would not fit."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and len(groups[-1]) < TURNS_AT_ONCE:
            together = range(max(1, groups[-1][0] - TURNS_BEFORE), number + 1)
            if listed_size(conversation.turn_text(place, TURN_CHARACTERS) for place in together) <= room:
                groups[-1].append(number)
                continue
        groups.append([number])
    return groups
