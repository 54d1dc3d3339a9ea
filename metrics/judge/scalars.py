"""Single values as models write them: labels, whole numbers, decimals, truth values, texts.

A value that could mean two things, or none that is asked for, is returned as it is and fails the validation that
follows.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

AROUND = " \t\r\n\"'`*_~#.,:;!()[]{}<>|«»“”‘’„"  # quotes, brackets, Markdown and full stops around a label
UNITS = (
    "[a-z]|context|claim|item|passage|source|document|doc|chunk|text|statement|sentence|fact|nugget|opinion|criterion|"
    "dimension|step|number|no|id|grade|level|score|rating"
)
# [1]  1.  #1  1.0  claim 1  context_1  C1
NUMBER = re.compile(rf"[^\w-]*(?:(?:{UNITS})s?[\s._#:-]*)?(\d{{1,9}})(?:\.0+)?[^\w%]*", re.IGNORECASE)
OF_SCALE = re.compile(r"\s*(\d{1,3})\s*(?:/|of|out of)\s*(\d{1,3})\W*")  # 4/5
EXPLAINED = re.compile(r"[\s*_\"'`]*[.,:;!)\]\n–—-]\s*")  # between a label and the words that explain it
HEDGES = re.compile(
    r"\b(but|however|although|though|partial(?:ly)?|partly|mostly|maybe|perhaps|possibly|unclear|unsure|uncertain|"
    r"depends|except|unless|not (?:sure|certain|entirely|quite))\b"
)
LISTED = re.compile(r"\s*(?:[-*•–]|\(?\[?\d{1,4}[.):\]]+)\s+(\S.*)")  # a line of a list: 1. …   - …   [1] …


def plain(text: str) -> str:
    """Return a label or key for comparison: case folded, without quotes, Markdown and full stops around it."""
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFKC", text).strip(AROUND).casefold())


def label_text(label: Any) -> str:
    """Return a label as plain() text; yes and no for a boolean."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else plain(str(label))


def whole_number(value: Any) -> Any:
    """Return the whole number in 1.0, "1", "[1]", "#1" or "claim 1", else `value`; true is no number."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (match := NUMBER.fullmatch(value.strip())):
        return int(match[1])
    return value


def lines_of(text: str) -> list[str] | None:
    """Return the entries of a numbered or bulleted list, after one line that may introduce it; None for other text."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].rstrip(" *_").endswith(":") and not LISTED.fullmatch(lines[0]):
        del lines[0]
    matches = [LISTED.fullmatch(line) for line in lines]
    return [match[1].strip() for match in matches if match] if matches and all(matches) else None


def as_label(value: Any, labels: Sequence[Any]) -> Any:
    """Return the label that a value stands for; the value itself where it stands for none or for several."""
    if all(isinstance(one, int) for one in labels):
        if isinstance(value, str) and (match := OF_SCALE.fullmatch(value)) and int(match[2]) == max(labels):
            return int(match[1])
        return whole_number(value)
    if value in labels and isinstance(value, str):
        return value
    known: dict[str, Any] = {}
    for one in labels:
        known[plain(str(one))] = None if plain(str(one)) in known else one
    if {"yes", "no"} <= known.keys():
        known = {"true": known["yes"], "false": known["no"]} | known
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        value = str(value if isinstance(value, bool) else int(value))
    if not isinstance(value, str):
        return value
    said = plain(value)
    if said in known:
        return known[said] if known[said] is not None else value
    explained = _explained(value, known)
    return explained if explained is not None else value


def _explained(value: str, known: Mapping[str, Any]) -> Any:
    """Return the label that a text begins with, if what follows explains it and names no other label."""
    text = unicodedata.normalize("NFKC", value).strip().lstrip(AROUND).casefold()
    for word, label in sorted(known.items(), key=lambda entry: -len(entry[0])):
        if word and label is not None and text.startswith(word) and (after := EXPLAINED.match(text, len(word))):
            rest = text[after.end() :]
            others = [other for other in known if other != word and re.search(rf"\b{re.escape(other)}\b", rest)]
            return None if others or HEDGES.search(rest) else label
    return None


def as_truth(value: Any) -> Any:
    """Return True or False for a boolean, yes, no, true or false in any case, else `value`."""
    if isinstance(value, bool):
        return value
    return {"yes": True, "no": False}.get(as_label(value, ("yes", "no")), value) if isinstance(value, str) else value


def as_decimal(value: Any) -> Any:
    """Return a text without quotes, Markdown and full stop around it, else `value`; true is no number."""
    if isinstance(value, bool):
        return str(value)
    return value.strip("*_`\"' ").rstrip(".") if isinstance(value, str) else value


def as_text(value: Any) -> Any:
    """Return texts in a list as one text and a number as text, else `value`."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value if isinstance(value, bool | str | dict | list | None) else str(value)
