"""Check digits: the arithmetic that tells a number that was issued from one that was not."""

from collections.abc import Sequence

# The tables of the dihedral group D5 and of the permutation: J. Verhoeff, Error detecting decimal codes, 1969.
VERHOEFF_PRODUCT = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
VERHOEFF_TURN = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def luhn(digits: str) -> bool:
    """Return whether the last digit is correct by ISO/IEC 7812-1, annex B: 79927398713 is, 79927398710 is not."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


def ean(digits: str) -> bool:
    """Return whether the last digit is that of a bar code: ISO/IEC 15420, weights 1 and 3 from the right."""
    return sum(int(digit) * (1 + 2 * (place % 2)) for place, digit in enumerate(reversed(digits))) % 10 == 0


def verhoeff(digits: str) -> bool:
    """Return whether the last digit is correct by Verhoeff's scheme: 2363 is, 2364 is not."""
    check = "0"
    for place, digit in enumerate(reversed(digits)):
        check = VERHOEFF_PRODUCT[int(check)][int(VERHOEFF_TURN[place % 8][int(digit)])]
    return check == "0"


def mod_11_10(digits: str) -> bool:
    """Return whether the last digit is correct by the hybrid system MOD 11,10 of ISO/IEC 7064."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (product + int(digits[-1])) % 10 == 1


def mod_11_2(characters: str) -> bool:
    """Return whether the last character, a digit or X, is correct by MOD 11-2 of ISO/IEC 7064."""
    total = 0
    for character in characters:
        total = (2 * total + (10 if character == "X" else int(character))) % 11
    return total == 1


def mod_97(characters: str) -> bool:
    """Return whether digits and letters (A is 10, Z is 35) leave the remainder 1 modulo 97: ISO/IEC 7064."""
    return int("".join(str(int(character, 36)) for character in characters)) % 97 == 1


def weighted(digits: str, weights: Sequence[int]) -> int:
    """Return the sum of the first digits, each times its weight; there are at least as many digits as weights."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))
