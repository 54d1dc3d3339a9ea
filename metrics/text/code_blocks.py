"""The code in an answer: what stands in fenced blocks, else the answer as it is; and the program that it makes."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Literal, NamedTuple

# at the beginning of a line, or of an item of a list or a quotation
FENCE = re.compile(
    r"^(?P<before>[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})[ \t]*"
    r"(?:\{[ \t]*[.]?)?(?P<language>[\w+#.-]*)[^\n`]*$",
    re.MULTILINE,
)
IN_A_LINE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<inside>[^`~\n]+)(?P=fence)")
LABELLED = re.compile(r"(?P<language>[\w+#.-]+)\s+(?P<text>\S.*)", re.DOTALL)
PYTHON = re.compile(r"i?py(?:thon)?[\d.]*", re.IGNORECASE)
SQL = re.compile(
    r"[\w.+-]*sql[\w.+-]*|postgres|mariadb|duckdb|bigquery|snowflake|redshift|oracle|hive|db2|d[dmq]l|query",
    re.IGNORECASE,
)
JSON = re.compile(r"json[\w.-]*|application/json", re.IGNORECASE)
UNNAMED = re.compile(r"|te?xt|plain(?:text)?|code|none", re.IGNORECASE)  # labels that name no language
Blocks = Literal["all", "first", "last"]


class Block(NamedTuple):
    """A fenced block: the language that it names, and its text."""

    language: str
    text: str


def code_of(answer: str, languages: re.Pattern[str], blocks: Blocks = "all") -> str:
    """Return the code of an answer: its fenced blocks in one of the `languages`, else those that name none.

    An answer without fences is code as a whole, with its indentation; a block that is not closed ends with the answer.
    Blocks in other languages are left out. `blocks`: all of them, one under the other, or the first or last alone. A
    byte order mark is left out, and a line ends with a line feed.

    >>> code_of("1. Run this:\\n   ```postgresql\\n   SELECT 1\\n   ```", SQL)
    'SELECT 1'
    """
    plain = _plain(answer)
    found = list(_blocks(plain)) or list(_blocks_in_a_line(plain, languages))
    if not found:
        quoted = plain.strip()
        alone = len(quoted) > 2 and quoted[0] == quoted[-1] == "`" and quoted.count("`") == 2
        return quoted[1:-1] if alone else plain.strip("\n")
    for wanted in (languages, UNNAMED):
        if own := [block.text for block in found if wanted.fullmatch(block.language)]:
            return "\n\n".join({"all": own, "first": own[:1], "last": own[-1:]}[blocks])
    return ""


def without_fence(text: str) -> str:
    """Return what stands in the one fence that a text begins and ends with; else the text."""
    plain = _plain(text).strip()
    found = list(_blocks(plain)) if FENCE.match(plain) and plain.endswith(("```", "~~~")) else []
    return found[0].text if len(found) == 1 else text


def _plain(answer: str) -> str:
    return answer.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def _blocks(answer: str) -> Iterator[Block]:
    """Yield the fenced blocks; one within an item of a list or a quotation without what stands before its lines."""
    place = 0
    while opening := FENCE.search(answer, place):
        before, fence = opening["before"], opening["fence"]
        ending = re.compile(rf"^[ \t>]{{0,{len(before) + 3}}}{fence}{fence[0]}*[ \t]*$", re.MULTILINE)
        closing = ending.search(answer, opening.end())
        end = closing.start() if closing else len(answer)
        text = answer[opening.end() + 1 : end]
        if closing is None:
            text = text.rstrip().removesuffix(fence)  # behind the last line of code
        if before:
            indent = re.compile(rf"^[ \t{'>' * ('>' in before)}]{{0,{len(before)}}}", re.MULTILINE)
            text = indent.sub("", text)
        yield Block(opening["language"], text.rstrip("\n"))
        place = closing.end() if closing else len(answer)


def _blocks_in_a_line(answer: str, languages: re.Pattern[str]) -> Iterator[Block]:
    """Yield what stands between fences in one line, as in ```sql SELECT 1```."""
    for found in IN_A_LINE.finditer(answer):
        labelled = LABELLED.match(found["inside"])
        if labelled and any(names.fullmatch(labelled["language"]) for names in (languages, UNNAMED)):
            yield Block(labelled["language"], labelled["text"].strip())
        else:
            yield Block("", found["inside"].strip())


def program(code: str, prompt: str, entry_point: str = "") -> str:
    """Return the program that an answer makes: its code, after the prompt where that is the beginning of a function.

    A prompt is one where it begins to define `entry_point` in Python: a signature, with a docstring, a comment or
    nothing more. Its imports and helpers are then there, whether the code goes on where the prompt ends or defines the
    function again. Without an `entry_point` the prompt stands before code that is no Python by itself.
    """
    given = code_of(prompt, PYTHON)
    whole = f"{given}\n{code}"
    if not entry_point:
        return whole if _tree(code) is None and defined(whole) else code
    if entry_point in defined(given):
        return whole
    begun = re.search(rf"^(?:@.*\n)*(?:async +)?(?:def|class) +{re.escape(entry_point)}\b", given, re.MULTILINE)
    if begun and entry_point not in defined(whole) and entry_point in defined(code):
        before = given[: begun.start()]
        return code if _tree(before) is None else f"{before}{code}"
    return whole if begun else code


def defined(code: str) -> set[str]:
    """Return the functions and classes that Python code defines at its top level; none where it is not Python."""
    body = getattr(_tree(code), "body", ())
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _tree(code: str) -> ast.Module | None:
    """Return the syntax tree of Python code; None where it is not Python."""
    try:
        with warnings.catch_warnings():  # of escapes and comparisons, which are the author's affair
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
