"""What a monitor's status and drift are worth, by simulation: false alarms, time to detect a drop, widths of intervals.

    python -m tests.benchmarks.bench_monitor_evidence [widths | status | dependence | drops | drift]

Widths of 95 % confidence sequences beside others that hold at every look, and an interval for a single look. Changes of
status of a stationary system, by windows' point estimates as well. Samples after which a drop is found, beside the
CUSUM of that very drop and windows, their limits tuned by simulation to the same false alarms. Drift against a
reference of the same distribution, beside a Kolmogorov–Smirnov test of each window. Five minutes; naming a part leaves
out the rest.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from scipy import optimize, special, stats

from metrics.core.array_types import Bools, Floats
from metrics.monitoring.current_rate import BLOCK, CurrentRate
from metrics.monitoring.drift_checks import Cut, Event, shift_of
from metrics.monitoring.health import Health, Limits, next_health
from metrics.stats.drift import exact_share
from metrics.stats.sequential import NEEDED, Bounds, bounds, dependence_evidence, lag_correlation
from tests.benchmarks.table import Row, Table, report

SIDE = 0.025  # the level of one side
STREAMS, LENGTH = 100, 2_000
TUNING, TUNED = 400, 10_000  # streams and samples by which the limits of CUSUM and windows are set
SESSION = 5  # lines
CHANGE = 2_000  # samples before a drop


def main() -> None:
    parts: dict[str, Callable[[], tuple[list[Row], Table]]] = {
        "widths": widths, "status": status, "dependence": dependence, "drops": drops, "drift": drift,
    }  # fmt: skip
    made = [parts[name]() for name in (sys.argv[1:] or parts)]
    report([row for rows, _ in made for row in rows], [table for _, table in made])


def widths() -> tuple[list[Row], Table]:
    """Widths at the expected counts; the mean over 20 orders of the units for those that depend on it."""
    rng = np.random.default_rng(0)
    names = ("constant bets (Assay)", "hedged capital", "empirical Bernstein", "Beta mixture", "single look: normal")
    rows, lines = [], [("n", "pass rate", *names)]
    for n in (50, 200, 1_000, 5_000):
        for rate in (0.5, 0.88):
            k = round(rate * n)
            orders = [rng.permutation(np.repeat([0.0, 1.0], [n - k, k])) for _ in range(20)]
            low, high = bounds(np.array([n - k, k]), np.array([0.0, 1.0]), -np.log(SIDE))
            others = [float(np.mean([way(x) for x in orders])) for way in (hedged, bernstein)]
            found = [high - low, *others, mixture(k, n), 2 * 1.96 * np.sqrt(rate * (1 - rate) / n)]
            lines.append((f"{n:,}", f"{rate:g}", *(f"{one:.3f}" for one in found)))
            rows.append(
                Row(f"width of the confidence sequence, {rate:g} of {n:,} pass", found[0], "", found[1], names[1])
            )
    return rows, Table("sequence_widths", lines)


def hedged(x: Floats) -> float:
    """Hedged capital with the predictable plug-in, c = 1/2; Waudby-Smith & Ramdas 2024, theorem 3."""
    bets = predictable(x, 0.05)

    def capital(m: float) -> float:
        up, down = np.minimum(bets, 0.5 / m), np.minimum(bets, 0.5 / (1 - m))
        return float(np.log(0.5) + max(np.log1p(up * (x - m)).sum(), np.log1p(-down * (x - m)).sum()) + np.log(0.05))

    grid = np.linspace(0.001, 0.999, 999)
    return float(np.mean([capital(m) < 0 for m in grid]))


def bernstein(x: Floats) -> float:
    """The predictable plug-in empirical Bernstein sequence; Waudby-Smith & Ramdas 2024, theorem 2."""
    bets = np.minimum(predictable(x, 0.05), 0.5)
    t = np.arange(1, len(x) + 1)
    means = np.concatenate([[0.5], (0.5 + np.cumsum(x))[:-1] / (t + 1)[:-1]])
    psi = (-np.log1p(-bets) - bets) / 4
    half = (np.log(2 / 0.05) + 4 * ((x - means) ** 2 * psi).sum()) / bets.sum()
    centre = (bets * x).sum() / bets.sum()
    return float(min(1.0, centre + half) - max(0.0, centre - half))


def predictable(x: Floats, level: float) -> Floats:
    """λ_t = √(2 log(2/α) / (σ̂²_{t−1} t log(t + 1))), from what came before."""
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2 * np.log(2 / level) / (before * t * np.log(t + 1))))


def mixture(k: int, n: int) -> float:
    """The mixture of likelihood ratios over Beta(½, ½); Robbins 1970."""

    def excess(m: float) -> float:
        marginal = special.betaln(0.5 + k, 0.5 + n - k) - special.betaln(0.5, 0.5)
        return float(marginal - k * np.log(m) - (n - k) * np.log1p(-m) + np.log(0.05))

    return float(optimize.brentq(excess, k / n, 1 - 1e-9) - optimize.brentq(excess, 1e-9, k / n))


def status() -> tuple[list[Row], Table]:
    """Changes of status in 2,000 samples at .88, limits .85 and .70; the first status is no change."""
    rng = np.random.default_rng(1)
    rows, lines = [], [("stream", "status by", "changes: median", "most", "streams with a false status, %")]
    for name, alike in (("independent lines", None), ("sessions, ICC .5", 0.5), ("sessions, equal lines", 1.0)):
        streams = [correlated(rng, 0.88, LENGTH, alike) for _ in range(STREAMS)]
        ways = {
            "windows of 100": [by_windows(x) for x in streams],
            "evidence, lines as units": [by_evidence(x) for x in streams],
        }
        if alike is not None:
            ways["evidence, sessions as units"] = [by_evidence(x.reshape(-1, SESSION).mean(axis=1)) for x in streams]
        for way, found in ways.items():
            changes = [max(0, len(one) - 1) for one in found]
            wrong = np.mean([any(health is not Health.HEALTHY for health in one) for one in found])
            lines.append((name, way, f"{np.median(changes):g}", str(max(changes)), f"{100 * wrong:.0f}"))
        most = 0.05 if list(ways)[-1] != "evidence, lines as units" or alike is None else None
        rows.append(Row(f"false status in {LENGTH:,} samples, {name}: {way}", float(wrong), "", most=most))
    return rows, Table("status_changes", lines)


def correlated(rng: np.random.Generator, rate: float, n: int, alike: float | None) -> Floats:
    """Passes of n lines, alone or in sessions of 5 of which a share √ICC repeat what their session does."""
    x = rng.random(n) < rate
    if alike is not None:
        same = np.repeat(rng.random(n // SESSION) < rate, SESSION)
        x = np.where(rng.random(n) < np.sqrt(alike), same, x)
    return x.astype(float)


def dependence_found(x: Floats) -> int | None:
    """Return the look, after every 20th of the results, at which neighbours are first said to resemble each other."""
    passed = x > 0.5
    looks = range(20, len(x) + 1, 20)
    found = (n for n in looks if dependence_evidence(passed[:n]) >= NEEDED and lag_correlation(passed[:n]) > 0)
    return next(found, None)


def dependence() -> tuple[list[Row], Table]:
    """How often neighbours are said to resemble each other in 2,000 lines, and after how many (median)."""
    rng = np.random.default_rng(5)
    rows, lines = [], [("lines at .88", "said, %", "after, lines")]
    for name, alike in (("independent", None), *((f"sessions of 5, ICC {icc:g}", icc) for icc in (0.1, 0.25, 0.5, 1))):
        found = [dependence_found(correlated(rng, 0.88, LENGTH, alike)) for _ in range(STREAMS)]
        said = [one for one in found if one is not None]
        lines.append((name, f"{100 * len(said) / STREAMS:.0f}", f"{np.median(said):,.0f}" if said else ""))
        most = 0.05 if alike is None else None
        rows.append(Row(f"neighbours said to resemble each other, {name}", len(said) / STREAMS, "", most=most))
    return rows, Table("serial_dependence", lines)


def by_windows(x: Floats) -> list[Health]:
    """Each status of the latest 100, looked at after every ten."""
    found = list[Health]()
    for end in range(100, len(x) + 1, BLOCK):
        rate = float(x[end - 100 : end].mean())
        health = next_health(Health.INSUFFICIENT_DATA, Bounds(rate, rate))
        found += [health] if found[-1:] != [health] else []
    return found


def by_evidence(x: Floats, limits: Limits = Limits(), first: Health = Health.INSUFFICIENT_DATA) -> list[Health]:  # noqa: B008
    """Each status of the evidence."""
    rate, found = CurrentRate(limits), list[Health]()
    rate.health = first
    for _ in watch(rate, x):
        if rate.health is not first:
            found, first = [*found, rate.health], rate.health
    return found


def watch(rate: CurrentRate, x: Floats) -> Iterator[int]:
    for number, value in enumerate(x.tolist()):
        rate.add(value, number)
        if number % BLOCK == BLOCK - 1:
            rate.look()
            yield number + 1


def drops() -> tuple[list[Row], Table]:
    """Samples from a drop, after 2,000 good ones two points above the limit, to the alarm: medians."""
    rng = np.random.default_rng(2)
    rows, lines = [], [("limit", "drop", "evidence (Assay)", "CUSUM", "window 100", "window 300", "window 1,000")]
    for limit in (0.85, 0.95):
        null = rng.random((TUNING, TUNED)) < limit
        for drop in (0.05, 0.10):
            after = limit + 0.02 - drop
            streams = [
                np.concatenate([rng.random(CHANGE) < limit + 0.02, rng.random(12_000) < after]) for _ in range(20)
            ]
            ours = [delay(first_warning(x.astype(float), limit)) for x in streams]
            peers = [tuned(partial(cusum, before=limit, after=after), null, streams)]
            peers += [tuned(partial(sliding, width=width), null, streams) for width in (100, 300, 1_000)]
            medians = [np.median(one) for one in (ours, *peers)]
            lines.append((f"{limit:g}", f"{100 * drop:.0f} points",
                          *(f"{one:,.0f}" if np.isfinite(one) else "not found" for one in medians)))  # fmt: skip
            rows.append(Row(f"samples to find a drop of {100 * drop:.0f} points to {after:g}, limit {limit:g}",
                            float(medians[0]), "", float(medians[1]), "CUSUM of that drop", most=2.5))  # fmt: skip
    return rows, Table("detection_delays", lines)


def first_warning(x: Floats, limit: float) -> int | None:
    rate = CurrentRate(Limits(warning=limit, critical=0.0))
    return next((n for n in watch(rate, x) if rate.health is Health.WARNING), None)


def delay(found: int | None) -> float:
    """Samples since the change; of false alarms, and where nothing is found, none."""
    return np.inf if found is None or found <= CHANGE else float(found - CHANGE)


def tuned(statistic: Callable[[Bools], Floats], null: Bools, streams: Sequence[Bools]) -> list[float]:
    """The delays of a statistic that exceeds its limit in a share SIDE of the null's streams."""
    limit = np.quantile(statistic(null).max(axis=1), 1 - SIDE)
    above = [np.flatnonzero(statistic(x[None])[0] > limit) for x in streams]
    return [delay(int(found[0]) + 1 if len(found) else None) for found in above]


def cusum(x: Bools, before: float, after: float) -> Floats:
    """Page's statistic of each stream, [stream, sample]."""
    steps = np.where(x, np.log(after / before), np.log((1 - after) / (1 - before)))
    paths = np.concatenate([np.zeros((len(x), 1)), np.cumsum(steps, axis=1)], axis=1)
    return np.asarray((paths - np.minimum.accumulate(paths, axis=1))[:, 1:])


def sliding(x: Bools, width: int) -> Floats:
    """The share that fails of the latest `width`; 0 before there are as many."""
    total = np.concatenate([np.zeros((len(x), 1)), np.cumsum(x, axis=1)], axis=1)
    shares = np.zeros(x.shape)
    shares[:, width - 1 :] = 1 - (total[:, width:] - total[:, :-width]) / width
    return shares


def drift() -> tuple[list[Row], Table]:
    """Production like a reference of 500 scores of beta(5, 1), in ten windows of 500 lines."""
    rng = np.random.default_rng(3)
    rows, lines = [], [("production", "one window, KS, %", "ten windows, KS, %", "ten looks, evidence, %")]
    cuts = [Cut(float(value), inside=False) for value in stats.beta(5, 1).ppf((0.1, 0.25, 0.5, 0.75, 0.9))]
    kinds: Sequence[tuple[str, float | None, float]] = (
        ("independent lines", None, 5.0), ("sessions, ICC .5", 0.5, 5.0), ("sessions, equal scores", 1.0, 5.0),
        ("independent lines, worse: beta(4, 1)", None, 4.0),
    )  # fmt: skip
    for name, alike, shape in kinds:
        found = np.array([drifted(rng, cuts, alike, shape) for _ in range(STREAMS)])
        lines.append((name, *(f"{100 * one:.0f}" for one in found.mean(axis=0))))
        if shape == 5.0:
            rows.append(Row(f"false drift in ten looks, {name}", float(found[:, 2].mean()), "", most=0.05))
    return rows, Table("drift_alarms", lines)


def drifted(rng: np.random.Generator, cuts: Sequence[Cut], alike: float | None, shape: float) -> tuple[bool, ...]:
    """Whether the first window, any of ten, and any look at the evidence shows drift."""
    reference, lines = rng.beta(5, 1, 500), rng.beta(shape, 1, 5_000)
    if alike is not None:
        same = np.repeat(rng.beta(shape, 1, 1_000), SESSION)
        lines = np.where(rng.random(5_000) < np.sqrt(alike), same, lines)
    p = [stats.ks_2samp(reference, window).pvalue < 0.05 for window in lines.reshape(10, -1)]
    each, level = 1 if alike is None else SESSION, 0.05 / len(cuts)
    units = len(lines) // each
    numbers = np.arange(units) * each + each - 1
    seen = False
    for cut in cuts:
        event = Event(0, cut, (reference <= cut.edge).astype(float))
        shares = (lines <= cut.edge).reshape(units, each).mean(axis=1)
        expected = exact_share(event.shares, level / 2)
        seen = seen or any(
            shift_of(numbers[:end], shares[:end], event, expected, level / 2) is not None
            for end in range(units // 10, units + 1, units // 10)
        )
    return p[0], any(p), seen


if __name__ == "__main__":
    main()
