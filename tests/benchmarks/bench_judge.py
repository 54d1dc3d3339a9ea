"""The time of judging against its lower bound and other tools: python -m tests.benchmarks.bench_judge [--peers PYTHON]

A scripted OpenAI-compatible server in a process of its own, and RAG cases with three contexts each under five metrics
at 64 requests at once. The lower bound of wall time is calls × latency / 64; it is reached only when a core is free.
PYTHON is an interpreter that has ragas or deepeval (pip install ragas deepeval; ragas 0.4 wants langchain-community
before 0.4); they are not among the requirements, and a tool that is absent is left out.
"""

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from metrics.core.registry import evaluators
from metrics.judge.steps import CLAIMS
from metrics.judge.typical import typical
from tests.judge.judge_scenes import FIVE, judged_run, rag
from tests.judge.server import JudgeServer, Request

AT_ONCE = 64
CASES = 240
PEERS, PEER_CASES = ("ragas", "deepeval"), 60
JOB = Path(__file__).with_name("judge_peer.py")
MOST_WALL, MOST_CPU_MS, MOST_MB, MOST_CALLS, MOST_CHARACTERS, LEAST_RATE = 1.2, 5.0, 300, 8.0, 16_000, 3_000
MOST_CALL_SHARE, MOST_TOKEN_SHARE = 0.45, 0.50


def _serve(pipe: Connection, latency: float) -> None:
    with JudgeServer(latency) as server:
        server.say(lambda request: request.schema is None, _by_text)
        pipe.send(server.url)
        while pipe.recv() == "counts":
            pipe.send((len(server.calls), server.characters, server.busiest))
            server.clear()


def _by_text(request: Request) -> Any:
    """Return a minimal reply to a request whose schema is in its text."""
    for message in request.messages:
        for place, character in enumerate(message["content"]):
            if character == "{":
                try:
                    schema, _ = json.JSONDecoder().raw_decode(message["content"][place:])
                except ValueError:
                    continue
                if "properties" in schema:
                    return typical(schema, request.messages)
    return {}


class FarServer:
    """A scripted server in another process, so that its work is not counted."""

    def __init__(self, url: str, pipe: Connection):
        self.url = url
        self._pipe = pipe

    def counts(self) -> tuple[int, int, int]:
        """Calls, prompt characters and the most requests at once, since the last call."""
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
    """Measured figures with their limits; `missed` counts those over a limit."""

    def __init__(self) -> None:
        self.missed = 0

    def line(self, name: str, value: float, unit: str, most: float | None = None, least: float | None = None) -> None:
        """Print one figure with its limit."""
        bound = f"≤ {most:g}" if most is not None else f"≥ {least:g}" if least is not None else ""
        good = (most is None or value <= most) and (least is None or value >= least)
        self.missed += not good
        print(f"  {name:<44}{value:>12,.2f} {unit:<12}{bound:<10}{'' if good else 'MISSED'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with far_server(0) as server:  # imports, connections, compiled expressions: once a process
            judged_run(folder / "warm", server.url, *FIVE, cases=2, concurrency=AT_ONCE)
        for latency in (0.5, 0.05):
            _against_the_floor(report, folder / str(latency), latency)
            for name in PEERS:
                _peer(report, name, options.peers, latency)
        with far_server(0) as server:
            _together_and_apart(report, folder, server)
    return 1 if report.missed else 0


def _peer(report: Report, name: str, python: str, latency: float) -> None:
    found = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    version = subprocess.run([python, "-c", found, name], capture_output=True, text=True, check=False)
    if version.returncode:
        print(f"{name} is not installed: pip install {name}")
        return
    suite, outputs = rag(PEER_CASES + 1)
    cases = [
        {
            "question": case["question"], "reference": case["expected_answers"][0], "answer": output["answer"],
            "contexts": output["retrieved_contexts"],
        }
        for case, output in zip(suite.cases.to_pylist(), outputs.outputs.to_pylist(), strict=True)
    ]  # fmt: skip
    print(
        f"\n{name} {version.stdout.strip()}, {PEER_CASES} cases × {len(FIVE)} metrics, {1000 * latency:.0f} ms latency"
    )
    with far_server(latency) as server:
        command = [python, str(JOB), name, server.url, str(AT_ONCE)]
        done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"  it failed: {done.stderr.strip().splitlines()[-1]}")
            return
        record = json.loads(done.stdout.splitlines()[-1])
        calls, characters, busiest = server.counts()
        own = calls * PEER_CASES / len(cases)  # the first case was for imports and connections
        report.line("calls a case", calls / len(cases), "")
        report.line("prompt characters a case", characters / len(cases), "")
        report.line("most requests at once", busiest, "")
        floor = own * latency / AT_ONCE
        report.line("wall / floor", record["wall"] / floor, f"× {floor:.1f} s")
        report.line("CPU a call", 1000 * record["cpu"] / own, "ms")


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

        rates = []
        for _ in range(3):  # the best: the first loads what the reading of replies needs
            cpu = time.process_time()
            again = judged_run(folder, server.url, *FIVE, cases=CASES, concurrency=AT_ONCE)
            rates.append(len(again.judgements) / (time.process_time() - cpu))
        report.line("calls of the same run again", server.counts()[0], "", most=0)
        report.line("judge steps a second of CPU, again", max(rates), "1/s", least=LEAST_RATE)


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
