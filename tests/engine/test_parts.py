"""The results of units: on disk and on their way, long or empty."""

import pickle

import pyarrow as pa
import pytest

from metrics.core.schema import SCORES
from metrics.engine.parts import Parts, UnitResult
from metrics.engine.plan import Unit

UNIT = Unit("u", "e", "m", 0, 1)


def table(rows: int) -> pa.Table:
    return pa.table({"label": [str(row) for row in range(rows)], "count": range(rows)})


@pytest.mark.parametrize("rows", [0, 1, 300_000], ids=["empty", "one row", "several batches"])
def test_a_stored_table_is_read_whole(rows, tmp_path):
    parts = Parts(tmp_path)
    parts.write("u", UnitResult({"curves/e": table(rows), "scores": SCORES.empty_table()}, 2, 0.5))
    pieces = list(parts.read([UNIT], "curves/e"))
    assert pa.concat_tables(pieces).equals(table(rows))
    assert (len(pieces), list(parts.read([UNIT], "matches/e"))) == (max(1, -(-rows // 131_072)), [])
    assert parts.failed("u") == 2


@pytest.mark.parametrize("rows", [0, 3, 300_000], ids=["empty", "short", "several batches"])
def test_a_result_from_another_process_is_stored_in_the_bytes_of_one_made_here(rows, tmp_path):
    made = UnitResult({"matches/e": table(rows), "curves/e": table(1)}, 1, 0.25)
    found = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made))))
    assert (found.failed, found.seconds) == (1, 0.25)
    for name, result in (("here", made), ("there", found)):
        Parts(tmp_path / name).write("u", result)
    here, there = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.unit")}
        for name in ("here", "there")
    )
    assert (here, len(here)) == (there, 1)
    for name, rows_there in (("matches/e", rows), ("curves/e", 1)):
        assert pa.concat_tables(Parts(tmp_path / "there").read([UNIT], name)).equals(table(rows_there))


def test_a_unit_that_is_gone(tmp_path):
    assert Parts(tmp_path).failed("u") is None
    assert Parts(tmp_path).stored([UNIT]) == []
    with pytest.raises(FileNotFoundError):
        list(Parts(tmp_path).read([UNIT], "scores"))
