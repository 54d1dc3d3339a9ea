"""Repairing JSON as models write it (single quotes, unescaped quotes, comments …), with bounded work."""

from typing import Any, SupportsIndex, overload

from metrics.text.json_text import JsonError

LONGEST = 100_000  # characters of a text to be repaired
MOST_WORK = 1_000_000  # looks at a character; the parser may look at each as often as the text is long


class _Exhausted(Exception):
    """The work allowed is done."""


class _Metered(str):
    """A text that counts how often it is looked at.

    The parser's time is quadratic for some texts, and nothing else can stop it: a count depends on no clock.
    """

    left: list[int]

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> str: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str:
        found = str.__getitem__(self, place)
        self.left[0] -= 1 + len(found) // 64
        if self.left[0] < 0:
            raise _Exhausted
        return self._same(found) if isinstance(place, slice) else found

    def __add__(self, other: str) -> str:
        return self._same(str.__add__(self, other))

    def _same(self, text: str) -> "_Metered":
        found = _Metered(text)
        found.left = self.left
        return found


class Repairs:
    """Repairs broken JSON; all texts given to one instance share its work, at most MOST_WORK."""

    def __init__(self) -> None:
        self._left = [MOST_WORK]

    def repaired(self, text: str) -> Any:
        """Return the JSON value that a broken text stands for, by json-repair's rules.

        Open brackets and strings are closed: the caller sees to it that nothing has been cut off. Raises JsonError for
        a text longer than LONGEST, nested too deep, or so broken that reading it takes more than the work allowed.
        """
        from json_repair import repair_json

        if len(text) > LONGEST:
            raise JsonError(f"broken JSON of {len(text):,} characters; at most {LONGEST:,} are repaired")
        metered = _Metered(text)
        metered.left = self._left
        try:
            return repair_json(metered, return_objects=True, skip_json_loads=True)
        except (_Exhausted, ValueError, RecursionError):  # the latter two: nested too deep for the parser
            raise JsonError("JSON too broken to be repaired") from None
