"""What targets reply, in the forms of many tools; hostile and oversized replies are refused in words."""

import json

import pytest
from hypothesis import given, strategies as st

from metrics.judge.completion import CallFailed
from metrics.targets.answers import MAX_LISTED, MAX_TEXT, answer_of

STEPS = {"steps": [{"tool": "search", "arguments": {"q": "x"}, "result": "y"}, {"role": "assistant", "text": "Done."}]}


@pytest.mark.parametrize(("reply", "row"), [
    ("Lima", {"answer": "Lima"}),
    ("", {"answer": ""}),
    ({"output": "Lima"}, {"answer": "Lima"}),
    ({"answer": {"city": "Lima"}}, {"answer": '{"city": "Lima"}'}),
    (
        {"answer": "a", "contexts": ["p"], "context_ids": [7], "citations": "p", "cost": 0.5,
         "total_tokens": [3, 4]},
        {"answer": "a", "retrieved_contexts": ["p"], "context_ids": ["7"], "citations": ["p"], "cost_usd": 0.5,
         "tokens": 7},
    ),
    (
        {"answer": "a", "contexts": [{"text": "p", "id": 1}, {"page_content": "q", "id": 2}], "model_version": 3},
        {"answer": "a", "retrieved_contexts": ["p", "q"], "context_ids": ["1", "2"],
         "metadata": {"model_version": "3"}},
    ),
    ({"label": "joy", "score": 0.8}, {"label": "joy", "score": 0.8}),
    ({"answer": "nul\0 half \ud800 sk-abcdefgh12345678"}, {"answer": "nul\ufffd half \ufffd [key]"}),
    ({"trace": STEPS}, {"answer": "Done.", "trace": json.dumps(STEPS)}),
])  # fmt: skip
def test_understood(reply, row):
    assert answer_of(reply).as_row() == row


@pytest.mark.parametrize(("reply", "reason"), [
    (None, "a reply of type NoneType, expected a text, or an object with an answer"),
    ([1], "a reply of type list, expected a text, or an object with an answer"),
    ({}, "a reply without an answer"),
    ({"contexts": ["p"]}, "a reply without an answer"),
    ({"error": "quota"}, "quota"),
    ({"answer": "a" * (MAX_TEXT + 1)}, f"answer of {MAX_TEXT + 1:,} characters, more than {MAX_TEXT:,}"),
    (
        {"answer": "a", "contexts": ["p"] * (MAX_LISTED + 1)},
        f"{MAX_LISTED + 1:,} retrieved_contexts, more than {MAX_LISTED:,}",
    ),
    ({"answer": "a", "contexts": ["p"], "context_ids": ["1", "2"]}, "2 ids of 1 passages, expected an id for each"),
    ({"answer": "a", "tokens": -1}, "tokens '-1', expected a number from 0 to 9,007,199,254,740,992"),
    ({"answer": "a", "cost": float("nan")}, "cost_usd 'nan', expected a number from 0 to 9,007,199,254,740,992"),
    ({"answer": "a", "trace": 5}, "a trace that cannot be read: int 5"),
    ({"answer": "a", "artifacts": 5}, "artifacts of type int, expected a list of texts"),
])  # fmt: skip
@pytest.mark.attack("network", "a target's reply that is no answer", "bounded in bytes and time, refused in words")
def test_refused(reply, reason):
    with pytest.raises(CallFailed) as caught:
        answer_of(reply)
    assert (str(caught.value), caught.value.trouble) == (reason, "refused")


KEYS = st.sampled_from(["answer", "output", "contexts", "trace", "tokens", "score", "label", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=9,
)


@given(JSON)
def test_any_reply_is_an_answer_or_a_failure(reply):
    try:
        row = answer_of(reply).as_row()
    except CallFailed:
        return
    json.dumps(row).encode()
