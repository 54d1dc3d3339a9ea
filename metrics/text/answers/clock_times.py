"""A text that is one time of day, in the forms people write."""

import re
from typing import NamedTuple

from metrics.text.answers.forms import without_ends

MAX_TIME = 40  # characters of a time
HALF_DAY, DAY = 12 * 3600, 24 * 3600
ZONE = r"(?:\s?(?P<zone>Z|[A-Z]{3,4}|(?:UTC|GMT)?[+−-]\d{1,2}(?::?\d{2})?))?"
DIGITS = re.compile(
    r"(?:at\s)?(?P<hour>\d{1,2})"
    r"(?:(?P<mark>[:.h]|\sUhr\s)(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\.?|\s?(?P<word>o['’]clock|uhr))?" + ZONE,
    re.IGNORECASE,
)
NAMED = re.compile(r"(?:at\s)?(?:12\s)?(?:(?P<noon>noon|midday)|midnight)", re.IGNORECASE)
SAME_ZONES = {"Z": "UTC", "GMT": "UTC"}


class ClockTime(NamedTuple):
    """A time of day: seconds since midnight, and the time zone as written; "" for none."""

    seconds: int
    zone: str = ""

    @property
    def shown(self) -> str:
        """The time for people, on the 24-hour clock."""
        minutes, seconds = divmod(self.seconds, 60)
        clock = f"{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
        return f"{clock} {self.zone}".strip()


def clock_time(text: str) -> ClockTime | None:
    """Return the time of day that a whole text is; None where it is anything else.

    14:30, 14:30:15, 2:30 pm, 2 p.m., 2.30 pm, 14h30, 14.30 Uhr, 3 o'clock, noon and midnight are times; a zone may
    follow (UTC, CET, +02:00). Hours without am or pm are those of the 24-hour clock. A number with a point alone is a
    number, and 3:5 a ratio.

    >>> clock_time("2:30 p.m.").shown
    '14:30'
    """
    bare = " ".join(without_ends(text[: MAX_TIME + 1]).split())
    if not bare or len(bare) > MAX_TIME:
        return None
    if named := NAMED.fullmatch(bare):
        return ClockTime(HALF_DAY if named["noon"] else 0)
    found = DIGITS.fullmatch(bare)
    if not found or not (found["half"] or found["word"] or (found["mark"] or ".") != "."):
        return None
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    seconds = 3600 * hour + 60 * minute + second
    zone = (found["zone"] or "").upper().replace("−", "-")
    return ClockTime(seconds % DAY, SAME_ZONES.get(zone, zone)) if seconds <= DAY else None
