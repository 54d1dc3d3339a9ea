"""What judges are accused of: python -m tests.benchmarks.bench_bias

Simulated judges of 60 questions and two models' answers, whose quality rises with their length; people label them on
coarse scales. What goes with a score at equal labels is shown beside: it accuses fair judges. Variants that say the
same must accuse a fair judge in at most 6 % of the draws (5 % and its noise), and find one that is swayed.
"""

from tests.analysis.labels.swayed import JUDGES, simulate
from tests.benchmarks.table import Row, report

CASES, DRAWS = 60, 1_000
FAIR, FOUND = 0.065, 0.9


def main() -> None:
    """Simulate every judge."""
    rows = []
    for judge in JUDGES:
        found = simulate(judge, CASES, DRAWS)
        limits = {"least": FOUND} if judge.sway else {"most": FAIR}
        title = f"{judge.name}: called swayed by variants"
        rows.append(Row(title, found.varied, "", found.observed, "by what goes with its scores", **limits))
    report(rows)


if __name__ == "__main__":
    main()
