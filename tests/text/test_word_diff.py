"""Where two texts differ, word by word."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, strategies as st

from metrics.text import word_diff as of
from metrics.text.word_diff import Stretch, diff, differ_only_in, word_diff, words

TEXTS = st.text(st.sampled_from("ab1 \n.,'’é\u0301我ไท👩\u200d🇩🇪<"), max_size=30) | st.text(max_size=20)


@pytest.mark.parametrize(("text", "found"), [
    ("Don't pay 1,000.5 €!", ["Don't", "pay", "1,000.5", "€", "!"]),
    ("我住在巴黎。", ["我", "住", "在", "巴", "黎", "。"]),
    ("a\u0301b हिन्दी", ["a\u0301b", "हिन्दी"]),
    ("👩\u200d👧👍🏽🇩🇪🇫🇷", ["👩\u200d👧", "👍🏽", "🇩🇪", "🇫🇷"]),
    ("one,two snake_case", ["one", ",", "two", "snake_case"]),
], ids=["words", "no spaces", "marks", "emoji", "signs"])  # fmt: skip
def test_words(text, found):
    assert [word for word, _ in words(text)] == found


@pytest.mark.parametrize(("first", "second", "found"), [
    ("one two", "one two", [("one two", "one two", True)]),
    ("the cat sat.", "the cat ran.", [("the cat ",) * 2 + (True,), ("sat", "ran", False), (".", ".", True)]),
    ("我住在巴黎", "我住在柏林", [("我住在", "我住在", True), ("巴黎", "柏林", False)]),
    ("a b", "a  b", [("a", "a", True), (" ", "  ", False), ("b", "b", True)]),
    (" a", "a", [(" ", "", False), ("a", "a", True)]),
    ("red cat ", "blue dog ", [("red cat", "blue dog", False), (" ", " ", True)]),
    ("", "", []),
], ids=["equal", "a word", "a character", "white space", "begun", "no space between changes", "empty"])  # fmt: skip
def test_stretches(first, second, found):
    assert word_diff(first, second) == [Stretch(*each) for each in found]


@given(TEXTS, TEXTS)
@example("x y", "y x")
def test_stretches_make_both_texts_and_are_the_same_from_either_side(first, second):
    found = word_diff(first, second) or []
    assert ("".join(each.first for each in found), "".join(each.second for each in found)) == (first, second)
    assert all(each.first == each.second for each in found if each.same)
    assert all(here.same != there.same for here, there in pairwise(found)), "in turn"
    assert all(each.first != each.second for each in found if not each.same)
    assert [(there, here, same) for here, there, same in word_diff(second, first) or []] == found


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_as_many_words_as_possible_are_alike(first, second):
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            longest[i + 1][j + 1] = longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
    found = diff([(word, "") for word in first], [(word, "") for word in second]) or []
    assert sum(len(each.first) for each in found if each.same) == longest[-1][-1]


@given(TEXTS)
def test_a_text_has_no_difference_to_itself(text):
    assert all(each.same for each in word_diff(text, text) or [])


def test_texts_too_long_are_not_compared(monkeypatch):
    assert word_diff("a" * (of.MOST_CHARACTERS + 1), "b") is None
    monkeypatch.setattr(of, "MOST_EDITED", 4)
    assert word_diff("x a b y", "x c d y") is not None
    assert word_diff("x a b e y", "x c d y") is None


@pytest.mark.parametrize(("first", "second", "names"), [
    ("yes", "yes", ()),
    ("Yes", "yes", ("case",)),
    (" yes  no", "yes\nno", ("white space",)),
    ("caf\u00e9", "cafe\u0301", ("Unicode form",)),
    ("Straße ", "STRASSE", ("case", "white space")),
    ("yes", "no", None),
], ids=["equal", "case", "white space", "form", "two", "words"])  # fmt: skip
def test_what_two_texts_differ_in_alone(first, second, names):
    assert differ_only_in(first, second) == names == differ_only_in(second, first)


@given(TEXTS)
def test_a_decomposed_text_differs_in_its_form_alone(text):
    apart = unicodedata.normalize("NFD", text)
    assert differ_only_in(text, apart) == (() if text == apart else ("Unicode form",))
