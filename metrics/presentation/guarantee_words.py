"""Guarantees of a score threshold in words: the same in pages, reports and the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.core.conventions import limit
from metrics.presentation.format import MISSING, count, exact, plural, rough, share

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis.labels.acceptance import Acceptance
    from metrics.analysis.leaderboard.guarantees import ScoreGuarantee


def answer_only(found: ScoreGuarantee) -> str:
    """Return from which score on to answer, what that guarantees and how much it answers; else why nothing is."""
    if found.threshold is None or found.coverage is None:
        return f"No guarantee: {found.reason}."
    return (
        f"Answer only when the score is ≥ {exact(found.threshold)}: then at most {100 * found.most:g} % of the answers "
        f"are wrong, with {100 * found.sure:g} % confidence; {share(found.coverage, 1)} of the cases are answered."
    )


TOGETHER = "all models together, mixed as the labels are"
OBSTACLES = {
    "random": "nothing can be guaranteed: no label is of an output drawn at random",
    "groups": "nothing can be guaranteed: the cases are in groups, so their labels are not independent",
}


def accept(found: Acceptance) -> str:
    """Return from which score on to accept answers without a person, and what that guarantees; else why none are."""
    most = f"{100 * found.most:g} %"
    if found.threshold is not None and found.accepted is not None:
        return (
            f"accept an answer without a person when the score is {limit(found.threshold, found.column.direction)}: "
            f"then at most {most} of the accepted answers are wrong by people's labels, with 95 % confidence; "
            f"{share(found.accepted, 1)} of all answers are accepted"
        )
    if found.obstacle:
        return OBSTACLES[found.obstacle]
    if found.n < found.fewest:
        return f"{missing(found)} random labels needed"
    unshown = f"{plural(found.n, 'label')} show no score from which on at most {most} of the answers are wrong"
    return unshown if found.missing is None else f"{unshown}; {missing(found)} may"


def missing(found: Acceptance) -> str:
    """Return how many labels are missing: `too few: at least 19 more`, `some 230 more`; MISSING where none are."""
    if found.threshold is not None:
        return MISSING
    if found.obstacle:
        return {"random": "no random label", "groups": "cases in groups"}[found.obstacle]
    if found.missing is None:
        return "too many wrong"
    if found.n < found.fewest:
        return f"too few: at least {count(found.missing)} more"
    return f"some {count(rough(found.missing))} more"


def accept_line(found: Acceptance) -> str:
    """Return the same as a sentence of its own: `sonnet: accept …`."""
    return f"{found.model or TOGETHER.capitalize()}: {accept(found)}."


def acceptance_frame(rows: Iterable[tuple[str, Acceptance]]) -> pd.DataFrame:
    """Return a row a model of each (criterion, acceptance); of all models together `model` is empty.

    Columns: evaluator, metric, criterion, model, most_errors, sureness, threshold, accepted (share of all outputs), n,
    answered, wrong (among the n labels), needs (labels that lack, empty where no number helps), sentence.
    """
    import pandas as pd

    from metrics.analysis.labels.acceptance import CONFIDENCE

    found = [
        {"evaluator": one.column.evaluator, "metric": one.column.metric, "criterion": criterion, "model": one.model}
        | {"most_errors": one.most, "sureness": CONFIDENCE, "threshold": one.threshold, "accepted": one.accepted}
        | {"n": one.n, "answered": one.answered, "wrong": one.wrong, "needs": one.missing}
        | {"sentence": accept(one)}
        for criterion, one in rows
    ]
    names = "evaluator metric criterion model most_errors sureness threshold accepted n answered wrong needs sentence"
    return pd.DataFrame(found, columns=names.split())
