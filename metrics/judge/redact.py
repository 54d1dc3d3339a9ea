"""Keeping keys out of everything that is written down: logs, the cache, runs, messages of errors."""

import os
import re

SHORTEST = 8  # characters of a key; "x" or "none" is what servers without keys are given
NAMES = re.compile(r"(?:API_KEY|ACCESS_KEY|SECRET|TOKEN|PASSWORD)S?$")
LOOKS = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx)[-_](?=[\w-]{8})[\w-]+|(?<=Bearer )[\w.~+/-]{8,}=*")
REDACTED = "[key]"


def redact(text: str) -> str:
    """`text` without the values of key-like environment variables and without what looks like a key."""
    for value in _keys():
        if value in text:
            text = text.replace(value, REDACTED)
    return LOOKS.sub(REDACTED, text) if "-" in text or "_" in text or "Bearer" in text else text


def _keys() -> list[str]:
    """Return the longest first, so that none is left in part."""
    found = {
        value
        for name, value in os.environ.items()
        if len(value) >= SHORTEST and NAMES.search(name) and " " not in value
    }
    return sorted(found, key=lambda value: (-len(value), value))
