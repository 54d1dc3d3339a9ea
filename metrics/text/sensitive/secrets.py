"""Secrets in text: private keys, certificates, recovery phrases, access keys and tokens, passwords, product keys."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import groupby
from typing import Literal, get_args

from metrics.text.sensitive.named_secrets import (
    arguments,
    cloud_secrets,
    named_secrets,
    placed_passwords,
    product_keys,
    web_tokens,
)
from metrics.text.sensitive.network import base58_payload
from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.secret_tokens import tokens
from metrics.text.sensitive.spans import Finding, by_precedence

LONGEST_PEM = 20_000  # characters between the lines of a PEM block
SHORTEST_BODY = 40  # base64 characters; a shorter block is only text about one
PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,30}?)(PRIVATE KEY(?: BLOCK)?|CERTIFICATE)-----")
# What stands between lines of base64: the headers; the signs of quoted mail, comments, and strings joined in code.
PEM_NOISE = re.compile(r"\s|\\[nrt]|^[A-Za-z-]{1,30}: [^\n]*$|[\"'`,;>#*|\\-]", re.MULTILINE)
BETWEEN_LINES = r"(?:\s|\\[nrt]|[\"'`,;>#*|\\+-]){1,40}+"
PEM_LINES = re.compile(
    rf"(?:{BETWEEN_LINES}|[A-Za-z-]{{1,30}}: [^\n]*\n)*+(?:[A-Za-z0-9+/=]{{60,}}{BETWEEN_LINES})*+[A-Za-z0-9+/=]*"
)
PEM_FOOT = re.compile(r"-----END [A-Z0-9 ]{1,50}-----")
PUTTY = re.compile(
    r"PuTTY-User-Key-File-\d: [\w.@-]{3,60}\s+"
    r"(?:(?!Private-Lines)[A-Z][A-Za-z0-9-]{2,20}: [^\n]{0,200}\n\s*|[A-Za-z0-9+/=]{4,76}[ \t\r]*\n\s*){0,200}+"
    r"Private-Lines: \d{1,3}\s+[A-Za-z0-9+/=]{16,76}(?:\s+[A-Za-z0-9+/=]{4,76}(?=\s|$)(?!:)){0,200}+"
    r"(?:\s+Private-(?:MAC|Hash): [0-9a-f]{40,64})?"
)
ENCODED_PEM = re.compile(r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,20000}+={0,2}")  # -----BEGIN in base64
ENCODED_PRIVATE = ("UFJJVkFURS", "BSSVZBVEUg", "QUklWQVRFI")  # PRIVATE in base64, by its place modulo three
WIF = re.compile(r"(?<![A-Za-z0-9])[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![A-Za-z0-9])", re.ASCII)
XPRV = re.compile(r"(?<![A-Za-z0-9])[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107,108}(?![A-Za-z0-9])", re.ASCII)
ETHEREUM = re.compile(
    r"(?ai)(?:private|secret|wallet|priv)[\w ]{0,10}key[\w ]{0,12}[\"'\])]{0,2}\s{0,3}(?:[:=]|=>|is)\s{0,3}[\"']?"
    r"((?:0x)?[0-9a-fA-F]{64})(?![0-9a-zA-Z])"
)

PHRASE = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{3,8}(?:(?:[ ,;|\n\r\t-]|\d{1,2}[.):]){1,8}[A-Za-z]{3,8}(?![A-Za-z])){11,}+", re.ASCII
)
PHRASE_WORDS = re.compile(r"[A-Za-z]{3,8}")
PHRASE_LENGTHS = (24, 21, 18, 15, 12)


def pem_blocks(text: str) -> Iterator[Finding]:
    """Yield PEM blocks of private keys and certificates with a body, whole or cut short."""
    for head in PEM.finditer(text):
        stop = text.find("-----", head.end(), head.end() + LONGEST_PEM)
        body_end = min(len(text), head.end() + LONGEST_PEM) if stop < 0 else stop
        body = PEM_NOISE.sub("", text[head.end() : body_end])
        dense = re.match(r"[A-Za-z0-9+/=]*", body)
        if dense is None or dense.end() < SHORTEST_BODY or not re.search(r"\d", dense[0]):  # none in prose
            continue
        end = body_end
        if foot := PEM_FOOT.match(text, body_end):
            end = foot.end()
        elif block := PEM_LINES.match(text, head.end(), body_end):  # cut short it leaks to the end of its base64
            end = head.end() + len(block[0].rstrip())
        yield Finding("certificate" if head[2] == "CERTIFICATE" else "private_key", head.start(), end)


def private_keys(text: str) -> Iterator[Finding]:
    """Yield PuTTY's keys, PEM blocks in base64 (as in a kubeconfig), and keys of crypto currencies by their checks."""
    for match in PUTTY.finditer(text) if "PuTTY-User-Key-File-" in text else ():
        yield Finding("private_key", *match.span(), "PuTTY")
    for match in ENCODED_PEM.finditer(text):
        private = any(part in match[0] for part in ENCODED_PRIVATE)
        yield Finding("private_key" if private else "certificate", *match.span())
    for match in WIF.finditer(text):
        body = base58_payload(match[0])
        if body and body[0] == 0x80 and len(body) in (33, 34):
            yield Finding("private_key", *match.span(), "Bitcoin")
    for match in XPRV.finditer(text):
        if base58_payload(match[0]):
            yield Finding("private_key", *match.span(), "BIP 32")
    for match in ETHEREUM.finditer(text):
        if len(set(match[1])) > 6:
            yield Finding("private_key", *match.span(1))


def recovery_phrases(text: str) -> Iterator[Finding]:
    """Yield the recovery phrases of wallets: 12–24 English words of BIP 39 with a correct checksum, also numbered."""
    for run in PHRASE.finditer(text):
        matches = PHRASE_WORDS.finditer(text, *run.span())
        words = [(match.start(), match.end(), _word_numbers().get(match[0].lower(), -1)) for match in matches]
        first = 0
        for known, group in groupby(words, key=lambda word: word[2] >= 0):
            size = len(list(group))
            if known:
                yield from _phrases(words[first : first + size])
            first += size


def _phrases(words: Sequence[tuple[int, int, int]]) -> Iterator[Finding]:
    """Yield the longest phrases with a correct checksum among words of the list: their places and numbers."""
    first = 0
    while first + PHRASE_LENGTHS[-1] <= len(words):
        numbers = [number for *_, number in words[first : first + PHRASE_LENGTHS[0]]]
        fitting = (length for length in PHRASE_LENGTHS if length <= len(numbers) and phrase_checks(numbers[:length]))
        length = next(fitting, 0)
        if length:
            yield Finding("recovery_phrase", words[first][0], words[first + length - 1][1])
        first += length or 1


def phrase_checks(numbers: list[int]) -> bool:
    """Return whether the last bits of the words' numbers are the first of the SHA-256 of those before: BIP 39."""
    joined = 0
    for number in numbers:
        joined = joined << 11 | number
    length = len(numbers) * 11 // 33  # bits of the checksum
    entropy = (joined >> length).to_bytes(length * 4, "big")
    return sha256(entropy).digest()[0] >> (8 - length) == joined & ((1 << length) - 1)


@cache
def _word_numbers() -> dict[str, int]:
    from mnemonic import Mnemonic  # on use: of its package only the list of words

    return {word: number for number, word in enumerate(Mnemonic("english").wordlist)}


SecretKind = Literal[
    "private_key", "certificate", "cloud_key", "llm_token", "git_token", "service_token", "jwt", "credential",
    "password", "product_key", "recovery_phrase",
]  # fmt: skip
SECRET_KINDS: tuple[SecretKind, ...] = get_args(SecretKind)
FINDERS: tuple[Callable[[str], Iterator[Finding]], ...] = (
    pem_blocks, private_keys, tokens, web_tokens, cloud_secrets, placed_passwords, product_keys, recovery_phrases,
    arguments, named_secrets,
)  # fmt: skip


def secrets(text: str, kinds: Sequence[SecretKind] = SECRET_KINDS) -> list[Finding]:
    """Return the secrets in `text`, by position, without overlaps; the more specific kind has precedence.

    The text is read in its plain form, so full-width letters and invisible characters hide nothing; places are those in
    `text`. Time is linear in it: every pattern begins with fixed letters or at a word boundary, and is bounded.
    """
    form = PlainForm(text)
    found = by_precedence(finder(form.text) for finder in FINDERS)
    return form.in_original(secret for secret in found if secret.kind in kinds)
