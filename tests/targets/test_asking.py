"""Asking over real HTTP, programs and functions: what goes wrong is named, what was answered stays."""

import asyncio
import sys
import threading
import time
from collections import Counter
from typing import Any

import psutil
import pyarrow.compute as pc
import pytest

from metrics.core.errors import InputError, MissingResource, TargetDown
from metrics.core.suite import Outputs, Suite
from metrics.targets import complete
from metrics.targets.description import FunctionTarget
from tests.processes import alive

FAST = {"backoff": 0.01, "tries": 2}  # a time-out only where everything hangs: the machine may be slow


def errors(outputs: Outputs) -> dict[str, str]:
    rows = outputs.outputs.select(["case_id", "error"]).to_pylist()
    return {row["case_id"]: row["error"] for row in rows if row["error"]}


def answers(outputs: Outputs) -> dict[str, str]:
    rows = outputs.outputs.select(["case_id", "answer"]).to_pylist()
    return {row["case_id"]: row["answer"] for row in rows if row["answer"] is not None}


def test_errors_hangs_floods_and_garbage_leave_every_good_answer(bot, twenty, workspace):
    bot.trouble |= {"q3": "500", "q6": "flood", "q8": "garbage", "q9": "busy", "q11": "404",
                    "q12": "moved", "q14": "drop-once"}  # fmt: skip
    target = {"url": bot.url, "answer": "answer", **FAST}
    complete(twenty.restricted(twenty.cases["case_id"].filter(pc.not_equal(twenty.cases["case_id"], "c5"))), target)
    bot.trouble["q5"] = "hang"
    outputs = complete(twenty, target | {"timeout": 0.3})
    assert errors(outputs) == {
        "c3": "HTTP 500: scripted (after 2 tries)", "c5": "no reply in 0.3 s (after 2 tries)",
        "c6": "a reply of more than 8,388,608 bytes", "c8": "no JSON: '{never closed'", "c11": "HTTP 404: scripted",
        "c12": "HTTP 302: 302: Found to http://example.invalid/steal, which is not followed",
    }  # fmt: skip
    assert answers(outputs) == {f"c{n}": f"A q{n}" for n in range(20) if f"c{n}" not in errors(outputs)}
    assert {bot.asked[q] for q in ("q3", "q5", "q9", "q14")} == {2}
    assert {bot.asked[q] for q in ("q6", "q8", "q11", "q12", "q0", "q19")} == {1}

    again = Counter(bot.asked)
    assert errors(complete(twenty, target)) == errors(outputs)
    assert bot.asked == again  # everything is recorded, the errors too
    bot.trouble.clear()
    healed = complete(twenty, target, retry_errors=True)
    assert (errors(healed), bot.asked - again) == ({}, Counter(["q3", "q5", "q6", "q8", "q11", "q12"]))


def test_request_and_reply_by_templates_and_paths(bot, twenty, workspace, monkeypatch):
    monkeypatch.setenv("BOT_KEY", "very-secret-0815")
    bot.reply = {
        "choices": [{"text": "very-secret-0815!"}], "docs": [{"t": "p", "n": 1}, {"t": "q", "n": 2}],
        "usage": {"in": 3, "out": 4},
    }  # fmt: skip
    target = {
        "url": bot.url, "headers": {"Authorization": "Bearer {BOT_KEY}"}, "answer": "choices[0].text",
        "body": {"question": "{question}", "topic": "({topic})"}, "contexts": "docs[*].t", "context_ids": "docs[*].n",
        "tokens": "usage.in",
    }  # fmt: skip
    outputs = complete(twenty.restricted(twenty.cases["case_id"].combine_chunks()[:1]), target)
    assert bot.bodies == [{"question": "q0", "topic": "(t)"}]
    assert bot.headers[0]["authorization"] == "Bearer very-secret-0815"
    (row,) = outputs.outputs.to_pylist()
    assert (row["retrieved_contexts"], row["context_ids"], row["tokens"]) == (["p", "q"], ["1", "2"], 3)
    stored = "".join(file.read_text() for file in workspace.rglob("*") if file.is_file())
    assert "very-secret" not in stored
    assert "BOT_KEY" in str(outputs.targets)
    monkeypatch.delenv("BOT_KEY")
    with pytest.raises(MissingResource, match="needs BOT_KEY in the environment"):
        complete(twenty, target)


def test_a_wrong_key_or_a_dead_address_stops_at_once_and_records_nothing(bot, twenty, workspace):
    bot.trouble = {f"q{n}": "401" for n in range(20)}
    target = {"url": bot.url, "concurrency": 1, **FAST}
    with pytest.raises(TargetDown, match="does not answer: HTTP 401"):
        complete(twenty, target)
    assert bot.asked == Counter(["q0"])
    with pytest.raises(TargetDown, match="no connection"):
        complete(twenty, {"url": "http://127.0.0.1:9/", "concurrency": 1, "tries": 1})
    bot.trouble.clear()
    assert errors(complete(twenty, target)) == {}


@pytest.mark.parametrize(("budget", "reason"), [
    ({"calls": 5}, "not asked: the budget of 5 target calls is used up"),
    ({"usd": 1}, "not asked: the budget is in dollars, and {url} does not say what an answer costs"),
])  # fmt: skip
def test_a_budget(budget, reason, bot, twenty, workspace):
    target = {"url": bot.url, "concurrency": 1}
    outputs = complete(twenty, target, budget=budget)
    name = bot.url.removeprefix("http://")
    assert set(errors(outputs).values()) == {reason.format(url=name)}
    assert len(answers(outputs)) == budget.get("calls", 1)
    rest = complete(twenty, target)
    assert (errors(rest), set(bot.asked.values())) == ({}, {1})


class TestPrograms:
    @staticmethod
    def target(code: str, **more: Any) -> dict[str, Any]:
        return {"argv": [sys.executable, "-c", code], "name": "program", "concurrency": 2, **FAST, **more}

    def test_json_in_text_or_json_out(self, twenty, workspace):
        code = "import json, sys; c = json.load(sys.stdin); print(json.dumps({'answer': c['question'], 'tokens': 3}))"
        outputs = complete(twenty.filter(search="q1"), self.target(code))
        assert answers(outputs) == {f"c{n}": f"q{n}" for n in (1, *range(10, 20))}
        assert set(outputs.outputs["tokens"].to_pylist()) == {3}

    @pytest.mark.parametrize(("code", "reason"), [
        ("import sys; sys.exit('lost ' + 'x' * 3 + ' sk-' + 'abcdefgh12345678')", "exit status 1: lost xxx [key]"),
        ("print('x' * 9_000_000)", "an output of more than 8,388,608 bytes"),
        ("", None),
    ])  # fmt: skip
    def test_what_goes_wrong(self, code, reason, twenty, workspace):
        one = twenty.filter(search="q19")
        if reason is None:
            assert answers(complete(one, self.target(code))) == {"c19": ""}
            return
        with pytest.raises(TargetDown) as caught:
            complete(one, self.target(code))
        assert reason in str(caught.value)

    def test_a_hang_ends_with_all_its_processes_and_no_such_program(self, twenty, workspace):
        code = "import subprocess, time; subprocess.Popen(['sleep', '3605']); time.sleep(3605)"
        with pytest.raises(TargetDown, match=r"no answer in 1 s \(after 2 tries\)"):
            complete(twenty.filter(search="q19"), self.target(code, timeout=1))
        left = [p for p in psutil.process_iter(["cmdline"]) if (p.info["cmdline"] or [])[:2] == ["sleep", "3605"]]
        while any(alive(process) for process in left):  # one that stayed would end in the test's own timeout
            time.sleep(0.1)
        with pytest.raises(TargetDown, match="the program 'no-such-program' cannot be started: No such file"):
            complete(twenty, {"argv": ["no-such-program"]})


class TestFunctions:
    def test_a_question_a_case_or_a_coroutine(self, twenty, workspace):
        seen: list[Any] = []

        def plain(question: str) -> str:
            seen.append(question)
            return question.upper()

        async def coroutine(case: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"answer": f"{case['question']} {case['run']} {case['metadata']['topic']}", "cost_usd": 0.01}

        outputs = complete(twenty, [plain, coroutine], repeats=2)
        assert outputs.models == ("plain", "coroutine")
        assert (len(outputs.outputs), seen[:3]) == (80, ["q0", "q1", "q2"])
        assert outputs.restricted("coroutine", 2).outputs["answer"].to_pylist()[:2] == ["q0 2 t", "q1 2 t"]
        assert outputs.restricted("plain", 1).outputs["answer"].to_pylist()[:2] == ["Q0", "Q1"]

    def test_what_a_function_raises_is_the_cases_error(self, twenty, workspace):
        calls: Counter[str] = Counter()

        def moody(question: str) -> str:
            calls[question] += 1
            if question == "q1":
                raise ValueError("no sk-abcdefgh12345678")
            if question == "q2" and calls["q2"] == 1:
                raise ConnectionError("once")
            if question == "q4":
                raise SystemExit
            return "ok"

        outputs = complete(twenty, FunctionTarget.around(moody, **FAST))
        assert errors(outputs) == {"c1": "ValueError: no [key]", "c4": "RuntimeError: SystemExit()"}
        assert (calls["q2"], calls["q1"]) == (2, 1)

    def test_a_function_that_hangs_and_one_inside_a_running_loop(self, twenty, workspace):
        hung = threading.Event()
        stuck = FunctionTarget.around(lambda _: hung.wait(60), timeout=0.2, tries=1)
        with pytest.raises(TargetDown, match=r"no answer in 0\.2 s"):
            complete(twenty.filter(search="q19"), stuck)
        hung.set()

        def bot(question: str) -> str:
            return question

        async def notebook() -> Outputs:
            return complete(twenty, bot)

        assert len(answers(asyncio.run(notebook()))) == 20


def test_a_classifier_gives_labels(workspace):
    rows = [{"case_id": str(n), "question": f"q{n}", "label": "joy"} for n in range(3)]
    suite = Suite.from_rows("emotions", "classification", rows)

    def bot(question: str) -> Any:
        return {"label": "joy", "score": 0.7} if question == "q0" else " fear "

    outputs = complete(suite, bot)
    assert outputs.predictions is not None
    found = outputs.predictions.select(["case_id", "label", "score"]).to_pylist()
    assert found == [
        {"case_id": "0", "label": "joy", "score": 0.7}, {"case_id": "1", "label": "fear", "score": None},
        {"case_id": "2", "label": "fear", "score": None},
    ]  # fmt: skip


def test_what_does_not_fit_is_said_before_anything_is_asked(bot, twenty, workspace):
    with pytest.raises(InputError, match=r"the placeholder \{expected_answer\}"):
        complete(twenty, {"url": bot.url, "body": {"q": "{expected_answer}"}})
    with pytest.raises(InputError, match="a suite of task detection"):
        complete(Suite.from_rows("d", "detection", [{"case_id": "1"}], []), {"url": bot.url})
    with pytest.raises(InputError, match="repeats: found 0; expected 1 or more"):
        complete(twenty, {"url": bot.url}, repeats=0)
    assert bot.asked == Counter()
