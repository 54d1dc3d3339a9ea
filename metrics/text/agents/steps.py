"""Steps: the ordered steps that a text lists, in any script."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from metrics.text.agents.inline_steps import STEP_WORDS, character_before, inline_steps, marks
from metrics.text.code_blocks import without_fence
from metrics.text.json_text import JsonError, read_json
from metrics.text.sentences import worded_sentences

FENCE = re.compile(r"\s*(?:```|~~~)")
MARKER = re.compile(  # of an item of a list; \d is a digit of any script
    r"(?P<indent>\s*+)(?:(?P<bullet>[-*+•‣◦▪●○■–—·・►➤])\s++(?:\[[ xX✓]\]\s++)?+"
    r"|(?:#{1,6}\s++)?+[*_]{0,3}+(?:\(?\d{1,3}(?:[.):]+[*_]{0,3}+(?=\s|$)|[.)](?=[^\W\d_]{3})|[、．）：])|[①-⑳]"
    r"|第\s?[\d一二三四五六七八九十]{1,3}\s?[步歩][:：、，,.]?|[一二三四五六七八九十]{1,3}、|[^\W\d_]{1,12}\s?\d{1,3}\s?[:：]"
    rf"|(?i:{'|'.join(sorted(STEP_WORDS))})\s?\d{{1,3}}[*_]{{0,3}}+\s*$))"
)
EMPHASIS = re.compile(r"\*\*|__|`")
FIELDS = ("step", "steps", "action", "task", "description", "instruction", "text", "content", "title", "name")
RULE = re.compile(r"\|?(?:\s*+:?-++:?\s*+\|)++(?:\s*+:?-++:?)?")  # under the head of a table
LEVEL = 1  # columns by which items of one level may differ: " 9." above "10."


@dataclass(slots=True)
class _Item:
    indent: int
    lines: list[str]


def steps(text: str) -> list[str]:
    """Return the steps of `text` in order: the items of its outermost list, or its sentences if it has no list.

    An item begins with a number (`1.`, `2)`, `(3)`, `٤.`, `５．`, `⑥`, `七、`, `Step 8:`, `第9步`) or a bullet; what
    follows, including deeper items and code, belongs to it. If numbers and bullets have the same indent, the numbers
    are the list. Text before a list and, after a blank line, behind it is no step, nor is an item without a letter or
    digit. A single item among other text is no list. A line break ends a sentence.

    A JSON list (of texts, or of objects with one of FIELDS) and a Markdown table are lists too. Steps that share a line
    are told apart by metrics.text.agents.inline_steps.

    >>> steps("To brew:\n1. Grind the beans.\n   - finely\n2. **Pour** water.\n\nEnjoy!")
    ['Grind the beans. - finely', 'Pour water.']
    >>> steps("1. Load the data 2. Clean it 3. Plot it")
    ['Load the data', 'Clean it', 'Plot it']
    >>> steps("Grind the beans. Then pour water.")
    ['Grind the beans.', 'Then pour water.']

    Linear in the length of the text.
    """
    if entries := _json(text) or _table(text):
        return _worded(entries)
    items, whole = _list(text)
    found = _worded(" ".join(item.lines) for item in items)
    if len(found) >= 2 and not _shares_lines(text, len(found)):
        return found
    if len(inline := _worded(map(_unmarked, inline_steps(text)))) >= 2:
        return inline
    if found and whole:
        return found
    sentences = worded_sentences(text)
    marked = [sentence[mark.end() :] if (mark := MARKER.match(sentence)) else sentence for sentence in sentences]
    return [_tidy(own) or _tidy(sentence) for own, sentence in zip(marked, sentences, strict=True)]


def _shares_lines(text: str, items: int) -> bool:
    """Return whether the numbers that begin lines are only some of those that count up through the text."""
    places = marks(text)
    at_lines = sum(character_before(text, start) in (None, "\n") for start, _ in places)
    return at_lines == items < len(places)


def _json(text: str) -> list[str]:
    """Return the entries of a JSON list, or of the only list of a JSON object; none of anything else."""
    inner = without_fence(text)
    if not inner.lstrip().startswith(("[", "{")):
        return []
    try:
        value = read_json(inner).value
    except JsonError:
        return []
    if isinstance(value, dict):
        lists = [entry for entry in value.values() if isinstance(entry, list)]
        value = lists[0] if len(lists) == 1 else []
    if not isinstance(value, list):
        return []
    named = [
        next((entry[name] for name in FIELDS if isinstance(entry.get(name), str)), None)
        if isinstance(entry, dict)
        else entry
        for entry in value
    ]
    texts = [entry for entry in named if isinstance(entry, str)]
    return [_unmarked(entry) for entry in texts] if len(texts) == len(named) else []


def _table(text: str) -> list[str]:
    """Return a column of a Markdown table: that of a head in FIELDS, else the first that is not all numbers."""
    lines = [line.strip() for line in text.strip().splitlines()]
    rule = next((place for place, line in enumerate(lines) if place and RULE.fullmatch(line)), None)
    if rule is None:
        return []
    rows: list[list[str]] = []
    for line in [lines[rule - 1], *lines[rule + 1 :]]:
        if "|" not in line:
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    if len({len(row) for row in rows}) != 1 or len(rows) < 2:
        return []
    head, *cells = rows
    columns = [list(column) for column in zip(*cells, strict=True)]
    worded = [place for place, column in enumerate(columns) if any(any(map(str.isalpha, cell)) for cell in column)]
    if not worded:
        return []
    return columns[next((place for place in worded if head[place].strip("*_ ").lower() in FIELDS), worded[0])]


def _unmarked(step: str) -> str:
    """Return a step without the number or bullet that it begins with."""
    return step[mark.end() :] if (mark := MARKER.match(step)) and step[mark.end() :].strip() else step


def _worded(entries: Iterable[str]) -> list[str]:
    """Return the entries that hold a letter or digit, tidied."""
    found = [_tidy(entry) for entry in entries]
    return [step for step in found if any(character.isalnum() for character in step)]


def _list(text: str) -> tuple[list[_Item], bool]:
    """Return the items of the outermost list, and whether the text is nothing but that list."""
    lines = text.expandtabs(4).splitlines()
    marks: list[tuple[int, re.Match[str]]] = []
    fenced = False
    for place, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := MARKER.match(line)):
            marks.append((place, match))
    if not marks:
        return [], False
    outermost = min(len(match["indent"]) for _, match in marks) + LEVEL
    level = [(place, match) for place, match in marks if len(match["indent"]) <= outermost]
    numbered = [entry for entry in level if entry[1]["bullet"] is None]
    chosen = dict(numbered if len(numbered) >= 2 else level)
    first, last = min(chosen), max(chosen)
    items: list[_Item] = []
    for place, line in enumerate(lines[first:], first):
        if match := chosen.get(place):
            items.append(_Item(len(match["indent"]), [line[match.end() :]]))
        elif place > last and not lines[place - 1].strip() and not line.startswith(" " * (items[-1].indent + 1)):
            break  # after the list
        else:
            items[-1].lines.append(line)
    return items, not any(line.strip() for line in lines[:first])


def _tidy(step: str) -> str:
    return " ".join(EMPHASIS.sub("", step).split())
