"""Passwords and keys without a form of their own: known by the words beside them, or by where they stand."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from metrics.text.patterns import compiled
from metrics.text.sensitive.secret_tokens import DUMMY, PLACEHOLDER, entropy, looks_random
from metrics.text.sensitive.spans import Finding

SHORTEST_PASSWORD = 8
# The words, found by RE2 in one pass; what follows them is read from there.
WORDS_OF_PASSWORDS = (
    "password|passwd|passphrase|passcode|pwd|passwort|kennwort|mot de passe|contraseña|contrasenya|senha|palavra-passe|"
    "parola|wachtwoord|hasło|lösenord|passord|adgangskode|salasana|heslo|jelszó|lozinka|şifre|mật khẩu|kata sandi|"
    "пароль|κωδικός|סיסמה|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน|密码|密碼|口令|パスワード|비밀번호|"
    r"(?:(?:^|[\n\"'_{,;&?])[ \t]{0,8}(?-i:pass)|_pass)\b"  # as the name of a setting or a parameter
)
WORDS_OF_KEYS = (
    "(?:access|account|admin|aes|api|app|auth|cipher|deploy|encryption|fernet|functions?|hmac|licen[cs]e|logged[ _-]in|"
    "master|nonce|private|secret|session|shared|signing|subscription)[ _-]?key|"
    "client[ _-]?secret|webhook|secret|token|credential|auth|"
    "api[ _-]?(?:schlüssel|sleutel|nyckel|ключ|キー|密钥|키)|clé (?:d['’])?api|(?:clave|chave) (?:de )?api|ключ api|"
    "密钥|令牌|トークン"
)
WORDS = f"({WORDS_OF_PASSWORDS})|({WORDS_OF_KEYS})|(bearer )|(basic )"
MOST_WORDS = 50_000  # of a text
# Between a name and its value: signs, words, an element of XML; or name and value are values themselves:
# {"name": "API_KEY", "value": "…"}, in Terraform after further lines.
JOINED = (
    r"[\"'\])]{0,2}(?:\s{0,3}(?::=|=>|->|[=:])|>(?=[^<>\n]{8,512}</)|"
    r"[\s,;{]{1,20}(?:\w{1,20}\s{1,20}=[^\n]{0,80}\n\s{0,20}){0,3}[\"']?(?:value|default)[\"']?\s{0,20}[=:]|"
    r"\s{1,3}(?:is|was|ist|lautet|est|es|é|è|är|er|jest)(?=[\s:])\s?:?|\s?(?:は|が|为|是)%s)\s{0,3}(?:[bru]?[\"'`])?"
)
PASSWORD = re.compile(
    "(?:s|et)?" + JOINED % "" + r"(?P<value>(?:(?!&\w{1,30}=)[^\s\"'`,;<>\u00a0\u0600-\u06ff\u2000-\uffff]){8,128})",
    re.IGNORECASE | re.ASCII,
)
KEY = re.compile(
    r"(?!or\b|ors\b|ority|entic|izer|[_-]?ids?\b)[\w-]{0,30}+"
    + JOINED
    % r"|(?<=[\"'])\s?,(?=\s?[\"'])|\s(?:given|provided|supplied|used):?|\s(?=[\"'`])"  # in calls, and as errors say
    + r"(?:bearer\s|token\s)?(?P<value>[\w+/=.~-]{16,512})",
    re.ASCII | re.IGNORECASE,
)
# Of a query parameter, a setting in capitals or a header the value need not look random.
PARAMETER = re.compile(r"[\w-]{0,20}+=(?P<value>[A-Za-z0-9_.~%+-]{8,512})(?=[&#\s\"'<>)]|$)", re.ASCII)
BEARER = re.compile(r"\s{0,2}(?P<value>[\w+/=.~-]{20,512})", re.ASCII)
BASIC = re.compile(r"\s{0,2}(?P<value>[A-Za-z0-9+/]{8,400}={0,2})(?![\w+/=])", re.ASCII)
DOCKER_AUTH = re.compile(
    r"\"_?auth\"\s?:\s?\"([A-Za-z0-9+/]{8,400}={0,2})\"|_auth\s?=\s?\"?([A-Za-z0-9+/]{8,400}={0,2})", re.ASCII
)
NETRC = re.compile(r"\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(\S{3,200})")
CONNECTION = re.compile(r"(?:;|^|\")\s?(?:password|pwd)\s?=\s?([^;\"'\s]{4,128})", re.IGNORECASE)
CONNECTION_BEFORE = re.compile(
    r"(?:server|data source|host|initial catalog|database|user id|uid|user)\s?=[^\n]{0,200}$", re.I
)
URL_PASSWORD = re.compile(r"://[^\s:/@?#]{0,64}:([^\s:/@?#]{3,128})@[\w.-]", re.ASCII)
# Before a password: the options of programs, a name or a user as the argument before, the words of SQL.
BEFORE_PASSWORDS = (
    r"(?<![\w-])--[\w-]{0,20}(?:password|passwd|passphrase|pass|pwd)[ =]",
    r"\(\s?[\"'][\w.-]{0,40}(?:password|PASSWORD|passwd|pass|PASS|pwd|PWD)[\"']\s?,\s?",
    r"\bauth\s?=\s?[(\[]\s?[\"'][^\"'\n]{1,64}[\"'],\s?",
    r"\b(?:PASSWORD|(?:IDENTIFIED|identified)\s(?:WITH\s\w{1,40}\s)?(?:BY|by))\s{1,9}(?=')",
    r"\bcurl\b[^\n]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,64}:",
    r"\bdocker\slogin\b[^\n]{0,200}?\s-p\s",
    r"\bldap\w{3,9}\b[^\n]{0,300}?\s-w\s",
    r"\b(?:mysql|mariadb)\w{0,9}\b[^\n]{0,200}?\s-p",
    r"\bnet use\b[^\n]{0,200}?/user:\S{1,64}\s{1,9}",
    r"\bredis-cli\b[^\n]{0,200}?\s-a\s",
    r"\bsshpass\s{1,9}-p\s?",
)
PGPASS = r"^(?!\d+:)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w.@-]{1,64}:(?P<value>\S{8,128})$"
KEY_ARGUMENT = r"(?<![\w-])--[\w-]{0,20}(?:key|token|secret)[ =][\"']?(?P<value>[\w+/=.~-]{16,512})"
SAS = re.compile(r"[?&]sig=([A-Za-z0-9%+/=]{40,70})", re.ASCII)
AZURE_KEY = re.compile(r"\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)", re.ASCII)
AWS_SECRET = re.compile(
    r"(?ai)aws[\w ]{0,20}?(?:secret|access)[\w ]{0,20}+[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![\w/+=])"
)
JWT = re.compile(
    r"(?<![A-Za-z0-9_-])(eyJ[\w-]{8,4000}+)\.[\w-]{4,20000}+\.[\w-]{0,4000}+|(?<=\\[nrt])(eyJ[\w-]{8,4000}+)\.[\w-]{4,20000}+\.[\w-]{0,4000}+",
    re.ASCII,
)
PRODUCT_KEY = re.compile(r"(?<![A-Za-z0-9-])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![A-Za-z0-9]|-[A-Za-z0-9])", re.ASCII)
NO_PRODUCT = re.compile(r"order|bestell|invoice|rechnung|tracking|ticket|booking|shipment|parcel|case", re.IGNORECASE)
NO_PASSWORD = re.compile(r"\W*(?:pass(?:word|wd)?|pwd|secret|token|none|null|true|false|required)\W*|[$%{<].*", re.I)
NO_VALUE = re.compile(
    r"[(\[{]|^[a-z_]{2,}\.[A-Za-z]\w*$|^[$%&]\w+$|^\w{1,12}://|^(?:~|\.{0,2})/|^[A-Za-z]:\\|\w\.\w+\.\w|^\d{4}-\d\d-\d\d"
)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def cloud_secrets(text: str) -> Iterator[Finding]:
    """Yield secret keys of AWS and Azure, which have no form of their own, after the names that they are given."""
    for pattern, issuer in ((AZURE_KEY, "Azure"), (AWS_SECRET, "AWS"), (SAS, "Azure")):
        for match in pattern.finditer(text):
            if looks_random(match[1]) or DUMMY.search(match[1]):
                yield Finding("cloud_key", *match.span(1), issuer, DUMMY.search(match[1]) is not None)


def web_tokens(text: str) -> Iterator[Finding]:
    """Yield JSON web tokens: three parts of which the first decodes to a header with "alg"."""
    for match in JWT.finditer(text):
        head = match[1] or match[2]
        try:
            fields = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and "alg" in fields:
            yield Finding("jwt", *match.span(), None, DUMMY.search(match[0]) is not None)


def product_keys(text: str) -> Iterator[Finding]:
    """Yield five groups of five capitals and digits, unless they are called an order or the like."""
    for match in PRODUCT_KEY.finditer(text):
        letters = match[0].replace("-", "")
        mixed = any(map(str.isdigit, letters)) and any(map(str.isalpha, letters))
        if (
            mixed
            and entropy(letters) >= 2.75
            and not NO_PRODUCT.search(text, max(0, match.start() - 24), match.start())
        ):
            yield Finding("product_key", *match.span())


def placed_passwords(text: str) -> Iterator[Finding]:
    """Yield passwords known by where they stand: URLs, connection strings, .netrc, Basic authorization, Docker's."""
    for pattern in (URL_PASSWORD, NETRC, CONNECTION):
        for match in pattern.finditer(text):
            if pattern is CONNECTION and not CONNECTION_BEFORE.search(text, max(0, match.start() - 240), match.start()):
                continue
            if not PLACEHOLDER.search(match[1]) and not NO_PASSWORD.fullmatch(match[1]):
                yield Finding("password", *match.span(1))
    for match in DOCKER_AUTH.finditer(text):
        if _user_and_password(match[1] or match[2]):
            yield Finding("password", *match.span(1 if match[1] else 2))


def arguments(text: str) -> Iterator[Finding]:
    """Yield passwords and keys among the arguments of commands and functions, and passwords in .pgpass."""
    for kind, form, real in ARGUMENTS:
        for match in form.finditer(text):
            value = match["value"].rstrip(".,;)")
            if real(value) and not PLACEHOLDER.search(value):
                yield Finding(kind, match.start("value"), match.start("value") + len(value))


def named_secrets(text: str) -> Iterator[Finding]:
    """Yield passwords and random characters after words such as "password", "api_key", "Bearer"."""
    for number, word in enumerate(_scanner().finditer(text)):
        if number >= MOST_WORDS:
            return
        group = next(place for place in range(len(READ_PATTERNS)) if word.start(place + 1) >= 0)
        for kind, form, real in READ_PATTERNS[group]:
            match = form.match(text, word.end())
            if match is None:
                continue
            value = match["value"].rstrip(".:)]" if kind == "password" else ".")
            if real(value) and not PLACEHOLDER.search(value):
                dummy = DUMMY.search(value) is not None
                yield Finding(kind, match.start("value"), match.start("value") + len(value), None, dummy)
                break


def _is_password(word: str) -> bool:
    """Return whether a word holds a digit and other characters, and is no code, path, date or placeholder."""
    if len(word) < SHORTEST_PASSWORD or NO_VALUE.search(word) or NO_PASSWORD.fullmatch(word) or UUID.fullmatch(word):
        return False
    tests: tuple[Callable[[str], bool], ...] = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    kinds = sum(any(test(character) for character in word) for test in tests)
    mixed = kinds >= 2 and any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return mixed and not re.fullmatch(r"\d+[-_]?[a-z]+|[A-Za-z]+\d+-[a-z]+", word)  # 90days, SHA256-based


def _is_parameter(value: str) -> bool:
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    # words with a number, such as version-2024, have only one boundary of letters and digits
    words = re.fullmatch(r"[a-z]+(?:[-_/][a-z]+)*[-_/]\d+|[a-z]{1,12}-\d[\w.-]*|\d+-?[a-z]+", value)
    return mixed and entropy(value) >= 2.5 and not words and not NO_VALUE.search(value)


def _user_and_password(encoded: str) -> bool:
    """Return whether base64 holds a user, a colon and a password, all printable."""
    try:
        plain = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    parts = re.fullmatch(r"[^:\s]{1,100}:(\S{3,200})", plain)
    return plain.isprintable() and parts is not None and not NO_PASSWORD.fullmatch(parts[1])


# By the groups of WORDS: what may follow, and whether its value is one.
READ_PATTERNS: tuple[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...], ...] = (
    (("password", PASSWORD, _is_password),),
    (("credential", KEY, looks_random), ("credential", PARAMETER, _is_parameter)),
    (("credential", BEARER, looks_random),),
    (("password", BASIC, _user_and_password),),
)

ARGUMENTS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    *(
        ("password", re.compile(before + r"[\"']?(?P<value>[^\s\"'`<>|]{8,128})", re.ASCII), _is_password)
        for before in BEFORE_PASSWORDS
    ),
    ("password", re.compile(PGPASS, re.ASCII | re.MULTILINE), _is_password),
    ("credential", re.compile(KEY_ARGUMENT, re.ASCII), looks_random),
)


@cache
def _scanner() -> Any:
    return compiled(WORDS, False, 2_000)
