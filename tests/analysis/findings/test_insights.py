"""Insights and problems: H2O's whole list, each with severity, evidence, affected cases and standards."""

from pathlib import Path

import pytest

from metrics.analysis import cases, insights, problems, resources
from metrics.analysis.findings.insight_row import in_numbers
from metrics.analysis.findings.insights import COLUMNS
from metrics.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from metrics.analysis.slices import slice_outcomes
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run, told
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite

RETRIEVED = {"sharp": [1.0] * 8, "blunt": [0.0] * 6 + [1.0] * 2}
ANSWERED = {"sharp": [0.9] * 6 + [0.1, 0.9], "blunt": [0.1] * 7 + [0.9]}


@pytest.fixture(scope="module")
def rag(shelf: Workspace) -> Run:
    """`blunt` finds nothing for six of eight questions; it fails seven, the sharp model one, for no want of context."""
    return scored_run(
        {
            "context_recall.context_recall": RETRIEVED,
            "answer_correctness.answer_correctness": ANSWERED,
            "groundedness.groundedness": {"sharp": [0.9] * 8, "blunt": [0.9] * 6 + [0.4, 0.6]},
            "faithfulness.faithfulness": {"sharp": [1.0] * 8, "blunt": [1.0] * 7 + [0.5]},
        },
        {
            ("groundedness", "blunt", 6): {"least_grounded": "Ferries are  run by cats."},
            ("groundedness", "blunt", 7): {"least_grounded": "They run on Sundays."},
            ("faithfulness", "blunt", 7): {
                "claims": [{"claim": "It runs.", "supported": True}, {"claim": "It is free.", "supported": False}]
            },
        },
        {
            "sharp": {"duration_s": [2.0, 4.0] * 4, "cost_usd": [0.02] * 8},
            "blunt": {"duration_s": [1.0] * 8, "cost_usd": [0.01] * 7 + [None]},
        },
        workspace=shelf,
    )


def test_every_kind_is_told(rag: Run) -> None:
    found = insights(rag)
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
    measured = found[~found["kind"].isin(spent)]
    assert measured["standards"].map(len).gt(0).all()
    assert (found["affected"].isna() == found["case_ids"].map(len).eq(0)).all()


def test_failing_answers_are_attributed_case_by_case(rag: Run) -> None:
    found = insights(rag)
    lost = told(found, "retrieval_cause", model="blunt")
    assert lost["message"] == "blunt: 6 of 7 failing answers have contexts that fail too: caused by retrieval"
    assert (lost["affected"], lost["case_ids"]) == (6, [f"c{place}" for place in range(6)])
    made = told(found, "generation_cause", model="blunt")
    assert (made["affected"], made["case_ids"], made["severity"]) == (1, ["c6"], "low")
    assert told(found, "generation_cause", model="sharp")["case_ids"] == ["c6"]
    assert told(found, "hardest_case", evaluator="answer_correctness")["case_ids"] == ["c6"]
    assert "8 cases; an answer fails if at least half of Answer correctness" in lost["evidence"]
    assert "its contexts fail if at least half of Context recall are" in lost["evidence"]


def test_a_cause_is_severe_only_if_significant(workspace: Path) -> None:
    wrong = {"one": [0.0] * 40, "two": [1.0] * 40}
    run = scored_run({"context_recall.context_recall": wrong, "answer_correctness.answer_correctness": wrong})
    row = told(insights(run), "retrieval_cause")
    assert (row["severity"], row["affected"], row["value"]) == ("high", 40, 1.0)


def test_checks_say_whose_failure_it_is(workspace: Path) -> None:
    run = scored_run(
        {
            "pii_leakage.passes": {"one": [0.0, 0.0, 0.0] + [1.0] * 9, "two": [1.0] * 12},
            "pii_leakage.failures": {"one": [1.0, 1.0, 1.0] + [0.0] * 9, "two": [0.0] * 12},
            "pii_leakage.retrieval_failures": {"one": [1.0, 0.0, None] + [1.0] * 9, "two": [0.0] * 12},
        }
    )
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


def test_only_what_judges_an_answer_by_its_contexts_says_what_is_grounded_least(workspace: Path) -> None:
    told_of = {"claims": [{"claim": "It is free.", "supported": False}]}
    run = scored_run(
        {"context_recall.context_recall": {"one": [0.0]}, "faithfulness.faithfulness": {"one": [0.0]}},
        {(name, "one", 0): told_of for name in ("context_recall", "faithfulness")},
    )
    found = insights(run)
    assert found.loc[found["kind"] == "least_grounded", "evaluator"].tolist() == ["faithfulness"]


@pytest.mark.parametrize(("size", "shown"), [(240, "x" * 240), (241, "x" * 239 + "…")], ids=["fits", "long"])
def test_a_long_sentence_is_cut(workspace: Path, size: int, shown: str) -> None:
    run = scored_run(
        {"groundedness.groundedness": {"one": [0.2]}}, {("groundedness", "one", 0): {"least_grounded": "x" * size}}
    )
    assert told(insights(run), "least_grounded")["message"] == f"Least grounded, by one on case c0: “{shown}”"


def test_tiny_amounts_and_their_intervals_are_written_out() -> None:
    assert in_numbers("a", 0.000073, 0.00007, 0.00008, 12, " USD") == "a 0.000073 USD (0.000070–0.000080), n = 12"
    assert in_numbers("a", 0.00007, 0.00001, 0.5, 12) == "a <0.001 (<0.001–0.500), n = 12"


def test_the_extremes_of_time_and_money_have_intervals(rag: Run) -> None:
    found = insights(rag)
    assert told(found, "fastest_model")["message"] == "blunt is the fastest: 1.00 s per case on average"
    assert told(found, "slowest_model")["message"] == "sharp is the slowest: 3.00 s per case on average"
    assert told(found, "most_expensive_model")["model"] == "sharp"
    assert told(found, "cheapest_model")["evidence"].startswith("blunt 0.010 USD, n = 7")  # all equal
    taken = {(one.model, one.quantity): one for one in resources(rag)}
    sharp = taken["sharp", "duration_s"]
    assert sharp.mean == 3.0
    assert 0.0 < sharp.low < 3.0 < sharp.high
    assert set(taken) == {(model, name) for model in ("sharp", "blunt") for name in ("duration_s", "cost_usd")}


def test_the_best_at_retrieval(rag: Run) -> None:
    found = insights(rag)
    assert told(found, "best_retrieval")["message"] == (
        "sharp retrieves best: its contexts reach 100 % of the metrics' ranges"
    )
    worst = told(found, "worst_retrieval")
    assert (worst["model"], worst["severity"]) == ("blunt", "high")
    assert worst["evidence"].endswith("blunt misses the threshold of Context recall")


def test_equal_contexts_have_no_best(workspace: Path) -> None:
    run = scored_run({"context_recall.context_recall": {"one": [0.5, 0.9] * 4, "two": [0.9, 0.5] * 4}})
    assert not insights(run)["kind"].str.endswith("_retrieval").any()


def test_a_problem_names_exactly_the_cases_that_the_page_lists(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(30), text_outputs(30), "rouge", "looping_detection", parameters=MARKED)
    found = problems(run)
    assert len(found)
    for row in found.to_dict("records"):
        page = cases(run, row["evaluator"], row["metric"], model=row["model"], failing=True, limit=1000)
        assert row["affected"] == page.total
        assert row["case_ids"] == page.rows["case_id"].tolist()[:20]
        wrong = page.rows["value"] > row["threshold"] if row["direction"] == "lower" else page.rows["value"] < row[
            "threshold"
        ]  # fmt: skip
        assert wrong.all()
        assert row["standards"]
        assert row["evidence"]


def test_problems_that_are_certain_come_first_and_those_without_an_interval_next(workspace: Path) -> None:
    """The first is the nearest to its threshold."""
    values = {
        "groundedness": [0.7] * 20,
        "faithfulness": [0.4] + [None] * 19,
        "answer_correctness": [0.4, 0.9] * 4 + [None] * 12,
    }
    found = problems(scored_run({f"{name}.{name}": {"one": given} for name, given in values.items()}))
    assert found[["evaluator", "severity"]].to_numpy().tolist() == [
        ["groundedness", "high"], ["faithfulness", "unknown"], ["answer_correctness", "low"],
    ]  # fmt: skip


def test_the_margins_of_one_model_in_words(workspace: Path) -> None:
    """Less is better in the third metric."""
    values = {"context_recall": 1.0, "answer_correctness": 0.8, "hallucination_claims": 0.0}
    took = {"solo": {"cost_usd": [0.01] * 18 + [0.05, 0.02]}}
    good = insights(scored_run({f"{name}.{name}": {"solo": [one] * 20} for name, one in values.items()}, None, took))
    assert [told(good, kind)["message"] for kind in ("worst_metric", "best_metric", "dearest_case", "total_cost")] == [
        "solo: Answer correctness meets its threshold the least: 0.800, the threshold is 0.75",
        "solo: Hallucination (claims) meets its threshold best: 0.00, the threshold is 0.75",
        "solo is most expensive on case c18: 0.050 USD",
        "solo costs 0.250 USD in total, 0.013 USD an answer",
    ]
    values = {"context_recall": 0.5, "answer_correctness": 0.1}
    poor = insights(scored_run({f"{name}.{name}": {"solo": [one] * 20} for name, one in values.items()}))
    assert [told(poor, kind)["message"] for kind in ("worst_metric", "best_metric")] == [
        "solo: Answer correctness misses its threshold the most: 0.100, the threshold is 0.75",
        "solo: Context recall misses its threshold the least: 0.500, the threshold is 0.75",
    ]
    hardest = told(poor, "hardest_case", evaluator="context_recall")
    assert (hardest["case_id"], hardest["affected"], hardest["case_ids"]) == ("c0", 1, ["c0"])


def test_the_weakest_tag_where_less_is_better(workspace: Path) -> None:
    hard = [place % 2 == 0 for place in range(40)]
    run = scored_run(
        {"hallucination_claims.hallucination_claims": {"solo": [0.9 if one else 0.1 for one in hard]}},
        design={"tags": [["hard"] if one else ["easy"] for one in hard]},
    )
    weak = told(insights(run), "weakest_tag")
    assert weak["message"] == "solo is weakest at Hallucination (claims) on cases tagged ‘hard’: 0.900"
    assert weak["severity"] == "high"


def test_six_models_are_named_and_the_others_counted(workspace: Path) -> None:
    values = {f"m{place}": [float((7 * case + place) % 5 != 0) for case in range(40)] for place in range(9)}
    found = insights(scored_run({"context_recall.context_recall": values | {"bad": [0.0] * 40}}))
    tied = "m1, m2, m3, m4, m5, m6 and 2 more"
    assert told(found, "best_model")["message"] == f"m0 is best at Context recall (0.800); tied for best with {tied}"


def test_values_within_bounds(rag: Run) -> None:
    def ids(**bounds: float) -> list[str]:
        page = cases(rag, "groundedness", "groundedness", model="blunt", **bounds)
        return page.rows["case_id"].tolist()

    assert ids(low=0.4, high=0.6) == ["c6"]
    assert ids(high=0.9) == ["c6", "c7"]
    assert len(ids(low=0.6)) == 7


def test_problems_are_models_on_the_wrong_side(workspace: Path) -> None:
    found = problems(finished(Workspace(), text_suite(120), text_outputs(120), "rouge", parameters=MARKED))
    assert "rougeL" in set(found.loc[found.model == "poor", "metric"])
    assert "rougeL" not in set(found.loc[found.model == "good", "metric"])
    row = found[(found.model == "poor") & (found.metric == "rougeL")].iloc[0]
    assert row.severity == "high"
    assert "below the threshold 0.75" in row.message


def test_insights_name_the_best_model(workspace: Path) -> None:
    found = insights(finished(Workspace(), text_suite(12), text_outputs(12), "rouge", "looping_detection"))
    best = found[(found.kind == "best_model") & (found.evaluator == "rouge")].iloc[0]
    assert best.model == "good"


@pytest.fixture(scope="module")
def alone(shelf: Workspace) -> Run:
    """One model: half of its cases are tagged `hard`, and it fails nearly all of these."""
    hard = [place % 2 == 0 for place in range(40)]
    return scored_run(
        {
            "answer_correctness.answer_correctness": {"solo": [0.1 if one else 0.9 for one in hard[:-2]] + [0.05, 0.9]},
            "groundedness.groundedness": {"solo": [0.9] * 39 + [0.2]},
        },
        {("groundedness", "solo", 39): {"least_grounded": "Ferries are run by cats."}},
        {"solo": {"duration_s": [1.0] * 39 + [6.0], "cost_usd": [0.01] * 40}},
        {"tags": [["hard"] if one else ["easy"] for one in hard]},
        shelf,
    )


def test_one_model_is_told_where_to_look(alone: Run) -> None:
    found = insights(alone)
    assert set(found["kind"]) == {
        "hardest_case", "weakest_tag", "least_grounded", "slowest_case", "total_time", "total_cost", "best_metric",
        "worst_metric",
    }  # fmt: skip
    hardest = told(found, "hardest_case", evaluator="answer_correctness")
    assert (hardest["case_id"], hardest["value"]) == ("c38", 0.05)
    assert hardest["evidence"] == "the threshold is 0.75; cases that miss it: 20"
    assert told(found, "hardest_case", evaluator="groundedness")["case_id"] == "c39"
    assert "Ferries are run by cats." in told(found, "least_grounded")["message"]
    assert told(found, "slowest_case")["message"] == "solo is slowest on case c39: 6.00 s"
    assert told(found, "slowest_case")["evidence"] == "the median of 40 answers is 1.00 s"
    assert told(found, "total_time")["message"] == "solo takes 45.0 s in total, 1.12 s an answer"
    assert "dearest_case" not in set(found["kind"]), "all cost the same"
    assert told(found, "total_cost")["value"] == pytest.approx(0.4)
    worst, best = told(found, "worst_metric"), told(found, "best_metric")
    assert (worst["evaluator"], worst["severity"], best["evaluator"]) == ("answer_correctness", "high", "groundedness")
    assert worst["message"] == "solo: Answer correctness misses its threshold the most: 0.499, the threshold is 0.75"


def test_a_weak_tag_is_severe_only_if_significant(alone: Run, workspace: Path) -> None:
    weak = told(insights(alone), "weakest_tag", evaluator="answer_correctness")
    assert weak["message"] == "solo is weakest at Answer correctness on cases tagged ‘hard’: 0.098"
    assert (weak["severity"], weak["value"]) == ("high", pytest.approx(0.0975))
    assert weak["evidence"].startswith("‘hard’ 0.098 (0.0")
    assert "n = 20; the rest 0.900; p = 0.003 by shuffling, corrected for all tags" in weak["evidence"]
    even = scored_run(
        {"answer_correctness.answer_correctness": {"solo": [0.9, 0.9, 0.1, 0.1] * 5}},
        design={"tags": [["a"] if place % 2 else ["b"] for place in range(20)]},
    )
    row = told(insights(even), "weakest_tag")
    assert row["severity"] == "info"
    assert row["message"].endswith(", not significantly")


def test_several_models_are_told_of_significant_tags_only(workspace: Path) -> None:
    values = [0.9, 0.9, 0.1, 0.1] * 5
    run = scored_run(
        {"answer_correctness.answer_correctness": {"one": values, "two": values}},
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
        told(insights(scored_run({f"{name}.{name}": values}, design=design)), "weakest_tag")
        for values in ({"one": weak}, {"one": weak, "two": even})
    )
    assert (
        of_two["message"] == of_one["message"] == "one is weakest at Answer correctness on cases tagged ‘hard’: 0.100"
    )
    assert "p = 0.003 by shuffling" in of_one["evidence"]
    assert "p = 0.005 by shuffling" in of_two["evidence"]
    assert of_two["severity"] == "high"


def test_a_thousand_cases_of_a_cause_are_listed(workspace: Path) -> None:
    wrong = {"one": [0.0] * 1_001}
    run = scored_run({"context_recall.context_recall": wrong, "answer_correctness.answer_correctness": wrong})
    row = told(insights(run), "retrieval_cause")
    assert (row["affected"], row["case_ids"]) == (1_001, [f"c{place}" for place in range(1_000)])


def test_rows_are_numbered_in_the_order_that_they_are_read(rag: Run) -> None:
    for found in (insights(rag), problems(rag)):
        assert len(found) > 1
        assert found.index.tolist() == list(range(len(found)))
        assert "index" not in found


def test_many_models_do_not_repeat_the_leaderboard(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What all models share is computed once, however many there are."""
    calls: list[Run] = []

    def counted(run: Run, tag: str | None = None) -> Leaderboard:
        calls.append(run)
        return leaderboard(run, tag)

    monkeypatch.setattr(slice_outcomes, "leaderboard", counted)
    values = {f"m{place}": [float(case % 7 > place % 3) for case in range(20)] for place in range(12)}
    tags = {"tags": [["a"] if place % 2 else ["b"] for place in range(20)]}
    insights(scored_run({"pii_leakage.passes": values, "text_matching.passes": values}, design=tags))
    assert len(calls) == 1


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
    assert [(one.model, one.mean, one.n) for one in resources(run)] == [("one", 7 / 3, 3), ("two", 7 / 3, 3)]
    assert [(one.model, one.mean, one.n) for one in resources(run, "even")] == [("one", 1.0, 1), ("two", 1.0, 1)]
