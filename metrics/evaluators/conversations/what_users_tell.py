"""What a user tells in a conversation: whether the assistant remembers it, and whether the user's goals are met."""

from dataclasses import replace
from typing import TypeVar

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evidence import Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import SHARE_IS_EXPECTED, item_verdicts
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import conversation_evaluator
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import YesNo, each

I = TypeVar("I", bound=ItemReply)  # noqa: E741 - an item
MOST_FACTS = 200
TOLD = Prompt(
    "knowledge_retention.told",
    "TURNS are what a user says in a conversation with an assistant, in order. For each: facts, what it tells that the "
    "assistant should remember later: about the user, their case, wishes and conditions, each as one short sentence "
    "that stands alone ('The user is allergic to nuts.'). A turn that corrects an earlier one gives the new fact. "
    "Questions, greetings, thanks and opinions about the assistant are no facts; none: an empty list.",
)
FORGOTTEN = Prompt(
    "knowledge_retention.forgotten",
    "FACTS are what a user told an assistant, each with the turn in which that was; a later fact replaces an earlier "
    "one that it corrects. CONVERSATION is their conversation, in order. For each of the TURNS of the assistant: "
    "forgotten, the numbers of the FACTS told before it that the turn forgets: it asks for what they say again, "
    "contradicts them, or acts as if they had not been said. Asking to confirm a fact that it names, or not mentioning "
    "one that does not matter here, is not forgetting. None: an empty list.",
)
HELLO = {"question": "user: Hello!", "answer": "Hello!"}
ROOM_12 = (
    '{"steps": [{"role": "user", "text": "I am Ann, from room 12."}, {"role": "assistant", "text": "Hello, Ann!"}, '
    '{"role": "user", "text": "Bring me a towel."}, {"role": "assistant", "text": "Which room are you in?"}]}'
)


class _Told(ItemReply):
    facts: list[str]


class _Forgotten(ItemReply):
    reason: str = ""
    forgotten: list[int]


def _replies(*forgotten: list[int]) -> tuple[ScriptedReply, ...]:
    told = [{"facts": ["The user is called Ann.", "The user is in room 12."]}, {"facts": ["The user wants a towel."]}]
    return (
        ScriptedReply(TOLD.id, told),
        ScriptedReply(FORGOTTEN.id, [{"reason": "", "forgotten": numbers} for numbers in forgotten]),
    )


async def list_told(
    judge: Judge, prompt: Prompt, form: type[I], conversation: _turns.Conversation, most: int
) -> list[tuple[int, str]]:
    """Return what a judge lists of each turn of the user, in order, each with the turn's number; at most so many.

    `form` has one list of texts beside the item's number.
    """
    numbers = conversation.numbers("user")
    (field,) = form.model_fields.keys() - ItemReply.model_fields.keys()
    replies = await each(
        judge, prompt, form, [conversation.turn_text(n, _turns.TURN_CHARACTERS) for n in numbers], name="TURNS"
    )
    listed = zip(numbers, (getattr(reply, field) for reply in replies), strict=True)
    return [(number, text.strip()) for number, texts in listed for text in texts if text.strip()][:most]


@conversation_evaluator(
    default_needs=("trace",),
    prompts=(TOLD, FORGOTTEN),
    metrics=(
        Metric(
            "knowledge_retention",
            "Share of the assistant's turns that forget nothing of what the user told.",
            primary=True,
        ),
        _turns.whole_metric("all_retained", "no turn of the assistant forgets anything"),
    ),
    sources=("DeepEval: knowledge retention",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "the second turn asks for the room again",
            {"trace": ROOM_12},
            {"knowledge_retention": 0.5, "all_retained": 0.0},
            judge=_replies([], [2]),
        ),
        Example(
            "a fact that is told later, or does not exist, cannot be forgotten",
            {"trace": ROOM_12},
            {"knowledge_retention": 1.0, "all_retained": 1.0},
            judge=_replies([3], [7]),
        ),
        Example.not_applicable("the user tells nothing", HELLO, judge=(ScriptedReply(TOLD.id, [{"facts": []}]),)),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example("the trace cannot be read", {"trace": "{"}, {"knowledge_retention": 0.0}),
    ),
    differs_from="turn_relevance judges a turn by what the user said just before; this one by everything that the user "
    "told earlier.",
    differs_from_source="The prompts are worded by Assay. DeepEval keeps one growing summary of what is known and asks "
    "about each turn alone; here the facts are listed with the turn in which they were told, up to 20 turns are asked "
    "about at once, and a turn can only forget facts told before it. A conversation in which the user tells nothing is "
    "not applicable, where DeepEval gives 0 or 1.",
    version=2,
)
async def knowledge_retention(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the assistant's turns that forget nothing of what the user told before.

        knowledge_retention = turns that forget nothing / turns of the assistant after the first fact
        all_retained = 1 if no turn forgets anything, else 0

    A judge lists the facts in each turn of the user that are worth remembering, then says for each later turn of the
    assistant which of them it forgets: asks for again, contradicts or ignores. Numbers of facts that do not exist or
    were told later are dropped. A turn is what one side says until the other speaks; the conversation is the output's
    trace, or without one the turns in the question with the answer behind them. Of a turn up to 2,000 characters are
    shown; of the facts the first 200 count.

    A conversation in which the user tells no fact is not applicable; one in which the assistant says nothing after one,
    or whose trace cannot be read, has 0.
    Evidence: each turn with verdict, reason and the facts that it forgets, linked with the turn of the conversation;
    the facts, each with the turn in which it was told.
    """
    conversation = _turns.conversation_of(case, "user")
    if isinstance(conversation, CaseScore):
        return conversation
    known = await list_told(judge, TOLD, _Told, conversation, MOST_FACTS)
    numbers = [n for n in conversation.numbers("assistant") if known and n > known[0][0]]
    if not numbers:
        told_nothing = not_applicable("the user tells nothing that could be forgotten")
        return _turns.without_reply(conversation) if known else told_nothing
    facts = [f"turn {number}: {fact}" for number, fact in known]
    replies = await _turns.ask_about_turns(judge, FORGOTTEN, _Forgotten, conversation, numbers, {"FACTS": facts})
    judged = []
    for number, reply in zip(numbers, replies, strict=True):
        lost = sorted({n for n in reply.forgotten if 1 <= n <= len(known) and known[n - 1][0] < number})
        links = ((_turns.TURNS, number), *(("facts", n) for n in lost))
        label = "forgets" if lost else "retains"
        judged.append(Verdict(conversation.turn_text(number), yes_or_no(not lost), label, reply.reason, links))
    listed = [Verdict(fact, "unknown", "told", rests_on=((_turns.TURNS, number),)) for number, fact in known]
    return _turns.turn_score("knowledge_retention", "all_retained", judged, more={"facts": listed})


MOST_GOALS = 40
MOST_TURNS = 60  # that the judge is shown: the last ones
GOALS = Prompt(
    "conversation_goal.goals",
    "TURNS are what a user says in a conversation with an assistant, in order. For each: goals, what the user wants to "
    "get or to have done that no earlier turn asked for, each as one sentence that stands alone, with its conditions. "
    "A turn that adds a condition, answers a question or only asks again gives no new goal; greetings and thanks give "
    "none. None: an empty list.",
)
MET = Prompt(
    "conversation_goal.met",
    "CONVERSATION is one between a user and an assistant, in order, to its end. For each of the GOALS of the user: was "
    "it met by the end? yes: the assistant gave or did what was wanted, with the conditions that hold at the end, or "
    "the user says that it is settled or gives it up. no: it was refused, forgotten, left open, done only in part or "
    "otherwise than wanted. turn: the number of the turn that decides it.",
)
ROOM_AND_TAXI = (
    '{"steps": [{"role": "user", "text": "Book a room, and a taxi."}, {"role": "assistant", "text": "Room 12 is '
    'yours."}, {"role": "user", "text": "And the taxi?"}, {"role": "assistant", "text": "I cannot order taxis."}]}'
)


class _Goals(ItemReply):
    goals: list[str]


class _Met(ItemReply):
    reason: str = ""
    verdict: YesNo
    turn: int = 0


ASKED = ScriptedReply(GOALS.id, [{"goals": ["The user wants a room.", "The user wants a taxi."]}, {"goals": []}])


@conversation_evaluator(
    default_needs=("trace",),
    prompts=(GOALS, MET),
    metrics=(
        Metric("conversation_goal", "Share of the user's goals that were met.", primary=True),
        _turns.whole_metric("all_met", "every goal of the user was met"),
    ),
    sources=("DeepEval: conversation completeness",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "one of two goals is met",
            {"trace": ROOM_AND_TAXI},
            {"conversation_goal": 0.5, "all_met": 0.0},
            judge=(
                ASKED,
                ScriptedReply(
                    MET.id, [{"reason": "", "verdict": "yes", "turn": 2}, {"reason": "", "verdict": "no", "turn": 4}]
                ),
            ),
        ),
        Example(
            "a turn that does not exist is no link",
            {"question": "user: A towel, please.", "answer": "Here it is."},
            {"conversation_goal": 1.0, "all_met": 1.0},
            judge=(
                ScriptedReply(GOALS.id, [{"goals": ["The user wants a towel."]}]),
                ScriptedReply(MET.id, [{"reason": "", "verdict": "yes", "turn": 9}]),
            ),
        ),
        Example.not_applicable("the user wants nothing", HELLO, judge=(ScriptedReply(GOALS.id, [{"goals": []}]),)),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example("the trace cannot be read", {"trace": "{"}, {"conversation_goal": 0.0}),
    ),
    differs_from="goal_accuracy compares the end state of an agent's trace, by its calls, with the expected outcome. "
    "This one lists what the user wanted in a conversation and judges each goal.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. Goals are listed turn by turn, so that "
    "each has the turn in which it came up, and the verdict names the turn that decides it. A conversation without a "
    "goal is not applicable.",
    version=2,
)
async def conversation_goal(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the user's goals in a conversation that were met by its end.

        conversation_goal = goals that were met / goals of the user
        all_met = 1 if all of them were met, else 0

    A judge lists the goals that each turn of the user brings up, then says of each whether it was met by the end of the
    conversation, and which turn decides that. A turn is what one side says until the other speaks; the conversation is
    the output's trace, or without one the turns in the question with the answer behind them. The judge is shown up to
    2,000 characters of a turn, and of more than 60 turns the last 60, which the evidence says; the first 40 goals
    count.

    A conversation in which the user has no goal is not applicable; one in which the assistant says nothing after the
    user, or whose trace cannot be read, has 0. Where the judge tells its probabilities, the share is the expected one.
    Evidence: each goal with verdict and reason, linked with the turn that brings it up and the turn that decides it.
    """
    conversation = _turns.conversation_of(case, "user")
    if isinstance(conversation, CaseScore):
        return conversation
    goals = await list_told(judge, GOALS, _Goals, conversation, MOST_GOALS)
    if not goals:
        return not_applicable("the user has no goal")
    last = len(conversation.turns)
    first = max(1, last - MOST_TURNS + 1)
    if first > 1:
        judge.note("turns_left_out", first - 1)
    shown = {"CONVERSATION": _turns.shown_turns(conversation, first, last, judge.room)}
    replies = await each(judge, MET, _Met, [goal for _, goal in goals], shown, name="GOALS")
    verdicts = item_verdicts([goal for _, goal in goals], replies, {"yes": "met", "no": "not met"})
    judged = [
        replace(one, rests_on=tuple((_turns.TURNS, n) for n in dict.fromkeys((number, reply.turn)) if 1 <= n <= last))
        for one, (number, _), reply in zip(verdicts, goals, replies, strict=True)
    ]
    return _turns.turn_score("conversation_goal", "all_met", judged, "goals")
