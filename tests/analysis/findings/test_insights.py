"""Insights and problems: H2O's whole list, each with severity, evidence, affected cases and standards."""

from pathlib import Path
from typing import Any

import pytest

from metrics.analysis import Resource, cases, insights, problems, resources
from metrics.analysis.findings.insights import COLUMNS
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run, told
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite

RETRIEVED = {"sharp": [1.0] * 8, "blunt": [0.0] * 6 + [1.0] * 2}
ANSWERED = {"sharp": [0.9] * 6 + [0.1, 0.9], "blunt": [0.1] * 7 + [0.9]}


@pytest.fixture(scope="module")
def rag(shelf: Workspace) -> Run:
    """`blunt` finds nothing for six of eight questions; it fails seven, the sharp model one, for no want of context."""
    return rag_run(shelf)


def rag_run(shelf: Workspace, times: int = 1) -> Run:
    """The eight questions, so many times."""
    return scored_run(
        {
            "context_recall": {model: own * times for model, own in RETRIEVED.items()},
            "answer_correctness": {model: own * times for model, own in ANSWERED.items()},
            "groundedness": {"sharp": [0.9] * 8 * times, "blunt": ([0.9] * 6 + [0.4, 0.6]) * times},
            "faithfulness": {"sharp": [1.0] * 8 * times, "blunt": ([1.0] * 7 + [0.5]) * times},
        },
        {
            ("groundedness", "blunt", 6): {"least_grounded": "Ferries are  run by cats."},
            ("groundedness", "blunt", 7): {"least_grounded": "They run on Sundays."},
            ("faithfulness", "blunt", 7): {
                "claims": [{"claim": "It runs.", "supported": True}, {"claim": "It is free.", "supported": False}]
            },
        },
        {
            "sharp": {"duration_s": [2.0, 4.0] * 4 * times, "cost_usd": [0.02] * 8 * times},
            "blunt": {"duration_s": [1.0] * 8 * times, "cost_usd": ([0.01] * 7 + [None]) * times},
        },
        workspace=shelf,
    )


def test_every_kind_is_told(shelf: Workspace) -> None:
    found = insights(rag_run(shelf, times=4))
    assert list(found.columns) == COLUMNS
    assert set(found["kind"]) == {
        "leading_model", "best_model", "worst_model", "hardest_case", "fastest_model",
        "slowest_model", "cheapest_model", "most_expensive_model", "best_retrieval", "worst_retrieval",
        "retrieval_cause", "generation_cause", "least_grounded", "no_difference", "most_accurate", "least_accurate",
        "slowest_case",
    }  # fmt: skip
    assert set(found["severity"]) <= {"high", "low", "info"}
    assert found["severity"].tolist() == sorted(found["severity"], key=["high", "low", "info"].index)
    assert (found["evidence"].str.len() > 0).all()
    spent = ["fastest_model", "slowest_model", "cheapest_model", "most_expensive_model", "slowest_case"]
    assert found[~found["kind"].isin(spent)]["standards"].map(len).gt(0).all()
    assert (found["affected"].isna() == found["case_ids"].map(len).eq(0)).all()


def test_failing_answers_are_attributed_case_by_case(rag: Run) -> None:
    found = insights(rag)
    lost = told(found, "retrieval_cause", model="blunt")
    assert lost["message"] == "blunt: 6 of 7 failing answers have contexts that fail too"
    assert (lost["affected"], lost["case_ids"]) == (6, [f"c{place}" for place in range(6)])
    made = told(found, "generation_cause", model="blunt")
    assert (made["affected"], made["case_ids"], made["severity"]) == (1, ["c6"], "low")
    assert told(found, "generation_cause", model="sharp")["case_ids"] == ["c6"]
    assert told(found, "hardest_case", evaluator="answer_correctness")["case_ids"] == ["c6"]
    assert "8 cases; an answer fails if at least half of Answer correctness" in lost["evidence"]
    assert "its contexts fail if at least half of Context recall are" in lost["evidence"]


def test_checks_say_whose_failure_it_is(workspace: Path) -> None:
    run = scored_run({
        "pii_leakage.passes": {"one": [0.0, 0.0, 0.0] + [1.0] * 9, "two": [1.0] * 12},
        "pii_leakage.failures": {"one": [1.0, 1.0, 1.0] + [0.0] * 9, "two": [0.0] * 12},
        "pii_leakage.retrieval_failures": {"one": [1.0, 0.0, None] + [1.0] * 9, "two": [0.0] * 12},
    })  # fmt: skip
    found = insights(run)
    lost, made = (told(found, f"{cause}_cause") for cause in ("retrieval", "generation"))
    assert (lost["case_ids"], made["case_ids"]) == (["c0"], ["c1"])
    assert lost["message"].startswith("one: 1 of 2 failing answers of PII leakage have contexts")
    assert lost["evidence"] == "11 cases whose contexts were also checked"
    assert "NIST AI RMF: privacy enhanced" in lost["standards"]
    assert told(found, "worst_retrieval")["model"] == "one"


def test_the_least_grounded_sentence_and_claim(rag: Run) -> None:
    found = insights(rag)
    sentence = told(found, "least_grounded", evaluator="groundedness")
    assert sentence["message"] == "Least grounded, by blunt on case c6: “Ferries are run by cats.”"
    assert (sentence["case_id"], sentence["value"], sentence["severity"]) == ("c6", 0.4, "high")
    assert sentence["evidence"] == "Groundedness (likeness) of the answer is 0.400, the threshold 0.75"
    assert told(found, "least_grounded", evaluator="faithfulness")["message"].endswith("case c7: “It is free.”")


def test_equal_contexts_have_no_best(workspace: Path) -> None:
    run = scored_run({"context_recall": {"one": [0.5, 0.9] * 4, "two": [0.9, 0.5] * 4}})
    assert not insights(run)["kind"].str.endswith("_retrieval").any()


def test_a_problem_names_exactly_the_cases_that_the_page_lists(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(30), text_outputs(30), "rouge", "looping_detection", parameters=MARKED)
    found = problems(run)
    assert len(found)
    for row in found.to_dict("records"):
        page = cases(run, row["evaluator"], row["metric"], model=row["model"], failing=True, limit=1000)
        assert (row["affected"], row["case_ids"]) == (page.total, page.rows["case_id"].tolist()[:20])
        wrong = page.rows["value"] > row["threshold"] if row["direction"] == "lower" else page.rows["value"] < row[
            "threshold"
        ]  # fmt: skip
        assert wrong.all()
        assert row["standards"]
        assert row["evidence"]


def test_problems_that_are_certain_come_first_and_those_without_an_interval_next(workspace: Path) -> None:
    values = {
        "groundedness": [0.7] * 20,
        "faithfulness": [0.4] + [None] * 19,
        "answer_correctness": [0.4, 0.9] * 4 + [None] * 12,
    }
    found = problems(scored_run({name: {"one": given} for name, given in values.items()}))
    assert found[["evaluator", "severity"]].to_numpy().tolist() == [
        ["groundedness", "high"], ["faithfulness", "unknown"], ["answer_correctness", "low"],
    ]  # fmt: skip


def test_the_margins_of_one_model_in_words(workspace: Path) -> None:
    values = {"context_recall": 1.0, "answer_correctness": 0.8, "hallucination_claims": 0.0}
    took = {"solo": {"cost_usd": [0.01] * 18 + [0.05, 0.02]}}
    good = insights(scored_run({name: {"solo": [one] * 20} for name, one in values.items()}, None, took))
    assert [told(good, kind)["message"] for kind in ("worst_metric", "best_metric", "dearest_case", "total_cost")] == [
        "solo: Answer correctness meets its threshold the least: 0.800, the threshold is 0.75",
        "solo: Hallucination (claims) meets its threshold best: 0.00, the threshold is 0.75",
        "solo is most expensive on case c18: 0.050 USD",
        "solo costs 0.250 USD in total, 0.013 USD an answer",
    ]
    values = {"context_recall": 0.5, "answer_correctness": 0.1}
    poor = insights(scored_run({name: {"solo": [one] * 20} for name, one in values.items()}))
    assert [told(poor, kind)["message"] for kind in ("worst_metric", "best_metric")] == [
        "solo: Answer correctness misses its threshold the most: 0.100, the threshold is 0.75",
        "solo: Context recall misses its threshold the least: 0.500, the threshold is 0.75",
    ]
    hardest = told(poor, "hardest_case", evaluator="context_recall")
    assert (hardest["case_id"], hardest["affected"], hardest["case_ids"]) == ("c0", 1, ["c0"])


def test_the_weakest_tag_where_less_is_better(workspace: Path) -> None:
    hard = [place % 2 == 0 for place in range(40)]
    run = scored_run(
        {"hallucination_claims": {"solo": [0.9 if one else 0.1 for one in hard]}},
        design={"tags": [["hard"] if one else ["easy"] for one in hard]},
    )
    weak = told(insights(run), "weakest_tag")
    assert weak["message"] == "solo is weakest at Hallucination (claims) on cases tagged ‘hard’: 0.900"
    assert weak["severity"] == "high"


@pytest.fixture(scope="module")
def alone(shelf: Workspace) -> Run:
    """One model: half of its cases are tagged `hard`, and it fails nearly all of these."""
    hard = [place % 2 == 0 for place in range(40)]
    return scored_run(
        {
            "answer_correctness": {"solo": [0.1 if one else 0.9 for one in hard[:-2]] + [0.05, 0.9]},
            "groundedness": {"solo": [0.9] * 39 + [0.2]},
        },
        {("groundedness", "solo", 39): {"least_grounded": "Ferries are run by cats."}},
        {"solo": {"duration_s": [1.0] * 39 + [6.0], "cost_usd": [0.01] * 40}},
        {"tags": [["hard"] if one else ["easy"] for one in hard]},
        shelf,
    )


def test_a_weak_tag_is_severe_only_if_significant(alone: Run, workspace: Path) -> None:
    weak = told(insights(alone), "weakest_tag", evaluator="answer_correctness")
    assert weak["message"] == "solo is weakest at Answer correctness on cases tagged ‘hard’: 0.098"
    assert (weak["severity"], weak["value"]) == ("high", pytest.approx(0.0975))
    assert weak["evidence"].startswith("‘hard’ 0.098 (0.0")
    assert "n = 20; the rest 0.900; p = 0.003 by shuffling, corrected for all tags" in weak["evidence"]
    even = scored_run(
        {"answer_correctness": {"solo": [0.9, 0.9, 0.1, 0.1] * 5}},
        design={"tags": [["a"] if place % 2 else ["b"] for place in range(20)]},
    )
    row = told(insights(even), "weakest_tag")
    assert row["severity"] == "info"
    assert row["message"].endswith(", not significantly")


def test_several_models_are_told_of_significant_tags_only(workspace: Path) -> None:
    values = [0.9, 0.9, 0.1, 0.1] * 5
    run = scored_run(
        {"answer_correctness": {"one": values, "two": values}},
        design={"tags": [["a"] if place % 2 else ["b"] for place in range(20)]},
    )
    assert "weakest_tag" not in set(insights(run)["kind"])


def test_the_p_of_a_weak_tag_is_corrected_for_the_models_too(workspace: Path) -> None:
    """Only `one` is weak on a tag; of two models its p is twice that of one."""
    hard = [place % 2 == 0 for place in range(40)]
    weak, even = [0.1 if one else 0.9 for one in hard], [0.5, 0.5, 0.6, 0.6] * 10
    design = {"tags": [["hard"] if one else ["easy"] for one in hard]}
    name = "answer_correctness"
    of_one, of_two = (
        told(insights(scored_run({name: values}, design=design)), "weakest_tag")
        for values in ({"one": weak}, {"one": weak, "two": even})
    )
    assert (
        of_two["message"] == of_one["message"] == "one is weakest at Answer correctness on cases tagged ‘hard’: 0.100"
    )
    assert "p = 0.003 by shuffling" in of_one["evidence"]
    assert "p = 0.005 by shuffling" in of_two["evidence"]
    assert of_two["severity"] == "high"


def test_what_answers_took_on_the_cases_of_a_tag(workspace: Path) -> None:
    suite = Suite.from_rows(
        "timed", "text", [{"case_id": f"c{place}", "tags": ["even"] if place % 2 == 0 else []} for place in range(4)]
    )
    outputs = [
        {"case_id": f"c{place}", "model": model, "answer": "yes", "duration_s": None if place == 2 else place + 1.0}
        for model in ("one", "two")
        for place in range(4)
    ]
    run = finished(Workspace(), suite, Outputs.from_rows(outputs), "looping_detection")
    assert [(one.model, one.mean.value, one.n) for one in resources(run)] == [("one", 7 / 3, 3), ("two", 7 / 3, 3)]
    assert [(one.median.value, one.p95.value) for one in resources(run)] == [(2.0, 4.0)] * 2
    assert resources(run)[0].median.reason == "no interval with fewer than 6 cases"
    assert [(one.model, one.median.value, one.n) for one in resources(run, "even")] == [
        ("one", 1.0, 1),
        ("two", 1.0, 1),
    ]


def test_what_answers_took_is_weighted_and_drawn_by_group(workspace: Path) -> None:
    """As every score: a case of weight 2 is two cases, and copies in a group of their own say nothing new."""
    took = [1.0, 2.0, 3.0, 10.0, 4.0, 5.0]

    def of_cases(copies: int, **columns: list[Any]) -> Resource:
        ids = [f"c{place}{part}" for place in range(len(took)) for part in range(copies)]
        cases = [{"case_id": name, **{key: own[int(name[1])] for key, own in columns.items()}} for name in ids]
        outputs = [{"case_id": name, "model": "m", "answer": "yes", "duration_s": took[int(name[1])]} for name in ids]
        run = finished(
            Workspace(), Suite.from_rows("s", "text", cases), Outputs.from_rows(outputs), "looping_detection"
        )
        return resources(run)[0]

    assert of_cases(1, weight=[None, None, None, 5.0, None, None]).mean.value == pytest.approx(6.5)
    one, grouped = of_cases(1), of_cases(2, group=list("abcdef"))
    assert (grouped.mean.value, grouped.mean.low) == pytest.approx((one.mean.value, one.mean.low))
    assert (grouped.mean.high, one.mean.high) == (None, None)
    assert one.mean.reason == "no upper end: one case makes 67 % of the variance"
    assert grouped.median.value == one.median.value == 3.5
    assert (one.n, grouped.n) == (6, 12)
    alike = of_cases(1, weight=[2.0] * 6, group=list("abcdef"))
    assert alike == one
