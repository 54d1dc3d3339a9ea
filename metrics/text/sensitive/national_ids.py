"""Numbers that states give to persons, found by their form, their check digits and the words beside them."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from metrics.text.patterns import Sign
from metrics.text.sensitive.labels import after_words
from metrics.text.sensitive.national_id_rules import RULES, SEPARATORS, NationalId
from metrics.text.sensitive.spans import Finding, stands_alone

APART = " \u00a0\u2009\u202f-"
SSN = re.compile(rf"\d{{3}}([{APART}])\d{{2}}\1\d{{4}}", re.ASCII)
NAMED_SSN = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?| #)?)[ :#]{1,3}(?:is )?(\d{9}|(?:\d[ -]){8}\d)",
    re.ASCII | re.IGNORECASE,
)
DUMMY_SSNS = frozenset({"078051120", "219099999", "123456789", "111111111", "222222222", "333333333"})
NINE_DIGITS = Sign(r"[0-9](?:[^0-9]?[0-9]){8}")
ALONE = tuple((rule, re.compile(rule.alone, re.ASCII)) for rule in RULES if rule.alone)
ANY_ALONE = Sign("|".join(form.pattern for _, form in ALONE))


def national_ids(text: str, countries: Sequence[str] | None = None) -> Iterator[Finding]:
    """Yield the national ids in `text`, those of `countries` (ISO 3166) or of all.

    A number counts if its form and its check digits are correct and one of its names stands beside it; without a name
    only if its form is particular, such as letters at fixed places or a date between separators.
    """
    for rule, form in ALONE if ANY_ALONE.occurs_in(text) else ():
        if countries is None or rule.country in countries:
            for match in form.finditer(text):
                if finding := _valid(text, rule, *match.span()):
                    yield finding
    for word, window, start in after_words(text, _by_word().keys()):
        for rule in _by_word()[word]:
            if countries is None or rule.country in countries:
                beside = _form(rule).search(window)
                if beside and (finding := _valid(text, rule, start + beside.start(), start + beside.end())):
                    yield finding


def us_social_security(text: str) -> Iterator[Finding]:
    """Yield US social security numbers: ddd-dd-dddd, or nine digits after their name, in the ranges ever issued."""
    if not NINE_DIGITS.occurs_in(text):
        return
    spans = [match.span() for match in SSN.finditer(text)] + [match.span(1) for match in NAMED_SSN.finditer(text)]
    for start, end in spans:
        digits = re.sub(r"\D", "", text[start:end])
        area, group, serial = digits[:3], digits[3:5], digits[5:]
        issued = area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"
        if issued and stands_alone(text, start, end):
            yield Finding("ssn", start, end, None, digits in DUMMY_SSNS)


def _valid(text: str, rule: NationalId, start: int, end: int) -> Finding | None:
    characters = SEPARATORS.sub("", text[start:end])
    if not stands_alone(text, start, end) or text[start - 1 : start] in ("-", "/") or not rule.valid(characters):
        return None
    if text[end : end + 1] in ("-", "/") and text[end + 1 : end + 2].isalnum():
        return None
    return Finding("national_id", start, end, f"{rule.country} {rule.name}")


@cache
def _by_word() -> dict[str, list[NationalId]]:
    found: dict[str, list[NationalId]] = {}
    for rule in RULES:
        for word in rule.words:
            found.setdefault(word, []).append(rule)
    return found


@cache
def _form(rule: NationalId) -> re.Pattern[str]:
    return re.compile(rf"(?<![0-9A-Za-z])(?:{rule.form})(?![0-9A-Za-z])", re.ASCII)
