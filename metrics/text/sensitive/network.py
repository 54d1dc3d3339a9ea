"""Addresses on networks: IP, MAC, crypto currencies, with the Keccak-256 of Ethereum's check sum."""

import re
from collections.abc import Iterator
from hashlib import sha256
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network

from metrics.text.patterns import Sign
from metrics.text.sensitive.spans import Finding, after_words, stands_alone

RATE = 136  # bytes absorbed at a time
MASK = (1 << 64) - 1
ROUND_CONSTANTS = (
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
)  # fmt: skip
IPV4 = re.compile(  # also as reports of attacks write it, that nobody clicks on it: 81[.]2[.]69[.]142
    r"(?<![\w.])\d{1,3}(?P<point>\.|\[\.\]|\(\.\))(?:\d{1,3}(?P=point)){2}\d{1,3}(?![\w]|\.\w)", re.ASCII
)
IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-f:]*:[0-9a-f:]*:)[0-9a-f:]{3,39}(?:\.\d{1,3}){0,3}(?![\w:]|\.\w)", re.I | re.A)
ANY_IP = Sign(r"[0-9](?:\.|\[\.\]|\(\.\))[0-9]{1,3}(?:\.|\[\.\]|\(\.\))[0-9]|:[0-9A-Fa-f]*:")
MAC = re.compile(
    r"(?<![\w:.-])[0-9a-f]{2}(?P<apart>[:-])(?:[0-9a-f]{2}(?P=apart)){4}[0-9a-f]{2}(?![\w:]|-\w)", re.I | re.A
)
BARE_MAC = re.compile(r"[^0-9A-Za-z\n]{1,3}(?:(?:is|ist|est)\s)?([0-9a-f]{12})(?![0-9a-z])", re.IGNORECASE | re.ASCII)
MAC_WORDS = ("mac", "mac address", "mac-address", "mac addr", "mac-adresse", "adresse mac", "dirección mac", "mac地址")
CISCO_MAC = re.compile(r"(?<![\w.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w]|\.\w)", re.I | re.A)
ANY_MAC = Sign(r"(?:[0-9A-Fa-f]{2}[:-]){3}|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.")
VERSION_BEFORE = re.compile(
    r"(?i)(?:\bv|version|release|build|section|chapter|clause|paragraph|upgrade\w{0,2} to|update\w{0,2} to|§|==|>=|~=|"
    r"\^|firmware|bios|driver)[\s:=]{0,3}(?:\w{1,10}\s)?$"
)
IP_BEFORE = re.compile(r"\bip|address|host|server|from|client|addr|ping|ssh|subnet|dns|gateway|login|logged", re.I)
SMALL = 30  # four numbers below it are a version or a section more often than an address
GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that is handed out, RFC 4291
DUMMY_IPS = ("192.0.2.", "198.51.100.", "203.0.113.")  # RFC 5737
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
RIPPLE58 = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
BASE58_RUN = re.compile(r"(?<![A-Za-z0-9])[13LMDTXtrn2m9A][1-9A-HJ-NP-Za-km-z]{24,34}(?![A-Za-z0-9])", re.ASCII)
# the first byte of an address: Bitcoin, Litecoin, Dogecoin, Tron, Dash; two bytes: Zcash
VERSIONS = {
    0x00: "Bitcoin", 0x05: "Bitcoin", 0x30: "Litecoin", 0x32: "Litecoin", 0x1E: "Dogecoin", 0x16: "Dogecoin",
    0x41: "Tron", 0x4C: "Dash", 0x10: "Dash",
}  # fmt: skip
BECH32 = re.compile(
    r"(?a)(?<![A-Za-z0-9])(?:(bc|tb|ltc|addr|cosmos|osmo|bnb)1[02-9ac-hj-np-z]{38,98}|(BC|LTC)1[02-9AC-HJ-NP-Z]{38,98})"
    r"(?![A-Za-z0-9])"
)
BECH32_LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
ETHEREUM = re.compile(r"(?<![A-Za-z0-9])0x[0-9a-fA-F]{40}(?![A-Za-z0-9])", re.ASCII)
ANY_CRYPTO_ADDRESS = Sign(r"[0-9A-Za-z]{25}")
NOBODYS = ("0x0000000000000000000000000000000000000000", "0x000000000000000000000000000000000000dead")


def keccak_256(data: bytes) -> bytes:
    """Return the 32 bytes of Keccak-256. Source: Bertoni et al., The Keccak reference, version 3.0."""
    lanes = [0] * 25
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % RATE))
    padded[-1] |= 0x80
    for begin in range(0, len(padded), RATE):
        for number in range(RATE // 8):
            place = begin + 8 * number
            lanes[number] ^= int.from_bytes(padded[place : place + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _turned(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & MASK


def _permute(lanes: list[int]) -> None:
    """Apply the 24 rounds of Keccak-f[1600]; lane x, y stands at x + 5y."""
    for constant in ROUND_CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        for place in range(25):
            lanes[place] ^= columns[(place - 1) % 5] ^ _turned(columns[(place + 1) % 5], 1)
        x, y, current = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], _turned(current, (step + 1) * (step + 2) // 2 % 64)
        for row in range(0, 25, 5):
            own = lanes[row : row + 5]
            for x in range(5):
                lanes[row + x] = own[x] ^ (~own[(x + 1) % 5] & MASK & own[(x + 2) % 5])
        lanes[0] ^= constant


def ip_addresses(text: str) -> Iterator[Finding]:
    """Yield public IPv4 and IPv6 addresses; private, local and reserved ones and versions such as 1.2.3.4 are none."""
    if not ANY_IP.occurs_in(text):
        return
    for match in IPV4.finditer(text):
        try:
            address = IPv4Address(match[0].replace(match["point"], "."))
        except AddressValueError:
            continue
        before = text[max(0, match.start() - 30) : match.start()]
        dummy = str(address).startswith(DUMMY_IPS)
        if VERSION_BEFORE.search(before) or (max(address.packed) < SMALL and not IP_BEFORE.search(before)):
            continue
        if (address.is_global or dummy) and not address.is_multicast:
            yield Finding("ip_address", *match.span(), None, dummy)
    for match in IPV6.finditer(text):
        written = match[0].rstrip(":") if match[0].endswith(":") and not match[0].endswith("::") else match[0]
        try:
            own = IPv6Address(written)
        except AddressValueError:
            continue
        dummy = own.exploded.startswith("2001:0db8:")
        if dummy or (own.is_global and (own in GLOBAL_UNICAST or own.ipv4_mapped)):
            yield Finding("ip_address", match.start(), match.start() + len(written), None, dummy)


def mac_addresses(text: str) -> Iterator[Finding]:
    """Yield the hardware addresses of network devices; no broadcast, multicast or empty ones."""
    forms = (MAC, CISCO_MAC) if ANY_MAC.occurs_in(text) else ()
    spans = [match.span() for form in forms for match in form.finditer(text)]
    for _, beside, start in after_words(text, MAC_WORDS):
        if bare := BARE_MAC.match(beside):
            spans.append((start + bare.start(1), start + bare.end(1)))
    for first, last in spans:
        digits = re.sub(r"[^0-9a-f]", "", text[first:last].lower())
        if any(character.isalpha() for character in digits) and not int(digits[:2], 16) & 1:
            yield Finding("mac_address", first, last)


def crypto_addresses(text: str) -> Iterator[Finding]:
    """Yield addresses of crypto currencies with correct checks: Base58Check, Bech32 (BIP 173, 350), EIP-55."""
    if not ANY_CRYPTO_ADDRESS.occurs_in(text):
        return
    for match in BASE58_RUN.finditer(text):
        issuer = _base58_issuer(match[0])
        if issuer:
            yield Finding("crypto_address", *match.span(), issuer)
    for match in BECH32.finditer(text):
        if bech32_checks(match[0].lower()):
            yield Finding("crypto_address", *match.span(), (match[1] or match[2]).lower())
    for match in ETHEREUM.finditer(text):
        if match[0].lower() not in NOBODYS and eip55_checks(match[0]) and stands_alone(text, *match.span()):
            yield Finding("crypto_address", *match.span(), "Ethereum")


def base58_payload(written: str, alphabet: str = BASE58) -> bytes | None:
    """Return what Base58Check encodes, without the four bytes of its checksum; nothing where they are wrong."""
    number = 0
    for character in written:
        place = alphabet.find(character)
        if place < 0:
            return None
        number = number * 58 + place
    zeros = len(written) - len(written.lstrip(alphabet[0]))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    body, check = data[:-4], data[-4:]
    return body if len(data) > 4 and sha256(sha256(body).digest()).digest()[:4] == check else None


def _base58_issuer(written: str) -> str | None:
    if written.startswith("r"):
        ripple = base58_payload(written, RIPPLE58)
        return "XRP" if ripple and len(ripple) == 21 and ripple[0] == 0 else None
    body = base58_payload(written)
    if body is None or len(body) not in (21, 22):
        return None
    return "Zcash" if len(body) == 22 and body[0] == 0x1C else VERSIONS.get(body[0]) if len(body) == 21 else None


def bech32_checks(written: str) -> bool:
    """Return whether a Bech32 or Bech32m text in small letters has a correct checksum: BIP 173, BIP 350."""
    prefix, _, data = written.rpartition("1")
    values = [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]
    values += [BECH32_LETTERS.find(letter) for letter in data]
    rest = 1
    for value in values:
        top = rest >> 25
        rest = (rest & 0x1FFFFFF) << 5 ^ value
        for bit, factor in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            rest ^= factor if top >> bit & 1 else 0
    return rest in (1, 0x2BC830A3)


def eip55_checks(written: str) -> bool:
    """Return whether an address of Ethereum has the capitals of EIP-55; one without capitals has nothing to check."""
    digits = written[2:]
    if digits in (digits.lower(), digits.upper()):
        return True
    digest = keccak_256(digits.lower().encode()).hex()
    return all(
        letter.isdigit() or letter.isupper() == (int(own, 16) > 7) for letter, own in zip(digits, digest, strict=False)
    )
