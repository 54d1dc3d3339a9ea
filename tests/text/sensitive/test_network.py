"""Addresses on networks and of crypto currencies: samples of the standards, and one character wrong."""

import pytest

from metrics.text.sensitive.network import bech32_checks, eip55_checks, keccak_256
from metrics.text.sensitive.personal_data import PERSONAL_KINDS, personal_data


def found(text: str) -> list[tuple[str, str]]:
    return [(finding.kind, text[finding.start : finding.end]) for finding in personal_data(text, PERSONAL_KINDS)]


@pytest.mark.parametrize(("data", "digest"), [  # the Keccak team's test vectors
    (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
    (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
])  # fmt: skip
def test_keccak(data: bytes, digest: str) -> None:
    assert keccak_256(data).hex() == digest


@pytest.mark.parametrize("address", [  # EIP-55
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
])  # fmt: skip
def test_ethereum(address: str) -> None:
    assert eip55_checks(address)
    assert not eip55_checks(address[:6] + address[6:].swapcase())
    assert found(f"to {address}.") == [("crypto_address", address)]


@pytest.mark.parametrize(
    "address",
    ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"],
)  # BIP 173, BIP 350
def test_bech32(address: str) -> None:
    assert bech32_checks(address)
    assert not bech32_checks(address[:-1] + ("q" if address[-1] != "q" else "p"))


@pytest.mark.parametrize(("text", "expected"), [
    ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "crypto_address"), ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", None),
    ("185.14.97.3", "ip_address"), ("185[.]14[.]97[.]3", "ip_address"), ("firmware 8.0.41.32", None), ("10::20", None),
    ("a::b in C++", None), ("MAC address: 3C22FB019A7E", "mac_address"), ("MAC 3C22FB", None),
    ("IFSC: HDFC0001234", "bank_account"), ("BSB 062-000", "bank_account"), ("IFSC: HDFC1001234", None),
    ("CLABE 032180000118359719", "bank_account"), ("CLABE 032180000118359718", None),
    ("Numéro de passeport : 12AB34567", "passport"), ("version 4.12.1.7", None), ("192.168.1.7", None),
    ("1.2.3.4", None), ("host 1.2.3.4", "ip_address"), ("256.1.1.1", None), ("2a00:1450:4001:80e::200e", "ip_address"),
    ("::1", None), ("fe80::1ff:fe23:4567:890a", None), ("12:30:45", None), ("3c:22:fb:01:9a:7e", "mac_address"),
    ("3c22.fb01.9a7e", "mac_address"), ("ff:ff:ff:ff:ff:ff", None), ("01:00:5e:00:00:fb", None),
    ("48.858370, 2.294481", "coordinates"), ("48.86, 2.29", None), ("routing number 021000021", "bank_account"),
    ("routing number 021000022", None), ("BIC: DEUTDEFF500", "bank_account"), ("BIC: ABCDXXFF", None),
    ("date of birth: 31/02/1984", None), ("date of birth: 29 February 1984", "birth_date"), ("born in 1984", None),
    ("passport number C01X00T47", "passport"), ("driver's license D1234567", "driving_licence"),
    # ICAO Doc 9303
    ("L898902C36UTO7408122F1204159ZE184226B<<<<<10", "passport"),
    ("L898902C35UTO7408122F1204159ZE184226B<<<<<10", None),
])  # fmt: skip
def test_what_is_found(text: str, expected: str | None) -> None:
    assert [kind for kind, _ in found(text)] == [expected] * (expected is not None)
