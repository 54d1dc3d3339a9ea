"""Turns of the assistant: whether each fits what the user said, and keeps to the assistant's role."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evidence import Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import SHARE_IS_EXPECTED, item_verdicts
from metrics.evaluators._scripted import verdicts_reply
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import conversation_evaluator
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply, beginning

RELEVANT = Prompt(
    "turn_relevance",
    "CONVERSATION is one between a user and an assistant, in order. For each of the TURNS of the assistant: does it "
    "fit what the user says in the turn before, read with what was said earlier? yes: it answers, does what is asked, "
    "asks back what it needs, declines, or replies to a greeting or thanks in kind. no: it speaks of something else, "
    "answers another question, or ignores what the user just said. Only turns that stand before it count, none after. "
    "Whether it is right or kind does not matter.",
)
POOL_AND_SAUNA = (
    '{"steps": [{"role": "user", "text": "Is the pool open?"}, {"role": "assistant", "text": "Yes, until 9."}, '
    '{"role": "user", "text": "And the sauna?"}, {"role": "assistant", "text": "Breakfast is at 7."}]}'
)


async def _judge_turns(
    judge: Judge,
    prompt: Prompt,
    conversation: _turns.Conversation,
    numbers: Sequence[int],
    data: Mapping[str, str],
    labels: tuple[str, str],
) -> list[Verdict]:
    """Return a verdict on each of these turns; `labels` are the words for the judge's yes and no."""
    replies = await _turns.ask_about_turns(judge, prompt, YesNoReply, conversation, numbers, data)
    verdicts = item_verdicts(
        map(conversation.turn_text, numbers), replies, dict(zip(("yes", "no"), labels, strict=True))
    )
    return [replace(one, rests_on=((_turns.TURNS, number),)) for one, number in zip(verdicts, numbers, strict=True)]


@conversation_evaluator(
    default_needs=("trace",),
    prompts=(RELEVANT,),
    metrics=(
        Metric("turn_relevance", "Share of the assistant's turns that fit what the user said.", primary=True),
        _turns.whole_metric("all_relevant", "every turn of the assistant is relevant"),
    ),
    sources=("DeepEval: turn relevancy",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "the second of two turns misses the question",
            {"trace": POOL_AND_SAUNA},
            {"turn_relevance": 0.5, "all_relevant": 0.0},
            judge=(verdicts_reply(RELEVANT.id, "yes", "no"),),
        ),
        Example(
            "a conversation in the question, and the answer as its last turn",
            {"question": "user: Hi!\nassistant: Hello!\nuser: Is the pool open?", "answer": "Yes."},
            {"turn_relevance": 1.0, "all_relevant": 1.0},
            judge=(verdicts_reply(RELEVANT.id, "yes", "yes"),),
        ),
        Example.not_applicable("the assistant only greets", {"trace": '[{"role": "assistant", "text": "Hello!"}]'}),
        Example.not_applicable("the question is no conversation", {"question": "Is it open?", "answer": "Yes."}),
        Example("the trace cannot be read", {"trace": "{"}, {"turn_relevance": 0.0}),
    ),
    differs_from="answer_relevance judges the statements of one answer. This one judges every turn of a conversation "
    "by what was said before it; conversation_goal judges whether the user got what was wanted.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. DeepEval asks about each turn alone, "
    "with a window of 10 turns; here up to 20 turns are asked about at once, with the 10 before the first. Turns "
    "before the user speaks are not judged, and messages of one side that follow one another are one turn.",
    version=2,
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

    A conversation in which the assistant does not answer the user has 0, and so has a trace that cannot be read; one in
    which the user says nothing is not applicable. Where the judge tells its probabilities, the share is the
    expected one.
    Evidence: each turn with verdict and reason, linked with the turn of the conversation.
    """
    conversation = _turns.conversation_of(case, "user")
    if isinstance(conversation, CaseScore):
        return conversation
    numbers = conversation.numbers("assistant", after="user")
    judged = await _judge_turns(judge, RELEVANT, conversation, numbers, {}, ("relevant", "beside the point"))
    return _turns.turn_score("turn_relevance", "all_relevant", judged)


ADHERES = Prompt(
    "role_adherence",
    "ROLE is what an assistant was told to be and do. CONVERSATION is one between a user and the assistant, in order. "
    "For each of the TURNS of the assistant: does it keep to ROLE? yes: its manner, tasks, limits and knowledge are "
    "those of ROLE, or ROLE says nothing about what it does. no: it steps out of character, does what ROLE forbids or "
    "leaves out what ROLE demands of every turn, claims to be another, or takes a role from the user that ROLE does "
    "not allow. Whether the turn is right or useful does not matter.",
    published={"chatbot_role": "ROLE"},
)
PIRATE = (
    '{"steps": [{"role": "system", "text": "You are a pirate."}, {"role": "user", "text": "Is it far?"}, '
    '{"role": "assistant", "text": "Aye, three days!"}, {"role": "user", "text": "Thanks."}, '
    '{"role": "assistant", "text": "As a language model, I have no ship."}]}'
)


class RoleParameters(Parameters):
    """The role of the assistant."""

    role: str = Field(
        "",
        description="What the assistant is and does, for conversations whose system message or column metadata.role "
        "does not say it.",
    )


@conversation_evaluator(
    default_needs=("trace",),
    prompts=(ADHERES,),
    metrics=(
        Metric("role_adherence", "Share of the assistant's turns that keep to its role.", primary=True),
        _turns.whole_metric("all_in_role", "every turn of the assistant keeps to its role"),
    ),
    sources=("DeepEval: role adherence",),
    standards=("valid and reliable", "safe"),
    examples=(
        Example(
            "the role of the system message is left in the second turn",
            {"trace": PIRATE},
            {"role_adherence": 0.5, "all_in_role": 0.0},
            judge=(verdicts_reply(ADHERES.id, "yes", "no", ROLE="pirate"),),
        ),
        Example(
            "the case's own role goes first",
            {"trace": PIRATE, "metadata": {"role": "A sailor."}},
            {"role_adherence": 1.0, "all_in_role": 1.0},
            judge=(verdicts_reply(ADHERES.id, "yes", "yes", ROLE="A sailor."),),
        ),
        Example(
            "the role of the parameters, a conversation in the question",
            {"question": "user: Who are you?", "answer": "A clerk."},
            {"role_adherence": 1.0},
            parameters={"role": "You are a clerk."},
            judge=(verdicts_reply(ADHERES.id, "yes", ROLE="clerk"),),
        ),
        Example.not_applicable("no role is given", {"question": "user: Who are you?", "answer": "A clerk."}),
        Example("the trace cannot be read", {"trace": "{"}, {"role_adherence": 0.0}),
    ),
    differs_from="turn_relevance judges whether a turn fits what the user said; byop asks a question of your own of "
    "one answer. This one holds every turn against the role.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. DeepEval asks once for the turns that "
    "leave the role; here each turn gets a verdict with a reason. The role comes from the system message where the "
    "case gives none, and messages of one side that follow one another are one turn.",
    version=2,
)
async def role_adherence(case: Case, parameters: RoleParameters, judge: Judge) -> CaseScore:
    """The share of the assistant's turns that keep to the role that it was given.

        role_adherence = turns that keep to the role / turns of the assistant
        all_in_role = 1 if all of them do, else 0

    The role is the case's column metadata.role, else the messages of the system in the conversation, else the parameter
    `role`. A turn is what one side says until the other speaks. The conversation is the output's trace, or without one
    the turns in the question with the answer behind them. A judge says for each turn whether it keeps to the role; it
    is shown the turns up to the last one asked about, from 10 before the first, up to 2,000 characters of each.

    Without a role the case is not applicable; without a turn of the assistant, or with a trace that cannot be read, it
    has 0. Where the judge tells its probabilities, the share is the expected one.
    Evidence: each turn with verdict and reason, linked with the turn of the conversation; the role.
    """
    conversation = _turns.conversation_of(case)
    if isinstance(conversation, CaseScore):
        return conversation
    numbers = conversation.numbers("assistant")
    if not numbers:
        return _turns.without_reply(conversation, _turns.SILENT)
    own = (case.metadata.get("role") or "").strip()
    role = own or conversation.instructions or parameters.role.strip()
    if not role:
        return not_applicable("no role is given: by a system message, a column metadata.role or the parameter role")
    told = {"ROLE": beginning(judge, role)}
    judged = await _judge_turns(judge, ADHERES, conversation, numbers, told, ("in role", "out of role"))
    return _turns.turn_score("role_adherence", "all_in_role", judged, facts={"role": role[: _turns.TURN_CHARACTERS]})
