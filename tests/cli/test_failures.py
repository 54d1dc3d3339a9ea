"""A fault of Assay itself: told in one line, apart from a gate that failed, with its traceback."""

import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from metrics.cli import runs_command
from metrics.cli.main import main

TEXT = "broken\nall gates passed \x1b[2J sk-abcdefgh12345678"


@pytest.fixture(autouse=True)
def broken(monkeypatch, workspace):
    def fail(*_: object) -> None:
        raise LookupError(TEXT)

    monkeypatch.setattr(runs_command, "Workspace", fail)
    monkeypatch.setattr(runs_command, "run_of", fail)


@pytest.mark.attack("suite author", "data that make Assay fail pass for a gate that failed, and fake lines in the traceback", "an exit code of its own; the message is one line, the traceback indented or in a file")  # fmt: skip  # noqa: E501
def test_in_a_log(capsys):
    assert main(["runs"]) == 5
    *trace, last = capsys.readouterr().err.splitlines()
    assert last.startswith("internal error, please report it: LookupError: broken all gates passed")
    assert trace[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") for line in trace)


def test_on_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["runs"]) == 5
    (line,) = capsys.readouterr().err.splitlines()
    place = Path(re.fullmatch(r"internal error, .*; traceback: (.*)", line)[1])
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600
    trace = place.read_text()
    assert trace.startswith("Traceback")
    assert trace.endswith("LookupError: broken\nall gates passed \\u001b[2J [key]\n")


def test_where_no_file_can_be_made_and_as_json(capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["runs"]) == 5
    assert capsys.readouterr().err.startswith("  Traceback")
    assert main(["resume", "latest", "--log-format", "json"]) == 5
    (line,) = capsys.readouterr().err.splitlines()
    event = json.loads(line)
    assert (event["event"], event["problems"]) == ("error", [])
    assert event["text"] == f"internal error, please report it: LookupError: {' '.join(TEXT.split())}"
    assert event["traceback"].startswith("Traceback")
