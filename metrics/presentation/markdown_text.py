"""Text that others wrote inside Markdown: it stays text, wherever the Markdown is shown.

Nothing of it becomes markup, HTML, an image, a link, a mention of a person or a reference to an issue, in GitHub's
flavour and in CommonMark.
"""

import re
from collections.abc import Iterable, Sequence

from metrics.presentation.format import MISSING
from metrics.presentation.safe_text import shown

NAME = 80  # characters of a name
SENTENCE = 600
ZERO_WIDTH = "&#8203;"  # what begins with @ or # is looked for in the rendered text, too
_ACTIVE = re.compile(r"[\\`*_{}\[\]<>#!|~&@$]|:(?=\S)")
_LINE_START = re.compile(r"^(\d*)([.)+=-])(?=\s|$|[-=])")  # a list, a rule, a heading's underline
_WORDS = re.compile(r"(?i)\b(www(?=\.)|gh(?=-\d))")  # www.… becomes a link, GH-1 a reference
_IN_CODE = re.compile(r"^[^`|\\]+$")


def code(text: str, limit: int = NAME) -> str:
    """Return a name as code, on one line: inside code nothing is looked for. MISSING for a blank one."""
    flat = " ".join(shown(text, limit).split())
    if not flat:
        return MISSING
    return f"`{flat}`" if _IN_CODE.match(flat) else f"<code>{_escaped(flat)}</code>"


def prose(text: str, limit: int = SENTENCE) -> str:
    """Return a sentence that may hold a model's name or words, on one line, with every active character escaped."""
    flat = " ".join(shown(text, limit).split())
    start = _LINE_START.match(flat)
    return f"{start[1]}&#{ord(start[2])};{_escaped(flat[start.end() :])}" if start else _escaped(flat)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table of cells that are Markdown already; the columns `numbers` are aligned to the right."""
    rule = ["--:" if place in numbers else "---" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _escaped(text: str) -> str:
    split = _WORDS.sub(lambda found: found[0] + ZERO_WIDTH, text)
    return re.sub(rf"{re.escape(ZERO_WIDTH)}|{_ACTIVE.pattern}", lambda found: _entity(found[0]), split)


def _entity(found: str) -> str:
    if found == ZERO_WIDTH:
        return found
    return f"&#{ord(found)};" + (ZERO_WIDTH if found in "@#" else "")
