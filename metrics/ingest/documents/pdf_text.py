"""The text of a PDF, page by page, read in a process of its own that is ended when it takes too much time or memory."""

import io
import logging
from functools import partial

from metrics.core.errors import InputError
from metrics.core.reading_worker import Limits, read_in_worker
from metrics.core.unicode_forms import without_halves

MOST_PAGES = 1_000
MOST_CHARACTERS = 5_000_000  # of one PDF
MOST_SECONDS = 60
MOST_MEMORY = 2 << 30  # bytes


def pdf_pages(content: bytes) -> list[str]:
    """Return the text of each page; ValueError with the reason where there is none."""
    try:
        found = read_in_worker("", partial(extracted, content), Limits(MOST_SECONDS, MOST_MEMORY))
    except InputError as failure:
        raise ValueError(failure.problems[0].found) from None
    if isinstance(found, str):
        raise ValueError(found)
    return [str(page) for page in found]


def extracted(content: bytes) -> list[str] | str:
    """Return the text of each page, or why there is none."""
    import pypdf  # on use: only PDFs need it

    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            return "a PDF behind a password"
        if len(reader.pages) > MOST_PAGES:
            return f"{len(reader.pages):,} pages, more than {MOST_PAGES:,}"
        pages: list[str] = []
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > MOST_CHARACTERS:
                return f"more than {MOST_CHARACTERS:,} characters of text"
    except MemoryError:
        raise
    except Exception as failure:  # in a damaged file the parser can fail anywhere
        message = str(failure).strip().partition("\n")[0] or type(failure).__name__
        return f"a damaged PDF ({message[:200]})"
    if not any(page.strip() for page in pages):
        return "a PDF without text; its pages may be scanned pictures"
    return [without_halves(page).replace("\0", "") for page in pages]
