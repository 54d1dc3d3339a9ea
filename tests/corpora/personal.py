"""Personal data of nobody, by the authorities' rules, and numbers and names that only look like it."""

import hashlib
import string
import uuid
from collections.abc import Mapping

from tests.corpora.cases import Draw, Make, Piece, Planted

DIGITS = string.digits
NAMES = "anna jonas marie.dupont li.wei o.kovács priya_k t-tanaka jürgen.groß sofia.rossi ivan_petrov a.b.smith".split()
HOSTS = "acme-bank.com mail.northwind.co.uk post.nordlicht.de correo.ejemplar.es uni-tübingen.de kaisha.co.jp".split()

# issuer: beginnings and lengths, after ISO/IEC 7812 and the networks' public pages
CARDS = {
    "visa": (("4",), (16,)), "mastercard": (("51", "52", "53", "54", "55", "2221", "2230", "2399", "2720"), (16,)),
    "amex": (("34", "37"), (15,)), "discover": (("6011", "644", "649", "65"), (16,)),
    "diners": (("300", "305", "36", "38", "39"), (14,)), "jcb": (("3528", "3541", "3589"), (16,)),
    "unionpay": (("62",), (16, 17, 18, 19)), "maestro": (("5018", "5020", "6304", "6759", "6761"), (16, 18, 19)),
}  # fmt: skip
GROUPS = {15: (4, 6, 5), 14: (4, 6, 4)}  # others in fours
# the form of an account number by country: n digit, a letter, c either. Source: the SWIFT IBAN registry
ACCOUNTS = {
    "AT": "16n", "BE": "12n", "BG": "4a6n8c", "BR": "23n1a1c", "CH": "5n12c", "CY": "8n16c", "CZ": "20n", "DE": "18n",
    "DK": "14n", "EE": "16n", "ES": "20n", "FI": "14n", "FR": "10n11c2n", "GB": "4a14n", "GE": "2a16n", "GR": "7n16c",
    "HR": "17n", "HU": "24n", "IE": "4a14n", "IL": "19n", "IS": "22n", "IT": "1a10n12c", "KW": "4a22c", "LT": "16n",
    "LU": "3n13c", "LV": "4a13c", "MT": "4a5n18c", "NL": "4a10n", "NO": "11n", "PL": "24n", "PT": "21n", "RO": "4a16c",
    "SA": "2n18c", "SE": "20n", "SI": "15n", "SK": "20n", "TR": "5n1c16c", "AE": "19n", "UA": "6n19c", "MC": "10n11c2n",
}  # fmt: skip
ALPHABETS = {"n": DIGITS, "a": string.ascii_uppercase, "c": DIGITS + string.ascii_uppercase}
AREAS = "202 206 212 213 303 305 312 404 415 503 512 602 612 617 702 713 718 773 808 901 917 919".split()


def digits(rng: Draw, count: int) -> str:
    return "".join(rng.choices(DIGITS, k=count))


def luhn_digit(number: str) -> str:
    """The digit that makes the sum of all, every second one from the right doubled, a multiple of ten."""
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(number))]
    return str(-sum(value // 10 + value % 10 for value in doubled) % 10)


def card(rng: Draw, issuer: str | None = None) -> str:
    beginnings, lengths = CARDS[issuer or rng.choice(list(CARDS))]
    number, length = rng.choice(beginnings), rng.choice(lengths)
    number += digits(rng, length - 1 - len(number))
    return number + luhn_digit(number)


def grouped(number: str, separator: str) -> str:
    sizes = GROUPS.get(len(number), (4,) * 5)
    parts, place = [], 0
    for size in sizes:
        parts.append(number[place : place + size])
        place += size
    return separator.join(part for part in parts if part)


def bad_card(rng: Draw) -> str:
    """Everything of a card but its check digit."""
    number = card(rng)
    return number[:-1] + str((int(number[-1]) + rng.randrange(1, 10)) % 10)


def account(rng: Draw, country: str) -> str:
    form, made = ACCOUNTS[country], ""
    while form:
        count = "".join(character for character in form[:2] if character.isdigit())
        made += "".join(rng.choices(ALPHABETS[form[len(count)]], k=int(count)))
        form = form[len(count) + 1 :]
    return made


def iban(rng: Draw, wrong: int = 0) -> str:
    """Check digits: 98 less the remainder modulo 97 of account, country (A is 10) and 00; `wrong` is added to them."""
    country = rng.choice(list(ACCOUNTS))
    own = account(rng, country)
    number = int("".join(str(int(character, 36)) for character in own + country + "00"))
    return f"{country}{(98 - number % 97 + wrong - 2) % 97 + 2:02}{own}"


def fours(text: str, separator: str = " ") -> str:
    return separator.join(text[place : place + 4] for place in range(0, len(text), 4))


def ssn(rng: Draw, separator: str = "-") -> str:
    area = rng.choice([number for number in range(100, 900) if number not in (666, 219, 123, 111, 222, 333)])
    return f"{area:03}{separator}{rng.randrange(1, 100):02}{separator}{rng.randrange(1, 10_000):04}"


def email(rng: Draw) -> str:
    mailbox = rng.choice(NAMES) + rng.choice(["", "+news", str(rng.randrange(100)), "_x", ".jr"])
    return f"{mailbox}@{rng.choice(['', '', 'mail.', 'eu-1.'])}{rng.choice(HOSTS)}"


def us_phone(rng: Draw, form: str) -> str:
    exchange = rng.choice([n for n in range(220, 990) if n % 100 != 11 and n != 555 and n // 10 % 10 != 9])
    line = f"{rng.randrange(200, 10_000):04}"
    return form.format(rng.choice(AREAS), exchange, line)


def us(form: str) -> Make:
    return lambda rng: us_phone(rng, form)


def numbered(form: str) -> Make:
    """Each # a digit."""
    return lambda rng: "".join(rng.choice(DIGITS) if character == "#" else character for character in form)


def one_of(*forms: str) -> Make:
    return lambda rng: numbered(rng.choice(forms))(rng)


def named(before: str, make: Make, after: str = "") -> Make:
    def made(rng: Draw) -> Piece:
        value = make(rng)
        return Piece(value if isinstance(value, str) else value.text, before, after)

    return made


ABROAD = (
    "+44 20 7### ####", "+44 7825 ######", "+49 30 2######", "+49 89 5#######", "+33 1 42 ## ## ##",
    "+33 6 12 ## ## ##", "+34 612 ### ###", "+39 06 69######", "+31 20 5## ####", "+41 44 2## ## ##",
    "+46 8 5## ### ##", "+48 22 6## ## ##", "+81 3-3###-####", "+86 138 0### ####", "+91 98### #####",
    "+55 11 9####-####", "+61 412 ### ###", "+7 495 6##-##-##", "+351 21 3## ####", "+43 1 5######",
    "+90 212 2## ## ##", "+82 2-7##-####", "+27 21 4## ####", "+52 55 5### ####",
)  # fmt: skip
AT_HOME = {
    "GB": ("020 7### ####", "07825 ######"), "DE": ("030 2######", "089 5#######"),
    "FR": ("01 42 ## ## ##", "06 12 ## ## ##"), "ES": ("612 ### ###",), "IT": ("06 69######",),
    "JP": ("03-3###-####",), "AU": ("0412 ### ###",), "BR": ("(11) 9####-####",), "CH": ("044 2## ## ##",),
    "NL": ("020 5## ####",), "IN": ("098### #####",),
}  # fmt: skip
CALL = ("call ", "Tel: ", "phone ", "Telefon: ", "mobile ", "tél. ", "电话：", "電話番号は", "тел. ", "WhatsApp ")

PLANTED: Mapping[str, Planted] = {
    **{f"card {issuer}": Planted("card", lambda rng, issuer=issuer: card(rng, issuer)) for issuer in CARDS},  # type: ignore[misc]
    "card in groups": Planted("card", lambda rng: grouped(card(rng), " ")),
    "card with dashes": Planted("card", lambda rng: grouped(card(rng), "-")),
    "card with hard spaces": Planted("card", lambda rng: grouped(card(rng), "\u00a0")),
    "card after words": Planted("card", named("credit card no. ", lambda rng: card(rng, "visa"), " exp 04/29")),
    "iban": Planted("iban", iban),
    "iban in fours": Planted("iban", lambda rng: fours(iban(rng))),
    "iban with hard spaces": Planted("iban", lambda rng: fours(iban(rng), "\u00a0")),
    "iban in small letters": Planted("iban", lambda rng: iban(rng).lower()),
    "iban after its name": Planted("iban", named("IBAN:", iban)), "ssn": Planted("ssn", ssn),
    "ssn with spaces": Planted("ssn", lambda rng: ssn(rng, " ")),
    "ssn by name": Planted("ssn", named("SSN: ", lambda rng: ssn(rng, ""))),
    "ssn in words": Planted("ssn", named("social security number ", lambda rng: ssn(rng))),
    "email": Planted("email", email),
    "email in brackets": Planted("email", named("Anna <", email, ">")),
    "email mailto": Planted("email", named("mailto:", email)),
    "email in a row": Planted("email", named("to=", email, "; cc=none")),
    "phone us": Planted("phone", us("({}) {}-{}")), "phone us dashes": Planted("phone", us("{}-{}-{}")),
    "phone us dots": Planted("phone", us("{}.{}.{}")), "phone us country code": Planted("phone", us("+1 {} {} {}")),
    "phone us extension": Planted("phone", us("{}-{}-{} ext. 42")),
    "phone us bare": Planted("phone", lambda rng: Piece(us_phone(rng, "{}{}{}"), rng.choice(CALL))),
    "phone abroad": Planted("phone", one_of(*ABROAD)),
    "phone abroad, unbroken": Planted("phone", lambda rng: str(one_of(*ABROAD)(rng)).replace(" ", "").replace("-", "")),
    **{f"phone in {region}": Planted("phone", one_of(*forms), options={"region": region}) for region,
        forms in AT_HOME.items()},
}  # fmt: skip

# Samples that networks, banks and authorities publish: found, and marked as of nobody.
SAMPLES: Mapping[str, Planted] = {
    "test card": Planted("card", lambda rng: rng.choice(["4111111111111111", "5555 5555 5555 4444", "378282246310005",
                                                         "6011-1111-1111-1117", "3530111333300000"]), dummy=True),
    "sample iban": Planted("iban", lambda rng: rng.choice(["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000",
                                                           "FR1420041010050500013M02606"]), dummy=True),
    "sample ssn": Planted("ssn", lambda rng: rng.choice(["078-05-1120", "219-09-9999", "123-45-6789"]), dummy=True),
    "example domain": Planted("email", lambda rng: f"{rng.choice(NAMES)}@" + rng.choice(
        ["example.com", "mail.example.org", "example.net", "shop.test", "a.invalid", "my.example"]), dummy=True),
    "555 number": Planted("phone", lambda rng: f"({rng.choice(AREAS)}) 555-01{rng.randrange(100):02}", dummy=True),
    "other 555 number": Planted(
        "phone", lambda rng: f"{rng.choice(AREAS)}-555-{rng.randrange(2000, 9000)}", dummy=True
    ),
    "drama number": Planted("phone", one_of("+44 20 7946 0###", "+44 113 496 0###", "+44 161 496 0###"), dummy=True),
}  # fmt: skip


def isbn13(rng: Draw) -> str:
    number = "978" + digits(rng, 9)
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(number))
    return number + str(-total % 10)


def isbn10(rng: Draw) -> str:
    number = "0" + digits(rng, 8)
    check = -sum(int(digit) * (10 - place) for place, digit in enumerate(number)) % 11
    return f"{number[0]}-{number[1:4]}-{number[4:]}-{'X' if check == 10 else check}"


def ean(rng: Draw) -> str:
    """The thirteen digits under a bar code of a German product: it begins like a card of long ago."""
    number = "40" + digits(rng, 10)
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(number))
    return number + str(-total % 10)


def imei(rng: Draw) -> str:
    number = "35" + digits(rng, 12)
    return number + luhn_digit(number)


def moment(rng: Draw) -> str:
    return f"{rng.randrange(1990, 2040)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def clock(rng: Draw) -> str:
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"


LOOK_ALIKES: Mapping[str, Make] = {
    "card with a wrong check digit": bad_card, "the same in groups": lambda rng: grouped(bad_card(rng), " "),
    "order number": numbered("ORD-2024-########"), "shop's order number": numbered("11#-#######-#######"),
    "invoice": one_of("invoice 2024/######", "RE-2023-#####", "INV#########"),
    "customer number": lambda rng: f"customer no. {rng.randrange(10**7, 10**8)}",
    "sixteen digits of no issuer": lambda rng: "9" + digits(rng, 15),
    "isbn": isbn13,
    "isbn in parts": lambda rng: (lambda n: f"ISBN {n[:3]}-{n[3]}-{n[4:8]}-{n[8:12]}-{n[12]}")(isbn13(rng)),
    "isbn of ten": lambda rng: f"ISBN {isbn10(rng)}", "bar code": ean, "imei": imei,
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "md5": lambda rng: hashlib.md5(rng.randbytes(8), usedforsecurity=False).hexdigest(),
    "sha256": lambda rng: hashlib.sha256(rng.randbytes(8)).hexdigest(),
    "commit": lambda rng: f"commit {rng.randbytes(20).hex()}",
    "version": one_of("v#.##.#", "10.0.1####.####", "python 3.11.#", "#.#.#-rc.#+build.####", "1.2#.3##.4###"),
    "unix time": lambda rng: f"ts={rng.randrange(1_500_000_000, 1_800_000_000)}",
    "unix time in ms": lambda rng: str(rng.randrange(1_500_000_000_000, 1_800_000_000_000)),
    "date": lambda rng: moment(rng), "date and time": lambda rng: f"{moment(rng)} {clock(rng)}",
    "compact date and time": lambda rng: moment(rng).replace("-", "") + "T" + clock(rng).replace(":", ""),
    "german date": lambda rng: ".".join(reversed(moment(rng).split("-"))),
    "american date": lambda rng: f"{rng.randrange(1, 13):02}/{rng.randrange(1, 29):02}/{rng.randrange(1990, 2040)}",
    "years": lambda rng: f"{rng.randrange(1800, 1900)}-{rng.randrange(1900, 2000)}",
    "coordinates of a town": lambda rng: f"{rng.uniform(-90, 90):.2f}, {rng.uniform(-180, 180):.2f}",
    "degrees": lambda rng: f"{rng.randrange(90)}°{rng.randrange(60)}′{rng.randrange(60)}″N",
    "private ip": one_of("192.168.#.1##", "10.2#.1##.7", "172.16.#.##", "127.0.0.1", "fe80::1##", "::1"),
    "decimal": lambda rng: f"{rng.random():.16f}", "large decimal": lambda rng: f"{rng.uniform(0, 10**7):,.2f}",
    "table of decimals": lambda rng: " ".join(f"{rng.uniform(0, 100):.3f}" for _ in range(5)),
    "row of a table": lambda rng: f"1,{rng.randrange(100, 999)},{ssn(rng, ' ')[:6]} {rng.randrange(1900, 2020)}",
    "isbn, spaced out": lambda rng: numbered(f"( ISBN 0 - 312 - ##### - # ) {rng.randrange(1990, 2020)}")(rng),
    "row of numbers": lambda rng: " ".join(str(rng.randrange(100)) for _ in range(12)),
    "hours": lambda rng: ":".join(f"{rng.randrange(60):02}" for _ in range(6)),
    "part number": one_of("415-867-53##-A", "P/N A415-867-53##", "867-53#-9#", "X212-456-11##", "415-867-5309-##"),
    "number of no exchange": one_of("(115) 867-53##", "415-167-53##", "911-###-####", "(202) 011-11##"),
    "serial": one_of("SN 4F##-9K##-##QX", "S/N: ##-####-#####-##"),
    "phone's last digits": numbered("555-01##"),
    "iban with wrong check digits": lambda rng: iban(rng, rng.randrange(1, 97)),
    "the same in fours": lambda rng: fours(iban(rng, rng.randrange(1, 97))),
    "iban cut short": lambda rng: iban(rng)[: -rng.randrange(1, 4)],
    "iban of no country": lambda rng: "ZX" + iban(rng)[2:],
    "ssn never given": one_of("000-12-34##", "666-45-67##", "9##-45-67##", "123-00-45##", "234-56-0000"),
    "zip code": lambda rng: f"{rng.randrange(10_000, 99_999)}-{rng.randrange(1000, 9999)}",
    "nine digits": lambda rng: str(rng.randrange(10**8, 10**9)), "issn": one_of("ISSN 2049-36##", "ISSN 0028-08##"),
    "doi": numbered("10.1038/s41586-021-0####-#"), "score": one_of("3-2, 4-1, 0-0", "21-#, 19-21, 21-1#"),
    "share": one_of("12.5% of 4##,###", "CHF 1'2##'###.00", "€ 1.2##.###,00", "1 2## ### kr"),
    "handle": lambda rng: f"@{rng.choice(NAMES)}",
    "handle elsewhere": lambda rng: f"@{rng.choice(['anna', 'wei', 'ivan'])}@social.nordlicht.de",
    "package": one_of("left-pad@1.3.#", "react@^18.2.#", "numpy@2.#", "actions/checkout@v4.1.#"),
    "picture": one_of("logo@2x.png", "icon@3x.webp", "hero@2x.jpg"),
    "remote": one_of("git@github.com:acme/shop.git", "git@gitlab.acme.org:team/repo-#.git"),
    "no domain": one_of("root@localhost", "anna@intranet", "x@y"),
    "password in an address": lambda rng: f"postgres://app:{digits(rng, 8)}@db{rng.randrange(9)}.acme-bank.com/shop",
    "matrix product": one_of("X@W.transpose()", "model@self.weight.reshape(#, -1)"),
    "decorator": one_of("@app.route('/v#')", "@pytest.mark.parametrize"),
    "words for a place": one_of("see it at acme dot com", "look at amazon dot com", "meet me at noon"),
}  # fmt: skip
