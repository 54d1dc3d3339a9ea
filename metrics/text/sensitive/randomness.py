"""Whether characters look drawn at random, as keys are, or written, as words, names and placeholders are."""

import math
import re
from collections import Counter
from itertools import pairwise

SHORTEST_RANDOM = 16
LEAST_ENTROPY = 2.75  # bits a character; sixteen random hexadecimal digits have 3.2 on average
LEAST_CHANGES = 0.2  # of the characters, where letters, capitals and digits alternate; words joined by dashes have few
PLACEHOLDER = re.compile(
    r"your|placeholder|redacted|changeme|change[_-]me|insert|replace|x{6}|\*{3}|\.{3}|example[_-]?key|dummy|sample|"
    r"(?-i:abcdefghij|ABCDEFGHIJ|abcdef12)|0123456789|1234567890|<[^>]{0,40}>|test[_-]?(?:key|token)|fake",
    re.I,
)
DUMMY = re.compile(r"EXAMPLE|eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIxMjM0NTY3ODkwIi")


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


def is_generated(body: str) -> bool:
    """Return whether what follows the prefix of a token is neither a placeholder nor words."""
    classes = sum(any(test(character) for character in body) for test in (str.islower, str.isupper, str.isdigit))
    written = classes < 2 and any(character.islower() for character in body)
    return not written and entropy(body) >= LEAST_ENTROPY and not PLACEHOLDER.search(body)
