"""Conversations in one text: their turns, and the user's last one."""

import json

import pytest
from hypothesis import given, strategies as st

from metrics.text.conversation import Turn, last_user_turn, turns

MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": 'Say "hi"\nto me'},
    {"role": "assistant", "content": "Hi."},
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user: hi\nagent: hello\nuser: how?", [("user", "hi"), ("agent", "hello"), ("user", "how?")]),
        ("User : a\n b: c\n\nAssistant: d\n", [("user", "a\n b: c"), ("assistant", "d")]),
        ("**Human:** a\n**AI**: b", [("human", "a"), ("ai", "b")]),
        ("user:\nwhy?", [("user", "\nwhy?")]),
        (json.dumps(MESSAGES), [("system", "Be kind."), ("user", 'Say "hi"\nto me'), ("assistant", "Hi.")]),
        ("Who is the user: he or she?", []),
        ("Why?\nuser: me", []),
        ("users: many", []),
        ("[1, 2]", []),
        ('[{"role": 1, "content": "a"}]', []),
        ("[broken", []),
        ("[" * 100_000, []),
        ("", []),
    ],
    ids=[
        "roles", "lines", "bold", "own line", "messages", "a word", "begins otherwise", "longer word", "list", "types",
        "broken", "deep", "empty",
    ],
)  # fmt: skip
def test_turns(text: str, expected: list[tuple[str, str]]) -> None:
    assert turns(text) == [Turn(*each) for each in expected]


@pytest.mark.parametrize(("text", "said", "changed"), [
    ("user: hi\nagent: hello\nuser: how?\n", "how?", "user: hi\nagent: hello\nuser: X\n"),
    ("user: hi\nagent: hello", "hi", "user: X\nagent: hello"),
    ("Customer: a\nb", "a\nb", "Customer: X"),
])  # fmt: skip
def test_last_user_turn(text: str, said: str, changed: str) -> None:
    found = last_user_turn(text)
    assert (found[0], found[1]("X")) == (said, changed)
    assert found[1](found[0]) == text


def test_last_user_turn_of_messages() -> None:
    found = last_user_turn(json.dumps(MESSAGES))
    assert found[0] == 'Say "hi"\nto me'
    changed = json.loads(found[1]('"X"'))
    assert changed == [MESSAGES[0], {"role": "user", "content": '"X"'}, MESSAGES[2]]


@pytest.mark.parametrize("text", ["agent: hello", "Plain?", json.dumps(MESSAGES[:1]), ""])
def test_no_user_no_turn(text: str) -> None:
    assert last_user_turn(text) is None


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    found = last_user_turn(text)
    assert found is None or text.startswith("[") or found[1](found[0]) == text
