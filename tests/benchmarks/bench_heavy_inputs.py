"""Seconds that hostile and large inputs take, each beside its limit.

    python -m tests.benchmarks.bench_heavy_inputs

Printed are those that take a tenth of their limit or more, and how many take less; processor time, the quickest of up
to three. Exit status 1 if one is over its limit.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from metrics.reports.renderers.pdf import pdf
from tests.benchmarks.timing import quickest
from tests.corpora.heavy_inputs import FAMILIES, HeavyInput
from tests.evaluators.test_classification_scores import SCORED, drawn, run
from tests.reports.made import made, worst_text


def main() -> None:
    """Measure and print."""
    over = light = 0
    for heavy in everything():
        seconds = quickest(heavy.read, heavy.seconds, tries=3)
        over += seconds > heavy.seconds
        if seconds < heavy.seconds / 10:
            light += 1
            continue
        print(f"{heavy.name:<60} {seconds:6.2f} s of at most {heavy.seconds:g} s")
    print(f"{light} others take less than a tenth of their limit; {over} are over it")
    raise SystemExit(over > 0)


def everything() -> Iterator[HeavyInput]:
    """Yield the inputs of the shared corpus, a large data set for each evaluator of label scores, a long report."""
    for family in FAMILIES.values():
        yield from family()
    data = drawn(100_000, 10)
    for name in SCORED:
        yield HeavyInput(f"{name}: 100,000 cases × 10 classes", 6, partial(run, name, data))
    report = made()
    report = replace(report, worst=(worst_text(),) * 20, methods=report.methods * 60, problems=report.problems * 120)
    yield HeavyInput("PDF report of 40 pages", 5, partial(pdf, report))


if __name__ == "__main__":
    main()
