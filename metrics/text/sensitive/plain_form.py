"""The plain form of a text: what it says once invisible characters, full-width letters and odd dashes are undone."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from metrics.text.sensitive.spans import Finding

DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe58\ufe63\uff0d", "-")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# m² is not m2: a footnote must not lengthen a number
KEPT_FORMS = ("<super>", "<sub>", "<fraction>", "<square>", "<circle>")


class PlainForm:
    """A text in its plain form, `text`, that knows the place of each of its characters in the original.

    Unicode's NFKC form of each character but superscripts, fractions and enclosed signs; decimal digits of every script
    as ASCII digits; dashes as hyphens; format characters (zero-width spaces and joiners, soft hyphens) removed.
    """

    def __init__(self, original: str) -> None:
        pieces: list[str] = []
        self._starts, self._shifts = [0], [0]  # from this place of the plain text on: what to add for the original's
        length = place = 0
        for match in NOT_ASCII.finditer(original):
            shown = _plain(match[0])
            if shown == match[0]:
                continue
            start = match.start()
            pieces += [original[place:start], shown]
            length += start - place
            for number in range(1, len(shown)):  # all characters of one stand at its place
                self._starts.append(length + number)
                self._shifts.append(start - length - number)
            length += len(shown)
            place = start + 1
            self._starts.append(length)
            self._shifts.append(place - length)
        pieces.append(original[place:])
        self.text = "".join(pieces)

    def in_original(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings in `text` with their places in the original."""
        if len(self._starts) == 1:
            return list(findings)
        places = ((finding, *self.place(finding.start, finding.end)) for finding in findings)
        return [replace(finding, start=start, end=end) for finding, start, end in places]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where characters `start` to `end` of `text` are in the original."""
        return self._original(start), self._original(end - 1) + 1

    def _original(self, place: int) -> int:
        return place + self._shifts[bisect_right(self._starts, place) - 1]


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    if unicodedata.category(character) == "Cf":
        return ""
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    if character in DASHES:
        return DASHES[character]
    if unicodedata.decomposition(character).startswith(KEPT_FORMS):
        return character
    return unicodedata.normalize("NFKC", character)
