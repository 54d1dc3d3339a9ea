"""Answers accepted without a person: the score from which on people would call few of them wrong, with a guarantee."""

from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores, output_scores, outputs_of
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import at_least
from metrics.stats.classification.selective import cases_missing, fewest_answers, guaranteed, risk_coverage
from metrics.store import Run

MAX_WRONG_SHARE, CONFIDENCE = 0.05, 0.95  # the share of accepted answers that may be wrong, and the confidence


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Whether answers with a score on the good side of `threshold` can be accepted without a person.

    Then at most the share `most` of them is wrong by people's labels, with the confidence SURE; `accepted`: the share
    of all scored outputs that are. threshold None: the labels show it of none; missing: how many more may, None where
    none will. n: the independent labels that chose the threshold, of random outputs, one a case; beyond it there are
    `answered`, and `wrong` ones among them. fewest: labels that it takes at the least, all of them right. model None:
    all models together, mixed as the labels are. obstacle: why nothing can be guaranteed ("", "random", "groups").
    """

    model: str | None
    column: Column
    most: float
    n: int
    fewest: int
    threshold: float | None = None
    accepted: float | None = None
    answered: int = 0
    wrong: int = 0
    missing: int | None = None
    obstacle: str = ""


def acceptances(
    run: Run,
    criterion: str,
    only: tuple[str, str],
    tag: str | None = None,
    passing: float | None = None,
    most: float = MAX_WRONG_SHARE,
) -> list[Acceptance]:
    """Return from which score of a metric on each model's answers can be accepted, then those of all models together.

    only: evaluator and metric; see `labelled_scores`. An answer is wrong where a rater drawn at random from those who
    labelled it fails it or is unsure. Empty for a metric of which neither end is better. Source: Angelopoulos, Bates,
    Candès, Jordan & Lei 2021, Learn then Test.
    """
    both = labelled_scores(run, *only, criterion, tag=tag, passing=passing, unsure=True)
    if both.column.direction == "none":
        return []
    scores = np.where(outputs_of(run, tag=tag), output_scores(run, both.column), np.nan).reshape(len(run.models), -1)
    parts: list[tuple[str | None, Bools]] = [(name, both.model == place) for place, name in enumerate(run.models)]
    if len(parts) > 1:
        parts.append((None, np.ones(len(both.model), bool)))
    grouped = run.sampling_design().clusters is not None
    return [
        acceptance(both.part(keep), scores if model is None else scores[place], model, grouped, most)
        for place, (model, keep) in enumerate(parts)
    ]


def acceptance(
    both: LabelledScores, scores: Floats, model: str | None = None, grouped: bool = False, most: float = MAX_WRONG_SHARE
) -> Acceptance:
    """Return from which score on answers can be accepted; scores: of all outputs, NaN where there is none.

    grouped: cases belong together in groups, so that their labels are not independent and nothing is guaranteed.
    """
    own = both.part(independent(both))
    n, found = len(own.score), Acceptance(model, both.column, most, len(own.score), fewest_answers(most, CONFIDENCE))
    if grouped or (len(both.score) and not n):
        return replace(found, obstacle="groups" if grouped else "random")
    curve = risk_coverage(own.sign * own.score, ~own.passed)
    shown = guaranteed(curve, most, CONFIDENCE)
    if shown is None:
        return replace(found, missing=cases_missing(curve, most, CONFIDENCE))
    known = own.sign * scores[~np.isnan(scores)]
    return replace(
        found,
        threshold=own.sign * shown.threshold,
        accepted=float(at_least(known, shown.threshold).mean()),
        answered=shown.answered,
        wrong=shown.wrong,
    )


def independent(both: LabelledScores) -> Ints:
    """Return the random outputs, one a case: labels of several models' answers to a case are not independent."""
    drawn = np.random.default_rng(0).permutation(np.flatnonzero(both.random))
    _, first = np.unique(both.clusters[drawn], return_index=True)
    return np.sort(drawn[first])
