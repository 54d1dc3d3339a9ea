"""Whole runs under a judge whose replies are empty, refusals or garbled: no value, and the reason why."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from metrics import engine
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.server import Fault, JudgeServer, Request
from tests.judge.test_client import completion

STEPS: list[dict[str, Any]] = [
    {"role": "system", "text": "You are the desk of a hotel. Be kind."},
    {"role": "user", "text": "I am Ann, from room 12. When is breakfast?"},
    {"role": "assistant", "text": "From 7 to 10, Ann."}, {"role": "user", "text": "Bring me a towel."},
    {"tool": "send", "arguments": {"room": 12}, "result": "ok"},
    {"role": "assistant", "text": "Which room are you in?"},
]  # fmt: skip
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
}


MESSAGES: dict[str, dict[str, Any]] = {
    "a refusal of its own field": {"content": None, "refusal": "I cannot judge this."}, "no content": {"content": None},
    "no message": {},
}  # fmt: skip
GUEST = re.compile(r"Guest (\d+): ")


def judged(
    workspace: Path,
    server: JudgeServer,
    names: Sequence[str],
    faults: Sequence[Callable[[Request], Fault | None]],
    shared: Fault | None = None,
    **more: Any,
) -> list[dict[str, dict[str, Any]]]:
    """Return the scores by metric of evaluators, with `more` parameters, of one conversation for each of the faults.

    `shared`: what goes wrong with requests that show no conversation.
    """

    def fault(request: Request) -> Fault | None:
        guest = GUEST.search(request.text)
        return faults[int(guest[1])](request) if guest else shared

    cases, answers = [], []
    for guest in range(len(faults)):
        who = f"Guest {guest}: "
        steps = [step | {"text": who + step["text"]} if "text" in step else step for step in STEPS]
        wanted = [f"{who}A towel is brought to room 12."]
        cases.append({"case_id": f"{guest}", "question": f"{who}I am Ann", "expected_answers": wanted})
        trace = json.dumps({"steps": steps})
        answers.append({"case_id": f"{guest}", "model": "m", "answer": f"{who}Which room are you in?", "trace": trace})
    server.fail_by(fault)
    run = engine.create(
        Workspace(workspace), Suite.from_rows("hotel", "agent", cases), Outputs.from_rows(answers), names,
        {name: PARAMETERS[name] | more for name in names},
        resources={"judge": {"model": "scripted", "base_url": server.url, "backoff": 0.01}},
    )  # fmt: skip
    rows = engine.execute(run, one_thread).stored_table("scores").to_pylist()
    return [{row["metric"]: row for row in rows if row["case_id"] == f"{guest}"} for guest in range(len(faults))]


def unscored(scores: Mapping[str, dict[str, Any]], name: str) -> list[str]:
    """Return the reasons of an evaluator's scores of one case, none of which has a value."""
    rows = [row for row in scores.values() if row["evaluator"] == name]
    assert {(row["status"], row["value"]) for row in rows} == {("parse_failure", None)}, name
    return [row["reason"] for row in rows]


def test_what_cannot_be_read_is_no_number(workspace, judge_server):
    faults = [Fault(text=text) for text, _ in REPLIES.values()]
    faults += [Fault(body=json.dumps(completion(message))) for message in MESSAGES.values()]
    told = judged(workspace, judge_server, tuple(PARAMETERS), [lambda _, own=fault: own for fault in faults])  # type: ignore[misc]
    whys = [why for _, why in REPLIES.values()] + [""] * len(MESSAGES)
    for reply, why, scores in zip([*REPLIES, *MESSAGES], whys, told, strict=True):
        for name in PARAMETERS:
            if (reply, name) != ("a number", "g_eval"):  # which asks for nothing else
                assert all(reason.startswith(why) for reason in unscored(scores, name)), (reply, name)


GARBLED = ("", "I can't help with that.", '{"replies": 7}')


@pytest.mark.parametrize("name", PARAMETERS)
def test_one_step_that_cannot_be_read_leaves_its_evaluator_without_a_number(workspace, judge_server, name):
    """The other steps reply as they should; what they said makes no number by itself."""

    def only(step: str, text: str) -> Callable[[Request], Fault | None]:
        return lambda request: Fault(text=text) if request.step == step else None

    steps = [prompt.id.replace(".", "_") for prompt in evaluators()[name].prompts if prompt.id != "g_eval.steps"]
    garbled = [only(step, text) for step in steps for text in GARBLED]
    good, *others = judged(workspace, judge_server, [name], [lambda _: None, *garbled])
    assert {row["status"] for row in good.values()} == {"ok"}
    assert set(steps) <= set(judge_server.steps)
    for scores in others:
        unscored(scores, name)


@pytest.mark.parametrize("text", GARBLED)
def test_steps_of_g_eval_that_cannot_be_read_leave_it_without_a_number(workspace, judge_server, text):
    (scores,) = judged(workspace, judge_server, ["g_eval"], [lambda _: None], shared=Fault(text=text))
    unscored(scores, "g_eval")


def test_a_draw_that_cannot_be_read_is_not_left_out_of_a_mean(workspace, judge_server):
    """Of three ratings by g_eval only the first can be read."""
    rated: list[Request] = []

    def fault(request: Request) -> Fault | None:
        if request.step == "g_eval":
            rated.append(request)
        return Fault(text="I can't help with that.") if len(rated) > 1 else None

    (scores,) = judged(workspace, judge_server, ["g_eval"], [fault], samples=3)
    assert unscored(scores, "g_eval")
