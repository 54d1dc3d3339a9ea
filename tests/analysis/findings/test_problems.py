"""Problems: which comes first, and what the insight of a model that has one says."""

from pathlib import Path

from metrics.analysis import insights, problems
from tests.analysis.scored import scored_run, told


def test_of_equal_severity_the_farthest_from_its_threshold_comes_first(workspace: Path) -> None:
    """The thresholds are .75, 4 and .5: the values are in another order than their distances."""
    values = {"hallucination_claims": 0.9, "summary_coherence": 3.0, "looping_detection.looping": 0.8}
    found = problems(scored_run({name: {"one": [value] * 20} for name, value in values.items()}))
    assert found["evaluator"].tolist() == ["summary_coherence", "looping_detection", "hallucination_claims"]
    assert set(found["severity"]) == {"high"}


def test_a_value_on_the_threshold_is_no_problem(workspace: Path) -> None:
    found = problems(scored_run({"groundedness": {"at": [0.75] * 20, "below": [0.74] * 20}}))
    assert found["model"].tolist() == ["below"]


def test_the_worst_model_is_told_with_the_threshold_that_it_misses(workspace: Path) -> None:
    name = "answer_correctness"
    worst = told(insights(scored_run({name: {"good": [0.9] * 20, "poor": [0.3] * 20}})), "worst_model")
    assert (worst["severity"], worst["affected"]) == ("high", 20)
    assert worst["evidence"].endswith("; the threshold is 0.75")
    fair = told(insights(scored_run({name: {"good": [0.9] * 20, "fair": [0.8] * 20}})), "worst_model")
    assert (fair["severity"], "threshold" in fair["evidence"]) == ("info", False)


def test_a_value_on_the_threshold_meets_it(workspace: Path) -> None:
    values = {"answer_correctness": 0.75, "context_recall": 0.75}
    found = insights(scored_run({name: {"solo": [value] * 20} for name, value in values.items()}))
    assert told(found, "worst_metric")["message"] == (
        "solo: Answer correctness meets its threshold the least: 0.750, the threshold is 0.75"
    )
