"""Test the tests: python -m tests.mutation [PACKAGE …] [--sample N] [--seed N] [--jobs N] [--keep]

Each mutant is the program with one small fault (`operators`); it is killed where a test fails, or takes far more
processor time. A random sample of the mutants of each package is tried, so that the share killed has an interval. With
--keep the figures go to docs/maintainers/mutation.json; those of other packages stay. Survivors are printed, to be
read: a fault that no test notices asks for a test, unless the program is the same with it; these are listed in
`equivalent` and count neither way.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.stats.intervals import wilson
from tests.mutation.equivalent import EQUIVALENT
from tests.mutation.operators import Mutant, mutants
from tests.mutation.session import Session

PROJECT = Path(__file__).parents[2]
FIGURES = PROJECT / "docs" / "maintainers" / "mutation.json"
METRICS = PROJECT / "metrics"
LEFT_OUT = ("warm_up.py",)  # compiles loops by calling them with any numbers
PACKAGES = ("metrics/stats", "metrics/vision", "metrics/analysis", "metrics/store", "metrics/ingest")


def all_of(package: str) -> list[Mutant]:
    """Return every mutant of a package, or of one file."""
    files = sorted((PROJECT / package).rglob("*.py")) if (PROJECT / package).is_dir() else [PROJECT / package]
    return [mutant for file in files if file.name not in LEFT_OUT for mutant in mutants(file)]


def sample_of(package: str, size: int, seed: int) -> list[Mutant]:
    """Return a random sample of a package's mutants in random order."""
    found = all_of(package)
    return random.Random(seed).sample(found, min(size, len(found)))


def tests_of(package: str) -> str:
    """Return the folder that mirrors a package, or a file's room."""
    folder = PROJECT / package.replace("metrics", "tests", 1)
    while not folder.is_dir():
        folder = folder.parent
    return str(folder)


def keep(row: dict[str, str | int | float], file: Path = FIGURES) -> None:
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    kept = {one["package"]: one for one in rows} | {row["package"]: row}
    lines = ",\n".join(json.dumps(kept[name]) for name in sorted(kept))
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def tested(package: str, sample: list[Mutant], jobs: int) -> dict[str, str | int | float]:
    """Test a sample of a package's mutants and return its row; equivalent mutants count neither way."""
    session = Session(sample, PROJECT / package, jobs)
    code = pytest.main(["-s", "-m", "not browser", tests_of(package)], plugins=[session])
    if code != pytest.ExitCode.OK:
        raise SystemExit(code)
    names = [(str(one.file.relative_to(METRICS)), one.function, one.change) for one in session.survivors]
    equivalent = sum(name in EQUIVALENT for name in names)
    count, killed = len(sample) - equivalent, len(sample) - len(session.survivors)
    low, high = wilson(killed, count)
    bounds = {"low": round(low, 3), "high": round(high, 3)}
    return {"package": package, "mutants": count, "killed": killed, **bounds, "equivalent": equivalent}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    if len(given.packages) > 1:  # each in a process of its own: one session of pytest imports and collects
        options = [f"--sample={given.sample}", f"--seed={given.seed}", f"--jobs={given.jobs}"]
        options += ["--keep"] * given.keep
        codes = [
            subprocess.run([sys.executable, "-m", "tests.mutation", package, *options], cwd=PROJECT, check=False)
            for package in given.packages
        ]
        raise SystemExit(max(done.returncode for done in codes))
    (package,) = given.packages
    row = tested(package, sample_of(package, given.sample, given.seed), given.jobs)
    if given.keep:
        keep(row)
    print("package", "mutants", "killed", "share", "95 % interval", "equivalent", sep="\t")
    share = f"{row['killed'] / row['mutants']:.1%}"
    interval = f"{row['low']:.1%} – {row['high']:.1%}"
    print(package, row["mutants"], row["killed"], share, interval, row["equivalent"], sep="\t")


if __name__ == "__main__":
    main()
