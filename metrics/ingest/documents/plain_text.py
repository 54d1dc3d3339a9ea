"""Plain text and Markdown as blocks."""

import codecs
import re
from collections.abc import Iterable, Iterator

from metrics.text.chunks import Block

WRAPPED = 50  # characters from which a line counts as wrapped, so that the next one continues it
ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|\|)\s")
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s+(.*))?")
CLOSING = re.compile(r"(?:^|\s)#+$")
UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{3,})\s*")
RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n.{0,20000}?\n---[ \t]*\n", re.DOTALL)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\[\]]{0,1000}+)\]\([^()\s]{0,2000}+(?:\s+\"[^\"]{0,500}+\")?\)")
REFERENCE = re.compile(r"^\s{0,3}\[[^\[\]]{1,200}\]:\s+\S+.*$", re.MULTILINE)
EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?!\w)")
CODE = re.compile(r"(?<!`)(`{1,9}+)(?!`)([^`\n]{1,1000}+)\1(?!`)")


def decoded(content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte-order mark; ValueError where it is neither."""
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as failure:
        raise ValueError(f"bytes that are no text at position {failure.start:,}") from None
    if "\0" in text:
        raise ValueError("a binary file")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")


def text_blocks(text: str, page: int | None = None) -> Iterator[Block]:
    """Yield the paragraphs, which blank lines part; wrapped lines are put together again."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if paragraph.strip():
            yield Block(unwrapped(paragraph.splitlines()), page=page)


def unwrapped(lines: Iterable[str]) -> str:
    """Return lines as a text in which wrapped lines are one again, and hyphenated words whole."""
    made: list[str] = []  # lines, and what stands between them
    before = ""
    for line in (line.strip() for line in lines):
        if not made:
            made = [line]
        elif len(before) < WRAPPED or ITEM.match(line):
            made += ["\n", line]
        elif before.endswith("-") and before[-2:-1].isalpha() and line[:1].islower():
            made[-1] = made[-1][:-1]
            made.append(line)
        else:
            made += [" ", line]
        before = line
    return "".join(made).strip()


def markdown_blocks(text: str) -> Iterator[Block]:
    """Yield headings, paragraphs and code of a Markdown text, without mark-up; a link is its text."""
    text = REFERENCE.sub("", COMMENT.sub("", FRONT_MATTER.sub("", text)))
    paragraph: list[str] = []
    fence = ""  # the characters that close the code block that we are in

    def taken(is_heading: bool = False) -> Iterator[Block]:
        content = unwrapped(paragraph)
        paragraph.clear()
        if content:
            yield Block(plain(content), is_heading)

    for line in text.splitlines():
        opened = FENCE.match(line)
        if fence or opened:
            if fence and line.strip().startswith(fence):
                if paragraph:
                    yield Block("\n".join(paragraph))
                    paragraph.clear()
                fence = ""
            elif fence:
                paragraph.append(line)
            elif opened:
                yield from taken()
                fence = opened[1]
        elif found := HEADING.fullmatch(line):
            yield from taken()
            if title := CLOSING.sub("", (found[1] or "").strip()).strip():
                yield Block(plain(title), True)
        elif UNDERLINE.fullmatch(line) and len(paragraph) == 1 and not ITEM.match(paragraph[0]):
            yield from taken(is_heading=True)
        elif not line.strip() or RULE.fullmatch(line):
            yield from taken()
        else:
            paragraph.append(re.sub(r"^\s{0,3}>\s?", "", line))
    if fence and any(line.strip() for line in paragraph):
        yield Block("\n".join(paragraph))
    else:
        yield from taken()


def plain(text: str) -> str:
    """Return Markdown without the mark-up within lines."""
    return CODE.sub(r"\2", EMPHASIS.sub(r"\2", LINK.sub(r"\1", text)))
