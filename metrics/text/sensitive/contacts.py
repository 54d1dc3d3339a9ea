"""Contact data in text: e-mail addresses, also spelled out, and telephone numbers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from metrics.text.patterns import LETTER, UNSPACED, WORD, Sign
from metrics.text.sensitive.spans import Finding, stands_alone

LONGEST_USER = 200  # characters of a URL before its host
MAILBOX_BACKWARDS = re.compile(rf"(?:{WORD}|[.%+'-]){{0,63}}{WORD}")
DOMAIN = re.compile(
    rf"(?:{LETTER}(?:(?:{WORD}|-){{0,61}}{LETTER})?\.){{1,6}}"
    rf"(?P<top>xn--[a-z0-9-]{{2,20}}|[^\W\d_{UNSPACED}]{{2,24}})(?!{WORD})"
)
ENDINGS = frozenset("png jpg jpeg gif svg webp avif bmp ico pdf css js json html xml csv txt yaml yml toml".split())
NOBODY = frozenset({"git", "hg", "svn"})  # before @ and a host in the address of a repository
USER_OF_URL = re.compile(r"://[^\s/?#]*$")

# john (at) example dot com, john[at]example[dot]com; "at" without brackets only with "dot" and a reason to believe it
BRACKETED_AT = re.compile(
    r"\s{0,2}[(\[{<]\s?(?:at|ät|@|arroba|chez)\s?[)\]}>]\s{0,2}|%40|&#0{0,4}64;|&#x0{0,4}40;|&commat;", re.IGNORECASE
)
SPOKEN_AT = re.compile(r"(?:\s{1,2}|_|-)(?:at|arroba|@)(?:\s{1,2}|_|-)|(?<=\w)@(?=\w)", re.IGNORECASE)
DOT = r"(?:\s{0,2}[(\[{<]\s?(?:dot|punkt|point|punto|\.)\s?[)\]}>]\s{0,2}|\s{1,2}(?:dot|punkt|punto)\s{1,2}|\.)"
SPELLED_DOMAIN = re.compile(
    rf"{LETTER}[\w-]{{0,62}}(?:{DOT}{LETTER}[\w-]{{0,62}}){{0,3}}{DOT}(?P<top>[A-Za-z]{{2,10}})\b", re.I
)
SPOKEN_DOT = r"(?:[\s_-]{1,2}(?:dot|punkt|punto)[\s_-]{1,2}|\s{1,2}\.\s{1,2})"
SPOKEN_DOMAIN = re.compile(
    rf"(?i)[a-z0-9][\w-]{{0,62}}(?:{SPOKEN_DOT}[a-z0-9][\w-]{{0,62}}){{0,3}}?(?:{SPOKEN_DOT}|(?P<plain>\.))"
    r"(?:com|org|net|edu|gov|io|ai|co|de|fr|uk|es|it|nl|eu|ch|at|in|info|biz|us|ca|au|jp|cn|br|ru|pl|se|no)\b"
)
ANY_BRACKETED_AT = Sign(r"[(\[{<](?s:.)?(?:at|ät|@|arroba|chez)|%40|&#|&commat", case_sensitive=False)
ANY_SPOKEN_AT = Sign(
    r"(?:at|arroba|@)[^0-9a-z]{0,2}[^ .]{1,63}(?:[^0-9a-z]{1,2}(?:dot|punkt|punto)|[^0-9a-z]{1,2}\.[^0-9a-z]|\.\S)",
    case_sensitive=False,
)
SPELLED_MAILBOX = re.compile(r"((?:[\w%+-]|\.(?=\S)|\s?[(\[]\s?dot\s?[)\]]\s?|\s{1,2}dot\s{1,2}){0,80}[\w%+-])$", re.I)
NO_MAILBOX = frozenset("look it us me them here out online available found shop order buy and store prices".split())
SAID_TO_BE = re.compile(
    r"(?i)(?:\b(?:my|your|our|his|her|their|meine?|mi|mon|mein)\s(?:e-?)?mail|address|adresse|correo|courriel)\b.{0,12}"
    r"(?::|\b(?:is|ist|est|es))\s{0,2}$|mail\s?:\s{0,2}$"
)
ASKED_TO_WRITE = re.compile(r"mail|contact|write|reach|address|kontakt|schreib|correo|courriel|adresse", re.IGNORECASE)

TELEPHONE_WORDS = re.compile(
    rf"(?i)(?<!{WORD})(?:\w{{0,9}}phones?|tele?f[oó]+ne?o?s?|\w{{0,7}}telefon\w{{0,7}}|t[eé]l|t[eé]l[eé]phone|ph|"
    r"call\w{0,3}|mob|mobil\w{0,7}|m[oó]vil|cell|celular|handy|rufnummer|fax|contact|reach|dial|hotline|whatsapp|text|"
    r"sms|gsm|тел|телефон\w{0,3})\b|電話|携帯|电话|手机|手機|전화|휴대폰|هاتف|फ़ोन|फोन|โทร"
)
ABBREVIATED = re.compile(rf"(?<!{WORD})(t[eé]l|ph|mob|тел)\.", re.IGNORECASE)
CLOSING = {"(": ")", "[": "]"}
GOES_ON = re.compile(r"-$|\d\s{0,3}-\s{0,3}$|isbn\S{0,3}\s{0,3}$", re.IGNORECASE)
PART_OF_A_NAME = re.compile(r"-\w")
# An address of the internet, a date, a file of a year.
NO_PHONE = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\d{1,2}\.\d{1,2}\.(?:19|20)\d\d|(?:19|20)\d\d/\d+")
PHONE_CANDIDATES, PHONE_TRIES = 2_000, 20_000  # of a text, valid and not: each takes libphonenumber some 0.2 ms
WORD_REACH = 24  # characters before a bare run of digits in which such a word makes it a phone number
LABELLED_NUMBER = re.compile(r"\W{0,3}(?:\w{1,8}\W{1,3}){0,2}?(\(?0?\d[\d ()./-]{5,17}\d)(?![\d-])", re.ASCII)
# With the 0 of a national number in front, in two to five groups: 030 2123456, (01) 42 68 53 00.
TRUNK_NUMBER = re.compile(
    r"(?<![\w.,/+-])(?<!\d )(\(?0[1-9]\d{0,4}\)?(?:[ /-]{1,2}\d{2,8}){1,4})(?![\w(-]|[.,:/]\d| \d)", re.ASCII
)
TRUNK_REGIONS = ("DE", "GB", "FR", "IN", "JP", "AU", "NL", "CH", "IT", "AT", "BE", "SE", "ZA", "TR")
ANY_PHONE = Sign(r"[0-9](?:[^0-9]{0,4}[0-9]){3}")  # of no country are numbers shorter, of libphonenumber no gaps longer
ANY_LOCAL_PHONE = Sign(r"[0-9][0-9 ()./-]{5,17}[0-9]")
SHORTEST_TRUNK = 9  # digits; a date has eight
MOST_LABELLED = 500  # numbers of a text that are tried in every region: each takes some 10 ms
WORLD = "any"

DUMMY_DOMAIN = re.compile(r"(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost)$", re.IGNORECASE)
# North America's exchange 555 but for directory assistance; what Ofcom keeps for films.
DUMMY_PHONE = re.compile(
    r"\+1\d{3}555(?!1212)\d{4}|\+44(?:207946|1914980|(?:11[3-8]|1[2-6]1)4960|2920180|2896496)\d{3,4}"
)


def emails(text: str) -> Iterator[Finding]:
    """Yield e-mail addresses at a domain name, also with (at) and (dot); no handles, files or users of URLs."""
    at = text.find("@")
    while at >= 0:
        domain = DOMAIN.match(text, at + 1)
        mailbox = MAILBOX_BACKWARDS.match(text[max(0, at - 64) : at][::-1]) if domain else None
        start = at - mailbox.end() if mailbox else at
        if text[start - 1 : start] == "\\" and text[start] in "nrt":  # a line break that is written as \n
            start += 1
        if domain and start < at and _is_address(text, start, at, domain):
            yield Finding("email", start, domain.end(), None, DUMMY_DOMAIN.search(domain[0]) is not None)
        at = text.find("@", at + 1)
    if ANY_BRACKETED_AT.occurs_in(text):
        yield from _spelled(text, BRACKETED_AT, SPELLED_DOMAIN)
    if ANY_SPOKEN_AT.occurs_in(text):
        yield from _spelled(text, SPOKEN_AT, SPOKEN_DOMAIN)


def _is_address(text: str, start: int, at: int, domain: re.Match[str]) -> bool:
    """Return whether a mailbox and a domain are not code, a handle, a file or the user in a URL."""
    if text[start - 1 : start] == "@" or text[domain.end() : domain.end() + 1] == "(":
        return False
    if text[start:at] in NOBODY or domain["top"].lower() in ENDINGS:
        return False
    return not USER_OF_URL.search(text, max(0, start - LONGEST_USER), start)


def _spelled(text: str, form: re.Pattern[str], host: re.Pattern[str]) -> Iterator[Finding]:
    for at in form.finditer(text):
        domain = host.match(text, at.end(), at.end() + 300)
        mailbox = SPELLED_MAILBOX.search(text[max(0, at.start() - 84) : at.start()]) if domain else None
        if domain is None or mailbox is None:
            continue
        start = at.start() - len(mailbox[1])
        if form is SPOKEN_AT:
            plain = domain["plain"] is not None
            if plain if at[0] == "@" else not _meant(text, start, mailbox[1], plain):  # jo@acme.com is not spelled
                continue
        dot = r"(?i)[\s_-]?[(\[{<]?\s?(?<![^\W_])(?:dot|punkt|punto|point)(?![^\W_])\s?[)\]}>]?[\s_-]?|\s\.\s"
        shown = re.sub(dot, ".", domain[0])
        if shown.rpartition(".")[2].lower() not in ENDINGS:
            yield Finding("email", start, domain.end(), None, DUMMY_DOMAIN.search(shown) is not None)


def _meant(text: str, start: int, mailbox: str, plain: bool) -> bool:
    """Return whether words before "at" are a mailbox: it looks like one, or the text speaks of mail."""
    # Before a domain with a `plain` dot, as in "we met at acme.com", only if the text says that this is the address.
    if mailbox.lower() in NO_MAILBOX:
        return False
    named = any(character.isdigit() or character in "._+" for character in mailbox) or " dot " in mailbox
    if plain:
        return SAID_TO_BE.search(text, max(0, start - 40), start) is not None
    return named or ASKED_TO_WRITE.search(text, max(0, start - 40), start) is not None


def phones(text: str, regions: Sequence[str]) -> Iterator[Finding]:
    """Yield telephone numbers that libphonenumber holds to be valid.

    `regions`: countries of numbers without a country code; "any": such numbers of the United States and Canada, and
    of every country after a word such as "call" or, of some, with the 0 in front that many countries put there. Digits
    without a separator need such a word in any case. The search ends after 2,000 valid or 20,000 invalid numbers.
    """
    if not ANY_PHONE.occurs_in(text):
        return
    for region in dict.fromkeys("US" if region == WORLD else region for region in regions):
        yield from _phones(text, region)
    if WORLD in regions and ANY_LOCAL_PHONE.occurs_in(text):
        yield from _phones_of_the_world(text)


def _phones(text: str, region: str) -> Iterator[Finding]:
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
        if (")" in raw and "(" not in raw) or not stands_alone(text, start, match.end):
            continue
        international = format_number(match.number, PhoneNumberFormat.E164)
        yield Finding("phone", start, match.end, None, DUMMY_PHONE.fullmatch(international) is not None)


def _phones_of_the_world(text: str) -> Iterator[Finding]:
    from phonenumbers import SUPPORTED_REGIONS  # on use

    labelled = (LABELLED_NUMBER.match(text, word.end()) for word in TELEPHONE_WORDS.finditer(text))
    tried: list[tuple[re.Match[str], Iterable[str]]] = [
        (match, SUPPORTED_REGIONS) for match in islice((match for match in labelled if match), MOST_LABELLED)
    ]
    trunk = (match for match in TRUNK_NUMBER.finditer(text) if sum(map(str.isdigit, match[1])) >= SHORTEST_TRUNK)
    tried += [(match, TRUNK_REGIONS) for match in islice(trunk, MOST_LABELLED)]
    for match, regions in tried:
        raw, (start, end) = match[1], match.span(1)
        if NO_PHONE.fullmatch(raw) or raw.count("(") != raw.count(")") or not stands_alone(text, start, end):
            continue
        if any(_is_valid(raw, region) for region in regions):
            yield Finding("phone", start, end)


def _is_valid(number: str, region: str) -> bool:
    """Return whether a number is one of a region; what is too short after the code of some country may be in others."""
    from phonenumbers import NumberParseException, is_valid_number, parse  # on use

    try:
        return bool(is_valid_number(parse(number, region)))
    except NumberParseException:
        return False
