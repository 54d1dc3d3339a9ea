"""What dates, years and times of day may mean, in any order and form."""

import math
import re
from collections.abc import Iterator
from fractions import Fraction

from metrics.text.measures import BARE, SECONDS, Reading, Unit

CLOCK = Unit("clock")  # hours since midnight
DATE = Unit("date of day")  # 100 · month + day
MONTH = Unit("date of month")  # 1 … 12
MONTH_NAMES = (
    "january jan januar|february feb februar|march mar märz|april apr|may mai|june jun juni|july jul juli|august aug|"
    "september sep sept|october oct oktober|november nov|december dec dezember"
)
MONTHS = {name: number for number, names in enumerate(MONTH_NAMES.split("|"), 1) for name in names.split()}
MERIDIEM = re.compile(
    r"(?i)\s?(?:(?P<am>a\.?m\b\.?|in the morning)|(?P<pm>p\.?m\b\.?|in the (?:afternoon|evening)|at night)"
    r"|(?P<hour>o['’]clock|uhr\b|h\b))"
)
CENTURY = re.compile(r"[\s-](?:century|centuries)\b", re.IGNORECASE)
NO_NUMBER = math.nan  # of a reading that equals no number without a unit


def exactly(value: Fraction | float, unit: Unit = BARE) -> tuple[Reading, ...]:
    """Return the reading of one value."""
    return (Reading(value, value, unit),)


def day_of_month(day: int, month: int) -> tuple[Reading, ...]:
    """Return the reading of a day; () for one that the calendar does not have."""
    value = Fraction(100 * month + day)
    return (Reading(value, value, DATE, day),) if 1 <= day <= 31 and 1 <= month <= 12 else ()


def month_of_year(month: int) -> tuple[Reading, ...]:
    """Return the reading of a month, 1 … 12; () for another number."""
    return exactly(month, MONTH) if 1 <= month <= 12 else ()


def years(first: int) -> tuple[Reading, ...]:
    """Return the readings of "1980s", "80s" and "1800s" from their number: also the whole century for the last."""
    decade = Reading(Fraction(first), Fraction(first + 9))
    if first < 100:
        return (decade, *exactly(first), Reading(Fraction(1900 + first), Fraction(1909 + first)))
    return (decade, *exactly(first)) if first % 100 else (decade, Reading(Fraction(first), Fraction(first + 99)))


def year_of(short: int) -> tuple[Reading, ...]:
    """Return the readings of a year of two digits."""
    return (*exactly(1900 + short), *exactly(2000 + short))


def century(number: int) -> tuple[Reading, ...]:
    """Return the readings of a century: its number and its years."""
    return (*exactly(number), Reading(Fraction(100 * number - 100), Fraction(100 * number - 1)))


def in_digits(written: str) -> Iterator[tuple[tuple[Reading, ...], bool]]:
    """Yield the readings of each number of a date such as 1/2/2003, 2003-02-01 or 1.2.03, and whether it is certain."""
    first, middle, last = (int(one) for one in re.findall(r"\d+", written))
    year, one, other = (first, last, middle) if first > 31 else (last, first, middle)
    days = (*day_of_month(one, other), *(day_of_month(other, one) if year == last else ()))
    if not days:  # a version, an address
        yield from ((exactly(number), True) for number in (first, middle, last))
        return
    yield days, True
    yield (*exactly(year), *(year_of(year) if year < 100 else ())), True
    for number in (one, other):
        yield (*exactly(number), *month_of_year(number)), False


def time_of_day(hours: Fraction, after: str) -> tuple[Reading, ...]:
    """Return the readings of a time of day that words such as "pm" follow; without them, either half of the day."""
    found = MERIDIEM.match(after)
    bare = hours
    if found and (found["am"] or found["pm"]):
        hours = hours % 12 + (12 if found["pm"] else 0)
        return (
            Reading(hours, hours, CLOCK, bare),
            *([Reading(hours + 24, hours + 24, CLOCK, bare)] if not hours else []),
        )
    if hours > 24:
        return ()
    spoken = found is not None and found["hour"][0] in "oO"
    other = hours % 24 if hours == 24 else hours + 24 if hours < 1 else hours + 12
    both = (hours, other) if spoken or hours in (0, 24) else (hours,)
    return tuple(Reading(one, one, CLOCK, bare) for one in both)


def dial_readings(hour: int, minutes: Fraction) -> tuple[Reading, ...]:
    """Return the readings of a time told by the dial, as half past three: either half of the day."""
    hours = (hour + minutes / 60) % 12
    return tuple(Reading(one, one, CLOCK, NO_NUMBER) for one in (hours, hours + 12))


def span(written: str) -> tuple[Reading, ...]:
    """Return the durations that 1:30 or 1h30 may be: hours with minutes, minutes with seconds."""
    large, small = (int(one) for one in re.split(r"\D", written))
    lengths = (Fraction(3600 * large + 60 * small), Fraction(60 * large + small))
    return tuple(Reading(length, length, SECONDS, NO_NUMBER) for length in lengths)
