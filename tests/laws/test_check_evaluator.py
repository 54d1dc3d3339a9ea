"""What check-evaluator says of evaluators that break a law each; those that Assay has are in test_every_evaluator."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel

from metrics.cli.main import main
from metrics.core.evaluator import (
    Aggregate,
    CaseScore,
    Evaluator,
    Example,
    Findings,
    Metric,
    Parameters,
    ScriptedReply,
    Status,
)
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Prompt
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.judge.asking import Judge
from metrics.library import evaluator_laws
from metrics.library.evaluator_laws import check_evaluator
from metrics.library.random_inputs import random_case, random_data_set
from tests.library.plugin_scenes import write_plugin

SAYS = "It says what it is"
METRICS = "Its metrics are whole"
FORM = "Its parameters are a form"
EXAMPLES = "Its worked examples give their numbers"
EVERY_CASE = "Every case has a value in range or a reason, always the same"
AGGREGATES = "Every aggregate has a value in range or a reason"
ORDER = "The order of the cases changes nothing"


class Bare(Parameters):
    size: int = 3


def made(
    score: Callable[[Case], Any] = lambda case: 1.0, parameters: type[Parameters] = Parameters, **said: Any
) -> Evaluator:
    """An evaluator that keeps every law, but for what is said."""
    whole = {
        "id": "made", "title": "Made", "inputs": ("answer",), "metrics": (Metric("made", "A share."),),
        "examples": (Example("one", {"answer": "a"}, {"made": 1.0}),),
    }  # fmt: skip

    def function(case, parameters):
        found = score(case)
        return found if isinstance(found, CaseScore | str) else CaseScore({"made": found})

    function.__doc__ = said.pop("doc", "Made for a test.")
    function.__annotations__ = {"case": Case, "parameters": parameters, "return": CaseScore}
    return evaluator(**whole | said)(function)


def whole_set(find: Callable[[Suite, Outputs], list[Aggregate]]) -> Evaluator:
    @evaluator(
        id="made", title="Made", inputs=("label",), tasks=("classification",), metrics=(Metric("made", "A share."),),
        examples=(Example("one", {"cases": [{"case_id": "a", "label": "x"}]}, rows=({"value": 1.0},)),),
    )  # fmt: skip
    def function(suite: Suite, outputs: Outputs, parameters: Parameters) -> Findings:
        """Made for a test."""
        return Findings(find(suite, outputs))

    return function


COUNTER = iter(range(10**9))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer random inputs than a plugin's author gets."""
    monkeypatch.setattr(evaluator_laws, "CASES", 40)
    monkeypatch.setattr(evaluator_laws, "DATA_SETS", 12)


@pytest.mark.parametrize(("entry", "law", "reason"), [
    pytest.param(made(title=""), SAYS, "it has no title", id="title"),
    pytest.param(made(doc="made for a test"), SAYS, "is no sentence that defines it", id="docstring"),
    pytest.param(made(examples=()), SAYS, "it declares no examples", id="no example"),
    pytest.param(made(metrics=(Metric("made", "no stop"),)), METRICS, "no sentence", id="description"),
    pytest.param(made(metrics=(Metric("made", "M.", 1, 0),)), METRICS, "no range: 1 … 0", id="range"),
    pytest.param(made(metrics=(Metric("made", "M.", threshold=2),)), METRICS, "the threshold 2", id="threshold"),
    pytest.param(made(metrics=(Metric("made", "M.", high=9, binary=True),)), METRICS, "is binary", id="binary"),
    pytest.param(made(parameters=Bare), FORM, "parameter size has no description", id="undescribed"),
    pytest.param(made(lambda case: 0.5), EXAMPLES, "made is 0.5, not 1.0", id="example"),
    pytest.param(made(lambda case: 2.0), EVERY_CASE, "outside its range 0 … 1; case answer", id="out of range"),
    pytest.param(made(lambda case: float("nan")), EVERY_CASE, "came out as NaN", id="NaN"),
    pytest.param(made(lambda case: CaseScore({"made": None})), EVERY_CASE, "a status and a reason", id="null"),
    pytest.param(made(lambda case: CaseScore({"other": 1.0})), EVERY_CASE, "other is no metric", id="other"),
    pytest.param(made(lambda case: next(COUNTER) % 2), EVERY_CASE, "the same case gave another score", id="random"),
    pytest.param(made(lambda case: 1 / len(case.answer)), EVERY_CASE, "failed: ZeroDivisionError", id="raises"),
    pytest.param(made(lambda case: "yes"), EVERY_CASE, "it returned str, not CaseScore", id="no score"),
    pytest.param(whole_set(lambda suite, outputs: []), AGGREGATES, "no aggregate", id="no aggregate"),
    pytest.param(whole_set(lambda suite, outputs: [Aggregate("made", 7.0, n=1)]), AGGREGATES, "came out as 7",
        id="aggregate"),
    pytest.param(whole_set(lambda suite, outputs: [Aggregate("made", 1.0)] * 2), AGGREGATES, "the same metric", id="2"),
    pytest.param(whole_set(lambda suite, _: [Aggregate("made", float(suite.cases["case_id"][0].as_py() == "c0"), n=1)]),
        ORDER, "shuffled cases give", id="order"),
])  # fmt: skip
def test_a_broken_law_is_told(entry: Evaluator, law: str, reason: str) -> None:
    outcome = next(one for one in check_evaluator(entry) if one.law == law)
    assert outcome.passed is False
    assert reason in outcome.reason


def test_one_that_keeps_them_all_passes() -> None:
    outcomes = check_evaluator(made())
    assert ([one for one in outcomes if not one.passed], len(outcomes)) == ([], 6)


def test_what_asks_a_judge_is_checked_as_far_as_it_goes() -> None:
    outcomes = check_evaluator(evaluators()["faithfulness"])
    assert {one.law: one.reason for one in outcomes if not one.passed} == {
        EVERY_CASE: "not run on random inputs, as it asks a judge; evaluate a small suite with it"
    }


class Polite(BaseModel):
    verdict: str


POLITE = Prompt("polite", "Is the text polite?")
YES = (ScriptedReply("polite", {"verdict": "yes"}),)


def judged(*examples: Example) -> Evaluator:
    """An evaluator that asks a judge about every answer, with these examples."""

    @evaluator(
        id="polite", title="Polite", inputs=("answer",), metrics=(Metric("polite", "Share of polite answers."),),
        prompts=(POLITE,), examples=examples,
    )  # fmt: skip
    async def polite(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
        """Whether the answer is polite."""
        found = await judge.ask(POLITE, Polite, {"TEXT": case.answer})
        return CaseScore({"polite": float(found.verdict == "yes")})

    return polite


ASKS = Example("asks", {"answer": "Please."}, {"polite": 1.0}, judge=YES)
SILENT = Example("silent", {"answer": "Please."}, {"polite": 1.0})
CUT = Example("cut", {"answer": "Please."}, {}, status=Status.PARSE_FAILURE, judge=(ScriptedReply("polite", {}),))


@pytest.mark.parametrize(("examples", "passed", "reason"), [
    pytest.param((ASKS, CUT), True, "", id="the judge's replies are given"),
    pytest.param((replace(ASKS, expect={"polite": 0.0}),), False, "example 'asks': polite is 1.0, not 0.0",
        id="other number"),
    pytest.param((replace(ASKS, judge=(ScriptedReply("rude", {}),)),), False,
        "example 'asks': status parse_failure, not ok (the example does not say what the judge replies to polite",
        id="no reply that fits"),
    pytest.param((SILENT, ASKS), None,
        "example 'silent' was not run: it does not give the judge's replies: judge=(ScriptedReply('polite', …),)",
        id="no replies"),
    pytest.param((SILENT, replace(ASKS, expect={"polite": 0.0})), False, "example 'asks': polite", id="both"),
])  # fmt: skip
def test_worked_examples_with_a_judge(examples: tuple[Example, ...], passed: bool | None, reason: str) -> None:
    outcome = next(one for one in check_evaluator(judged(*examples)) if one.law == EXAMPLES)
    assert (outcome.passed, outcome.reason[: len(reason)]) == (passed, reason)


def test_a_judged_evaluator_is_checked_in_an_event_loop_too() -> None:
    async def checked() -> list[bool | None]:
        return [one.passed for one in check_evaluator(judged(ASKS)) if one.law == EXAMPLES]

    assert asyncio.run(checked()) == [True]


def test_random_inputs_are_the_same_for_the_same_seed() -> None:
    assert random_case(Random(5)) == random_case(Random(5))
    first, second = (random_data_set(Random(5), "detection") for _ in range(2))
    assert first[0].fingerprint == second[0].fingerprint
    assert len({random_case(Random(seed)).answer for seed in range(50)}) > 20


def test_the_command_prints_a_line_a_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_plugin(tmp_path / "evals.py")
    assert main(["check-evaluator", f"{file}:brevity"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], [line.partition(" ")[0] for line in lines[1:]]) == ("brevity: Brevity", ["pass"] * 6)
    file.write_text(file.read_text(encoding="utf-8").replace('"Brevity"', '""'), encoding="utf-8")
    assert main(["check-evaluator", f"{file}:brevity"]) == 1
    assert "FAIL  It says what it is: it has no title" in capsys.readouterr().out
    assert main(["check-evaluator", "nothing"]) == 2
