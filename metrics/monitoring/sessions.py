"""Sessions: lines that belong together, and so are one unit of evidence: a conversation, a thread, a user's visit.

The answers of one session resemble each other, so ten of them do not say as much as ten answers of ten sessions. A
session's unit is the share of its lines that pass. It is counted once the session is over, a line without a session at
once. Whether one is over never depends on its results.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.float_tolerance import ratio

if TYPE_CHECKING:
    import pandas as pd

NAMES = (
    "session", "session_id", "session.id", "conversation", "conversation_id", "gen_ai.conversation.id", "thread",
    "thread_id", "group", "metadata.session_id", "metadata.thread_id", "metadata.conversation_id", "user", "user_id",
)  # fmt: skip
UNIT_COLUMNS = 'number, epoch("at") AS "at", coalesce(session, -1) AS session'  # of stored samples, for units_of
QUIET_SECONDS = 1_800.0  # without a line of it, after which a session is over
QUIET_SAMPLES = 100  # the same where lines have no time
MAX_SESSION_LINES = 100  # lines of a session; those that follow are another's
MOST_OPEN = 500  # sessions; of more, the one that has been quiet for longest is over


class Unit(NamedTuple):
    """A session that is over, or a line without one: the sample at which it was counted, and for each of some
    questions (does it pass this metric?) how many of its lines were hits, of how many whose answer is known.
    """

    number: int
    hits: Ints | Floats  # or sums of scores
    known: Ints

    @property
    def values(self) -> Floats:
        """The share of hits for each question; NaN where nothing is known."""
        return ratio(self.hits, self.known)


class Sessions:
    """Puts samples together to units, as they come."""

    def __init__(self, kept: Iterable[Mapping[str, Any]] = ()):
        self._open: dict[int, _Open] = {}  # the longest quiet first
        for one in kept:
            self._open[one["session"]] = _Open(
                one["number"], one["at"], one["lines"], np.array(one["hits"]), np.array(one["known"])
            )

    def __len__(self) -> int:
        """Return how many sessions are open."""
        return len(self._open)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the open sessions as JSON, from which it continues."""
        return [
            {"session": session, **one._asdict(), "hits": one.hits.tolist(), "known": one.known.tolist()}
            for session, one in self._open.items()
        ]

    def add(
        self, number: int, at: float | None, session: int | None, hits: Bools | Floats, known: Bools
    ) -> Iterator[Unit]:
        """Add a sample, whose time and session may be None; yield the units that are complete with it."""
        for over in [name for name, one in self._open.items() if one.is_over(number, at)]:
            yield self._closed(over, number)
        if session is None:
            yield Unit(number, hits * 1, known * 1)
            return
        before = self._open.pop(session, None) or _Open(number, at, 0, *np.zeros((2, len(hits)), np.int64))
        one = _Open(number, at, before.lines + 1, before.hits + hits, before.known + known)
        if one.lines == MAX_SESSION_LINES:
            yield Unit(number, one.hits, one.known)
            return
        self._open[session] = one  # last
        if len(self._open) > MOST_OPEN:
            yield self._closed(next(iter(self._open)), number)

    def _closed(self, session: int, number: int) -> Unit:
        one = self._open.pop(session)
        return Unit(number, one.hits, one.known)


def units_of(samples: "pd.DataFrame", hits: Bools | Floats, known: Bools) -> list[Unit]:
    """Return the units of stored samples, in the order in which they were counted: sessions that are over, and lines.

    `samples` have UNIT_COLUMNS, in the order of their numbers: seconds since 1970 or NaN, session or −1; `hits` and
    `known` are [sample, question], of scores in place of questions their values.
    """
    sessions = Sessions()
    times = [None if at != at else float(at) for at in samples["at"].tolist()]
    named = [None if one < 0 else one for one in samples["session"].tolist()]
    rows = zip(samples["number"].tolist(), times, named, hits, known, strict=True)
    return [unit for row in rows for unit in sessions.add(*row)]


class _Open(NamedTuple):
    number: int  # of its latest sample
    at: float | None
    lines: int
    hits: Ints | Floats
    known: Ints

    def is_over(self, number: int, at: float | None) -> bool:
        if self.at is None or at is None:
            return number - self.number >= QUIET_SAMPLES
        return at - self.at >= QUIET_SECONDS


def session_of(fields: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """Return a number for the session that the first of these fields with a value names; None where there is none."""
    held = (fields.get(name) for name in names)
    name = next((str(value) for value in held if isinstance(value, str | int) and str(value).strip()), None)
    return None if name is None else int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") >> 1
