"""Two local workers of a cluster against one: seconds of the same run, and the ratio.

    python -m tests.benchmarks.bench_cluster [cases]

Runs of one and of two workers take turns, as other work on the machine counts for both; starting workers and sealing
are left out: seconds from the first unit given to the last one done, the least of three. Needs two free cores.
"""

import sys
import tempfile
import time

from metrics import engine
from metrics.engine.schedulers import use_scheduler
from metrics.store import Progress, Workspace
from tests.benchmarks.table import Row, report
from tests.engine.engine_scenes import text_outputs, text_suite

CHOSEN = ("rouge", "bleu", "text_matching", "pii_leakage")
ROUNDS, LEAST = 3, 1.8


def seconds(workspace: Workspace, cases: int, workers: int) -> float:
    """Return the seconds in which that many workers do the units of a run."""
    run = engine.create(workspace, text_suite(cases), text_outputs(cases), CHOSEN)
    use_scheduler(run, f"local:{workers}")
    moments: list[float] = []

    def listen(progress: Progress) -> None:
        if progress.message == "evaluating" or (moments and progress.message == "sealing"):
            moments.append(time.perf_counter())

    engine.execute(run, listen=listen)
    return moments[-1] - moments[0]


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 80_000
    taken: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for workers, found in taken.items():
                found.append(seconds(Workspace(folder), cases, workers))
    one, two = (min(found) for found in taken.values())
    title = f"two workers of a cluster: {cases:,} cases × 2 models × {len(CHOSEN)} evaluators"
    report([Row(title, two, "s", one, "one worker", least=LEAST)])


if __name__ == "__main__":
    main()
