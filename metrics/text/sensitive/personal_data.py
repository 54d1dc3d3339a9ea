"""Personal data in text: payment cards, US social security numbers, e-mail addresses, IBANs, phone numbers."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

from metrics.text.sensitive.scripts import LETTER, UNSPACED, WORD
from metrics.text.sensitive.spans import by_precedence

Kind = Literal["iban", "card", "ssn", "email", "phone"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHORTEST_CARD, LONGEST_CARD = 12, 19
LENGTH_OF_EAN = 13
LONGEST_USER = 200  # characters of a URL before its host
GROUPS_OF_A_CARD = 5

UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
APART = " \u00a0\u2009\u202f\u2010\u2011-"  # between groups of digits: spaces, also hard and thin ones, and hyphens

DIGIT_GROUPS = re.compile(rf"\d+(?:[{APART}]\d+)*", re.ASCII)
SSN = re.compile(rf"\d{{3}}([{APART}])\d{{2}}\1\d{{4}}", re.ASCII)
NAMED_SSN = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?| #)?)[ :#]{1,3}(?:is )?(\d{9})", re.ASCII | re.IGNORECASE
)
IBAN_START = re.compile(r"[A-Z]{2}\d{2}|[a-z]{2}\d{2}", re.ASCII)
MAILBOX_BACKWARDS = re.compile(rf"(?:{WORD}|[.%+'-]){{0,63}}{WORD}")
DOMAIN = re.compile(
    rf"(?:{LETTER}(?:(?:{WORD}|-){{0,61}}{LETTER})?\.){{1,6}}"
    rf"(?P<top>xn--[a-z0-9-]{{2,20}}|[^\W\d_{UNSPACED}]{{2,24}})(?!{WORD})"
)
FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp avif bmp ico pdf css js json html xml csv txt yaml yml toml".split()
)
NOBODY = frozenset({"git", "hg", "svn"})  # before @ and a host in the address of a repository
USER_OF_URL = re.compile(r"://[^\s/?#]*$")
TELEPHONE_WORDS = re.compile(
    rf"(?<!{WORD})(?:\w{{0,9}}phones?|tele?f[oó]+ne?o?s?|\w{{0,7}}telefon\w{{0,7}}|t[eé]l|t[eé]l[eé]phone|ph|"
    r"call\w{0,3}|mob|mobil\w{0,7}|m[oó]vil|cell|celular|handy|rufnummer|fax|contact|reach|dial|hotline|whatsapp|text|"
    r"sms|gsm|тел|телефон\w{0,3})\b|電話|携帯|电话|手机|手機|전화|휴대폰|هاتف|फ़ोन|फोन|โทร",
    re.IGNORECASE,
)
ABBREVIATED = re.compile(rf"(?<!{WORD})(t[eé]l|ph|mob|тел)\.", re.IGNORECASE)
CLOSING = {"(": ")", "[": "]", "\uff08": "\uff09", "\uff3b": "\uff3d"}
GOES_ON = re.compile(r"-$|\d\s{0,3}-\s{0,3}$|isbn\S{0,3}\s{0,3}$", re.IGNORECASE)
PART_OF_A_NAME = re.compile(r"-\w")
# An address of the internet, a date, a file of a year.
NO_PHONE = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|(?:19|20)\d\d/\d+")
PHONE_CANDIDATES, PHONE_TRIES = 2_000, 20_000  # of a text, valid and not: each takes libphonenumber some 0.2 ms
WORD_REACH = 24  # characters before a bare run of digits in which such a word makes it a phone number

# Issuer prefixes and the lengths in use, after the networks' own lists; the 19 digits that some may have but do not
# issue would make a card of every tenth long number.
ISSUERS: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = (
    (re.compile(r"4"), frozenset({13, 16})),  # Visa
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), frozenset({16})),  # Mastercard
    (re.compile(r"3[47]"), frozenset({15})),  # American Express
    (re.compile(r"6011|64[4-9]|65"), frozenset({16})),  # Discover
    (re.compile(r"30[0-5]|3[689]"), frozenset({14})),  # Diners Club
    (re.compile(r"352[89]|35[3-8]"), frozenset({16})),  # JCB
    (re.compile(r"62"), frozenset(range(16, 20))),  # UnionPay
    (re.compile(r"5018|5020|5038|5893|6304|6759|676[1-3]"), frozenset(range(12, 20))),  # Maestro
)
# Characters of an IBAN by country. Source: the SWIFT IBAN registry.
IBAN_LENGTHS = {
    entry[:2]: int(entry[2:])
    for entry in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
        "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 "
        "LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 "
        "QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    ).split()
}
# What card networks, banks and authorities publish as samples.
DUMMY_CARDS = frozenset(
    "4111111111111111 4242424242424242 4012888888881881 4000056655665556 4222222222222 5555555555554444 "
    "5105105105105100 2223003122003222 378282246310005 371449635398431 6011111111111117 6011000990139424 "
    "30569309025904 38520000023237 3530111333300000 3566002020360505".split()
)
DUMMY_IBANS = frozenset(
    "GB82WEST12345698765432 GB29NWBK60161331926819 GB33BUKB20201555555555 DE89370400440532013000 "
    "DE75512108001245126199 FR1420041010050500013M02606 FR7630006000011234567890189 NL91ABNA0417164300 "
    "CH9300762011623852957 BE68539007547034 ES9121000418450200051332 IT60X0542811101000000123456 AT611904300234573201 "
    "SE4550000000058398257466".split()
)
DUMMY_SSNS = frozenset({"078051120", "219099999", "123456789", "111111111", "222222222", "333333333"})
DUMMY_DOMAIN = re.compile(r"(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost)$", re.IGNORECASE)
# North America's exchange 555 but for directory assistance; what Ofcom keeps for films.
DUMMY_PHONE = re.compile(
    r"\+1\d{3}555(?!1212)\d{4}|\+44(?:207946|1914980|(?:11[3-8]|1[2-6]1)4960|2920180|2896496)\d{3,4}"
)


@dataclass(frozen=True, slots=True)
class PersonalDatum:
    """One finding: characters `start` to `end` of the text; `dummy` if it is a published sample that is nobody's."""

    kind: Kind
    start: int
    end: int
    dummy: bool


def personal_data(text: str, kinds: Sequence[Kind] = KINDS, region: str = "US") -> list[PersonalDatum]:
    """Return the personal data in `text`, by position, without overlaps; the first kind in KINDS has precedence.

    `region` (two letters, ISO 3166) is the country of phone numbers without a country code. Time is linear in the text;
    the search for phone numbers ends after 2,000 valid or 20,000 invalid ones.
    """
    wanted = (kind for kind in KINDS if kind in kinds)
    return by_precedence(_phones(text, region) if kind == "phone" else FINDERS[kind](text) for kind in wanted)


def luhn(digits: str) -> bool:
    """Return whether the check digit of a card number is correct: ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


def iban_checks(iban: str) -> bool:
    """Return whether an IBAN without spaces has its country's length and remainder 1 modulo 97 (ISO 13616, 7064)."""
    if len(iban) != IBAN_LENGTHS.get(iban[:2]):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit touches the span, nor, without letters, a point or comma of a longer number.

    A comma between two values of a row does not count.
    """
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _joins(before[-1:]) or _joins(after[:1]):
        return False
    if any(map(str.isalpha, text[start:end])):
        return True
    fraction = before[-1:] in (".", ",") and before[:1].isdigit() and len(before) == 2
    in_a_row = before[-1:] == after[:1] == "," and not after[1:].isspace()
    return (in_a_row or not fraction) and not (after[:1] in (".", ",") and after[1:].isdigit())


def _joins(character: str) -> bool:
    """Return whether a character next to a number or a name makes it part of something longer."""
    return character.isalnum() and not UNSPACED_CHARACTER.match(character)


def _cards(text: str) -> Iterator[PersonalDatum]:
    for run in DIGIT_GROUPS.finditer(text):
        run_text = run[0]
        groups = [match.span() for match in re.finditer(r"\d+", run_text)] if len(run_text) >= SHORTEST_CARD else []
        done = 0
        for first in range(len(groups)):
            if first < done:
                continue
            digits, card = "", None
            for last in range(first, min(first + GROUPS_OF_A_CARD, len(groups))):
                size = groups[last][1] - groups[last][0]
                digits += run_text[slice(*groups[last])]
                if len(digits) > LONGEST_CARD or (size > 6 and last > first):
                    break
                start, end = run.start() + groups[first][0], run.start() + groups[last][1]
                # the longest with a correct check digit: some networks have cards of 12 and of 19 digits
                # twelve digits in groups of four, followed by more, are the beginning of something else
                begun = first < last < len(groups) - 1 and size == 4 and len(digits) == SHORTEST_CARD
                if not begun and _is_card(digits) and _stands_alone(text, start, end):
                    card, done = PersonalDatum("card", start, end, digits in DUMMY_CARDS), last + 1
                if not 3 <= size <= 6:
                    break
            if card is not None:
                yield card


def _is_card(digits: str) -> bool:
    if len(digits) == LENGTH_OF_EAN and _ean(digits):  # goods; cards of thirteen digits are no longer issued
        return False
    return any(len(digits) in lengths and issuer.match(digits) for issuer, lengths in ISSUERS) and luhn(digits)


def _ean(digits: str) -> bool:
    """Return whether the check digit of a bar code is correct: ISO/IEC 15420."""
    return sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(reversed(digits))) % 10 == 0


def _ibans(text: str) -> Iterator[PersonalDatum]:
    for head in IBAN_START.finditer(text):
        length = IBAN_LENGTHS.get(head[0][:2].upper())
        if length is None:
            continue
        # small letters only without spaces: the words of a sentence are letters and spaces as well
        form = rf"(?:[A-Z0-9][{APART}]?){{{length - 1}}}[A-Z0-9]" if head[0].isupper() else rf"[a-z0-9]{{{length}}}"
        written = re.match(form, text[head.start() : head.start() + 2 * length])
        if written is None:
            continue
        iban, end = re.sub(rf"[{APART}]", "", written[0]).upper(), head.start() + written.end()
        if iban_checks(iban) and _stands_alone(text, head.start(), end):
            yield PersonalDatum("iban", head.start(), end, iban in DUMMY_IBANS)


def _ssns(text: str) -> Iterator[PersonalDatum]:
    spans = [match.span() for match in SSN.finditer(text)] + [match.span(1) for match in NAMED_SSN.finditer(text)]
    for start, end in spans:
        digits = re.sub(r"\D", "", text[start:end])
        area, group, serial = digits[:3], digits[3:5], digits[5:]
        issued = area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"
        if issued and _stands_alone(text, start, end):
            yield PersonalDatum("ssn", start, end, digits in DUMMY_SSNS)


def _emails(text: str) -> Iterator[PersonalDatum]:
    at = text.find("@")
    while at >= 0:
        domain = DOMAIN.match(text, at + 1)
        mailbox = MAILBOX_BACKWARDS.match(text[max(0, at - 64) : at][::-1]) if domain else None
        start = at - mailbox.end() if mailbox else at
        if text[start - 1 : start] == "\\" and text[start] in "nrt":  # a line break that is written as \n
            start += 1
        if domain and start < at and _is_address(text, start, at, domain):
            yield PersonalDatum("email", start, domain.end(), DUMMY_DOMAIN.search(domain[0]) is not None)
        at = text.find("@", at + 1)


def _is_address(text: str, start: int, at: int, domain: re.Match[str]) -> bool:
    """Return whether a mailbox and a domain are not code, a handle, a file or the user in a URL."""
    if text[start - 1 : start] == "@" or text[domain.end() : domain.end() + 1] == "(":
        return False
    if text[start:at] in NOBODY or domain["top"].lower() in FILE_ENDINGS:
        return False
    return not USER_OF_URL.search(text, max(0, start - LONGEST_USER), start)


def _phones(text: str, region: str) -> Iterator[PersonalDatum]:
    from phonenumbers import Leniency, PhoneNumberFormat, PhoneNumberMatcher, format_number  # on use

    matcher = PhoneNumberMatcher(text, region, leniency=Leniency.VALID, max_tries=PHONE_TRIES)
    for match in islice(matcher, PHONE_CANDIDATES):
        raw, start = match.raw_string, match.start
        if raw[:1] in CLOSING and CLOSING[raw[0]] not in raw:
            raw, start = raw[1:], start + 1
        before = ABBREVIATED.sub(r"\1 ", text[max(0, start - WORD_REACH) : start])
        if raw.isdigit() and not TELEPHONE_WORDS.search(re.split(r"[\d;.\n]", before)[-1]):
            continue
        if NO_PHONE.fullmatch(raw) or PART_OF_A_NAME.match(text, match.end) or GOES_ON.search(before):
            continue
        if (")" in raw and "(" not in raw) or not _stands_alone(text, start, match.end):
            continue
        international = format_number(match.number, PhoneNumberFormat.E164)
        yield PersonalDatum("phone", start, match.end, DUMMY_PHONE.fullmatch(international) is not None)


FINDERS: dict[Kind, Callable[[str], Iterator[PersonalDatum]]] = {
    "iban": _ibans,
    "card": _cards,
    "ssn": _ssns,
    "email": _emails,
}
