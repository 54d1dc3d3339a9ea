"""The slice search: how often it reports one in noise, how often it finds the planted one, how long it takes.

    python -m tests.benchmarks.bench_slices

Noise is 2,000 cases with 8 features unrelated to the values, 200 seeds per kind; the planted slice is 60 of 2,000 cases
that share two features and are right 41 % of the time instead of 78 %. The whole takes some minutes.
"""

import time

import numpy as np

from metrics.analysis.slices.find_slices import CELLS, LEVEL, SHARE
from metrics.stats.slice_search import distinct, search
from tests.benchmarks.table import Row, report
from tests.stats.slice_scenes import PLANTED, SIZE, drawn, facets, noise, planted

SEEDS = 200
KINDS = ("usual", "rare", "hits", "graded", "clustered")
MOST_SHARE = 0.05
LARGE, COLUMNS = 20_000, 30


def main() -> None:
    """Measure and report."""
    most = MOST_SHARE * SEEDS
    rows = []
    print(f"{'noise':<12}{'searches with a false slice':>30}{'at p ≤ .05':>14}")
    for kind in KINDS:
        lowest = np.array([lowest_p(kind, seed) for seed in range(SEEDS)])
        false, usual = int((lowest <= LEVEL).sum()), int((lowest <= 0.05).sum())
        print(f"{kind:<12}{f'{false} of {SEEDS}':>30}{f'{usual} of {SEEDS}':>14}")
        rows.append(Row(f"slices of pure noise ({kind}): searches of {SEEDS} that find one", false, "", most=most))
    outcomes = [finds(seed) for seed in range(SEEDS)]
    named, found = (sum(one[place] for one in outcomes) for place in (0, 1))
    print(
        f"planted, {PLANTED} of {SIZE}: found by {found} of {SEEDS} searches, with exactly its two features by {named}"
    )
    seconds, processor, looked = large()
    print(f"{LARGE:,} cases × {COLUMNS} features, {looked:,} slices: {seconds:.1f} s ({processor:.1f} s of processors)")
    rows += [
        Row(f"slices: searches of {SEEDS} that find a planted defect, {PLANTED} of {SIZE:,} cases", found, ""),
        Row(f"slice search of {LARGE:,} cases × {COLUMNS} features, processor time", processor, "s"),
    ]
    report(rows)


def lowest_p(kind: str, seed: int) -> float:
    """Return the lowest corrected p of a search in noise."""
    values, own, clusters = noise(kind, seed)
    return float(search(values, own, None, clusters).p.min())


def finds(seed: int) -> tuple[bool, bool]:
    """Return whether the first slice found is exactly the planted one, and whether any shares most of its cases."""
    values, own, bad = planted(seed)
    found = search(values, own)
    masks = [found.mask(place) for place, _ in distinct(found, values, None, LEVEL)]
    return (
        bool(masks) and bool((masks[0] == bad).all()),
        any((mask & bad).sum() > 0.5 * (mask | bad).sum() for mask in masks),
    )


def large() -> tuple[float, float, int]:
    """Return seconds and processor seconds of one search of many cases and features, and the slices searched."""
    rng = np.random.default_rng(0)
    values = (rng.random(LARGE) < 0.78).astype(float)
    own = facets(drawn(rng, LARGE, COLUMNS))
    begun, spent = time.perf_counter(), time.process_time()
    found = search(values, own, least=LARGE // SHARE, draws=CELLS // LARGE)
    return time.perf_counter() - begun, time.process_time() - spent, len(found.p)


if __name__ == "__main__":
    main()
