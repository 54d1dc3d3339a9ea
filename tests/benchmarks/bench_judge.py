"""The time of judging against its lower bound and other tools: python -m tests.benchmarks.bench_judge [--peers PYTHON]

A scripted OpenAI-compatible server in a process of its own, and RAG cases with three contexts each under five metrics
at 64 requests at once. The lower bound of wall time is calls × latency / 64; it is reached only when a core is free.
PYTHON is an interpreter that has ragas or deepeval (pip install ragas deepeval; ragas 0.4 wants langchain-community
before 0.4); they are not among the requirements, and a tool that is absent is left out.
"""

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
from metrics.judge.typical_reply import typical_reply
from tests.benchmarks.table import Row, options, peers, report
from tests.judge.judge_scenes import FIVE, judged_run, rag
from tests.judge.server import JudgeServer, Request

AT_ONCE = 64
CASES = 240
PEERS, PEER_CASES = ("ragas", "deepeval"), 60
JOB = Path(__file__).with_name("judge_peer.py")
CALLS, CHARACTERS, WALL, CPU = (
    "calls a case", "prompt characters a case", "times the least possible time", "processor time a call",
)  # fmt: skip
LIMITS: dict[str, dict[str, float]] = {
    CALLS: {"most": 8}, CHARACTERS: {"most": 16_000}, CPU: {"most": 5}, "peak memory of the process": {"most": 300},
    "calls of the same run again": {"most": 0}, "judge steps a second of processor time, again": {"least": 3_000},
}  # fmt: skip
MOST_WALL = 1.2  # at 500 ms; at 50 ms the machine's load counts for more
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
                    return typical_reply(schema, request.messages)
    return {}


class FarServer:
    """A scripted server in another process, so that its work is not counted."""

    def __init__(self, url: str, pipe: Connection):
        self.url = url
        self._pipe = pipe

    def counts(self) -> tuple[int, int, int]:
        """Calls, prompt characters and the most requests at once, since the last call."""
        self._pipe.send("counts")
        return self._pipe.recv()


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


Figures = dict[str, tuple[float, str]]  # by name, with their units


def main() -> None:
    python = options(__doc__, sys.executable).peers
    versions = peers(python, *PEERS)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with far_server(0) as server:  # imports, connections, compiled expressions: once a process
            judged_run(folder / "warm", server.url, *FIVE, cases=2, concurrency=AT_ONCE)
        for latency in (0.5, 0.05):
            title = f"judge at {1000 * latency:.0f} ms, {AT_ONCE} requests at once, {len(FIVE)} RAG metrics"
            ours = _against_the_floor(folder / str(latency), latency)
            limits = LIMITS | ({WALL: {"most": MOST_WALL}} if latency == 0.5 else {})
            rows += [Row(f"{title}: {name}", *figure, **limits.get(name, {})) for name, figure in ours.items()]
            for peer, version in versions.items():
                theirs = _of_peer(peer, python, latency)
                rows += [
                    Row(f"{title}: {name}, beside {peer}", *ours[name], value, version)
                    for name, (value, _) in theirs.items()
                ]
        with far_server(0) as server:
            rows += _together_and_apart(folder, server)
    report(rows)


def _of_peer(name: str, python: str, latency: float) -> Figures:
    suite, outputs = rag(PEER_CASES + 1)
    cases = [
        {
            "question": case["question"], "reference": case["expected_answers"][0], "answer": output["answer"],
            "contexts": output["retrieved_contexts"],
        }
        for case, output in zip(suite.cases.to_pylist(), outputs.outputs.to_pylist(), strict=True)
    ]  # fmt: skip
    with far_server(latency) as server:
        command = [python, str(JOB), name, server.url, str(AT_ONCE)]
        done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name} failed: {done.stderr.strip().splitlines()[-1]}")
            return {}
        record = json.loads(done.stdout.splitlines()[-1])
        calls, characters, busiest = server.counts()
        own = calls * PEER_CASES / len(cases)  # the first case was for imports and connections
        print(f"{name}: at most {busiest} requests at once")
        return {
            CALLS: (calls / len(cases), ""), CHARACTERS: (characters / len(cases), ""),
            WALL: (record["wall"] / (own * latency / AT_ONCE), ""), CPU: (1000 * record["cpu"] / own, "ms"),
        }  # fmt: skip


def _against_the_floor(folder: Path, latency: float) -> Figures:
    with far_server(latency) as server:
        wall, cpu = time.perf_counter(), time.process_time()
        run = judged_run(folder, server.url, *FIVE, cases=CASES, concurrency=AT_ONCE)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        calls, characters, busiest = server.counts()
        assert run.scores["status"].eq("ok").all()
        print(f"Assay: at most {busiest} requests at once")
        # this process also holds the benchmark; ru_maxrss counts kilobytes, on macOS bytes
        unit = 1024 if sys.platform == "darwin" else 1
        figures = {
            CALLS: (calls / CASES, ""), CHARACTERS: (characters / CASES, ""),
            WALL: (wall / (calls * latency / AT_ONCE), ""), CPU: (1000 * cpu / calls, "ms"),
            "peak memory of the process": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 1024, "MB"),
        }  # fmt: skip
        rates = []
        for _ in range(3):  # the best: the first loads what the reading of replies needs
            cpu = time.process_time()
            again = judged_run(folder, server.url, *FIVE, cases=CASES, concurrency=AT_ONCE)
            rates.append(len(again.judgements) / (time.process_time() - cpu))
        return figures | {
            "calls of the same run again": (server.counts()[0], ""),
            "judge steps a second of processor time, again": (max(rates), ""),
        }


def _together_and_apart(folder: Path, server: FarServer) -> list[Row]:
    claimed = [entry.id for entry in evaluators().values() if CLAIMS in entry.prompts]
    print(f"claim-based evaluators: {', '.join(claimed)}")
    judged_run(folder / "together", server.url, *claimed, cases=20, concurrency=AT_ONCE)
    together = server.counts()
    apart = []
    for evaluator in claimed:
        judged_run(folder / f"apart-{evaluator}", server.url, evaluator, cases=20, concurrency=AT_ONCE)
        apart.append(server.counts())
    calls, characters = (sum(counts[place] for counts in apart) for place in (0, 1))
    title = f"{len(claimed)} claim-based evaluators together"
    return [
        Row(f"{title}: calls", together[0], "", calls, "each alone", most=MOST_CALL_SHARE),
        Row(f"{title}: prompt characters", together[1], "", characters, "each alone", most=MOST_TOKEN_SHARE),
    ]


if __name__ == "__main__":
    main()
