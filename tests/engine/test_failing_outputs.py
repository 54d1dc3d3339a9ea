"""An evaluator that may ask a judge, and breaks: on an output, on the suite, on a reply, on the machine."""

import pytest

from metrics.core.evaluator import CaseScore, Metric, Parameters, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from tests.judge.judging import judged
from tests.judge.server import JudgeServer

LENGTH = (Metric("length", "Characters of the answer.", high=1e9),)
POLITE = Prompt("polite", "Is ANSWER polite? word: a word of it.")


class _Word(Reply):
    word: str


def break_on(case: Case) -> None:
    """Fail as the case says."""
    if "bad" in (case.answer or "") or case.question == "bad":
        raise ValueError(f"cannot read {case.answer}")
    if case.question == "disk":
        raise PermissionError("not allowed")


@evaluator(id="before_asking", title="Before asking", inputs=("answer",), metrics=LENGTH, prompts=(POLITE,))
async def before_asking(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Characters of the answer; fails before it asks the judge."""
    break_on(case)
    await judge.ask(POLITE, _Word, {"ANSWER": case.answer})
    return CaseScore({"length": float(len(case.answer or ""))})


@evaluator(id="after_asking", title="After asking", inputs=("answer",), metrics=LENGTH, prompts=(POLITE,))
async def after_asking(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Characters of the answer; fails after it has asked the judge, and where the judge says so."""
    reply = await judge.ask(POLITE, _Word, {"ANSWER": case.answer})
    if reply.word == "break":
        raise ValueError("cannot read the reply")
    break_on(case)
    return CaseScore({"length": float(len(case.answer or ""))})


BROKEN = "the output cannot be scored: ValueError: cannot read bad"


@pytest.mark.attack(
    "model",
    "an answer on which an evaluator that asks a judge fails is an error, and leaves the mean",
    "a plain output and typical replies tell whether the output is at fault; then it has failed",
)
@pytest.mark.parametrize("entry", [before_asking, after_asking], ids=lambda one: one.id)
@pytest.mark.parametrize("judge", [{}, {"repeats": 3, "temperature": 0.5}], ids=["one judge", "three draws"])
def test_what_an_output_breaks_has_failed_and_asks_the_judge_nothing_more(entry, judge):  # type: ignore[no-untyped-def]
    with JudgeServer() as server:
        server.say(lambda _: True, {"word": "fine"})
        found = judged(entry, Case("1", answer="bad"), server, judge=judge)
        asked = len(server.calls)
    assert (found.status, found.values) == (Status.OK, {"length": 0.0})
    assert found.evidence is not None
    assert found.evidence.facts["output_failure"] == BROKEN
    assert asked == (judge.get("repeats", 1) if entry is after_asking else 0)


@pytest.mark.parametrize(
    ("case", "reply", "reason"),
    [
        (Case("1", question="bad", answer="good"), "fine", "ValueError: cannot read good"),
        (Case("1", question="disk", answer="good"), "fine", "PermissionError: not allowed"),
        (Case("1", answer="good"), "break", "ValueError: cannot read the reply"),
    ],
    ids=["suite", "machine", "reply"],
)
def test_what_no_output_breaks_is_an_error(case: Case, reply: str, reason: str) -> None:
    with JudgeServer() as server:
        server.say(lambda _: True, {"word": reply})
        found = judged(after_asking, case, server)
    assert (found.status, found.reason, found.values) == (Status.ERROR, reason, {})
