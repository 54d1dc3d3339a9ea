"""Verbatim quotes: found as they stand in a text, whatever marks and forms the quoting person used."""

import pytest

from metrics.text import shared_words
from metrics.text.shared_words import quoted, quoted_in

KOREAN = "\u1112\u1161\u11ab\u1100\u116e\u11a8"  # 한국, letter by letter
MILL = "The mill\nwas **built** in 1502.  “Its wheel is of oak”, they say – and heavy."


@pytest.mark.parametrize(("quote", "found"), [
    ("A late  book\ncosts", "A late book\n  costs"), ("“a LATE book costs two.”", "A late book\n  costs two."),
    ("A late book.", "A late book"), ("an early book", ""), ("", ""), (" … ", ""), ("two (2)", "two (2)"),
], ids=["white space", "marks and case", "a part", "absent", "empty", "only marks", "signs of patterns"])  # fmt: skip
def test_a_quote_is_found_as_it_stands(quote: str, found: str) -> None:
    assert quoted(quote, "A late book\n  costs two. Or two (2).") == found


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("the mill was built", MILL, "The mill\nwas **built"),
        ('"Its wheel is of oak"', MILL, "Its wheel is of oak"),
        ("of oak', they say - and", MILL, "of oak”, they say – and"),
        ('of oak", they say - and', MILL, "of oak”, they say – and"),
        ("don't", "I don’t.", "don’t"), ("cafe\u0301 noir", "Café noir", "Café noir"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width", "full width"), ("ﬁne", "It is fine.", "fine"),
        ("hyphen", "hy\u00adphen\u200b", "hy\u00adphen"), ("STRASSE", "die Straße", "Straße"),
        ("水車は", "その水車は古い。", "水車は"), ("한국", KOREAN, KOREAN),
        ("in 1503", MILL, ""), ("a" * 50, "a" * 49, ""), ("?!", "What?!", ""),
    ],
    ids=[
        "white space, emphasis", "quotation marks", "another mark", "marks within", "apostrophe", "accent in two parts",
        "wide forms", "ligature", "invisible hyphens", "sharp s", "Japanese", "Korean in parts", "another number",
        "longer", "only marks",
    ],
)  # fmt: skip
def test_forms_of_characters_may_differ_words_may_not(quote: str, text: str, found: str) -> None:
    assert quoted(quote, text) == found


@pytest.mark.parametrize(
    ("quote", "pieces"),
    [
        ("built in 1502 … of oak", ("built** in 1502", "of oak")), ("built [...] heavy", ("built", "heavy")),
        ("built in 1502 (…) of iron", ()), ("…the mill...", ("The mill",)), ("Berlin", ("Berlin",)),
        ("The mill ... Berlin", ("The mill", "Berlin")), ("", ()), ("…", ()),
    ],
    ids=["joined", "in brackets", "one is absent", "at the ends", "second text", "in two texts", "empty", "only dots"],
)  # fmt: skip
def test_every_piece_stands_in_a_text(quote: str, pieces: tuple[str, ...]) -> None:
    assert quoted_in(quote, [MILL, "Berlin is far."]) == pieces


REPORT = [
    "The mill was built in 1502, of oak.\n\n*Its wheel* turned until 1890 — when the river, the “Old Rhône”"
    ', dried up.  Prof. Müller’s report (p. 5) says: "It cost 4,000 florins"; that’s 3½ times more than p'
    "lanned.\n\n- First item: flour\n- Second item: oil\n\n| City | Pop |\n|---|---|\n| Rome | 2.8 |\n\nSee [the a"
    "rchive](https://x.org/a) for `code_name` and H₂O. The end...\nA co-\noperative owned it at -5 °C – 10 "
    "°C. [1] The tax was raised.[2] Then it fell."
]
THERE = (
    "the mill was built in 1502, of oak. Its wheel turned", "turned until 1890 -- when the river",
    "1890—when the river", "the 'Old Rhône', dried up", "the «Old Rhône», dried up", "the „Old Rhône“, dried up",
    "Prof. Müller's report (p. 5)", "that´s 3½ times more", "First item: flour Second item: oil",
    "* First item: flour\n* Second item: oil", "Rome | 2.8", "See the archive for",
    "See [the archive](https://x.org/a) for", "`code_name`", "H2O", "The end.", "A co-operative owned it",
    "-5°C – 10°C", "**Its wheel** turned", "> Its wheel turned until 1890", "The tax was raised. Then it fell.",
    "[1] The tax was raised", "[The mill] was built in 1502", "<q>The mill</q>",
    "the mill was built in 1502 . . . of oak", "The mill was built in 1502, ..., of oak",
    "The mill was built  in 1502 ,of oak", "Context 1: The mill was built in 1502", "1. The mill was built in 1502",
    "“The mill was built in 1502” and “It cost 4,000 florins”",
    '"The mill was built in 1502", "It cost 4,000 florins"',
)  # fmt: skip
NOT_THERE = (
    "The mill was built in 1503", "The mill was built in 150", "The mill was made in 1502", "The windmill was built",
    "he mill was built", "The mill was not built", "It cost 4000 guilders", "It cost 4,001 florins", "It cost 4",
    "Its wheels turned", "The mill … of iron", "Prof. Miller's report", "H3O", "Rome | 2.9", "Rome | 2", "Rome | 28",
    "The tax was lowered", "at 5 °C", "at -5 °F", "The mill was built in 1502” and “It cost 5,000 florins",
    "Then it fel", "wheel it turned",
)  # fmt: skip


@pytest.mark.parametrize("quote", THERE)
def test_what_a_person_would_find_is_found(quote: str) -> None:
    assert quoted_in(quote, REPORT)


@pytest.mark.parametrize("quote", NOT_THERE)
def test_other_words_and_numbers_are_not(quote: str) -> None:
    assert quoted_in(quote, REPORT) == ()


def test_many_quotes_of_a_long_text_read_it_once() -> None:
    text = " ".join(f"Fact {number} holds." for number in range(20_000))
    shared_words._plain.cache_clear()
    for number in range(0, 20_000, 400):
        assert quoted_in(f"fact {number} holds", [text]) == (f"Fact {number} holds",)
    assert shared_words._plain.cache_info().misses == 1 + 50
