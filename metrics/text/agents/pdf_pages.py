"""Pages of a PDF: how many there are, and which are blank. Nothing in the file is executed."""

import io
import logging
import re
from dataclasses import dataclass

MOST_PAGES = 500
MOST_DRAWN = 20_000_000  # bytes of drawing operators, all pages together
STRING = re.compile(rb"\(((?:[^()\\]|\\.)*+)\)", re.DOTALL)
HEXADECIMAL = re.compile(rb"<([0-9A-Fa-f\s]*+)>")
SHOWS = re.compile(rb"(?<![\w/])(?:Tj|TJ|'|\")(?!\w)")  # text
PAINTS = re.compile(rb"(?<![\w/*])(?:Do|EI|sh|[fBb]\*?|F|S|s)(?![\w*])")  # images, shadings, paths
logging.getLogger("pypdf").addHandler(logging.NullHandler())  # oddities of a file do not belong on standard error


class PdfError(ValueError):
    """A PDF that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The number of pages, and the numbers (from 1) of those on which nothing is drawn.

    `locked`: the pages need a password; `seen`: how many were checked.
    """

    count: int
    blank: tuple[int, ...] = ()
    seen: int = 0
    locked: bool = False


def pages(content: bytes) -> Pages:
    """Return the pages of a PDF, of which at most MOST_PAGES and MOST_DRAWN bytes are checked; PdfError if it is none.

    A page is blank if it has no annotation and its drawing operators show only blank text and paint no path, shading or
    image. The content of a form or an image is not checked: placing one counts as drawing.
    """
    import pypdf  # on use: only PDFs need it

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            return Pages(0, locked=True)
        count = len(reader.pages)
        blank, drawn = [], 0
        for place in range(min(count, MOST_PAGES)):
            page = reader.pages[place]
            contents = page.get_contents()
            operators = b"" if contents is None else bytes(contents.get_data())
            drawn += len(operators)
            if not _draws(operators) and not page.get("/Annots"):
                blank.append(place + 1)
            if drawn > MOST_DRAWN:
                return Pages(count, tuple(blank), place + 1)
    except Exception as failure:  # in a damaged file the parser can fail anywhere
        message = str(failure).strip().partition("\n")[0]
        raise PdfError((message or type(failure).__name__)[:200]) from None
    return Pages(count, tuple(blank), min(count, MOST_PAGES))


def _draws(operators: bytes) -> bool:
    """Return whether drawing operators leave a mark; text inside strings cannot pass for an operator."""
    has_text = any(match[1].strip() for match in (*STRING.finditer(operators), *HEXADECIMAL.finditer(operators)))
    bare = HEXADECIMAL.sub(b" ", STRING.sub(b" ", operators))
    return bool(PAINTS.search(bare)) or (has_text and bool(SHOWS.search(bare)))
