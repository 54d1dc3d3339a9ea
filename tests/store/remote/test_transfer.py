"""Runs go to a URL and come back the same; what is damaged, foreign or half sent is never taken for a run."""

import json
import os
from io import BytesIO
from pathlib import Path

import pytest

from metrics.core.errors import InputError, RemoteError, RunCorrupt, RunError, RunNotFound, StorageError
from metrics.core.files import sha256_of
from metrics.store import Run, Workspace
from metrics.store.remote import cloud, files
from metrics.store.remote.cloud import CloudObjects
from metrics.store.remote.files import FileObjects
from metrics.store.remote.objects import Objects, opened
from metrics.store.remote.push import listing_of
from metrics.store.sealed_files import sealed_files
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.store.remote.conftest import rival
from tests.store.remote.s3_server import SECRET

PLACES = pytest.mark.parametrize("url", ["s3", "file"], indirect=True)


def digests(run: Run) -> dict[str, str]:
    return {name: sha256_of(path) for name, path in sealed_files(run).items()}


@pytest.mark.parametrize("url", ["s3", "file", "memory"], indirect=True)
def test_a_run_comes_back_the_same(url, copied_run, tmp_path):
    told: list[tuple[int, int]] = []
    assert copied_run.workspace.path == Workspace().path
    assert Workspace().push(copied_run, url, lambda *done: told.append(done))
    other = Workspace(tmp_path / "other")
    assert other.pull(url) == [copied_run.id]
    back = other.run(copied_run.id)
    assert (digests(back), back.state) == (digests(copied_run), "finished")
    assert back.suite.fingerprint == copied_run.suite.fingerprint
    assert told[-1][0] == told[-1][1] == sum(file.bytes for file in listing_of(copied_run)[0].files.values())


@PLACES
def test_the_same_again_sends_nothing_and_fetches_nothing(url, copied_run, tmp_path, monkeypatch):
    other = Workspace(tmp_path / "other")
    assert Workspace().push(copied_run, url)
    other.pull(url)
    sent: list[str] = []
    for kind in (CloudObjects, FileObjects):
        monkeypatch.setattr(kind, "send", lambda self, name, path: sent.append(name))
        monkeypatch.setattr(kind, "copy_to", lambda self, name, target, size: sent.append(name))
    assert Workspace().push(copied_run, url) is False
    assert (other.pull(url), sent) == ([], [])


@PLACES
def test_another_run_of_the_same_id_is_refused_and_harms_nothing(url, copied_run, tmp_path):
    other = rival(copied_run, tmp_path / "rival")
    Workspace().push(copied_run, url)
    with pytest.raises(
        RemoteError, match=f"has another run {copied_run.id}, which was pushed first and stays as it is"
    ):
        Workspace(tmp_path / "rival").push(other, url)
    with pytest.raises(RemoteError, match=f"another run {copied_run.id} is in"):
        Workspace(tmp_path / "rival").pull(url)
    assert other.name == "rival"
    Workspace(tmp_path / "other").pull(url)
    assert digests(Workspace(tmp_path / "other").run(copied_run.id)) == digests(copied_run)


@PLACES
def test_the_second_of_two_creations_fails(url):
    with opened(url) as place:
        assert place.create("runs/x.json", b"first")
        assert not place.create("runs/x.json", b"second")
        assert (place.read("runs/x.json"), place.names("runs")) == (b"first", ["runs/x.json"])


def test_a_server_without_conditional_puts_is_found_out(copied_run, tmp_path, monkeypatch):
    url, theirs = f"file://{tmp_path}/remote", rival(copied_run, tmp_path / "rival")
    whole = listing_of(theirs)[0].to_bytes()

    def overwritten(self: FileObjects, name: str, content: bytes) -> bool:
        path = tmp_path / "remote" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        path.write_bytes(whole)  # by the other writer, a moment later
        return True

    monkeypatch.setattr(FileObjects, "create", overwritten)
    with pytest.raises(RemoteError, match="has another run"):
        Workspace().push(copied_run, url)


def _flip(place: Objects, name: str, folder: Path) -> None:
    content = bytearray(place.read(name) or b"")
    content[len(content) // 2] ^= 1
    file = folder / "flipped"
    file.write_bytes(content)
    place.send(name, file)


@pytest.mark.attack("network", "one bit of a file at a URL is changed", "its sha256 is compared before it is kept")
@PLACES
@pytest.mark.parametrize("name", ["run/tables/scores.parquet", "suite/cases.parquet", "suite/media/a.png"])
def test_a_flipped_bit_is_refused_by_name(url, name, copied_run, tmp_path):
    Workspace().push(copied_run, url)
    with opened(url) as place:
        _flip(place, listing_of(copied_run)[0].files[name].object, tmp_path)
    other = Workspace(tmp_path / "other")
    with pytest.raises(RemoteError, match=f"the {name} of the run, was changed: its sha256 differs"):
        other.pull(url)
    assert other.runs() == []


@PLACES
def test_a_lost_object_is_told_and_a_push_restores_it(url, copied_run, tmp_path):
    Workspace().push(copied_run, url)
    lost = listing_of(copied_run)[0].files["run/tables/scores.parquet"].object
    with opened(url) as place:
        (tmp_path / "short").write_bytes(b"PAR1")
        place.send(lost, tmp_path / "short")  # cut short
    other = Workspace(tmp_path / "other")
    with pytest.raises(RemoteError, match=r"scores\.parquet of the run"):
        other.pull(url)
    assert Workspace().push(copied_run, url) is False
    assert other.pull(url) == [copied_run.id]


@pytest.mark.attack("network", "one bit of the list of a run at a URL is changed", "the list has a checksum")
@PLACES
def test_a_changed_listing_is_refused(url, copied_run, tmp_path):
    Workspace().push(copied_run, url)
    with opened(url) as place:
        _flip(place, f"runs/{copied_run.id}.json", tmp_path)
    with pytest.raises(RemoteError, match=rf"runs/{copied_run.id}\.json (was changed|is no listing of a run)"):
        Workspace(tmp_path / "other").pull(url)


FOREIGN = {
    "a path out of the workspace": (lambda c: c["files"].update({"run/tables/../../x.parquet": _ONE}), "the name"),
    "a table that was not sealed": (
        lambda c: c["files"].update({"run/tables/scores.parquet": _ONE}), "is not the table that was sealed",
    ),
    "another id": (lambda c: c.update(run="20260101-000000-abcdef"), "of another run, suite or outputs"),
    "a lost table": (lambda c: c["files"].pop("suite/cases.parquet"), r"it has no suite/cases\.parquet"),
    "a later version": (lambda c: c.update(version=9), "has version 9"),
    "no seal": (lambda c: c["texts"].pop("run/manifest.json"), "is no listing of a run"),
    "a name in capitals too": (lambda c: c["files"].update({"suite/media/A.png": _ONE}), "names a file twice"),
    "a text that is a file too": (lambda c: c["files"].update({"run/spec.json": _ONE}), "names a file twice"),
    "a line end after a sha256": (
        lambda c: c["files"].update({"suite/media/a.png": {"sha256": "0" * 64 + "\n", "bytes": 1}}), "has no sha256",
    ),
    "fewer than no bytes": (
        lambda c: c["files"].update({"suite/media/a.png": {"sha256": "0" * 64, "bytes": -1}}), "is no listing of a run",
    ),
}  # fmt: skip
_ONE = {"sha256": "0" * 64, "bytes": 1}


@pytest.mark.attack(
    "network", "the list of a run names files elsewhere or of other runs", "only names of a run are taken"
)
@pytest.mark.parametrize("case", FOREIGN)
def test_a_foreign_listing_is_refused(case, copied_run, tmp_path):
    import hashlib

    change, message = FOREIGN[case]
    url, path = f"file://{tmp_path}/remote", tmp_path / "remote" / "runs" / f"{copied_run.id}.json"
    Workspace().push(copied_run, url)
    content = json.loads(path.read_bytes())["content"]
    change(content)
    dumped = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    path.write_text(json.dumps({"content": content, "sha256": hashlib.sha256(dumped.encode()).hexdigest()}))
    with pytest.raises(RemoteError, match=message):
        Workspace(tmp_path / "other").pull(url)
    assert not (tmp_path / "other" / "runs").exists()


@pytest.mark.attack("network", "the list of a run is nested 200,000 deep", "it is no list of a run, and hides no other")
def test_a_nested_listing_is_refused(copied_run, tmp_path):
    url, folder = f"file://{tmp_path}/remote", tmp_path / "remote" / "runs"
    Workspace().push(copied_run, url)
    (folder / "20260101-000000-abcdef.json").write_text("[" * 200_000)
    other = Workspace(tmp_path / "other")
    with pytest.raises(RemoteError, match=r"20260101-000000-abcdef\.json is no listing of a run"):
        other.pull(url)
    assert other.pull(url, copied_run.id) == [copied_run.id]


@pytest.mark.attack("network", "a file at a URL is larger than the list says, or the list itself is endless", "no more is read than that, and one byte")  # fmt: skip  # noqa: E501
@PLACES
def test_no_more_is_read_than_announced(url, tmp_path, monkeypatch):
    (tmp_path / "large").write_bytes(bytes(1000))
    for module in (files, cloud):
        monkeypatch.setattr(module, "MAX_SMALL_OBJECT", 100)
    with opened(url) as place:
        place.send("runs/large.json", tmp_path / "large")
        target = BytesIO()
        assert place.copy_to("runs/large.json", target, 10)
        assert len(target.getvalue()) <= 11
        with pytest.raises(RemoteError, match=r"runs/large\.json has more than"):
            place.read("runs/large.json")


@pytest.mark.attack("network", "a file on a mounted disk is a pipe, which never ends", "it is no file of a run")
@pytest.mark.parametrize("which", ["list", "object"])
def test_a_pipe_is_not_waited_for(which, copied_run, tmp_path):
    url = f"file://{tmp_path}/remote"
    Workspace().push(copied_run, url)
    name = f"runs/{copied_run.id}.json"
    if which == "object":
        name = listing_of(copied_run)[0].files["run/tables/scores.parquet"].object
    (tmp_path / "remote" / name).unlink()
    os.mkfifo(tmp_path / "remote" / name)
    with pytest.raises(RemoteError, match="a pipe"):
        Workspace(tmp_path / "other").pull(url)


def test_only_whole_sealed_runs_are_pushed(copied_run, tmp_path):
    from metrics import engine

    url = f"file://{tmp_path}/remote"
    unfinished = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    with pytest.raises(RunError, match="its tables are there once it is finished"):
        Workspace().push(unfinished, url)
    path = copied_run.table_path("scores")
    assert path is not None
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(RunCorrupt, match="table scores differs from its seal"):
        Workspace().push(copied_run, url)
    assert not (tmp_path / "remote").exists()


def test_a_run_that_is_not_there(place, tmp_path):
    with pytest.raises(RunNotFound, match=r"there is no run '20260101-000000-abcdef' at file:"):
        Workspace(tmp_path / "other").pull(place, "20260101-000000-abcdef")


def test_the_objects_of_two_runs_are_shared(copied_run, tmp_path):
    from tests.engine.engine_scenes import finished

    second = finished(Workspace(), text_suite(), text_outputs(), "bleu")
    url = f"file://{tmp_path}/remote"
    for run in (copied_run, second):
        Workspace().push(run, url)
    stored = {path.name for path in (tmp_path / "remote" / "objects").rglob("*") if path.is_file()}
    listed = [listing_of(run)[0].files for run in (copied_run, second)]
    assert stored == {file.sha256 for files in listed for file in files.values()}
    assert len(stored) < sum(len(files) for files in listed)


@pytest.mark.parametrize(("url", "message"), [
    ("s3://key:secret@bucket/x", "a URL without a"), ("https://host/x?sig=secret", "a URL without"),
    ("s3://", "a URL such as"), ("bucket", "a URL such as"), ("nothing://host/x", "nothing"),
])  # fmt: skip
def test_a_wrong_url(url, message, copied_run):
    with pytest.raises(Exception, match=message) as caught:
        Workspace().push(copied_run, url)
    assert type(caught.value).__module__ == InputError.__module__
    assert "secret" not in str(caught.value)


REFUSALS = {
    "another key": ({"AWS_SECRET_ACCESS_KEY": "another"}, "s3://team/x", "the credentials were refused at 127.0.0.1:"),
    "no rights": ({"AWS_ACCESS_KEY_ID": "nobody"}, "s3://team/x", "access to bucket team is denied at 127.0.0.1:"),
    "only reading": ({"AWS_ACCESS_KEY_ID": "reader"}, "s3://team/x", "access to bucket team is denied at 127.0.0.1:"),
    "unreachable": ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "s3://team/x", "team cannot be reached at 127.0.0.1"),
    "no credentials": ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "s3://team/x", "no credentials for S3"),
    "no such profile": ({"AWS_PROFILE": "nobody"}, "s3://team/x", "no credentials for S3: .*nobody"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_says_host_bucket_and_what_happened(case, server, copied_run, monkeypatch):
    variables, url, message = REFUSALS[case]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RemoteError, match=message) as caught:
        Workspace().push(copied_run, url)
    text = str(caught.value)
    assert SECRET not in text
    assert "\n" not in text


def test_a_bucket_that_does_not_exist(server, tmp_path):
    with pytest.raises(RemoteError, match=r"there is no bucket absent at 127\.0\.0\.1:"):
        Workspace(tmp_path / "other").pull("s3://absent/x")


def test_a_disk_that_is_full_is_told(place, tmp_path, monkeypatch):
    def full(self: FileObjects, name: str, target: object, size: int) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileObjects, "copy_to", full)
    with pytest.raises(StorageError, match=r"/other/\S+: the disk is full \("):
        Workspace(tmp_path / "other").pull(place)
