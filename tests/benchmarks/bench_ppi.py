"""Corrected means of simulated judges: python -m tests.benchmarks.bench_ppi

Data sets of 1,000 outputs are drawn repeatedly from populations with a known mean, a random sample of each is labelled,
and the mean is corrected by it (prediction_powered). Required: bias within its noise, intervals that cover the truth in
93 to 97 % of the draws, shorter than the labels' own where the judge is informative and never much longer where it is
not. With 40 labels, and with 25 conversations, coverage is shown but not required.
"""

import sys
import time

from tests.benchmarks.bench_judge import Report
from tests.stats.judged import JUDGES, simulate

REPEATS = 4_000
LABELLED = (40, 100, 200, 400)
LEAST, MOST = 0.93, 0.97
INFORMED, USELESS = 0.9, 1.02


def main() -> int:
    """Simulate every judge with every number of labels."""
    report = Report()
    begun = time.process_time()
    for labelled in LABELLED:
        print(f"\n{labelled} labels of 1,000 outputs, {REPEATS:,} draws")
        for judge in JUDGES:
            found = simulate(judge, labelled, REPEATS)
            held = labelled >= (200 if judge.clustered else 100)
            widest = USELESS if judge.skill == 0 else INFORMED
            ratio = found.width / found.width_alone
            report.line(f"{judge.name}: |bias| / its noise", abs(found.bias) / found.noise, "", most=4.0)
            report.line(f"{judge.name}: coverage, least", found.covered, "", least=LEAST if held else None)
            report.line(f"{judge.name}: coverage, most", found.covered, "", most=MOST if held else None)
            report.line(f"{judge.name}: width / labels alone", ratio, f"of {found.width_alone:.3f}", most=widest)
    print(f"\n{time.process_time() - begun:.0f} s of processor time")
    return int(report.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
