"""Reading replies, beside the table of them: cut ones, numbered ones, whatever stands in their strings."""

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.core.errors import Cut, Unreadable
from metrics.judge.asking import ItemReply, Reply
from metrics.judge.replies import LONGEST, by_number, items_of, read


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Claims(Reply):
    claims: list[str]


class Numbered(ItemReply):
    verdict: Literal["yes", "no"]


YES = Verdict(reason="as written", verdict="yes")
PLAIN = '{"reason": "as written", "verdict": "yes"}'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("I cannot say.", "is not JSON: Expecting value at line 1, column 1; the judge", id="prose"),
        pytest.param('{"reason": "so"}', "does not fit: verdict: Field required", id="no verdict"),
        pytest.param("[" * 5000, "is not JSON: nested deeper", id="nested"),
        pytest.param("x" * (LONGEST + 1), "has 400,001 characters; at most 400,000 are read", id="endless"),
    ],
)
def test_what_is_no_reply_says_why(text: str, complaint: str) -> None:
    with pytest.raises(Unreadable) as failure:
        read(text, Verdict)
    assert complaint in str(failure.value)


def test_a_reply_that_was_cut_counts_only_if_it_is_whole() -> None:
    assert read(PLAIN, Verdict, cut=True, limit=50) == YES
    for text in ("", PLAIN[:-1], f"```json\n{PLAIN}\n```"):
        with pytest.raises(Cut, match=r"was cut by the limit of 50 tokens: raise max_tokens"):
            read(text, Verdict, cut=True, limit=50)


@pytest.mark.parametrize("text", ['["a", "b"]', '{"claims": ["a", "b"]}', '{"facts": ["a", "b"]}'])
def test_a_bare_list_is_the_list_asked_for(text: str) -> None:
    assert read(text, Claims).claims == ["a", "b"]


def test_the_form_of_numbered_replies_is_one_object_with_a_list() -> None:
    form = items_of(Numbered, "CLAIMS")
    said = read('[{"id": 1, "verdict": "yes"}]', form)
    assert said.replies == [Numbered(id=1, verdict="yes")]
    assert form is items_of(Numbered, "CLAIMS"), "made once"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param([(1, "yes"), (2, "no")], {1: "yes", 2: "no"}, id="all there"),
        pytest.param([(2, "no"), (1, "yes")], {1: "yes", 2: "no"}, id="in another order"),
        pytest.param([(0, "yes"), (1, "yes"), (3, "yes"), (-1, "yes")], {1: "yes"}, id="numbers that do not exist"),
        pytest.param([(1, "yes"), (1, "yes")], {1: "yes"}, id="twice the same"),
        pytest.param([(1, "yes"), (1, "no"), (1, "yes")], {}, id="two that differ"),
    ],
)
def test_replies_are_told_apart_by_their_numbers(said: list[tuple[int, Any]], kept: dict[int, str]) -> None:
    found = by_number([Numbered(id=number, verdict=verdict) for number, verdict in said], 2)
    assert {number: entry.verdict for number, entry in found.items()} == kept


TEXTS = st.text(max_size=40) | st.sampled_from(['a "b", c', "{", "[1]", ",}", "```", "</think>", "\\"])


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_whatever_is_in_the_strings_they_come_out_as_they_went_in(claims: list[str], before: str) -> None:
    text = json.dumps({"claims": claims})
    assert read(text, Claims).claims == claims
    assert read(f"```json\n{text}\n```", Claims).claims == claims


@given(st.integers(1, 60))
def test_no_part_of_a_reply_passes_for_it(length: int) -> None:
    text = json.dumps({"claims": [f"claim {number}" for number in range(6)]})
    with pytest.raises(Unreadable):
        read(text[: min(length, len(text) - 1)], Claims)
