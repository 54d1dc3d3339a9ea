"""The audit log: whole lines that only their owner reads, from several writers, after a kill in the middle of one."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from metrics.store.team import AuditLog


def test_lines_are_read_back_newest_first(tmp_path):
    log = AuditLog(tmp_path)
    assert log.last(10) == []
    log.write("ada", "admin", "a", "delete a run", "r1")
    log.write("bob", "viewer", "", "resume a run", outcome="refused")
    first, second = log.last(10)
    assert first[1:] == ("bob", "viewer", "", "resume a run", "", "refused")
    assert second[1:] == ("ada", "admin", "a", "delete a run", "r1", "allowed")
    assert log.last(1) == [first]


@pytest.mark.attack("workspace writer", "another user of the machine reads the audit log", "its file is 0600")
def test_only_the_owner_reads_it(tmp_path):
    AuditLog(tmp_path).write("ada", "admin", "", "sign in")
    assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o600


@pytest.mark.attack("browser", "a name with a line break forges a line of the audit log", "a line is JSON")
def test_a_line_break_in_a_name_makes_no_line(tmp_path):
    AuditLog(tmp_path).write("ada\n{}", "admin", "", "x")
    assert len((tmp_path / "audit.jsonl").read_text().splitlines()) == 1


def test_writers_at_once(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: AuditLog(tmp_path).write(f"w{n}", "editor", "", "x" * 5000), range(64)))
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert sorted(line["who"] for line in lines) == sorted(f"w{n}" for n in range(64))


def test_a_torn_line_is_left_out(tmp_path):
    log = AuditLog(tmp_path)
    log.write("ada", "admin", "", "sign in")
    with log.file.open("ab") as file:
        file.write(b'{"at": "2026-')
    assert [entry.who for entry in log.last(10)] == ["ada"]
    log.write("bob", "viewer", "", "sign in")
    assert [entry.who for entry in log.last(10)] == ["bob", "ada"]


@pytest.mark.attack("workspace writer", "the audit log is replaced by a link", "links are not followed")
def test_it_does_not_follow_a_link(tmp_path):
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        AuditLog(tmp_path).write("ada", "admin", "", "sign in")
    assert (tmp_path / "elsewhere").read_text() == ""
