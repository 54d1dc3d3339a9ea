"""The time that the judged cases of a run still take, by the speed of this session alone."""

ENOUGH = 3  # cases that took a request, after which their speed is known


class JudgePace:
    """Measures how fast cases are judged.

    Cases that the cache answers say nothing of the time that the others take, and they often come first. So what is
    done before the first case that took a request does not count, and time counts from the first request on. Until
    ENOUGH cases took one, the time left is unknown. Where no request is sent, all cases count.
    """

    def __init__(self) -> None:
        self._now = self._done = self._asked = self._calls = 0.0
        self._begun = 0.0  # seconds at which the first request was sent, at the latest
        self._before = 0.0  # cases done until the first that took a request

    def note(self, now: float, done: int, calls: int, asked: int) -> None:
        """Note what is done at `now`, in seconds of this session.

        `done`: cases that are judged, `asked`: those of them that took a request, `calls`: requests sent.
        """
        if not calls:
            self._begun = now
        if not asked:
            self._before = done
        self._now, self._done, self._calls, self._asked = now, done, calls, asked

    def left(self, cases: int) -> float | None:
        """Return the seconds that so many further cases take; None while unknown."""
        if not cases:
            return 0.0
        if not self._calls:
            return self._now / self._done * cases if self._done else None
        if self._asked < ENOUGH:
            return None
        return (self._now - self._begun) / max(1, self._done - self._before) * cases
