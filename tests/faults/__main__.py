"""`python -m tests.faults`: every fault at every point of every operation; writes docs/maintainers/faults.json.

With names of operations only those are tried, and nothing is written. $JOBS processes work at once, by default one per
core.
"""

import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context

from tests.conftest import PROJECT
from tests.faults.operations import OPERATIONS
from tests.faults.trials import Bad, rows_of

FILE = PROJECT / "docs" / "maintainers" / "faults.json"
RESULT = "told in one line; the same again ends in the same bytes"


def main(names: Sequence[str]) -> int:
    """Try everything, print a line for each row, and return the exit code."""
    chosen = [one.name for one in OPERATIONS if not names or one.name in names]
    rows, bad = [], 0
    with ProcessPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1), get_context("spawn")) as pool:
        for future in [pool.submit(rows_of, name) for name in chosen]:
            try:
                for row in future.result():
                    print(
                        f"{row.operation}: {row.fault}: {row.points} points, {row.old} old, {row.new} new", flush=True
                    )
                    rows.append(asdict(row) | {"result": RESULT})
            except Bad as failure:
                print(failure, file=sys.stderr, flush=True)
                bad += 1
    if not names and not bad:
        FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
