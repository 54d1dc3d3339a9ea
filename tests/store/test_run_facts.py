"""What a run says of itself: what is sealed counts, and what is not yet sealed is told up to now."""

import os
import time
from dataclasses import replace

import pytest

from metrics.core.files import hold_lock, read_json, write_json
from metrics.store import Workspace
from metrics.store.run_files import SPEND
from metrics.store.run_progress import read_progress
from tests.pages.page_scenes import judged_run


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    return judged_run(tmp_path_factory.mktemp("judged"))


def test_the_spend_of_a_sealed_run_is_the_sealed_one(judged):
    sealed = read_json(judged.folder / "manifest.json")["judge"]
    assert sealed["calls"] > 0
    write_json(judged.folder / SPEND, sealed | {"calls": sealed["calls"] + 1})
    assert judged.spend == sealed


def test_the_spend_of_an_unfinished_run_is_the_one_so_far(judged):
    manifest = judged.folder / "manifest.json"
    content = manifest.read_bytes()
    manifest.unlink()
    write_json(judged.folder / SPEND, {"calls": 3})
    try:
        assert Workspace(judged.workspace.path).run(judged.id).spend == {"calls": 3}
    finally:
        manifest.write_bytes(content)


def test_the_targets_of_a_run_are_those_of_its_outputs(run):
    assert run.targets == {}
    asked = {"good": {"kind": "command", "command": ["echo"]}}
    write_json(run.workspace.path / "outputs" / run.spec.outputs.fingerprint / "targets.json", asked)
    assert run.targets == asked


@pytest.mark.parametrize(("touched", "seconds"), [(100.0, 100.0), (-3600.0, 0.0)], ids=["behind", "ahead"])
def test_a_running_run_has_spent_time_since_it_last_wrote(run, touched, seconds):
    """A clock that was set back takes no time away."""
    write_json(run.folder / "progress.json", {"seconds_spent": 5.0, "evaluators": []})
    assert run.progress().seconds_spent == 5.0, "a finished run spends no more"
    for name in ("manifest.json", "progress.json"):
        assert (run.folder / name).exists()
    (run.folder / "manifest.json").unlink()
    with hold_lock(run.folder / "lock", "held"):
        then = time.time() - touched
        for name in ("progress.json", "lock"):
            os.utime(run.folder / name, (then, then))
        own = Workspace(run.workspace.path).run(run.id)
        assert own.state == "running"
        found = own.progress()
        assert 5.0 + seconds <= found.seconds_spent < 5.0 + seconds + 3000
        assert replace(found, seconds_spent=5.0) == read_progress(run.folder)
