"""Payment data in text: cards, IBANs, account and routing numbers."""

import re
from collections.abc import Callable, Iterator
from itertools import cycle

from metrics.text.patterns import Sign
from metrics.text.sensitive.check_digits import ean, luhn, mod_97, weighted
from metrics.text.sensitive.spans import Finding, after_words, stands_alone

SHORTEST_CARD, LONGEST_CARD = 12, 19
LENGTH_OF_EAN = 13
GROUPS_OF_A_CARD = 5
SMALLEST_GROUP = 3  # digits
APART = " \u00a0\u2009\u202f-"  # between groups of digits: spaces, also hard and thin ones, and hyphens

TWELVE_DIGITS = Sign(r"[0-9](?:[^0-9]?[0-9]){11}")
DIGITS = re.compile(r"\d+", re.ASCII)
DIGIT_GROUPS = re.compile(rf"\d+(?:[{APART}]\d+)*+", re.ASCII)
SPACED_DIGITS = re.compile(
    rf"(?<![\d.,])(?<!\d[{APART}])\d(?:([.{APART}])\d(?!\d)(?:\1\d(?!\d)){{11,17}}+)(?!\1?\d)", re.ASCII
)
POINTED_DIGITS = re.compile(r"(?<![\d.,])\d{4}([./_])\d{4}\1\d{4}\1\d{4}(?![.,/]?\d)", re.ASCII)
IBAN_START = re.compile(r"[A-Z]{2}\d{2}|[a-z]{2}\d{2}", re.ASCII)
ANY_IBAN = Sign(IBAN_START.pattern)

# Issuer prefixes and the lengths in use, after the networks' own lists; the 19 digits that some may have but do not
# issue would make a card of every tenth long number.
ISSUERS: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = (
    (re.compile(r"4"), frozenset({13, 16})),  # Visa
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), frozenset({16})),  # Mastercard
    (re.compile(r"3[47]"), frozenset({15})),  # American Express
    (re.compile(r"220[0-4]"), frozenset({16})),  # Mir
    (re.compile(r"9792"), frozenset({16})),  # Troy
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
# What card networks and banks publish as samples.
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

ROUTING_WORDS = ("routing", "aba", "rtn", "aba/routing", "transit number")
SWIFT_WORDS = ("swift", "bic", "swift/bic", "bic/swift", "swift-bic")
SORT_WORDS = ("sort code", "sort-code", "sortcode")
ACCOUNT_WORDS = (
    "account number", "account no", "account #", "acct", "acct no", "bank account", "checking account",
    "savings account", "a/c no", "kontonummer", "kontonr", "numéro de compte", "número de cuenta", "numero di conto",
    "rekeningnummer", "número da conta", "口座番号", "银行账号", "银行卡号", "계좌번호",
)  # fmt: skip
IS = r"[^0-9A-Za-z\n]{0,4}(?:(?:number|no|code|transit|nummer|is|est|ist)\b[^0-9A-Za-z\n]{0,4}){0,3}"
ROUTING = re.compile(rf"{IS}(\d{{9}})", re.ASCII | re.I)
SWIFT = re.compile(rf"{IS}((?-i:[A-Z]{{4}}[A-Z]{{2}}[A-Z0-9]{{2}}(?:[A-Z0-9]{{3}})?))", re.ASCII | re.I)
SORT = re.compile(rf"{IS}(\d\d([- ]?)\d\d\2\d\d)", re.ASCII | re.I)
ACCOUNT = re.compile(rf"{IS}(\d(?:[ -]?\d){{6,16}}+)", re.ASCII | re.I)
IFSC = re.compile(rf"{IS}((?-i:[A-Z]{{4}}0[A-Z0-9]{{6}}))", re.ASCII | re.I)
BSB = re.compile(rf"{IS}(\d{{3}}[- ]?\d{{3}})", re.ASCII | re.I)
CLABE = re.compile(rf"{IS}(\d{{18}})", re.ASCII | re.I)
LABELLED = {
    **dict.fromkeys(ROUTING_WORDS, ROUTING), **dict.fromkeys(SWIFT_WORDS, SWIFT), **dict.fromkeys(SORT_WORDS, SORT),
    **dict.fromkeys(ACCOUNT_WORDS, ACCOUNT), "ifsc": IFSC, "bsb": BSB, "clabe": CLABE,
}  # fmt: skip


def iban_checks(iban: str) -> bool:
    """Return whether an IBAN without spaces has its country's length and remainder 1 modulo 97 (ISO 13616, 7064)."""
    return len(iban) == IBAN_LENGTHS.get(iban[:2]) and mod_97(iban[4:] + iban[:4])


def routing_checks(number: str) -> bool:
    """Return whether nine digits are a routing number of the American Bankers Association, by weights 3, 7, 1."""
    issued = int(number[:2]) in {*range(13), *range(21, 33), *range(61, 73), 80}
    return issued and int(number) > 0 and weighted(number, (3, 7, 1) * 3) % 10 == 0


def cards(text: str) -> Iterator[Finding]:
    """Yield payment cards: 12–19 digits, together, in groups or one by one, with issuer, length and check digit."""
    if not TWELVE_DIGITS.occurs_in(text):
        return
    for run in (*SPACED_DIGITS.finditer(text), *POINTED_DIGITS.finditer(text)):
        digits = re.sub(r"\D", "", run[0])
        if len(digits) >= 14 and _is_card(digits):
            yield Finding("card", *run.span(), None, digits in DUMMY_CARDS)
    for run in DIGIT_GROUPS.finditer(text):
        if len(run[0]) >= SHORTEST_CARD:
            yield from _cards_in_groups(text, run)


def _cards_in_groups(text: str, run: re.Match[str]) -> Iterator[Finding]:
    groups = [match.span() for match in DIGITS.finditer(text, *run.span())]
    done = 0
    for first in range(len(groups)):
        if first < done or groups[first][1] - groups[first][0] < SMALLEST_GROUP:
            continue
        digits, card = "", None
        for last in range(first, min(first + GROUPS_OF_A_CARD, len(groups))):
            size = groups[last][1] - groups[last][0]
            digits += text[slice(*groups[last])]
            if len(digits) > LONGEST_CARD or (size > 6 and last > first):
                break
            start, end = groups[first][0], groups[last][1]
            # the longest with a correct check digit: some networks have cards of 12 and of 19 digits
            # twelve digits in groups of four, followed by more, are the beginning of something else
            begun = first < last < len(groups) - 1 and size == 4 and len(digits) == SHORTEST_CARD
            if not begun and _is_card(digits) and stands_alone(text, start, end):
                card, done = Finding("card", start, end, None, digits in DUMMY_CARDS), last + 1
            if not SMALLEST_GROUP <= size <= 6:
                break
        if card is not None:
            yield card


def _is_card(digits: str) -> bool:
    if len(digits) == LENGTH_OF_EAN and ean(digits):  # goods; cards of thirteen digits are no longer issued
        return False
    return any(len(digits) in lengths and issuer.match(digits) for issuer, lengths in ISSUERS) and luhn(digits)


def ibans(text: str) -> Iterator[Finding]:
    """Yield IBANs of their country's length with correct check digits, also in groups and in small letters."""
    for head in IBAN_START.finditer(text) if ANY_IBAN.occurs_in(text) else ():
        length = IBAN_LENGTHS.get(head[0][:2].upper())
        if length is None:
            continue
        # small letters only together or in groups of four: the words of a sentence are letters and spaces as well
        small = rf"(?:[a-z0-9]{{4}}[{APART}]?){{{(length - 1) // 4}}}[a-z0-9]{{{(length - 1) % 4 + 1}}}"
        form = rf"(?:[A-Z0-9][{APART}]?){{{length - 1}}}[A-Z0-9]" if head[0].isupper() else small
        written = re.match(form, text[head.start() : head.start() + 2 * length])
        if written is None:
            continue
        iban, end = re.sub(rf"[{APART}]", "", written[0]).upper(), head.start() + written.end()
        if iban_checks(iban) and stands_alone(text, head.start(), end):
            yield Finding("iban", head.start(), end, None, iban in DUMMY_IBANS)


def bank_accounts(text: str) -> Iterator[Finding]:
    """Yield account numbers and the codes of banks after words for them: routing numbers, BICs, sort codes, IFSC, BSB.

    Routing numbers, and Mexico's CLABE, have a correct check digit.
    """
    for word, beside, start in after_words(text, LABELLED):
        form = LABELLED[word]
        match = form.match(beside)
        if match is None:
            continue
        first, last = start + match.start(1), start + match.end(1)
        if CHECKS.get(form, bool)(match[1]) and stands_alone(text, first, last):
            yield Finding("bank_account", first, last)


def _clabe_checks(number: str) -> bool:
    remainders = (int(digit) * weight % 10 for digit, weight in zip(number[:17], cycle((3, 7, 1)), strict=False))
    return -sum(remainders) % 10 == int(number[17])


# ISO 3166 codes of the countries whose banks have a BIC
COUNTRIES = frozenset(
    "AD AE AF AG AI AL AM AO AR AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CK "
    "CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FO FR GA GB GD GE GF GG GH GI GL GM GN "
    "GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KR KW KY KZ LA LB LC "
    "LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MO MR MS MT MU MV MW MX MY MZ NA NC NE NG NI NL NO NP NZ OM PA "
    "PE PF PG PH PK PL PR PS PT PY QA RE RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS ST SV SY SZ TC TD TG TH "
    "TJ TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WS XK YE ZA ZM ZW".split()
)
CHECKS: dict[re.Pattern[str], Callable[[str], bool]] = {
    ROUTING: routing_checks,
    CLABE: _clabe_checks,
    SWIFT: lambda code: code[4:6] in COUNTRIES,
}
