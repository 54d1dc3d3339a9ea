"""A 1,000,000-row CSV read, validated, cast and stored as Parquet, each time in a fresh process.

    python -m tests.benchmarks.bench_ingest

Seconds of wall clock, and the peak resident size.
"""

import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.table import Row, report

ROWS = 1_000_000
MOST_SECONDS, MOST_MB = 5.0, 1024
WORDS = (
    "the of model answer retrieval context weather forecast policy claim court library which what how is data".split()
)
TAGS = [["billing", "urgent"], ["faq"], ["Factoid", "ANSWERABLE"], ["how-to", "long", "multi"]]
PROBE = """
import json, resource, sys, time
from pathlib import Path
from metrics.ingest import read_combined, read_outputs, read_suite
from metrics.store import Workspace
folder, what = Path(sys.argv[1]), sys.argv[2]
workspace = Workspace(folder / "workspace")
import pyarrow.csv, pyarrow.parquet
began = time.perf_counter()
if what == "combined":
    suite, outputs = read_combined(folder / "combined.csv")
else:
    suite, outputs = read_suite(folder / "suite.csv"), None
if what == "suite and outputs":
    outputs = read_outputs(folder / "outputs.csv", suite=suite)
workspace.save_suite(suite)
if outputs is not None:
    workspace.save_outputs(outputs, suite)
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
print(json.dumps({"seconds": seconds, "mb": peak}))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        rows = []
        for what, files in {
            "combined": ["combined"], "suite": ["suite"], "suite and outputs": ["suite", "outputs"],
        }.items():  # fmt: skip
            command = [sys.executable, "-c", PROBE, name, what]
            facts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            title = f"{ROWS:,} rows of CSV ({what}) read, checked and stored"
            words = f"{ROWS:,} rows of CSV read, checked and stored" if what == "combined" else ""
            limit = MOST_SECONDS if len(files) == 1 else None
            rows += [
                Row(title, facts["seconds"], "s", most=limit, readme=words),
                Row(f"{title}: peak memory", facts["mb"], "MB", most=MOST_MB),
            ]
    report(rows)


def write_files(folder: Path) -> None:
    """combined.csv (every column), suite.csv and outputs.csv, some 100 to 150 bytes a row."""
    rng = random.Random(0)
    headers = {
        "combined": ["case_id", "question", "expected_answer", "tags", "source", "model", "answer", "latency"],
        "suite": ["case_id", "question", "expected_answer", "tags", "source"],
        "outputs": ["case_id", "model", "answer", "latency"],
    }
    files = {name: (folder / f"{name}.csv").open("w", newline="") for name in headers}
    writers = {name: csv.writer(file) for name, file in files.items()}
    for name, writer in writers.items():
        writer.writerow(headers[name])
    for number in range(ROWS):
        tags = TAGS[number % 4]
        case = [
            f"case-{number:07d}", " ".join(rng.choices(WORDS, k=6)) + "?", ", ".join(rng.choices(WORDS, k=4)),
            json.dumps(tags) if number % 2 else ";".join(tags), "docs",
        ]  # fmt: skip
        output = ["m1", " ".join(rng.choices(WORDS, k=5)), f"{rng.random():.3f}"]
        writers["combined"].writerow(case + output)
        writers["suite"].writerow(case)
        writers["outputs"].writerow([case[0], *output])
    for file in files.values():
        file.close()


if __name__ == "__main__":
    main()
