"""Tables in memory: every kind gives the same suite, values and types as they are."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from metrics.core.errors import InputError
from metrics.ingest import outputs_from_frame, suite_from_frame
from metrics.ingest.tables.native_types import plain_frame
from metrics.ingest.tables.values import text_of

ROWS: list[dict[str, Any]] = [
    {"case_id": "007", "question": "a?", "expected_answers": ["x", "y"], "level": 7, "share": 0.5, "ok": True},
    {"case_id": "NA", "question": "b?", "expected_answers": ["z"], "level": None, "share": None, "ok": None},
]


class OnlyStream:
    """What has nothing but the Arrow PyCapsule interface."""

    def __init__(self, table: pa.Table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


KINDS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "records": lambda rows: rows, "pandas": lambda rows: pd.DataFrame(rows, dtype=object), "polars": pl.DataFrame,
    "arrow table": pa.Table.from_pylist, "arrow batch": pa.RecordBatch.from_pylist,
    "arrow stream": lambda rows: OnlyStream(pa.Table.from_pylist(rows)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_suite(kind):
    cases = suite_from_frame(KINDS[kind](ROWS)).cases.to_pylist()
    assert [case["case_id"] for case in cases] == ["007", "NA"]
    assert [case["expected_answers"] for case in cases] == [["x", "y"], ["z"]]
    assert [case["metadata.level"] for case in cases] == ["7", None]
    assert [case["metadata.share"] for case in cases] == ["0.5", None]
    assert [case["metadata.ok"] for case in cases] == ["true", None]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_outputs(kind):
    rows = [{"case_id": name, "model": "m", "answer": name, "tokens": 7} for name in ("007", "NA")]
    outputs = outputs_from_frame(KINDS[kind](rows), suite=suite_from_frame(ROWS))
    assert outputs.outputs.select(["case_id", "answer", "tokens"]).to_pylist() == [
        {"case_id": "007", "answer": "007", "tokens": 7}, {"case_id": "NA", "answer": "NA", "tokens": 7},
    ]  # fmt: skip


def test_categories_of_polars_are_text():
    frame = pl.DataFrame(ROWS).with_columns(pl.lit("a").cast(pl.Categorical).alias("kind"))
    assert suite_from_frame(frame).cases["metadata.kind"].to_pylist() == ["a", "a"]


@pytest.mark.parametrize(("given", "found"), [
    pytest.param(7, "found a int; expected a data frame", id="a number"),
    pytest.param([1, 2], "found a list; expected a data frame", id="a list of numbers"),
    pytest.param(pl.DataFrame(ROWS).lazy(), r"a LazyFrame, which is not computed yet \(.collect\(\)", id="lazy"),
    pytest.param(pa.table({"case_id": [b"\xff"]}), "values that are not text", id="bytes"),
    pytest.param(pa.Table.from_arrays([["a"], ["b"]], ["id", "id"]), "2 columns named 'id'", id="twice"),
])  # fmt: skip
def test_what_is_no_table_of_texts_is_refused(given, found):
    with pytest.raises(InputError, match=found):
        suite_from_frame(given)


def feature(kind: str, *names: str) -> SimpleNamespace:
    """A feature of a Hugging Face Dataset, as far as it is read."""
    return SimpleNamespace(_type=kind, names=names)


def hf_dataset(features: dict[str, SimpleNamespace], table: pa.Table) -> SimpleNamespace:
    """The part of a Hugging Face Dataset that is read."""
    return SimpleNamespace(features=features, num_rows=3, with_format={"arrow": table}.__getitem__)


def test_pictures_of_a_data_set_are_refused_and_classes_are_names():
    given = hf_dataset(
        {"picture": feature("Image"), "sound": feature("Audio")}, pa.table({"picture": [b""], "sound": [b""]})
    )
    with pytest.raises(InputError, match=r"remove_columns\('picture'\)") as refused:
        suite_from_frame(given)
    assert [problem.column for problem in refused.value.problems] == ["picture", "sound"]
    table = pa.table({"id": ["1", "2", "3"], "question": ["a", "b", "c"], "label": [1, 0, -1]})
    plain = feature("Value")
    given = hf_dataset({"id": plain, "question": plain, "label": feature("ClassLabel", "cat", "dog")}, table)
    assert plain_frame(given, "suite")["label"].to_pylist() == ["dog", "cat", None]


@pytest.mark.parametrize("number", [-0.0, 0.5, 3.0, 1e-7, 2.0**53, 1e22, None], ids=str)
def test_a_number_is_the_same_text_in_every_kind(number):
    records = [{"question": "q", "expected_answer": "a", "level": value} for value in (number, 0.25)]
    frames = records, pd.DataFrame(records), pa.Table.from_pylist(records)
    found = {suite_from_frame(frame, task="text").cases["metadata.level"][0].as_py() for frame in frames}
    assert found == {text_of(number)}
