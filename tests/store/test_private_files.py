"""Who can read what Assay stores: its owner, whatever the umask says and whatever an earlier version left open."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

import metrics
from metrics.cli.main import main
from metrics.core.files import make_file, make_folder, temporary_folder
from metrics.engine import create, start
from metrics.judge.cache import Cache, Stored
from metrics.models.vectors import VectorCache
from metrics.store import Workspace
from metrics.store.own_files import FOLDERS
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.ingest.files import picture, unpacked


def open_to_others(root: Path) -> list[str]:
    return [str(path) for path in [root, *root.rglob("*")] if path.stat().st_mode & 0o077]


FILES = {
    "suite.csv": "case_id,question,expected_answer\nq1,Who?,a cat\nq2,What?,a mat\n",
    "outputs.csv": "case_id,model,answer\nq1,x,a cat\nq2,x,a dog\nq1,y,a dog\nq2,y,a mat\n",
    "boxes.csv": "case_id,image_name,label,x,y,width,height\nc1,a.png,boat,1,1,2,2\n",
    "found.csv": "case_id,model,label,x,y,width,height,score\nc1,x,boat,1,1,2,2,0.9\n",
    "labels.csv": "case_id,model,rater,label\nq1,x,ann,pass\nq2,x,ann,fail\n",
    "log.jsonl": json.dumps({"id": "1", "time": 1_763_700_000, "answer": "x", "question": "y"}) + "\n",
    "images/a.png": picture(),
}
COMMANDS = """
evaluate suite.csv outputs.csv --evaluators rouge --quiet
labels add latest labels.csv
describe latest --notes first
evaluate boxes.csv found.csv --images images --evaluators average_precision --quiet
archive latest -o run.zip
import run.zip --workspace other
monitor log.jsonl --name chat --rate 1 --evaluators pii_leakage --quiet
complete suite.csv --target command:true -o answers.csv
perturb suite.csv -o more.csv
"""


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.attack(
    "worker", "another user of the machine reads runs, images, caches and logs", "folders 0700, files 0600"
)
def test_nobody_else_can_read_what_commands_store(tmp_path, monkeypatch, units_here, no_umask):
    place = tmp_path / "made" / "by" / "assay"
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(unpacked(tmp_path, FILES))
    assert [line for line in COMMANDS.strip().splitlines() if main(line.split()) != 0] == []
    with metrics.log("nightly") as log:
        log.add({"question": "Who?"}, "a cat", {"length": 5})
    workspace = Workspace()
    with closing(Cache(workspace.path / "cache" / "judge")) as cache:
        cache.put("0" * 64, Stored("judge", "step", "{}"))
    VectorCache(workspace.path / "cache" / "vectors" / "model.sqlite3").close()
    first = workspace.runs()[-1]
    again = create(workspace, workspace.suite(first.spec.suite.fingerprint), first.outputs, ["rouge"])
    start(again).wait()  # in workers
    (temporary_folder("test") / "kept").mkdir()
    assert main(["delete", workspace.run("latest").id]) == 0
    assert {"runs", "suites", "outputs", "labels", "monitors", "targets", "bin", "cache"} <= set(os.listdir(place))
    roots = [tmp_path / "made", tmp_path / "other", *(tmp_path / "cache").glob("*")]
    assert [path for root in roots for path in open_to_others(root)] == []
    assert {path.name for path in place.iterdir() if path.is_dir()} <= set(FOLDERS)
    assert (tmp_path / "run.zip").stat().st_mode & 0o077, "what a person asked for follows the umask"


@pytest.mark.attack("worker", "a workspace of an earlier version is open to others", "it is tightened when written to")
def test_folders_of_an_earlier_version_are_tightened(workspace):
    for name in ("runs", "suites", "monitors", "of the user"):
        (workspace / name).mkdir(parents=True)
        (workspace / name).chmod(0o755)
    workspace.chmod(0o755)
    Workspace().save_suite(text_suite())
    modes = {path.name: path.stat().st_mode & 0o777 for path in workspace.iterdir()}
    assert modes == {"runs": 0o700, "suites": 0o700, "monitors": 0o700, "of the user": 0o755}
    assert workspace.stat().st_mode & 0o777 == 0o755, "it may be a folder of the user's that was there before"


def test_a_folder_and_those_above_it(tmp_path):
    before = os.umask(0)
    try:
        make_folder(tmp_path / "a" / "b" / "c")
        make_folder(tmp_path / "a" / "b" / "c")
        (tmp_path / "old.log").touch(0o644)
        make_file(tmp_path / "old.log")
    finally:
        os.umask(before)
    assert (open_to_others(tmp_path / "a"), open_to_others(tmp_path / "old.log")) == ([], [])


def test_images_are_copied_for_the_owner_only(workspace, tmp_path):
    suite, outputs = text_suite(), text_outputs()
    (tmp_path / "files").mkdir(mode=0o755)
    (tmp_path / "files" / "a").write_text("x")
    fingerprint = Workspace().save_outputs(type(outputs)(outputs.outputs, files=tmp_path / "files"), suite)
    assert open_to_others(workspace / "outputs" / fingerprint) == []
