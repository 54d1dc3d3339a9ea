"""Goal accuracy: whether an agent reached what the user wanted, or what the case expects."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Metric, Parameters, ScriptedReply, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import item_verdicts
from metrics.evaluators._scripted import example_of, verdicts_reply
from metrics.judge.asking import Judge, Reply
from metrics.judge.long_texts import listed_size
from metrics.judge.steps import YesNoReply, each, says_yes
from metrics.text.agents.dialogue import step_lines
from metrics.text.agents.traces import Step, TraceError, steps_of

OUTCOME = Prompt(
    "goal_accuracy.outcome",
    "TRACE is what an agent did for a user, step by step. goal: what the user wants in the end, in one sentence, by "
    "the user's words alone, with every condition that the user sets or changes on the way. end_state: what was "
    "arrived at when TRACE ends, in one or two sentences with names, numbers and times. Go by the results of calls: "
    "what the agent claims without a call that did it, or against a result, was not done; say so. QUESTION, where "
    "given, is what the user asked first.",
    published={"workflow": "TRACE"},
)
REACHED = Prompt(
    "goal_accuracy.reached",
    "END_STATE is how the work of an agent for a user ended. For each of the DESIRED outcomes: is it reached in "
    "END_STATE? yes: all that matters in it is there; more than it, or another choice where it leaves one open, is no "
    "fault. no: a part is missing, differs (another number, name, date), failed, was only planned or only claimed.",
    published={"desired_outcome": "DESIRED", "arrived_outcome": "END_STATE"},
)
LONGEST_STEP, SHORTEST_STEP = 2_000, 200  # characters of a step that the judge is shown: at first, and at least


class _Outcome(Reply):
    goal: str
    end_state: str


class GoalParameters(Parameters):
    """What the end state is compared with."""

    reference: Literal["expected", "goal"] = Field(
        "expected",
        description="expected: the case's expected answers, or the user's goal where it has none; goal: always the "
        "user's goal, as the judge reads it from the trace.",
    )


BOOKED = {
    "trace": '{"steps": [{"role": "user", "text": "Book a Chinese restaurant for 8 pm."}, {"tool": "book", '
    '"arguments": {"name": "Jade Palace", "time": "20:00"}, "result": "booked"}, '
    '{"role": "assistant", "text": "Booked."}]}',
    "expected_answers": ["A table is booked at a Chinese restaurant for 8 pm."],
}
GOAL = "A Chinese restaurant is booked for 8 pm."
END = "Jade Palace is booked for 20:00."
_example = partial(example_of, "goal_accuracy")


def _replies(*verdicts: str, about: str = "") -> tuple[ScriptedReply, ...]:
    return (
        ScriptedReply(OUTCOME.id, {"goal": GOAL, "end_state": END}),
        verdicts_reply(REACHED.id, *verdicts, DESIRED=about),
    )


@evaluator(
    tasks=("agent", "text"),
    inputs=("trace",),
    prompts=(OUTCOME, REACHED),
    metrics=Metric("goal_accuracy", "Share of cases in which the agent reached the goal.", binary=True),
    sources=("RAGAS: AgentGoalAccuracyWithReference and AgentGoalAccuracyWithoutReference",),
    standards=("valid and reliable", "outcomes analysis", "LLM06 excessive agency"),
    examples=(
        _example("the expected outcome is reached", BOOKED, 1.0, *_replies("yes", about="A table is booked")),
        _example(
            "one of two expected outcomes is enough",
            {**BOOKED, "expected_answers": ["A taxi is ordered.", "A table is booked."]},
            1.0,
            *_replies("no", "yes"),
        ),
        _example("it is not reached", BOOKED, 0.0, *_replies("no")),
        _example(
            "without an expected answer the user's goal counts",
            {"trace": BOOKED["trace"]},
            1.0,
            *_replies("yes", about=GOAL),
        ),
        _example("the user's goal on demand", BOOKED, 0.0, *_replies("no", about=GOAL), reference="goal"),
        _example("the trace has no step", {"trace": "[]"}, 0.0),
        _example("the trace cannot be read", {"trace": "{"}, 0.0),
    ),
    differs_from="tool_calls compares the calls with expected ones, rubric rates the answer; this one asks only "
    "whether the end is the wanted one, whatever the way. conversation_goal judges each goal of a conversation.",
    differs_from_source="The prompts are worded by Assay: the end state is read from the results of calls, and what "
    "the agent only claims counts as not done, of which RAGAS does not speak. With several expected answers one that "
    "is reached is enough. RAGAS has two metrics, with and without a reference; here the case decides.",
    version=2,
)
async def goal_accuracy(case: Case, parameters: GoalParameters, judge: Judge) -> CaseScore:
    """Whether an agent reached the goal: 1 if the end state of its trace is the desired one, else 0.

        goal_accuracy = 1 if the judge finds any desired outcome reached in the end state, else 0

    A judge reads the trace and states the user's goal and the end state, by the results of calls rather than by what
    the agent claims; asked again, with the end state alone, it says of each desired outcome whether it is reached. The
    desired outcomes are the case's expected answers; where it has none, or `reference` is goal, the user's goal.

    The judge is shown up to 2,000 characters of each step; in a trace that is too long for one question, less of each,
    down to 200, and then the first and last steps, which the evidence says. A trace without a step, or
    one that cannot be read, has 0.
    Evidence: each desired outcome with verdict and reason, the goal and the end state.
    """
    if not (case.trace or "").strip():
        return output_failure("the trace is empty")
    try:
        steps = steps_of(case.trace or "")
    except TraceError as failure:
        return output_failure(str(failure))
    if not steps:
        return output_failure("the trace has no step")
    shown = {"QUESTION": case.question or None, "TRACE": fit_steps(judge, steps)}
    outcome = await judge.ask(OUTCOME, _Outcome, shown)
    expected = [text for text in case.expected_answers if text.strip()] if parameters.reference == "expected" else []
    desired = expected or [outcome.goal]
    replies = await each(judge, REACHED, YesNoReply, desired, {"END_STATE": outcome.end_state}, name="DESIRED")
    judged = item_verdicts(desired, replies, {"yes": "reached", "no": "not reached"})
    facts = {"goal": outcome.goal, "end_state": outcome.end_state, "compared_with": "expected" if expected else "goal"}
    reached = any(map(says_yes, replies))
    return CaseScore({"goal_accuracy": float(reached)}, evidence=Evidence({"outcomes": judged}, facts))


def fit_steps(judge: Judge, steps: Sequence[Step]) -> list[str]:
    """Return the steps as lines that a question has room for: less of each where they are long, then the middle left
    out."""
    most, room = LONGEST_STEP, judge.room * 3 // 4
    lines = step_lines(steps, most)
    while listed_size(lines) > room and most > SHORTEST_STEP:
        most //= 2
        lines = step_lines(steps, max(most, SHORTEST_STEP))
    if listed_size(lines) <= room:
        return lines
    kept = max(1, room * len(lines) // listed_size(lines) // 2)
    judge.note("steps_left_out", max(0, len(lines) - 2 * kept))
    return [*lines[:kept], f"… {len(lines) - 2 * kept} steps …", *lines[-kept:]]
