"""A run of a million cases: memory and processor time of making it, and of the pages that show it.

    python -m tests.benchmarks.bench_million [--cases N] [--models N] [--evaluators ID,…] [--small N]

N cases × models of about 100 characters an answer go through rouge, bleu, text_matching and pii_leakage, as the page
and the command run them: in a process of its own, with a worker a core. Measured are
microseconds of processor a score (imports and sealing included) in the large run and in the small one, their ratio, and
the largest resident size of any process of the run. Then each page of the large run is opened in a process of its own,
see tests.benchmarks.page_visits.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

import psutil
import pyarrow as pa

from metrics import engine
from metrics.core.suite import CASES, OUTPUTS, Outputs, Suite, conform
from metrics.store import Workspace
from tests.benchmarks.page_visits import REPORTS, VISITS, Visits, visits
from tests.benchmarks.table import Row, report
from tests.benchmarks.timing import children_seconds

MOST_GB, MOST_RATIO = 1.0, 1.1
MOST_FIRST, MOST_LATER = 3.0, 1.5  # seconds of a page's visits
MOST_REPORT = 6.0  # seconds of a report
MOST_GAINED = 0.5  # GB of a page's visits
WORDS = "the of model answer retrieval context weather forecast policy claim court library which what how data".split()
PIECES = 10_000  # texts are drawn from so many different ones


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--small", type=int, default=10_000, metavar="N")
    parser.add_argument("--models", type=int, default=3, metavar="N")
    parser.add_argument("--evaluators", default="rouge,bleu,text_matching,pii_leakage")
    options = parser.parse_args()
    chosen = options.evaluators.split(",")
    figures = []
    for cases in (options.small, options.cases):
        with tempfile.TemporaryDirectory() as folder:
            seconds, processor, peak = _measure(Path(folder), cases, options.models, chosen)
            if cases == options.cases:
                [run] = Workspace(folder).runs()
                opened = {name: visits(Path(folder), run.id, name) for name in VISITS}
        figures.append(processor / (cases * options.models * len(chosen)) * 1e6)
    title = f"{options.cases:,} cases × {options.models} models × {len(chosen)} evaluators"
    small, large = figures
    rows = [
        Row(f"{title}: processor time a case", large, "µs", small, f"{options.small:,} cases", most=MOST_RATIO),
        Row(f"{title}: largest process", peak / 1e9, "GB", most=MOST_GB),
        Row(f"{title}: time", seconds / 60, "min"),
        *(row for name, found in opened.items() for row in _rows(title, name, found)),
    ]
    report(rows)


def _rows(title: str, name: str, found: Visits) -> list[Row]:
    what, is_report = f"{title}: {name}", VISITS[name][0] in REPORTS
    return [
        Row(f"{what}, first visit, processor time", found.first, "s", most=MOST_REPORT if is_report else MOST_FIRST),
        Row(f"{what}, later visit, processor time", found.later, "s", most=MOST_REPORT if is_report else MOST_LATER),
        Row(f"{what}, memory gained", found.grown / 1e9, "GB", most=MOST_GAINED),
    ]


def _measure(folder: Path, cases: int, models: int, chosen: list[str]) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds, the largest resident size of a process."""
    run = engine.create(Workspace(folder), *_inputs(cases, models), chosen)
    begun, before = time.perf_counter(), children_seconds()
    started = engine.start(run)
    watched = psutil.Process(started.pid)
    peak = 0
    while started.poll() is None:
        for process in [watched, *_children(watched)]:
            try:
                peak = max(peak, process.memory_info().rss)
            except psutil.Error:
                continue
        time.sleep(0.05)
    if run.state != "finished":
        raise SystemExit(f"the run {run.state}: {(run.folder / 'log.txt').read_text()}")
    return time.perf_counter() - begun, children_seconds() - before, peak


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _inputs(cases: int, models: int) -> tuple[Suite, Outputs]:
    rng = random.Random(0)
    texts = [" ".join(rng.choice(WORDS) for _ in range(16)) for _ in range(PIECES)]
    drawn = pa.array(texts)

    def column() -> pa.Array:
        return drawn.take(pa.array(rng.choices(range(PIECES), k=cases)))

    ids = pa.array([f"case-{number:07}" for number in range(cases)])
    one = pa.array(range(cases + 1), pa.int32())
    suite = {
        "case_id": ids, "question": column(), "expected_answers": pa.ListArray.from_arrays(one, column()),
        "conditions": pa.repeat('"policy" AND NOT "court"', cases),
    }  # fmt: skip
    same = {"case_id": ids, "run": pa.repeat(1, cases)}
    tables = [pa.table(same | {"model": pa.repeat(f"model {m}", cases), "answer": column()}) for m in range(models)]
    outputs = Outputs(conform(pa.concat_tables(tables), OUTPUTS))
    return Suite("million", "text", conform(pa.table(suite), CASES)), outputs


if __name__ == "__main__":
    main()
