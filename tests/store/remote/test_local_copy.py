"""A workspace at a URL: its runs are listed, its files fetched on use, and what goes wrong is said."""

import json
import stat

import pytest

from metrics.analysis import leaderboard
from metrics.core.errors import RemoteError, RunNotFound
from metrics.library.run import Workspace as LibraryWorkspace
from metrics.store import Workspace
from metrics.store.remote import local_copy
from metrics.store.remote.push import listing_of
from metrics.store.run_check import verify
from tests.engine.engine_scenes import finished, text_outputs, text_suite


def fetched(workspace: Workspace) -> set[str]:
    """The names of the files that are no JSON."""
    return {path.name for path in workspace.path.rglob("*") if path.is_file() and path.suffix not in (".json", "")}


def test_runs_are_listed_without_their_tables(place, copied_run):
    opened = Workspace(place)
    assert [(run.id, run.name, run.state) for run in opened.runs()] == [(copied_run.id, "first", "finished")]
    assert opened.damaged_runs() == {}
    assert [one["fingerprint"] for one in opened.suites()] == [copied_run.suite.fingerprint]
    assert fetched(opened) == set()
    assert opened.url == opened.place == place
    assert stat.S_IMODE(opened.path.stat().st_mode) == 0o700


def test_a_file_is_fetched_when_it_is_read(place, copied_run):
    run = Workspace(place).run(copied_run.id)
    assert run.aggregates.equals(copied_run.aggregates)
    assert fetched(Workspace(place)) == {"aggregates.parquet"}
    assert run.sampling_design() is not None
    assert fetched(Workspace(place)) == {"aggregates.parquet", "cases.parquet"}
    assert run.suite.fingerprint == copied_run.suite.fingerprint
    assert run.suite.media is not None
    assert (run.suite.media / "b.png").read_bytes() == b"b.png" * 1000
    assert run.outputs.fingerprint == copied_run.outputs.fingerprint
    assert run.query("SELECT count(*) AS n FROM scores")["n"].tolist() == [len(copied_run.scores)]
    verify(run)


def test_analysis_is_the_same_and_new_runs_are_found_by_id(place, copied_run):
    run = LibraryWorkspace(place).run("latest", finished=True)
    assert leaderboard(run).cells == leaderboard(copied_run).cells
    opened = Workspace(place)
    assert len(opened.runs()) == 1
    second = finished(Workspace(), text_suite(), text_outputs(), "bleu")
    Workspace().push(second, place)
    assert Workspace(place).run(second.id).evaluators == second.evaluators
    with pytest.raises(RunNotFound, match=r"there is no run '20260101-000000-abcdef' in file:"):
        Workspace(place).run("20260101-000000-abcdef")


def test_a_flipped_bit_is_refused_when_the_table_is_read(place, copied_run, tmp_path):
    path = tmp_path / "remote" / listing_of(copied_run)[0].files["run/tables/aggregates.parquet"].object
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    run = Workspace(place).run(copied_run.id)
    with pytest.raises(RemoteError, match=r"run/tables/aggregates\.parquet of the run, was changed"):
        run.table("aggregates")
    assert len(run.scores) > 0


def test_a_damaged_listing_hides_no_other_run(place, copied_run, tmp_path):
    second = finished(Workspace(), text_suite(), text_outputs(), "bleu")
    Workspace().push(second, place)
    (tmp_path / "remote" / "runs" / f"{copied_run.id}.json").write_text("{}")
    opened = Workspace(place)
    assert [run.id for run in opened.runs()] == [second.id]
    assert list(opened.damaged_runs()) == [copied_run.id]
    assert "is no listing of a run" in opened.damaged_runs()[copied_run.id]
    with pytest.raises(RemoteError, match="is no listing of a run"):
        opened.run(copied_run.id)


def test_what_is_known_is_listed_when_the_place_cannot_be_reached(place, copied_run, monkeypatch):
    assert len(Workspace(place).runs()) == 1

    def gone(place: str) -> None:
        raise RemoteError(f"{place}: team cannot be reached")

    monkeypatch.setattr(local_copy, "opened", gone)
    opened = Workspace(place)
    assert [run.id for run in opened.runs()] == [copied_run.id]
    assert opened.damaged_runs()[place] == f"The list of runs is not up to date. {place}: team cannot be reached"
    with pytest.raises(RemoteError, match="cannot be reached"):
        opened.run("20260101-000000-abcdef")


def test_a_run_in_the_bin_stays_there(place, copied_run):
    Workspace(place).runs()
    Workspace(place).delete_run(copied_run.id)
    assert (Workspace(place).runs(), Workspace(place).bin.ids()) == ([], [copied_run.id])
    Workspace(place).bin.restore(copied_run.id)
    assert [run.id for run in Workspace(place).runs()] == [copied_run.id]


def test_what_was_used_the_longest_ago_makes_room_and_is_fetched_again(place, copied_run, monkeypatch):
    opened = Workspace(place)
    verify(opened.run(copied_run.id))
    own = finished(opened, text_suite(), text_outputs(), "bleu")  # not pushed: it is nowhere else
    monkeypatch.setenv("ASSAY_REMOTE_CACHE_BYTES", "0")
    local_copy.trim(opened.path)
    assert not (opened.path / "runs" / copied_run.id / "tables" / "scores.parquet").exists()
    assert own.table_path("scores") is not None
    assert (len(opened.run(copied_run.id).scores), len(opened.run(own.id).suite)) == (len(copied_run.scores), 6)


@pytest.mark.attack(
    "workspace writer", "keys of a remote workspace are read from its local copy", "they are never stored"
)
def test_no_credentials_are_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "loopback-secret")
    opened = Workspace("s3://team/runs/")
    assert json.loads((opened.path / "remote.json").read_text()) == {"url": "s3://team/runs"}
    assert opened.path.is_relative_to(tmp_path / "cache")
