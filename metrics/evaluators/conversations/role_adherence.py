"""Role adherence: whether each turn of the assistant keeps to the role that it was given."""

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED
from metrics.evaluators.conversations import _turns
from metrics.evaluators.conversations._turns import TURNS, asked_of_turns, conversation_of, every, turn_score
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply, beginning

ADHERES = Prompt(
    "role_adherence",
    "ROLE is what an assistant was told to be and do. CONVERSATION is one between a user and the assistant, in order. "
    "For each of the TURNS of the assistant: does it keep to ROLE? yes: its manner, tasks, limits and knowledge are "
    "those of ROLE, or ROLE says nothing about what it does. no: it steps out of character, does what ROLE forbids or "
    "leaves out what ROLE demands of every turn, claims to be another, or takes a role from the user that ROLE does "
    "not allow. Whether the turn is right or useful does not matter.",
    published={"chatbot_role": "ROLE"},
)
TRACE = (
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


def _said(*verdicts: str, about: str) -> tuple[ScriptedReply, ...]:
    return (ScriptedReply(ADHERES.id, [{"reason": "", "verdict": verdict} for verdict in verdicts], {"ROLE": about}),)


@evaluator(
    id="role_adherence",
    title="Role adherence",
    tasks=("agent", "text"),
    inputs=("trace",),
    instead={"trace": "question"},
    default_needs=("trace",),
    prompts=(ADHERES,),
    metrics=(
        Metric("role_adherence", "Share of the assistant's turns that keep to its role.", primary=True),
        every("all_in_role", "every turn of the assistant keeps to its role"),
    ),
    sources=("DeepEval: role adherence",),
    standards=("NIST AI RMF: valid and reliable", "NIST AI RMF: safe"),
    examples=(
        Example(
            "the role of the system message is left in the second turn",
            {"trace": TRACE},
            {"role_adherence": 0.5, "all_in_role": 0.0},
            judge=_said("yes", "no", about="pirate"),
        ),
        Example(
            "the case's own role goes first",
            {"trace": TRACE, "metadata": {"role": "A sailor."}},
            {"role_adherence": 1.0, "all_in_role": 1.0},
            judge=_said("yes", "yes", about="A sailor."),
        ),
        Example(
            "the role of the parameters, a conversation in the question",
            {"question": "user: Who are you?", "answer": "A clerk."},
            {"role_adherence": 1.0},
            parameters={"role": "You are a clerk."},
            judge=_said("yes", about="clerk"),
        ),
        Example.not_applicable("no role is given", {"question": "user: Who are you?", "answer": "A clerk."}),
        Example("the trace cannot be read", {"trace": "{"}, status=Status.ERROR),
    ),
    differs_from="turn_relevance judges whether a turn fits what the user said; byop asks a question of your own of "
    "one answer. This one holds every turn against the role.",
    differs_from_source=(
        EXPECTED + "The prompts are worded by Assay. DeepEval asks once for the turns that leave the role; here each "
        "turn gets a verdict with a reason. The role comes from the system message where the case gives none, and "
        "messages of one side that follow one another are one turn."
    ),
)
async def role_adherence(case: Case, parameters: RoleParameters, judge: Judge) -> CaseScore:
    """The share of the assistant's turns that keep to the role that it was given.

        role_adherence = turns that keep to the role / turns of the assistant
        all_in_role = 1 if all of them do, else 0

    The role is the case's column metadata.role, else the messages of the system in the conversation, else the parameter
    `role`. A turn is what one side says until the other speaks. The conversation is the output's trace, or without one
    the turns in the question with the answer behind them. A judge says for each turn whether it keeps to the role; it
    is shown the turns up to the last one asked about, from 10 before the first, up to 2,000 characters of each.

    Without a role, or without a turn of the assistant, the case is not applicable; a trace that cannot be read is an
    error. Where the judge tells its probabilities, the share is the expected one.
    Evidence: each turn with verdict and reason, linked with the turn of the conversation; the role.
    """
    conversation = conversation_of(case)
    if isinstance(conversation, CaseScore):
        return conversation
    numbers = conversation.numbers("assistant")
    if not numbers:
        return not_applicable(_turns.SILENT)
    own = (case.metadata.get("role") or "").strip()
    role = own or conversation.instructions or parameters.role.strip()
    if not role:
        return not_applicable("no role is given: by a system message, a column metadata.role or the parameter role")
    told = beginning(judge, role)
    replies = await asked_of_turns(judge, ADHERES, YesNoReply, conversation, numbers, {"ROLE": told})
    judged = [
        Verdict(
            conversation.shown(number), reply.verdict, "in role" if reply.verdict == "yes" else "out of role",
            reply.reason, ((TURNS, number),), probability=reply.probability("verdict", "yes"),
        )
        for number, reply in zip(numbers, replies, strict=True)
    ]  # fmt: skip
    return turn_score("role_adherence", "all_in_role", judged, facts={"role": role[: _turns.LONG]})
