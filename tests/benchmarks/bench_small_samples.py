"""How often 95 % intervals hold the truth where cases are few, groups unequal, tails heavy or classes rare.

    python -m tests.benchmarks.bench_small_samples [PART …]

PART: pairs, groups, tails, errors, quantiles, classes, equal, slices; all of these, without one; or designs (ten
minutes). A line per design: the coverage in per cent and the median width, of paired differences also how many
intervals end at 0 because they would contradict the paired test; of open ranges how many have only one end. Some
minutes.
"""

import sys
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.evaluators._classification import aggregates
from metrics.stats.bootstrap import Draws, bootstrap_means
from metrics.stats.intervals import percentiles
from metrics.stats.paired_intervals import agreeing, difference_intervals, newcombe_paired, resample_interval
from metrics.stats.paired_tests import PairedTests, paired_tests
from metrics.stats.prediction_errors import resampled_r2
from metrics.stats.quantiles import quantile_interval, resampled_quantiles
from metrics.stats.resample_intervals import scaled_interval
from metrics.stats.slice_means import rest_differences, slice_means
from tests.benchmarks.design_draws import held_by_design

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
LEAST, MOST = 93.0, 97.0
PARETO = 2.5  # shape: a finite variance, no third moment
DRAWS: dict[str, tuple[Draw, float, float]] = {  # values, their mean, and how far from 0 they can be
    "normal": (lambda rng, size: rng.normal(0.3, 1, size), 0.3, np.inf),
    "graded": (lambda rng, size: rng.choice(5, size, p=[0.05, 0.1, 0.3, 0.35, 0.2]) / 2 - 1, 0.275, 1.0),
    "85 % equal": (lambda rng, size: np.where(rng.random(size) < 0.85, 0.0, 0.5), 0.075, 1.0),
    "lognormal": (lambda rng, size: rng.lognormal(0, 1, size), float(np.exp(0.5)), np.inf),
    "Pareto": (lambda rng, size: rng.pareto(PARETO, size), 1 / (PARETO - 1), np.inf),
}
PAIRS = (6, 10, 20, 50)
GROUPS = (5, 8, 10, 20)
ICCS = (0.0, 0.1, 0.5)
IN_A_GROUP = 6  # cases on average
CLASSES = (30, 60, 200)
SLICE_SIZES = (3, 5, 8, 10, 20, 50)
SLICE_TRUTHS = {"right": -0.4}
SLICE_VALUES: dict[str, tuple[Callable[[Floats, NDArray[np.bool_]], Floats], tuple[float, float]]] = {
    "normal": (lambda normal, mask: normal, (-np.inf, np.inf)),  # of standard normal scores, and the metric's range
    "uneven": (lambda normal, mask: normal * np.where(mask, 3, 1), (-np.inf, np.inf)),
    "lognormal": (lambda normal, mask: np.exp(normal), (0.0, np.inf)),
    "skewed": (lambda normal, mask: 1 / (1 + np.exp(-1.5 - 2 * normal)), (0.0, 1.0)),
    "right": (lambda normal, mask: (normal < np.where(mask, 0.0, 1.2816)).astype(np.float64), (0.0, 1.0)),
    "nearly all right": (lambda normal, mask: (normal < 1.645).astype(np.float64), (0.0, 1.0)),
}


class Line(NamedTuple):
    """A design: how often the intervals hold the truth, how wide they are, how many end at 0 to agree with the test."""

    name: str
    held: float
    width: float
    moved: float | None = None


def main() -> None:
    parts = {part.__name__: part for part in (pairs, groups, tails, errors, quantiles, classes, equal, slices)}
    print(f"{'coverage of 95 % intervals, %':<64}{'held':>7}{'width':>9}{'moved':>7}")
    for part in sys.argv[1:] or parts:
        for line in designs() if part == "designs" else parts[part]():
            outside = f"  below {LEAST:.0f}" if 100 * line.held < LEAST else ""
            moved = " " * 7 if line.moved is None else f"{100 * line.moved:>7.1f}"
            print(f"{line.name:<64}{100 * line.held:>7.1f}{line.width:>9.3f}{moved}{outside}", flush=True)


def pairs(samples: int = 2_000) -> Iterator[Line]:
    """Of the mean of paired differences of independent cases, and of groups."""
    for kind, (draw, truth, widest) in DRAWS.items():
        for n in PAIRS:
            apart = draw(np.random.default_rng(n), (n, samples))
            yield _paired(f"difference, {kind}, n = {n}", apart, truth, None, widest)
    for n in PAIRS:
        yield binary_pairs(n, samples)
    for name, sizes in shapes():
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        yield _paired(f"difference, {name}, ICC 0.5", grouped(sizes, 0.5, samples) - 0.5, 0.0, clusters, np.inf)


def _paired(name: str, apart: Floats, truth: float, clusters: Ints | None, widest: float) -> Line:
    ends = np.stack(difference_intervals(apart, None, clusters, widest))
    return _agreeing(name, ends, paired_tests(apart, None, clusters), truth)


def binary_pairs(n: int, samples: int) -> Line:
    """Of the difference of two shares, .8 and .6, right together more often than by chance."""
    rng = np.random.default_rng(n)
    kinds = rng.multinomial(n, [0.5, 0.3, 0.1, 0.1], samples)  # both, only b, only a, neither
    apart = np.zeros((n, samples))
    for column, (_, only_b, only_a, _) in enumerate(kinds.tolist()):
        apart[:only_b, column], apart[only_b : only_b + only_a, column] = 1.0, -1.0
    ends = np.array([newcombe_paired(*row) for row in kinds.tolist()], np.float64).T
    return _agreeing(f"difference, right or wrong, n = {n}", ends, paired_tests(apart, binary=True), 0.2)


def _agreeing(name: str, ends: Floats, tests: PairedTests, truth: float) -> Line:
    low, high = found = agreeing(ends, tests.difference, tests.p)
    return Line(
        name, _held(low, high, truth), float(np.nanmedian(high - low)), float((found != ends).any(axis=0).mean())
    )


def groups(samples: int = 2_000) -> Iterator[Line]:
    """Of a mean within 0 … 1 and of one without ends, by the sizes of groups and how alike their cases are."""
    for name, sizes in shapes():
        for icc in ICCS:
            values, clusters = grouped(sizes, icc, samples), np.repeat(np.arange(len(sizes)), sizes)
            low, high = bootstrap_means(values, None, clusters, low=0.0, high=1.0, resamples=1_000)
            yield Line(f"mean, {name}, ICC {icc}", _held(low, high, 0.5), float(np.median(high - low)))


def shapes() -> Iterator[tuple[str, Ints]]:
    """Yield names and sizes of groups: all alike, of 1 to 11, one with half or four fifths of all cases."""
    for count in GROUPS:
        yield f"{count} equal groups", np.full(count, IN_A_GROUP)
        yield f"{count} groups of 1–11", np.resize([1, 11, 3, 9, 6], count)
        for times, part in ((1, "half"), (4, "80 %")):
            sizes = [times * IN_A_GROUP * (count - 1), *[IN_A_GROUP] * (count - 1)]
            yield f"{count} groups, one with {part}", np.array(sizes)


def grouped(sizes: Ints, icc: float, samples: int) -> Floats:
    """Scores [n, samples] within 0 … 1 around .5, of groups whose cases are as alike as `icc` says."""
    rng = np.random.default_rng(len(sizes))
    common = rng.normal(size=(len(sizes), samples)).repeat(sizes, axis=0)
    own = rng.normal(size=common.shape)
    scores: Floats = 0.5 + 0.15 * (np.sqrt(icc) * common + np.sqrt(1 - icc) * own)
    return scores.clip(0, 1)


def tails(samples: int = 2_000) -> Iterator[Line]:
    """Of means of what has no upper end, such as seconds and costs: before, and with ends that few cases make withheld
    (moved: how many are).
    """
    for kind in ("normal", "lognormal", "Pareto"):
        draw, truth, _ = DRAWS[kind]
        for n in (*PAIRS, 200):
            values = draw(np.random.default_rng(n + 1), (n, samples))
            yield from _withheld(f"mean, {kind}, n = {n}", values, truth, -np.inf if kind == "normal" else 0.0)


def _withheld(name: str, values: Floats, truth: float, least: float, signed: Floats | None = None) -> Iterator[Line]:
    """Yield what holds of the means of `values` [n, samples], which are the sizes of `signed` errors if given."""
    for words, withhold in (("before", False), ("now", True)):
        low, high = bootstrap_means(values, low=least, withhold=withhold)
        if withhold and signed is not None:
            high = np.where(_lacks_end(signed), np.nan, high)
        held = ~(low > truth + 1e-12) & ~(high < truth - 1e-12)
        lacks = np.isnan(low) | np.isnan(high)
        width = float(np.nanmedian(np.where(lacks, np.nan, high - low))) if not lacks.all() else np.nan
        yield Line(f"{name}, {words}", float(held.mean()), width, float(lacks.mean()))


def _lacks_end(signed: Floats) -> NDArray[np.bool_]:
    return np.isnan(np.stack(bootstrap_means(signed))).any(axis=0)


ERRORS: dict[str, tuple[Draw, float, float]] = {  # centred errors, the mean of their size, and of their square
    "normal": (lambda rng, size: rng.normal(size=size), float(np.sqrt(2 / np.pi)), 1.0),
    "Laplace": (lambda rng, size: rng.laplace(size=size), 1.0, 2.0),
    "t3": (lambda rng, size: rng.standard_t(3, size), float(2 * np.sqrt(3) / np.pi), 3.0),
    "lognormal": (lambda rng, size: rng.lognormal(0, 1, size) - np.exp(0.5), 1.2627, float(np.exp(2) - np.e)),
    "Pareto": (lambda rng, size: rng.pareto(PARETO, size) - 1 / (PARETO - 1), 0.6197, PARETO / (PARETO - 1) ** 2 / 0.5),
}


def errors(samples: int = 1_000) -> Iterator[Line]:
    """Of MAE, MSE (and so RMSE), bias and R² (.5) of predictions with such errors; moved: intervals without an end."""
    for kind, (draw, size, square) in ERRORS.items():
        for n in (10, 20, 50, 200):
            apart = draw(np.random.default_rng(n), (n, samples))
            yield from _withheld(f"MAE, {kind}, n = {n}", np.abs(apart), size, 0.0, apart)
            yield from _withheld(f"MSE, {kind}, n = {n}", apart**2, square, 0.0, apart)
            yield from _withheld(f"bias, {kind}, n = {n}", apart, 0.0, -np.inf)
            yield from explained(f"R², {kind}, n = {n}", apart[:, : samples // 2], square)


def explained(name: str, apart: Floats, square: float) -> Iterator[Line]:
    """Of R² where predictions vary as much as errors: before, and without the lower end where MSE has no upper one."""
    n, samples = apart.shape
    rng = np.random.default_rng(n)
    unknown = np.isnan(bootstrap_means(apart**2, low=0.0)[1]) | _lacks_end(apart)
    ends = np.zeros((2, samples))
    for place in range(samples):
        truth = np.sqrt(square) * rng.normal(size=n) + apart[:, place]
        values = resampled_r2(truth, apart[:, place], Draws.of(np.arange(n), 400, place % 4))
        ends[:, place] = scaled_interval(float(values[0]), values[1:], n, "below one") or (np.nan, np.nan)
    for words, lost in (("before", np.zeros(samples, bool)), ("now", unknown)):
        held = (lost | (ends[0] <= 0.5)) & (ends[1] >= 0.5)
        yield Line(f"{name}, {words}", float(held.mean()), float(np.nanmedian(ends[1] - ends[0])), float(lost.mean()))


def quantiles(samples: int = 400) -> Iterator[Line]:
    """Of median and p95 of groups with heavy tails, and of their differences between two models on the same cases."""
    for share in (0.5, 0.95):
        truth = float(np.exp(NormalDist().inv_cdf(share)))
        for name, sizes in shapes():
            if len(sizes) < GROUPS[2]:
                continue
            clusters, rng = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(len(sizes))
            for icc in ICCS:
                common = rng.normal(size=(samples, len(sizes)))[:, clusters]
                values = np.exp(np.sqrt(icc) * common + np.sqrt(1 - icc) * rng.normal(size=common.shape))
                ends = np.array([quantile_interval(own, share, None, clusters) for own in values], np.float64)
                yield _open_ended(f"quantile {share}, {name}, ICC {icc}", ends, truth)
        for n in (10, 20, 50, 100, 200):
            if share > 0.5 and n < 59:
                continue
            yield from paired_quantiles(n, share, samples // 2)


def _open_ended(name: str, ends: Floats, truth: float) -> Line:
    low, high = ends.T
    held = ~(low > truth) & ~(high < truth)
    lacks = np.isnan(low) | np.isnan(high)
    return Line(name, float(held.mean()), float(np.median((high - low)[~lacks])) if not lacks.all() else np.nan,
                float(lacks.mean()))  # fmt: skip


def paired_quantiles(n: int, share: float, samples: int) -> Iterator[Line]:
    """Of the difference of a quantile of two models whose seconds are lognormal, with correlation .7: basic, now."""
    rng, widths, held = np.random.default_rng(n), np.zeros((2, samples)), np.zeros((2, samples))
    for place in range(samples):
        common, *own = rng.normal(size=(3, n))
        draws = Draws.of(np.arange(n), 500, place % 4)
        a, b = (resampled_quantiles(np.exp(np.sqrt(0.7) * common + np.sqrt(0.3) * one), share, draws) for one in own)
        apart = b - a
        for kind, (low, high) in enumerate((resample_interval(apart[0], apart[1:]), percentiles(apart[1:]))):
            held[kind, place], widths[kind, place] = low <= 0 <= high, high - low
    for words, holds, wide in zip(("before", "now"), held, widths, strict=True):
        yield Line(f"difference of quantile {share}, n = {n}, {words}", float(holds.mean()), float(np.median(wide)))


def equal(samples: int = 1_000) -> Iterator[Line]:
    """Of a share of right answers, .7, to questions asked several times in a suite, as cases and as groups."""
    for times in (2, 5):
        for n in (40, 100):
            values = (np.random.default_rng(n + times).random((n, samples)) < 0.7).repeat(times, axis=0).astype(float)
            for name, clusters in (("cases", None), ("units", np.repeat(np.arange(n), times))):
                low, high = bootstrap_means(values, None, clusters, low=0.0, high=1.0)
                what = f"share, {n} questions × {times}, as {n * times if clusters is None else n} {name}"
                yield Line(what, _held(low, high, 0.7), float(np.median(high - low)))


def slices(samples: int = 500) -> Iterator[Line]:
    """Of the difference of a slice from the rest, of 3 to 50 cases or groups in the slice."""
    for kind in SLICE_VALUES:
        for design in ("cases", "weights", "groups", "groups on both sides"):
            for size in SLICE_SIZES:
                yield slice_coverage(kind, size, design, samples)


def slice_coverage(kind: str, size: int, design: str, samples: int) -> Line:
    """Return how often the intervals hold the truth, of those that there are: NaN of none.

    The rest are 100 cases, or 40 groups of 4; groups resemble each other in half of their variance.
    """
    rng, ends = np.random.default_rng([size, len(kind), len(design)]), []
    in_groups = design.startswith("groups")
    clusters = np.repeat(np.arange(size + 40), 4) if in_groups else None
    owner = np.arange(size + 100) if clusters is None else clusters
    mask = owner < size
    if design == "groups on both sides":
        mask &= np.arange(len(owner)) % 4 < 2
    score, within = SLICE_VALUES[kind]
    truth = SLICE_TRUTHS.get(kind, 0.0)
    for _ in range(samples):
        normal = rng.normal(size=len(owner))
        if in_groups:
            normal = np.sqrt(0.5) * normal + np.sqrt(0.5) * rng.normal(size=size + 40)[owner]
        values = score(normal, mask)
        weights = rng.lognormal(0, 0.5, len(owner)) if design == "weights" else None
        binary = set(np.unique(values)) <= {0.0, 1.0} and design == "cases"
        means, _ = slice_means(values, mask[None], weights, clusters, binary, within)
        ends.append(rest_differences(values, mask[None], means, weights, clusters, binary, within)[0, 1:])
    low, high = np.array(ends)[~np.isnan(ends).any(axis=1)].T
    held = _held(low, high, truth) if len(low) else np.nan
    return Line(f"slice − rest, {kind}, {size} {design}", held, float(np.median(high - low)) if len(low) else np.nan)


def designs(samples: int = 250) -> Iterator[Line]:
    """Of the numbers of evaluators of whole data sets and of mean seconds, with weights and with groups."""
    for name, metric, held, there in held_by_design(samples):
        yield Line(f"{metric}, {name}", held, there)


def classes(samples: int = 400) -> Iterator[Line]:
    """Of F1 of the rarest class, macro F1 and macro precision of two, and of four classes."""
    for name, shares in {
        "2 classes": [0.5, 0.5], "2 classes, 15 % rare": [0.85, 0.15], "4 classes": [0.25] * 4,
        "4 classes, 10 % rare": [0.4, 0.3, 0.2, 0.1],
    }.items():  # fmt: skip
        for right in (0.7, 0.9):
            for n in CLASSES:
                yield from classified(f"{name}, {right:.0%} right, n = {n}", np.array(shares), right, n, samples)

    for name, sizes in shapes():
        yield from classified_groups(name, sizes, samples // 2)


def classified_groups(name: str, sizes: Ints, samples: int) -> Iterator[Line]:
    """Of accuracy and macro F1, both .75, of two classes; how often a group is predicted right varies."""
    rng = np.random.default_rng(len(sizes))
    units = np.repeat(np.arange(len(sizes)), sizes)
    found: dict[tuple[str, str | None], list[tuple[float, float]]] = {("accuracy", None): [], ("f1", "macro"): []}
    for seed in range(samples):
        truth = rng.integers(0, 2, len(units))
        right = rng.random(len(units)) < rng.beta(1.75, 0.58, len(sizes))[units]
        for row in aggregates(truth, np.where(right, truth, 1 - truth), ["a", "b"], Draws.of(units, 300, seed % 4), {}):
            key = row.metric, row.columns["average"]
            if key in found and row.label is None and row.low is not None and row.high is not None:
                found[key].append((row.low, row.high))
    for (metric, average), ends in found.items():
        low, high = np.array(ends).T
        what = f"{average} {metric}" if average else metric
        yield Line(f"{what}, {name}, ICC 0.3", _held(low, high, 0.75), float(np.median(high - low)))


def classified(name: str, shares: Floats, right: float, n: int, samples: int) -> Iterator[Line]:
    """Of data sets whose cases are predicted right with that chance, else as another class by its share."""
    k = len(shares)
    rng = np.random.default_rng(n)
    labels = [f"c{code}" for code in range(k)]
    confusion = np.where(np.eye(k) > 0, 0.0, shares)
    confusion = (1 - right) * confusion / confusion.sum(axis=1, keepdims=True) + right * np.eye(k)
    joint = shares[:, None] * confusion
    hits, made = np.diag(joint), joint.sum(axis=0)
    truths = {
        ("f1", labels[-1], None): 2 * hits[-1] / (made + shares)[-1],
        ("f1", None, "macro"): float(np.mean(2 * hits / (made + shares))),
        ("precision", None, "macro"): float(np.mean(hits / made)),
    }
    found: dict[tuple[str, str | None, str | None], list[tuple[float, float]]] = {key: [] for key in truths}
    for seed in range(samples):
        cells = rng.choice(k * k, n, p=joint.ravel())
        rows = aggregates(cells // k, cells % k, labels, Draws.of(np.arange(n), 500, seed % 4), {})
        for row in rows:
            key = (row.metric, row.label, row.columns["average"])
            if key in truths and row.low is not None and row.high is not None:
                found[key].append((row.low, row.high))
    for key, truth in truths.items():
        own = np.array(found[key]).reshape(-1, 2).T
        if own.shape[1] >= samples / 4:
            what = f"{'macro ' if key[1] is None else ''}{key[0]}"
            yield Line(f"{what}, {name}", _held(own[0], own[1], truth), float(np.median(own[1] - own[0])))


def _held(low: Floats, high: Floats, truth: float) -> float:
    return float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))


if __name__ == "__main__":
    main()
