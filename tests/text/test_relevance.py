"""Likeness by shared words: BM25 against an independent computation, order, scripts without spaces."""

import math

import pytest

from metrics.text.shared_words import by_likeness, likeness, terms

PASSAGES = ["The mill was built in 1502.", "The bridge over the river Oos.", "Herons nest on the mill, on the mill."]


def test_bm25_with_worked_numbers() -> None:
    """'mill oos': mill in 2 of 3 passages, idf ln(1 + 1.5/2.5); oos in 1, idf ln(1 + 2.5/1.5); lengths 6, 6, 8."""
    mill, oos = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    short, long = 1.2 * (0.25 + 0.75 * 6 / (20 / 3)), 1.2 * (0.25 + 0.75 * 8 / (20 / 3))
    scores = [mill * 2.2 / (1 + short), oos * 2.2 / (1 + short), mill * 2 * 2.2 / (2 + long)]
    assert likeness(PASSAGES, ["Mill, Oos?"]) == pytest.approx([score / max(scores) for score in scores])


def test_each_query_counts_alike() -> None:
    assert by_likeness(PASSAGES, ["What nests?", "the river Oos"])[0] == 1
    assert sorted(by_likeness(PASSAGES, ["Oos", "1502"])[:2]) == [0, 1]


@pytest.mark.parametrize("queries", [[], [""], ["zebra"]])
def test_without_a_shared_word_the_order_stays(queries: list[str]) -> None:
    assert (likeness(PASSAGES, queries), by_likeness(PASSAGES, queries)) == ([0.0, 0.0, 0.0], [0, 1, 2])
    assert by_likeness([], queries) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ｍill’s 3.5", ["mill", "s", "3", "5"]), ("水車", ["水", "水車", "車"]), ("mill水", ["mill", "水"]),
        ("水mill", ["水", "mill"]), ("한국 사람", ["한국", "사람"]), ("—", []),
    ],
    ids=["words", "pairs of characters", "two scripts", "the other way round", "Korean has spaces", "nothing"],
)  # fmt: skip
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_chinese_passages() -> None:
    assert by_likeness(["这座桥很长。", "水车建于一五零二年。"], ["水车是什么时候建的？"]) == [1, 0]
