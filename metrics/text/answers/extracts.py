r"""The part of an output that is its answer: what an expression finds, or what is in \boxed{…}."""

import re
from collections import deque
from typing import Literal

from metrics.text.patterns import compiled

Which = Literal["first", "last"]
SEARCHED = 10_000  # characters from the end for the last match: to find all can take a step for each pair of them
BOXED = ("\\boxed", "\\fbox")
WORDS = re.compile(r"\A\\(?:text(?:bf|it|rm)?|mathrm|mbox)\{([^{}]*[^\W\d_]{2}[^{}]*)\}\Z")  # of a box that holds words


def matched(pattern: str, text: str, which: Which = "last") -> str | None:
    """Return what the first or the last match of an expression (RE2) holds, without white space around it.

    That is its first group with a text, or the whole match where it has no groups; None without a match. Matches do not
    overlap. The last one is looked for in the last SEARCHED characters.

    >>> matched("#### (.+)", "6 · 7 is 42.\\n#### 42")
    '42'
    """
    expression = compiled(pattern)
    if which == "first":
        match = expression.search(text)
    else:
        match = next(iter(deque(expression.finditer(text[-SEARCHED:]), 1)), None)
    if match is None:
        return None
    return next(filter(None, match.groups() or [match.group()]), "").strip()


def boxed(text: str) -> str | None:
    r"""Return what is in the last \boxed{…} or \fbox{…} of a text, braces within it included; None without one.

    One that is not closed is none.

    >>> boxed(r"So it is \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    """
    end = text[-SEARCHED:]
    start = max(end.rfind(name + "{") for name in BOXED)
    if start < 0:
        return None
    start = end.index("{", start)
    depth = 0
    for place in range(start, len(end)):
        depth += {"{": 1, "}": -1}.get(end[place], 0)
        if not depth:
            return WORDS.sub(r"\1", end[start + 1 : place].strip())
    return None
