"""Plain text, Markdown and HTML as blocks of plain text: nothing is executed, fetched or rendered."""

import codecs
import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from metrics.text.chunks import Block
from metrics.text.patterns import MARKUP

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
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
LEFT_OUT = frozenset("head nav template noscript svg select button iframe object".split())
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html "
    "main ol p pre section summary table tbody td tfoot th thead tr ul li br title".split()
)
SAME_ROW = frozenset(("td", "th"))
TITLE = re.compile(r"<title\b[^<>]{0,500}>([^<]{0,2000})", re.IGNORECASE)


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


def html_blocks(text: str) -> tuple[str, list[Block]]:
    """Return the title ("" where there is none) and the visible text, block by block; list items and rows are lines.

    Left out: scripts, styles, comments, navigation, and what is no text.
    """
    titled = TITLE.search(text)
    blocks: list[Block] = []
    words: list[str] = []
    lines: list[str] = []  # of the list or table that is being read
    hidden: Counter[str] = Counter()  # open elements whose content is left out

    def end_line() -> None:
        line = _spaced("".join(words))
        words.clear()
        if line.strip(" |-"):
            lines.append(line)

    def end_block(is_heading: bool = False) -> None:
        end_line()
        if lines:
            blocks.append(Block("\n".join(lines), is_heading))
            lines.clear()

    place = 0
    for match in MARKUP.finditer(text):
        if not hidden:
            words.append(html.unescape(text[place : match.start()]))
        place = match.end()
        tag, closing = (match["tag"] or "").lower(), bool(match["end"])
        if tag in LEFT_OUT and not (match["rest"] or "").endswith("/"):
            hidden[tag] += -1 if closing else 1
            if hidden[tag] <= 0:
                del hidden[tag]
        elif tag == "body":  # a head that is not closed ends here
            del hidden["head"]
        if hidden:
            continue
        if tag in SAME_ROW:
            words.append(" | " if not closing and _spaced("".join(words)) else " ")
        elif tag == "li" and not closing:
            end_line()
            words.append("- ")
        elif tag in ("li", "tr", "br", "dt", "dd"):
            end_line()
        elif tag in BLOCKS:
            end_block(is_heading=closing and tag in HEADINGS)
    if not hidden:
        words.append(html.unescape(text[place:]))
    end_block()
    return _spaced(html.unescape(titled[1])) if titled else "", blocks


def _spaced(text: str) -> str:
    return " ".join(text.split())
