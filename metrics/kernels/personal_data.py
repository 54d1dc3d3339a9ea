"""Personal data in text: payment cards, US social security numbers, e-mail addresses, IBANs, phone numbers."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, get_args

Kind = Literal["card", "iban", "ssn", "email", "phone"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHORTEST_CARD, LONGEST_CARD = 12, 19
GROUPS_OF_A_CARD = 5

DIGIT_GROUPS = re.compile(r"\d+(?:[ -]\d+)*", re.ASCII)
SSN = re.compile(r"\d{3}([- ])\d{2}\1\d{4}", re.ASCII)
NAMED_SSN = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?| #)?)[ :#]{1,3}(?:is )?(\d{9})", re.ASCII | re.IGNORECASE
)
IBAN_START = re.compile(r"[A-Z]{2}\d{2}", re.ASCII)
MAILBOX_BACKWARDS = re.compile(r"[\w.%+'-]{0,63}\w")
DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}(?:xn--[a-z0-9-]{2,20}|[^\W\d_]{2,24})(?!\w)")
TELEPHONE_WORDS = re.compile(r"phone|tel|call|mobile|cell|fax|contact|reach|dial|whatsapp|text|sms", re.IGNORECASE)
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
DUMMY_PHONE = re.compile(r"\+1\d{3}55501\d\d|\+1800555(?:0199|01\d\d)|\+442079460\d{3}")


@dataclass(frozen=True, slots=True)
class PersonalDatum:
    """One finding: characters `start` to `end` of the text; `dummy` where it is a published sample, of nobody."""

    kind: Kind
    start: int
    end: int
    dummy: bool


def personal_data(text: str, kinds: Sequence[Kind] = KINDS, region: str = "US") -> list[PersonalDatum]:
    """The personal data in `text`, by position, without overlaps: what two kinds claim is the first kind's of KINDS.

    `region` (two letters, ISO 3166) is where a phone number without a country code would be dialled. Time is linear in
    the text; phone numbers are looked for until 2,000 valid or 20,000 invalid ones were met.
    """
    found: list[PersonalDatum] = []
    taken: list[tuple[int, int]] = []
    for kind in KINDS:
        if kind not in kinds:
            continue
        matches = _phones(text, region) if kind == "phone" else FINDERS[kind](text)
        found += [datum for datum in matches if not _overlaps(taken, datum)]
        taken = sorted((datum.start, datum.end) for datum in found)
    return sorted(found, key=lambda datum: datum.start)


class Span(Protocol):
    """Characters `start` to `end` of a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The one after the last."""


def redacted(text: str, datum: Span, longest: int = 200) -> str:
    """The finding with its letters and digits hidden but for the first: its shape shows, its value does not."""
    raw = text[datum.start : min(datum.end, datum.start + longest)]
    return raw[:1] + "".join("•" if character.isalnum() else character for character in raw[1:])


def luhn(digits: str) -> bool:
    """Whether the check digit of a card number is right: ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


def iban_checks(iban: str) -> bool:
    """Whether an IBAN without spaces has its country's length and the remainder 1 modulo 97: ISO 13616, ISO 7064."""
    if len(iban) != IBAN_LENGTHS.get(iban[:2]):
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def _overlaps(taken: list[tuple[int, int]], datum: PersonalDatum) -> bool:
    place = bisect_left(taken, (datum.end, -1))
    return place > 0 and taken[place - 1][1] > datum.start


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter, digit, or decimal point between digits, touches the span."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    inside_decimal = before[-1:] in (".", ",") and before[:1].isdigit() and len(before) == 2
    return not inside_decimal and not (after[:1] in (".", ",") and after[1:].isdigit())


def _cards(text: str) -> Iterator[PersonalDatum]:
    for run in DIGIT_GROUPS.finditer(text):
        run_text = run[0]
        groups = [match.span() for match in re.finditer(r"\d+", run_text)] if len(run_text) >= SHORTEST_CARD else []
        done = 0
        for first in range(len(groups)):
            if first < done:
                continue
            digits = ""
            for last in range(first, min(first + GROUPS_OF_A_CARD, len(groups))):
                digits += run_text[slice(*groups[last])]
                if len(digits) > LONGEST_CARD:
                    break
                start, end = run.start() + groups[first][0], run.start() + groups[last][1]
                grouped = all(3 <= stop - begin <= 6 for begin, stop in groups[first : last + 1])
                if (first == last or grouped) and _is_card(digits) and _stands_alone(text, start, end):
                    yield PersonalDatum("card", start, end, digits in DUMMY_CARDS)
                    done = last + 1
                    break


def _is_card(digits: str) -> bool:
    return any(len(digits) in lengths and issuer.match(digits) for issuer, lengths in ISSUERS) and luhn(digits)


def _ibans(text: str) -> Iterator[PersonalDatum]:
    for head in IBAN_START.finditer(text):
        length = IBAN_LENGTHS.get(head[0][:2])
        if length is None:
            continue
        written = re.match(
            rf"(?:[A-Z0-9][ -]?){{{length - 1}}}[A-Z0-9]", text[head.start() : head.start() + 2 * length]
        )
        if written is None:
            continue
        iban, end = re.sub(r"[ -]", "", written[0]), head.start() + written.end()
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
        if domain and mailbox:
            yield PersonalDatum("email", at - mailbox.end(), domain.end(), DUMMY_DOMAIN.search(domain[0]) is not None)
        at = text.find("@", at + 1)


def _phones(text: str, region: str) -> Iterator[PersonalDatum]:
    from phonenumbers import Leniency, PhoneNumberFormat, PhoneNumberMatcher, format_number  # on use

    matcher = PhoneNumberMatcher(text, region, leniency=Leniency.VALID, max_tries=PHONE_TRIES)
    for match in islice(matcher, PHONE_CANDIDATES):
        bare = match.raw_string.isdigit()
        before = re.split(r"[\d;.\n]", text[max(0, match.start - WORD_REACH) : match.start])[-1]
        if bare and not TELEPHONE_WORDS.search(before):
            continue
        international = format_number(match.number, PhoneNumberFormat.E164)
        yield PersonalDatum("phone", match.start, match.end, DUMMY_PHONE.fullmatch(international) is not None)


FINDERS: dict[Kind, Callable[[str], Iterator[PersonalDatum]]] = {
    "card": _cards,
    "iban": _ibans,
    "ssn": _ssns,
    "email": _emails,
}
