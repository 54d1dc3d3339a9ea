"""Lists as Python writes them, read as data: lists, tuples and sets, arrays of numpy, objects such as LangChain's.

Strings are decoded one by one, so no expression is ever parsed.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from metrics.core.exact_json import PYTHON_DIGITS

MAX_DEPTH = 20
TOKEN = re.compile(
    r"""\s*(?:(?P<text>[uUbB]?(?:'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"))"""
    r"""|(?P<object><[^<>\n]{1,300}>)|(?P<number>[+-]?(?:\d[\d.]*+(?:[eE][+-]?\d+)?|\.\d+))|(?P<name>-?[A-Za-z_][\w.]*+)|(?P<mark>[][(){},=:]))""",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = "\n\\'\"abfnrtv0123xNuU"  # what may follow a backslash; after any other character the backslash stays
NO_VALUES = "None nan NaN null NULL np.nan numpy.nan pd.NA NA NaT pd.NaT undefined Ellipsis"
WORDS = {"True": True, "False": False} | dict.fromkeys(NO_VALUES.split())
LISTS = r"(?:array|ndarray|deque|tensor|Tensor|frozenset|set|list|tuple|Index|Series|dict_(?:keys|values))"
ENDS = {"[": "]", "(": ")", "{": "}"}
Token = tuple[str, str]  # kind and text


class NoRepr(ValueError):
    """A text that is no list as Python writes it."""


def python_value(text: str) -> Any:
    """Return the list, tuple, set, array, dictionary or object that a text is as Python writes it.

    An array, a tuple and a set are lists, an object such as `Document(page_content="…")` is the dictionary of its
    arguments, and NaN is None. NoRepr for any other text.
    """
    reader = _Reader(list(_tokens(text)))
    value = reader.value(0)
    if reader.at < len(reader.tokens):
        raise NoRepr
    return value


def _tokens(text: str) -> Iterator[Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = TOKEN.match(text, position, end)
        if match is None or match.lastgroup is None:
            raise NoRepr
        yield match.lastgroup, match[match.lastgroup]
        position = match.end()


@dataclass
class _Reader:
    """Tokens, and the place of the next one."""

    tokens: list[Token]
    at: int = 0

    def next_kind(self, after: int = 0) -> str:
        """Return a mark that follows itself, of other tokens their kind; "" at the end."""
        kind, text = self.tokens[self.at + after] if self.at + after < len(self.tokens) else ("", "")
        return text if kind == "mark" else kind

    def take(self, kind: str) -> bool:
        """Return whether the next token is of that kind, and pass it."""
        found = self.next_kind() == kind
        self.at += found
        return found

    def value(self, depth: int) -> Any:
        """Return the value that comes next."""
        if depth > MAX_DEPTH or self.at >= len(self.tokens):
            raise NoRepr
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return decoded(text)
        if kind == "number":
            return _number(text)
        if kind == "object":  # <NA>, <Kind.SOURCE: '1'>, <Document id=1>: what it holds is not written
            return None
        if text in ENDS:
            return self.items(text, depth + 1)
        if text in WORDS:
            return WORDS[text]
        if kind == "name" and self.take("("):
            found = self.call(depth + 1)
            lists = re.fullmatch(rf"(?:\w+\.)*{LISTS}", text)
            return None if text == "float" and found == "nan" else [] if lists and found == {} else found
        raise NoRepr

    def items(self, start: str, depth: int) -> list[Any] | dict[str, Any]:
        """Return what stands between brackets: a list, or a dictionary where its items are pairs."""
        found: list[Any] = []
        pairs: dict[str, Any] = {}
        commas = 0
        while not self.take(ENDS[start]):
            value = self.value(depth)
            if start == "{" and self.take(":"):
                pairs[str(value)] = self.value(depth)
            else:
                found.append(value)
            comma = self.take(",")
            commas += comma
            if not comma and self.next_kind() not in ("text", ENDS[start]):  # numpy puts no comma between its texts
                raise NoRepr
        if (pairs and found) or (start == "(" and found and not commas):  # in brackets, but no tuple
            raise NoRepr
        return pairs if pairs or (start == "{" and not found) else found

    def call(self, depth: int) -> Any:
        """Return what `array([…], dtype=…)`, `str_("…")` or `Document(page_content="…")` stands for."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        while not self.take(")"):
            if self.next_kind() == "name" and self.next_kind(1) == "=":
                name = self.tokens[self.at][1]
                self.at += 2
                if name == "dtype" and self.next_kind() == "name":  # dtype=object
                    self.at += 1
                else:
                    named[name] = self.value(depth)
            else:
                given.append(self.value(depth))
            if not self.take(",") and self.next_kind() != ")":
                raise NoRepr
        return given[0] if given else named


def _number(text: str) -> int | float | str:
    if text.lstrip("+-").isdigit():
        return int(text) if len(text) < PYTHON_DIGITS else text
    try:
        return float(text)
    except ValueError:
        raise NoRepr from None


def decoded(literal: str) -> str:
    """Return the text of a string literal; NoRepr where it has none, or half a character."""
    quote = literal.index(literal[-1])
    if "\\" not in literal:
        return literal[quote + 1 : -1]
    body = ESCAPE.sub(lambda match: match[0] if match[1] in ESCAPED else "\\" + match[0], literal[quote:])
    try:
        value = str(ast.literal_eval(body))
        value.encode()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise NoRepr from None
    return value
