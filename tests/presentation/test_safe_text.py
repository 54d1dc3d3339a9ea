"""Every text of a report passes one door, which lets nothing through that a file format cannot carry."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from metrics.presentation.safe_text import is_code, is_rtl, safe, shown, shown_tree
from tests.reports.made import made

EVERYTHING = st.text(st.characters(exclude_categories=()))  # also lone surrogates


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("a\x00b\x1b[31m", "a\ufffdb\ufffd[31m", id="control"),
    pytest.param("tab\tline\nend\r\n", "tab\tline\nend\r\n", id="white-space-stays"),
    pytest.param("\ud800 \udfff", "\ufffd \ufffd", id="lone-surrogates"),
    pytest.param("\ufffe\uffff\ufdd0", "\ufffd\ufffd\ufffd", id="non-characters"),
    pytest.param("日本語 العربية 😀", "日本語 العربية 😀", id="scripts-stay"),
])  # fmt: skip
def test_safe(text, expected):
    assert safe(text) == expected


@settings(deadline=None)
@given(EVERYTHING)
def test_safe_text_fits_every_format_and_is_stable(text):
    clean = safe(text)
    assert (clean.encode().decode(), json.loads(json.dumps(clean))) == (clean, clean)
    element = ElementTree.Element("a")
    element.text = clean
    ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert (safe(clean), shown(shown(text))) == (clean, shown(text))


@pytest.mark.parametrize(("text", "limit", "expected"), [
    pytest.param("a" * 10, 10, "a" * 10, id="fits"),
    pytest.param("a" * 11, 10, "a" * 10 + "… [cut: 1 more characters]", id="one-too-many"),
    pytest.param("a" * 100_000, 10, "a" * 10 + "… [cut: 99,990 more characters]", id="huge"),
    pytest.param("a\r\nb\rc", None, "a\nb\nc", id="line-ends"),
    pytest.param("pay \u202e001 $\u202c now", None, "pay 001 $ now", id="direction-overrides"),
])  # fmt: skip
def test_shown(text, limit, expected):
    assert shown(text, limit) == expected


def test_every_text_of_a_report_passes():
    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, tuple):
            return [text for entry in value for text in texts(entry)]
        names = getattr(value, "__dataclass_fields__", {})
        return [text for name in names for text in texts(getattr(value, name))]

    report = made()
    assert any("\x00" in text for text in texts(report))
    cleaned = texts(shown_tree(report))
    assert len(cleaned) == len(texts(report))
    assert all(shown(text) == text for text in cleaned)


@pytest.mark.parametrize(("text", "rtl"), [
    ("العربية", True), ("12 العربية USD", True), ("שלום", True), ("USD العربية", False), ("日本 العربية", False),
    ("12", False), ("", False),
])  # fmt: skip
def test_direction_is_that_of_the_first_strong_letter(text, rtl):
    assert is_rtl(text) is rtl


def test_tree_keeps_the_rest_and_code_is_what_is_indented_throughout():
    assert shown_tree({"k": [1, None, "v\x01"]}) == {"k": [1, None, "v\ufffd"]}
    assert [is_code(text) for text in ("    a = b\n    c = d", "where\n    a = b")] == [True, False]
