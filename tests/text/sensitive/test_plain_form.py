"""The plain form of a text: what is undone, and that places lead back to the original."""

import pytest
from hypothesis import given, strategies as st

from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.spans import Finding


@pytest.mark.parametrize(("written", "plain"), [
    ("４５３９", "4539"), ("ｊａ＠ａ．ｃｏ", "ja@a.co"), ("45\u200b39\u00ad 1", "4539 1"), ("٤٥٣٩", "4539"),
    ("𝟒𝟓", "45"), ("12–34−5", "12-34-5"), ("m² ½ ①", "m² ½ ①"), ("ﬁn", "fin"), ("abc é 中", "abc é 中"), ("", ""),
])  # fmt: skip
def test_what_is_undone(written: str, plain: str) -> None:
    assert PlainForm(written).text == plain


@given(st.text("a1٤ﬁ\u200b４－ é…", max_size=30), st.data())
def test_places_lead_back(text: str, data: st.DataObject) -> None:
    form = PlainForm(text)
    if not form.text:
        return
    start = data.draw(st.integers(0, len(form.text) - 1))
    end = data.draw(st.integers(start + 1, len(form.text)))
    (found,) = form.in_original([Finding("email", start, end)])
    assert 0 <= found.start < found.end <= len(text)
    assert form.text[start:end] in PlainForm(text[found.start : found.end]).text


def test_places_in_a_text_with_letters_that_become_several() -> None:
    form = PlainForm("\u200bﬁ４５ x")
    assert form.text == "fi45 x"
    assert form.in_original([Finding("card", 2, 4), Finding("card", 0, 1)]) == [
        Finding("card", 2, 4),
        Finding("card", 1, 2),
    ]
