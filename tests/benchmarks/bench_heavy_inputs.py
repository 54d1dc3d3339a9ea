"""Seconds that hostile and large inputs take, each beside its limit.

    python -m tests.benchmarks.bench_heavy_inputs

Printed are those that take a tenth of their limit or more, and how many take less; processor time, the quickest of up
to three.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from metrics.reports.renderers.pdf import pdf
from tests.benchmarks.table import Row, report
from tests.benchmarks.timing import quickest
from tests.corpora.heavy_inputs import FAMILIES, HeavyInput
from tests.evaluators.test_classification_scores import SCORED, drawn, run
from tests.reports.made import made, worst_text


def main() -> None:
    """Measure and print."""
    light, shares = 0, list[float]()
    for heavy in everything():
        seconds = quickest(heavy.read, heavy.seconds, tries=3)
        shares.append(seconds / heavy.seconds)
        if seconds < heavy.seconds / 10:
            light += 1
            continue
        print(f"{heavy.name:<60} {seconds:6.2f} s of at most {heavy.seconds:g} s")
    print(f"{light} others take less than a tenth of their limit")
    title = f"{len(shares)} hostile or large inputs (regular expressions, PDFs, traces, tables): the slowest"
    report([Row(title, max(shares), "of its limit", most=1.0)])


def everything() -> Iterator[HeavyInput]:
    """Yield the inputs of the shared corpus, a large data set for each evaluator of label scores, a long report."""
    for family in FAMILIES.values():
        yield from family()
    data = drawn(100_000, 10)
    for name in SCORED:
        yield HeavyInput(f"{name}: 100,000 cases × 10 classes", 6, partial(run, name, data))
    one = made()
    long = replace(one, worst=(worst_text(),) * 20, methods=one.methods * 60, problems=one.problems * 120)
    yield HeavyInput("PDF report of 40 pages", 5, partial(pdf, long))


if __name__ == "__main__":
    main()
