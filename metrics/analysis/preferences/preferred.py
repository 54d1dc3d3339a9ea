"""The models ranked by preferences, how far position sways them, and whether the judge prefers what people prefer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from metrics.analysis.comparison.head_to_head import HeadToHead, ranked_by_matches
from metrics.analysis.labels.judge_agreement import ENOUGH, UNDEFINED, Stat, stat
from metrics.analysis.preferences.matches import Match, Source, Vote, all_matches, is_whole
from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import exact_sum
from metrics.core.sampling_design import SamplingDesign, cluster_codes
from metrics.core.schema import By
from metrics.stats.agreement_intervals import kappa_interval, share_interval
from metrics.stats.paired_intervals import agreeing, difference_intervals
from metrics.stats.paired_tests import paired_tests
from metrics.stats.student_t import student_p
from metrics.store import Run

OUTCOMES = (0.0, 0.5, 1.0)
LOPSIDED = 0.8  # of a pair's known orders: from this share on, what stands first and what is better are confounded
FEW = 20  # known orders of a pair, below which nothing is said of their balance


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How often the answer that stood first is preferred, a tie counting half; 0.5 without bias.

    share: with its 95 % interval, cases as clusters; p: of a share of 0.5. of: "people" or a judge's name; n: what it
    rests on: of people preferences with a known order, of a judge matches asked both ways. contradictory: of these,
    the matches where each order prefers another model (0 of people); half: matches asked in one order only, which do
    not count. lopsided: pairs of models of which one nearly always stood first, so that no mean takes the bias out.
    """

    of: str
    share: Stat
    p: float | None
    n: int
    contradictory: int = 0
    half: int = 0
    lopsided: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far judge and people prefer the same: κ and share of equal outcomes (win, tie, loss) on common matches.

    decided: the share of equal outcomes where people have no tie; table: [3, 3] counts of matches, people's loss, tie
    and win of the first model by the judge's.
    """

    n: int
    kappa: Stat
    accuracy: Stat
    decided: Stat
    table: tuple[tuple[int, ...], ...]


def preferred(run: Run, source: Source, criterion: str, tag: str | None = None) -> HeadToHead | None:
    """Return the models ranked by preferences on the cases, or those with a tag; None where nothing can be ranked.

    Each case on which two models were compared is one match: see Match.outcome. Models never compared are left out.
    """
    design = run.sampling_design(tag)
    place = np.full(design.cases, -1)
    place[design.inside] = np.arange(len(design))
    met: dict[tuple[str, str], Floats] = {}
    for match in all_matches(run, criterion):
        outcome = match.outcome(source)
        if outcome is not None and place[match.case] >= 0:
            met.setdefault(match.models, np.full(len(design), np.nan))[place[match.case]] = outcome
    models = [model for model in run.models if any(model in pair for pair in met)]
    return ranked_by_matches(models, {pair: met[pair] for pair in _pairs(models) if pair in met}, design)


def position_bias(run: Run, by: By, criterion: str, tag: str | None = None) -> tuple[PositionBias, ...]:
    """Return how far position sways people, all together, or each judge; those without a known order are left out.

    Over all cases, or those with a tag.
    """
    design, inside = run.sampling_design(), set(run.sampling_design(tag).inside.tolist())
    matches = [match for match in all_matches(run, criterion) if match.case in inside]
    if by == "people":
        given = [(match, vote) for match in matches for vote in match.people if vote.shown_first]
        firsts = [vote.outcome if vote.shown_first == match.models[0] else 1 - vote.outcome for match, vote in given]
        found = _bias("people", firsts, [match.case for match, _ in given], design)
        return () if found is None else (_with_sides(found, given),)
    biases = []
    for judge in sorted({vote.rater for match in matches for vote in match.judge}):
        orders = [(match, own) for match in matches if (own := match.judged().get(judge))]
        both = [(match, own) for match, own in orders if len(own) > 1 and "" not in own]
        firsts = [(own[match.models[0]] + 1 - own[match.models[1]]) / 2 for match, own in both]
        bias = _bias(judge, firsts, [match.case for match, _ in both], design)
        if bias is not None:
            against = sum(sorted(own.values()) == [0.0, 1.0] for _, own in both)
            half = sum(not is_whole(own) for _, own in orders)
            biases.append(PositionBias(judge, bias.share, bias.p, bias.n, against, half))
    return tuple(biases)


def judge_and_people(run: Run, criterion: str, tag: str | None = None) -> Agreed:
    """Return how far judge and people agree on the matches that both decided."""
    inside = set(run.sampling_design(tag).inside.tolist())
    read = [
        (match.case, people, judge)
        for match in all_matches(run, criterion)
        if match.case in inside
        and (people := match.outcome("people")) is not None
        and (judge := match.outcome("judge")) is not None
    ]
    if not read:
        return Agreed(0, UNDEFINED, UNDEFINED, UNDEFINED, ())
    cases, people, judge = np.array(read).T
    rows, columns = (np.searchsorted(OUTCOMES, ends) for ends in (people, judge))
    clusters, ones = _clusters(cases.astype(np.int64), run.sampling_design()), np.ones(len(read))
    table = np.zeros((3, 3), np.int64)
    np.add.at(table, (rows, columns), 1)
    counts = tuple(tuple(row) for row in table.tolist())
    if len(read) < ENOUGH:
        short = Stat(needs=ENOUGH - len(read))
        return Agreed(len(read), short, short, short, counts)
    equal, clear = (people == judge).astype(np.float64), people != 0.5
    value, (low, high) = kappa_interval(rows, np.eye(3)[columns], ones, clusters)
    if low is not None and high is not None:  # of few matches that all agree, the drawn tables may all be below
        low, high = min(low, value), max(high, value)
    kappa = stat(value, (low, high))
    decided = UNDEFINED
    if clear.any():
        decided = stat(*share_interval(equal[clear], ones[clear], cluster_codes(clusters[clear])))
    return Agreed(len(read), kappa, stat(*share_interval(equal, ones, clusters)), decided, counts)


def more_matches(found: HeadToHead) -> int | None:
    """Return about how many more matches separate every two neighbours in the standings, if their differences stay.

    0 where all ranks are single ones. The errors of strengths shrink with the root of the number of matches; each |z|
    has to reach the 5 % point of all pairs together (Bonferroni, which Holm's first step is). None where a difference
    is too small for a number, more than 100 times as many, and where the models are not comparable.
    """
    if not found.is_comparable:
        return None
    models, played = len(found.standings), sum(map(sum, found.outcomes.values())) // 2
    if all(one.best_rank == one.worst_rank for one in found.standings):
        return 0
    grid = np.linspace(1.5, 8, 2601)
    p = student_p(grid, np.full(len(grid), max(1.0, found.clusters - 1)))
    reach = float(grid[np.argmax(p <= 0.05 / (models * (models - 1) / 2))])
    times = max((reach / max(z, 1e-9)) ** 2 for z in found.apart)
    return None if times > 100 else max(1, round(played * (times - 1)))


def _pairs(models: Sequence[str]) -> list[tuple[str, str]]:
    return list(combinations(sorted(models), 2))


def _bias(of: str, firsts: Sequence[float], cases: Sequence[int], design: SamplingDesign) -> PositionBias | None:
    if not firsts:
        return None
    if len(firsts) < ENOUGH:
        return PositionBias(of, Stat(needs=ENOUGH - len(firsts)), None, len(firsts))
    share, p = first_share(np.array(firsts), _clusters(np.array(cases), design))
    return PositionBias(of, share, p, len(firsts))


def first_share(firsts: Floats, clusters: Ints) -> tuple[Stat, float]:
    """Return the mean of outcomes [n] (0 … 1) for what stood first with its interval, and p of a mean of 0.5.

    clusters: [n] codes of the cases. Most outcomes of both orders together are ties, so a share's interval would be too
    wide: the variance is that of the outcomes.
    """
    apart = (firsts - 0.5)[:, None]
    p = paired_tests(apart, clusters=clusters).p
    ends = np.array(difference_intervals(apart, clusters=clusters, widest=0.5))
    low, high = (0.5 + agreeing(ends, apart.mean(axis=0), p)[:, 0]).tolist()
    return stat(float(firsts.mean()), (low, high)), float(p[0])


def _with_sides(found: PositionBias, given: Sequence[tuple[Match, Vote]]) -> PositionBias:
    """Return a bias with the pairs of models of which one nearly always stood first."""
    counts: dict[tuple[str, str], list[int]] = {}
    for match, vote in given:
        counts.setdefault(match.models, [0, 0])[vote.shown_first == match.models[1]] += 1
    lopsided = tuple(
        pair for pair, sides in counts.items() if sum(sides) >= FEW and max(sides) >= LOPSIDED * exact_sum(sides)
    )
    return PositionBias(found.of, found.share, found.p, found.n, lopsided=lopsided)


def _clusters(cases: Ints, design: SamplingDesign) -> Ints:
    return cluster_codes(design.units[cases])
