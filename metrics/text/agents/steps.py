"""Steps: the ordered steps that a text lists, in any script."""

import re
from dataclasses import dataclass

from metrics.text.sentences import worded_sentences

FENCE = re.compile(r"\s*(?:```|~~~)")
MARKER = re.compile(  # of an item of a list; \d is a digit of any script
    r"(?P<indent>\s*+)(?:(?P<bullet>[-*+•‣◦▪●○■–—·・►➤])\s++(?:\[[ xX✓]\]\s++)?+"
    r"|(?:#{1,6}\s++)?+[*_]{0,3}+(?:\(?\d{1,3}(?:[.):]+[*_]{0,3}+(?=\s|$)|[、．）：])|[①-⑳]"
    r"|第\s?[\d一二三四五六七八九十]{1,3}\s?[步歩][:：、，,.]?|[一二三四五六七八九十]{1,3}、|[^\W\d_]{1,12}\s?\d{1,3}\s?[:：]))"
)
EMPHASIS = re.compile(r"\*\*|__|`")
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

    >>> steps("To brew:\\n1. Grind the beans.\\n   - finely\\n2. **Pour** water.\\n\\nEnjoy!")
    ['Grind the beans. - finely', 'Pour water.']
    >>> steps("Grind the beans. Then pour water.")
    ['Grind the beans.', 'Then pour water.']

    Linear in the length of the text.
    """
    items, whole = _list(text)
    found = [_tidy(" ".join(item.lines)) for item in items]
    found = [step for step in found if any(character.isalnum() for character in step)]
    if len(found) >= 2 or (found and whole):
        return found
    sentences = worded_sentences(text)
    marked = [sentence[mark.end() :] if (mark := MARKER.match(sentence)) else sentence for sentence in sentences]
    return [_tidy(own) or _tidy(sentence) for own, sentence in zip(marked, sentences, strict=True)]


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
