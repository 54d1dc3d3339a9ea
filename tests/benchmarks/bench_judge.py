"""The judge against its floor: python -m tests.benchmarks.bench_judge

A scripted OpenAI-compatible server in a process of its own, and RAG cases with three contexts each under five metrics
at 64 requests at once. The floor of the wall time is calls × latency / 64; it can be kept to only where a core is free.

The same five metrics by others, on such a server: ragas 10 calls and 31,500 prompt characters a case, 11 ms of its own
CPU a call, 14.6 × the floor at 50 ms; deepeval 17 calls, 25,200 characters, 30 ms, 38 ×.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from metrics.judge.steps import CLAIMS
from metrics.registry import evaluators
from tests.judge.scenes import FIVE, judged_run
from tests.judge.server import JudgeServer

AT_ONCE = 64
CASES = 240
MOST_WALL, MOST_CPU_MS, MOST_MB, MOST_CALLS, MOST_CHARACTERS, LEAST_RATE = 1.2, 5.0, 300, 8.0, 16_000, 3_000
MOST_CALL_SHARE, MOST_TOKEN_SHARE = 0.45, 0.50


def _serve(pipe: Connection, latency: float) -> None:
    with JudgeServer(latency) as server:
        pipe.send(server.url)
        while pipe.recv() == "counts":
            pipe.send((len(server.calls), server.characters, server.busiest))
            server.clear()


class FarServer:
    """A scripted server in another process, so that its work is not taken for ours."""

    def __init__(self, url: str, pipe: Connection):
        self.url = url
        self._pipe = pipe

    def counts(self) -> tuple[int, int, int]:
        """Calls, prompt characters and the most requests at once, since it was asked last."""
        self._pipe.send("counts")
        counts: tuple[int, int, int] = self._pipe.recv()
        return counts


@contextmanager
def far_server(latency: float) -> Iterator[FarServer]:
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=_serve, args=(far, latency))
    process.start()
    try:
        yield FarServer(near.recv(), near)
    finally:
        near.send("leave")
        process.join()


class Report:
    """Lines of measured figures beside what is asked of them; `missed` counts those that fall short."""

    def __init__(self) -> None:
        self.missed = 0

    def line(self, name: str, value: float, unit: str, most: float | None = None, least: float | None = None) -> None:
        """One figure, told from its bound."""
        bound = f"≤ {most:g}" if most is not None else f"≥ {least:g}" if least is not None else ""
        good = (most is None or value <= most) and (least is None or value >= least)
        self.missed += not good
        print(f"  {name:<44}{value:>12,.2f} {unit:<12}{bound:<10}{'' if good else 'MISSED'}")


def main() -> int:
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with far_server(0) as server:  # imports, connections, compiled expressions: once a process
            judged_run(folder / "warm", server.url, *FIVE, cases=2, concurrency=AT_ONCE)
        for latency in (0.5, 0.05):
            _against_the_floor(report, folder / str(latency), latency)
        with far_server(0) as server:
            _together_and_apart(report, folder, server)
    return 1 if report.missed else 0


def _against_the_floor(report: Report, folder: Path, latency: float) -> None:
    print(f"\n{CASES} cases × {len(FIVE)} metrics, {1000 * latency:.0f} ms latency, {AT_ONCE} requests at once")
    with far_server(latency) as server:
        wall, cpu = time.perf_counter(), time.process_time()
        run = judged_run(folder, server.url, *FIVE, cases=CASES, concurrency=AT_ONCE)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        calls, characters, busiest = server.counts()
        assert run.scores["status"].eq("ok").all()
        report.line("calls a case", calls / CASES, "", most=MOST_CALLS)
        report.line("prompt characters a case", characters / CASES, "", most=MOST_CHARACTERS)
        report.line("most requests at once", busiest, "")
        floor = calls * latency / AT_ONCE
        report.line("wall / floor", wall / floor, f"× {floor:.1f} s", most=MOST_WALL if latency == 0.5 else None)
        report.line("our CPU a call", 1000 * cpu / calls, "ms", most=MOST_CPU_MS)
        # this process also holds the benchmark; ru_maxrss counts kilobytes, on macOS bytes
        unit = 1024 if sys.platform == "darwin" else 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 1024
        report.line("peak memory of the process", peak, "MB", most=MOST_MB)

        wall, cpu = time.perf_counter(), time.process_time()
        again = judged_run(folder, server.url, *FIVE, cases=CASES, concurrency=AT_ONCE)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        report.line("calls of the same run again", server.counts()[0], "", most=0)
        report.line("judge steps a second of CPU, again", len(again.judgements) / cpu, "1/s", least=LEAST_RATE)


def _together_and_apart(report: Report, folder: Path, server: FarServer) -> None:
    claimed = [entry.id for entry in evaluators().values() if CLAIMS in entry.prompts]
    print(f"\nthe {len(claimed)} claim-based evaluators together, and each with an empty cache: {', '.join(claimed)}")
    judged_run(folder / "together", server.url, *claimed, cases=20, concurrency=AT_ONCE)
    together = server.counts()
    apart = []
    for evaluator in claimed:
        judged_run(folder / f"apart-{evaluator}", server.url, evaluator, cases=20, concurrency=AT_ONCE)
        apart.append(server.counts())
    calls, characters = (sum(counts[place] for counts in apart) for place in (0, 1))
    report.line("calls together / apart", together[0] / calls, f"of {calls}", most=MOST_CALL_SHARE)
    report.line("prompt characters together / apart", together[1] / characters, "", most=MOST_TOKEN_SHARE)


if __name__ == "__main__":
    sys.exit(main())
