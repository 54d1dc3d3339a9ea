"""Fuzz readers, replies and files: `python -m tests.fuzz [NAME …] --minutes 5`.

The minutes are shared by the targets. Each runs in a process of its own with bounded memory and time for an example;
what breaks it is kept, made smaller, in tests/fuzz/corpus/NAME, from which the tests replay it. Exit code 1 where
something broke.
"""

import argparse
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.fuzz.child import EXAMPLE_SECONDS, LARGEST_KEPT
from tests.fuzz.table import TARGETS
from tests.fuzz.target import CORPUS, PROJECT, Input

ENDED = {signal.SIGPROF: f"more than {EXAMPLE_SECONDS} s of processor time", signal.SIGALRM: "it waits for something"}


class Outcome(NamedTuple):
    """How many examples a target took, and where it broke."""

    examples: int
    crashes: tuple[str, ...]


def fuzzed(name: str, seconds: float, seed: str, log: Path | None) -> Outcome:
    """Fuzz one target, in a new process each time one ends before its time."""
    examples, crashes, ends = 0, dict[str, None](), time.monotonic() + seconds
    attempt = 0
    while (left := ends - time.monotonic()) > 0 and attempt < 50:
        attempt += 1
        with TemporaryDirectory(prefix="assay-fuzz-") as folder:
            command = [sys.executable, "-m", "tests.fuzz.child", name, f"{seed}-{attempt}", folder, str(left)]
            done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, errors="replace")
            count = Path(folder) / "count"
            examples += int(count.read_text()) if count.exists() else 0
            crashes |= {line: None for line in done.stdout.splitlines() if line.startswith("crash ")}
            if log is not None:
                (log / f"{name}-{attempt}.txt").write_text(done.stdout + done.stderr)
            if done.returncode == 0:
                break
            if not (Path(folder) / "current").exists():
                crashes[f"crash before the first example: {done.stderr[-300:]}"] = None
                break
            crashes[ended(name, Path(folder) / "current", -done.returncode, done.stderr)] = None
    return Outcome(examples, tuple(crashes))


def ended(name: str, current: Path, number: int, said: str) -> str:
    """Keep the input that ended a process, and return what is told about it."""
    title, _, data = current.read_bytes().partition(b"\n")
    given = Input(title.decode(), data)
    why = ENDED.get(signal.Signals(number), signal.Signals(number).name) if number > 0 else "the process ended"
    lines = [line.strip() for line in said.splitlines() if f'File "{PROJECT}/metrics' in line]
    where = lines[0].replace(f"{PROJECT}/", "") if lines else ""
    if len(data) <= LARGEST_KEPT:
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        (CORPUS / name / given.file_name).write_bytes(data)
    return f"crash {why} {where} ({given.file_name}, {len(data):,} bytes)"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"targets; default all: {', '.join(TARGETS)}")
    parser.add_argument("--minutes", type=float, default=5.0, help="minutes of all targets together (default 5)")
    parser.add_argument("--jobs", type=int, default=1, help="targets at once (default 1)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of the random changes (default: a new one)")
    parser.add_argument("--log", type=Path, help="a folder for what each process said")
    given = parser.parse_args()
    if unknown := set(given.names) - TARGETS.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    names = given.names or list(TARGETS)
    share = given.minutes * 60 / len(names) * given.jobs
    if given.log:
        given.log.mkdir(parents=True, exist_ok=True)
    print(f"seed {given.seed}, {len(names)} targets, {share:.0f} s each", flush=True)
    total, broken = 0, 0
    with ThreadPoolExecutor(given.jobs) as threads:
        outcomes = threads.map(lambda name: fuzzed(name, share, given.seed, given.log), names)
        for name, outcome in zip(names, outcomes, strict=True):
            print(f"{name:20} {outcome.examples:9,} examples {len(outcome.crashes):4} crashes", flush=True)
            for crash in outcome.crashes:
                print(f"    {crash}", flush=True)
            total += outcome.examples
            broken += len(outcome.crashes)
    print(f"{'together':20} {total:9,} examples {broken:4} crashes")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
