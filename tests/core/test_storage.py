"""What the machine refuses, in words: where, what failed, what is left, what to do."""

import errno
import os
import pickle
import shutil
import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest

from metrics.core.errors import StorageError, storage_error, stored_at
from metrics.core.files import make_folder, write_export, write_text


def refused(code: int, *more: str) -> OSError:
    return OSError(code, os.strerror(code), *more)


@pytest.mark.parametrize(("failure", "told"), [
    pytest.param(refused(errno.ENOSPC), "runs: the disk is full (", id="full"),
    pytest.param(refused(errno.EDQUOT), "runs: the disk quota is used up (", id="quota"),
    pytest.param(refused(errno.EROFS), "runs: the disk is read-only; choose another folder", id="read-only"),
    pytest.param(refused(errno.EIO), "runs: the disk failed (input/output error); check the disk", id="failed"),
    pytest.param(refused(errno.ESTALE), "runs: the network disk has lost the file (stale handle)", id="stale"),
    pytest.param(refused(errno.EMFILE), "runs: this process has too many open files; raise", id="many files"),
    pytest.param(refused(errno.EACCES, "there"), "there: permission is denied; choose another", id="no permission"),
    pytest.param(refused(errno.ENOSPC, ".a.json.77.part"), "a.json: the disk is full (", id="temporary name"),
    pytest.param(refused(errno.EACCES, "a\x1b[2J\nb"), "a\N{REPLACEMENT CHARACTER}[2J", id="escapes in a name"),
    pytest.param(duckdb.IOException("IO Error: No space left on device"), "runs: the disk is full (", id="DuckDB"),
])  # fmt: skip
def test_words(failure, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError) as caught, stored_at(Path("runs")):
        raise failure
    text = str(caught.value)
    assert text.startswith(told)
    assert "\n" not in text
    assert text.endswith("then do it again: what is done is kept")
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


@pytest.mark.parametrize("failure", [
    pytest.param(FileNotFoundError(errno.ENOENT, "no such file"), id="no such file"),
    pytest.param(ConnectionRefusedError(errno.ECONNREFUSED, "refused"), id="network"),
    pytest.param(OSError("of a library"), id="without a number"),
    pytest.param(sqlite3.IntegrityError("unique"), id="SQLite, another kind"),
    pytest.param(ValueError("wrong"), id="no error of the machine"),
])  # fmt: skip
def test_other_errors_are_no_fault_of_the_machine(failure):
    with pytest.raises(type(failure)), stored_at(Path("runs")):
        raise failure


def test_what_is_a_fault_of_the_disk_and_who_reads_new_folders(tmp_path):
    assert storage_error(refused(errno.ENAMETOOLONG), everywhere=True) is None
    assert storage_error(refused(errno.ENOSPC), everywhere=True) is not None
    file = tmp_path / "a.sqlite3"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE rows (text)")
    database.execute("PRAGMA max_page_count = 3")
    with pytest.raises(StorageError, match=r"a\.sqlite3: the disk is full"), stored_at(file):
        database.execute("INSERT INTO rows VALUES (?)", ["long " * 10_000])
    database.close()
    (tmp_path / "file").write_text("kept")
    with pytest.raises(StorageError, match="file: there is a file where a folder is needed; choose another folder"):
        make_folder(tmp_path / "file" / "runs")
    assert (tmp_path / "file").read_text() == "kept"
    made = make_folder(tmp_path / "a" / "b" / "c")
    assert {folder.stat().st_mode & 0o777 for folder in (made, made.parent, made.parent.parent)} == {0o700}


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "a.json"
    write_text(file, "old")

    def full(_: int) -> None:
        raise refused(errno.ENOSPC)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"a\.json: the disk is full"):
        write_text(file, "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.json": "old"}


def test_an_export_follows_a_link_and_fills_a_device(tmp_path):
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    write_export(tmp_path / "link.md", b"text")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"text"
    write_export(Path("/dev/null"), b"text")
    with pytest.raises(StorageError, match="the disk is full"):
        write_export(Path("/dev/full"), b"text")
    with pytest.raises(StorageError, match="there is a folder where a file is needed"):
        write_export(tmp_path, b"text")


OF_TWO = OSError(errno.ENOSPC, "No space left on device", "/from/a.png", None, "/full/a.png")
NAMES_ITS_DISK = {
    "of a copy, the copy": OF_TWO,
    "of one file": OSError(errno.EDQUOT, "quota", "/full/table.parquet"),
    "what Arrow says": OSError(errno.ENOSPC, f"Failed to write '/full/x.arrow'. Detail: {os.strerror(errno.ENOSPC)}"),
    "where DuckDB spills": duckdb.IOException(f'Could not write file "/full/spill.tmp": {os.strerror(errno.ENOSPC)}'),
}


@pytest.mark.parametrize("failure", NAMES_ITS_DISK.values(), ids=NAMES_ITS_DISK)
def test_a_full_disk_is_the_one_that_is_written(failure):
    """Not the one of the file that is read, nor that of the table which the work was for."""
    with pytest.raises(StorageError, match=r"^/full/"), stored_at(Path("/workspace/runs/1/scores.parquet")):
        raise failure


@pytest.mark.skipif(sys.platform != "linux", reason="copies in another way")
def test_a_full_disk_of_a_real_copy_is_that_of_the_copy(tmp_path, monkeypatch):
    (tmp_path / "from").write_bytes(b"x" * 10)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "sendfile", full)
    with pytest.raises(StorageError, match=f"^{tmp_path / 'to'}: the disk is full"), stored_at(Path("/elsewhere")):
        shutil.copyfile(tmp_path / "from", tmp_path / "to")
