"""The engine's own cost: a million rows of classification by text end to end, and a score of an evaluator of one line.

    python -m tests.benchmarks.bench_overhead [cases]

The run of classification is started in a process of its own, as by page and command; its time is from there to the
sealed run. The evaluators of one line are run in this process: the processor time of a run, reading, storing, sealing
and intervals included, without what the evaluator takes when it is called alone on cases that are there, and without
what a run of a few cases takes too (some 20 ms: planning, progress, versions in the manifest), which no score adds to.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from metrics import engine
from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.plugins import plugin_of
from metrics.core.registry import add_plugin, choose
from metrics.core.suite import CASES, OUTPUTS, Case, Outputs, Suite, conform
from metrics.store import Workspace
from tests.benchmarks.table import Row, report
from tests.benchmarks.timing import children_seconds, quickest
from tests.engine.engine_scenes import one_thread

MOST_SECONDS, MOST_MICROSECONDS = 8.0, 3.0
LABELS = ("spam", "ham", "other")
FEWER = 5  # times as few cases for the evaluators of one line
FEW = 20  # cases of a run that costs what every run does
ROUNDS = 3


@evaluator(id="bench_one", title="One", inputs=("answer",), metrics=(Metric("bench_one", "One"),))
def one_case(case: Case, parameters: Parameters) -> CaseScore:
    """Score a case."""
    return CaseScore({"bench_one": float(len(case.answer) > 3)})


@evaluator(id="bench_slice", title="Slice", inputs=("answer",), metrics=(Metric("bench_slice", "Slice"),))
def slice_of_cases(cases: Sequence[Case], parameters: Parameters) -> list[CaseScore]:
    """Score a slice of cases."""
    return [CaseScore({"bench_slice": float(len(case.answer) > 3)}) for case in cases]


def inputs(cases: int) -> tuple[Suite, Outputs]:
    """Return cases of three classes, and answers of which one in seven is another class."""
    labels, ids = pa.array(LABELS), pa.array([f"case-{number:07}" for number in range(cases)])
    right = labels.take(pa.array([number % 3 for number in range(cases)]))
    answers = labels.take(pa.array([(number + (number % 7 == 0)) % 3 for number in range(cases)]))
    expected = pa.ListArray.from_arrays(pa.array(range(cases + 1), pa.int32()), right)
    suite = conform(pa.table({"case_id": ids, "question": ids, "expected_answers": expected}), CASES)
    rows = {"case_id": ids, "model": pa.repeat("model", cases), "run": pa.repeat(1, cases), "answer": answers}
    return Suite("overhead", "text", suite), Outputs(conform(pa.table(rows), OUTPUTS))


def classified(cases: int) -> tuple[float, float]:
    """Return the seconds and the processor seconds of a run of classification by text."""
    with tempfile.TemporaryDirectory() as folder:
        run = engine.create(Workspace(folder), *inputs(cases), ["classification_text"])
        begun, before = time.perf_counter(), children_seconds()
        if engine.start(run).wait():
            raise SystemExit(f"the run {run.state}: {(run.folder / 'log.txt').read_text()}")
        return time.perf_counter() - begun, children_seconds() - before


def overhead(given: Callable[..., object], cases: int) -> float:
    """Return the microseconds of a score that are not the evaluator's own."""
    name = add_plugin(plugin_of(given))
    many, few = (inputs(size) for size in (cases, FEW))
    own = spent(name, *many) - alone(name, *many)
    return (own - spent(name, *few)) / (cases - FEW) * 1e6


def spent(name: str, suite: Suite, outputs: Outputs) -> float:
    taken = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            run = engine.create(Workspace(Path(folder)), suite, outputs, [name])
            begun = time.process_time()
            engine.execute(run, one_thread)
            taken.append(time.process_time() - begun)
    return min(taken)


def alone(name: str, suite: Suite, outputs: Outputs) -> float:
    """Return the processor seconds that an evaluator takes for cases that are there."""
    entry, parameters = choose([name], {})[name]
    rows = list(Cases.joined(suite, outputs.outputs))
    asked = [(case,) for case in rows] if entry.shape == "case" else [(rows,)]
    return quickest(lambda: [entry.function(*one, parameters) for one in asked], tries=ROUNDS)


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    measured = [classified(cases) for _ in range(ROUNDS)]
    seconds, processor = (min(found) for found in zip(*measured, strict=True))
    title = f"classification by text of {cases:,} rows, from its start to the sealed run"
    limit = MOST_SECONDS if cases == 1_000_000 else None
    rows = [Row(title, seconds, "s", most=limit), Row(f"{title}: processor time", processor, "s")]
    for what, given in (("evaluator of a case", one_case), ("evaluator of a slice of cases", slice_of_cases)):
        microseconds = overhead(given, cases // FEWER)
        rows.append(Row(f"engine's own processor time a score, {what}", microseconds, "µs", most=MOST_MICROSECONDS))
    report(rows)


if __name__ == "__main__":
    main()
