"""Names and texts of users where Streamlit would read Markdown: titles, captions, messages, labels, help."""

import re
import string

MARKS = re.compile(rf"(?![,;?%'\"])([{re.escape(string.punctuation)}])")


def literal(text: str) -> str:
    """Return the Markdown that shows a text as it is, so that an image in it is not fetched."""
    return MARKS.sub(r"\\\1", " ".join(text.split()))
