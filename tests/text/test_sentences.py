"""Sentences in several scripts, and in time."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from metrics.text.sentences import sentences


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("", [], id="empty"),
    pytest.param(" \n\t\n", [], id="white-space"),
    pytest.param("no full stop", ["no full stop"], id="no-stop"),
    pytest.param("Dr. Who paid 3.50. Why? No!", ["Dr. Who paid 3.50.", "Why?", "No!"], id="abbreviation-decimal"),
    pytest.param("- one\n- two\n\nThree. Four", ["- one", "- two", "Three.", "Four"], id="lines"),
    pytest.param("今天很好。走吧！好吗？", ["今天很好。", "走吧！", "好吗？"], id="chinese"),
    pytest.param("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"], id="closing-quote"),
    pytest.param("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"], id="hindi"),
    pytest.param("هل هذا سؤال؟ نعم.", ["هل هذا سؤال؟", "نعم."], id="arabic"),
    pytest.param("Mixed. 今天很好。Then this.", ["Mixed.", "今天很好。", "Then this."], id="mixed"),
])  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


TABLE = Path(__file__).parent.parent / "corpora" / "sentences.txt"  # texts with | between their sentences


@pytest.mark.parametrize("line", TABLE.read_text(encoding="utf-8").splitlines())
def test_table_of_sentences(line: str) -> None:
    assert sentences(line.replace("|", "")) == [part.strip() for part in line.split("|")]


@given(st.text(max_size=200))
def test_no_character_is_lost_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
