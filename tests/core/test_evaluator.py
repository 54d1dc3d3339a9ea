"""What the decorator derives from a function, and which side of the threshold a value is on."""

from typing import Any

import pytest

from metrics.core.evaluator import CaseScore, Direction, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.registry import choose
from metrics.core.suite import Case
from metrics.engine.evaluation_fields import parameters_of


def judged_and_embedded(case: Case, parameters: Parameters, embedder: Any, judge: Any) -> CaseScore:
    """Score nothing."""
    return CaseScore({})


def scored(case: Case, parameters: Parameters) -> CaseScore:
    """Score nothing, without a model."""
    return CaseScore({})


def declared(*metrics: Metric) -> Any:
    return evaluator(id="x", title="X", inputs=("answer",), metrics=metrics)(judged_and_embedded)


def test_of_several_metrics_one_is_named_primary():
    with pytest.raises(ValueError, match="evaluator x: exactly one metric is primary"):
        declared(Metric("m", "M."), Metric("n", "N."))


@pytest.mark.parametrize(("metric", "threshold", "value", "holds"), [
    pytest.param(Metric("m", "M."), None, 0.75, "yes", id="on the default threshold"),
    pytest.param(Metric("m", "M."), 0.9, 0.75, "no", id="below one's own"),
    pytest.param(Metric("m", "M.", direction=Direction.LOWER, threshold=0.25), None, 0.3, "no", id="lower is better"),
    pytest.param(Metric("m", "M.", threshold=None), None, 0.3, "unknown", id="without a threshold"),
])  # fmt: skip
def test_whether_a_value_holds(metric, threshold, value, holds):
    entry = evaluator(id="x", title="X", inputs=("answer",), metrics=(metric,))(scored)
    assert entry.holds(value, Parameters(threshold=threshold)) == holds


@pytest.mark.parametrize(("written", "text"), [("1", "1"), ("0.5", "0.5"), ("007", "007"), ("north", "north")])
def test_a_text_that_looks_like_a_number_stays_a_text(written: str, text: str) -> None:
    """The values of parameters are JSON, else texts: a class may be called 1."""
    given = parameters_of([f"group_fairness.positive={written}"])
    _, values = choose(["group_fairness"], given)["group_fairness"]
    assert values.model_dump()["positive"] == text
