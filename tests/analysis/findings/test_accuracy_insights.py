"""Who passes most checks and who least, and which case is the hardest."""

from pathlib import Path

import pytest

from metrics.analysis import insights
from metrics.core.number_text import number
from tests.analysis.scored import scored_run, told


def test_accuracy_counts_checks_passed(workspace: Path) -> None:
    values = {"sharp": [0.75] * 38 + [0.0] * 2, "blunt": [0.0] * 30 + [1.0] * 10, "also": [1.0] * 39 + [0.0]}
    checked = ("context_recall", "faithfulness")
    level = insights(scored_run(dict.fromkeys(checked, values)))
    assert "most_accurate" not in level["kind"].tolist()  # sharp passes nearly as many
    assert told(level, "least_accurate")["model"] == "blunt"
    values["sharp"] = [0.75] * 30 + [0.0] * 10
    found = insights(scored_run(dict.fromkeys(checked, values)))
    assert told(found, "most_accurate")["message"] == (
        "also is the most accurate: it passes 97.5 % of the checks of a case"
    )
    least = told(found, "least_accurate")
    assert least["message"] == "blunt is the least accurate: it passes 25.0 % of the checks of a case"
    assert least["evidence"].endswith("; 40 cases, thresholds of Context recall, Faithfulness")
    others = {"text_matching.passes": {"sharp": [0.0] * 40, "blunt": [0.0] * 40, "also": [0.0] * 40}}
    others["text_matching.failures"] = others["text_matching.passes"]  # of which one is no primary metric
    three = insights(scored_run(dict.fromkeys(("context_recall", "faithfulness"), values) | others))
    assert told(three, "most_accurate")["value"] == pytest.approx((0.975 * 2) / 3)
    one = insights(scored_run({"faithfulness": values}))
    assert not one["kind"].str.endswith("_accurate").any()  # best_model says the same of one metric


def test_accuracy_needs_two_models_two_checks_and_a_significant_difference(workspace: Path) -> None:
    names = ("context_recall", "faithfulness")
    for values in (
        {"one": [1.0] * 40},
        {"one": [1.0] * 40, "none": [None] * 40},
        {"one": [1.0, 0.0] * 20, "two": [0.0, 1.0] * 20},
    ):
        assert not insights(scored_run(dict.fromkeys(names, values)))["kind"].str.endswith("_accurate").any()


def test_accuracy_is_over_the_cases_that_a_model_has(workspace: Path) -> None:
    """`some` has no value of the first ten cases, `none` of any."""
    values = {"all": [1.0] * 40, "some": [None] * 10 + [0.0] * 24 + [1.0] * 6, "none": [None] * 40}
    found = insights(scored_run(dict.fromkeys(("context_recall", "faithfulness"), values)))
    assert told(found, "most_accurate")["model"] == "all"
    least = told(found, "least_accurate")
    assert (least["model"], least["value"]) == ("some", pytest.approx(0.2))
    assert "; 40 cases, " in least["evidence"]


@pytest.mark.parametrize(("name", "values", "told_of"), [
    pytest.param("answer_correctness", {
        "a": [0.7, 0.1, 0.75, None], "b": [0.7, 0.2, 0.75, 0.0], "c": [1.0, 0.9, 0.75, None],
    }, ("c1", "2 of 3", "low", 0.4), id="the lower mean of two that two models fail"),
    pytest.param("answer_correctness", {
        "a": [0.7, 0.5, 0.0], "b": [0.7, 0.5, 0.0], "c": [0.7, 0.5, 0.8],
    }, ("c1", "3 of 3", "high", 0.5), id="how many fail goes before the mean"),
    pytest.param("answer_correctness", {
        "a": [None, None, 0.0] + [1.0] * 7 + [0.25], "b": [None, None, 0.25] + [1.0] * 7 + [0.5],
        "c": [None, None, 0.875] + [1.0] * 7 + [None],
    }, ("c10", "2 of 2", "high", 0.375), id="the first by name of two alike"),
    pytest.param(
        "hallucination_claims", {"a": [0.8, 1.0, 0.75], "b": [0.9, 0.9, 0.75]}, ("c1", "2 of 2", "high", 0.95),
        id="less is better",
    ),
    pytest.param("answer_correctness", {"a": [0.1, 0.9, 0.75], "b": [0.9, 0.1, 0.75]}, None, id="one model is none"),
])  # fmt: skip
def test_the_hardest_case_is_the_one_that_most_models_fail(workspace, name, values, told_of) -> None:
    found = insights(scored_run({name: values}))
    if told_of is None:
        assert "hardest_case" not in set(found["kind"])
        return
    case, models, severity, mean = told_of
    row = told(found, "hardest_case")
    assert row["message"].startswith(f"Case {case} is the hardest: {models} models fail it at ")
    assert (row["case_ids"], row["affected"], row["severity"]) == ([case], 1, severity)
    assert row["value"] == pytest.approx(mean)
    evidence, _, alike = row["evidence"].partition("; ")
    assert evidence == f"the mean over the models is {number(mean)}, the threshold 0.75"
    assert alike == ("" if case == "c10" else f"cases that {models} models fail: 2")
