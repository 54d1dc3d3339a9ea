"""The studio on a workspace at a URL: its runs are listed and opened through the local copy."""

import shutil
from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from metrics.store.remote import local_copy
from tests.pages.conftest import Open


@pytest.fixture
def remote(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A URL with the run Animals, which the pages look at."""
    url = f"file://{tmp_path}/remote"
    Workspace().push(run, url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_WORKSPACE", url)
    monkeypatch.setattr(local_copy, "FRESH", 0.0)
    return url


def test_runs_are_listed_and_opened(remote: str, run: Run, open_page: Open) -> None:
    page = open_page("runs")
    assert [text.value for text in page.text][:3] == ["0 running · 0 stopped · 1 finished", "Animals", "✓ finished"]
    assert not list(Workspace().path.rglob("*.parquet"))  # a list needs no table
    page = open_page("leaderboard", run=run.id)
    assert Workspace().run(run.id).table_path("aggregates") is not None


def test_a_place_that_cannot_be_listed_is_told_beside_the_runs_that_are_known(remote, run, tmp_path, open_page):
    open_page("runs")
    shutil.rmtree(tmp_path / "remote")
    (tmp_path / "remote").write_text("")
    page = open_page("runs")
    texts = [text.value for text in page.text]
    assert "Animals" in texts
    assert f"✗ not listed · {remote}" in texts
    assert any(code.value.startswith("The list of runs is not up to date.") for code in page.code)
    assert f"delete-{remote}" not in [button.key for button in page.button]
