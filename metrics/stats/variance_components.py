"""Where the noise of a mean comes from: groups, their cases, repeats of the model, draws of the judge in a repeat."""

import math
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import exact_sum
from metrics.stats.bootstrap import resampled_sums
from metrics.stats.float_tolerance import whole_from
from metrics.stats.student_t import Z95, student

MOST_REPEATS = 50  # that a plan may ask for
LEVELS = ("group", "case", "repeat", "draw")


class Components(NamedTuple):
    """Variances of scores: between cases, between repeats of a case, between draws of a repeat; None: not known.

    cases: how many there are; repeats, draws: of a case and of a repeat, as harmonic means; group: the variance between
    groups of cases, 0 without any; size: how many cases there are in the group of a case, on average.
    """

    case: float
    repeat: float | None
    draw: float | None
    cases: int
    repeats: float = 1.0
    draws: float = 1.0
    group: float = 0.0
    size: float = 1.0

    def parts(self, cases: float, repeats: float = 1, draws: float = 1) -> tuple[float, float, float]:
        """Return what cases, repeats and draws add to the variance of a mean over so many of each.

        (σ²case + m·σ²group) / n, σ²repeat / (n·r), σ²draw / (n·r·d), m cases being in the group of a case; what is not
        known is part of the one before it.
        """
        return (
            (self.case + self.size * self.group) / cases,
            (self.repeat or 0.0) / (cases * repeats),
            (self.draw or 0.0) / (cases * repeats * draws),
        )

    def error(self, cases: float, repeats: float = 1, draws: float = 1) -> float:
        """Return the standard error of a mean over so many cases, repeats of each and draws of each repeat."""
        return math.sqrt(exact_sum(self.parts(cases, repeats, draws)))


class Plan(NamedTuple):
    """How many cases, repeats and draws reach a width, and what they cost."""

    cases: int
    repeats: int
    draws: int
    cost: float


def resampled_components(
    values: Floats,
    case: Ints,
    repeat: Ints,
    group: Ints | None = None,
    fixed: int = 0,
    seed: int = 0,
    resamples: int = 1_000,
) -> tuple[Components, Floats] | None:
    """Return the variance components of scores [n], each a draw of a `repeat` of a `case`, of a `group` if any, and in
    resamples of whole cases (or groups) those of LEVELS, [B, 4], where a level that is not known is 0.

    Codes [n] may have any order; a repeat's code need be unique within its case only. By the sums of squares of the
    nested design, which need not be balanced; a component that comes out below 0 is 0. A level that has nothing twice
    is not known (None), and its variance is part of the one above. None with fewer than two cases (or groups).
    fixed: how many numbers were estimated and taken off the scores before: one less than the judges of a panel.
    Source: Searle, Casella & McCulloch, Variance Components, 1992, ch. 5 (analysis-of-variance estimators).

    >>> found, _ = resampled_components(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> found.case, found.repeat, found.draw
    (7.0, 2.0, None)
    """
    if not len(values):
        return None
    levels = _levels(case, repeat, group, len(values))
    top = next(iter(levels.values()))
    units = int(top.max()) + 1
    if units < 2:
        return None
    rows = _sums(values, list(levels.values()))
    whole = {name: np.array([column.sum()]) for name, column in rows.items()}
    names, places = list(levels), [LEVELS.index(name) for name in levels]
    point = dict(zip(names, np.concatenate(_solved(whole, len(names), fixed)).tolist(), strict=True))
    drawn = np.zeros((resamples, len(LEVELS)))
    if resamples:
        sums = resampled_sums(np.column_stack(list(rows.values())), np.arange(units), seed, resamples)
        drawn[:, places] = np.stack(_solved(dict(zip(rows, sums.T, strict=True)), len(names), fixed), axis=1)
    own, of_group = (point["case"], point.get("repeat"), point.get("draw")), point.get("group", 0.0)
    return Components(*own, *_counts(case, repeat), of_group, _mean_size(case, group)), drawn


def expanded_tail(units: int) -> float:
    """Return the tail of resampled estimates at which a 95 % interval ends, 2.5 % or less: Φ(−√(n / (n − 1))·t).

    Resamples of n ≥ 2 units vary too little, by n − 1 in n, and their percentiles are those of a normal distribution.
    Source: Hesterberg, The American Statistician 69:371, 2015 (expanded percentile interval).

    >>> round(expanded_tail(20), 4), round(expanded_tail(100_000), 4)
    (0.0159, 0.025)
    """
    return math.erfc(math.sqrt(units / (units - 1)) * student(units - 1) / math.sqrt(2)) / 2


def crossed_components(ratings: Floats, draws: Floats) -> Floats:
    """Return the variances between outputs, between raters, and of what is left, in each resample: [B, 3].

    ratings: [n, k] of n outputs by k raters, NaN for none; draws: [B, n] how often each output occurs. Of a two-way
    crossed design with any ratings missing, from the mean of ½(x − y)² over three kinds of pairs: A of one output and
    two raters, B of one rater and two outputs, C of two of each. Outputs C − A, raters C − B, the rest A + B − C; below
    0 they are 0. NaN where a kind has no pair. Of complete ratings the analysis of variance.
    Source: Koch, Technometrics 10:551, 1968 (symmetric sums).

    >>> crossed_components(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.ones((1, 3))).tolist()
    [[4.0, 0.5, 0.0]]
    """
    there = (~np.isnan(ratings)).astype(np.float64)
    x = np.where(there > 0, ratings - np.nanmean(ratings), 0.0)
    m, t, q = there.sum(axis=1), x.sum(axis=1), (x**2).sum(axis=1)
    squared = draws**2
    one_output = draws @ ((m * q - t**2) / 2), draws @ (m * (m - 1) / 2)
    count, total = draws @ there, draws @ x
    one_rater = ((count * (draws @ x**2) - total**2).sum(axis=1) / 2, (count**2 - squared @ there).sum(axis=1) / 2)
    whole = (
        ((draws @ m) * (draws @ q) - squared @ (m * q) - (draws @ t) ** 2 + squared @ t**2) / 2,
        ((draws @ m) ** 2 - squared @ m**2) / 2,
    )
    of_two = tuple(every - own for every, own in zip(whole, one_rater, strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b, c = (np.where(pairs > 0, sums / pairs, np.nan) for sums, pairs in (one_output, one_rater, of_two))
    return np.asarray(np.maximum(0.0, np.stack([c - a, c - b, a + b - c], axis=1)))


class CrossedMean(NamedTuple):
    """How far a mean over cases and prompts may be from that over all such cases and all such prompts.

    half_width: half of its 95 % interval; share: of prompts in its variance, 0 … 1.
    """

    half_width: float
    share: float


def crossed_mean(values: Floats) -> CrossedMean:
    """Return the doubt of the mean of `values` [n, k]: n ≥ 2 cases, each answered under the same k ≥ 2 prompts.

    Both are drawn from many. With the mean squares C of cases, P of prompts and R of the rest of the two-way table the
    variance of the mean is (C + P − R) / (n·k), at least C / (n·k) and P / (n·k), with Satterthwaite's degrees of
    freedom; that of the prompts among it is (P − R) / (n·k), at least 0. Source: Searle, Casella & McCulloch, Variance
    Components, 1992, ch. 4; Satterthwaite, Biometrics Bulletin 2:110, 1946.

    >>> CrossedMean(*np.round(crossed_mean(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])), 3).tolist())
    CrossedMean(half_width=6.353, share=1.0)
    """
    n, k = values.shape
    of_cases, of_prompts, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    rest = values - of_cases[:, None] - of_prompts + mean
    freedom = np.array([n - 1.0, k - 1.0, (n - 1.0) * (k - 1.0)])
    squares = np.array([k * ((of_cases - mean) ** 2).sum(), n * ((of_prompts - mean) ** 2).sum(), (rest**2).sum()])
    cases, prompts, left = (squares / freedom).tolist()
    whole = max(cases + prompts - left, cases, prompts)
    if not whole > 0:
        return CrossedMean(0.0, 0.0)
    parts = np.array([cases, prompts, left])
    effective = max(1.0, float(whole**2 / (parts**2 / freedom).sum()))
    return CrossedMean(student(effective) * math.sqrt(whole / (n * k)), min(1.0, max(0.0, prompts - left) / whole))


def cheapest(found: Components, half_width: float, case_cost: float, repeat_cost: float, draw_cost: float) -> Plan:
    """Return the cheapest plan, of up to MOST_REPEATS, whose mean has a 95 % interval of ± `half_width`.

    A case costs `case_cost`, each repeat of the model in it `repeat_cost`, each draw of the judge `draw_cost`; of plans
    of equal cost the one with the fewest cases. Levels that are not known are not repeated.
    """
    plans = []
    for many in range(1, MOST_REPEATS + 1) if found.repeat is not None else (1,):
        for each in range(1, MOST_REPEATS + 1) if found.draw is not None else (1,):
            cases = max(2, whole_from((Z95 * found.error(1, many, each) / half_width) ** 2))
            plans.append(Plan(cases, many, each, cases * (case_cost + many * (repeat_cost + each * draw_cost))))
    return min(plans, key=lambda plan: (plan.cost, plan.cases))


def _levels(case: Ints, repeat: Ints, group: Ints | None, n: int) -> dict[str, Ints]:
    """Return the codes [n] of the levels that are known, the widest first: each divides a unit of the one before."""
    of_case = np.unique(case, return_inverse=True)[1]
    of_repeat = np.unique(_paired(of_case, repeat), return_inverse=True)[1]
    every = {"case": of_case, "repeat": of_repeat, "draw": np.arange(n)}
    if group is not None and len(np.unique(group)) <= of_case.max():
        every = {"group": np.unique(group, return_inverse=True)[1], **every}
    known: dict[str, Ints] = {}
    for name, codes in every.items():
        if not known or codes.max() > max(own.max() for own in known.values()):
            known[name] = codes
    return known


def _sums(values: Floats, levels: list[Ints]) -> dict[str, Floats]:
    """Return what `_solved` needs as sums over the units of the first level, each [units].

    n, d, dd: scores, and their sum and sum of squares as unit means about the grand mean. Of a level l whose units have
    n_v scores: ss_l = Σ n_v·(mean_v − mean of the unit above)², sq_l = Σ n_v², and k_l_m = Σ n_w² / n_v over the units
    w of a finer level m, v being the one of level l that w belongs to.
    """
    sizes = [np.bincount(codes).astype(np.float64) for codes in levels]
    means = [np.bincount(codes, values) / size for codes, size in zip(levels, sizes, strict=True)]
    owners = [[_owner(fine, wide) for wide in levels] for fine in levels]
    apart = means[0] - values.mean()
    found = {"n": sizes[0], "d": sizes[0] * apart, "dd": sizes[0] * apart**2}
    units = len(sizes[0])
    for m, size in enumerate(sizes):
        found[f"sq{m}"] = np.bincount(owners[m][0], size**2, units)
        if m:
            off = (means[m] - means[m - 1][owners[m][m - 1]]) ** 2
            found[f"ss{m}"] = np.bincount(owners[m][0], size * off, units)
        for l in range(m):  # noqa: E741 - as in the formulas
            found[f"k{l}{m}"] = np.bincount(owners[m][0], size**2 / sizes[l][owners[m][l]], units)
    return found


def _solved(sums: dict[str, Floats], levels: int, fixed: int) -> list[Floats]:
    """Return the components of the levels, each [B], from sums over units [B]: from the finest level upwards.

    E[ss_l] = Σ σ²_m·(k_l_m − k_above_m) over the level itself (k_l_l = n) and the finer ones.
    """
    n = sums["n"]
    squares = [sums["dd"] - sums["d"] ** 2 / n, *(sums[f"ss{place}"] for place in range(1, levels))]
    found: list[Floats] = [n] * levels
    for place in reversed(range(levels)):
        above = {m: sums[f"k{place - 1}{m}"] if place else sums[f"sq{m}"] / n for m in range(place, levels)}
        finer = [found[m] * (sums[f"k{place}{m}"] - above[m]) for m in range(place + 1, levels)]
        freedom = n - above[place] - (fixed if place == levels - 1 else 0)
        left = squares[place] - sum(finer, np.zeros_like(n))
        found[place] = np.where(freedom > 0, np.maximum(0.0, left / np.where(freedom > 0, freedom, 1.0)), 0.0)
    return found


def _paired(wide: Ints, fine: Ints) -> Ints:
    """Return a code [n] for each pair of codes."""
    own = np.unique(fine, return_inverse=True)[1]
    return np.asarray(np.unique(wide, return_inverse=True)[1] * (own.max() + 1) + own, np.int64)


def _owner(fine: Ints, wide: Ints) -> Ints:
    """Return to which unit of a wider level each unit of a finer one belongs."""
    found = np.zeros(int(fine.max()) + 1, np.int64)
    found[fine] = wide
    return found


def _counts(case: Ints, repeat: Ints) -> tuple[int, float, float]:
    """Return how many cases there are, and the harmonic means of the repeats of a case and the draws of a repeat."""
    _, first, draws = np.unique(_paired(case, repeat), return_index=True, return_counts=True)
    owner = np.unique(case[first], return_inverse=True)[1]
    repeats = np.bincount(owner).astype(np.float64)
    of_repeats = float((1 / repeats).mean())
    of_draws = float((np.bincount(owner, 1 / draws) / repeats**2).mean())
    return len(repeats), 1 / of_repeats, of_repeats / of_draws


def _mean_size(case: Ints, group: Ints | None) -> float:
    """Return how many cases there are in the group of a case, on average: Σ m² / n."""
    if group is None:
        return 1.0
    first = np.unique(case, return_index=True)[1]
    sizes = np.unique(group[first], return_counts=True)[1].astype(np.float64)
    return float((sizes**2).sum() / sizes.sum())
