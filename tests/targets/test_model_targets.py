"""Language models as targets: a scripted OpenAI-compatible server, and a real GGUF file in this process."""

import pytest

from metrics import evaluate
from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.judge.settings import Budget
from metrics.reports.build import build
from metrics.targets import complete, targets_of
from metrics.targets.estimate import estimate
from tests.judge.server import Fault

ROWS = [
    {"case_id": "1", "question": "Capital of Peru?", "expected_answers": ["Lima"], "reference_contexts": ["P", "Q"]},
    {"case_id": "2", "question": "Six times seven?", "expected_answers": ["42"], "reference_contexts": []},
]


@pytest.fixture
def suite():
    return Suite.from_rows("two", "text", ROWS)


def test_a_server_gets_the_prompt_and_nothing_else(judge_server, suite, workspace):
    judge_server.say(lambda request: "Peru" in request.text, "Lima")
    judge_server.say(lambda request: "seven" in request.text, "42")
    judge_server.fail(Fault(429, headers={"Retry-After": "0"}))
    target = {
        "model": "m", "base_url": judge_server.url, "system": "Be brief.", "prompt": "{contexts}\nQ: {question}",
        "seed": 7, "top_p": 0.5, "max_tokens": 50, "temperature": 0.3, "concurrency": 1,
    }  # fmt: skip
    outputs = complete(suite, target, repeats=2)
    table = outputs.outputs.to_pylist()
    assert [row["answer"] for row in table] == ["Lima", "42", "Lima", "42"]
    assert [row["retrieved_contexts"] for row in table[:2]] == [["P", "Q"], []]
    assert table[0]["tokens"] > 0
    assert len(judge_server.calls) == 5
    body = judge_server.calls[1].body
    assert body == {
        "model": "m", "temperature": 0.3, "max_tokens": 50, "seed": 7, "top_p": 0.5,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "[1] P\n\n[2] Q\nQ: Capital of Peru?"},
        ],
    }  # fmt: skip
    assert [call.body["seed"] for call in judge_server.calls[1:]] == [7, 7, 8, 8]


@pytest.mark.usefixtures("units_here")
def test_an_evaluation_of_targets_is_read_again_without_them(judge_server, suite, workspace):
    judge_server.say(lambda request: "Peru" in request.text, "Lima")
    judge_server.say(lambda request: "seven" in request.text, "43")
    grid = {"models": ["a", "b"], "prompts": {"plain": "{question}"}, "base_url": judge_server.url}
    run = evaluate(suite, target=grid, evaluators=["rouge"])
    assert run.models == ("a · plain", "b · plain")
    means = run.aggregates.query("metric == 'rougeL' and slice.isna()")["value"].tolist()
    assert means == [0.5, 0.5]
    asked = len(judge_server.calls)
    again = evaluate(suite, run.outputs, evaluators=["rouge"])
    assert complete(suite, grid).outputs == run.outputs.outputs
    assert len(judge_server.calls) == asked == 4
    assert again.outputs.targets == run.outputs.targets
    assert run.outputs.targets["a · plain"]["prompt"] == "{question}"
    facts = {group.title: group.facts for group in build(run).facts}
    assert [fact.name for fact in facts["Models asked"]] == ["a · plain", "b · plain"]
    assert "prompt: {question}" in facts["Models asked"][0].value
    with pytest.raises(InputError, match="target: found outputs as well; expected outputs or targets"):
        evaluate(suite, run.outputs, target=grid)


def test_an_estimate(judge_server, suite, workspace):
    targets = targets_of({"model": "gpt-4o-mini", "max_tokens": 100})
    (before,) = estimate(suite, targets, 10, workspace)
    # 2 prompts of 16 characters, so 5 tokens, and 100 tokens of reply, ten times; $0.15 and $0.60 a million
    assert (before.calls, before.recorded, before.tokens) == (20, 0, 20 * 105)
    assert before.usd == pytest.approx(20 * (5 * 0.15 + 100 * 0.60) / 1e6)
    assert str(before) == "gpt-4o-mini: 20 calls, 0 recorded; about 2,100 tokens, less than a cent"
    own = targets_of({"model": "m", "base_url": judge_server.url, "prompt": "Q {question}"})
    complete(suite, own)
    (after,) = estimate(suite, own, 2, workspace)
    assert (after.calls, after.recorded, after.usd) == (2, 2, None)


def test_a_budget_in_tokens_is_never_exceeded(judge_server, suite, workspace):
    judge_server.say(lambda _: True, "word " * 80)  # 100 tokens
    target = {"model": "m", "base_url": judge_server.url, "max_tokens": 100, "concurrency": 2}
    outputs = complete(suite, target, budget=Budget(tokens=150))
    errors = [row["error"] for row in outputs.outputs.to_pylist() if row["error"]]
    assert len(errors) == 1
    assert errors[0].startswith("not asked: the budget of 150 target tokens has")
    with pytest.raises(InputError, match="the price of m at"):
        complete(suite, target, budget={"usd": 1})


def test_a_real_model_in_this_process(suite, workspace, tmp_path):
    from tests.judge.tiny_gguf import tiny_gguf

    target = {
        "model": f"local:{tiny_gguf(tmp_path / 'tiny.gguf')}", "name": "smol", "max_tokens": 16,
        "prompt": "{question} Answer in one word.",
    }  # fmt: skip
    outputs = complete(suite.filter(search="Peru"), target)
    (row,) = outputs.outputs.to_pylist()
    assert row["answer"]
    assert row["tokens"] > 16
    assert (row["cost_usd"], len(outputs.targets["smol"]["sha256"]["weights"])) == (0, 64)
