"""Single values as models write them: labels, whole numbers, decimals, truth values, texts.

A value that could mean two things, or none that is asked for, is returned as it is and fails the validation that
follows.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metrics.text.unicode_forms import normalized

AROUND = " \t\r\n\"'`*_~#.,:;!()[]{}<>|«»“”‘’„。"  # quotes, brackets, Markdown and full stops around a label
TICKS = "✅☑✔✓❌❎✖✗✘🟢🟡🔴👍👎\ufe0f"  # beside a label
# yes and no in other languages: in place of a label, without any word beside it
TRUE = "true ja oui sí sì si sim да так tak ano evet 是 是的 はい 예 네 نعم हाँ हां có ya ναι כן"
FALSE = "false nein non não nee nej нет ні nie ne hayır 否 不是 いいえ 아니요 아니오 لا नहीं không tidak όχι לא"
TRUTHS = dict.fromkeys(TRUE.split(), "yes") | dict.fromkeys(FALSE.split(), "no")
LONGEST = 20_000  # characters of a label and the words that explain it
INFLECTED = re.compile(r"(?<=\w{3})(?:ed|ly|s)\b")  # supported, partially, agrees
UNITS = (
    "[a-z]|context|claim|item|passage|source|document|doc|chunk|text|statement|sentence|fact|nugget|opinion|criterion|"
    "dimension|step|number|no|id|grade|level|score|rating"
)
# [1]  1.  #1  1.0  claim 1  context_1  C1
NUMBER = re.compile(rf"[^\w-]*(?:(?:{UNITS})s?[\s._#:-]*)?(\d{{1,9}})(?:\.0+)?[^\w%]*", re.IGNORECASE)
OF_SCALE = re.compile(r"\s*(\d{1,3}(?:\.\d{1,9})?)\s*(?:/|of|out of)\s*(\d{1,3})\W*")  # 4/5
STARS = re.compile(r"\s*((?:[★⭐🌟]\ufe0f?){1,99})([☆✩]*)\s*")
# a number and words that explain it, which hold no other number and no doubt
NUMBER_EXPLAINED = re.compile(
    r"[\s*_\"'`]*(\d{1,3}(?:\.\d{1,9})?)[*_\"'`]*\s*(?:[:,(–—]|-\s|\s-)(?!.*\b(?:maybe|perhaps|possibly|higher|lower|almost|"
    r"nearly|unsure|uncertain|not (?:sure|certain)|out of|at (?:most|least))\b)[^\d\n]*[^\W\d][^\d\n]*",
    re.IGNORECASE,
)
PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)\s*%")
DECIMAL_COMMA = re.compile(r"0,\d{1,9}")
# between a label and the words that explain it; not as in No. 1
EXPLAINED = re.compile(r"[*_\"'`]*(?:\s*(?:[,:;!()\]\n–—]|\.(?!\s*\d))|\s+-|-\s)\s*")
HEDGES = re.compile(
    r"\b(but|however|although|though|partial(?:ly)?|partly|mostly|maybe|perhaps|possibly|unclear|unsure|uncertain|"
    r"depends|except|unless|not (?:sure|certain|entirely|quite)|pero|aber|mais|però|mas|maar|но)\b"
)
REFUSAL = re.compile(
    r"[\W_]{0,20}(?:\w{1,30}\"\s*:\s*\")?(?:no[,.]\s{1,3})?(?:i['’]?m (?:very |so )?sorry|i am (?:very |so )?sorry|"
    r"i apologi[sz]e|sorry,|i must decline|i['’]m (?:not able|unable) to|as an ai|(?:unfortunately,? )?i (?:can['’]?t|"
    r"cannot|can not|won['’]t|will not|am (?:not able|unable) to|do(?: not|n['’]t) feel comfortable) ?(?:help|assist|"
    r"comply|fulfil|provide|answer|judge|evaluate|do |continue|engage|process|respond|participate|discuss|rate|with)|"
    r"lo siento|no puedo|je suis désolée?|je ne peux pas|es tut mir leid|desculpe|mi dispiace|het spijt me|przepraszam|"
    r"üzgünüm|извините|к сожалению|عذر|非常?抱歉|抱歉|对不起|申し訳|죄송)",
    re.IGNORECASE,
)
LISTED = re.compile(r"\s*(?:[-*•–]|\(?\[?\d{1,4}[.):\]]+)\s+(\S.*)")  # a line of a list: 1. …   - …   [1] …


def plain(text: str) -> str:
    """Return a label or key for comparison: case folded, without quotes, Markdown and full stops around it."""
    text = normalized("NFKC", text)
    return _spaced(text.strip(AROUND + TICKS) or text.strip(AROUND)).casefold()


def _spaced(text: str) -> str:
    return re.sub(r"[\s_\\-]+", " ", text)


def refused(text: str) -> bool:
    """Return whether a text that is no reply is a refusal to give one."""
    return REFUSAL.match(text) is not None


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
        if isinstance(value, str) and (stars := STARS.fullmatch(value)):
            given = len(stars[1].replace("\ufe0f", ""))
            return given if not stars[2] or given + len(stars[2]) == max(labels) else value
        return whole_number(_rating(value, max(labels)) if isinstance(value, str) else value)
    if value in labels and isinstance(value, str):
        return value
    known: dict[str, Any] = {}
    for one in labels:
        known[plain(str(one))] = None if plain(str(one)) in known else one
    alike = {word: known[said] for word, said in TRUTHS.items()} if {"yes", "no"} <= known.keys() else {}
    known = {word: alike[word] for word in ("true", "false") if word in alike} | known
    if isinstance(value, bool | int) or (isinstance(value, float) and value.is_integer()):
        value = str(value if isinstance(value, bool) else int(value))
    if not isinstance(value, str) or len(value) > LONGEST:
        return value
    said = plain(value)
    if said in known:
        return known[said] if known[said] is not None else value
    inflected = [label for word, label in known.items() if INFLECTED.sub("", word) == INFLECTED.sub("", said)]
    other = inflected[0] if len(inflected) == 1 else alike.get(said)
    found = other if other is not None else _explained(value, known)
    return found if found is not None else value


def _rating(value: str, best: int) -> str:
    """Return the number in 4/5 or "4 - good" on a scale up to `best`, else `value`."""
    if match := OF_SCALE.fullmatch(value):
        return match[1] if int(match[2]) == best else value
    match = NUMBER_EXPLAINED.fullmatch(value)
    return match[1] if match else value


def _explained(value: str, known: Mapping[str, Any]) -> Any:
    """Return the label that a text begins with, if what follows explains it and names no other label."""
    text = normalized("NFKC", value).strip().lstrip(AROUND + TICKS).casefold()
    if refused(text):
        return None
    for word, label in sorted(known.items(), key=lambda entry: -len(entry[0])):
        if word and label is not None and text.startswith(word) and (after := EXPLAINED.match(text, len(word))):
            rest = _spaced(text[after.end() :])
            said = INFLECTED.sub("", rest)
            others = (INFLECTED.sub("", one) for one in known if one != word)
            named = any(re.search(rf"\b{re.escape(other)}\b", said) for other in others)
            return None if named or HEDGES.search(rest) else label
    return None


def as_truth(value: Any) -> Any:
    """Return True or False for a boolean, yes, no, true or false in any case, else `value`."""
    if isinstance(value, bool):
        return value
    return {"yes": True, "no": False}.get(as_label(value, ("yes", "no")), value) if isinstance(value, str) else value


def as_decimal(value: Any) -> Any:
    """Return the number in a text from 0 to 1, such as **0.6**, 60 %, 0,6 or 0.6/1, else `value`; true is no number."""
    if isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    text = value.strip("*_`\"' ").rstrip(".")
    if match := PERCENT.fullmatch(text):
        return float(match[1]) / 100
    return text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else _rating(text, 1)


def as_text(value: Any) -> Any:
    """Return texts in a list as one text and a number as text, else `value`."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value if isinstance(value, bool | str | dict | list | None) else str(value)
