"""Replies in words where JSON was asked for: a bare label, lines of names and values, lists, refusals."""

import re
from collections.abc import Set
from typing import Any

from pydantic import BaseModel

from metrics.judge.coercion import ANSWERS, REASONS, coerced, entry_of, is_list, labels_of, says_none, sole_field
from metrics.judge.reply_text import TAG
from metrics.judge.scalars import as_label, lines_of, plain, refused, whole_number

LONGEST = 20_000  # characters of a reply in words
# Verdict: yes   **Verdict:** yes   - reason = …   Score (1-5): 4
NAMED = re.compile(r"[\W_]*([^\W\d_][\w ]{0,30}?)(?: ?\([^()]{1,20}\))?[*_`\"' ]*[:=](?!/)\s*(.*)")
NUMBERED = re.compile(r"[^\w-]*(?:[^\W\d_]+\s+)?(\d{1,6})\s*[\])*_]*[\])}.:=–—-]+\s*(\S.*)")  # 1. yes   [2] no
# a name on a line of its own, the value on the next:   ## Verdict   **Verdict**
HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)([^\W\d_][\w ]{0,30}?)[ \t]*:?\*{0,2}:?[ \t]*\n\s*", re.MULTILINE)
TAGGED = re.compile(r"^[ \t]*<(\w{1,30})>([^<>]*)</\1>[ \t]*$", re.MULTILINE)  # <verdict>yes</verdict>
# \boxed{4}   Final answer: $\boxed{4}$
BOXED = re.compile(r"(^|:)[\s*$]{0,40}\\boxed\{(?:\\text\{)?([\w .-]{1,40})\}{1,2}[\s*$.]*$", re.MULTILINE)
RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")  # below the heading of a table
CELLS = re.compile(r"(?<!\\)\|")
STATES = (
    r"\b(?:verdict|answer|judge?ment|decision|conclusion|label|rating|grade|score|{field})\W{{0,9}}"
    r"(?:is|would be)?\W{{0,9}}(?<!\w)({labels})(?!\w)"
)


def said_in_words(text: str, form: type[BaseModel], numbered: bool) -> Any:
    """Return what a text without JSON says, to be fitted to `form`; None where that is not plain.

    `numbered`: the form is one list of numbered entries.
    """
    text = TAGGED.sub(lambda found: f"{found[1]}: {' '.join(found[2].split())}", text)
    text = TAG.sub(" ", text).strip()
    sole = sole_field(form)
    if not text or len(text) > LONGEST or refused(text):
        return None
    if sole and is_list(form, sole):
        entry = entry_of(form, sole)
        rows: Any = None
        if numbered:
            rows = _numbered(text, entry) or _table(text) or _blocks(text, entry)
        elif entry is str:
            rows = [] if says_none(text, sole) else lines_of(text) or _table(text)
        return None if rows is None else {sole: rows}
    if sole and (labels := labels_of(form, sole)):
        label = coerced(text, form.model_fields[sole].annotation)
        if label in labels or isinstance(label, bool):
            return {sole: label} | ({"reason": text} if plain(text) != plain(str(label)) else {})
    text = HEADING.sub(r"\1: ", text)
    return _by_name(BOXED.sub(lambda found: f"{found[1] or 'answer:'} {found[2]}", text), form)


def stated(text: str, form: type[BaseModel]) -> set[Any]:
    """Return the labels that a text states in words ("my verdict is no"); only of a form with a single choice."""
    sole = sole_field(form)
    labels = labels_of(form, sole) if sole else ()
    if not labels:
        return set()
    words = {*map(plain, map(str, labels)), *({"true", "false"} if {"yes", "no"} <= set(labels) else ())}
    pattern = STATES.format(field=re.escape(str(sole)), labels="|".join(map(re.escape, words)))
    return {plain(str(as_label(found, labels))) for found in re.findall(pattern, text, re.IGNORECASE)}


def _numbered(text: str, entry: Any) -> list[dict[str, Any]] | None:
    """Return the entries of lines such as "1. yes"; None unless all lines but one before them are such."""
    sole = sole_field(entry)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and not NUMBERED.fullmatch(lines[0]):
        del lines[0]
    matches = [NUMBERED.fullmatch(line) for line in lines]
    if sole is None or not matches or not all(matches):
        return None
    found = [{"id": int(match[1]), sole: match[2]} for match in matches if match]
    # other lines of numbered blocks can look like these
    return found if all(_named(str(row[sole]), _names(entry)) is None for row in found) else None


def _table(text: str) -> list[dict[str, str]] | None:
    """Return the rows of a Markdown table by the heads of its columns; None for other text, or with words after it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    start = next((place for place, line in enumerate(lines) if "|" in line), len(lines))
    if len(lines) < start + 3 or not RULE.fullmatch(lines[start + 1]):
        return None
    cells = [[cell.strip() for cell in CELLS.split(line.strip("|"))] for line in lines[start:]]
    heads, _, *rows = cells
    if len(set(heads)) < len(heads) or any(len(row) != len(heads) for row in cells):
        return None
    return [{head: cell.replace("\\|", "|") for head, cell in zip(heads, row, strict=True)} for row in rows]


def _blocks(text: str, entry: Any) -> list[dict[str, Any]] | None:
    """Return the entries of blocks of lines, each block a number and then names and values, as in YAML.

    None where there are other lines, but for one before them.
    """
    names, sole = _names(entry), sole_field(entry)
    labels = labels_of(entry, sole) if sole else ()
    rows: list[dict[str, Any]] = []
    for place, line in enumerate(filter(str.strip, text.splitlines())):
        named = _named(line, names)
        if named is None:
            numbered = NUMBERED.fullmatch(line)
            number = int(numbered[1]) if numbered else whole_number(line.lstrip(" \t-*•"))
            if isinstance(number, int):
                rows.append({"id": number})
                rest = numbered[2] if numbered else ""
                named = _named(rest, names)
                if sole and labels and named is None and as_label(rest, labels) in labels:
                    named = _joined(sole), rest
            elif place:
                return None
        if named and (not rows or rows[-1].setdefault(*named) != named[1]):
            return None
    # a numbered list within a reason looks like blocks, but without a value
    values = names - REASONS - {_joined(name) for name, field in entry.model_fields.items() if not field.is_required()}
    whole = all(row.keys() & values for row in rows) and len({row["id"] for row in rows}) == len(rows)
    return rows if rows and whole else None


def _joined(name: str) -> str:
    return "".join(plain(name).split())


def _names(form: type[BaseModel]) -> Set[str]:
    """Return the names, as of _named(), under which values of a form stand."""
    return {_joined(name) for name in form.model_fields if name != "id"} | ANSWERS | REASONS


def _named(line: str, names: Set[str]) -> tuple[str, str] | None:
    """Return name and value of a line such as "Verdict: yes"; None where the name is not one of `names`."""
    match = NAMED.fullmatch(line.strip())
    name = _joined(match[1]) if match else ""
    return (name, match[2]) if match and name in names else None


def _by_name(text: str, form: type[BaseModel]) -> Any:
    """Return the values of lines such as "Verdict: yes"; None unless the last line is one and no two differ."""
    names = _names(form)
    found: dict[str, str] = {}
    last = None
    for line in filter(str.strip, text.splitlines()):
        last = _named(line, names)
        if last and found.setdefault(*last) != last[1]:
            return None
    return found if last else None
