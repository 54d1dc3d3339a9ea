"""Evaluators from anywhere: the example of docs/plugins.md as script, notebook and package; what a run keeps of it."""

import json
import os
import re
import shutil
import sys
import threading
from pathlib import Path

import pytest

from metrics import Workspace, engine, evaluate
from metrics.cli.main import main
from metrics.core import registry
from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.plugins import load_reference, plugin_of
from metrics.core.registry import add_plugin, title_of
from metrics.core.suite import Case
from metrics.engine.parts import Parts
from metrics.engine.plan import plan
from metrics.reports import render
from metrics.store import Run
from tests.engine.engine_scenes import one_thread, text_outputs, text_suite
from tests.library.plugin_scenes import EXAMPLE, command, python, write_data, write_package, write_plugin

SECRET = "the plugin was executed"  # what a hostile one would write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_data(tmp_path)
    return tmp_path


def value_of(run: Run, evaluator: str) -> float:
    rows = run.aggregates.query("evaluator == @evaluator and slice.isna()")
    return float(rows["value"].iloc[0])


def only_run(folder: Path) -> Run:
    return Workspace(folder / "workspace").run("latest")


def test_the_example_runs_as_a_script_without_a_main_guard(folder):
    (folder / "script.py").write_text(EXAMPLE, encoding="utf-8")
    done = python(folder, "script.py")
    assert done.returncode == 0, done.stderr
    run = only_run(folder)
    assert value_of(run, "brevity") == 0.5
    facts = run.spec.evaluators[1].plugin
    assert facts["reference"] == "__main__:brevity"
    assert len(facts["source"]) == 64


def test_the_example_runs_on_the_workers_of_a_scheduler(folder):
    whole, gap, call = EXAMPLE.rpartition("\n\n\n")
    given = re.sub(r"\)$", ', scheduler="local:1")', call.strip(), count=1)
    (folder / "script.py").write_text(whole + gap + given, encoding="utf-8")
    done = python(folder, "script.py")
    assert done.returncode == 0, done.stderr
    assert json.loads((only_run(folder).folder / "scheduler.json").read_text()) == {"scheduler": "local:1"}
    assert value_of(only_run(folder), "brevity") == 0.5


def test_the_example_runs_in_a_notebook(folder, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder / "workspace"))
    whole, _, call = EXAMPLE.rpartition("\n\n\n")
    cells = [nbformat.v4.new_code_cell(text) for text in (whole, call, "run.aggregates")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}, timeout=300).execute()
    assert "brevity" in notebook.cells[2].outputs[0].data["text/plain"]
    assert value_of(only_run(folder), "brevity") == 0.5


def test_an_installed_package_is_found_by_its_entry_point(folder):
    site = folder / "site"
    site.mkdir()
    write_package(site)
    listed = command(folder, "evaluators", path=site)
    assert "brevity  " in listed.stdout
    done = command(folder, "evaluate", "suite.csv", "outputs.csv", "--evaluators", "rouge,brevity", path=site)
    assert done.returncode == 0, done.stderr
    run = only_run(folder)
    assert value_of(run, "brevity") == pytest.approx(2.0)
    facts = run.spec.evaluators[1].plugin
    assert (facts["package"], facts["package_version"]) == ("brief-words", "1.2")
    report = command(folder, "report", "latest", "-o", "r.html", path=site)
    assert report.returncode == 0, report.stderr
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert f"package brief-words 1.2, brief_words.evals:brevity, source sha256 {facts['source']}" in text
    assert "not loaded here" not in text


def test_an_entry_point_that_is_broken_or_taken_is_left_out_with_the_reason(folder):
    site = folder / "site"
    site.mkdir()
    write_package(site, "rouge")
    (site / "brief_words-1.2.dist-info" / "entry_points.txt").write_text(
        "[assay.evaluators]\nrouge = brief_words.evals:brevity\nlost = brief_words.gone:lost\n", encoding="utf-8"
    )
    listed = command(folder, "evaluators", path=site)
    assert listed.returncode == 0
    assert "the id 'rouge' of brief_words.evals:brevity, which is an evaluator of Assay's own" in listed.stderr
    assert "brief_words.gone:lost cannot be loaded: ModuleNotFoundError" in listed.stderr
    done = command(folder, "evaluate", "suite.csv", "outputs.csv", "--evaluators", "lost", path=site)
    assert done.returncode == 2
    assert "Plugins that are left out" in done.stderr


def test_a_flag_names_a_file_or_a_module(folder):
    write_plugin(folder / "my" / "evals.py")
    write_plugin(folder / "own_words.py", "own_words", most=1)
    done = command(
        folder, "evaluate", "suite.csv", "outputs.csv", "--plugin", "my/evals.py:brevity",
        "--plugin", "own_words:brevity", "--evaluators", "brevity,own_words", "--param", "own_words.threshold=9",
        "--fail-under", "own_words.words_over=1",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    run = only_run(folder)
    assert (value_of(run, "brevity"), value_of(run, "own_words")) == pytest.approx((2.0, 4.0))
    references = [entry.plugin["reference"] for entry in run.spec.evaluators]
    assert references == ["evals.py:brevity", "own_words:brevity"]
    assert str(folder) not in json.dumps(run.spec.stored), "a run is passed on: it names no folder"


@pytest.mark.parametrize(("reference", "told"), [
    ("evals", "found 'evals'; expected MODULE:OBJECT or FILE.py:OBJECT"),
    ("no_such_module:x", "No module named 'no_such_module'"), ("absent.py:x", "FileNotFoundError"),
    ("evals.py:absent", "has no attribute 'absent'"), ("evals.py:MOST", "evals.py:MOST, int; expected"),
    ("evals.py:", "expected MODULE:OBJECT"),
])  # fmt: skip
def test_what_is_no_evaluator_is_refused_with_the_reason(folder, reference, told):
    write_plugin(folder / "evals.py")
    with pytest.raises(InputError, match=re.escape(told)):
        load_reference(reference, folder)


@evaluator(
    id="shouting",
    title="Shouting",
    inputs=("answer",),
    metrics=(Metric("shouting", "Share in capitals.", binary=True),),
)
def shouting(case: Case, parameters: Parameters) -> CaseScore:
    """Whether the answer is in capitals."""
    return CaseScore({"shouting": float((case.answer or "").isupper())})


def test_a_function_is_scored_in_the_run_s_own_process(tmp_path):
    run = evaluate(text_suite(), text_outputs(), evaluators=["rouge", shouting], workspace=tmp_path)
    assert value_of(run, "shouting") == 0.0
    assert run.evaluator("shouting").title == "Shouting"


def test_a_function_that_cannot_travel_is_refused(tmp_path):
    lock = threading.Lock()

    @evaluator(id="locked", title="Locked", inputs=("answer",), metrics=(Metric("locked", "Locked."),))
    def locked(case: Case, parameters: Parameters) -> CaseScore:
        """Nothing."""
        return CaseScore({"locked": float(lock.locked())})

    with pytest.raises(InputError, match="locked, which cannot be passed on: TypeError"):
        evaluate(text_suite(), text_outputs(), evaluators=[locked], workspace=tmp_path)


@pytest.mark.parametrize("given", [len, 3, None], ids=str)
def test_anything_but_ids_and_evaluators_is_refused(given, tmp_path):
    with pytest.raises(InputError, match="an id, or a function made by @evaluator"):
        evaluate(text_suite(), text_outputs(), evaluators=[given], workspace=tmp_path)


def test_an_id_of_assay_s_own_is_refused(tmp_path):
    plugin = load_reference(f"{write_plugin(tmp_path / 'evals.py', 'rouge').name}:brevity", tmp_path)
    with pytest.raises(InputError, match=r"'rouge' of evals.py:brevity, which is an evaluator of Assay's own"):
        add_plugin(plugin)


def test_two_plugins_with_one_id_are_refused(tmp_path):
    for name in ("one", "two"):
        write_plugin(tmp_path / f"{name}.py")
    add_plugin(load_reference("one.py:brevity", tmp_path))
    add_plugin(load_reference("one.py:brevity", tmp_path))  # the same again
    with pytest.raises(InputError, match=r"'brevity' of two.py:brevity, which one.py:brevity has too"):
        add_plugin(load_reference("two.py:brevity", tmp_path))


# Resuming


def test_a_file_changed_within_a_second_is_read_again(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    found = []
    for most in (5, 7):
        file = write_plugin(folder / "evals.py", most=most)
        os.utime(file, (1_000_000_000, 1_000_000_000))
        loaded = load_reference("evals.py:brevity", folder).evaluator
        found.append(loaded(Case.of(answer="one two three four five six"), Parameters()).values["words_over"])
    assert found == [1.0, 0.0]


def queued(folder: Path, most: int = 5) -> Run:
    """A run with an evaluator of a file, not begun; the process has forgotten the plugin."""
    write_plugin(folder / "evals.py", most=most)
    add_plugin(load_reference("evals.py:brevity", folder))
    run = engine.create(Workspace(folder / "workspace"), text_suite(), text_outputs(), ["rouge", "brevity"])
    registry._added.clear()
    return run


def test_a_run_is_resumed_by_what_its_workspace_keeps(folder):
    run = queued(folder)
    assert engine.execute(run, one_thread).state == "finished"
    assert value_of(run, "brevity") == pytest.approx(12.0)


def test_code_of_a_script_outlives_the_script(folder):
    run = engine.create(Workspace(folder), text_suite(), text_outputs(), [add_plugin(plugin_of(local_evaluator()))])
    registry._added.clear()
    assert engine.execute(run, one_thread).state == "finished"
    assert value_of(run, "nearby") == 1.0


def local_evaluator():
    @evaluator(id="nearby", title="Nearby", inputs=("answer",), metrics=(Metric("nearby", "One.", binary=True),))
    def nearby(case: Case, parameters: Parameters) -> CaseScore:
        """One, always."""
        return CaseScore({"nearby": 1.0})

    return nearby


def test_a_changed_source_is_scored_again(folder, capsys):
    """Parts that the former source has made have other names, and so are not taken for today's."""
    run = queued(folder)
    before = {unit.name: unit for unit in plan(run_with_plugin(run, folder))}
    write_plugin(folder / "evals.py", most=7)
    registry._added.clear()
    engine.execute(run, one_thread)
    after = {unit.name: unit for unit in plan(run)}
    assert value_of(run, "brevity") == pytest.approx(10.0)
    assert {unit.evaluator for name, unit in before.items() if name not in after} == {"brevity"}
    assert {unit.evaluator for name, unit in after.items() if name in before} == {"rouge"}
    assert "the source of brevity has changed" in capsys.readouterr().err
    assert run.manifest is not None
    sealed, specified = run.manifest["evaluators"][1], Run(run.folder).spec.stored["evaluators"][1]
    assert sealed["plugin"]["source"] == specified["plugin"]["source"]
    assert all(Parts(run.folder).failed(name) is None for name in before.keys() - after.keys())


def run_with_plugin(run: Run, folder: Path) -> Run:
    add_plugin(load_reference("evals.py:brevity", folder))
    return run


def test_resume_says_which_plugin_is_missing(folder, capsys):
    run = queued(folder)
    resume = ["resume", run.id, "--quiet", "--workspace", str(folder / "workspace")]
    (folder / "evals.py").unlink()
    assert main(resume) == 2
    assert "evals.py:brevity cannot be loaded: FileNotFoundError" in capsys.readouterr().err
    shutil.rmtree(folder / "workspace" / "plugins")
    assert main(resume) == 2
    expected = "found no plugin evals.py:brevity; expected its package installed, or --plugin"
    assert f"evaluator brevity: {expected}" in capsys.readouterr().err
    moved = write_plugin(folder / "moved.py")
    assert main([*resume, "--plugin", f"{moved}:brevity"]) == 0
    assert Run(run.folder).state == "finished"


# What a run holds never runs


def test_a_run_whose_plugin_is_missing_says_what_it_said(folder):
    run = engine.execute(queued(folder), one_thread)
    with_plugin = render(run, "json")
    registry._added.clear()
    shutil.rmtree(folder / "workspace" / "plugins")
    (folder / "evals.py").unlink()
    entry = Run(run.folder).evaluator("brevity")
    assert title_of("brevity") == "Brevity"
    assert entry is not None
    assert (entry.primary.direction, entry.primary.threshold, entry.primary.high) == ("lower", 3.0, 99.0)
    assert "brevity" not in list(registry.evaluators())
    told = render(run, "json").decode()
    assert "not loaded here" in told
    assert len(told) == pytest.approx(len(with_plugin), abs=2_000), "the rest is the same"
    with pytest.raises(InputError, match=r"the plugin of .brevity. is not loaded"):
        engine.create(Workspace(folder / "workspace"), text_suite(), text_outputs(), ["brevity"])


def test_opening_and_importing_a_run_executes_nothing_of_it(folder):
    """Neither the kept recipe nor what an archive names is loaded by any reader."""
    run = engine.execute(queued(folder), one_thread)
    registry._added.clear()
    marker = folder / "marker"
    hostile = f"open({str(marker)!r}, 'w').write({SECRET!r})\n"
    (folder / "evals.py").write_text(hostile, encoding="utf-8")
    archive, here, there = str(folder / "run.zip"), str(folder / "workspace"), str(folder / "other")
    out = str(folder / "out")
    for arguments in (
        ["archive", run.id, "-o", archive, "--workspace", here], ["import", archive, "--workspace", there],
        ["runs", "--workspace", there], ["report", "latest", "--workspace", there, "-o", out + ".html"],
        ["export", "latest", "--workspace", there, "-o", out + ".json"],
        ["report", run.id, "--workspace", here, "-o", out + ".html"],
    ):  # fmt: skip
        assert main(arguments) == 0, arguments
    assert not marker.exists()
    assert not Path(there, "plugins").exists(), "an archive brings no code"


def test_a_copied_run_folder_brings_no_code(folder):
    """Unfinished and from elsewhere: what it names is looked for, never taken from it."""
    run = queued(folder)
    other = folder / "elsewhere"
    for name in ("runs", "suites", "outputs"):
        shutil.copytree(folder / "workspace" / name, other / name)
    with pytest.raises(InputError, match="evaluator brevity: found no plugin"):
        engine.execute(Run(other / "runs" / run.id), one_thread)


@pytest.mark.parametrize(("declaration", "title"), [
    ({"title": "![a](http://x.example/a.png)<b>", "shape": "case"}, "a(http://x.example/a.png)b"),
    ({"title": "x" * 300, "shape": "case"}, None), ({"title": "x", "shape": "nonsense"}, None), ({}, None),
], ids=["markup", "long", "shape", "empty"])  # fmt: skip
def test_what_a_foreign_run_declares_is_words_and_numbers(declaration, title):
    metric = {
        "name": "m", "low": 0, "high": 1, "direction": "higher", "threshold": None, "binary": False, "primary": True,
        "minor": False, "unit": "", "title": "",
    }  # fmt: skip
    whole = {"tasks": ["text"], "inputs": ["answer"], "metrics": [metric], **declaration} if declaration else {}
    registry.note_missing("foreign", 1, whole)
    assert title_of("foreign") == (title or "foreign")
