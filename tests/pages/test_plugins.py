"""Evaluate, and the pages of a run, with the evaluators of a project file's plugins."""

from pathlib import Path

import pytest
import streamlit as st

from metrics.core import registry
from metrics.core.plugins import load_reference
from metrics.core.registry import add_plugin
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.library.plugin_scenes import write_plugin
from tests.pages.reading import give, press, words
from tests.pages.test_evaluate import OUTPUTS, SUITE, offer

PAGES = ("leaderboard", "cases", "problems", "report", "runs", "compare", "case")


@pytest.fixture
def project_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_plugin(tmp_path / "evals.py")
    text = 'plugins = ["evals.py:brevity", "gone.py:x"]\n'
    (tmp_path / "assay.toml").write_text(text, encoding="utf-8")
    assert st.get_option("server.address")  # read from this folder, before another is the current one
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_ALLOW_PLUGINS", "1")
    return tmp_path


def test_the_page_runs_no_plugin_of_a_folder_that_is_not_allowed(project_folder, workspace, open_page, monkeypatch):
    monkeypatch.delenv("ASSAY_ALLOW_PLUGINS")
    (project_folder / "evals.py").write_text("import pathlib; pathlib.Path(__file__).with_name('RAN').touch()")
    page = open_page("evaluate")
    give(page, 0, "suite.csv", SUITE)
    give(page, 0, "outputs.csv", OUTPUTS)
    assert f"python -m metrics plugins allow {project_folder}" in words(page)
    assert not (project_folder / "RAN").exists()


def test_evaluate_offers_the_plugins_of_the_project_file(project_folder, workspace, open_page, started):
    page = open_page("evaluate")
    give(page, 0, "suite.csv", SUITE)
    give(page, 0, "outputs.csv", OUTPUTS)
    assert "gone.py:x cannot be loaded" in words(page)
    offer(page, "brevity").check().run()  # type: ignore[attr-defined]
    press(page, "Start")
    assert not page.exception
    (run,) = started
    plugins = {entry.id: entry.plugin["reference"] for entry in run.spec.evaluators if entry.plugin is not None}
    assert plugins == {"brevity": "evals.py:brevity"}


@pytest.mark.parametrize("name", PAGES)
def test_a_run_whose_plugin_is_missing_has_its_pages(name, tmp_path, workspace, open_page):
    write_plugin(tmp_path / "evals.py")
    add_plugin(load_reference("evals.py:brevity", tmp_path))
    run = finished(Workspace(workspace), text_suite(), text_outputs(), "rouge", "brevity")
    registry._added.clear()
    open_page(name, run=run.id, evaluator="brevity", metric="words_over")
