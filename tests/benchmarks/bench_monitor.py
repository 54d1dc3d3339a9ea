"""A monitor fed with 100,000 and 1,000,000 JSON lines at 1 %, each time in a fresh process.

    python -m tests.benchmarks.bench_monitor

Lines have 480 bytes on average; the evaluators are pii_leakage and looping_detection. Printed are seconds of wall
clock and of processor (with the imports), lines a second, and the peak resident size, which must not grow with the
lines; `nothing sampled` is the reading alone.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.table import Row, report

LINES = 1_000_000
MOST_MB, MOST_GROWTH = 400, 1.2
WORDS = (
    "the of model answer retrieval context weather forecast policy claim court library which what how is data".split()
)
PROBE = """
import json, resource, sys, time
from pathlib import Path
began = time.perf_counter()
from metrics.monitoring import Spec, create, feed
from metrics.store import Workspace
spec = Spec(evaluators={"pii_leakage": {}, "looping_detection": {}}, rate=float(sys.argv[3]), window="1h")
state = feed(create(Workspace(sys.argv[1]), sys.argv[4], spec.complete()), Path(sys.argv[2]))
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
print(json.dumps({
    "read": state.read, "sampled": state.sampled, "bad": state.bad, "seconds": seconds, "cpu": time.process_time(),
    "mb": peak,
}))
"""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = (write(folder / f"{count}.jsonl", count) for count in (LINES // 10, LINES))
        found: dict[tuple[Path, str], dict[str, float]] = {}
        print(f"{'what':<34}{'MB':>6}{'sampled':>9}{'wall s':>8}{'CPU s':>7}{'lines a CPU s':>15}{'peak MB':>9}")
        for what, path, rate in (
            ("nothing sampled", large, "1e-12"), ("1 %", small, "0.01"), ("1 %", large, "0.01"),
        ):  # fmt: skip
            command = [sys.executable, "-c", PROBE, name, str(path), rate, f"m-{path.stem}-{rate}"]
            facts = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            size = path.stat().st_size / 1e6
            found[path, rate] = facts
            label = f"{facts['read']:,} lines, {what}"
            print(
                f"{label:<34}{size:>6.0f}{facts['sampled']:>9,}{facts['seconds']:>8.1f}{facts['cpu']:>7.1f}"
                f"{facts['read'] / facts['cpu']:>15,.0f}{facts['mb']:>9.0f}"
            )
    title = f"{LINES:,} JSON lines monitored at 1 %, two evaluators"
    few, many = found[small, "0.01"], found[large, "0.01"]
    rows = [
        Row(f"{title}: processor time", many["cpu"], "s"),
        Row(f"{title}: peak memory", many["mb"], "MB", most=MOST_MB),
        Row(f"{title}: growth of memory", many["mb"], "MB", few["mb"], "a tenth of the lines", most=MOST_GROWTH),
        Row(f"{title}: lines that could not be read", many["bad"], "", most=0),
    ]
    report(rows)


def write(path: Path, count: int) -> Path:
    """Write that many lines over ten days; one answer in ten contains an address."""
    rng = random.Random(7)
    pool = [" ".join(rng.choices(WORDS, k=rng.randint(30, 70))) for _ in range(500)]
    with path.open("w") as stream:
        for index in range(count):
            answer = rng.choice(pool) + " Write to jane.doe@acme-corp.org." * (rng.random() < 0.1)
            record = {
                "id": f"req-{index:08d}", "timestamp": 1_763_700_000 + index * 864_000 // count, "user": index % 977,
                "question": rng.choice(pool)[:60], "answer": answer,
            }  # fmt: skip
            stream.write(json.dumps(record) + "\n")
    return path


if __name__ == "__main__":
    main()
