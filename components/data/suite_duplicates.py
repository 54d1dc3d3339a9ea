"""Cases that are alike, within a stored suite or between two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from components.data.visitors import kept_here
from components.data.workspace_runs import workspace
from metrics.core.errors import AssayError

if TYPE_CHECKING:
    from metrics.suites import Duplicate


class FoundDuplicates(NamedTuple):
    """The pairs, the most alike first, and how many cases of the suite are independent of one another."""

    pairs: tuple[Duplicate, ...]
    independent: int


def _duplicates(suite: str, against: str | None) -> FoundDuplicates | str:
    from metrics.suites import duplicates, independent_cases

    here = workspace()
    try:
        own = here.suite(suite)
        found = duplicates(own, here.suite(against) if against else None)
    except AssayError as failure:
        return str(failure)
    return FoundDuplicates(tuple(found), independent_cases(own, () if against else found))


suite_duplicates = kept_here(_duplicates, "Looking for cases that are alike")
