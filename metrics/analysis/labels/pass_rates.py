"""The share of each model's outputs that people would pass, from the judge's verdicts and its known errors; and answers
accepted without a person: the score from which on people would call few of them wrong, with a guarantee.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.analysis.labels.judge_agreement import ENOUGH_OF_KIND, UNDEFINED, Stat, cut_of, stat
from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores, output_scores, outputs_of
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import at_least
from metrics.stats.agreement_intervals import effective_size
from metrics.stats.classification.selective import cases_missing, fewest_answers, guaranteed, risk_coverage
from metrics.stats.intervals import wilson
from metrics.stats.judge_correction import true_share
from metrics.store import Run

Obstacle = Literal["", "threshold", "random", "labels", "chance"]
MAX_WRONG_SHARE, CONFIDENCE = 0.05, 0.95  # the share of accepted answers that may be wrong, and the confidence


@dataclass(frozen=True, slots=True)
class PassRate:
    """The share of a model's outputs that the judge passes at `threshold`, and, corrected, that a person would pass.

    sensitivity, specificity: the judge's, on all models' outputs labelled at random; `labels` of them are the model's.
    obstacle: why nothing is corrected: no threshold that these labels had no part in choosing, no random label, fewer
    than ENOUGH_OF_KIND outputs of a kind, or a judge not significantly better than chance.
    """

    model: str
    threshold: float | None = None
    judged: Stat = UNDEFINED
    corrected: Stat = UNDEFINED
    sensitivity: Stat = UNDEFINED
    specificity: Stat = UNDEFINED
    labels: int = 0
    obstacle: Obstacle = ""


def pass_rates(
    run: Run,
    criterion: str,
    only: tuple[str, str],
    tag: str | None = None,
    passing: float | None = None,
    threshold: float | None = None,
) -> list[PassRate]:
    """Return the share of each model's outputs that people would pass, also of models that nobody labelled.

    Assumes that the judge errs alike on all models' outputs: where a model has labels of its own,
    `corrected_means` does not need that. See metrics.stats.judge_correction.
    """
    both = labelled_scores(run, *only, criterion, tag=tag, passing=passing)
    cut = cut_of(both, threshold)
    if cut.threshold is None or cut.chosen in ("suggested", "calibrated"):
        return [PassRate(model, cut.threshold, obstacle="threshold") for model in run.models]
    own, passes = both.part(both.random), cut.passes[both.random]
    kinds = (own.passed, ~own.passed)
    hits = np.where(own.passed, passes, 1 - passes)
    parts = ((hits[kind], own.part(kind)) for kind in kinds)
    errors = [_share(right, part.weight, part.clusters, part.rater) for right, part in parts]
    obstacle: Obstacle = ""
    if min(kind.sum() for kind in kinds) < ENOUGH_OF_KIND:
        obstacle = "labels" if both.random.any() else "random"
    design = run.sampling_design(tag)
    scores = both.sign * output_scores(run, both.column).reshape(len(run.models), -1)[:, design.inside]
    found = []
    for place, (model, score) in enumerate(zip(run.models, scores, strict=True)):
        known = ~np.isnan(score)
        weights, clusters = design.of_part(known)
        verdicts = at_least(score[known], both.sign * cut.threshold).astype(np.float64)
        judged = _share(verdicts, np.ones(len(verdicts)) if weights is None else weights, clusters)
        value, ends = true_share(*judged, *errors[0], *errors[1]) if not obstacle else (np.nan, (None, None))
        sensitivity, specificity = (UNDEFINED if obstacle else _stat(*error) for error in errors)
        reason: Obstacle = obstacle or ("chance" if np.isnan(value) else "")
        labels, corrected = int((own.model == place).sum()), stat(value, ends)
        found.append(
            PassRate(model, cut.threshold, _stat(*judged), corrected, sensitivity, specificity, labels, reason)
        )
    return found


def _share(hits: Floats, weights: Floats, clusters: Ints | None, raters: Ints | None = None) -> tuple[float, float]:
    """Return the weighted share of `hits` and as how many independent outputs they count."""
    codes = np.arange(len(hits)) if clusters is None else clusters
    share = float(weights @ hits / weights.sum()) if weights.any() else np.nan
    return share, effective_size(hits - share, weights, codes, raters)


def _stat(share: float, size: float) -> Stat:
    return stat(share, wilson(share * size, size))


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
