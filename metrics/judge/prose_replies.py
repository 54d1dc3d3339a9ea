"""Replies in words where JSON was asked for: a bare label, lines of names and values, lists, refusals."""

import re
from typing import Any

from pydantic import BaseModel

from metrics.judge.coercion import ANSWERS, REASONS, coerced, entry_of, is_list, labels_of, sole_field
from metrics.judge.scalars import lines_of, plain

LONGEST = 20_000  # characters of a reply in words
TAG = re.compile(r"</?[a-z_]{1,20}>|<\|[a-z_]{1,40}\|>|```\w*", re.IGNORECASE)
# Verdict: yes   **Verdict:** yes   - reason = …
NAMED = re.compile(r"[\W_]*([^\W\d_][\w ]{0,30}?)[*_`\"' ]*[:=](?!/)\s*(.*)")
NUMBERED = re.compile(r"[^\w-]*(?:[^\W\d_]+\s+)?(\d{1,6})\s*[\])*_]*[\])}.:=–—-]+\s*(\S.*)")  # 1. yes   [2] no
STATES = (
    r"\b(?:verdict|answer|judge?ment|decision|conclusion|label|rating|grade|score|{field})\W{{0,9}}"
    r"(?:is|would be)?\W{{0,9}}(?<!\w)({labels})(?!\w)"
)
REFUSAL = re.compile(
    r"[\W_]{0,20}(?:\w{1,30}\"\s*:\s*\")?(?:i['’]?m (?:very |so )?sorry|i am (?:very |so )?sorry|i apologi[sz]e|sorry,|"
    r"i must decline|i['’]m (?:not able|unable) to|as an ai|(?:unfortunately,? )?i (?:can['’]?t|cannot|can not|"
    r"won['’]t|will not|am (?:not able|unable) to|do(?: not|n['’]t) feel comfortable) ?(?:help|assist|comply|fulfil|"
    r"provide|answer|judge|evaluate|do |continue|engage|process|respond|participate|discuss|rate|with)|lo siento|"
    r"no puedo|je suis désolée?|je ne peux pas|es tut mir leid|desculpe|mi dispiace|非常?抱歉|抱歉|对不起|申し訳|죄송)",
    re.IGNORECASE,
)


def refused(text: str) -> bool:
    """Return whether a text that is no reply is a refusal to give one."""
    return REFUSAL.match(text) is not None


def has_words(text: str) -> bool:
    """Return whether a text has letters or digits outside of tags and the marks of code fences."""
    return any(letter.isalnum() for letter in TAG.sub(" ", text))


def said_in_words(text: str, form: type[BaseModel], numbered: bool) -> Any:
    """Return what a text without JSON says, to be fitted to `form`; None where that is not plain.

    `numbered`: the form is one list of numbered entries.
    """
    text = TAG.sub(" ", text).strip()
    sole = sole_field(form)
    if not text or len(text) > LONGEST or refused(text):
        return None
    if sole and is_list(form, sole):
        if numbered:
            return _entries(text, entry_of(form, sole))
        lines = lines_of(text) if entry_of(form, sole) is str else None
        return {sole: lines} if lines else None
    if sole and (labels := labels_of(form, sole)):
        label = coerced(text, form.model_fields[sole].annotation)
        if label in labels or isinstance(label, bool):
            return {sole: label} | ({"reason": text} if plain(text) != plain(str(label)) else {})
    return _by_name(text, form)


def stated(text: str, form: type[BaseModel]) -> set[Any]:
    """Return the labels that a text states in words ("my verdict is no"); only of a form with a single choice."""
    sole = sole_field(form)
    labels = labels_of(form, sole) if sole else ()
    if not labels:
        return set()
    named = "|".join(re.escape(str(label)) for label in labels)
    pattern = STATES.format(field=re.escape(str(sole)), labels=named)
    return {plain(found) for found in re.findall(pattern, text, re.IGNORECASE)}


def _entries(text: str, entry: Any) -> Any:
    """Return the entries of lines such as "1. yes"; None unless all lines but one before them are such."""
    sole = sole_field(entry)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and not NUMBERED.fullmatch(lines[0]):
        del lines[0]
    matches = [NUMBERED.fullmatch(line) for line in lines]
    if sole is None or not matches or not all(matches):
        return None
    return {"replies": [{"id": int(match[1]), sole: match[2]} for match in matches if match]}


def _by_name(text: str, form: type[BaseModel]) -> Any:
    """Return the values of lines such as "Verdict: yes"; None unless the last line is one and no two differ."""
    names = {"".join(plain(name).split()) for name in form.model_fields} | ANSWERS | REASONS
    found: dict[str, str] = {}
    last = False
    for line in filter(str.strip, text.splitlines()):
        match = NAMED.fullmatch(line.strip())
        name = "".join(plain(match[1]).split()) if match else ""
        last = name in names
        if match and last and found.setdefault(name, match[2]) != match[2]:
            return None
    return found if last else None
