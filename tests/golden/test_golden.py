"""Runs sealed by earlier versions: every later version reads them, and they say what they said."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from metrics import analysis
from metrics.analysis import cases, compare, example, leaderboard
from metrics.core.rounding import round_tree
from metrics.core.schema import TABLES
from metrics.reports import render
from metrics.reports.exchange.exporters import WHATS
from metrics.reports.renderers.export_tables import table
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from metrics.store.table_files import write
from tests.golden.make import FOLDER, WRITERS


@pytest.fixture(scope="module", params=WRITERS)
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of each workspace, which the tests only read."""
    return Path(shutil.copytree(FOLDER / request.param, tmp_path_factory.mktemp("golden") / request.param))


def test_the_newest_has_the_columns_of_today() -> None:
    *_, newest = WRITERS
    for run in Workspace(FOLDER / newest).runs():
        for name, schema in TABLES.items():
            path = run.table_path(name)
            assert path is None or pq.read_schema(path).names == schema.names, "see tests/golden/make.py"


def test_the_numbers_are_those_of_the_day(golden: Path) -> None:
    said = round_tree(json.loads((golden / "aggregates.json").read_text()))
    runs = Workspace(golden).runs()
    assert sorted(said) == sorted(run.name for run in runs)
    for run in runs:
        verify(run)
        now = json.loads(write(table(run, "aggregates"), "json"))
        # later versions may tell more of a row, but not something else
        assert [row | then for row, then in zip(now, said[run.name], strict=True)] == now


def test_every_table_has_the_columns_of_today(golden: Path) -> None:
    for run in Workspace(golden).runs():
        for name, schema in TABLES.items():
            queried = run.query(f"SELECT * FROM {name}")
            assert list(queried) == schema.names
            assert run.stored_table(name).schema.equals(schema)
            assert len(queried) == len(run.table(name))
        run.query("SELECT model FROM aggregates WHERE if_worst > 0 OR if_best IS NULL")


def test_every_view_reads_it(golden: Path) -> None:
    for run in Workspace(golden).runs():
        board = leaderboard(run)
        assert board.cells
        column = board.columns[0]
        page = cases(run, column.evaluator, column.metric)
        assert page.total
        assert len(example(run, page.rows["case_id"].iloc[0]).outputs)
        if len(run.models) > 1:
            assert compare(run, *run.models[:2]).rows
        assert analysis.trend([run], column.key).stops
        assert len(run.scores) or run.match_names()
        assert set(analysis.judging(run)) <= set(analysis.judged_evaluators(run))


def test_every_table_is_exported_and_the_run_reported(golden: Path) -> None:
    for run in Workspace(golden).runs():
        for what in WHATS:
            assert write(table(run, what), "csv")
        assert render(run, "html")
        assert golden.name != WRITERS[0] or render(run, "pdf")


@pytest.mark.parametrize("writer", ["v1-bounds", "v1-typed"])
def test_a_judged_run_shows_what_its_judge_said(writer: str) -> None:
    run = _named(writer, "golden judge")
    case = run.scores["case_id"].iloc[0]
    assert set(analysis.judgements(run, case)["case_id"]) == {case}
    assert len(analysis.judging(run)) > 20
    assert set(run.scores["status"]) == {"ok", "not_applicable"}


def test_a_perturbed_run_has_its_flip() -> None:
    assert len(analysis.flips(_named("v1-bounds", "Ferries"))) == 1


def _named(writer: str, name: str) -> Run:
    [run] = [run for run in Workspace(FOLDER / writer).runs() if run.name == name]
    return run
