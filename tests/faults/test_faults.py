"""Faults of the disk at every point of small operations, and at some points of large ones; see tests.faults.trials.

`make test-long` tries every point of all of them and writes docs/faults.json.
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
LARGE = {
    "evaluate text": 17,
    "evaluate with a judge": 19,
    "pull a run": 13,
    "import an archive": 17,
}  # every so many points
BY_NAME = {operation.name: operation for operation in OPERATIONS}


@pytest.mark.parametrize("name", SMALL)
def test_every_fault_at_every_point_leaves_the_old_or_the_new(name: str, tmp_path: Path) -> None:
    bench = Bench(BY_NAME[name], tmp_path)
    for fault in FAULTS:
        row = bench.row(fault)
        assert row.points == bench.counted.points(fault) == row.old + row.new
    assert bench.power().new  # what is reported as done outlives a power cut


@pytest.mark.parametrize("name", LARGE)
def test_faults_here_and_there_leave_the_old_or_the_new(name: str, tmp_path: Path) -> None:
    bench = Bench(BY_NAME[name], tmp_path)
    for fault in (FULL, LOST):
        assert bench.row(fault, LARGE[name]).points
    assert bench.power(25).points
