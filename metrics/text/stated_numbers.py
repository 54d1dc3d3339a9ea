"""The numbers that a text states, normalised so that equal numbers are equal."""

import re

# digits with separators of thousands or decimals between them: 1,200 · 1.200,5 · 3.20 · 1 200
NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f'’]\d+)*")
GROUPED = re.compile(r"\d{1,3}(?:([.,\u00a0\u202f'’])\d{3})(?:\1\d{3})*")


def numbers(text: str) -> set[str]:
    """Return the numbers written in digits, without thousands separators and trailing zeros, with a decimal point.

    "1,200" and "1200" are one number, and so are "3.20", "3,2" and "3.2". "1,200" is 1200, never 1.2. Any script's
    digits count.
    """
    return {
        _plain("".join(str(int(sign)) if sign.isdigit() else sign for sign in found[0]))
        for found in NUMBER.finditer(text)
    }


def _plain(written: str) -> str:
    if GROUPED.fullmatch(written):
        return re.sub(r"\D", "", written).lstrip("0") or "0"
    whole, mark, decimals = written, "", ""
    if last := re.search(r"\D(?=\d+$)", written):
        whole, mark, decimals = written[: last.start()], ".", written[last.end() :].rstrip("0")
    whole = re.sub(r"\D", "", whole).lstrip("0") or "0"
    return whole + mark + decimals if decimals else whole
