"""Runs sealed by earlier versions: every later version reads them, and they say what they said."""

import json
import shutil
from pathlib import Path

import pytest

from metrics.analysis import cases, example, leaderboard, problems
from metrics.reports import render
from metrics.reports.renderers.export_tables import table
from metrics.store import Workspace
from metrics.store.export_formats import write

VERSIONS = sorted(path for path in Path(__file__).parent.glob("v*") if path.is_dir())


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(request.param, tmp_path / "golden"))


def test_there_is_one_for_the_present_schema() -> None:
    from metrics.core.schema import SCHEMA_VERSION

    assert f"v{SCHEMA_VERSION}" in [path.name for path in VERSIONS]


def test_the_numbers_are_those_of_the_day(golden: Path) -> None:
    said = json.loads((golden / "aggregates.json").read_text())
    runs = Workspace(golden).runs()
    assert sorted(said) == sorted(run.name for run in runs)
    for run in runs:
        run.verify()
        now = json.loads(write(table(run, "aggregates"), "json"))
        # later versions may tell more of a row, but not something else
        assert [row | then for row, then in zip(now, said[run.name], strict=True)] == now


def test_every_view_reads_it(golden: Path) -> None:
    for run in Workspace(golden).runs():
        board = leaderboard(run)
        assert board.cells
        column = board.columns[0]
        page = cases(run, column.evaluator, column.metric)
        assert page.total
        assert len(example(run, page.rows["case_id"].iloc[0]).outputs)
        assert len(problems(run)) >= 0
        assert render(run, "pdf").startswith(b"%PDF")
        assert len(run.scores) or run.match_names()
