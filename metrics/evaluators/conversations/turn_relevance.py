"""Turn relevance: whether each turn of the assistant answers what the conversation asks at that point."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import TURNS, asked_of_turns, conversation_of, every, turn_score
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply

RELEVANT = Prompt(
    "turn_relevance",
    "CONVERSATION is one between a user and an assistant, in order. For each of the TURNS of the assistant: does it "
    "fit what the user says in the turn before, read with what was said earlier? yes: it answers, does what is asked, "
    "asks back what it needs, declines, or replies to a greeting or thanks in kind. no: it speaks of something else, "
    "answers another question, or ignores what the user just said. Only turns that stand before it count, none after. "
    "Whether it is right or kind does not matter.",
)
TRACE = (
    '{"steps": [{"role": "user", "text": "Is the pool open?"}, {"role": "assistant", "text": "Yes, until 9."}, '
    '{"role": "user", "text": "And the sauna?"}, {"role": "assistant", "text": "Breakfast is at 7."}]}'
)


def _said(*verdicts: str) -> tuple[ScriptedReply, ...]:
    return (ScriptedReply(RELEVANT.id, [{"reason": "", "verdict": verdict} for verdict in verdicts]),)


@evaluator(
    id="turn_relevance",
    title="Turn relevance",
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "question"},
    default_needs=("trace",),
    prompts=(RELEVANT,),
    metrics=(
        Metric("turn_relevance", "Share of the assistant's turns that fit what the user said.", primary=True),
        every("all_relevant", "every turn of the assistant is relevant"),
    ),
    sources=("DeepEval: turn relevancy",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "the second of two turns misses the question",
            {"trace": TRACE},
            {"turn_relevance": 0.5, "all_relevant": 0.0},
            judge=_said("yes", "no"),
        ),
        Example(
            "a conversation in the question, and the answer as its last turn",
            {"question": "user: Hi!\nassistant: Hello!\nuser: Is the pool open?", "answer": "Yes."},
            {"turn_relevance": 1.0, "all_relevant": 1.0},
            judge=_said("yes", "yes"),
        ),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example.not_applicable("the question is no conversation", {"question": "Is it open?", "answer": "Yes."}),
        Example("the trace cannot be read", {"trace": "{"}, status=Status.ERROR),
    ),
    differs_from="answer_relevance judges the statements of one answer. This one judges every turn of a conversation "
    "by what was said before it; conversation_goal judges whether the user got what was wanted.",
    differs_from_source=(
        EXPECTED + "The prompts are worded by Assay. DeepEval asks about each turn alone, with a window of 10 turns; "
        "here up to 20 turns are asked about at once, with the 10 before the first. Turns before the user speaks are "
        "not judged, and messages of one side that follow one another are one turn."
    ),
)
async def turn_relevance(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the assistant's turns that fit what the user says before them.

        turn_relevance = relevant turns / turns of the assistant after the user's first one
        all_relevant = 1 if all of them are relevant, else 0

    A turn is what one side says until the other speaks: messages that follow one another are one, and calls of tools,
    their results and the system's messages are none. The conversation is the output's trace (chat messages, steps,
    spans), or without one the turns in the question with the answer behind them. A judge says for each turn whether it
    fits; it is shown the turns up to the last one asked about, from 10 before the first, up to 2,000 characters of
    each.

    A conversation without a turn of the assistant after the user is not applicable; a trace that cannot be read is an
    error. Where the judge tells its probabilities, the share is the expected one.
    Evidence: each turn with verdict and reason, linked with the turn of the conversation.
    """
    conversation = conversation_of(case)
    if isinstance(conversation, CaseScore):
        return conversation
    numbers = conversation.numbers("assistant", after="user")
    if not numbers:
        return not_applicable(_turns.UNASKED)
    replies = await asked_of_turns(judge, RELEVANT, YesNoReply, conversation, numbers, {})
    judged = [
        Verdict(
            conversation.shown(number), reply.verdict, "relevant" if reply.verdict == "yes" else "beside the point",
            reply.reason, ((TURNS, number),), probability=reply.probability("verdict", "yes"),
        )
        for number, reply in zip(numbers, replies, strict=True)
    ]  # fmt: skip
    return turn_score("turn_relevance", "all_relevant", judged)
