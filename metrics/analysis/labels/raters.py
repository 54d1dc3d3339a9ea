"""Agreement among the people who labelled a run's outputs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from metrics.analysis.labels.human_labels import HumanLabels, human_labels, named_outputs
from metrics.analysis.labels.judge_agreement import ENOUGH, UNDEFINED, Sample, Stat, lacking, stat, stat_of
from metrics.analysis.labels.labelled_scores import output_clusters
from metrics.core.array_types import Floats, Ints
from metrics.core.sampling_design import cluster_codes
from metrics.stats import rater_agreement as statistics
from metrics.stats.agreement_intervals import kappa_interval, share_interval
from metrics.stats.variance_components import crossed_components
from metrics.store import Run

MOST_KINDS = 30  # different labels up to which there is a κ
ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


@dataclass(frozen=True, slots=True)
class Raters:
    """Agreement among raters: of one pair (`left`, `right`), or of all raters where these are "".

    `n` outputs are labelled by both (for all raters: by two or more); sample: whom they speak of, see Agreement. kappa:
    of a pair Cohen's, of all raters Fleiss', of pass and fail only; alpha (Krippendorff): for all raters only, at the
    level of `scale_of`; weighted (quadratic κ, of grades) and equal (share of equal labels): for a pair only.
    """

    left: str
    right: str
    n: int
    kappa: Stat = UNDEFINED
    weighted: Stat = UNDEFINED
    equal: Stat = UNDEFINED
    alpha: Stat = UNDEFINED
    sample: Sample = "labelled"


@dataclass(frozen=True, slots=True)
class RaterNoise:
    """Shares of the variance of one label, of a two-way crossed design, by `n` outputs with two labels or more.

    outputs: between outputs, which labels are for; raters: between raters, of whom some are stricter; rest: raters
    differ from output to output.
    """

    outputs: Stat
    raters: Stat
    rest: Stat
    n: int


def rater_agreement(run: Run, criterion: str) -> list[Raters]:
    """Return the agreement of raters on a criterion: all of them together first, then pair by pair.

    Where there are more raters than any one output has labels, the pairs are of the first, second … label of each
    output in the order of the file, over the outputs that have all of them; else of the raters by name. Where outputs
    were labelled at random, only those count: raters differ more on outputs that were picked for being hard.
    """
    people = human_labels(run, criterion)
    clusters = output_clusters(run, np.arange(len(people.ratings)))
    names, paired = _paired(people)
    sample: Sample = "outputs" if people.random.any() else "labelled"
    counted = people.random if sample == "outputs" else np.ones(len(clusters), bool)
    found = [
        *all_raters(people.ratings[counted], clusters[counted], scale_of(people.ratings, people.criterion.graded)),
        *pairs_of_raters(names, paired[counted], clusters[counted]),
    ]
    return [replace(one, sample=sample) for one in found]


def scale_of(ratings: Floats, graded: bool) -> statistics.Level:
    """Return at which level labels are compared: pass and fail as names; grades by their order, as steps of a scale
    need not be equally far apart; numbers with more than MOST_KINDS different values by their differences.
    """
    if not graded:
        return "nominal"
    return "ordinal" if len(np.unique(ratings[~np.isnan(ratings)])) <= MOST_KINDS else "interval"


def all_raters(ratings: Floats, clusters: Ints, level: statistics.Level, enough: int = ENOUGH) -> list[Raters]:
    """Return the agreement of all raters together by ratings [n outputs, raters]; none without an output of two.

    With fewer than `enough` outputs it says how many lack.
    """
    together = (~np.isnan(ratings)).sum(axis=1) > 1
    n, own = int(together.sum()), cluster_codes(clusters[together])
    if not n:
        return []
    if needs := lacking(n, own, enough):
        few = Stat(needs=needs)
        return [Raters("", "", n, few if level == "nominal" else UNDEFINED, alpha=few)]
    draws = statistics.draws_of(own)
    alpha = stat_of(statistics.alphas(ratings[together], draws, level), own)
    named = level == "nominal"
    kappa = stat_of(statistics.fleiss_kappas(ratings[together], draws), own) if named else UNDEFINED
    return [Raters("", "", n, kappa, alpha=alpha)]


def pairs_of_raters(names: Sequence[str], ratings: Floats, clusters: Ints, enough: int = ENOUGH) -> list[Raters]:
    """Return the agreement of each pair of raters with outputs that both rated; fewer than `enough` are too few."""
    found = []
    for left, right in combinations(range(len(names)), 2):
        both = ~np.isnan(ratings[:, left]) & ~np.isnan(ratings[:, right])
        if both.any():
            pair = _pair(ratings[both, left], ratings[both, right], cluster_codes(clusters[both]), enough)
            found.append(Raters(names[left], names[right], int(both.sum()), *pair))
    return found


def rater_noise(run: Run, criterion: str) -> RaterNoise | None:
    """Return where the labels of a criterion differ, of the outputs that `rater_agreement` counts; None below two
    labels of an output.
    """
    people = human_labels(run, criterion)
    counted = (people.random if people.random.any() else np.ones(len(people.label_counts), bool)) & (
        people.label_counts > 1
    )
    own = cluster_codes(output_clusters(run, np.arange(len(people.ratings)))[counted])
    n = int(counted.sum())
    if not n:
        return None
    if needs := lacking(n, own):
        few = Stat(needs=needs)
        return RaterNoise(few, few, few, n)
    parts = crossed_components(people.ratings[counted], statistics.draws_of(own))
    total = parts.sum(axis=1, keepdims=True)
    shares = np.divide(parts, total, out=np.full_like(parts, np.nan), where=total > 0)
    outputs, between, rest = (stat_of(column, own, 0.0) for column in shares.T)
    return RaterNoise(outputs, between, rest, n)


def rater_outputs(run: Run, criterion: str, left: str = "", right: str = "") -> list[dict[str, object]]:
    """Return the outputs that two raters (or any two) both labelled, the largest differences first.

    case_id, model, left, right: their labels; of more than two raters the lowest and the highest.
    """
    people = human_labels(run, criterion)
    names, ratings = _paired(people)
    if left in names and right in names:
        pair = ratings[:, [names.index(left), names.index(right)]]
    else:
        ends = np.stack([end.reduce(people.ratings, axis=1) for end in (np.fmin, np.fmax)], axis=1)
        pair = np.where(people.label_counts[:, None] > 1, ends, np.nan)
    both = np.flatnonzero(~np.isnan(pair).any(axis=1))
    order = both[np.argsort(-np.abs(pair[both, 0] - pair[both, 1]), kind="stable")]
    labels = zip(named_outputs(run, order), pair[order].tolist(), strict=True)
    return [
        {"case_id": case_id, "model": model, "left": low, "right": high} for (case_id, model), (low, high) in labels
    ]


def _paired(people: HumanLabels) -> tuple[list[str], Floats]:
    """Return the names and labels of the raters that are compared in pairs; see `rater_agreement`."""
    if not people.ratings.shape[1] > people.by_place.shape[1] > 1:
        return list(people.raters), people.ratings
    complete = ~np.isnan(people.by_place).any(axis=1, keepdims=True)
    names = [f"{ORDINALS.get(place, f'{place}th')} label" for place in range(1, people.by_place.shape[1] + 1)]
    return names, np.where(complete, people.by_place, np.nan)


def _pair(left: Floats, right: Floats, clusters: Ints, enough: int) -> tuple[Stat, Stat, Stat]:
    """Return κ, quadratic κ and the share of equal labels of two raters."""
    kinds = np.unique(np.concatenate([left, right]))
    if needs := lacking(len(left), clusters, enough):
        few = Stat(needs=needs)
        return few, few if len(kinds) > 2 else UNDEFINED, few
    ones = np.ones(len(left))
    equal = stat(*share_interval((left == right).astype(np.float64), ones, clusters))
    if len(kinds) > MOST_KINDS:
        return UNDEFINED, UNDEFINED, equal
    rows, columns = np.searchsorted(kinds, left), np.asarray(right[:, None] == kinds, np.float64)
    plain, weighted = (stat(*kappa_interval(rows, columns, ones, clusters, quadratic)) for quadratic in (False, True))
    return plain, weighted if len(kinds) > 2 else UNDEFINED, equal
