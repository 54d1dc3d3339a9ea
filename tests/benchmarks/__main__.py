"""Run benchmarks and keep their figures: python -m tests.benchmarks [NAME …] [--peers PYTHON]

Each runs in a process of its own; one that fails is named and the others still run. Figures go to
docs/maintainers/benchmarks.json, from which `make docs` writes the tables of README and docs/maintainers/benchmarks.md;
those of other benchmarks stay. PYTHON is an interpreter that has the peers of coco, lvis, judge, classes and calls,
which are not among the requirements; without them the rows beside these peers stay as they are. Without names, all
below run: an hour.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from metrics import __version__
from tests.benchmarks.table import FIGURES, HANDED_OVER, machine, merge

# Those with rows for the table, in its order; the others are run by their own commands.
BENCHMARKS = (
    "coco", "overlap", "lvis", "keypoints", "panoptic", "objects", "text_scores", "classes", "calls", "judge", "rules",
    "loops", "startup", "clicks", "board", "report", "ingest", "cluster", "scale", "million", "overhead",
    "detection_scale",
)  # fmt: skip
BESIDE_PEERS = ("coco", "lvis", "judge", "classes", "calls")


def command(name: str, peers: str | None) -> list[str]:
    given = ["--peers", peers] if peers and name in BESIDE_PEERS else []
    return [sys.executable, "-m", f"tests.benchmarks.bench_{name}", *given]


def run(names: Sequence[str], command: Callable[[str], list[str]], file: Path = FIGURES) -> list[str]:
    """Run benchmarks one after another, keep their figures, return a line for each that failed or missed a target."""
    measured = {"assay": __version__, "machine": machine(), "date": datetime.date.today().isoformat()}
    wrong = []
    for name in names:
        print(f"\n=== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            left = Path(folder) / "figures.json"
            code = subprocess.run(command(name), env=os.environ | {HANDED_OVER: str(left)}, check=False).returncode
            if left.exists():
                merge(file, BENCHMARKS, name, json.loads(left.read_text(encoding="utf-8")), measured)
            if code:
                wrong.append(f"{name}: {'missed a target' if left.exists() else f'failed with exit status {code}'}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--peers", metavar="PYTHON")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    wrong = run(options.names or BENCHMARKS, lambda name: command(name, options.peers))
    print("\n" + ("\n".join(wrong) or "every target is met"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
