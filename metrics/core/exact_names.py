"""Names that give rights, and secrets that keep them: when two names are the same, and which could be guessed."""

import re
from itertools import pairwise
from unicodedata import name as unicode_name

from metrics.core.unicode_forms import normalized

UNDRAWN = re.compile(  # letters and marks that are drawn as nothing, though Python calls them printable
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
ALIKE = ("Latin", "Greek", "Cyrillic", "Armenian", "Cherokee")  # letters look alike, such as Latin a and Cyrillic а
LOOSE_MARK = re.compile("[\u0021-\u052f][\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")  # no letter has it
LONGEST = 1_000  # characters of a name

PLACEHOLDER = re.compile(
    r"replace|change.?(me|this|it)|example|secret|password|random|character|cookie|placeholder|default|insert|assay"
    r"|streamlit|token|letmein|qwerty",
    re.IGNORECASE,
)
LETTERS = 8  # different ones that a secret of 24 characters or more has; a shorter one, a third of its length
RUN = 8  # characters that follow one another as in aaaaaaaa, abcdefgh, 87654321, or that come back
MAKE_SECRET = "openssl rand -hex 32"  # noqa: S105 - the command that makes one


def fold_name(name: str) -> str:
    """Return what equal names have in common: their letters, whatever the case."""
    return normalized("NFKC", normalized("NFKC", name).casefold())


def disguise_in(name: str) -> str:
    """Return what lets a name pass for another, or for none, to a reader; "" where nothing does."""
    composed = normalized("NFC", name)
    if not name:
        return "an empty text"
    if name != name.strip():
        return "white space at an end"
    if not name.isprintable() or UNDRAWN.search(name):
        return "a character that is not shown"
    if normalized("NFKC", name) != composed or LOOSE_MARK.search(composed):
        return "a character that looks like another"
    of = {unicode_name(character, "").partition(" ")[0].capitalize() for character in name}
    if len(scripts := [script for script in ALIKE if script in of]) > 1:
        return f"{' and '.join(scripts)} letters in one name"
    return f"{len(name):,} characters" if len(name) > LONGEST else ""


def weakness_of(secret: str, shortest: int) -> str:
    """Return why a secret could be guessed; "" for what a generator of random texts has made."""
    if len(secret) < shortest:
        return f"{len(secret)} characters"
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        return "words, or what a random text has not: spaces, other than ASCII"
    if (different := len({*secret})) < min(LETTERS, shortest // 3):
        return f"only {different} different characters"
    if found := PLACEHOLDER.search(secret):
        return f"the word {found[0]!r}"
    steps = "".join(chr(0x8000 + ord(after) - ord(before)) for before, after in pairwise(secret))
    if any(chr(0x8000 + step) * (RUN - 1) in steps for step in (-1, 0, 1)):
        return "characters in a row, such as 12345678"
    parts = [secret[start : start + RUN] for start in range(len(secret) - RUN + 1)]
    return "a part that comes back" if len({*parts}) < len(parts) else ""
