"""Reading replies, beside the table of them: cut ones, numbered ones, whatever stands in their strings."""

import json
from typing import Literal

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import Cut, Unreadable
from metrics.judge.asking import ItemReply, Reply
from metrics.judge.replies import by_number, read


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Claims(Reply):
    claims: list[str]


class Numbered(ItemReply):
    verdict: Literal["yes", "no"]


YES = Verdict(reason="as written", verdict="yes")
PLAIN = '{"reason": "as written", "verdict": "yes"}'


def test_a_reply_that_was_cut_counts_only_if_it_is_whole():
    assert read(PLAIN, Verdict, cut=True, limit=50) == YES
    for text in ("", PLAIN[:-1], f"```json\n{PLAIN}\n```"):
        with pytest.raises(Cut, match=r"was cut by the limit of 50 tokens: raise max_tokens"):
            read(text, Verdict, cut=True, limit=50)


@pytest.mark.parametrize(("said", "kept"), [
    pytest.param([(1, "yes"), (2, "no")], {1: "yes", 2: "no"}, id="all there"),
    pytest.param([(2, "no"), (1, "yes")], {1: "yes", 2: "no"}, id="in another order"),
    pytest.param([(0, "yes"), (1, "yes"), (3, "yes"), (-1, "yes")], {1: "yes"}, id="numbers that do not exist"),
    pytest.param([(1, "yes"), (1, "yes")], {1: "yes"}, id="twice the same"),
    pytest.param([(1, "yes"), (1, "no"), (1, "yes")], {}, id="two that differ"),
])  # fmt: skip
def test_replies_are_told_apart_by_their_numbers(said, kept):
    found = by_number([Numbered(id=number, verdict=verdict) for number, verdict in said], 2)
    assert {number: entry.verdict for number, entry in found.items()} == kept


TEXTS = st.text(max_size=40) | st.sampled_from(['a "b", c', "{", "[1]", ",}", "```", "</think>", "\\"])


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_whatever_is_in_the_strings_they_come_out_as_they_went_in(claims, before):
    text = json.dumps({"claims": claims})
    assert (read(text, Claims).claims, read(f"```json\n{text}\n```", Claims).claims) == (claims, claims)


@given(st.integers(1, 60))
def test_no_part_of_a_reply_passes_for_it(length):
    text = json.dumps({"claims": [f"claim {number}" for number in range(6)]})
    with pytest.raises(Unreadable):
        read(text[: min(length, len(text) - 1)], Claims)
