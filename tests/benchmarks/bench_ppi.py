"""Corrected means of simulated judges: python -m tests.benchmarks.bench_ppi

Data sets of 1,000 outputs are drawn repeatedly from populations with a known mean, a random sample of each is labelled,
and the mean is corrected by it (prediction_powered). Required: bias within its noise, intervals that cover the truth in
93 to 97 % of the draws, shorter than the labels' own where the judge is informative and never much longer where it is
not. With 40 labels, and with 25 conversations, coverage is shown but not required.

In 45 designs (10 to 300 labels, 5 to 90 % of the outputs unlabelled, judges that know nothing, are biased or rarely
wrong) the corrected mean must be no worse than the labels alone: against the true mean and against what people say of
the run's outputs, within 3 standard errors, and with 95 % coverage within 3.

Labels drawn with chances that scores make higher must leave no bias and 93 % coverage; error and width stand beside
those of as many labels drawn uniformly.
"""

import math

from tests.benchmarks.table import Row, report
from tests.stats.judged import DESIGNS, JUDGES, SCORED, simulate, simulate_draws, simulate_pairs

REPEATS, DESIGN_REPEATS = 4_000, 1_000
NOISE = math.sqrt(0.95 * 0.05 / DESIGN_REPEATS)  # of a coverage
LABELLED = (40, 100, 200, 400)
LEAST, MOST = 0.93, 0.97
INFORMED, USELESS = 0.9, 1.02


def main() -> None:
    rows = []
    for labelled in LABELLED:
        for judge in JUDGES:
            found = simulate(judge, labelled, REPEATS)
            held = labelled >= (200 if judge.clustered else 100)
            title = f"{labelled} labels of 1,000 outputs, {judge.name}"
            rows += [
                Row(f"{title}: |bias| / its noise", abs(found.bias) / found.noise, "", most=4.0),
                Row(f"{title}: coverage, least", found.covered, "", least=LEAST if held else None),
                Row(f"{title}: coverage, most", found.covered, "", most=MOST if held else None),
                Row(
                    f"{title}: width", found.width, "", found.width_alone, "labels alone",
                    most=USELESS if judge.skill == 0 else INFORMED,
                ),
            ]  # fmt: skip
    for judge, labelled, size in DESIGNS:
        found = simulate(judge, labelled, DESIGN_REPEATS, seed=1, size=size)
        title = f"{labelled} labels of {size} outputs, {judge.name}"
        rows += [
            Row(f"{title}: RMSE", found.error, "", found.error_alone, "labels alone"),
            Row(f"{title}: RMSE larger, in standard errors", max(found.worse, found.worse_here), "", most=3.0),
            Row(f"{title}: |bias| / its noise", abs(found.bias) / found.noise, "", most=4.0),
            Row(f"{title}: coverage", found.covered, "", found.covered_alone, "labels alone", least=0.95 - 3 * NOISE),
            Row(f"{title}: width", found.width, "", found.width_alone, "labels alone"),
        ]  # fmt: skip
    for labelled in (20, 40, 100, 200):
        for scored in SCORED:
            found = simulate_draws(scored, labelled, DESIGN_REPEATS)
            title = f"{labelled} labels of 400 outputs drawn where scores leave doubt, {scored.name}"
            rows += [
                Row(f"{title}: |bias| / its noise", abs(found.bias) / found.noise, "", most=4.0),
                Row(f"{title}: coverage", found.covered, "", found.covered_alone, "drawn uniformly", least=0.93),
                Row(f"{title}: RMSE", found.error, "", found.error_alone, "drawn uniformly"),
                Row(f"{title}: width", found.width, "", found.width_alone, "drawn uniformly"),
            ]
    for overlap in ("same", "apart", "any"):
        for labelled in (20, 40, 100):
            equal, better = (simulate_pairs(overlap, lift, labelled, DESIGN_REPEATS) for lift in (0.0, 0.15))
            title = f"difference of two models, {labelled} labels each of 400 outputs, {overlap} cases"
            rows += [
                Row(f"{title}: equal ones called different", equal.rejected, "", most=0.05 + 3 * NOISE),
                Row(f"{title}: a difference of .15 found", better.rejected, ""),
                Row(f"{title}: coverage", min(equal.covered, better.covered), "", least=0.95 - 3 * NOISE),
                Row(f"{title}: |bias|", abs(better.bias), "", abs(better.judged), "as judged", most=4 * better.noise),
            ]
    report(rows)


if __name__ == "__main__":
    main()
