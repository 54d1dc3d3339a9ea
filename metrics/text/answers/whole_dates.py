"""A text that is one date, in the forms people write: the days that it may name."""

import re
from datetime import date
from itertools import product
from typing import Literal

from metrics.text.answers.forms import without_ends
from metrics.text.dates import MONTHS

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
