"""Documents as plain text, and their chunks: passages of bounded length that end where a sentence ends."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from metrics.text.sentences import sentences

SIZE = 1_200  # characters of a chunk: about 250 tokens of English, what the bundled embedding model reads
LEAST_SIZE = 100
NEW_SECTION = 3  # a heading begins a new chunk where the current one is at least 1/NEW_SECTION full
PARAGRAPHS = "\n\n"
BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
HEADING = re.compile(r"#{1,6} [^\n]*")  # as Markdown writes it, the only heading that a plain text shows for sure


class Block(NamedTuple):
    """A paragraph, list, table or heading of a document; `page` counts from 1, None where there are no pages."""

    text: str
    is_heading: bool = False
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document as plain text; `name` is the file's, unique among the documents read together."""

    name: str
    title: str
    blocks: tuple[Block, ...]

    @property
    def characters(self) -> int:
        """The characters of all blocks."""
        return sum(len(block.text) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: `id` is `name#number`, numbered from 1; `heading` the one it stands under, or ""."""

    id: str
    document: str
    title: str
    heading: str
    text: str
    first_page: int | None = None
    last_page: int | None = None

    @property
    def place(self) -> str:
        """Where the passage stands, in words: title, heading, page."""
        parts = [self.title, self.heading if self.heading != self.title else ""]
        if self.first_page is not None:
            last = "" if self.last_page == self.first_page else f"–{self.last_page}"
            parts.append(f"page {self.first_page}{last}")
        return ", ".join(part for part in parts if part)


class _Piece(NamedTuple):
    """A block or a part of one; `gap` is what stands before it."""

    text: str
    gap: str
    block: Block


def chunked(document: Document, size: int = SIZE) -> tuple[Chunk, ...]:
    """Return the document's text in order as chunks of at most `size` characters; no word is lost.

    Blocks are put together while they fit. A block that is too long is divided after sentences, a sentence that is too
    long after words, and a word that is too long anywhere. A heading begins a new chunk, unless the current one is
    short, and stays with what follows it.
    """
    if size < LEAST_SIZE:
        raise ValueError(f"a chunk has at least {LEAST_SIZE} characters, not {size}")
    groups: list[list[_Piece]] = [[]]
    length = 0  # of the last group
    for piece in (piece for block in document.blocks for piece in _pieces(block, size)):
        group = groups[-1]
        new_section = piece.block.is_heading and length >= size // NEW_SECTION
        if group and (new_section or length + len(piece.gap) + len(piece.text) > size):
            headings: list[_Piece] = []
            while len(group) > 1 and group[-1].block.is_heading:
                headings.insert(0, group.pop())
            if len(_joined([*headings, piece])) > size:
                group += headings
                headings = []
            groups.append(headings)
            length = len(_joined(headings))
        length += (len(piece.gap) if groups[-1] else 0) + len(piece.text)
        groups[-1].append(piece)
    return tuple(_chunks(document, [group for group in groups if group]))


def passages(text: str, size: int = SIZE) -> tuple[Chunk, ...]:
    """Return a plain text in order as chunks of at most `size` characters, as chunked() does; blank lines part blocks.

    A text that fits is one chunk, unchanged; a blank one is none.
    """
    if not text.strip():
        return ()
    if len(text) <= size:
        return (Chunk("#1", "", "", "", text),)
    paragraphs = (paragraph for paragraph in BLANK_LINES.split(text) if paragraph.strip())
    blocks = tuple(Block(paragraph, HEADING.fullmatch(paragraph.strip()) is not None) for paragraph in paragraphs)
    return chunked(Document("", "", blocks), size)


def _chunks(document: Document, groups: Sequence[Sequence[_Piece]]) -> Iterator[Chunk]:
    heading = ""
    for number, group in enumerate(groups, 1):
        if group[0].block.is_heading:
            heading = group[0].text
        pages = [piece.block.page for piece in group if piece.block.page is not None]
        first, last = (min(pages), max(pages)) if pages else (None, None)
        text = _joined(group)
        yield Chunk(f"{document.name}#{number}", document.name, document.title, heading, text, first, last)
        heading = next((piece.text for piece in reversed(group) if piece.block.is_heading), heading)


def _joined(pieces: Sequence[_Piece]) -> str:
    return "".join(("" if place == 0 else piece.gap) + piece.text for place, piece in enumerate(pieces))


def _pieces(block: Block, size: int) -> Iterator[_Piece]:
    """Yield the block, or the parts of one that is too long, each of at most `size` characters."""
    gap = PARAGRAPHS
    if len(block.text) <= size:
        if block.text.strip():
            yield _Piece(block.text.strip(), gap, block)
        return
    for sentence in _sentences(block.text):
        for part in _bounded(sentence, size):
            text = part.strip()
            if text:
                yield _Piece(text, gap, block)
                gap = "\n" if part.endswith("\n") else " " if part[-1].isspace() else ""


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences with the white space that follows them; together they are the text."""
    start = end = 0
    for sentence in sentences(text):
        begin = text.find(sentence, end)
        if begin < 0:  # the sentence was rewritten, such as its white space: it stays with the one before
            continue
        if end:
            yield text[start:begin]
            start = begin
        end = begin + len(sentence)
    yield text[start:]


def _bounded(text: str, size: int) -> Iterator[str]:
    """Yield parts of at most `size` characters, divided after white space where there is any."""
    start, end = 0, len(text.rstrip())
    while end - start > size:
        ends = [match.end() for match in re.finditer(r"\s+", text[start : start + size + 1])]
        cut = next((end for end in reversed(ends) if end <= size), size)
        yield text[start : start + cut]
        start += cut
    yield text[start:]
