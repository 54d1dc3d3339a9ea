"""The share of each model's outputs that people would pass, from the judge's verdicts and its known errors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.analysis.labels.judge_agreement import ENOUGH_OF_KIND, UNDEFINED, Stat, cut_of, stat
from metrics.analysis.labels.labelled_scores import labelled_scores, output_scores
from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import at_least
from metrics.stats.agreement_intervals import effective_size
from metrics.stats.intervals import wilson
from metrics.stats.judge_correction import true_share
from metrics.store import Run

Obstacle = Literal["", "threshold", "random", "labels", "chance"]


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
