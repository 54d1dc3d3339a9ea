"""Common stretches: against every stretch of small random texts, and what does not count."""

import random

import pytest

from metrics.text.shared_words import Stretch, common_stretches, covered


def test_they_are_the_longest_ones_and_none_lies_within_another() -> None:
    """Beside a plain search of all pairs of places, on 300 pairs of texts of few words."""
    chance = random.Random(2)
    for _ in range(300):
        text = chance.choices("abcd", k=chance.randint(0, 14))
        source = chance.choices("abcd", k=chance.randint(0, 14))
        least = chance.randint(1, 4)
        best: dict[int, int] = {}
        for at in range(len(text)):
            for place in range(len(source)):
                length = 0
                while (
                    at + length < len(text)
                    and place + length < len(source)
                    and text[at + length] == source[place + length]
                ):
                    length += 1
                if length >= least:
                    best[at] = max(best.get(at, 0), length)
        spans = [(at, at + length) for at, length in best.items()]
        wanted = [one for one in spans if not any(o[0] <= one[0] and one[1] <= o[1] and o != one for o in spans)]
        found = common_stretches(" ".join(text), " ".join(source), least)
        assert [(one.start // 2, one.start // 2 + one.words) for one in found] == sorted(wanted)
        for one in found:
            assert source[one.source : one.source + one.words] == text[one.start // 2 : one.start // 2 + one.words]


def test_case_signs_and_forms_do_not_count() -> None:
    assert common_stretches("Say: NEVER—tell, the ﬁre’s", "never tell the fire s", 4) == [Stretch(5, 26, 5, 0)]


def test_what_is_known_is_no_copy() -> None:
    source = "one two three four five six"
    assert common_stretches(source, source, 3, "one two three four") == [Stretch(8, 27, 4, 2)]


def test_covered_counts_each_word_of_the_source_once() -> None:
    source = "a b c d e f g h"
    assert covered(common_stretches("a b c x a b c d y", source, 3), source) == 0.5
    assert covered([], "") == 0.0


@pytest.mark.parametrize("text", ["the " * 30_000, "a b " * 15_000, "\u0301" * 50_000])
def test_the_time_is_bounded(text: str) -> None:
    """Each place follows a bounded number of others; what recurs is many stretches, not the square of them."""
    assert len(common_stretches(text, text, 5)) <= len(text)
