"""Traces as they are drawn: in a line, step by step, cut where long, plain text whatever is in them."""

import json
from typing import Any

from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.presentation.verdict_rows import verdict_groups
from metrics.presentation.viewers import trace_steps
from metrics.presentation.viewers.trace_view import trace_view as view_of
from tests.pages.page_scenes import HOSTILE

STEPS: list[dict[str, Any]] = [
    {"role": "user", "text": HOSTILE},
    {"tool": "search", "arguments": {"q": "a"}, "result": [1, 2], "seconds": 0.25, "started": "2026-01-01T00:00:00Z"},
    {"kind": "reasoning", "role": "assistant", "text": "Again."},
    {"tool": "search", "arguments": {"q": "a"}, "error": "timeout"},
    {"tool": "search", "arguments": {"q": "a"}},
    {"role": "assistant", "text": "Done.\x00\ufffd"},
]


def view(steps: list[Any]) -> dict[str, Any]:
    return view_of(json.dumps({"steps": steps}))


def test_in_a_line():
    assert trace_steps.summary(view(STEPS)) == "6 steps · 3 calls · 1 failed · 2 redundant · 2 looping"
    assert trace_steps.summary(view(STEPS[:1])) == "1 step"


def test_step_by_step():
    drawn = trace_steps.payload(view(STEPS))
    told = [(step["number"], step["glyph"], step["title"], step["text"], step["marks"]) for step in drawn["steps"]]
    assert told == [
        (1, "", "user", HOSTILE, []), (2, "✓", "search", '{ "q": "a" }', ["0.2 s"]),
        (3, "…", "assistant", "Again.", []), (4, "✗", "search", '{ "q": "a" }', ["failed", "redundant", "looping"]),
        (5, "✓", "search", '{ "q": "a" }', ["redundant", "looping"]), (6, "", "assistant", "Done.\x00\ufffd", []),
    ]  # fmt: skip
    assert drawn["steps"][1]["parts"] == [["Arguments", '{\n "q": "a"\n}'], ["Result", "[\n 1,\n 2\n]"]]
    assert drawn["steps"][1]["started"] == "2026-01-01T00:00:00Z"
    assert (drawn["steps"][3]["parts"][-1], drawn["note"]) == (["Error", "timeout"], "")


def test_long_traces_and_long_texts_are_cut_and_say_so():
    drawn = trace_steps.payload(view([{"role": "user", "text": "x" * 5_000}] * 302))
    assert (drawn["note"], len(drawn["steps"])) == ("the first 300 of 302 steps", 300)
    assert drawn["steps"][0]["text"].endswith("x\n… 1,000 more characters")


def test_one_that_cannot_be_read_says_why():
    found = view_of("Thought: " + "x" * 5_000)
    assert trace_steps.summary(found) == "unreadable"
    assert found["problem"].startswith("the trace is not JSON: ")
    assert found["raw"].startswith("Thought: xxx")
    assert len(found["raw"]) < 4_100


CALLED = [{"tool": "look", "started": "2026-01-01T00:00:01Z", "seconds": 2, "tokens": 20, "depth": 1}, {"tool": "book"}]
WANTED = '[{"name": "look", "arguments": {}}, {"name": "pay"}]'


def test_times_tokens_and_depth_as_bars_on_one_axis():
    timed = [
        {"role": "assistant", "text": "Ok.", "started": "2026-01-01T00:00:00Z", "seconds": 1, "tokens": 40},
        *CALLED,
        {"tool": "pay", "started": "2026-01-01T00:00:04", "cost_usd": 0.5},
    ]
    drawn = trace_steps.payload(view(timed))
    assert drawn["axis"] == [("time", "0 – 4.0 s"), ("tokens", "up to 40 tokens a step"), ("cost", "up to $0.5 a step")]
    assert [step["bars"] for step in drawn["steps"]] == [
        [("time", 0.0, 25.0), ("tokens", 0.0, 100.0)], [("time", 25.0, 50.0), ("tokens", 0.0, 50.0)], [],
        [("time", 99.4, 0.6), ("cost", 0.0, 100.0)],
    ]  # fmt: skip
    assert [step["depth"] for step in drawn["steps"]] == [0, 1, 0, 0]
    assert drawn["steps"][1]["marks"] == ["2.0 s", "20 tokens"]
    assert trace_steps.payload(view([{"tool": "a"}]))["axis"] == []


def test_expected_calls_stand_beside_with_their_verdicts():
    found = view_of(json.dumps(CALLED), WANTED)
    assert trace_steps.summary(found) == "2 steps · 2 calls · 1 of 2 expected calls"
    drawn = trace_steps.payload(found)
    assert [step["verdict"][:2] for step in drawn["steps"]] == [["✓", "expected"], ["✗", "unexpected"]]
    told = [(each["text"], each["glyph"], each["label"], each["step"]) for each in drawn["expected"]]
    assert told == [("look()", "✓", "called", 1), ("pay(…)", "✗", "missing", None)]


def test_the_verdicts_of_the_run_go_before_those_by_default():
    wanted, made = '[{"name": "look", "arguments": {"n": 1}}]', json.dumps(CALLED[:1])
    entry = evaluators()["tool_calls"]
    found = entry(Case(trace=made, expected_calls=wanted), entry.parameters.model_validate({"arguments": "none"}))
    groups = verdict_groups(found.evidence)
    assert [each["holds"] for each in view_of(made, wanted)["expected"]] == ["no"]
    assert [each["holds"] for each in view_of(made, wanted, groups)["expected"]] == ["yes"]
