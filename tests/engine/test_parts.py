"""The results of units: on disk and on their way, long or empty."""

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.core.schema import SCORES
from metrics.engine.parts import Parts, UnitResult
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


@pytest.mark.parametrize("rows", [0, 3, 300_000], ids=["empty", "short", "several row groups"])
def test_a_result_from_another_process_is_stored_in_the_bytes_of_one_made_here(rows: int, tmp_path: Path) -> None:
    made = UnitResult({"scores": table(rows), "curves/e": table(1)}, 1, 0.25)
    found = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made))))
    assert (found.failed, found.seconds) == (1, 0.25)
    for name, result in (("here", made), ("there", found)):
        Parts(tmp_path / name).write("u", result)
    here, there = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("here", "there")
    )
    assert here == there
    assert len(here) == 3
    for name, rows_there in (("scores", rows), ("curves/e", 1)):
        stored = pq.read_table(tmp_path / "there" / "parts" / "u" / (name.replace("/", ".") + ".parquet"))
        assert stored.equals(table(rows_there))
