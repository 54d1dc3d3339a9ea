"""Numbers in texts: equal numbers are equal however they are written."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from metrics.text.stated_numbers import unstated

CORPUS = Path(__file__).parent.parent / "corpora" / "number_pairs.tsv"  # claims and texts, and whether they agree
PAIRS = [line.split("\t") for line in CORPUS.read_text(encoding="utf-8").splitlines()[1:]]
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
    assert unstated(one, other) == unstated(other, one) == []


@pytest.mark.parametrize(("claim", "text"), [(claim, text) for stated, claim, text in PAIRS if stated == "yes"])
def test_no_number_of_the_corpus_is_wrongly_called_missing(claim: str, text: str) -> None:
    assert unstated(claim, text) == []


def test_nearly_every_other_number_of_the_corpus_is_found() -> None:
    others = [(claim, text) for stated, claim, text in PAIRS if stated == "no"]
    overlooked = [pair for pair in others if not unstated(*pair)]
    assert len(overlooked) / len(others) < 0.04, overlooked  # what may mean several things


@pytest.mark.parametrize(("claim", "text", "missing"), [
    ("14 men", "four men", ["14"]), ("in 1984", "in 1983", ["1984"]), ("3 million", "3 thousand", ["3 million"]),
    ("World War II", "World War I", ["II"]), ("12 March 1908", "3 July 1908", ["12 March"]),
    ("nineteen men and 8 dogs", "ninety men and 7 cats", ["nineteen", "8"]),
    ("two dozen", "a dozen", ["two dozen"]), ("half of them", "a quarter of them", ["half"]),
    ("one of us", "some of us", []),  # counts nothing
    ("1 of us", "some of us", ["1"]),
    ("I may go by car; he may not. MIX and CD are words, the score is even.", "", []),
    ("10²", "10", []),
])  # fmt: skip
def test_another_number_is_named_as_it_is_written(claim: str, text: str, missing: list[str]) -> None:
    assert unstated(claim, text) == missing


@pytest.mark.parametrize(
    "text",
    ["1 " * 2_000, "12-" * 2_000, "九" * 2_000, "9" * 2_000, "a million " * 1_000, "1/0 0/0 0/5 99/99/9999 24:99"],
)
def test_any_text_can_be_read(text: str) -> None:
    assert unstated(text, text) == []
    assert isinstance(unstated(text, "7"), list)


@given(st.text())
def test_a_text_states_its_own_numbers(text: str) -> None:
    assert unstated(text, text) == []


PIECES = (
    "at most;up to;more than;about;minus;5;3.5;1,200;half;a quarter;past;to;of;out of;ft;';in;pm;o'clock;million;k;%;$;"
    "km;h;min;weeks;1980s;the;second;21st;century;May;1999;10:30;0;1/2;1/0;½;and a half;dozen;XIV;–;一百二十;°C;ten;+"
).split(";")


@given(st.lists(st.sampled_from(PIECES), max_size=9), st.lists(st.sampled_from(PIECES), max_size=9))
def test_any_mixture_of_numbers_can_be_read(one: list[str], other: list[str]) -> None:
    text = " ".join(one)
    assert unstated(text, text) == []
    assert isinstance(unstated(text, " ".join(other)), list)


@given(st.integers(2, 10**9))
def test_grouping_changes_nothing(number: int) -> None:
    assert unstated(f"about {number:,} of them", str(number)) == unstated(str(number), f"{number:,}") == []
    assert unstated(str(number), str(number + 1)) == [str(number)]


@given(st.integers(2, 999_999))
def test_words_and_digits_are_one_number(number: int) -> None:
    words = _words(number)
    assert unstated(words, f"{number}") == unstated(f"{number}", words) == [], words
    assert unstated(words, f"{number + 1}") == [words]


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
