"""Secrets in text: private keys, certificates, access keys and tokens, passwords, product keys."""

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from metrics.text.sensitive.spans import by_precedence

SecretKind = Literal[
    "private_key", "certificate", "cloud_key", "llm_token", "git_token", "service_token", "jwt", "credential",
    "password", "product_key",
]  # fmt: skip
SECRET_KINDS: tuple[SecretKind, ...] = get_args(SecretKind)
LONGEST_PEM = 20_000  # characters between the lines of a PEM block
SHORTEST_PEM_BODY = 40  # base64 characters; a shorter block is only text about one
SHORTEST_RANDOM = 16
LEAST_ENTROPY = 2.75  # bits a character; sixteen random hexadecimal digits have 3.2 on average
LEAST_CHANGES = 0.2  # of the characters, where letters, capitals and digits alternate; words joined by dashes have few
SHORTEST_PASSWORD = 8

# What issuers say their keys look like: a fixed prefix, then a fixed alphabet. Each begins where a word does.
TOKENS: tuple[tuple[SecretKind, str, str], ...] = (
    ("cloud_key", "AWS", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("cloud_key", "Google Cloud", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{30,400}+"),
    ("cloud_key", "Azure", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    ("cloud_key", "Alibaba Cloud", r"LTAI[A-Za-z0-9]{16,20}"),
    ("cloud_key", "DigitalOcean", r"do[opr]_v1_[a-f0-9]{64}"),
    ("cloud_key", "HashiCorp Vault", r"hv[sb]\.[\w-]{24,200}+"),
    ("cloud_key", "Databricks", r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("llm_token", "Anthropic", r"sk-ant-[a-z0-9]{3,10}-[\w-]{32,200}+"),
    ("llm_token", "OpenRouter", r"sk-or-v1-[a-f0-9]{64}"),
    ("llm_token", "OpenAI", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,250}+|sk-[A-Za-z0-9]{32,64}+"),
    ("llm_token", "Hugging Face", r"(?:hf|api_org)_[A-Za-z0-9]{30,40}+"),
    ("llm_token", "Groq", r"gsk_[A-Za-z0-9]{40,60}+"),
    ("llm_token", "xAI", r"xai-[A-Za-z0-9]{60,90}+"),
    ("llm_token", "Perplexity", r"pplx-[A-Za-z0-9]{40,60}+"),
    ("llm_token", "Replicate", r"r8_[A-Za-z0-9]{37}"),
    ("llm_token", "NVIDIA", r"nvapi-[\w-]{60,70}+"),
    ("llm_token", "LangSmith", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("git_token", "GitHub", r"gh[oprsu]_[A-Za-z0-9]{36,251}+|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("git_token", "GitLab", r"gl(?:agent|cbt|dt|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{20,100}+|GR1348941[\w-]{20}"),
    ("git_token", "Bitbucket", r"ATBB[A-Za-z0-9]{32}|ATCTT3xFfG[\w=-]{100,250}+"),
    ("service_token", "Slack", r"xox[abeoprs]-[\w.-]{20,250}+|xapp-\d-[A-Z0-9]{8,12}-\d{8,14}-[a-f0-9]{64}"),
    ("service_token", "Stripe", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,247}+|whsec_[A-Za-z0-9]{32}"),
    ("service_token", "Twilio", r"SK[a-f0-9]{32}"),
    ("service_token", "SendGrid", r"SG\.[\w-]{22}\.[\w-]{43}"),
    ("service_token", "Mailgun", r"key-[a-f0-9]{32}"),
    ("service_token", "Mailchimp", r"[a-f0-9]{32}-us\d{1,2}"),
    ("service_token", "npm", r"npm_[A-Za-z0-9]{36}"),
    ("service_token", "PyPI", r"pypi-AgE[\w-]{50,500}+"),
    ("service_token", "Docker", r"dckr_pat_[\w-]{27}"),
    ("service_token", "Discord", r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"),
    ("service_token", "Telegram", r"\d{8,10}:AA[\w-]{33}"),
    ("service_token", "Shopify", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("service_token", "Square", r"sq0[a-z]{3}-[\w-]{22,43}"),
    ("service_token", "Atlassian", r"ATATT3[\w=-]{100,250}+"),
    ("service_token", "Notion", r"ntn_[A-Za-z0-9]{40,50}+"),
    ("service_token", "Postman", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("service_token", "New Relic", r"NRAK-[A-Z0-9]{27}"),
    ("service_token", "Grafana", r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    ("service_token", "Airtable", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("private_key", "age", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)
BEGINS = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"  # also after a line break written as \n
TOKEN = re.compile(
    BEGINS
    + "(?:"
    + "|".join(f"(?P<t{place}>{pattern})" for place, (*_, pattern) in enumerate(TOKENS))
    + r")(?![A-Za-z0-9])",
    re.ASCII,
)
SLACK_WEBHOOK = re.compile(
    r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,12}/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{20,40}"
)
AZURE_KEY = re.compile(r"\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)", re.ASCII)
AWS_SECRET = re.compile(
    r"aws[\w ]{0,20}?(?:secret|access)[\w ]{0,20}+[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![\w/+=])",
    re.ASCII | re.IGNORECASE,
)
JWT = re.compile(BEGINS + r"(eyJ[\w-]{8,4000}+)\.[\w-]{4,20000}+\.[\w-]{0,4000}+", re.ASCII)
PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,30}?)(PRIVATE KEY(?: BLOCK)?|CERTIFICATE)-----|PuTTY-User-Key-File-\d:")
PEM_NOISE = re.compile(r"\s|\\[nrt]|^[A-Za-z-]{1,30}: [^\n]*$", re.MULTILINE)
PEM_LINES = re.compile(
    r"(?:\s|\\[nrt]|[A-Za-z-]{1,30}: [^\n]*\n)*+"
    r"(?:[A-Za-z0-9+/=]{60,}(?:[ \t]*\r?\n[ \t]*|(?:\\[nrt])+|[ \t]+))*+[A-Za-z0-9+/=]*"
)
PEM_FOOT = re.compile(r"-----END [A-Z0-9 ]{1,50}-----")
PRODUCT_KEY = re.compile(r"(?<![A-Za-z0-9-])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![A-Za-z0-9]|-[A-Za-z0-9])", re.ASCII)
URL_PASSWORD = re.compile(r"://[^\s:/@?#]{1,64}:([^\s:/@?#]{3,128})@[\w.-]", re.ASCII)
NAMED = re.compile(
    r"(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|"
    r"şifre|пароль|密码|密碼|パスワード|비밀번호)s?[\"'\])]{0,2}(?:\s{0,3}(?::=|=>|[=:：])|\s+is:?)\s{0,3}[\"'`]?"
    r"(?P<word>[^\s\"'`,;<>\u00a0\u0600-\u06ff\u2000-\uffff]{8,128})"
    r"|(?:api[ _-]?key|access[ _-]?key|secret[ _-]?key|private[ _-]?key|account[ _-]?key|auth[ _-]?key|secret|token|"
    r"credential|auth)[\w-]{0,30}+[\"'\])]{0,2}(?:\s{0,3}(?::=|=>|[=:])|\s+is:?)\s{0,3}(?:bearer\s|basic\s)?[\"'`]?"
    r"(?P<value>[\w+/=.~-]{16,512})"
    r"|\bbearer\s{1,3}(?P<bearer>[\w+/=.~-]{20,512})",
    re.ASCII | re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"your|placeholder|redacted|changeme|insert|replace|x{6}|\*{3}|\.{3}|example[_-]?key", re.I)
NO_PASSWORD = re.compile(r"\W*(?:pass(?:word|wd)?|pwd|secret|token)\W*|[$%{<].*", re.IGNORECASE)
DUMMY = re.compile(r"EXAMPLE|eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIxMjM0NTY3ODkwIi")


@dataclass(frozen=True, slots=True)
class Secret:
    """One finding: characters `start` to `end`; `issuer` if it is known; `dummy`: a published sample."""

    kind: SecretKind
    start: int
    end: int
    issuer: str | None = None
    dummy: bool = False


def secrets(text: str, kinds: Sequence[SecretKind] = SECRET_KINDS) -> list[Secret]:
    """Return the secrets in `text`, by position, without overlaps; the more specific kind has precedence.

    Time is linear in the text: every pattern begins with fixed letters or at a word boundary, and is bounded.
    """
    return [secret for secret in by_precedence(finder(text) for finder in FINDERS) if secret.kind in kinds]


def looks_random(text: str) -> bool:
    """Return whether a run of characters looks random, by its entropy and its changes of character class.

    At least 16 characters with 2.75 bits of Shannon entropy each; small letters, capitals and digits alternate at 20 %
    of the positions or more, and there are digits. Identifiers and words joined by dashes fail one of these conditions.
    """
    letters = [character for character in text if character.isalnum()]
    if len(text) < SHORTEST_RANDOM or not any(character.isdigit() for character in letters):
        return False
    classes = [1 if character.isdigit() else 2 if character.isupper() else 3 for character in letters]
    changes = sum(left != right for left, right in pairwise(classes))
    return changes >= LEAST_CHANGES * len(letters) and entropy(text) >= LEAST_ENTROPY


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of `text` in bits per character; 0 for an empty text."""
    return -sum(times / len(text) * math.log2(times / len(text)) for times in Counter(text).values())


def _pem(text: str) -> Iterator[Secret]:
    for head in PEM.finditer(text):
        stop = text.find("-----", head.end(), head.end() + LONGEST_PEM)
        body_end = min(len(text), head.end() + LONGEST_PEM) if stop < 0 else stop
        body = PEM_NOISE.sub("", text[head.end() : body_end])
        dense = re.match(r"[A-Za-z0-9+/=]*", body)
        if dense is None or dense.end() < SHORTEST_PEM_BODY:
            continue
        end = body_end
        if foot := PEM_FOOT.match(text, body_end):
            end = foot.end()
        elif block := PEM_LINES.match(
            text, head.end(), body_end
        ):  # a truncated block leaks up to the end of its base64
            end = head.end() + len(block[0].rstrip())
        yield Secret("certificate" if head[2] == "CERTIFICATE" else "private_key", head.start(), end)


def _tokens(text: str) -> Iterator[Secret]:
    for match in TOKEN.finditer(text):
        kind, issuer, _ = TOKENS[int(str(match.lastgroup)[1:])]
        token = match[0].rstrip(".")  # that of the sentence
        if _is_token(token):
            yield Secret(kind, match.start(), match.start() + len(token), issuer, bool(DUMMY.search(token)))
    for match in SLACK_WEBHOOK.finditer(text):
        if _is_token(match[0].rpartition("/")[2]):
            yield Secret("service_token", *match.span(), "Slack")
    for pattern, issuer in ((AZURE_KEY, "Azure"), (AWS_SECRET, "AWS")):
        for match in pattern.finditer(text):
            if looks_random(match[1]) or DUMMY.search(match[1]):
                yield Secret("cloud_key", *match.span(1), issuer, bool(DUMMY.search(match[1])))


def _is_token(token: str) -> bool:
    """Return whether the text after a token's prefix is neither a placeholder nor words."""
    body = re.sub(r"^[A-Za-z]{2,6}[-_.]", "", token)
    classes = sum(any(test(character) for character in body) for test in (str.islower, str.isupper, str.isdigit))
    written = classes < 2 and any(character.islower() for character in body)
    return not written and entropy(body) >= LEAST_ENTROPY and not PLACEHOLDER.search(token)


def _jwts(text: str) -> Iterator[Secret]:
    for match in JWT.finditer(text):
        header = match[1][: len(match[1]) // 4 * 4] if len(match[1]) % 4 == 1 else match[1]
        try:
            fields = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and "alg" in fields:
            yield Secret("jwt", *match.span(), None, bool(DUMMY.search(match[0])))


def _product_keys(text: str) -> Iterator[Secret]:
    for match in PRODUCT_KEY.finditer(text):
        letters = match[0].replace("-", "")
        mixed = any(map(str.isdigit, letters)) and any(map(str.isalpha, letters))
        if mixed and entropy(letters) >= LEAST_ENTROPY:
            yield Secret("product_key", *match.span())


def _named(text: str) -> Iterator[Secret]:
    for match in URL_PASSWORD.finditer(text):
        if not PLACEHOLDER.search(match[1]) and not NO_PASSWORD.fullmatch(match[1]):
            yield Secret("password", *match.span(1))
    for match in NAMED.finditer(text):
        named = str(match.lastgroup)
        start = match.start(named)
        if named == "word":
            value = match["word"].rstrip(".:)]")
            kind: SecretKind = "password"
            real = _is_password(value)
        else:
            value = match[named].rstrip(".")
            kind, real = "credential", looks_random(value)
        if real and not PLACEHOLDER.search(value):
            yield Secret(kind, start, start + len(value), None, bool(DUMMY.search(value)))


def _is_password(word: str) -> bool:
    """Return whether there are three kinds of characters with a digit, and no code such as os.environ["PASSWORD"]."""
    if len(word) < SHORTEST_PASSWORD or re.search(r"[(\[{]|^[$%&]\w+$|^https?:|\w\.\w+\.\w", word):
        return False
    tests: tuple[Callable[[str], bool], ...] = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    kinds = sum(any(test(character) for character in word) for test in tests)
    return kinds >= 3 and any(map(str.isdigit, word))


FINDERS: tuple[Callable[[str], Iterator[Secret]], ...] = (_pem, _tokens, _jwts, _product_keys, _named)
