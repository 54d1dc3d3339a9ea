"""Particulars of a person, recognised by the words beside them: date of birth, passport, driving licence, place."""

import re
from collections.abc import Iterator

from metrics.text.patterns import Sign
from metrics.text.sensitive.labels import after_words
from metrics.text.sensitive.national_id_rules import real_date
from metrics.text.sensitive.spans import Finding, stands_alone

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
    r"\W{0,4}(?:(?:is|was|ist|est|es)\W{1,3})?"
    r"(?P<day>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(?:\d{4}|\d{2})|\d{4}年\d{1,2}月\d{1,2}日|"
    r"\d{4}년\s?\d{1,2}월\s?\d{1,2}일|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?:\s(?:of|de))?\s{MONTHS}\.?,?(?:\sde)?\s\d{{4}}|"
    rf"{MONTHS}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})",
    re.IGNORECASE,
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
    r"(?<![\w.,-])(-?\d{1,2}\.\d{4,15})°?\s?([NS])?\s?[,;/ ]\s?(-?\d{1,3}\.\d{4,15})°?\s?([EWO])?(?![\w.]|,\d)",
    re.ASCII,
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
