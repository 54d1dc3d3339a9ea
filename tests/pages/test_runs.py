"""Runs: what is being computed, and what has been?"""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components import data
from components.data import uploaded_files
from metrics import engine
from metrics.store import Run, Workspace
from tests.pages.conftest import labels_outputs, labels_suite


@pytest.fixture
def queued(workspace: Path) -> Run:
    return engine.create(Workspace(), labels_suite(), labels_outputs(), ["classification"], name="Waiting")


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def test_finished_runs_lead_to_their_leaderboard(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("runs")
    assert not page.exception
    assert labels(page)[0] == "Open the leaderboard"
    assert page.dataframe[0].value["name"].tolist() == ["Animals"]
    assert page.text[0].value == "0 running · 0 stopped · 1 finished"


def test_a_run_under_way_shows_its_progress_and_can_be_cancelled(
    queued: Run, open_page: Callable[..., AppTest]
) -> None:
    page = open_page("runs", run=queued.id)
    assert not page.exception
    assert "Cancel" in labels(page)
    next(button for button in page.button if button.label == "Cancel").click().run()
    assert not page.exception
    assert queued.state == "cancelled"


def test_a_stopped_run_can_be_resumed(
    queued: Run, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.cancel(queued)
    resumed: list[str] = []
    monkeypatch.setattr("metrics.engine.resume", lambda run: resumed.append(run.id))
    page = open_page("runs")
    assert any(text.value.startswith("– cancelled · Waiting") for text in page.text)
    next(button for button in page.button if button.label == "Resume").click().run()
    assert not page.exception
    assert resumed == [queued.id]


def test_a_refusal_is_told(queued: Run, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    from metrics.core.errors import RunBusy

    def busy(run: Run) -> None:
        raise RunBusy(f"run {run.id} is being worked on already")

    engine.cancel(queued)
    monkeypatch.setattr("metrics.engine.resume", busy)
    page = open_page("runs")
    next(button for button in page.button if button.label == "Resume").click().run()
    assert page.error[0].value == f"run {queued.id} is being worked on already"


def test_no_run_teaches(workspace: Path, open_page: Callable[..., AppTest]) -> None:
    page = open_page("runs")
    assert not page.exception
    assert page.subheader[0].value == "No run yet"
    assert labels(page) == ["Evaluate a suite", "Open"]


def test_an_archive_opens_in_another_workspace(
    run: Run, tmp_path: Path, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = data.archive_run(run.id)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "other"))
    damaged = packed[:5000] + bytes([packed[5000] ^ 1]) + packed[5001:]
    for content, said in (
        (damaged, "✗ The archive cannot be opened; nothing of it was kept."),
        (packed, "✓ Animals is in this workspace now."),
        (packed, "✓ Animals was in this workspace already."),
    ):
        token = uploaded_files.keep(io.BytesIO(content), "run.zip", uploaded_files.upload_folder())
        page = open_page("runs", archive=token)
        next(button for button in page.button if button.label == "Open").click().run()
        assert not page.exception
        assert said in [text.value for text in page.text]
    assert Workspace().run(run.id).manifest == run.manifest
