"""Keeping keys out of everything that is stored or shown: logs, the cache, runs, error messages."""

import os
import re

from metrics.text.sensitive.secrets import SECRET_KINDS, secrets

SHORTEST = 8  # characters of a key; servers without keys are given "x" or "none"
NAMES = re.compile(r"(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?$")
KINDS = tuple(kind for kind in SECRET_KINDS if kind not in ("certificate", "product_key"))
# Keys of unknown lengths, and what is sent as authorization: letters and digits, not the words of a name; and whatever
# long value a URL has as its key.
LOOKS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx)[-_](?=[\w-]{0,40}?(?=[A-Za-z]{0,9}\d)[A-Za-z0-9]{10})[\w-]{8,}+"
    r"|(?<=Bearer )(?=[A-Za-z+/_.-]{0,40}\d)[\w.~+/-]{8,}=*"
    r"|(?<=[?&]key=)(?=[A-Za-z+/_.-]{0,40}\d)[\w.~+/%-]{16,}=*",
    re.ASCII,
)
REDACTED = "[key]"


def redact(text: str) -> str:
    """Return `text` without the values of key-like environment variables and anything that looks like a key.

    What looks like a key is what sensitive_data_leakage finds, but for certificates, product keys and published
    samples. Time is linear in the text.
    """
    for value in _keys():
        if value in text:
            text = text.replace(value, REDACTED)
    place, pieces = 0, []
    for secret in secrets(text, KINDS):
        if not secret.dummy and REDACTED not in text[secret.start : secret.end]:
            pieces += [text[place : secret.start], REDACTED]
            place = secret.end
    return LOOKS.sub(REDACTED, "".join([*pieces, text[place:]]))


def _keys() -> list[str]:
    """Return the values of key-like variables, the longest first, so that none is left in part."""
    found = {
        value
        for name, value in os.environ.items()
        if len(value) >= SHORTEST and NAMES.search(name.upper()) and " " not in value
    }
    return sorted(found, key=lambda value: (-len(value), value))
