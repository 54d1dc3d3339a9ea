"""Chunks: nothing lost, order kept, never too long, cut where a sentence ends."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from metrics.text.chunks import LEAST_SIZE, Block, Document, chunked

WORDS = st.text(st.sampled_from("abc .!?\n\t。é"), max_size=400)
BLOCKS = st.lists(st.builds(Block, WORDS, st.booleans(), st.one_of(st.none(), st.integers(1, 9))), max_size=12)


def texts(size: int, *blocks: Block | str) -> list[str]:
    own = tuple(block if isinstance(block, Block) else Block(block) for block in blocks)
    return [chunk.text for chunk in chunked(Document("d.txt", "D", own), size)]


@given(BLOCKS, st.integers(LEAST_SIZE, 300))
def test_no_character_is_lost_or_moved_and_none_is_too_long(blocks: list[Block], size: int) -> None:
    chunks = chunked(Document("d.txt", "D", tuple(blocks)), size)
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join("".join(b.text for b in blocks).split())
    assert all(0 < len(chunk.text) <= size for chunk in chunks)
    assert [chunk.id for chunk in chunks] == [f"d.txt#{number}" for number in range(1, len(chunks) + 1)]


@given(BLOCKS)
def test_two_chunks_that_follow_one_another_do_not_fit_into_one(blocks: list[Block]) -> None:
    plain = tuple(block._replace(is_heading=False) for block in blocks)
    found = [chunk.text for chunk in chunked(Document("d.txt", "D", plain), LEAST_SIZE)]
    assert all(len(one) + 2 + len(other) > LEAST_SIZE for one, other in pairwise(found))


def test_a_long_paragraph_is_cut_after_sentences() -> None:
    sentence = "The heron waits by the water until Dr. Holm has gone home."
    found = texts(130, " ".join([sentence] * 5))
    assert found == [f"{sentence} {sentence}", f"{sentence} {sentence}", sentence]


def test_a_long_sentence_is_cut_after_words_and_a_long_word_anywhere() -> None:
    assert [len(text) for text in texts(100, "x" * 250)] == [100, 100, 50]
    found = texts(100, " ".join(["heron"] * 40))
    assert {word for text in found for word in text.split()} == {"heron"}
    assert [len(text) for text in found] == [95, 95, 47]  # words of five letters and the spaces between them


def test_signs_without_spaces_are_not_parted_by_one() -> None:
    found = texts(100, "今天很好。" * 30)
    assert "".join(found) == "今天很好。" * 30
    assert all(text.endswith("。") for text in found)


def test_a_heading_begins_a_chunk_and_stays_with_what_follows() -> None:
    body = "The library opens at nine o'clock in the morning. " * 2
    blocks = [Block("Hours", True), Block(body), Block("Fees", True), Block("Sub", True), Block(body)]
    document = Document("rules.md", "Rules", tuple(blocks))
    first, second = chunked(document, 140)
    assert (first.heading, second.heading) == ("Hours", "Fees")
    assert second.text.startswith("Fees\n\nSub\n\nThe library")
    assert (first.place, second.place) == ("Rules, Hours", "Rules, Fees")


def test_pages_and_the_heading_that_a_chunk_stands_under_are_known() -> None:
    long = "The library opens at nine o'clock in the morning, on weekdays only. " * 3
    blocks = (Block("Hours", True, 1), Block(long, page=1), Block(long, page=2), Block("Short.", page=3))
    found = chunked(Document("a.pdf", "Rules", blocks), 220)
    facts = [(chunk.heading, chunk.first_page, chunk.last_page) for chunk in found]
    assert (facts, found[1].place) == ([("Hours", 1, 1), ("Hours", 2, 3)], "Rules, Hours, page 2–3")


def test_a_chunk_has_a_least_size() -> None:
    with pytest.raises(ValueError, match="at least 100 characters, not 99"):
        texts(99, "a")
