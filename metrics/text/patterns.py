"""Regular expressions: those written by users and our own of many alternatives, by RE2, linear in the text; mark-up."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any

MAX_PATTERN = 1_000  # characters of one expression
MAX_MEMORY = 1 << 20  # bytes that RE2 may take for one
OWN_MEMORY = 1 << 22  # the same for ours: with 1 MiB, RE2 searches for 160 words ten times as slowly
MOST_FOUND = 1_000  # findings of one expression in one text
# Scripts without spaces between words, whose letters a finding may touch: Thai, Lao, Burmese, Khmer, kana, Chinese
# characters; and Korean, whose particles stick to a name or a number
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
WORD = rf"[^\W{UNSPACED}]"  # letters, digits and _ of the other scripts, as an expression of one character
LETTER = rf"[^\W_{UNSPACED}]"  # the same without _


@dataclass(frozen=True, slots=True)
class Found:
    """Characters `start` to `end` of a text; `name` is the expression's named group, else "pattern" and its number."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=1024)
def compiled(pattern: str, case_sensitive: bool = True, longest: int = MAX_PATTERN) -> Any:
    """Return the expression compiled by RE2; ValueError with the reason if RE2 cannot read it or it is too long."""
    import re2

    if len(pattern) > longest:
        raise ValueError(f"it has {len(pattern):,} characters, more than {longest:,}")
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as failure:
        message = failure.args[0] if failure.args else ""
        raise ValueError(message.decode(errors="replace") if isinstance(message, bytes) else str(message)) from None


@cache
def own_expression(pattern: str, case_sensitive: bool = True) -> Any:
    """Return an expression of ours compiled by RE2."""
    import re2  # on use

    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.max_mem = OWN_MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


def readable(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the expressions after checking them; ValueError with all that RE2 cannot read, and why."""
    wrong = []
    for pattern in patterns:
        try:
            compiled(pattern)
        except ValueError as failure:
            wrong.append(f"{pattern!r:.60}: {failure}")
    if wrong:
        raise ValueError("expressions that RE2 cannot read: " + "; ".join(wrong))
    return tuple(patterns)


def find_all(patterns: Sequence[str], text: str) -> list[Found]:
    """Return every match of an expression, by position; empty matches do not count.

    If an expression has named groups, the first that takes part is the finding: (?P<badge>E-[0-9]{6}).
    """
    every = (islice(_matches(number, pattern, text), MOST_FOUND) for number, pattern in enumerate(patterns, 1))
    return sorted(chain.from_iterable(every), key=lambda one: (one.start, one.end))


def _matches(number: int, pattern: str, text: str) -> Iterator[Found]:
    expression = compiled(pattern)
    for match in expression.finditer(text):
        name = next((name for name, group in expression.groupindex.items() if match.start(group) >= 0), None)
        start, end = match.span(expression.groupindex[name] if name else 0)
        if start < end:
            yield Found(name or f"pattern {number}", start, end)


UNSPACED += "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"


@dataclass(frozen=True, slots=True)
class Sign:
    """A form that is part of whatever a search finds: where it does not occur, there is nothing to be found."""

    form: str
    case_sensitive: bool = True

    def occurs_in(self, text: str) -> bool:
        """Return whether the text has the sign."""
        return own_expression(self.form, self.case_sensitive).search(text) is not None


MARKUP = re.compile(  # comments and declarations, scripts and styles whole, tags
    r"(?is)<!--.*?(?:-->|\Z)|<[!?][^<>]*+>?|<(?P<raw>script|style)\b[^<>]*+>.*?(?:</(?P=raw)\s{0,9}>|\Z)"
    r"|<(?P<end>/?)(?P<tag>[a-z][\w:-]{0,40}+)(?P<rest>[^<>]*+)(?:>|(?=<)|\Z)"
)
