"""What was tested in words: the same in pages and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metrics.presentation.format import MISSING, count, plural

if TYPE_CHECKING:
    from metrics.analysis.corrected_tests import CorrectedTests

HEADS = ("Question", "Tests", "Correction", "Found")


def question_row(one: CorrectedTests) -> tuple[str, str, str, str]:
    """Return the cells of HEADS."""
    return one.question, count(one.tests), one.correction, MISSING if one.found is None else count(one.found)


def caution(rows: Sequence[CorrectedTests]) -> str:
    """Return what the corrections do not cover: more questions find more by chance."""
    tests, families = (sum(getattr(one, name) for one in rows) for name in ("tests", "families"))
    if families < 2:
        return f"{plural(tests, 'test')} in all, corrected together: a false finding in at most 5 % of evaluations."
    most = min(100, 5 * families)
    return (
        f"{plural(tests, 'test')} in all. Each correction holds within its own question or metric, {count(families)} "
        f"of them here, not across them: if there were nothing to find, up to {most} % of such evaluations would still "
        "find something. Decide on few questions beforehand, and confirm what you find on new cases."
    )
