"""The code in an answer: what stands in fenced blocks, else the answer as it is; and the program that it makes."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import Literal, NamedTuple

from metrics.text.thoughts import STOPS

# at the beginning of a line, or of an item of a list or a quotation
FENCE = re.compile(
    r"(?m)^(?P<before>[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?)(?P<fence>`{3,}|~{3,})[ \t]*"
    r"(?:\{[ \t]*[.]?)?(?P<language>[\w+#./-]*)[^\n`]*$"
)
BEHIND_WORDS = re.compile(r"(?<=[^\W\d_][:.])[ \t]+(?=(?:`{3,}|~{3,})[\w+#./-]*$)", re.MULTILINE)  # Code: ```sql
TAG = re.compile(r"\[(?P<tag>[A-Za-z]{2,10})\]|<(?P<name>[A-Za-z]{2,10})>")  # [PYTHON] … [/PYTHON], <sql>…</sql>
AROUND = re.compile(r"(?is)\s*<(answer|solution|response|output|code|pre)(?: [^<>]*)?>(?P<text>.*)</\1>\s*")
QUOTED = re.compile(r"(\"\"\"|'''|[\"'`])(?P<text>(?:(?!\1).)+)\1|“(?P<curly>[^”]+)”", re.DOTALL)
MAX_AROUND = 3  # tags, one within the other
KEYS = ("sql", "sql_query", "query", "code", "python", "program", "solution", "answer")  # of JSON that holds code
SAID = re.compile(r"(?im)^[*#_ ]{0,4}(?:sql(?: ?query| ?statement)?|query|a|answer)[*_ ]{0,3}:[*_ ]{0,3}\s*(?=\S)")
IN_A_LINE = re.compile(r"(?P<fence>`{3,}|~{3,})(?P<inside>[^`~\n]+)(?P=fence)")
LABELLED = re.compile(r"(?P<language>[\w+#.-]+)\s+(?P<text>\S.*)", re.DOTALL)
PYTHON = re.compile(r"i?py(?:thon)?[\d.]*|tool_code", re.IGNORECASE)
SQL = re.compile(
    r"[\w.+/-]*sql[\w.+-]*|postgres|mariadb|duckdb|bigquery|snowflake|redshift|oracle|hive(?:ql)?|db2?|d[dmq]l|query|h2"
    r"|trino|presto|clickhouse|athena|cockroach(?:db)?|teradata|vertica|spanner|databricks|impala|spark|select",
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

    An answer without fences is code as a whole, with its indentation, but what it stands in does not count: quotes,
    [PYTHON] … [/PYTHON], <answer>…</answer>, a key of a JSON object, "SQL:" before it. A block that is not closed ends
    with the answer. Blocks in other languages are left out. `blocks`: all of them, one under the other, or the first
    or last alone. A byte order mark is left out, and a line ends with a line feed.

    >>> code_of("1. Run this:\\n   ```postgresql\\n   SELECT 1\\n   ```", SQL)
    'SELECT 1'
    """
    plain = BEHIND_WORDS.sub("\n", STOPS.sub("", _plain(answer)))
    plain = plain if languages is JSON else plain.replace("\u00a0", " ")
    found = list(_blocks(plain)) or list(_blocks_in_a_line(plain, languages))
    if not found:
        return plain.strip("\n") if languages is JSON else _without_wrapping(plain, languages)
    for wanted in (languages, UNNAMED):
        if own := [block.text for block in found if wanted.fullmatch(block.language)]:
            return "\n\n".join({"all": own, "first": own[:1], "last": own[-1:]}[blocks])
    held = [text for block in found if JSON.fullmatch(block.language) and (text := _unwrap(block.text))]
    return code_of(held[-1], languages) if held and languages is not JSON else ""


def _without_wrapping(text: str, languages: re.Pattern[str]) -> str:
    """Return code without the tags, the quotes, the JSON object or the word "SQL:" that it stands in."""
    for _ in range(MAX_AROUND):
        around = AROUND.fullmatch(text)
        text = around["text"] if around else text
    if tagged := list(_tagged(text, languages)):
        text = "\n\n".join(part.strip("\n") for part in tagged)
    if held := _unwrap(text):
        return code_of(held, languages)
    if quoted := QUOTED.fullmatch(text.strip()):
        text = quoted["text"] or quoted["curly"]
    if languages is SQL and (said := list(SAID.finditer(text))):
        text = text[said[-1].end() :]
    return text.strip("\n")


def _tagged(text: str, languages: re.Pattern[str]) -> Iterator[str]:
    """Yield what stands between tags that name a language; after one in brackets that nothing closes, the rest."""
    place = 0
    for tag in TAG.finditer(text):
        name = tag["tag"] or tag["name"]
        if tag.start() < place or not (languages.fullmatch(name) or name.casefold() == "code"):
            continue
        end = text.find(f"[/{name}]" if tag["tag"] else f"</{name}>", tag.end())
        if end < 0 and (tag["name"] or text[: tag.start()].strip()):
            return
        place = len(text) if end < 0 else end
        yield text[tag.end() : place]


def _unwrap(text: str) -> str:
    """Return the code that a text in JSON is, or that one of its KEYS holds; "" for others."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    members = {key.casefold(): inner for key, inner in value.items()} if isinstance(value, dict) else {"code": value}
    return next((members[key] for key in KEYS if isinstance(members.get(key), str)), "")


def without_fence(text: str) -> str:
    """Return what stands in the one fence that a text begins and ends with; else the text."""
    plain = _plain(text).strip()
    found = list(_blocks(plain)) if FENCE.match(plain) and plain.endswith(("```", "~~~")) else []
    return found[0].text if len(found) == 1 else text


def _plain(answer: str) -> str:
    return re.sub("[\ufeff\u200b]", "", answer).replace("\r\n", "\n").replace("\r", "\n")


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
    try:
        with warnings.catch_warnings():  # of escapes and comparisons, which are the author's affair
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
