"""The workspace's judge: its file, its key, a test call."""

import json
import os

import pytest

from metrics.core.errors import InputError
from metrics.judge.keys import BEGINNINGS, NEEDED, key_variables, missing_keys
from metrics.judge.open_judges import FILE, choose_judge, chosen_judge, missing_judge, try_judge
from metrics.judge.provider import library
from metrics.judge.settings import Budget, JudgeSettings
from tests.judge.server import Fault

CANARY = "sk-CANARY0123456789abcdef"


def test_it_is_kept_without_what_is_left_as_it_was(tmp_path):
    assert chosen_judge(tmp_path) is None
    settings = JudgeSettings(model="gpt-4o-mini", budget=Budget(usd=2))
    choose_judge(tmp_path, settings)
    assert json.loads((tmp_path / FILE).read_text()) == {"model": "gpt-4o-mini", "budget": {"usd": 2.0}}
    assert chosen_judge(tmp_path) == settings
    choose_judge(tmp_path, None)
    assert chosen_judge(tmp_path) is None


@pytest.mark.parametrize("settings",
    [JudgeSettings(model=CANARY), JudgeSettings(model="m", base_url=f"http://h/v1?key={CANARY}")],
    ids=["model", "address"])  # fmt: skip
def test_a_key_is_refused_and_not_repeated(tmp_path, settings):
    with pytest.raises(InputError, match="found what looks like a key; expected no key: put it") as refused:
        choose_judge(tmp_path, settings)
    assert CANARY not in str(refused.value)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(("text", "message"), [
    ("{", "judge.json: found something else than JSON; expected the settings of a judge"),
    ("{}", "judge, column model: found {}; expected Field required"),
])  # fmt: skip
def test_a_file_that_is_none(tmp_path, text, message):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(InputError) as refused:
        chosen_judge(tmp_path)
    assert str(refused.value) == message


def test_a_test_call(judge_server):
    settings = JudgeSettings(model="m", base_url=judge_server.url)
    trial = try_judge(settings)
    assert (trial.understood, trial.right, trial.failure) == (True, True, None)
    assert trial.prompt_tokens
    assert trial.completion_tokens
    assert trial.seconds > 0
    judge_server.fail(Fault(text="sure!"), Fault(401))
    unreadable, refused = try_judge(settings), try_judge(settings)
    assert (unreadable.reply, unreadable.understood) == ("sure!", False)
    assert "the judge's reply is not JSON" in str(unreadable.failure)
    assert "scripted 401" in str(refused.failure)


@pytest.fixture
def no_keys(monkeypatch):
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("provider", NEEDED)
def test_the_keys_are_those_that_litellm_asks_for(provider):
    found = library().validate_environment(f"{provider}/some-model")
    assert sorted(found["missing_keys"]) == sorted(NEEDED[provider])


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize(("settings", "variables", "missing"), [
    (JudgeSettings(model="gpt-4o-mini"), ("OPENAI_API_KEY",), ("OPENAI_API_KEY",)),
    (JudgeSettings(model="claude-3-5-haiku-latest"), ("ANTHROPIC_API_KEY",), ("ANTHROPIC_API_KEY",)),
    (JudgeSettings(model="m", base_url="http://h/v1"), ("OPENAI_API_KEY",), ()),
    (JudgeSettings(model="local"), (), ()),
    (JudgeSettings(model="who/knows"), (), ()),
], ids=lambda value: getattr(value, "model", None))  # fmt: skip
def test_whose_key_is_looked_for(settings, variables, missing, monkeypatch):
    assert (key_variables(settings), missing_keys(settings)) == (variables, missing)
    for name in variables:
        monkeypatch.setenv(name, CANARY)
    assert missing_keys(settings) == ()


@pytest.mark.parametrize("key", ["sk-schlüssel-0123456789", "sk-0123456789abcdef\n"], ids=["umlaut", "line break"])
@pytest.mark.parametrize("address", [None, "http://localhost:1/v1"], ids=["hosted", "server"])
def test_a_key_that_no_request_can_carry_is_named(key, address, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    settings = JudgeSettings(model="gpt-4o-mini", base_url=address)
    assert missing_judge(settings) == (
        "OPENAI_API_KEY in the environment is no key: it holds a line break or a character outside ASCII; copy it again"
    )
    assert try_judge(settings).failure == missing_judge(settings)


def test_beginnings_are_of_known_providers():
    assert set(BEGINNINGS.values()) <= set(NEEDED)
