"""The code in an answer: what stands in fenced blocks, else the answer as it is; and the program that it makes."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Literal

FENCE = re.compile(r"^[ \t]{0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^\n`]*$", re.MULTILINE)
PYTHON, SQL = ("python", "python3", "py", "py3"), ("sql", "sqlite", "sqlite3")
Blocks = Literal["all", "first", "last"]


def code_of(answer: str, languages: Sequence[str], blocks: Blocks = "all") -> str:
    """Return the code of an answer: its fenced blocks in one of the `languages`, else those that name none.

    An answer without fences is code as a whole, with its indentation; a block that is not closed ends with the answer.
    Blocks in other languages are left out. `blocks`: all of them, one under the other, or the first or last alone.
    """
    found = list(_blocks(answer))
    if not found:
        return answer.strip("\n")
    for wanted in (tuple(languages), ("",)):
        if own := [text for language, text in found if language.lower() in wanted]:
            return "\n\n".join({"all": own, "first": own[:1], "last": own[-1:]}[blocks])
    return ""


def _blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Yield language and text of each fenced block."""
    place = 0
    while opening := FENCE.search(answer, place):
        ending = re.compile(rf"^[ \t]{{0,3}}{opening['fence']}[`~]*[ \t]*$", re.MULTILINE)
        closing = ending.search(answer, opening.end())
        end = closing.start() if closing else len(answer)
        yield opening["language"], answer[opening.end() + 1 : end].rstrip("\n")
        place = closing.end() if closing else len(answer)


def program(code: str, prompt: str, entry_point: str) -> str:
    """Return the program that an answer makes: its code, after the prompt where that is the beginning of a function.

    A prompt is one where it is Python that defines `entry_point` (a signature and a docstring, as HumanEval's are). Its
    imports and helpers are then there, whether the code goes on where the prompt ends or defines the function again.
    """
    return f"{prompt}\n{code}" if entry_point and entry_point in defined(prompt) else code


def defined(code: str) -> set[str]:
    """Return the functions and classes that Python code defines at its top level; none where it is not Python."""
    try:
        with warnings.catch_warnings():  # of escapes and comparisons, which are the author's affair
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
