"""Score thresholds with a guarantee, simulated: python -m tests.benchmarks.bench_selective

A guarantee of at most 5 % wrong answers with 95 % confidence may be false in 5 % of data sets, whatever the scores are
worth and however many thresholds are tried. Beside the coverage that it reaches stands the one that would be possible
if all risks were known. Then a useless judge, whose answers people label; several models answer a case alike. One
minute.
"""

import math

from tests.analysis.labels.accepted import simulated
from tests.benchmarks.table import Row, report
from tests.stats.classification.selecting import SCENES, simulate

SIZES = (50, 59, 100, 200, 500, 2_000)
DRAWS = 1_000


def main() -> None:
    allowed = 0.05 + 3 * math.sqrt(0.05 * 0.95 / DRAWS)  # of so many draws
    rows = []
    for scene in SCENES:
        found = {n: simulate(scene, n, DRAWS, seed=n) for n in SIZES}
        worst = max(SIZES, key=lambda n: found[n][0])
        sizes = f"{SIZES[0]} … {SIZES[-1]:,}"
        rows.append(Row(f"{scene.name}, {sizes} cases: false, at most", found[worst][0], "", most=round(allowed, 3)))
        rows += [
            Row(f"{scene.name}, {n:,} cases: coverage", found[n][1], "", scene.best or None, "possible")
            for n in (100, 500, 2_000)
        ]
    for models, levels in ((1, 0), (1, 2), (1, 4), (3, 0), (3, 4)):
        scores = f"{levels + 1} levels" if levels else "any score"
        title = f"80 judged cases, {models} model{'s' * (models > 1)} alike, {scores}: false"
        rows.append(Row(title, simulated(models, levels, DRAWS), "", most=round(allowed, 3)))
    report(rows)


if __name__ == "__main__":
    main()
