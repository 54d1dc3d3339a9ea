"""Documents as plain text: each kind of file, and what cannot be read."""

import io
import zipfile

import pytest
import typst

from metrics.ingest.documents import pdf_text, read_documents
from metrics.ingest.documents.plain_text import html_blocks, markdown_blocks, text_blocks
from metrics.text.chunks import Block, Document, chunked
from tests.corpora.pdf_files import pdf
from tests.endless_calls import endless
from tests.questions.question_scenes import write_documents


def printed(*pages: str) -> bytes:
    """A PDF with these pages, typeset."""
    source = "\n#pagebreak()\n".join(pages)
    made = typst.compile(source.encode(), format="pdf")
    assert isinstance(made, bytes)
    return made


def words(blocks: list[Block]) -> list[str]:
    return [("# " if block.is_heading else "") + block.text for block in blocks]


def test_text_is_put_together_where_lines_were_wrapped():
    first = "The heron waits by the water until the night, and then it"
    text = f"{first}\ngoes home to its house at the other end of the long ri-\nver.\n\n- one\n- two\n"
    joined = f"{first} goes home to its house at the other end of the long river."
    assert words(list(text_blocks(text))) == [joined, "- one\n- two"]


@pytest.mark.parametrize(("text", "expected"), [
    ("# A *b* `c` #\n#\n## C# ##\ntext", ["# A b c", "# C#", "text"]),
    ("Title\n=====\n\nSee [the *fee* list](http://x.example/a \"t\").", ["# Title", "See the fee list."]),
    ("---\ntitle: x\n---\nText ![a tower](t.png)\n<!-- hidden -->", ["Text a tower"]),
    ("a\n\n```py\nx = 1\n\ny  = 2\n```\nb", ["a", "x = 1\n\ny  = 2", "b"]),
    ("> quoted\n\n***\n\nsnake_case_name and 2 * 3 * 4", ["quoted", "snake_case_name and 2 * 3 * 4"]),
    ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
    ("~~~\nnever closed", ["never closed"]),
], ids=["heading", "link", "front matter", "code", "rule", "table", "open fence"])  # fmt: skip
def test_markdown_without_its_mark_up(text, expected):
    assert words(list(markdown_blocks(text))) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("<p>a<b>b</b> c<script>x()</script><p>d", ["ab c", "d"]),
    ("<head><style>p{}</style><body><p>&lt;b&gt; &#x41;", ["<b> A"]),
    ("<svg><text>no</text></svg>yes<template><p>no</template>", ["yes"]),
    ("<p " * 20_000, []),
    ("a < b and c > d", ["a < b and c > d"]),
], ids=["inline", "escapes", "hidden", "unfinished tags", "no mark-up"])  # fmt: skip
def test_odd_html(text, expected):
    assert words(html_blocks(text)[1]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`" * 400_000, "# " + "# " * 200_000 + "x", "# " + "#" * 400_000 + "x", "[" * 400_000, "*" * 400_000,
        "<!--" * 100_000, "x" * 60 + ("\n" + "x" * 60) * 20_000, "<svg></nav>" * 100_000, "a\n\n" * 20_000,
        "x" * 2_000_000,
    ],
    ids=[
        "backticks", "closing marks", "hashes", "brackets", "stars", "comments", "wrapped lines", "elements",
        "paragraphs", "one word",
    ],
)  # fmt: skip
def test_hostile_texts_take_linear_time(text):
    """Quadratic time would take hours, and the test's time limit ends it."""
    for blocks in (markdown_blocks(text), text_blocks(text), html_blocks(text)[1]):
        document = Document("a.md", "A", tuple(blocks))
        assert all(len(chunk.text) <= 1_000 for chunk in chunked(document, 1_000))


def test_a_pdf_is_read_page_by_page_within_limits(tmp_path, monkeypatch):
    (tmp_path / "rules.pdf").write_bytes(printed("The library opens at nine.", "A late book costs two crowns."))
    (document,) = read_documents([tmp_path / "rules.pdf"]).documents
    assert [(block.text, block.page) for block in document.blocks] == [
        ("The library opens at nine.", 1), ("A late book costs two crowns.", 2),
    ]  # fmt: skip
    assert document.title == "rules"
    content = printed("One page of text.", "Another page.")
    monkeypatch.setattr(pdf_text, "MOST_PAGES", 1)
    assert pdf_text.extracted(content) == "2 pages, more than 1"
    monkeypatch.setattr(pdf_text, "MOST_PAGES", 2)
    monkeypatch.setattr(pdf_text, "MOST_CHARACTERS", 20)
    assert pdf_text.extracted(content) == "more than 20 characters of text"


def test_a_pdf_that_takes_too_long_is_left_alone(monkeypatch):
    monkeypatch.setattr(pdf_text, "extracted", endless)
    monkeypatch.setattr(pdf_text, "MOST_SECONDS", 0.5)
    with pytest.raises(ValueError, match=r"not read within 0\.5 s"):
        pdf_text.pdf_pages(b"%PDF")


def test_a_folder_with_those_below_and_a_zip_are_read_alike(tmp_path):
    folder = write_documents(tmp_path / "docs")
    (folder / "old").mkdir()
    (folder / "old" / "note.txt").write_text("A note.")
    (folder / ".hidden.txt").write_text("no")
    read = read_documents([folder])
    names = [document.name for document in read.documents]
    assert names == ["brewery.html", "history.txt", "library.md", "old/note.txt"]
    assert (read.problems, read.others) == ((), {".svg": 1})
    assert [document.title for document in read.documents][:3] == ["Old Brewery", "history", "Riverside Library"]
    packed = tmp_path / "docs.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for document in read.documents:
            archive.write(folder / document.name, document.name)
    assert read_documents([packed]).documents == read.documents


def test_all_problems_are_listed_and_the_others_read(tmp_path):
    contents = {
        "binary.txt": b"a\0b", "latin.txt": "é".encode("latin-1"), "blank.md": b" \n", "broken.pdf": b"%PDF-1.7 no",
        "locked.pdf": pdf(b"(a) Tj", password="x"), "scan.pdf": pdf(b""), "good.txt": "é".encode("utf-16"),
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    read = read_documents([tmp_path, tmp_path / "no.txt", tmp_path / "good.txt"])
    assert [(document.name, document.blocks[0].text) for document in read.documents] == [("good.txt", "é")]
    found = {problem.file: problem.found for problem in read.problems}
    assert found.pop("broken.pdf").startswith("a damaged PDF (")
    assert found == {
        "binary.txt": "a binary file", "latin.txt": "bytes that are no text at position 0", "blank.md": "no text",
        "locked.pdf": "a PDF behind a password", "scan.pdf": "a PDF without text; its pages may be scanned pictures",
        "no.txt": "no such file or folder", "good.txt": "the same name twice",
    }  # fmt: skip


def test_a_zip_that_leaves_its_folder_or_a_file_of_another_kind_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../up.txt", "up")
        archive.writestr("in.zip", "x")
    (tmp_path / "bad.zip").write_bytes(buffer.getvalue())
    (tmp_path / "picture.png").write_bytes(b"x")
    problems = read_documents([tmp_path / "bad.zip", tmp_path / "picture.png"]).problems
    assert any("a path that leaves the archive" in problem.found for problem in problems)
    assert any("an archive in the archive" in problem.found for problem in problems)
    assert problems[-1].found == "the ending '.png'"
