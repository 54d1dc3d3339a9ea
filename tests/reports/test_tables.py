"""Exports: flat rows, exact columns, formats that read back, no formula for a spreadsheet."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import RunError
from metrics.reports import render
from metrics.reports.archives.write import archive
from metrics.reports.bundles.bundle_files import write_bundle
from metrics.reports.exchange.exporters import WHATS
from metrics.reports.renderers.export_tables import AGGREGATES, SCORES, table
from metrics.store import Run
from metrics.store.table_files import EXPORT_FORMATS, write
from tests.reports.runs import EVIL, by_hand


@pytest.fixture(scope="module")
def run(module_workspace: Path) -> Run:
    return by_hand()


ARCHIVED = ("aggregates", "scores", "problems", "insights", "compliance")  # of a run without curves, judge and variants


def as_json(run: Run, what: str) -> list[dict[str, object]]:
    return json.loads(write(table(run, what), "json"))  # type: ignore[no-any-return, arg-type]


def as_csv(frame: pd.DataFrame) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(write(frame, "csv").decode(), newline="")))


def test_aggregates_are_flat_with_their_own_columns(run: Run) -> None:
    rows = as_json(run, "aggregates")
    assert list(rows[0])[: len(AGGREGATES)] == AGGREGATES
    assert rows[0] | {"label": EVIL, "value": 0.5, "low": 0.25, "high": 0.75, "n": 4, "unscored": 1} == rows[0]
    assert [row["iou"] for row in rows] == [0.5, None, None]
    assert [row["max_dets"] for row in rows] == [None, 100, None]
    assert ([row["area"] for row in rows], [row["run"] for row in rows]) == ([None, "all", None], [None, 2, None])
    assert isinstance(rows[1]["max_dets"], int)
    assert (rows[1]["value"], rows[1]["reason"], rows[1]["slice"]) == (None, "no objects", "tag=@x")
    assert "columns" not in rows[0]


def test_scores_have_exactly_the_documented_columns(run: Run) -> None:
    rows = as_json(run, "scores")
    assert [list(row) for row in rows] == [SCORES] * 3
    assert [row["case_id"] for row in rows] == ["007", "NA", 'comma, "quote"\nnew line']
    assert ([row["value"] for row in rows], rows[2]["model"]) == ([0.5, None, 1.0], "-b\ufffd")


def test_curves_of_several_evaluators_share_a_table(run: Run) -> None:
    rows = as_json(run, "curves")
    assert list(rows[0])[:3] == ["model", "run", "evaluator"]
    assert [row["evaluator"] for row in rows] == ["pr", "pr", "confusion", "confusion"]
    assert [row["tp"] for row in rows] == [3, None, None, None]
    assert [row["threshold"] for row in rows] == [0.5, None, None, None]
    assert [row["count"] for row in rows] == [None, None, 7, 8]
    assert [row["examples"] for row in rows] == [None, None, ["c1", "=c2"], None]


def test_csv_reads_back(run: Run) -> None:
    rows = as_csv(table(run, "scores"))
    assert [row["case_id"] for row in rows] == ["007", "NA", 'comma, "quote"\nnew line']
    assert [row["value"] for row in rows] == ["0.5", "", "1.0"]
    assert ([row["model"] for row in rows], rows[1]["reason"]) == (["a", "a", "'-b\ufffd"], "'+cmd|' /C calc'!A0")
    assert as_csv(table(run, "curves"))[2]["examples"] == '["c1", "=c2"]'


def test_parquet_keeps_types(run: Run) -> None:
    frame = pd.read_parquet(io.BytesIO(write(table(run, "aggregates"), "parquet")))
    assert frame["label"].tolist()[0] == EVIL
    assert pd.api.types.is_integer_dtype(frame["n"].dtype)
    assert frame["value"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("first", [*"=+-@\t\r\n＝＋－＠"])
@pytest.mark.attack(
    "model", "an answer that a spreadsheet would run as a formula", "cells of CSV files are neutralised"
)
def test_formulas_are_neutralised(first: str) -> None:
    frame = pd.DataFrame({first + "head": [first + "1+1", "a" + first, None], "number": [-1.5, 2.0, None]})
    rows = list(csv.reader(io.StringIO(write(frame, "csv").decode(), newline="")))
    assert rows[0] == ["'" + first + "head", "number"]
    assert [row[0] for row in rows[1:]] == ["'" + first + "1+1", "a" + first, ""]
    assert [row[1] for row in rows[1:]] == ["-1.5", "2.0", ""]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=1, max_size=5))
def test_no_text_begins_as_a_formula(texts: list[str]) -> None:
    for row in as_csv(pd.DataFrame({"text": texts, "other": "x"})):
        assert not row["text"].startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_every_table_in_every_format(marked_run: Run, what: str, format: str) -> None:
    content = write(table(marked_run, what), format)  # type: ignore[arg-type]
    assert len(content) > 1
    assert write(table(marked_run, what), format) == content  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_archive_holds_every_table_with_rows(marked_run: Run, format: str) -> None:
    content = render(marked_run, format)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [f"{name}.{format}" for name in ARCHIVED]
    assert render(marked_run, format) == content  # type: ignore[arg-type]


def test_an_unfinished_run_has_no_tables_and_no_files(workspace: Path, tmp_path: Path) -> None:
    run = by_hand()
    (run.folder / "manifest.json").unlink()
    for what in {*WHATS} - {"curves", "matches"}:
        with pytest.raises(RunError, match="its tables are there once it is finished"):
            table(run, what)  # type: ignore[arg-type]
    for door in (lambda: render(run, "pdf"), lambda: archive(run), lambda: write_bundle(run, tmp_path / "bundle")):
        with pytest.raises(RunError, match="once it is finished"):
            door()


def test_unknown_names_are_refused(run: Run) -> None:
    with pytest.raises(ValueError, match="a run has no table 'scorez'; it has aggregates, scores"):
        table(run, "scorez")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no format 'xlsx'; there are json, csv, parquet"):
        write(table(run, "scores"), "xlsx")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no report format 'docx'; there are pdf, html"):
        render(run, "docx")
