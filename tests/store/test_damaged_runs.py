"""Runs with a damaged file hide no other: they are listed as damaged, with the reason, and left out of `latest`."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics import engine
from metrics.cli.failures import BAD_INPUT
from metrics.cli.main import main
from metrics.core.errors import InputError, RunCorrupt
from metrics.engine.estimate import judge_time
from metrics.store import Progress, Workspace
from metrics.store.rating_sets import Labels
from metrics.store.reviews import Place, Review
from tests.engine.engine_scenes import finished, text_outputs, text_suite

CONTENTS: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_text("{"), "empty": lambda path: path.write_text(""),
    "a list": lambda path: path.write_text("[]"), "a number": lambda path: path.write_text("7"),
    "no UTF-8": lambda path: path.write_bytes(b'{"name": "\xff\xfe"}'),
    "nested beyond reason": lambda path: path.write_text("[" * 200_000),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}  # fmt: skip


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for _ in range(2):
        finished(Workspace(folder), text_suite(), text_outputs(), "bleu")
    return folder


@pytest.fixture
def runs(two, workspace):
    """A whole run, and a newer one to be damaged."""
    shutil.copytree(two, workspace, dirs_exist_ok=True)
    second, first = Workspace().runs()
    return first, second


def spec_with(**changed: object) -> Callable[[Path], object]:
    """What changes keys of a specification; None removes one."""

    def change(path: Path) -> object:
        spec = json.loads(path.read_text()) | changed
        return path.write_text(json.dumps({name: value for name, value in spec.items() if value is not None}))

    return change


DAMAGES = {
    **{f"{file}, {what}": (file, damage, f"{file} cannot be read")
       for file in ("spec.json", "manifest.json") for what, damage in CONTENTS.items()},
    "spec.json, lost": ("spec.json", Path.unlink, "spec.json cannot be read (No such file or directory)"),
    "of its schema alone": ("spec.json", lambda path: path.write_text('{"schema": 1}'), "it has no name and no"),
    "of a later version": ("spec.json", lambda path: path.write_text('{"schema": 99}'), "update it"),
    "no suite": ("spec.json", spec_with(suite=None), "it has no suite"),
    "schema as text": ("spec.json", spec_with(schema="1"), "it has '1' as schema"),
    "models as text": (
        "spec.json", spec_with(outputs={"fingerprint": "0" * 64, "models": "m"}), "'m' as outputs.models",
    ),
    "fingerprint of another folder": (
        "spec.json", spec_with(suite={"fingerprint": "../../x", "name": "", "task": "text", "cases": 1}),
        "it has '../../x' as a fingerprint",
    ),
    "an evaluator as text": ("spec.json", spec_with(evaluators=["bleu"]), "'bleu' as evaluators.0"),
}  # fmt: skip


@pytest.mark.attack("workspace writer", "one damaged file takes every page and command down", "it is one run's state")
@pytest.mark.parametrize(("file", "damage", "why"), DAMAGES.values(), ids=DAMAGES)
def test_the_others_go_on(runs, file, damage, why, capsys):
    whole, broken = runs
    damage(broken.folder / file)
    store = Workspace()
    assert [run.id for run in store.runs()] == [whole.id]
    assert store.run("latest").id == store.run("latest", finished=True).id == whole.id
    assert list(store.damaged_runs()) == [broken.id]
    assert why in store.damaged_runs()[broken.id]
    assert store.run(broken.id).state == "damaged"
    assert judge_time(store.path, {("j", "s"): 1.0}).runs == ()
    assert main(["runs"]) == 0
    listed = capsys.readouterr()
    assert listed.out.splitlines() == [f"{whole.id}  finished     {whole.name}", f"{broken.id}  damaged"]
    assert why in listed.err
    assert main(["runs", "--json"]) == 0
    assert [one["state"] for one in json.loads(capsys.readouterr().out)] == ["finished", "damaged"]
    assert main(["export", broken.id]) == BAD_INPUT
    assert f"run {broken.id} is damaged" in capsys.readouterr().err
    assert main(["export", "latest", "-o", str(store.path / "x.json")]) == 0
    store.delete_run(broken.id)
    assert store.bin.ids() == [broken.id]


@pytest.mark.parametrize("damage", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("file", ["progress.json", "about.json", "failure.txt"])
def test_what_only_tells_of_a_run_is_as_if_it_were_not_there(runs, file, damage):
    path = runs[1].folder / file
    path.touch()
    damage(path)
    run = Workspace().run("latest")
    assert (run.id, run.state, run.name) == (runs[1].id, "finished", "turns · 2 models")
    if file == "progress.json":
        assert run.progress() == Progress()


def test_the_cost_of_a_judge_is_not_forgotten(workspace):
    waiting = engine.create(Workspace(), text_suite(), text_outputs(), ["bleu"])
    (waiting.folder / "judge.json").write_text("{")
    assert waiting.state == "damaged"
    with pytest.raises(RunCorrupt, match=r"judge\.json cannot be read"):
        engine.execute(waiting)


def test_a_run_whose_seal_is_damaged_is_not_evaluated_in_its_place(runs):
    path = runs[1].folder / "manifest.json"
    path.write_text("{")
    tables = {file: file.read_bytes() for file in runs[1].folder.glob("tables/*")}
    assert (main(["resume", runs[1].id, "--quiet"]), path.read_text()) == (BAD_INPUT, "{")
    assert {file: file.read_bytes() for file in runs[1].folder.glob("tables/*")} == tables


def test_lost_inputs_are_told(runs, capsys):
    shutil.rmtree(runs[0].suite_folder)
    assert main(["verify", "--all"]) == BAD_INPUT
    assert capsys.readouterr().out.count("suite/cases.parquet      lost") == 2


def test_foreign_files_and_folders_are_no_runs(runs):
    place = runs[0].folder.parent
    (place / "notes.txt").write_text("{")
    (place / "20260101-000000-abcdef").write_text("a file")
    (place / "20260101-000000-abcdff" / "tables").mkdir(parents=True)  # of a pull that broke off
    (place / "backup").mkdir()
    (place / "backup" / "spec.json").write_text("{")
    assert (len(Workspace().runs()), Workspace().damaged_runs()) == (2, {})


@pytest.mark.attack("workspace writer", "a pipe in the place of a specification", "only files are opened")
def test_a_pipe_is_no_specification(runs):
    (runs[1].folder / "spec.json").unlink()
    os.mkfifo(runs[1].folder / "spec.json")
    assert "spec.json is a pipe or a device" in Workspace().damaged_runs()[runs[1].id]
    assert Workspace().run("latest") == runs[0]


def test_a_damaged_suite_hides_no_other(workspace):
    store = Workspace()
    kept, broken = (store.save_suite(text_suite(size)) for size in (3, 4))
    (store.path / "suites" / broken / "suite.json").write_text("{")
    assert [one["fingerprint"] for one in store.suites()] == [kept]
    with pytest.raises(RunCorrupt, match=r"suite\.json cannot be read"):
        store.suite(broken)


def test_damaged_labels_and_reviews_name_their_file(runs):
    labels, review = Labels(runs[0]), Review(runs[0])
    labels.give("c0", "good", "ann", "faithful", 1.0, "random")
    review.note(Place("c0"), "why?")
    (path,) = labels.folder.glob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    review.path.write_text("{")
    for read, file in ((labels.table, path), (labels.sets, path), (review.marks, review.path)):
        with pytest.raises(InputError, match=f"{file}.*unreadable"):
            read()
