"""Numbers in texts: equal numbers are equal however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.text.stated_numbers import numbers, quantities, unstated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("no digits, not even two", set(), id="none"),
        pytest.param("1,200 and 1200", {"1200"}, id="thousands"),
        pytest.param("1.200.000 or 1,200,000 or 1\u202f200\u202f000 or 1'200'000", {"1200000"}, id="separators"),
        pytest.param("3.20, 3,2 and 3.2", {"3.2"}, id="decimals"),
        pytest.param("1.200,50", {"1200.5"}, id="both"),
        pytest.param("€6 per item.", {"6"}, id="the full stop is none of its digits"),
        pytest.param("007", {"7"}, id="leading zeros"),
        pytest.param("0.50", {"0.5"}, id="below one"),
        pytest.param("10:30", {"10", "30"}, id="a time is two numbers"),
        pytest.param("٤٢ and ४२", {"42"}, id="digits of other scripts"),
        pytest.param("10²", {"10"}, id="a superscript is no digit"),
    ],
)  # fmt: skip
def test_the_numbers_of_a_text(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


@given(st.integers(0, 10**9))
def test_grouping_changes_nothing(number: int) -> None:
    assert numbers(f"about {number:,} of them") == numbers(str(number)) == {str(number)}


PARAPHRASES = (  # each states the same numbers as the other
    ("It cost 4 million.", "4,000,000 were spent."), ("the 1st prize", "first prize"), ("12 eggs", "a dozen eggs"),
    ("It was in WW2.", "during World War II"), ("on 1/2/2003", "on 1 February 2003"), ("21 ships", "twenty-one ships"),
    ("305 men", "three hundred and five men"), ("$4m", "4 million dollars"), ("1.5 billion", "1,500,000,000"),
    ("the 1980s", "the nineteen eighties"), ("50 % of them", "half of them"), ("24 cows", "two dozen cows"),
    ("chapter 4", "Chapter IV"), ("Louis 14", "Louis XIV"), ("Henry VIII", "Henry the Eighth"),
    ("the 21st century", "the twenty-first century"), ("2,000 people", "two thousand people"),
    ("2k followers", "2,000 followers"), ("1984", "nineteen eighty-four"), ("25 percent", "a quarter"),
    ("7 July", "July 7"), ("2003-02-01", "1 Feb 2003"), ("11 aircraft", "eleven aircraft"), ("3rd", "third place"),
    ("100 years", "a hundred years"), ("1,000,000", "one million"), ("35 minutes", "thirty-five minutes"),
    ("2 shoes", "a pair of shoes"), ("WWI", "World War 1"), ("300,000", "three hundred thousand"),
    ("12th of March", "March 12"), ("€1,200.50", "1.200,50 €"), ("20 years", "a score of years"), ("0 points", "zero"),
    ("9 years", "nine years"), ("grade 6", "grade VI"), ("212", "two hundred and twelve"), ("90 km", "ninety km"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_a_paraphrase_states_the_same_numbers(one: str, other: str) -> None:
    assert unstated(one, other) == unstated(other, one) == set()


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("14 men", "four men", {"14"}),
        ("in 1984", "in 1983", {"1984"}),
        ("3 million", "3 thousand", {"3000000"}),
        ("World War II", "World War I", {"2"}),
        ("12 March 1908", "3 July 1908", {"12"}),
        ("nineteen men", "ninety men", {"19"}),
        ("two dozen", "a dozen", {"24"}),
        ("fifty-three minutes", "35 minutes", {"53"}),
        ("half of them", "a quarter of them", {"50"}),
        ("one of us", "some of us", set()),  # counts nothing
        ("1 of us", "some of us", {"1"}),
    ],
)
def test_another_number_is_not_stated(claim: str, text: str, missing: set[str]) -> None:
    assert unstated(claim, text) == missing


def test_words_that_only_look_like_numbers() -> None:
    assert quantities("I may go by car; he may not. MIX and CD are words, the score is even.") == {"20"}
    assert quantities("I am here") == set()


@given(st.integers(2, 999_999))
def test_words_and_digits_are_one_number(number: int) -> None:
    words = _words(number)
    assert quantities(words) == quantities(f"{number}") == {str(number)}, words


def _words(number: int) -> str:
    """Return a number below a million in English words, written independently of the reader."""
    units = ["", *"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()]
    units += "sixteen seventeen eighteen nineteen".split()
    tens = ["", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split()]
    if number < 20:
        return units[number]
    if number < 100:
        return tens[number // 10] + (f"-{units[number % 10]}" if number % 10 else "")
    if number < 1_000:
        rest = _words(number % 100) if number % 100 else ""
        return f"{units[number // 100]} hundred" + (f" and {rest}" if rest else "")
    rest = _words(number % 1_000) if number % 1_000 else ""
    return f"{_words(number // 1_000)} thousand {rest}".strip()
