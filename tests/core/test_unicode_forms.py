"""Normal forms equal those of Python, and take linear time."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from metrics.core import unicode_forms
from metrics.core.unicode_forms import normalized
from metrics.judge.long_texts import distinct
from metrics.judge.reply_text import plain
from metrics.text.conditions import comparable
from metrics.text.languages import detect
from metrics.text.overlap.tokenizers import tokens
from metrics.text.shared_words import terms, words
from metrics.text.stated_numbers import unstated

EVERY = [chr(code) for code in range(0x110000)]
MARKS = [sign for sign in EVERY if unicodedata.combining(sign)]
PARTED = [sign for sign in EVERY if unicodedata.decomposition(sign)] + [*"\uff9e가\u1100\u1161\u11a8"]
SIGNS = st.sampled_from(MARKS) | st.sampled_from(PARTED) | st.sampled_from("aeK 中")
# of the marks above and below a letter, and of signs that become such marks, in the wrong order
DISORDERED = {"marks": "\u0301\u0323", "tibetan": "\u0f73\u0301", "half-width": "\uff9e\u0301"}


@given(st.lists(SIGNS, max_size=20).map("".join))
def test_a_form_is_that_of_python(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unicode_forms, "SHORT", 0)
        assert normalized("NFC", text) == unicodedata.normalize("NFC", text)
        assert normalized("NFKC", text) == unicodedata.normalize("NFKC", text)


@pytest.mark.attack(
    "model", "a letter with 500,000 accents in the wrong order takes minutes to sort", "they are sorted in linear time"
)
@pytest.mark.parametrize("pair", DISORDERED.values(), ids=DISORDERED)
@pytest.mark.parametrize("read", [
    pytest.param(comparable, id="conditions"),
    pytest.param(lambda text: tokens(text, "char"), id="tokens"),
    pytest.param(words, id="words"),
    pytest.param(terms, id="relevance"),
    pytest.param(lambda text: unstated(text, text), id="numbers"),
    pytest.param(lambda text: distinct([text]), id="items"),
    pytest.param(plain, id="labels"),
    pytest.param(detect, id="language"),
])  # fmt: skip
def test_marks_in_the_wrong_order_take_no_time(read: Callable[[str], object], pair: str) -> None:
    begun = time.thread_time()
    read("a" + pair * 60_000)
    assert time.thread_time() - begun < 6  # sorted one by one they take 12
