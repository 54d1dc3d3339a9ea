"""HTML as blocks of plain text: nothing is executed, fetched or rendered."""

import html
import re
from collections import Counter

from metrics.text.chunks import Block
from metrics.text.patterns import MARKUP

HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
LEFT_OUT = frozenset("head nav template noscript svg select button iframe object".split())
BLOCKS = HEADINGS | frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr html "
    "main ol p pre section summary table tbody td tfoot th thead tr ul li br title".split()
)
SAME_ROW = frozenset(("td", "th"))
TITLE = re.compile(r"<title\b[^<>]{0,500}>([^<]{0,2000})", re.IGNORECASE)


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
