"""How a judge read long texts and what became of its quotes, in words."""

from metrics.presentation.judge_notes import quotes_text, reading_text


def test_reading_text():
    assert reading_text({"model": "m"}) == reading_text({"notes": {}}) == ""
    notes = {"context_batches": 12, "duplicates": 1_380, "text_parts": 35, "of a later version": 3}
    assert reading_text({"notes": notes}) == (
        "Long texts: listed in 35 parts · 1,380 repeated items counted once · contexts asked about in 12 batches"
    )


def test_quotes_text():
    assert [quotes_text(*counts) for counts in ((0, 0), (9, 0), (1, 1), (15, 2))] == [
        "", "", "1 of 1 quote not found", "2 of 15 quotes not found",
    ]  # fmt: skip
