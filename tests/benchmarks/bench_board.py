"""The board of 60 runs of one model each beside one run of the 60 models: the first and a later visit of its page.

    python -m tests.benchmarks.bench_board [--cases N] [--models N]

Processor seconds and memory, each in a process of its own, see tests.benchmarks.page_visits.
"""

import argparse
import tempfile
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.benchmarks.page_visits import visits
from tests.benchmarks.table import Row, report

CHOSEN = ("rouge", "bleu", "exact_match", "text_matching", "pii_leakage")
WORDS = "the cat sat on a mat dog bird tree".split()
MOST_RATIO = 1.5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500, metavar="N")
    parser.add_argument("--models", type=int, default=60, metavar="N")
    options = parser.parse_args()
    random = Random(0)

    def text() -> str:
        return " ".join(random.choices(WORDS, k=6))

    cases = [
        {"case_id": f"c{place}", "question": text(), "expected_answers": [text()]} for place in range(options.cases)
    ]
    suite = Suite.from_rows("board", "text", cases)
    models = [
        Outputs.from_rows([{"case_id": case["case_id"], "model": f"m{model}", "answer": text()} for case in cases])
        for model in range(options.models)
    ]
    title = f"board of {options.models} runs, {options.cases:,} cases × {len(CHOSEN)} evaluators"
    with tempfile.TemporaryDirectory() as folder, patch("metrics.core.files.sync"):
        apart, whole = Path(folder, "apart"), Path(folder, "whole")
        for outputs in models:
            engine.execute(engine.create(Workspace(apart), suite, outputs, CHOSEN))
        together = Outputs(pa.concat_tables(outputs.outputs for outputs in models))
        run = engine.execute(engine.create(Workspace(whole), suite, together, CHOSEN))
        board = visits(apart, "board", "leaderboard")
        one = visits(whole, run.id, "leaderboard")
    name = "one run of them all"
    report(
        [
            Row(f"{title}: first visit, processor time", board.first, "s", one.first, name, most=MOST_RATIO),
            Row(f"{title}: later visit, processor time", board.later, "s", one.later, name, most=MOST_RATIO),
            Row(f"{title}: memory gained", board.grown / 1e9, "GB", one.grown / 1e9, name, most=MOST_RATIO),
        ]
    )


if __name__ == "__main__":
    main()
