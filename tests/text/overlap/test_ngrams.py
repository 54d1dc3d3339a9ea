"""Clipped matches against nltk's n-grams, one text at a time; what is read ahead, and batches of any size."""

from collections import Counter

import nltk
import pytest
from hypothesis import given, strategies as st

from metrics.text.overlap import bleu
from metrics.text.overlap.bleu import Compared, clipped_matches

WORDS = st.sampled_from(["a", "b", "c", "é", "e\u0301", "猫", "", " ", "🙂", "\ud800"]) | st.text(max_size=3)
TOKENS = st.lists(st.sampled_from("ab"), max_size=40) | st.lists(WORDS, max_size=12)
TEXTS = st.lists(st.tuples(st.lists(TOKENS, max_size=4), TOKENS), max_size=6)


def oracle(references: list[list[str]], candidate: list[str], n: int) -> int:
    wanted: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        wanted |= Counter(nltk.ngrams(reference, n))
    return (Counter(nltk.ngrams(candidate, n)) & wanted).total()


@pytest.mark.parametrize("at_once", [1, 30, bleu.TOKENS_AT_ONCE], ids=["one-by-one", "some", "all"])
@given(texts=TEXTS, orders=st.integers(0, 7))
def test_matches_are_the_shared_ngrams(at_once: int, texts: list[Compared], orders: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bleu, "TOKENS_AT_ONCE", at_once)
        found = list(clipped_matches(texts, orders))
    assert found == [[oracle(*text, n) for n in range(1, orders + 1)] for text in texts]


def test_long_texts_that_repeat_themselves() -> None:
    candidate, reference = ["a", "b"] * 30_000, ["a", "b", "c"] * 20_000
    assert list(clipped_matches([([reference], candidate)], 3)) == [[40_000, 20_000, 0]]


def test_texts_are_read_as_they_are_needed() -> None:
    rest = iter([([["a"] * 500], ["a"] * 500)] * 100)
    found = clipped_matches(rest, 2)
    assert next(found) == [500, 499]
    assert len(list(rest)) == 83, "17 were read: 16,384 tokens, to the end of a text"
