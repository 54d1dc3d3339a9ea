"""Faults of the disk at some points of operations, small ones more often than large ones; see tests.faults.trials.

`make test-long` tries every point of all of them and writes docs/maintainers/faults.json.
"""

from pathlib import Path

import pytest

from tests.faults.disk import FAULTS, FULL, LOST
from tests.faults.operations import OPERATIONS
from tests.faults.trials import Bench

SMALL = (
    "give a label", "name a run", "delete a run", "restore a run", "set thresholds", "log rows",
    "save a suite with images", "ask a target",
)  # fmt: skip
LARGE = {"evaluate text": 29, "evaluate with a judge": 31, "pull a run": 23, "import an archive": 29}
STEPS = dict.fromkeys(SMALL, 3) | LARGE  # every so many points


@pytest.mark.parametrize("name", STEPS)
def test_a_fault_leaves_the_old_or_the_new(name: str, tmp_path: Path) -> None:
    (operation,) = (one for one in OPERATIONS if one.name == name)
    bench = Bench(operation, tmp_path)
    rows = [bench.row(fault, STEPS[name]) for fault in (FAULTS if name in SMALL else (FULL, LOST))]
    assert all(row.points == row.old + row.new for row in rows)
    assert any(row.points for row in rows)  # what only moves a folder writes nothing that could be cut short
    assert bench.power(STEPS[name]).new  # what is reported as done outlives a power cut
