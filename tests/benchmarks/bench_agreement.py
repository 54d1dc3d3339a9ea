"""Agreement of a judge with people, by simulation: labels through the queue, few labels, suggested thresholds.

    python -m tests.benchmarks.bench_agreement

Of 400 outputs 120 are labelled through the queue, half of them picked near the threshold; a row has the worst of κ and
the rates. Required: a bias of at most .01 against all outputs, and intervals that hold the value of the outputs which
could be drawn in 93 to 97 % of the data sets; shown beside: both with picked labels counted like random ones. With 15
to 60 labels: coverage over 21 tables of people × judge, beside percentiles of resamples. A judge that knows nothing: κ
at the threshold that its labels suggest, on those labels and as shown. Two raters who differ: mean, accuracy and
guarantee of all outputs, beside those of outputs on which they agree. Raters with rates of their own: coverage of the
mean over all raters, of intervals over cases, and over cases and raters. The alternative annotator test, Dawid and
Skene's errors, Rogan and Gladen's shares, by labels of these outputs and of others. Four minutes of processor time.
"""

import numpy as np

from tests.analysis.labels.few_labels import coverages, suggested
from tests.analysis.labels.queued_labels import LABELS, OUTPUTS, POPULATIONS, simulate
from tests.analysis.labels.several_raters import Told, simulate as simulate_raters
from tests.benchmarks.table import Row, report
from tests.stats.test_alternative_annotator import LEADING, share_passed
from tests.stats.test_crossed_variance import coverage
from tests.stats.test_dawid_skene import coverage as coverage_of_errors
from tests.stats.test_rogan_gladen import coverage as coverage_of_share

REPEATS, MIXED, OF_TABLE, OF_THRESHOLD, OF_RATERS, OF_ERRORS = 1_500, 300, 120, 300, 400, 200
BIAS, LEAST, MOST = 0.01, 0.93, 0.97
FEW = (15, 25, 40, 60)


def main() -> None:
    rows = []
    for population in POPULATIONS:
        ours = simulate(population, REPEATS).values()
        mixed = simulate(population, MIXED, mixed=True).values()
        title = f"{LABELS} labels of {OUTPUTS}, {population.name}"
        rows += [
            Row(f"{title}: largest bias", max(abs(one.bias) for one in ours), "", most=BIAS),
            Row(f"{title}: largest bias with picked labels counted", max(abs(one.bias) for one in mixed), ""),
            Row(f"{title}: least coverage", min(one.covered for one in ours), "", least=LEAST),
            Row(f"{title}: most coverage", max(one.covered for one in ours), "", most=MOST),
            Row(f"{title}: least coverage of these {OUTPUTS}", min(one.covered_own for one in ours), "", least=LEAST),
            Row(f"{title}: least coverage with picked labels counted", min(one.covered for one in mixed), ""),
        ]
    for n in FEW:
        for name, (ours, resamples) in coverages(n, OF_TABLE).items():
            title = f"{n} labels: {name}, coverage"
            rows += [
                Row(f"{title}, mean", float(ours.mean()), "", least=LEAST),
                Row(f"{title}, least of the tables", float(ours.min()), ""),
                Row(f"{title}, mean, percentiles of resamples", float(np.nanmean(resamples)), ""),
            ]
    for skill, n in ((0.0, 10), (0.0, 20), (0.0, 40), (1.0, 20), (1.0, 40)):
        own, shown, truth, covered = suggested(n, OF_THRESHOLD, skill)
        title = f"threshold suggested by {n} labels, {'a useless' if not skill else 'an informed'} judge: κ"
        rows += [
            Row(f"{title} of all outputs", truth, ""),
            Row(f"{title} on the labels that chose it", own, ""),
            Row(f"{title} as shown, |bias|", abs(shown - truth), "", most=0.05),
            Row(f"{title} as shown, coverage", covered, "", least=LEAST),
        ]
    for agreed in (True, False):
        found = simulate_raters(OF_RATERS, seed=2, agreed=agreed)
        title = f"two raters, {'outputs on which they agree' if agreed else 'all outputs'}"
        shares = {name: float(np.mean([getattr(one, name) for one in found])) for name in Told._fields}
        least, most = (None, None) if agreed else (LEAST, 0.05)
        rows += [
            Row(f"{title}: corrected mean, truly .742", shares["mean"], ""),
            Row(f"{title}: corrected mean, coverage", shares["held"], "", least=least),
            Row(f"{title}: accuracy, truly .788", shares["accuracy"], ""),
            Row(f"{title}: accuracy, coverage", shares["accuracy_held"], "", least=least),
            Row(f'{title}: "at most 10 % wrong" given', shares["promised"], ""),
            Row(f'{title}: "at most 10 % wrong" false', shares["broken"], "", most=most),
        ]
    for raters, spread in ((5, 0.1), (8, 0.1), (20, 0.1), (5, 0.0), (8, 0.0), (20, 0.0)):
        title = f"{raters} raters whose rates have a standard deviation of {spread:g}: coverage"
        before, now = (coverage(raters, spread, OF_RATERS, crossed) / OF_RATERS for crossed in (False, True))
        rows += [Row(f"{title} over cases", before, ""), Row(f"{title} over cases and raters", now, "", least=LEAST)]
    for raters, epsilon, judge in LEADING:
        title = f"alternative annotator test, {raters} raters, ε {epsilon:g}: passes"
        rows += [
            Row(f"{title} a judge that may not", share_passed(raters, epsilon, judge, OF_RATERS), "", most=0.05),
            Row(f"{title} a judge as good as the raters", share_passed(raters, epsilon, 0.9, OF_RATERS), ""),
        ]
    for n, hard in ((100, 0.0), (150, 0.0), (150, 0.3)):
        title = f"Dawid–Skene, three raters, {n} outputs, {hard:.0%} of them hard"
        held, apart = coverage_of_errors(n, OF_ERRORS, hard)
        rows += [
            Row(f"{title}: coverage, mean", float(held.mean()), "", least=None if hard else 0.9),
            Row(f"{title}: error of the share", float(apart[0]), ""),
            Row(f"{title}: error of the sensitivities, mean", float(apart[1:4].mean()), ""),
        ]
    for share, sensitivity, specificity in ((0.7, 0.9, 0.8), (0.9, 0.95, 0.7), (0.5, 0.8, 0.8)):
        title = f"Rogan–Gladen, 100 labels, {share:g} pass, Se {sensitivity:g}, Sp {specificity:g}"
        for other in (False, True):
            held_share, _ = coverage_of_share(share, sensitivity, specificity, 100, 1_000, other)
            about = " of other outputs" if other else ""
            rows.append(Row(f"{title}: coverage by labels{about}", held_share, "", least=LEAST))
    report(rows)


if __name__ == "__main__":
    main()
