"""Windows: the stretches of production that a pass rate covers, a number of sampled cases or an amount of time."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from metrics.core.errors import InputError, InputProblem

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
TIMES = (
    "timestamp", "time", "ts", "datetime", "date", "created_at", "created", "@timestamp", "start_time", "startTime",
    "createdAt",
)  # fmt: skip
LATEST = 1e10  # seconds: in the year 2286; a larger number is one of ms, µs or ns


@dataclass(frozen=True, slots=True)
class Window:
    """`cases` sampled cases, or `seconds` of time; exactly one of the two is given."""

    cases: int | None = None
    seconds: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Window":
        """Return the window of a text, `100` (sampled cases) or `30m`, `1h`, `7d` (time); else InputError."""
        match = re.fullmatch(r"([1-9][0-9]{0,8})([smhd]?)", text.strip())
        if match is None:
            expected = "a number of sampled cases such as 100, or a time such as 30m, 1h or 7d"
            raise InputError([InputProblem("--window", repr(text), expected)])
        number, unit = int(match[1]), match[2]
        return cls(seconds=number * UNITS[unit]) if unit else cls(cases=number)

    def __str__(self) -> str:
        if self.cases is not None:
            return str(self.cases)
        seconds = self.seconds or 0
        unit = next(unit for unit in "dhms" if seconds % UNITS[unit] == 0)
        return f"{seconds // UNITS[unit]}{unit}"

    @property
    def words(self) -> str:
        """The window in words: `100 sampled cases`, `1 h`."""
        text = str(self)
        return f"{self.cases:,} sampled cases" if self.cases is not None else f"{text[:-1]} {text[-1]}"

    def of(self, number: int, at: float | None) -> int:
        """Return a sampled case's window, by its number (from 0) or its time: windows count from 0, or from 1970."""
        if self.cases is not None:
            return number // self.cases
        return int((at or 0.0) // (self.seconds or 1))

    def begins(self, window: int) -> datetime | None:
        """Return when a window of time begins; None for a window of cases."""
        return None if self.seconds is None else datetime.fromtimestamp(window * self.seconds, UTC)


def time_of(value: Any) -> float | None:
    """Return the seconds since 1970 of an ISO 8601 text (UTC by default) or a number of s, ms, µs or ns; else None.

    Times before 1970 and after 2286 give None.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            number = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            return number if 0 < number < LATEST else None
    except (ValueError, OverflowError):
        pass  # a number as text, perhaps
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
    except (ValueError, OverflowError):
        return None
    return next((number / scale for scale in (1.0, 1e3, 1e6, 1e9) if 0 < number / scale < LATEST), None)
