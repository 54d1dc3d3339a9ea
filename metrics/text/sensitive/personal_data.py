"""Personal data in text: what identifies, reaches or locates a person, or pays in their name."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Literal, get_args

from metrics.text.patterns import Sign
from metrics.text.sensitive.contacts import WORLD, emails, phones
from metrics.text.sensitive.national_id_rules import RULES, SEPARATORS, NationalId, real_date
from metrics.text.sensitive.network import crypto_addresses, ip_addresses, mac_addresses
from metrics.text.sensitive.payments import bank_accounts, cards, ibans
from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.spans import Finding, after_words, by_precedence, stands_alone

APART = " \u00a0\u2009\u202f-"
SSN = re.compile(rf"\d{{3}}([{APART}])\d{{2}}\1\d{{4}}", re.ASCII)
NAMED_SSN = re.compile(r"(?ai)\b(?:ssn|social security(?: number| no\.?| #)?)[ :#]{1,3}(?:is )?(\d{9}|(?:\d[ -]){8}\d)")
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


BIRTH_WORDS = (
    "date of birth", "birth date", "birthdate", "dob", "d.o.b.", "d.o.b", "born on", "born:", "birthday",
    "geburtsdatum", "geboren am", "geb.", "date de naissance", "né le", "née le", "fecha de nacimiento", "nacido el",
    "nacida el", "data di nascita", "nato il", "nata il", "data de nascimento", "nascido em", "geboortedatum",
    "data urodzenia", "födelsedatum", "fødselsdato", "syntymäaika", "doğum tarihi", "дата рождения", "生年月日",
    "出生日期", "생년월일", "تاريخ الميلاد", "जन्म तिथि",
)  # fmt: skip
MONTHS = (
    r"(?:jan(?:uary|uar|vier|uari|eiro)?|feb(?:ruary|ruar|ruari)?|f[ée]v(?:rier|ereiro)?|mar(?:ch|s|zo|ço)?|märz|"
    r"apr(?:il|ile)?|avr(?:il)?|abr(?:il)?|ma[yi]o?|june?|juni|juin|giugno|july?|juli|juillet|luglio|julio|aug(?:ust|ustus)?|"
    r"ao[uû]t|agosto|sep(?:t|tember|tembre|tiembre)?|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|"
    r"de[cz](?:ember|embre)?|dic(?:iembre|embre)?|d[ée]c(?:embre)?|ene(?:ro)?|enero|gennaio|febbraio|febrero|maggio|junio)"
)
DAY = re.compile(
    r"(?i)\W{0,4}(?:(?:is|was|ist|est|es)\W{1,3})?"
    r"(?P<day>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(?:\d{4}|\d{2})|\d{4}年\d{1,2}月\d{1,2}日|"
    r"\d{4}년\s?\d{1,2}월\s?\d{1,2}일|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?:\s(?:of|de))?\s{MONTHS}\.?,?(?:\sde)?\s\d{{4}}|"
    rf"{MONTHS}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})"
)
EARLIEST = 1900  # of those born before nobody lives
PASSPORT_WORDS = (
    "passport", "passport number", "passport no", "reisepass", "reisepassnummer", "passnummer", "passeport",
    "pasaporte", "passaporto", "passaporte", "paspoort", "paszport", "паспорт", "护照", "护照号", "パスポート",
    "旅券番号", "여권번호", "pasaport",
)  # fmt: skip
LICENCE_WORDS = (
    "driver's license", "driver’s license", "drivers license", "driver license", "driving licence", "driving license",
    "driver's licence", "driver’s licence", "driver's license number", "führerschein", "führerscheinnummer",
    "permis de conduire", "permiso de conducir", "licencia de conducir", "patente di guida", "carteira de motorista",
    "rijbewijs", "运转免许证", "運転免許証", "dl number", "dl no",
)  # fmt: skip
NUMBERED = r"[^0-9A-Za-z\n]{0,3}(?:(?:number|num|no|nr|nummer|num[ée]ro|is|n)\b[^0-9A-Za-z\n]{0,4}){0,3}"
PASSPORT = re.compile(
    rf"{NUMBERED}((?-i:[A-Z]{{0,3}}\d{{5,9}}[A-Z]{{0,2}}\d{{0,2}}|\d{{2}}[A-Z]{{2}}\d{{5}}|[CFGHJK][0-9CFGHJKLMNPRTVWXYZ]{{8}}))",
    re.A | re.I,
)
LICENCE = re.compile(rf"{NUMBERED}((?-i:[A-Z0-9](?:[ -]?[A-Z0-9]){{5,17}}+))", re.A | re.I)
DIGITS_OF_A_LICENCE = 4
# The second line of a passport's machine-readable zone: ICAO Doc 9303, part 4.
MACHINE_READABLE = re.compile(
    r"(?<![A-Z0-9<])([A-Z0-9<]{9})(\d)[A-Z<]{3}(\d{6})(\d)[MFX<](\d{6})(\d)[A-Z0-9<]{14}[\d<]\d"
)
ANY_MACHINE_READABLE = Sign(r"[0-9A-Z<]{44}")
COORDINATES = re.compile(
    r"(?a)(?<![\w.,-])(-?\d{1,2}\.\d{4,15})°?\s?([NS])?\s?[,;/ ]\s?(-?\d{1,3}\.\d{4,15})°?\s?([EWO])?(?![\w.]|,\d)"
)
DEGREES = re.compile(
    r"(?<!\w)\d{1,2}\s?°\s?\d{1,2}\s?['′’]\s?\d{1,2}(?:\.\d{1,6})?\s?(?:[\"″”]|'')\s?[NS],?\s{0,2}"
    r"\d{1,3}\s?°\s?\d{1,2}\s?['′’]\s?\d{1,2}(?:\.\d{1,6})?\s?(?:[\"″”]|'')\s?[EWO](?!\w)"
)


def birth_dates(text: str) -> Iterator[Finding]:
    """Yield dates of birth from 1900 on after words such as "date of birth"."""
    for _, beside, start in after_words(text, BIRTH_WORDS):
        match = DAY.match(beside)
        if match and _possible(match["day"]) and not beside[match.end() : match.end() + 1].isdigit():
            yield Finding("birth_date", start + match.start("day"), start + match.end("day"))


def _possible(day: str) -> bool:
    numbers = [int(number) for number in re.findall(r"\d+", day)]
    if len(numbers) == 3:
        year, first, second = numbers if numbers[0] > 31 else (numbers[2], numbers[1], numbers[0])
        year += 1900 * (year < 100)
        return year >= EARLIEST and (real_date(year, first, second) or real_date(year, second, first))
    return numbers[-1] >= EARLIEST


def passports(text: str) -> Iterator[Finding]:
    """Yield passport numbers after words for them, and machine-readable lines with correct check digits."""
    for match in MACHINE_READABLE.finditer(text) if ANY_MACHINE_READABLE.occurs_in(text) else ():
        if all(_icao(match[field]) == int(match[field + 1]) for field in (1, 3, 5)):
            yield Finding("passport", *match.span())
    for _, beside, start in after_words(text, PASSPORT_WORDS):
        found = PASSPORT.match(beside)
        if found and 6 <= len(found[1]) <= 9 and stands_alone(text, start + found.start(1), start + found.end(1)):
            yield Finding("passport", start + found.start(1), start + found.end(1))


def _icao(field: str) -> int:
    """Return the check digit of a field: weights 7, 3, 1; A is 10, < is 0."""
    values = [0 if character == "<" else int(character, 36) for character in field]
    return sum(value * (7, 3, 1)[place % 3] for place, value in enumerate(values)) % 10


def driving_licences(text: str) -> Iterator[Finding]:
    """Yield the numbers of driving licences, after words for them."""
    for _, beside, start in after_words(text, LICENCE_WORDS):
        match = LICENCE.match(beside)
        if match is None or sum(map(str.isdigit, match[1])) < DIGITS_OF_A_LICENCE:
            continue
        if stands_alone(text, start + match.start(1), start + match.end(1)):
            yield Finding("driving_licence", start + match.start(1), start + match.end(1))


def coordinates(text: str) -> Iterator[Finding]:
    """Yield places on Earth to ten metres or better: four decimals of a degree, or seconds."""
    for match in COORDINATES.finditer(text):
        if abs(float(match[1])) <= 90 and abs(float(match[3])) <= 180:
            yield Finding("coordinates", *match.span())
    for match in DEGREES.finditer(text):
        yield Finding("coordinates", *match.span())


Kind = Literal[
    "iban", "crypto_address", "email", "card", "ssn", "national_id", "passport", "driving_licence", "bank_account",
    "birth_date", "ip_address", "mac_address", "phone", "coordinates",
]  # fmt: skip
PERSONAL_KINDS: tuple[Kind, ...] = get_args(Kind)
DEFAULT_KINDS: tuple[Kind, ...] = PERSONAL_KINDS[:-1]  # a place is more often a sight than somebody's home


def personal_data(text: str, kinds: Sequence[Kind] = DEFAULT_KINDS, regions: Sequence[str] = (WORLD,)) -> list[Finding]:
    """Return the personal data in `text`, by position, without overlaps; the first of PERSONAL_KINDS has precedence.

    The text is read in its plain form, so full-width digits and invisible characters hide nothing; places are those in
    `text`. `regions` (two letters, ISO 3166) are the countries of phone numbers without a country code and of national
    ids; "any" is every country, "ZZ" none: only phone numbers with a country code, and no national ids. Time is linear
    in the text; the search for phone numbers ends after 2,000 valid or 20,000 invalid ones.
    """
    form = PlainForm(text)
    found = by_precedence(_findings(form.text, kind, regions) for kind in PERSONAL_KINDS if kind in kinds)
    return form.in_original(found)


def _findings(text: str, kind: Kind, regions: Sequence[str]) -> Iterator[Finding]:
    if kind == "phone":
        return phones(text, regions)
    if kind == "national_id":
        return national_ids(text, None if WORLD in regions else regions)
    return FINDERS[kind](text)


FINDERS: dict[Kind, Callable[[str], Iterator[Finding]]] = {
    "iban": ibans, "crypto_address": crypto_addresses, "email": emails, "card": cards, "ssn": us_social_security,
    "passport": passports, "driving_licence": driving_licences, "bank_account": bank_accounts,
    "birth_date": birth_dates, "ip_address": ip_addresses, "mac_address": mac_addresses, "coordinates": coordinates,
}  # fmt: skip
