"""The worked examples of every evaluator that asks a judge, end to end over HTTP."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from metrics.core.evaluator import Evaluator, Example, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.judging import judged
from tests.judge.scripted import as_said
from tests.judge.server import JudgeServer

JUDGED = [
    entry
    for entry in evaluators().values()
    if "judge" in entry.resources and {"judge", "embedder"} >= set(entry.parameters().used(entry.resources))
]


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


def worked() -> list[Any]:
    return [
        pytest.param(entry, example, id=f"{entry.id}: {example.name}")
        for entry in JUDGED
        for example in entry.examples
        if "judge" in entry.parameters.model_validate(dict(example.parameters)).used(entry.resources)
    ]


@pytest.mark.parametrize(("entry", "example"), worked())
def test_a_worked_example_gives_its_numbers(entry: Evaluator, example: Example, server: JudgeServer) -> None:
    case = Case.of(**example.given)
    server.clear()
    server.say(lambda request: True, as_said(example.judge))
    result = judged(entry, case, server, **example.parameters)
    assert not entry.missing_inputs(case)
    assert result.status is example.status, result.reason
    assert example.expect or example.status is not Status.OK
    assert result.status is not Status.NOT_APPLICABLE or set(result.values.values()) <= {None}
    assert example.judge or not server.calls, "a judge was asked of whom the example says nothing"
    for metric, expected in example.expect.items():
        assert entry.with_parameters(entry.parameters(**example.parameters)).metric(metric)
        value = result.values.get(metric)
        if expected is None or value is None:
            assert value == expected
        else:
            assert math.isclose(value, expected, abs_tol=example.tolerance), f"{metric}: {value}, not {expected}"


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in JUDGED])
def test_a_reply_that_cannot_be_read_is_a_parse_failure(entry: Evaluator, server: JudgeServer) -> None:
    """What stands in the run is the status with the reason, and no number but the count of parse failures."""
    example = next(example for example in entry.examples if example.judge and example.status is Status.OK)
    server.clear()
    server.say(lambda request: True, '{"replies": [{"id": 1, "verdict": "y')
    result = judged(entry, Case.of(**example.given), server, **example.parameters)
    assert server.calls
    assert result.status is Status.PARSE_FAILURE
    assert "the judge's reply" in (result.reason or "")
    assert {name for name, value in result.values.items() if value is not None} <= {"parse_failures"}
