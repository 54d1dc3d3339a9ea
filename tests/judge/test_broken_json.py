"""Repairing broken JSON: what it makes of it, and that no text makes it work without end."""

import pytest

from metrics.judge import reply_text
from metrics.judge.reply_text import LONGEST_BROKEN, Repairs
from metrics.text.json_text import JsonError


@pytest.mark.parametrize(("text", "value"), [
    pytest.param('{"a": [1, 2,],}', {"a": [1, 2]}, id="trailing commas"),
    pytest.param("{'a': 'it is'}", {"a": "it is"}, id="single quotes"),
    pytest.param('{"a": "say "so" twice", "b": None}', {"a": 'say "so" twice', "b": None}, id="unescaped quotes"),
    pytest.param("{“a”: true} ", {"a": True}, id="smart quotes"),
])  # fmt: skip
def test_what_models_write_is_repaired(text: str, value: object) -> None:
    assert Repairs().repaired(text) == value


@pytest.mark.parametrize("text", [
    pytest.param('["' + "]{”," * 20_000, id="brackets of two kinds"),
    pytest.param('["' + '{"' * 40_000, id="braces in strings"),
    pytest.param('["' + '"a":' * 20_000, id="names in a list"),
    pytest.param("(" * 50_000, id="parentheses"),
])  # fmt: skip
def test_work_is_bounded_by_count_not_by_time(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_text, "MOST_WORK", 100_000)
    with pytest.raises(JsonError, match="too broken to be repaired"):
        Repairs().repaired(text)


def test_several_texts_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_text, "MOST_WORK", 3_000)
    repairs, text = Repairs(), "{'a': '" + "x" * 500 + "'}"
    with pytest.raises(JsonError, match="too broken"):
        for _ in range(30):
            repairs.repaired(text)
    assert Repairs().repaired(text) == {"a": "x" * 500}


def test_long_texts_are_refused_before_any_work() -> None:
    with pytest.raises(JsonError, match="broken JSON of 100,008 characters; at most 100,000 are repaired"):
        Repairs().repaired('{"a": "' + "x" * LONGEST_BROKEN + "'")
