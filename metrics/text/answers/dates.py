"""A text that is one date or one time of day, in the forms people write: the days and times that it may name."""

import re
from datetime import date
from itertools import product
from typing import Literal, NamedTuple

from metrics.text.answers.forms import without_ends
from metrics.text.dates import MONTHS

MAX_TIME = 40  # characters of a time
HALF_DAY, DAY = 12 * 3600, 24 * 3600
ZONE = r"(?:\s?(?P<zone>Z|[A-Z]{3,4}|(?:UTC|GMT)?[+−-]\d{1,2}(?::?\d{2})?))?"
TIME_DIGITS = re.compile(
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
    found = TIME_DIGITS.fullmatch(bare)
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


DateOrder = Literal["either", "day_first", "month_first"]
Day = tuple[int, int, int]  # year, month, day; 0 for what the text does not say
MAX_DATE = 60  # characters of a date
DIGITS = re.compile(r"(?P<one>\d{1,4})(?P<mark>[./-])(?P<two>\d{1,2})(?P=mark)(?P<three>\d{4}|\d{1,2})")
HAN = re.compile(r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日일])?")
WORD = re.compile(r"\d+|[^\W\d_]+")
ALLOWED = re.compile(r"(?:\d{1,4}(?:st|nd|rd|th|\.)?|[^\W\d_]{3,12}\.?|of|the|de|den|,|\s|[-/])+", re.IGNORECASE)
FILLING = frozenset("of the on de den der st nd rd th".split())
DAY_NAMES = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun montag "
    "dienstag mittwoch donnerstag freitag samstag sonntag"
)
WEEKDAYS = frozenset(DAY_NAMES.split())


def whole_dates(text: str, order: DateOrder = "either") -> frozenset[Day]:
    """Return the days that a text may name if it is nothing but a date; none if it is anything else.

    2024-03-01, 1 March 2024, March 1st, 2024, 1.3.2024, 3/1/2024, 2024年3月1日, March 2024 and 1 March are dates; a
    weekday beside them is ignored, a bare year is a number. Digits alone are year-month-day where the year comes first;
    else `order` decides; under `either` points mean that the day comes first, and 3/4/2024 names both days. A year of
    two digits names both of its centuries, 1900 and 2000. Month names: English and German.

    >>> sorted(whole_dates("3/4/2024"))
    [(2024, 3, 4), (2024, 4, 3)]
    """
    bare = without_ends(text[: MAX_DATE + 1])
    if not bare or len(bare) > MAX_DATE:
        return frozenset()
    if found := DIGITS.fullmatch(bare):
        return _in_digits(found, order)
    if found := HAN.fullmatch(bare):
        return _real({(int(found["year"]), int(found["month"]), int(found["day"] or 0))})
    return _in_words(bare) if ALLOWED.fullmatch(bare) else frozenset()


def _in_digits(found: re.Match[str], order: DateOrder) -> frozenset[Day]:
    one, two, three = (int(found[name]) for name in ("one", "two", "three"))
    if len(found["one"]) == 4:
        return _real({(one, two, three)})
    if len(found["three"]) == 1:  # a version
        return frozenset()
    if order == "either" and found["mark"] == ".":
        order = "day_first"
    days = {"day_first": [(two, one)], "month_first": [(one, two)], "either": [(two, one), (one, two)]}[order]
    return _real({(year, month, day) for year, (month, day) in product(_years(three), days)})


def _in_words(text: str) -> frozenset[Day]:
    words = [word for word in WORD.findall(text.casefold()) if word not in FILLING and word not in WEEKDAYS]
    months = [MONTHS[word] for word in words if word in MONTHS]
    numbers = [word for word in words if word.isdecimal()]
    if len(months) != 1 or len(numbers) + 1 != len(words) or not 1 <= len(numbers) <= 2:
        return frozenset()
    if len(numbers) == 1:
        alone = int(numbers[0])
        return _real({(alone, months[0], 0) if len(numbers[0]) == 4 else (0, months[0], alone)})
    day, year = sorted(numbers, key=len) if len(numbers[0]) > 2 else numbers
    return _real({(one, months[0], int(day)) for one in _years(int(year))})


def _years(written: int) -> tuple[int, ...]:
    return (1900 + written, 2000 + written) if written < 100 else (written,)


def _real(days: set[Day]) -> frozenset[Day]:
    """Return the days that the calendar has; a day of no year is one of a leap year."""
    return frozenset(day for day in days if _is_real(*day))


def _is_real(year: int, month: int, day: int) -> bool:
    try:
        date(year or 2000, month, day or 1)
    except ValueError:
        return False
    return bool(day or year)
