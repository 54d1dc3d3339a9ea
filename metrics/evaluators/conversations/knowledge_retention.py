"""Knowledge retention: whether the assistant remembers what the user told it earlier."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import (
    TURNS,
    asked_of_turns,
    conversation_of,
    every,
    told_by_user,
    turn_score,
)
from metrics.judge.asking import ItemReply, Judge

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
TRACE = (
    '{"steps": [{"role": "user", "text": "I am Ann, from room 12."}, {"role": "assistant", "text": "Hello, Ann!"}, '
    '{"role": "user", "text": "Bring me a towel."}, {"role": "assistant", "text": "Which room are you in?"}]}'
)


class _Told(ItemReply):
    facts: list[str]


class _Forgotten(ItemReply):
    reason: str = ""
    forgotten: list[int]


def _said(*forgotten: list[int]) -> tuple[ScriptedReply, ...]:
    told = [{"facts": ["The user is called Ann.", "The user is in room 12."]}, {"facts": ["The user wants a towel."]}]
    return (
        ScriptedReply(TOLD.id, told),
        ScriptedReply(FORGOTTEN.id, [{"reason": "", "forgotten": numbers} for numbers in forgotten]),
    )


@evaluator(
    id="knowledge_retention",
    title="Knowledge retention",
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "question"},
    default_needs=("trace",),
    prompts=(TOLD, FORGOTTEN),
    metrics=(
        Metric(
            "knowledge_retention", "Share of the assistant's turns that forget nothing of what the user told.",
            primary=True,
        ),
        every("all_retained", "no turn of the assistant forgets anything"),
    ),
    sources=("DeepEval: knowledge retention",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "the second turn asks for the room again",
            {"trace": TRACE},
            {"knowledge_retention": 0.5, "all_retained": 0.0},
            judge=_said([], [2]),
        ),
        Example(
            "a fact that is told later, or does not exist, cannot be forgotten",
            {"trace": TRACE},
            {"knowledge_retention": 1.0, "all_retained": 1.0},
            judge=_said([3], [7]),
        ),
        Example.not_applicable(
            "the user tells nothing",
            {"question": "user: Hello!", "answer": "Hello!"},
            judge=(ScriptedReply(TOLD.id, [{"facts": []}]),),
        ),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example("the trace cannot be read", {"trace": "{"}, status=Status.ERROR),
    ),
    differs_from="turn_relevance judges a turn by what the user said just before; this one by everything that the user "
    "told earlier.",
    differs_from_source=(
        "The prompts are worded by Assay. DeepEval keeps one growing summary of what is known and asks about each turn "
        "alone; here the facts are listed with the turn in which they were told, up to 20 turns are asked about at "
        "once, and a turn can only forget facts told before it. A conversation in which the user tells nothing is not "
        "applicable, where DeepEval gives 0 or 1."
    ),
)  # fmt: skip
async def knowledge_retention(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the assistant's turns that forget nothing of what the user told before.

        knowledge_retention = turns that forget nothing / turns of the assistant after the first fact
        all_retained = 1 if no turn forgets anything, else 0

    A judge lists the facts in each turn of the user that are worth remembering, then says for each later turn of the
    assistant which of them it forgets: asks for again, contradicts or ignores. Numbers of facts that do not exist or
    were told later are dropped. A turn is what one side says until the other speaks; the conversation is the output's
    trace, or without one the turns in the question with the answer behind them. Of a turn up to 2,000 characters are
    shown; of the facts the first 200 count.

    A conversation in which the user tells no fact, or the assistant says nothing after one, is not applicable; a trace
    that cannot be read is an error.
    Evidence: each turn with verdict, reason and the facts that it forgets, linked with the turn of the conversation;
    the facts, each with the turn in which it was told.
    """
    conversation = conversation_of(case)
    if isinstance(conversation, CaseScore):
        return conversation
    if not conversation.numbers("assistant", after="user"):
        return not_applicable(_turns.UNASKED)
    known = await told_by_user(judge, TOLD, _Told, conversation, MOST_FACTS)
    numbers = [n for n in conversation.numbers("assistant") if known and n > known[0][0]]
    if not numbers:
        return not_applicable("the user tells nothing that could be forgotten" if not known else _turns.UNASKED)
    facts = [f"turn {number}: {fact}" for number, fact in known]
    replies = await asked_of_turns(judge, FORGOTTEN, _Forgotten, conversation, numbers, {"FACTS": facts})
    judged = []
    for number, reply in zip(numbers, replies, strict=True):
        lost = sorted({n for n in reply.forgotten if 1 <= n <= len(known) and known[n - 1][0] < number})
        links = ((TURNS, number), *(("facts", n) for n in lost))
        label = "forgets" if lost else "retains"
        judged.append(Verdict(conversation.shown(number), yes_or_no(not lost), label, reply.reason, links))
    listed = [Verdict(fact, "unknown", "told", rests_on=((TURNS, number),)) for number, fact in known]
    return turn_score("knowledge_retention", "all_retained", judged, more={"facts": listed})
