"""Guarantees of a score threshold in words: the same in pages, reports and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.presentation.format import exact, share

if TYPE_CHECKING:
    from metrics.analysis.leaderboard.guarantees import ScoreGuarantee


def answer_only(found: ScoreGuarantee) -> str:
    """Return from which score on to answer, what that guarantees and how much it answers; else why nothing is."""
    if found.threshold is None or found.coverage is None:
        return f"No guarantee: {found.reason}."
    return (
        f"Answer only when the score is ≥ {exact(found.threshold)}: then at most {100 * found.most:g} % of the answers "
        f"are wrong, with {100 * found.sure:g} % confidence; {share(found.coverage, 1)} of the cases are answered."
    )
