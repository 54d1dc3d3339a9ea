"""Reading documents from files, folders and zips, with every problem listed and every limit checked."""

import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from metrics.core.errors import InputProblem
from metrics.ingest.documents.pdf_text import pdf_pages
from metrics.ingest.documents.plain_text import decoded, html_blocks, markdown_blocks, text_blocks
from metrics.ingest.media.archive import UNREADABLE, Entry, open_entries
from metrics.text.chunks import Block, Document

KINDS = {
    ".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".pdf": "pdf",
}  # fmt: skip
ENDINGS = tuple(KINDS)
EXPECTED = "text, Markdown, HTML or PDF: " + ", ".join(ENDINGS)
MOST_DOCUMENTS = 5_000
MOST_BYTES = 50 << 20  # of one document
MOST_CHARACTERS = 50_000_000  # of all documents
LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """The documents that could be read, a problem for each that could not, and how many files of other kinds there are.

    `others` counts those by their ending.
    """

    documents: tuple[Document, ...]
    problems: tuple[InputProblem, ...]
    others: Mapping[str, int]


def read_documents(places: Iterable[str | Path], names: Mapping[Path, str] | None = None) -> ReadDocuments:
    """Return the documents in files, folders (with those below) and zips; `names` shows another name for a place.

    Hidden files and files of other kinds are passed over; a file that is named itself must be a document.
    """
    shown = names or {}
    documents: dict[str, Document] = {}
    problems: list[InputProblem] = []
    others: Counter[str] = Counter()
    left = MOST_CHARACTERS

    def take(entry: Entry, name: str) -> None:
        nonlocal left
        if name in documents:
            problems.append(InputProblem(name, "the same name twice", "documents with names of their own"))
            return
        try:
            found = _document(entry, name)
        except (*UNREADABLE, RecursionError) as failure:
            problems.append(InputProblem(name, str(failure) or type(failure).__name__, EXPECTED))
            return
        left -= found.characters
        if left < 0 or len(documents) >= MOST_DOCUMENTS:
            limits = f"at most {MOST_DOCUMENTS:,} documents of {MOST_CHARACTERS:,} characters together"
            problems.append(InputProblem(name, "more text than is read at once", limits))
            return
        documents[name] = found

    for place in map(Path, places):
        name = shown.get(place, place.name)
        if place.is_dir() or (place.is_file() and zipfile.is_zipfile(place)):
            before = len(problems)
            try:
                with open_entries(place, name, problems) as entries:
                    for entry in entries if len(problems) == before else ():  # of an unsafe zip nothing is read
                        if entry.suffix in KINDS and not entry.hidden:
                            take(entry, entry.name)
                        elif not entry.hidden:
                            others[entry.suffix or "no ending"] += 1
            except UNREADABLE as failure:
                problems.append(InputProblem(name, str(failure), "a folder or a zip of documents"))
        elif not place.is_file():
            problems.append(InputProblem(name, "no such file or folder", EXPECTED))
        elif PurePosixPath(name).suffix.lower() not in KINDS:
            problems.append(InputProblem(name, f"the ending {place.suffix!r}", EXPECTED))
        else:
            take(Entry(name, place.stat().st_size, lambda place=place: place.open("rb")), name)  # type: ignore[misc]
    return ReadDocuments(tuple(documents.values()), tuple(problems), dict(others))


def _document(entry: Entry, name: str) -> Document:
    """Return the document; ValueError where it cannot be read or has no text."""
    if entry.size > MOST_BYTES:
        raise ValueError(f"{entry.size:,} bytes, more than {MOST_BYTES:,}")
    content = entry.read()
    kind = KINDS[PurePosixPath(name).suffix.lower()]
    title, blocks = "", list[Block]()
    if kind == "pdf":
        blocks = [block for number, page in enumerate(pdf_pages(content), 1) for block in text_blocks(page, number)]
    elif kind == "html":
        title, blocks = html_blocks(decoded(content))
    elif kind == "markdown":
        blocks = list(markdown_blocks(decoded(content)))
    else:
        blocks = list(text_blocks(decoded(content)))
    if not blocks:
        raise ValueError("no text")
    stem = PurePosixPath(name).stem
    title = title or next((block.text for block in blocks if block.is_heading), stem)
    return Document(name, title[:LONGEST_TITLE], tuple(blocks))
