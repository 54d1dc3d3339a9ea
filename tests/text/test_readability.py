"""Counts and formulas of readability, by hand and by textstat's numbers."""

import pytest

from metrics.text.readability import TextCounts, is_complex, readability, syllables, text_counts


@pytest.mark.parametrize(("word", "count"), [
    ("the", 1), ("table", 2), ("make", 1), ("makes", 1), ("boxes", 2), ("matches", 2), ("walked", 1), ("wanted", 2),
    ("settled", 2), ("lonely", 2), ("movement", 2), ("idea", 3), ("created", 3), ("science", 2), ("nation", 2),
    ("various", 3), ("video", 3), ("people", 2), ("actual", 3), ("quality", 3), ("doing", 2), ("tourism", 3),
    ("didn't", 2), ("don't", 1), ("well-known", 2), ("naïve", 1), ("eye", 1), ("1889", 1), ("rhythm", 2),
    ("communication", 5), ("responsibility", 6), ("University", 5),
])  # fmt: skip
def test_syllables_by_the_spelling(word: str, count: int) -> None:
    assert syllables(word) == count


def test_endings_do_not_make_a_word_complex() -> None:
    assert not is_complex("trespasses")
    assert not is_complex("created")
    assert is_complex("communicated")
    assert is_complex("elephant")


def test_counts_of_a_text() -> None:
    counts = text_counts("- One item\n\nIt's well-known: the elephant, created in 1889, is 3.5 m tall. Why?")
    assert counts == TextCounts(3, 14, 55, 20, 2, 1)
    assert text_counts("… !") is None


@pytest.mark.parametrize(("counts", "indices"), [
    (TextCounts(2, 15, 50, 16, 0, 0), (108.9825, -0.07833333, 3.0, 3.1291, -0.14666667, -1.98)),
    (TextCounts(6, 105, 500, 168, 19, 12), (53.7125, 10.115, 11.57142857, 13.29500650, 10.50857143, 9.74857143)),
])  # fmt: skip
def test_formulas_of_counts(counts: TextCounts, indices: tuple[float, ...]) -> None:
    """textstat 0.7.13 gives these for the same counts, Coleman–Liau's with .0588 for its .058; so for 500 others."""
    assert readability(counts) == pytest.approx(indices, abs=1e-6)
