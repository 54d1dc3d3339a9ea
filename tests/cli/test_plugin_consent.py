"""What a project file of a folder names runs only after its owner has allowed it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import metrics
from metrics import engine
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.plugins import load_reference
from metrics.core.registry import _added, add_plugin, evaluators, refused
from metrics.store import Workspace
from tests.cli.every_command import every_command, write_folder
from tests.engine.engine_scenes import one_thread, text_outputs, text_suite
from tests.library.plugin_scenes import write_plugin

PROJECT = """
plugins = ["evals.py:brevity"]
[evaluate.a]
suite = "suite.jsonl"
outputs = "outputs.jsonl"
evaluators = ["rouge", "brevity"]
"""
RAN = "\nimport pathlib; pathlib.Path(__file__).with_name('RAN').touch()\n"


@pytest.fixture
def folder(tmp_path: Path, workspace: Path, units_here: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as somebody has cloned it: its plugin says so when it runs."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path)
    write_plugin(tmp_path / "evals.py")
    with (tmp_path / "evals.py").open("a") as file:
        file.write(RAN)
    (tmp_path / "assay.toml").write_text(PROJECT)
    return tmp_path


def has_run(folder: Path) -> bool:
    """Whether the plugin has run since this was last asked."""
    ran = (folder / "RAN").exists()
    (folder / "RAN").unlink(missing_ok=True)
    return ran


@pytest.mark.attack(
    "suite author", "the project file of a cloned folder runs its plugin at any command", "asked once, for these files"
)
def test_no_command_runs_the_plugin_of_a_folder_that_is_not_allowed(folder, capsys):
    for arguments in every_command():
        main(arguments)
        assert not has_run(folder), arguments
    told = capsys.readouterr().err
    assert f"`python -m metrics plugins allow {folder}`" in told
    assert "in CI ASSAY_ALLOW_PLUGINS=1): code evals.py:brevity" in told


def test_allowed_once_it_runs_until_a_file_changes(folder, capsys, monkeypatch):
    assert main(["run"]) == 2
    assert main(["plugins", "allow"]) == 0
    assert "allowed: code evals.py:brevity" in capsys.readouterr().out
    assert main(["run"]) == 0
    assert has_run(folder)
    with (folder / "evals.py").open("a") as file:
        file.write("# another version\n")
    assert main(["run"]) == 2
    assert not has_run(folder)
    assert main(["plugins", "allow", str(folder)]) == 0
    assert main(["run"]) == 0
    assert has_run(folder)
    shutil.copytree(folder, folder / "copy", ignore=shutil.ignore_patterns("state", "copy"))
    monkeypatch.chdir(folder / "copy")
    assert main(["run"]) == 2, "another folder is asked for on its own"
    monkeypatch.setenv("ASSAY_ALLOW_PLUGINS", "1")
    assert main(["run"]) == 0


@pytest.mark.parametrize("plugins", ["evals.py:brevity", "evals:brevity", "pack.evals:brevity", "./evals.py:brevity"])
def test_a_changed_file_is_noticed_however_it_is_named(folder, plugins):
    write_plugin(folder / "pack" / "evals.py")
    (folder / "assay.toml").write_text(f'plugins = ["{plugins}"]\n')
    main(["plugins", "allow"])
    assert "brevity" in evaluators()
    for file in (folder / "evals.py", folder / "pack" / "evals.py"):
        file.write_text(file.read_text() + "# changed\n")
    assert any("what nobody has allowed" in why for why in refused())


@pytest.mark.parametrize("keys", ['target = "command:touch RAN"', 'target = "bot.py:answer"', 'target = "bot.json"'])
@pytest.mark.attack(
    "suite author", "the project file of a cloned folder runs a program as a target", "asked once, for these files"
)
def test_programs_that_it_asks_are_code_too(folder, keys):
    (folder / "bot.py").write_text(f"{RAN}\ndef answer(question):\n    return 'a b'\n")
    (folder / "bot.json").write_text('{"argv": ["touch", "RAN"]}')
    (folder / "assay.toml").write_text(f'[evaluate.a]\nsuite = "suite.jsonl"\nevaluators = ["rouge"]\n{keys}\n')
    assert main(["run"]) == 2
    assert not has_run(folder)
    main(["plugins", "allow"])
    main(["run"])
    assert has_run(folder)


def test_other_doors(folder):
    with pytest.raises(InputError, match="what nobody has allowed"):
        metrics.evaluate("suite.jsonl", "outputs.jsonl", evaluators=["brevity"])
    assert not has_run(folder)


def test_what_somebody_names_runs(folder):
    given = ["evaluate", "suite.jsonl", "outputs.jsonl", "--plugin", "evals.py:brevity", "--evaluators", "brevity"]
    assert main(given) == 0
    assert has_run(folder)


@pytest.mark.attack(
    "workspace writer", "a run of a cloned workspace brings its plugin", "only code that this account has started runs"
)
def test_a_run_that_comes_with_a_folder_brings_no_code(folder, monkeypatch):
    (folder / "assay.toml").unlink()
    add_plugin(load_reference("evals.py:brevity", folder))
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["brevity"])
    _added.clear()
    has_run(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "of another account"))
    with pytest.raises(InputError, match="brevity, with which this account has started no run"):
        engine.execute(run, one_thread)
    assert not has_run(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    assert engine.execute(run, one_thread).state == "finished"
