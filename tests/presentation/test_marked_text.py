"""Texts with marked words."""

import pytest
from hypothesis import given, strategies as st

from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.presentation.marked_text import Part, changed, compare_texts, difference, last_turn, quoted, with_claims
from metrics.presentation.verdict_rows import VerdictGroup, verdict_groups

TEXTS = st.text(st.sampled_from("ab. \n"), max_size=12)
ANSWER = "It opened in 1937. Eiffel designed it! Who knows?"


def group(*claims: tuple[str, Holds]) -> tuple[VerdictGroup, ...]:
    return verdict_groups(Evidence({"claims": [Verdict(text, holds, holds) for text, holds in claims]}))


@pytest.mark.parametrize(("text", "quotes", "parts"), [
    ("one two", ["two"], [("one ", False), ("two", True)]),
    ("one two three", ["two three", "one two"], [("one two three", True)]),
    ("one", ["four", ""], [("one", False)]),
    ("one one", ["one"], [("one", True), (" one", False)]),
    ("", ["one"], []),
], ids=["one", "overlapping", "absent", "the first", "empty"])  # fmt: skip
def test_quoted(text, quotes, parts):
    assert [(text, bool(mark)) for text, mark, _ in quoted(text, quotes)] == parts


@pytest.mark.parametrize(("before", "after", "parts"), [
    ("how do I pay", "how do I pay", [("how do I pay", False)]),
    ("how do I pay", "how do U pay", [("how do ", False), ("U", True), (" pay", False)]),
    ("pay now", "Lies. pay now", [("Lies. ", True), ("pay now", False)]),
    ("pay now", "now pay", [("now", False), (" pay", True)]),
    ("", "pay", [("pay", True)]),
], ids=["same", "a word", "put before", "order", "from nothing"])  # fmt: skip
def test_changed(before, after, parts):
    assert [(text, bool(mark)) for text, mark, _ in changed(before, after)] == parts


@pytest.mark.parametrize(
    ("expected", "answer", "parts"),
    [
        ("a b", "a b", ["a b"]),
        ("The cat sat.", "the cat ran", ["the cat ", "-sat. ", "+ran"]),
        ("", "new", ["+new"]),
        ("old", "", ["-old"]),
        ("stays goes", "stays", ["stays ", "-goes"]),
        ("a, b", "a b", ["a b"]),
        ("one\ntwo", "one\nthree", ["one\n", "-two ", "+three"]),
    ],
    ids=["equal", "case and punctuation aside", "nothing expected", "nothing answered", "cut short", "comma", "lines"],
)
def test_difference(expected, answer, parts):
    signs = {"": "", "removed": "-", "added": "+"}
    assert [signs[mark] + text for text, mark, _ in difference(expected, answer)] == parts
    assert (
        "".join(text for text, mark, _ in difference(expected, answer) if mark != "removed").split() == answer.split()
    )


def test_an_exact_difference_sees_case_and_punctuation():
    assert difference("The cat", "the cat", exact=True)[0] == Part("The ", "removed")


@given(TEXTS, TEXTS)
def test_an_exact_difference_has_the_words_of_both_texts(expected, answer):
    parts = difference(expected, answer, exact=True) or []
    assert "".join(part.text for part in parts if part.mark != "removed").split() == answer.split()
    assert "".join(part.text for part in parts if part.mark != "added").split() == expected.split()


@pytest.mark.parametrize(("first", "second", "said", "marks"), [
    ("It is 3 m.", "It is 2 m.", "", [("3", "removed"), ("2", "added")]),
    ("Yes", "Yes", "identical", []),
    ("Yes", "yes ", "the same but for case and white space", [("Yes", "removed"), ("yes ", "added")]),
    ("a" * 200_001, "b", "too long to be compared word by word", []),
    ("a" * 200_001, "a" * 200_001, "identical", []),
], ids=["words", "identical", "spelling", "too long", "long and identical"])  # fmt: skip
def test_two_texts_beside_each_other(first, second, said, marks):
    found = compare_texts(first, second)
    assert (found.said, [(part.text, part.mark) for part in (*found.first, *found.second) if part.mark]) == (
        said,
        marks,
    )
    assert ["".join(part.text for part in parts) for parts in found[1:]] == [first, second]


def test_texts_too_long_have_no_difference_in_words():
    assert difference("a " * 20_000, "b " * 20_000) is None


@pytest.mark.parametrize(("claims", "marked"), [
    ([("The bridge opened in 1937.", "yes")], [("It opened in 1937.", "yes", "1✓")]),
    (
        [("It opened in 1937.", "yes"), ("Eiffel designed the bridge.", "no")],
        [("It opened in 1937.", "yes", "1✓"), ("Eiffel designed it!", "no", "2✗")],
    ),
    ([("It opened.", "yes"), ("It opened in 1937.", "no")], [("It opened in 1937.", "no", "1✓ 2✗")]),
    ([("Steel is heavier than water.", "no")], []),
], ids=["one", "two", "the worst marks", "words of no sentence"])  # fmt: skip
def test_claims_are_marked_in_the_answer(claims, marked):
    parts = with_claims(ANSWER, group(*claims))
    assert ([tuple(part) for part in parts if part.mark], "".join(part.text for part in parts)) == (marked, ANSWER)


def test_claims_of_scripts_without_spaces_are_found():
    _, second = with_claims("他住在巴黎。它开放于1937年。", group(("它于1937年开放。", "yes")))
    assert (second.text, second.mark) == ("它开放于1937年。", "yes")


def test_only_what_an_answer_says_is_marked_in_it():
    references = verdict_groups(Evidence({"reference_claims": [Verdict("It opened in 1937.", "yes", "yes")]}))
    assert with_claims(ANSWER, references) == [Part(ANSWER)]


def test_the_last_turn_of_a_conversation():
    earlier, last = last_turn("user: Hi\nagent: Hello\nuser: How are you?") or ([], None)
    assert ([tuple(turn) for turn in earlier], tuple(last or ())) == (
        [("user", "Hi"), ("agent", "Hello")],
        ("user", "How are you?"),
    )
    assert last_turn("What is a user: field?") is None
    assert last_turn("user: Hi") is None
