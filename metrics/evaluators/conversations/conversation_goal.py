"""Conversation goal: whether the user got what they wanted in a conversation."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import TURNS, conversation_of, every, shown_turns, told_by_user, turn_score
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import YesNo, each

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
TRACE = (
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


@evaluator(
    id="conversation_goal",
    title="Conversation goal",
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "question"},
    default_needs=("trace",),
    prompts=(GOALS, MET),
    metrics=(
        Metric("conversation_goal", "Share of the user's goals that were met.", primary=True),
        every("all_met", "every goal of the user was met"),
    ),
    sources=("DeepEval: conversation completeness",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "one of two goals is met",
            {"trace": TRACE},
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
        Example.not_applicable(
            "the user wants nothing",
            {"question": "user: Hello!", "answer": "Hello!"},
            judge=(ScriptedReply(GOALS.id, [{"goals": []}]),),
        ),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example("the trace cannot be read", {"trace": "{"}, status=Status.ERROR),
    ),
    differs_from="goal_accuracy compares the end state of an agent's trace, by its calls, with the expected outcome. "
    "This one lists what the user wanted in a conversation and judges each goal.",
    differs_from_source=(
        EXPECTED + "The prompts are worded by Assay. Goals are listed turn by turn, so that each has the turn in which "
        "it came up, and the verdict names the turn that decides it. A conversation without a goal is not applicable."
    ),
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

    A conversation in which the user has no goal, or the assistant says nothing after the user, is not applicable; a
    trace that cannot be read is an error. Where the judge tells its probabilities, the share is the expected one.
    Evidence: each goal with verdict and reason, linked with the turn that brings it up and the turn that decides it.
    """
    conversation = conversation_of(case)
    if isinstance(conversation, CaseScore):
        return conversation
    if not conversation.numbers("assistant", after="user"):
        return not_applicable(_turns.UNASKED)
    goals = await told_by_user(judge, GOALS, _Goals, conversation, MOST_GOALS)
    if not goals:
        return not_applicable("the user has no goal")
    last = len(conversation.turns)
    first = max(1, last - MOST_TURNS + 1)
    if first > 1:
        judge.note("turns_left_out", first - 1)
    shown = {"CONVERSATION": shown_turns(conversation, first, last, judge.room)}
    replies = await each(judge, MET, _Met, [goal for _, goal in goals], shown, name="GOALS")
    judged = [
        Verdict(
            goal, reply.verdict, "met" if reply.verdict == "yes" else "not met", reply.reason,
            tuple((TURNS, n) for n in dict.fromkeys((number, reply.turn)) if 1 <= n <= last),
            probability=reply.probability("verdict", "yes"),
        )
        for (number, goal), reply in zip(goals, replies, strict=True)
    ]  # fmt: skip
    return turn_score("conversation_goal", "all_met", judged, "goals")
