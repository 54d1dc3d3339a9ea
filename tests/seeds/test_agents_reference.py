"""The reference for the evaluation of agents: its rubric, test set, runner and monitor, asked as users ask."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from metrics import Workspace, evaluate, read_suite
from metrics.core.errors import InputError
from metrics.core.evaluator import ScriptedReply
from metrics.monitoring import Spec, Watch, create
from metrics.suites import add_cases, complexity_distribution, tag_index
from tests.seeds.public_door import at, judge_saying, run_of, values_of

pytestmark = pytest.mark.usefixtures("units_here", "workspace")
SCORES = {"excellent": 1.0, "good": 0.8, "acceptable": 0.6, "poor": 0.3, "failed": 0.0}
WEIGHTS = {
    "factual_accuracy": 0.30, "completeness": 0.25, "citation_accuracy": 0.15, "source_quality": 0.10,
    "tool_efficiency": 0.20,
}  # fmt: skip
OWN = {
    name: {"weight": weight, "description": f"{name} of the reference", "levels": SCORES}
    for name, weight in WEIGHTS.items()
}
TASK: dict[str, Any] = {
    "question": "When did it open?", "expected_answers": ["1889"], "answer": "In 1889 [1].",
    "retrieved_contexts": ["It opened in 1889."], "trace": '{"steps": [{"tool": "search"}]}',
}  # fmt: skip
CITING = ("citation_accuracy", "source_quality")


def overall(levels: Mapping[str, str]) -> float:
    """calculate_overall_score of the reference."""
    return sum(SCORES[level] * WEIGHTS[name] for name, level in levels.items()) / sum(WEIGHTS[name] for name in levels)


def rated(levels: Mapping[str, str], about: str = "") -> list[ScriptedReply]:
    """A judge who finds one major claim, and rates it and the other dimensions so; `about`: text of the answer."""
    claim = [{"reason": "", "importance": "major", "accuracy": levels["factual_accuracy"]}]
    others = [{"reason": "", "level": level} for name, level in levels.items() if name != "factual_accuracy"]
    return [
        ScriptedReply("claims", {"claims": [f"It opened in 1889. {about}"]}, {"TEXT": about}),
        ScriptedReply("rubric.accuracy", claim, {"CLAIMS": about}),
        ScriptedReply("rubric.levels", others, {"ANSWER": about}),
    ]


# The rubric


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the reference's dimensions in a file."""
    (tmp_path / "reference.json").write_text(json.dumps({"EVALUATION_DIMENSIONS": OWN}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


LEVELS = {
    "every level once": dict(zip(WEIGHTS, SCORES, strict=True)),
    "every level once, from the other end": dict(zip(WEIGHTS, reversed(SCORES), strict=True)),
    "all good": dict.fromkeys(WEIGHTS, "good"),
    "just passed": dict(zip(WEIGHTS, ("good", "acceptable", "good", "acceptable", "good"), strict=True)),
    "just failed": dict(zip(WEIGHTS, ("poor", "good", "excellent", "excellent", "good"), strict=True)),
}


RUBRICS: dict[str, dict[str, Any]] = {
    "ours": {},
    "EVALUATION_DIMENSIONS": {"rubric": OWN},
    "a file": {"rubric": "reference.json"},
}


@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("given", RUBRICS.values(), ids=RUBRICS)
def test_overall_score(levels: dict[str, str], given: dict[str, Any], in_folder: Path) -> None:
    found = values_of(run_of("rubric", [TASK], rated(levels), given, task="agent"), "rubric")
    assert {name: found[name] for name in WEIGHTS} == pytest.approx({name: SCORES[levels[name]] for name in WEIGHTS})
    assert found["rubric"] == pytest.approx(overall(levels))
    assert found["passed"] == (overall(levels) >= 0.7)


@pytest.mark.parametrize("given", RUBRICS.values(), ids=RUBRICS)
def test_missing_citations_and_sources_are_failed(given: dict[str, Any], in_folder: Path) -> None:
    """.8 in all else, of .75 of the weight: .6; where they are left out it is .8."""
    task = TASK | {"answer": "In 1889.", "retrieved_contexts": []}
    said = rated({name: "good" for name in WEIGHTS if name not in CITING})
    found = values_of(run_of("rubric", [task], said, given, task="agent"), "rubric")
    assert [found[name] for name in CITING] == [0, 0]
    assert [found["rubric"], found["passed"]] == pytest.approx([0.6, 0])
    left_out = given | {"zero_if_missing": False}
    found = values_of(run_of("rubric", [task], said, left_out, task="agent"), "rubric")
    assert [found["rubric"], found["passed"]] == pytest.approx([0.8, 1])


def test_major_claims_weigh_more() -> None:
    """By 2 to 1 unless the rubric says otherwise; the reference gives no figures."""
    claims = [
        {"reason": "", "importance": weight, "accuracy": level}
        for weight, level in (("major", "good"), ("minor", "poor"))
    ]
    said = [
        ScriptedReply("claims", {"claims": ["It opened in 1889.", "It opened in May."]}),
        ScriptedReply("rubric.accuracy", claims), *rated(LEVELS["all good"]),
    ]  # fmt: skip
    for given, weight in (({}, 2), ({"major_weight": 4}, 4)):
        found = values_of(run_of("rubric", [TASK], said, given, task="agent"), "rubric")
        assert found["factual_accuracy"] == pytest.approx((weight * 0.8 + 0.3) / (weight + 1))


def test_a_case_without_a_dimension_is_not_applicable_and_counted() -> None:
    """calculate_overall_score gives it 0, as if it had failed."""
    tools = {"tool_efficiency": {"weight": 1, "description": "Right tools.", "needs_any": ["trace"]}}
    run = run_of("rubric", [TASK | {"trace": None}, TASK], rated(LEVELS["just failed"])[2:], {"rubric": tools})
    assert run.scores.query("metric == 'rubric'")["status"].tolist() == ["not_applicable", "ok"]
    (found,) = run.summarize().values()
    assert [found[name] for name in ("total_tests", "passed", "failed", "unscored")] == [2, 1, 0, 1]


def test_the_judge_is_told_what_each_level_means() -> None:
    """In our own words: of every dimension each of the five levels."""
    with judge_saying(rated(LEVELS["all good"])) as server:
        run_of("rubric", [TASK], judge=at(server), task="agent")
    asked = " ".join(request.text for request in server.calls)
    assert all(f"{name}:" in asked for name in WEIGHTS if name != "factual_accuracy")
    assert all(len(re.findall(f"{level}[:,] ", asked)) >= len(WEIGHTS) for level in SCORES)


# Test sets

TESTS: list[dict[str, Any]] = [
    {"input": "When?", "expected": "1889", "tags": ["history", "dates"], "complexity": "simple"},
    {"input": "Why?", "expected": "A fair.", "tags": ["history"], "complexity": "complex", "area": "Paris"},
    {"input": "How high?", "expected": "330 m", "area": "Paris"},
]


def test_test_set(tmp_path: Path) -> None:
    """Differs: the filter by complexity takes "medium" where nothing is said, and an unknown criterion is refused."""
    (tmp_path / "tests.json").write_text(json.dumps({"name": "tower", "tests": TESTS[:1], "tags": {"history": [0]}}))
    suite = read_suite(tmp_path / "tests.json")
    for test in TESTS[1:]:
        fields = {"question": test["input"], "expected_answers": [test["expected"]], "tags": test.get("tags", [])}
        more = {f"metadata.{name}": test[name] for name in ("complexity", "area") if name in test}
        suite = add_cases(suite, [{"case_id": str(len(suite) + 1), **fields, **more}])
    assert tag_index(suite) == {"history": ["1", "2"], "dates": ["1"]}
    assert complexity_distribution(suite) == {"simple": 1, "complex": 1, "medium": 1}
    for criteria, kept in (
        ({}, "123"), ({"area": "Paris"}, "23"), ({"area": "Paris", "complexity": "complex"}, "2"),
        ({"question": "When?"}, "1"), ({"complexity": "none"}, ""), ({"complexity": "medium"}, "3"),
    ):  # fmt: skip
        assert suite.filter(**criteria).cases["case_id"].to_pylist() == [*kept]
    with pytest.raises(InputError, match="the criterion 'colour'"):
        suite.filter(colour="red")


# The runner

RATED = [LEVELS["all good"], LEVELS["just failed"], LEVELS["every level once"]]


def test_the_runner_asks_the_agent_evaluates_and_sums_up() -> None:
    """run_all: totals, pass rate, the average of each dimension, every failure with test, output and evaluation."""

    def agent(question: str) -> dict[str, Any]:
        return {name: TASK[name] for name in ("retrieved_contexts", "trace")} | {"answer": f"So: {question}"}

    said = [reply for test, levels in zip(TESTS, RATED, strict=True) for reply in rated(levels, test["input"])]
    with judge_saying(said) as server:
        run = evaluate(TESTS, target=agent, evaluators=["rubric"], rubric=OWN, task="agent", judge=at(server))
    (found,) = run.summarize().values()
    passed = [overall(levels) >= 0.7 for levels in RATED]
    assert {name: found[name] for name in ("total_tests", "passed", "failed", "pass_rate")} == {
        "total_tests": 3, "passed": sum(passed), "failed": 3 - sum(passed), "pass_rate": pytest.approx(sum(passed) / 3),
    }  # fmt: skip
    averages = {name: sum(SCORES[levels[name]] for levels in RATED) / 3 for name in WEIGHTS}
    assert found["dimension_averages"] == pytest.approx(averages)
    failures = {one["test"]["question"]: one for one in found["failures"]}
    assert failures.keys() == {test["input"] for test, good in zip(TESTS, passed, strict=True) if not good}
    for test, levels in zip(TESTS, RATED, strict=True):
        if (failure := failures.get(test["input"])) is not None:
            assert failure["test"]["expected_answers"] == [test["expected"]]
            assert failure["output"] == f"So: {test['input']}"
            assert failure["evaluation"]["overall_score"] == pytest.approx(overall(levels))
            assert failure["evaluation"]["dimension_scores"] == {name: SCORES[level] for name, level in levels.items()}
            assert failure["evaluation"]["passed"] is False
    with pytest.raises(InputError):  # "No results"
        evaluate([], target=agent, evaluators=["rubric"], task="agent")


# Production


def test_a_monitor_samples_one_call_of_a_hundred(workspace: Path) -> None:
    """By a seeded hash of the id in place of a random number, so that the same calls are sampled again."""
    spec = Spec(evaluators={"pii_leakage": {}})
    assert (spec.rate, spec.warning, spec.critical) == (0.01, 0.85, 0.70)
    calls = [{"id": f"c-{number}", "query": "q" * 300, "output": "a " * 300} for number in range(2000)]
    taken = []
    for name in ("one", "two"):
        with Watch(create(Workspace(workspace), name, spec.complete())) as watch:
            made = [sample for call in calls if (sample := watch.sample_and_evaluate(call)) is not None]
            assert watch.get_metrics()["sample_count"] == len(made)
        taken.append([sample.id for sample in made])
    assert taken[0] == taken[1]
    assert binomtest(len(taken[0]), len(calls), 0.01).pvalue > 0.01
    for text in (made[0].query, made[0].output_preview):
        assert len(text or "") == 200
    assert (made[0].score, made[0].passed, made[0].timestamp[:2]) == (1.0, True, "20")


@pytest.mark.parametrize(("passes", "status"), [
    (0, "insufficient_data"), (13, "critical"), (14, "warning"), (16, "warning"), (17, "healthy"), (20, "healthy"),
])  # fmt: skip
def test_status_by_plain_thresholds(workspace: Path, passes: int, status: str) -> None:
    """Of 20 samples; by default a status needs evidence instead, and is none where both sides of a limit may hold."""
    spec = Spec(evaluators={"text_matching": {}}, rate=1.0)
    with Watch(create(Workspace(workspace), "chat", spec.complete())) as watch:
        for number in range(20 if passes else 0):
            answer = "yes" if number < passes else "no"
            watch.sample_and_evaluate({"id": f"c-{number}", "question": "?", "conditions": '"yes"', "answer": answer})
        found = watch.get_metrics(plain=True)
    assert found["status"] == status
    share = pytest.approx(passes / 20) if passes else None
    assert (found["sample_count"], found["pass_rate"], found["average_score"]) == (20 if passes else 0, share, share)
