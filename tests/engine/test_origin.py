"""A run that was not made here computes when it is carried out again, and does more only with leave."""

import re
from pathlib import Path

import pytest

from metrics import engine
from metrics.cli.failures import BAD_INPUT
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.engine.repair import repair
from metrics.monitoring import feed
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import write_file
from metrics.store import Run, Workspace
from metrics.store.origin import check_origin, effects_of, foreign_effects, is_signed, sign_file
from tests.conftest import PROJECT
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.monitoring.monitor_scenes import begun, line, write
from tests.store.test_seal import flip

RUNS_CODE = r"came from elsewhere and runs what the models wrote \(code_execution\)"


@pytest.fixture
def planted(workspace: Path) -> Run:
    """An unfinished run that somebody put into the workspace, whose specification allows code."""
    made = engine.create(
        Workspace(), text_suite(), text_outputs(), ["code_execution"], {"code_execution": {"allow": True}}
    )
    (made.folder / "spec.origin").unlink()
    return made


def test_what_is_made_here_is_known_and_an_edited_one_is_not(workspace: Path) -> None:
    made = engine.create(Workspace(), text_suite(), text_outputs(), ["bleu"])
    spec = made.folder / "spec.json"
    assert is_signed(spec)
    spec.write_text(spec.read_text().replace('"seed": 0', '"seed": 1'))
    assert not is_signed(spec)
    (made.folder / "spec.origin").write_text("0" * 64)
    assert not is_signed(spec)


@pytest.mark.attack(
    "workspace writer",
    "a run whose specification allows code is put into the workspace, to be resumed, retried or repaired",
    "what was not made here is asked about again, whichever way it is carried out",
)
@pytest.mark.parametrize("carry_out", [
    pytest.param(engine.execute, id="execute"),
    pytest.param(engine.start, id="start"),
    pytest.param(lambda run: engine.repeat(run, Workspace()), id="repeat"),
    pytest.param(check_origin, id="check"),
])  # fmt: skip
def test_code_from_elsewhere_is_not_run(planted: Run, carry_out) -> None:
    with pytest.raises(InputError, match=RUNS_CODE):
        carry_out(planted)
    assert len(Workspace().runs()) == 1


def test_the_command_asks_and_the_flag_lets_it(planted: Run, capsys, monkeypatch) -> None:
    assert main(["resume", planted.id]) == BAD_INPUT
    assert re.search(RUNS_CODE, capsys.readouterr().err.replace("\n", " "))
    executed = []
    monkeypatch.setattr("metrics.engine.execute", lambda run, **_: executed.append(run.id) or run)
    main(["resume", planted.id, "--allow-code", "--quiet"])
    assert executed == [planted.id]
    assert not foreign_effects(planted)


@pytest.mark.attack(
    "suite author",
    "an archive is damaged on purpose, so that its owner has it evaluated again",
    "a run from an archive asks before it runs code, loads models or asks a judge",
)
def test_an_imported_run_is_repaired_with_leave_alone(workspace: Path, tmp_path: Path, capsys) -> None:
    here = Workspace()
    write_file(finished(here, text_suite(), text_outputs(), "bleu"), tmp_path / "a.zip")
    there = Workspace(tmp_path / "there")
    run = read_archive(tmp_path / "a.zip", there).run
    assert not is_signed(run.folder / "spec.json")
    flip(run.folder / "tables/scores.parquet")
    assert repair(run).parts == ("table scores",), "it only computes"
    spec = run.spec.stored | {"resources": {"judge": {"model": "gpt-4o", "base_url": "http://evil.example/v1"}}}
    asking = Workspace(tmp_path / "third").create_run(spec)
    (asking.folder / "spec.origin").unlink()
    with pytest.raises(InputError, match=r"asks the judge gpt-4o at http://evil\.example/v1"):
        engine.repeat(asking, here)


def test_a_monitor_from_elsewhere_asks_as_well(workspace: Path, tmp_path: Path) -> None:
    monitor = begun(workspace, resources={"judge": {"model": "gpt-4o"}})
    log = write(tmp_path / "log.jsonl", [line(0)])
    (monitor.folder / "spec.origin").unlink()
    with pytest.raises(InputError, match="monitor chat: found that it came from elsewhere and asks the judge gpt-4o"):
        feed(monitor, log)
    sign_file(monitor.folder / "spec.json")
    monitor.check_origin()


def test_effects_are_told_in_words() -> None:
    panel = {"model": "a", "panel": [{"model": "b", "base_url": "http://h/v1"}]}
    found = effects_of({"sql_execution": {"allow": "yes"}, "bleu": {}}, {"judge": panel, "embedder": "m"}, ["own"])
    assert found == (
        "loads the plugin of own", "runs what the models wrote (sql_execution)", "asks the judge a",
        "asks the judge b at http://h/v1", "loads the model m",
    )  # fmt: skip


def test_every_stored_request_is_made_a_run_by_one_function() -> None:
    """Whatever makes a run of a stored specification would pass the gate by, unless it is `engine.repeat`."""
    makers = {
        path.relative_to(PROJECT).as_posix()
        for folder in ("metrics", "components", "pages")
        for path in (PROJECT / folder).rglob("*.py")
        if re.search(r"(?<!client)\.create_run\(|spec\.request", path.read_text())
    }
    assert makers == {"metrics/engine/run_control.py", "metrics/engine/merge.py"}, "merge compares requests"
