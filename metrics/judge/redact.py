"""Keeping keys out of everything that is stored or shown: logs, the cache, runs, error messages."""

import os
import re

SHORTEST = 8  # characters of a key; servers without keys are given "x" or "none"
NAMES = re.compile(r"(?:API_KEY|ACCESS_KEY|SECRET|TOKEN|PASSWORD)S?$")
LOOKS = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx)[-_](?=[\w-]{8})[\w-]+|(?<=Bearer )[\w.~+/-]{8,}=*")
REDACTED = "[key]"


def redact(text: str) -> str:
    """Return `text` without the values of key-like environment variables and anything that looks like a key."""
    for value in _keys():
        if value in text:
            text = text.replace(value, REDACTED)
    return LOOKS.sub(REDACTED, text) if "-" in text or "_" in text or "Bearer" in text else text


def _keys() -> list[str]:
    """Return the values of key-like variables, the longest first, so that none is left in part."""
    found = {
        value
        for name, value in os.environ.items()
        if len(value) >= SHORTEST and NAMES.search(name) and " " not in value
    }
    return sorted(found, key=lambda value: (-len(value), value))
