"""Which cases are evaluated: those that meet conditions, and a budget of them, drawn or chosen by an earlier run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metrics
from metrics import analysis
from metrics.cli.gate_command import print_leaderboard
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.engine.evaluation import Evaluation
from metrics.library.case_choice import chosen_cases
from metrics.presentation.phrases import board_notes
from metrics.reports.build import build
from metrics.reports.renderers.markdown import markdown
from metrics.stats.item_response import two_parameter
from metrics.stats.short_suite import by_information, full_scores
from metrics.store.run_spec import spec_of
from tests.stats.test_item_response import drawn

Rows = list[dict[str, Any]]


def answered_suite(right: np.ndarray, first: int = 0, **more: list[str]) -> tuple[Rows, Rows]:
    """A suite of as many questions as rows, and the answers of models m<first> … that are right where it says 1."""
    cases = [
        {"case_id": f"c{place}", "question": f"What is {place}?", "expected_answers": ["yes"]}
        | {name: values[place] for name, values in more.items()}
        for place in range(len(right))
    ]
    outputs = [
        {"case_id": f"c{place}", "model": f"m{first + model}", "answer": "yes" if right[place, model] else "no"}
        for place in range(len(right))
        for model in range(right.shape[1])
    ]
    return cases, outputs


def drawn_of(suite: Suite, workspace: Path, budget_cases: int, seed: int = 0) -> list[str]:
    """The ids of the cases of a suite that are evaluated."""
    evaluation = Evaluation(suite=suite, workspace=str(workspace), budget_cases=budget_cases, seed=seed)
    ids: list[str] = chosen_cases(evaluation, suite, "python")[0].cases["case_id"].to_pylist()
    return ids


def test_without_an_earlier_run_cases_are_drawn_by_the_seed(tmp_path: Path) -> None:
    right = drawn(0, 50, 2)[0]
    run = metrics.evaluate(*answered_suite(right), ["exact_match"], workspace=tmp_path, budget_cases=12, seed=1)
    suite = Suite.from_rows("suite", "text", answered_suite(right)[0])
    drawn_ids = [drawn_of(suite, tmp_path, budget_cases=12, seed=seed) for seed in (1, 2)]
    assert [len(ids) for ids in drawn_ids] == [12, 12]
    assert drawn_ids[0] == run.suite.cases["case_id"].to_pylist() != drawn_ids[1]
    budget = run.spec.suite.budget
    assert budget is not None
    assert (budget.cases, budget.run) == (50, None)
    assert str(run.spec.receipt[-1]) == "suite: cases (12) was decided: 12 of 50 cases, drawn at random"
    said = analysis.insights(run).query("kind == 'budget_cases'")["message"].tolist()
    assert said == ["12 of 50 cases, drawn at random"]
    assert analysis.full_score_estimates(run) == ()


def test_groups_are_drawn_whole(tmp_path: Path) -> None:
    groups = [f"g{place // 5}" for place in range(50)]
    suite = Suite.from_rows("suite", "text", answered_suite(drawn(0, 50, 2)[0], group=groups)[0])
    ids = drawn_of(suite, tmp_path, budget_cases=15)
    assert np.unique([int(name[1:]) // 5 for name in ids], return_counts=True)[1].tolist() == [5, 5, 5]


def test_an_earlier_run_of_the_suite_chooses_and_the_full_score_is_estimated(tmp_path: Path) -> None:
    right = drawn(3, 60, 14)[0]
    whole = metrics.evaluate(*answered_suite(right[:, :12]), ["exact_match"], workspace=tmp_path)
    run = metrics.evaluate(*answered_suite(right[:, 12:], 12), ["exact_match"], workspace=tmp_path, budget_cases=20)
    budget = run.spec.suite.budget
    assert budget is not None
    assert (budget.cases, budget.run, budget.evaluator) == (60, whole.id, "exact_match")
    assert set(run.suite.cases["case_id"].to_pylist()) == set(
        analysis.informative_cases(whole, "exact_match", str(budget.metric), 20) or ()
    )
    found = analysis.full_score_estimates(run)
    assert [(one.model, one.answered, one.cases, one.run) for one in found] == [
        ("m12", 20, 60, whole.id), ("m13", 20, 60, whole.id),
    ]  # fmt: skip
    chosen = by_information(two_parameter(right[:, :12]), 20)
    expected = [one[:3] for one in full_scores(right[:, :12], chosen, right[chosen, 12:])]
    assert np.array([(one.value, one.low, one.high) for one in found]) == pytest.approx(np.array(expected), abs=1e-6)
    said = analysis.insights(run)
    assert said.query("kind == 'full_score'")["message"].tolist()[0].startswith("m12: estimated full score ")
    assert said.query("kind == 'budget_cases'")["message"].tolist() == [
        f"20 of 60 cases, chosen by exact_match.{budget.metric} of run {whole.id}: they rank models, their means are "
        "not those of the suite"
    ]
    alone = metrics.evaluate(*answered_suite(right[:, 12:13], 12), ["exact_match"], workspace=tmp_path, budget_cases=20)
    assert [one.value for one in analysis.full_score_estimates(alone)] == [pytest.approx(found[0].value)]
    again = metrics.evaluate(*answered_suite(right[:, :6]), ["exact_match"], workspace=tmp_path, budget_cases=20)
    assert analysis.full_score_estimates(again) == ()  # six models beside those of the run are too few


def test_a_budget_of_all_cases_is_none_and_none_is_refused(tmp_path: Path) -> None:
    data = answered_suite(drawn(0, 8, 1)[0])
    run = metrics.evaluate(*data, ["exact_match"], workspace=tmp_path, budget_cases=8)
    assert run.spec.suite.budget is None
    assert spec_of(run.spec.stored).suite.cases == 8  # stored as by versions that know no budget
    with pytest.raises(InputError, match="budget_cases: found 0; expected a number of cases, at least 1"):
        metrics.evaluate(*data, ["exact_match"], workspace=tmp_path, budget_cases=0)


def test_the_command_says_how_cases_were_drawn(
    tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, outputs = answered_suite(drawn(0, 30, 1)[0])
    for name, rows in (("suite", cases), ("outputs", outputs)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [str(tmp_path / "suite.jsonl"), str(tmp_path / "outputs.jsonl")]
    assert main(["evaluate", *files, "--evaluators", "exact_match", "--budget-cases", "10"]) == 0
    assert "10 of 30 cases, drawn at random" in capsys.readouterr().err


def test_a_target_is_asked_the_drawn_cases_alone(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("def answer(case):\n    return 'yes'\n")
    run = metrics.evaluate(
        answered_suite(drawn(0, 9, 1)[0])[0],
        evaluators=["exact_match"],
        target=f"bot={tmp_path / 'bot.py'}:answer",
        workspace=tmp_path,
        budget_cases=4,
    )
    assert (run.spec.suite.cases, run.spec.outputs.rows) == (4, 4)


SPLIT = [
    {"case_id": f"c{i}", "question": "?", "expected_answers": ["yes"], "split": "test" if i < 4 else "dev"}
    | {"year": None if i == 9 else str(2015 + i), "seen": f"2024-0{i % 9 + 1}-5", "tags": ["fees", "x"][not i % 2 :]}
    for i in range(10)
]


@pytest.mark.parametrize(("where", "kept"), [
    ({"split": "test"}, "0123"), ("split != test", "456789"), (["split=test", "split=dev"], "0123456789"),
    (["split=test", "tag=fees"], "13"), ("metadata.split=test", "0123"), ("year>=2020", "5678"), ("year < 2017", "01"),
    ("year=", "9"), ("year!=", "012345678"), (["split!=test", "split!=dev", "tag=x"], ""), ("seen>2024-05-5", "5678"),
    ("tag!=fees", "02468"), (["year>2016", "year<=2018"], "23"), ("case_id=c7", "7"),
    ("complexity=medium", "0123456789"),
])  # fmt: skip
def test_only_cases_that_meet_the_conditions_are_evaluated(tmp_path: Path, where: Any, kept: str) -> None:
    made = [{"case_id": f"c{i}", "model": "m", "answer": "no" if i == 1 else "yes"} for i in range(10)]
    if not kept:
        with pytest.raises(InputError, match="no case with split != test, split != dev, tag = x; expected split: dev "):
            metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, where=where)
        return
    run = metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, where=where)
    assert "".join(id[1:] for id in run.suite.cases["case_id"].to_pylist()) == kept
    assert run.outputs.outputs["case_id"].to_pylist() == run.suite.cases["case_id"].to_pylist()
    row = run.aggregates.iloc[0]
    assert (row["n"], row["value"]) == (len(kept), pytest.approx(1 - ("1" in kept) / len(kept)))


def test_the_run_says_everywhere_which_cases_it_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [{"case_id": row["case_id"], "model": "m", "answer": "yes"} for row in SPLIT]
    asked = {"where": {"split": "dev"}, "budget_cases": 2}
    run = metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, **asked)
    said = ["6 of 10 cases: split = dev", "2 of 6 cases, drawn at random"]
    assert list(run.spec.suite.in_words(2).values()) == said
    assert [line.meaning for line in run.spec.receipt if line.use == "asked"] == said
    assert analysis.insights(run)["message"].tolist()[:2] == said
    assert list(board_notes(analysis.leaderboard(run)))[:2] == said
    facts = [(fact.name, fact.value) for group in build(run).facts for fact in group.facts]
    assert [value for name, value in facts if name == "Evaluated"] == said
    print_leaderboard(run)
    written = [capsys.readouterr().out, markdown(run).replace("\\", "")]
    assert not [(each, text) for each in written for text in said if text not in each]
    assert spec_of(run.spec.stored).suite.filter == run.spec.suite.filter
    given = ["year=", "split=dev", "year>=2020", "tag!=fees", "year=2021", "split=test"]
    run = metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, where=given[2:5])
    assert run.spec.suite.in_words(1) == {"where": "1 of 10 cases: year >= 2020, tag != fees, year = 2021"}
    run = metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, where=[*given[:2], *given[4:]])
    assert run.spec.suite.in_words(2) == {"where": "2 of 10 cases: year = (none) or 2021, split = dev or test"}


@pytest.mark.parametrize(("where", "told"), [
    ("splitt=test", "where: found 'splitt'; expected one of .*did you mean 'split'"),
    ("split", "where: found 'split'; expected NAME=VALUE, or != < <= > >= in place of ="),
    ("tag>2", "where: found 'tag>2'; expected = or != with tag"),
    ("tags>2", "where: found 'tags>2'; expected = or != with tags"),
    ("split=tset", r"where: found no case with split = tset; expected split: dev \(6\), test \(4\)"),
    ("year=1", r"where: found no case with year = 1; expected year: 2015 \(1\), 2016 .*2023 \(1\)"),
    ("question=x", "expected question: a value that a case has"),
])  # fmt: skip
def test_conditions_that_cannot_be_met_are_one_message(tmp_path: Path, where: str, told: str) -> None:
    made = [{"case_id": row["case_id"], "model": "m", "answer": "yes"} for row in SPLIT]
    with pytest.raises(InputError, match=told) as refused:
        metrics.evaluate(SPLIT, made, ["exact_match"], workspace=tmp_path, where=where)
    assert len(refused.value.problems) == 1


def test_targets_are_asked_only_the_cases_that_meet_the_conditions(tmp_path: Path) -> None:
    asked = []

    def answer(question: str) -> str:
        asked.append(question)
        return "yes"

    suite = [row | {"question": row["case_id"]} for row in SPLIT]
    run = metrics.evaluate(suite, evaluators=["exact_match"], workspace=tmp_path, target=answer, where="split=test")
    assert sorted(asked) == ["c0", "c1", "c2", "c3"]
    assert run.spec.suite.in_words(4) == {"where": "4 of 10 cases: split = test"}
