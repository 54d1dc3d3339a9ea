"""Pages of PDFs: what counts as drawn, damaged files, and bounded time."""

import random
from contextlib import suppress

import pytest

from metrics.text.agents.artifacts import PdfError, pages
from tests.corpora.pdf_files import pdf

TEXT = b"BT /F1 12 Tf 20 20 Td (Hello) Tj ET"
DRAWN = {
    "text": TEXT, "text in hexadecimal": b"BT <00480065> Tj ET", "text in pieces": b"BT [(He) -20 (llo)] TJ ET",
    "text on the next line": b"BT (Hello) ' ET", "a path filled": b"0 0 10 10 re f*",
    "a path stroked": b"0 0 m 10 10 l S", "an image": b"q 10 0 0 10 0 0 cm /Im1 Do Q",
    "an inline image": b"BI /W 1 /H 1 ID \x00 EI", "a shading": b"/Sh1 sh",
}  # fmt: skip
BLANK = {
    "no operators": None, "state alone": b"q 1 0 0 1 0 0 cm /GS1 gs Q", "text of blanks": b"BT ( ) Tj (\n) Tj <> Tj ET",
    "a string that is never shown": b"(Hello)", "operators inside a string": b"(0 0 10 10 re f S Do)",
    "operators as names": b"/Do /f /S gs", "a path that is only cut by": b"0 0 10 10 re W n",
}  # fmt: skip


@pytest.mark.parametrize("operators", DRAWN.values(), ids=DRAWN.keys())
def test_what_is_drawn(operators: bytes) -> None:
    assert pages(pdf(operators)).blank == ()


@pytest.mark.parametrize("operators", BLANK.values(), ids=BLANK.keys())
def test_what_is_blank(operators: bytes | None) -> None:
    found = pages(pdf(TEXT, operators, TEXT))
    assert (found.count, found.seen, found.blank) == (3, 3, (2,))


def test_an_annotation_is_something() -> None:
    assert pages(pdf(None, note=True)).blank == ()


def test_behind_a_password() -> None:
    assert pages(pdf(TEXT, password="secret")).locked
    assert pages(pdf(TEXT, None, password="")).blank == (2,)


def test_no_more_than_so_many_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.text.agents.artifacts.MOST_PAGES", 2)
    found = pages(pdf(None, TEXT, None))
    assert (found.count, found.seen, found.blank) == (3, 2, (1,))
    monkeypatch.setattr("metrics.text.agents.artifacts.MOST_DRAWN", 10)
    assert pages(pdf(TEXT, None)).seen == 1


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n%%EOF", pdf(TEXT)[:300], b"\0" * 2000], ids=len)
def test_what_is_no_pdf(content: bytes) -> None:
    with pytest.raises(PdfError):
        pages(content)


def test_damaged_files_are_read_or_refused() -> None:
    whole = pdf(TEXT, b"0 0 10 10 re f", None)
    draw = random.Random(11)
    for _ in range(120):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 12)):
            place = draw.randrange(len(damaged))
            piece = draw.choice([b"", b"0", b"9" * 30, b"<<", b"[" * 50, b"R", b"\0", b"/Kids [1 0 R]", b"endobj"])
            damaged[place : place + draw.randint(0, 6)] = piece
        with suppress(PdfError):
            pages(bytes(damaged))
