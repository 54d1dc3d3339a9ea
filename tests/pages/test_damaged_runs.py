"""Pages on damaged runs: what is damaged is said, no other number shown, and the others go on."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.data import run_reads
from metrics import engine
from metrics.monitoring import feed
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, one_thread, stopped, text_outputs, text_suite
from tests.monitoring.monitor_scenes import begun, line, write
from tests.pages.conftest import PROJECT, Look, Open, animals_run, labels_outputs, labels_suite
from tests.store.test_seal import flip


@pytest.fixture
def two(look_at_copy: Look) -> tuple[Run, Run]:
    """A whole run and a newer one, in a workspace that the test may damage."""
    newer = look_at_copy(two_runs)
    return next(run for run in Workspace().runs() if run.id != newer.id), newer


def two_runs(folder: Path) -> Run:
    animals_run(folder)
    return finished(Workspace(folder), labels_suite(), labels_outputs(), "classification", name="Newer")


def open_studio(page: str = "leaderboard", **params: str) -> AppTest:
    """A page as app.py runs it; AppTest by itself runs it alone."""
    lines = [
        "import runpy", "from components.widgets.page_error import guard_page", "with guard_page():",
        f"    runpy.run_path({str(PROJECT / 'pages' / f'{page}.py')!r})",
    ]  # fmt: skip
    app = AppTest.from_string("\n".join(lines), default_timeout=300)
    for key, value in params.items():
        app.query_params[key] = value
    return app.run()


def test_so_does_the_studio_itself(project: Path) -> None:
    assert "with guard_page():\n        navigation().run()" in (project / "app.py").read_text()


def shown(page: AppTest) -> str:
    return "\n".join([*(one.value for one in page.code), *(one.value for one in page.error)])


@pytest.mark.attack("workspace writer", "a table is changed under an open studio", "the page says so, without a number")
@pytest.mark.parametrize(
    ("table", "page"),
    [("aggregates", "leaderboard"), ("scores", "leaderboard"), ("scores", "cases"), ("scores", "report")],
)
def test_a_page_says_which_table_is_damaged(two: tuple[Run, Run], table: str, page: str) -> None:
    whole, broken = two
    flip(broken.folder / f"tables/{table}.parquet")
    app = open_studio(page, run=broken.id)
    assert not app.exception
    assert f"table {table} differs from its seal" in shown(app)
    assert app.subheader[-1].value == "✗ This run is damaged"
    assert not shown(open_studio(page, run=whole.id))


def test_evaluating_it_again_is_offered_and_begun(two: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken = two
    flip(broken.folder / "tables/aggregates.parquet")
    begun: list[list[str]] = []
    monkeypatch.setattr("metrics.engine.run_control.start_module", lambda arguments, log: begun.append(arguments))
    app = open_studio(run=broken.id)
    app.button(f"repair-{broken.id}").click().run()
    assert not app.exception
    assert begun == [["verify", broken.id, "--repair", "--workspace", str(broken.workspace.path), "--quiet"]]
    assert any(text.value.startswith("It is being evaluated again") for text in app.text)


@pytest.mark.parametrize("file", ["spec.json", "manifest.json"])
def test_a_run_that_cannot_be_opened_is_told_and_another_shown(two, open_page, file):
    whole, broken = two
    (broken.folder / file).write_text("{")
    page = open_page("leaderboard", run=broken.id)
    for drawn_again in (page, page.run()):
        assert f"{file} cannot be read" in drawn_again.error[0].value.replace("\\", "")
        assert drawn_again.session_state["last_run"] == whole.id
    runs = open_page("runs")
    assert runs.code[0].value.startswith(f"run {broken.id} is damaged: {file} cannot be read")
    keys = [button.key for button in runs.button]
    assert (f"repair-{broken.id}" in keys, f"delete-{broken.id}" in keys) == (file == "manifest.json", True)
    for name in ("leaderboard", "compare", "report"):
        assert not open_page(name).exception


@pytest.mark.parametrize("file", ["progress.json", "about.json", "thresholds.json", "reviews/views.json"])
def test_damage_beside_the_runs(two: tuple[Run, Run], open_page: Open, file: str) -> None:
    whole, newer = two
    path = newer.folder / file if file in ("progress.json", "about.json") else newer.workspace.path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("{")
    page = open_page("runs")
    assert {f"open-{one.id}" for one in (whole, newer)} <= {button.key for button in page.button}
    app = open_studio(run=newer.id)
    assert not app.exception
    assert (file in shown(app).replace("\\", "")) == (file == "thresholds.json"), "what cannot be left out is said"


@pytest.mark.attack("workspace writer", "a monitor's file is half a JSON", "its page names the file; others are shown")
@pytest.mark.parametrize("file", ["spec.json", "state.json"])
def test_a_damaged_monitor_hides_no_other(workspace: Path, open_page: Open, file: str) -> None:
    broken = begun(workspace, "broken")
    begun(workspace, "whole")
    (broken.folder / file).write_text('{"spec": {')
    page = open_page("monitor", monitor="whole")
    assert page.button_group(key="control-monitor").options == ["broken (✗ damaged)", "whole (○ not yet sure)"]
    app = open_studio("monitor", monitor="broken")
    assert not app.exception
    assert file in app.error[0].value.replace("\\", "")


@pytest.mark.attack("workspace writer", "a bit of a monitor is changed", "its page names the file, without a number")
@pytest.mark.parametrize("pattern", ["state.json", "spec.json", "samples-*.parquet", "scores-*.parquet"])
def test_a_page_says_which_file_of_a_monitor_is_damaged(workspace: Path, pattern: str) -> None:
    monitor = begun(workspace)
    feed(monitor, write(workspace / "log.jsonl", [line(place, place % 3 > 0) for place in range(30)]))
    assert open_studio("monitor", monitor=monitor.name).dataframe
    (path, *_) = monitor.folder.glob(pattern)
    flip(path)
    app = open_studio("monitor", monitor=monitor.name)
    assert not app.exception
    assert path.name in shown(app).replace("\\", "")
    assert not app.dataframe
    assert not [each.value for each in app.subheader if " pass" in each.value]


def test_a_run_that_ends_while_its_numbers_are_read_is_drawn_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"]), 1)
    read = run_reads.leaderboard

    def end_before_read(*given: Any, **named: Any) -> Any:
        if run.state != "finished":
            (run.folder / "cancel").unlink()
            engine.execute(run, one_thread)
        return read(*given, **named)

    monkeypatch.setattr(run_reads, "leaderboard", end_before_read)
    page = open_studio(run=run.id)
    assert run.state == "finished"
    assert not page.exception
    assert not shown(page)
    assert not [each.value for each in page.subheader if each.value.startswith("✗")]
