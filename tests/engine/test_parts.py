"""The results of units: on disk and on their way, long or empty."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from metrics.core.schema import SCORES
from metrics.engine.parts import LONG, Parts, UnitResult
from metrics.engine.plan import Unit

UNIT = Unit("u", "e", "m", 0, 1)


def table(rows: int) -> pa.Table:
    return pa.table({"label": [str(row) for row in range(rows)], "count": range(rows)})


@pytest.mark.parametrize("rows", [0, 1, 300_000], ids=["empty", "one row", "several row groups"])
def test_a_stored_table_is_read_whole(rows: int, tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.write("u", UnitResult({"curves/e": table(rows), "scores": SCORES.empty_table()}, 2, 0.5))
    pieces = list(parts.read([UNIT], "curves/e"))
    assert pa.concat_tables(pieces).equals(table(rows))
    assert len(pieces) == max(1, -(-rows // 131_072))
    assert list(parts.read([UNIT], "matches/e")) == []
    assert parts.failed("u") == 2


@pytest.mark.parametrize("rows", [0, 3, 2_000_000])
def test_a_result_is_the_same_after_its_way_to_another_process(rows: int) -> None:
    made = UnitResult({"scores": table(rows)}, 1, 0.25)
    packed = pickle.dumps(made)
    assert (table(rows).nbytes > LONG) == (rows == 2_000_000) == (len(packed) > 2**20)
    found = pickle.loads(packed)
    assert found.tables["scores"].equals(table(rows))
    assert (found.failed, found.seconds) == (1, 0.25)
