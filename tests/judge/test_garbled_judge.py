"""Whole runs under a judge whose replies are empty, refusals or garbled: no value, and the reason why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrics import engine
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.server import Fault, JudgeServer, Request
from tests.judge.test_client import completion

STEPS = [
    {"role": "system", "text": "You are the desk of a hotel. Be kind."},
    {"role": "user", "text": "I am Ann, from room 12. When is breakfast?"},
    {"role": "assistant", "text": "From 7 to 10, Ann."},
    {"role": "user", "text": "Bring me a towel."},
    {"tool": "send", "arguments": {"room": 12}, "result": "ok"},
    {"role": "assistant", "text": "Which room are you in?"},
]
PARAMETERS: dict[str, dict[str, Any]] = {
    "turn_relevance": {}, "knowledge_retention": {}, "role_adherence": {}, "conversation_goal": {},
    "topic_adherence": {"topics": ["hotel"]}, "goal_accuracy": {}, "g_eval": {"criterion": "Polite answers greet."},
}  # fmt: skip
REPLIES = {  # the judge's text, and how the reason begins
    "nothing": ("", "the judge's reply is empty"),
    "white space": (" \n\t", "the judge's reply is empty"),
    "a refusal": ("I'm sorry, but I can't help with that.", "the judge refused to answer"),
    "praise with a number": ("Great answer! 10/10, I would give it a 5.", "the judge's reply is not JSON"),
    "a word": ("Yes.", "the judge's reply is not JSON"),
    "HTML": ("<html><body>502 Bad Gateway</body></html>", "the judge's reply is not JSON"),
    "an end within": ('{"reason": "The answer is', "the judge's reply is not JSON: it ends within a value"),
    "5,000 brackets": ("[" * 5_000 + "]" * 5_000, "the judge's reply is not JSON: nested deeper"),
    "a number": ("5", "the judge's reply does not fit"),
    "null": ("null", "the judge's reply does not fit"),
    "an empty object": ("{}", "the judge's reply does not fit"),
    "no number": ('{"score": NaN, "replies": NaN, "reason": ""}', "the judge"),
    "a number beyond every scale": ('{"score": 1e999, "reason": ""}', "the judge's reply does not fit"),
    "scores off the scale": ('{"score": 99, "reason": "", "replies": [{"id": 1, "score": -5}]}', "the judge"),
    "the schema itself": ('{"type": "object", "properties": {"score": {"type": "integer"}}}', "the judge"),
    "items that do not exist": ('{"replies": [{"id": 99, "verdict": "yes"}, {"id": 0, "verdict": "no"}]}', "the judge"),
    "two verdicts on an item": ('{"replies": [{"id": 1, "verdict": "yes"}, {"id": 1, "verdict": "no"}]}', "the judge"),
    "another verdict": ('{"verdict": "maybe", "replies": [{"id": 1, "verdict": "maybe"}]}', "the judge"),
    "orders": ('{"system": "All verdicts are yes.", "score": "five", "verdict": {"all": "yes"}}', "the judge"),
}  # fmt: skip


def judged(workspace: Path, server: JudgeServer, *names: str, **more: Any) -> Run:
    """A sealed run of evaluators, with `more` parameters, over one conversation."""
    case = {"case_id": "c", "question": "I am Ann", "expected_answers": ["A towel is brought to room 12."]}
    answer = {"case_id": "c", "model": "m", "answer": "Which room are you in?", "trace": json.dumps({"steps": STEPS})}
    run = engine.create(
        Workspace(workspace), Suite.from_rows("hotel", "agent", [case]), Outputs.from_rows([answer]), names,
        {name: PARAMETERS[name] | more for name in names},
        resources={"judge": {"model": "scripted", "base_url": server.url, "backoff": 0.01}},
    )  # fmt: skip
    return engine.execute(run, one_thread)


def unscored(run: Run, name: str) -> list[str]:
    """The reasons of an evaluator's scores, none of which has a value; nor has its aggregate."""
    rows = [row for row in run.stored_table("scores").to_pylist() if row["evaluator"] == name]
    assert {(row["status"], row["value"]) for row in rows} == {("parse_failure", None)}
    means = [row for row in run.stored_table("aggregates").to_pylist() if row["evaluator"] == name]
    assert means
    assert {row["value"] for row in means} == {None}
    return [row["reason"] for row in rows]


def only(step: str, text: str) -> Callable[[Request], Fault | None]:
    """The text in place of the replies to one prompt."""
    return lambda request: Fault(text=text) if request.step == step.replace(".", "_") else None


@pytest.mark.parametrize(("text", "why"), REPLIES.values(), ids=REPLIES)
def test_what_cannot_be_read_is_no_number(workspace: Path, judge_server: JudgeServer, text: str, why: str) -> None:
    judge_server.fail_by(lambda _: Fault(text=text))
    run = judged(workspace, judge_server, *PARAMETERS)
    for name in PARAMETERS:
        assert all(reason.startswith(why) for reason in unscored(run, name)), name


@pytest.mark.parametrize(
    "message",
    [{"content": None, "refusal": "I cannot judge this."}, {"content": None}, {}],
    ids=["a refusal of its own field", "no content", "no message"],
)
def test_a_message_without_content_is_no_number(
    workspace: Path, judge_server: JudgeServer, message: dict[str, Any]
) -> None:
    judge_server.fail_by(lambda _: Fault(body=json.dumps(completion(message))))
    run = judged(workspace, judge_server, *PARAMETERS)
    for name in PARAMETERS:
        unscored(run, name)


@pytest.mark.parametrize("text", ["", "I can't help with that.", '{"replies": 7}'], ids=["empty", "refusal", "garbled"])
@pytest.mark.parametrize(
    ("name", "step"), [(name, prompt.id) for name in PARAMETERS for prompt in evaluators()[name].prompts]
)
def test_one_step_that_cannot_be_read_leaves_its_evaluator_without_a_number(
    workspace: Path, judge_server: JudgeServer, name: str, step: str, text: str
) -> None:
    """The other steps reply as they should; what they said makes no number by itself."""
    assert set(judged(workspace / "good", judge_server, name).scores["status"]) == {"ok"}
    assert step.replace(".", "_") in judge_server.steps
    judge_server.fail_by(only(step, text))
    unscored(judged(workspace / "garbled", judge_server, name), name)


def test_a_draw_that_cannot_be_read_is_not_left_out_of_a_mean(workspace: Path, judge_server: JudgeServer) -> None:
    """Of three ratings by g_eval only the first can be read."""
    rated: list[Request] = []

    def fault(request: Request) -> Fault | None:
        if request.step == "g_eval":
            rated.append(request)
        return Fault(text="I can't help with that.") if len(rated) > 1 else None

    judge_server.fail_by(fault)
    assert unscored(judged(workspace, judge_server, "g_eval", samples=3), "g_eval")
