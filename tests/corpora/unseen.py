# ruff: noqa: E501
"""Findings and look-alikes written after the rules were finished: other values, sentences and kinds of look-alike."""

import base64
import random
import string
from collections.abc import Mapping

from tests.corpora.cases import Draw, Make, Piece, Planted
from tests.corpora.credentials import BASE32, BASE62, HEX, URLSAFE, beside, drawn
from tests.corpora.personal import card, digits, iban, us_phone

CARRIERS = (
    "Hi team, could someone confirm that {} is the one we should use from Monday onwards?",
    "I dug through the ticket again and all I found was {} - nothing else.",
    "# notes from the call\n* customer called twice\n* gave us {}\n* wants a reply",
    "The assistant replied: sure, here you go, {}. Anything else?",
    "curl says 401 unless {} goes along", "commit message: remove {} from fixtures",
    "Kundin meldet sich wegen {} und bittet um Rückruf.", "Le client confirme {} par courrier.",
    "log.info('stored %s', '{}')", "\t- name: x\n\t  value: {}\n", "Q: what did she write?\nA: {}",
    "El cliente nos envió {} ayer por la tarde.",
)  # fmt: skip
PLAIN = ("Hi, I think {} is it, thanks a lot", "on the sheet:\n{}\nend of sheet", "A: {}", "sie schrieb {} dazu")


def given(*values: str) -> Make:
    return lambda rng: rng.choice(values)


def spaced(make: Make, separator: str = " ") -> Make:
    return lambda rng: separator.join(str(make(rng)))


def wide(make: Make) -> Make:
    table = {code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
    return lambda rng: str(make(rng)).translate(table)


def hidden(make: Make) -> Make:
    """With a zero-width space or a soft hyphen somewhere inside."""

    def written(rng: Draw) -> str:
        value = str(make(rng))
        place = rng.randrange(2, len(value) - 2)
        return value[:place] + rng.choice("\u200b\u200d\u00ad\u2060") + value[place:]

    return written


def one(kind: str, make: Make, fits: tuple[str, ...] = CARRIERS, **options: str) -> Planted:
    return Planted(kind, make, fits, options)


def address(rng: Draw) -> str:
    first, last = rng.choice(["ines", "tom", "yuki", "olga", "sam"]), rng.choice(["weber", "okafor", "lindt", "roy"])
    host, top = rng.choice(["tellus", "quarz-it", "ordesa"]), rng.choice(["io", "se", "com.br"])
    return f"{first}.{last}{rng.randrange(100)}@{host}.{top}"


def spelled(at: str, dot: str) -> Make:
    return lambda rng: (
        address(rng).replace("@", at).replace(".", dot, 9) if dot != "." else address(rng).replace("@", at)
    )


def public_ip(rng: Draw) -> str:
    return f"{rng.choice([34, 52, 81, 91, 145, 185, 203])}.{rng.randrange(64, 250)}.{rng.randrange(1, 250)}.{rng.randrange(1, 250)}"


# Valid by python-stdnum, which is not what the rules were written with.
IDS = {
    "DNI ": ("54362315K", "12345678Z", "00000023T"), "NIE: ": ("X2482300W",),
    "codice fiscale ": ("RCCMNL83S18D969H",), "BSN ": ("111222333", "123456782"),
    "PESEL: ": ("44051401359", "02070803628"), "Steuer-ID ": ("36574261809", "86095742719"),
    "NHS number ": ("943 476 5870", "401 023 2137"), "numéro de sécurité sociale : ": ("2 95 10 99 126 111 93",),
    "rijksregisternummer ": ("85.07.30-033.28",), "CPF ": ("390.533.447-05",), "CNPJ ": ("16.727.230/0001-97",),
    "CURP ": ("BOXW310820HNERXN09",), "Aadhaar ": ("2341 2341 2346",), "personnummer ": ("880320-0016",),
    "fødselsnummer ": ("151086 95088",), "hetu ": ("311280-888Y", "131052-308T"), "rodné číslo ": ("710319/2745",),
    "CNP ": ("1630615123457",), "ЕГН ": ("7523169263",), "PPS number ": ("6433435F",),
    "TFN ": ("123 456 782",), "SIN ": ("123 456 782",), "AHV ": ("756.9217.0769.85",), "OIB ": ("33392005961",),
    "T.C. Kimlik ": ("17291716060",), "身份证": ("11010519491231002X",), "AMKA ": ("01013099997",),
    "isikukood ": ("36805280109",), "asmens kodas ": ("33309240064",), "RUT ": ("12.531.909-2",),
    "CUIT ": ("20-05536168-2",), "SNILS ": ("112-233-445 95",), "ИНН ": ("500100732259",),
}  # fmt: skip


def national_id(rng: Draw) -> Piece:
    name = rng.choice(list(IDS))
    return Piece(rng.choice(IDS[name]), name)


def phone_abroad(rng: Draw) -> str:
    from phonenumbers import PhoneNumberFormat, PhoneNumberType as Type, example_number_for_type, format_number

    region = rng.choice("DE FR ES IT GB NL SE PL BR MX JP IN AU ZA TR KR".split())
    number = example_number_for_type(region, rng.choice([Type.FIXED_LINE, Type.MOBILE]))
    return format_number(number, PhoneNumberFormat.INTERNATIONAL)


PERSONAL: Mapping[str, Planted] = {
    "card": one("card", card), "card, digit by digit": one("card", spaced(lambda rng: card(rng, "visa"))),
    "card, wide": one("card", wide(lambda rng: card(rng, "mastercard"))), "card, hidden": one("card", hidden(card)),
    "iban": one("iban", iban), "iban, hidden": one("iban", hidden(iban)),
    "ssn": one("ssn", lambda rng: f"{rng.randrange(130, 600)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"),
    "email": one("email", address), "email, wide": one("email", wide(address)),
    "email (at)": one("email", spelled(" (at) ", ".")), "email [at]": one("email", spelled("[at]", ".")),
    "email at dot": one("email", lambda rng: f"jo_{rng.randrange(99)} at tellus dot com"),
    "phone": one("phone", lambda rng: us_phone(rng, "({}) {}-{}")), "phone abroad": one("phone", phone_abroad),
    "phone, hidden": one("phone", hidden(lambda rng: us_phone(rng, "{}-{}-{}"))),
    **{f"national id {number}": one("national_id", national_id) for number in range(6)},
    "bitcoin": one("crypto_address", given("1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
                                           "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")),
    "ethereum": one("crypto_address", given("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
                                            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB")),
    "ip": one("ip_address", public_ip), "ipv6": one("ip_address", lambda rng: f"2a00:1450:4001:{rng.randrange(4096):x}::{rng.randrange(1, 9999):x}"),
    "mac": one("mac_address", lambda rng: ":".join(["3c", "22", *(f"{rng.randrange(256):02X}" for _ in range(3)), "fb"])),
    "routing": one("bank_account", beside("routing number ", given("121000358", "026009593", "122105155"))),
    "account": one("bank_account", beside("bank account number: ", lambda rng: digits(rng, 10))),
    "birth": one("birth_date", beside("date of birth: ", lambda rng: f"{rng.randrange(10, 28)}/{rng.randrange(1, 12):02}/19{rng.randrange(40, 99)}")),
    "birth, named": one("birth_date", beside("DOB ", lambda rng: f"{rng.randrange(1, 28)} {rng.choice(['May', 'June', 'October'])} 19{rng.randrange(40, 99)}")),
    "passport": one("passport", beside("passport number ", lambda rng: digits(rng, 9))),
    "licence": one("driving_licence", beside("driver's license ", lambda rng: "D" + digits(rng, 7))),
}  # fmt: skip

LOOKS_PERSONAL: Mapping[str, Make] = {
    "order": lambda rng: f"order {rng.randrange(10**11, 10**12)}", "parcel": lambda rng: f"tracking 1Z{digits(rng, 16)}",
    "parcel, dhl": lambda rng: f"parcel JJD{digits(rng, 18)}", "isin": given("US0378331005", "DE0007164600"),
    "vin": lambda rng: "WVWZZZ1JZ" + digits(rng, 8), "gtin": lambda rng: f"GTIN {digits(rng, 14)}",
    "invoice": lambda rng: f"invoice {rng.randrange(10**8, 10**9)}", "paper": lambda rng: f"arXiv:24{digits(rng, 2)}.{digits(rng, 5)}",
    "section": lambda rng: f"section {rng.randrange(9)}.{rng.randrange(19)}.{rng.randrange(9)}.{rng.randrange(9)}",
    "firmware": lambda rng: f"firmware version {rng.randrange(9)}.{rng.randrange(200)}.{rng.randrange(99)}.{rng.randrange(99)}",
    "local ip": lambda rng: f"192.168.{rng.randrange(9)}.{rng.randrange(250)}", "loopback": given("127.0.0.1:8080", "::1", "0.0.0.0"),
    "hours": given("08:00:00-17:30:00", "12:34:56"), "year range": lambda rng: f"{rng.randrange(1900, 1960)}–{rng.randrange(1960, 2020)}",
    "population": lambda rng: f"{rng.randrange(100, 999)} {rng.randrange(100, 999)} {rng.randrange(100, 999)} inhabitants",
    "euros": lambda rng: f"{rng.randrange(1, 99)}.{rng.randrange(100, 999)}.{rng.randrange(100, 999)},00 EUR",
    "history": lambda rng: f"He was born on {rng.randrange(1, 28)} May 17{rng.randrange(10, 99)}", "sums": lambda rng: " + ".join(str(rng.randrange(99)) for _ in range(8)),
    "scores": lambda rng: " ".join(str(rng.randrange(10)) for _ in range(12)), "handle": given("@acme_support", "@team@"),
    "at prose": given("look at the dot com boom", "meet at noon dot", "at example, dot by dot"), "npm": given("lodash@4.17.21", "@types/node@20.1"),
    "bad iban": lambda rng: iban(rng, rng.randrange(1, 97)), "bad card": lambda rng: (lambda n: n[:-1] + str((int(n[-1]) + 3) % 10))(card(rng)),
    "bad bsn": given("BSN 111222334", "BSN 123456789"), "bad dni": given("DNI 54362315A", "87692032Q"), "bad pesel": given("PESEL 44051401358"),
    "bad nhs": given("NHS number 943 476 5871"), "bad bitcoin": given("1BoatSLRHtKNngkdXEeobR76b53LETtpyU"),
    "bad ethereum": given("0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d35A"), "sha1": lambda rng: rng.randbytes(20).hex(),
    "guid": lambda rng: f"{{{rng.randbytes(4).hex()}-{rng.randbytes(2).hex()}-4{rng.randbytes(2).hex()[1:]}-a{rng.randbytes(2).hex()[1:]}-{rng.randbytes(6).hex()}}}",
    "flight": lambda rng: f"LH{rng.randrange(100, 999)} PNR {''.join(rng.choices(string.ascii_uppercase, k=6))}", "postcode": given("SW1A 1AA", "1010 AB", "D-10115"),
    "passport talk": given("a passport valid for 6 months", "passport number is on page 2"), "account talk": given("account number of your bank", "sort code and account"),
    "dob talk": given("your date of birth", "date of birth and address"), "licence": given("licence MIT 2024", "driving licence required"),
}  # fmt: skip


def putty(rng: Draw) -> str:
    lines = [base64.b64encode(rng.randbytes(48)).decode() for _ in range(9)]
    head = "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nComment: rsa-key-20240301\nPublic-Lines: 6\n"
    return head + "\n".join([*lines[:6], "Private-Lines: 3", *lines[6:], f"Private-MAC: {rng.randbytes(20).hex()}"])


def kubeconfig(rng: Draw) -> str:
    body = base64.encodebytes(rng.randbytes(300)).decode()
    return base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n".encode()).decode()


def phrase(rng: Draw) -> str:
    return rng.choice((
        "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
        "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong",
        "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
        "scheme spot photo card baby mountain device kick cradle pact join borrow",
    ))  # fmt: skip


def word(rng: Draw) -> str:
    return rng.choice(["Sommer", "Kestrel", "falcon", "Bluebird"]) + rng.choice("!#_") + str(rng.randrange(1000, 9999))


def basic(rng: Draw) -> str:
    return base64.b64encode(f"svc{rng.randrange(99)}:{word(rng)}".encode()).decode()


SECRETS: Mapping[str, Planted] = {
    "putty": one("private_key", putty, ("the file:\n{}\n", "{}")), "kubeconfig": one("private_key", beside("client-key-data: ", kubeconfig)),
    "wif": one("private_key", given("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn"), PLAIN),
    "phrase": one("recovery_phrase", phrase, ("my phrase:\n{}\n", "{}", "'{}'")),
    "aws": one("cloud_key", drawn("AKIA", BASE32, 16)), "gcp": one("cloud_key", drawn("AIzaSy", URLSAFE, 32, "k")), "vault": one("cloud_key", drawn("hvs.", BASE62, 90)),
    "planetscale": one("cloud_key", drawn("pscale_tkn_", BASE62, 43)), "supabase": one("cloud_key", drawn("sbp_", HEX, 40)), "heroku": one("cloud_key", beside("HEROKU_API_KEY=", lambda rng: "HRKU-AA" + drawn("", BASE62, 58)(rng))),
    "databricks": one("cloud_key", drawn("dapi", HEX, 32)), "terraform": one("cloud_key", lambda rng: drawn("", BASE62, 14)(rng) + ".atlasv1." + drawn("", BASE62, 67)(rng)),
    "openai": one("llm_token", lambda rng: f"sk-proj-{drawn('', BASE62, 74)(rng)}T3BlbkFJ{drawn('', BASE62, 74)(rng)}"), "anthropic": one("llm_token", lambda rng: "sk-ant-api03-" + drawn("", BASE62, 93)(rng) + "AA"),
    "hf": one("llm_token", drawn("hf_", string.ascii_letters, 34)), "gh": one("git_token", drawn("gho_", BASE62, 36)), "gl": one("git_token", drawn("glpat-", BASE62, 20)),
    "slack": one("service_token", lambda rng: f"xoxp-{digits(rng, 12)}-{digits(rng, 12)}-{digits(rng, 12)}-{drawn('', HEX, 32)(rng)}"),
    "discord": one("service_token", lambda rng: f"MT{drawn('', BASE62, 22)(rng)}.G{drawn('', BASE62, 5)(rng)}.{drawn('', BASE62, 38)(rng)}"),
    "discord hook": one("service_token", lambda rng: f"https://discord.com/api/webhooks/{digits(rng, 18)}/{drawn('', URLSAFE, 67, 'a')(rng)}"),
    "linear": one("service_token", drawn("lin_api_", BASE62, 40)), "twilio": one("service_token", drawn("SK", HEX, 32)), "shopify": one("service_token", drawn("shpat_", HEX, 32)), "stripe": one("service_token", drawn("rk_live_", BASE62, 24)),
    "npm": one("service_token", drawn("npm_", BASE62, 36)), "telegram": one("service_token", lambda rng: f"{digits(rng, 3)}7654321:AA{drawn('', BASE62, 33)(rng)}"), "newrelic": one("service_token", drawn("NRAK-", string.ascii_uppercase + string.digits, 27)),
    "sendgrid": one("service_token", lambda rng: f"SG.{drawn('', BASE62, 22)(rng)}.{drawn('', BASE62, 43)(rng)}"), "hidden": one("git_token", hidden(drawn("ghp_", BASE62, 36))),
    "datadog": one("credential", beside("datadog_api_key: ", drawn("", HEX, 32))), "query": one("credential", beside("https://api.tellus.io/v1/x?api_key=", drawn("", BASE62, 20), "&q=1"), PLAIN),
    "json": one("credential", beside('"client_secret": "', drawn("", BASE62, 32), '"'), PLAIN), "bearer": one("credential", beside("Authorization: Bearer ", drawn("", BASE62, 44)), PLAIN),
    "basic": one("password", beside("Authorization: Basic ", basic), PLAIN), "netrc": one("password", beside("machine api.tellus.io login ines password ", word), PLAIN),
    "url": one("password", beside("mysql://root:", word, "@10.0.0.7/prod"), PLAIN), "odbc": one("password", beside("Server=db1;Database=x;User Id=sa;Password=", lambda rng: word(rng).replace("#", "_"), ";"), PLAIN), "set": one("password", beside("DB_PASSWORD=", lambda rng: word(rng).replace("!", "_")), ("{}\nPORT=1", "export {}")),
    "said": one("password", beside("the password is ", word), ("ok, {} now", "{}\n")),
}  # fmt: skip

LOOKS_SECRET: Mapping[str, Make] = {
    "md5": lambda rng: f"md5 {rng.randbytes(16).hex()}", "docker": lambda rng: f"python@sha256:{rng.randbytes(32).hex()}", "etag": lambda rng: f'ETag: "{rng.randbytes(16).hex()}"',
    "trace": lambda rng: f"traceparent: 00-{rng.randbytes(16).hex()}-{rng.randbytes(8).hex()}-01", "uuid": lambda rng: f"session {rng.randbytes(4).hex()}-12ab-4cde-89ab-{rng.randbytes(6).hex()}",
    "lock": lambda rng: f"resolved integrity sha512-{base64.b64encode(rng.randbytes(64)).decode()}", "go sum": lambda rng: f"github.com/x/y v1.2.3 h1:{base64.b64encode(rng.randbytes(32)).decode()}",
    "svg": lambda rng: f"data:image/svg+xml;base64,{base64.b64encode(rng.randbytes(60)).decode()}", "pwd": given("pwd: /home/ines/Projects/tool-2", "PWD=/usr/local/share/App1", "pwd: ~/Work/2024/Report"),
    "stub": given("password: <your password>", "password=********", "DB_PASSWORD=changeme123", "password: ${DB_PASSWORD_2}", "token: YOUR_TOKEN_HERE_123456"), "stub key": given("sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", "AKIAXXXXXXXXXXXXXXXX", "sk-ant-api03-your-key-here-000000000000000000"),
    "env": given("api_key = os.getenv('TELLUS_API_KEY_2')", "token: process.env.GITHUB_TOKEN_V2", "secret: ${{ secrets.NPM_TOKEN_2 }}"), "order": lambda rng: f"order {''.join(rng.choices(string.ascii_uppercase + string.digits, k=5))}-{digits(rng, 7)}-{digits(rng, 7)}",
    "order five": lambda rng: "order " + "-".join("".join(rng.choices(string.ascii_uppercase + string.digits, k=5)) for _ in range(5)), "tokens": lambda rng: f"prompt tokens: {rng.randrange(10**4)}, completion_tokens={rng.randrange(10**4)}",
    "tokenizer": given("tokenizer: cl100k_base_2023", "token = next(tokens_iterator_1)", "max_token_length: 4096"), "author": given("author: Smith2024Bramble99", "authority: tellus.io:8443", "authenticated: true"), "key name": given("primary_key: customer_id_2024", "key: value_of_thing_1", "KeyError: 'api_key_v2'"),
    "public": lambda rng: f"ssh-rsa AAAAB3NzaC1yc2E{base64.b64encode(rng.randbytes(90)).decode()} ines@box", "public pem": lambda rng: f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(rng.randbytes(45)).decode()}\n-----END PUBLIC KEY-----",
    "fingerprint": lambda rng: f"SHA256:{base64.b64encode(rng.randbytes(32)).decode()[:43]}", "url id": lambda rng: f"https://docs.tellus.io/d/{drawn('', BASE62, 44)(rng)}/edit", "video": lambda rng: f"https://youtu.be/{drawn('', BASE62, 11)(rng)}",
    "words": given("the quick brown fox jumps over the lazy dog near the old river bank", "letter from their parents about their garden"), "bip words": given("letter advice cage absurd amount doctor acoustic avoid letter advice cage cage"),
    "css": given("--secret-color: #ff00aa99", "class=\"token keyword2 operator1\""), "class": given("sk-loading-spinner-container-large-2", "hf_hub_download_v2_cached", "pk_users_2024_index"), "advice": given("password: min. 8 characters, 1 digit", "Your password is 12 characters long"), "constant": lambda rng: f"0x{rng.randbytes(8).hex()}", "semver": given("slack-sdk==3.19.5", "stripe@12.1.0-beta.1"),
    "phone": lambda rng: f"+49 30 {digits(rng, 7)}", "isbn": given("978-3-16-148410-0"), "date": given("token expires: 2025-01-31T23:59:59Z"), "base": lambda rng: f"build {rng.randbytes(4).hex()}", "no alg": given("eyJuYW1lIjoiaW5lcyJ9.eyJhIjoxfQ.x"),
}  # fmt: skip


def cases_of_text(
    planted: Mapping[str, Planted], look_alikes: Mapping[str, Make], size: int, seed: int
) -> list[tuple[str, str, int, int]]:
    """Text, kind, from, to of as many findings as look-alikes, whose kind is empty."""
    rng = random.Random(f"unseen {seed}")
    found = []
    for number in range(size // 2):
        entry = list(planted.values())[number % len(planted)]
        made = entry.make(rng)
        piece = made if isinstance(made, Piece) else Piece(made)
        before, _, after = rng.choice(entry.fits).partition("{}")
        start = len(before) + len(piece.before)
        found.append((before + piece.text + after, entry.kind, start, start + len(piece.value)))
        other = list(look_alikes.values())[number % len(look_alikes)](rng)
        before, _, after = rng.choice(CARRIERS).partition("{}")
        found.append((before + str(other.text if isinstance(other, Piece) else other) + after, "", 0, 0))
    return found
