"""Evaluate: running a model on a suite from the page."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics.core.suite import Suite
from metrics.store import Workspace
from metrics.targets.jobs import Job
from tests.judge.server import JudgeServer
from tests.pages.conftest import Open
from tests.pages.reading import labelled, words
from tests.targets.bot_server import BotServer


@pytest.fixture
def bot() -> Iterator[BotServer]:
    with BotServer() as server:
        yield server


@pytest.fixture
def suite(workspace: Path) -> str:
    rows = [{"case_id": f"c{n}", "question": f"q{n}", "expected_answers": [f"A q{n}"]} for n in range(4)]
    return Workspace().save_suite(Suite.from_rows("Four", "text", rows))


def button(page: AppTest, label: str) -> AppTest:
    return labelled(page.button, label)


def test_a_model_is_tried_asked_and_evaluated(bot, suite, open_page, monkeypatch):
    start = Job.start
    monkeypatch.setattr(Job, "start", lambda self: start(self).wait())  # as if it ended at once
    bot.trouble["q2"] = "400"
    where = {"from": "stored", "suite": suite, "by": "model", "kind": "http"}
    page = open_page("evaluate", **where)
    assert "Give the address of the endpoint." in words(page)
    assert "Run the model on the cases first." in words(page)
    next(box for box in page.text_input if box.key == "target-url").set_value(bot.url).run()
    assert f"{bot.url.removeprefix('http://')}: 4 calls, 0 recorded" in words(page)
    button(page, "Try it").click().run()
    assert "A q0" in [code.value for code in page.code]
    assert bot.asked.total() == 1

    button(page, "Ask 4 cases").click().run()
    page = open_page("evaluate", **dict(page.query_params.items()))
    assert "✓ 3 answers, 1 failed" in words(page)
    assert page.dataframe[0].value["error"].tolist() == ["HTTP 400: scripted"]
    assert "Four: 4 cases, text" in words(page)
    assert not button(page, "Start").disabled
    bot.trouble.clear()
    button(page, "Ask the failed ones again").click().run()
    assert bot.asked["q2"] == 2
    assert bot.asked["q1"] == 1


@pytest.mark.parametrize(("target", "problem"), [
    ({"models": ["m"], "base_url": "http://127.0.0.1:9", "prompt": "{nope}"}, "found the placeholder {nope}"),
    ({"models": ["gpt-4o-mini"]}, "OPENAI_API_KEY is not set in the environment of this studio"),
    ({"models": ["m"], "prompt": "{expected_answer}"}, "nothing that gives the answer away"),
])  # fmt: skip
def test_what_is_wrong_is_said_and_nothing_starts(target, problem, suite, open_page):
    page = open_page("evaluate", **{"from": "stored", "suite": suite, "by": "model", "target": json.dumps(target)})
    assert problem in words(page)
    assert next(each for each in page.button if each.label.startswith("Ask ") or each.label.startswith("Use")).disabled


def test_models_and_prompts_are_compared_before_all_cases_are_asked(suite, open_page):
    with JudgeServer() as server:
        server.say(lambda _: True, lambda request: f"{request.body['model']}: {request.text}")
        target = {"models": ["small", "large"], "base_url": server.url, "prompt": "{question}?"}
        page = open_page("evaluate", **{"from": "stored", "suite": suite, "by": "model", "target": json.dumps(target)})
        button(page, "Add a prompt").click().run()
        next(box for box in page.text_area if box.key == "target-prompt-B").set_value("Briefly: {question}").run()
        assert json.loads(address(page))["prompts"] == {"A": "{question}?", "B": "Briefly: {question}"}
        next(box for box in page.number_input if box.key == "target-grid-cases").set_value(2).run()
        button(page, "Try 8 answers").click().run()
        assert len(server.calls) == 8
        said = words(page)
        assert "small: q1?" in said
        assert "large: Briefly: q0" in said
        assert "q2?" not in said
        button(page, "Remove the last").click().run()
        assert "prompts" not in json.loads(address(page))


def test_programs_are_for_the_command_line(suite: str, open_page: Open) -> None:
    page = open_page("evaluate", **{"from": "stored", "suite": suite, "by": "model", "kind": "code"})
    assert "A web page must not run programs" in words(page)
    assert any("--target bot.py:answer" in code.value for code in page.code)


def address(page: AppTest) -> str:
    """The description of the target in the address."""
    value = page.query_params["target"]
    return value if isinstance(value, str) else value[0]
