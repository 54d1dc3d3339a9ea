"""The values per case of an evaluator: the same however the scores are cut into row groups, and little is read."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.analysis.leaderboard.case_sums import TEXTS, case_sums
from metrics.store.run_tables import OpenFile, TableFile

CASES, MODELS, METRICS = 5, ("a", "b"), ("one", "two", "unscored")


def scores() -> pd.DataFrame:
    """Return two evaluators' scores, sorted as a run's: `first` has a metric without any value and one without rows."""
    rng = np.random.default_rng(0)
    rows = [
        {"evaluator": evaluator, "model": model, "position": position, "run": run, "metric": metric,
         "value": None if metric == "unscored" or position == 3 else rng.random()}
        for evaluator in ("first", "second")
        for model in MODELS
        for position in range(CASES)
        for run in (1, 2)
        for metric in METRICS
    ]  # fmt: skip
    return pd.DataFrame(rows)


def stored(folder: Path, rows: pd.DataFrame, group: int) -> list[OpenFile]:
    schema = pa.schema([("position", pa.int32()), ("value", pa.float64()), *((name, pa.string()) for name in TEXTS)])
    pq.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False), folder / "t.parquet", row_group_size=group)
    return [(pq.ParquetFile(folder / "t.parquet", read_dictionary=TEXTS), TableFile(folder / "t.parquet"))]


@pytest.mark.parametrize("group", [1, 7, 30, 1000], ids=lambda size: f"{size} rows a group")
@pytest.mark.parametrize("models", [MODELS, ("b",), ("b", "nobody")], ids="+".join)
def test_sums_are_those_of_the_rows(tmp_path: Path, group: int, models: Sequence[str]) -> None:
    rows = scores()
    names = ["two", "unscored", "no such"]
    found = case_sums(stored(tmp_path, rows, group), "second", names, models, CASES)
    own = rows[rows["evaluator"] == "second"]
    for place, metric in enumerate(names):
        for column, model in enumerate(models):
            values = own[(own["metric"] == metric) & (own["model"] == model)].groupby("position")["value"]
            assert found.sums[place, :, column].tolist() == values.sum().reindex(range(CASES), fill_value=0).tolist()
            assert (
                found.counts[place, :, column].tolist() == values.count().reindex(range(CASES), fill_value=0).tolist()
            )
    assert found.stored.tolist() == [True, True, False]
